//! Rows scanned while others are folded beside them, at every level, against the reference. Input
//! and output end where their allocations do, so Miri sees each access beyond them.

use super::super::asking::Ask;
use super::*;
use crate::algorithm::format::Whole;
use crate::arch::{Level, Work};
use crate::brackets::bracket_u32;
use kogge_core::ops::Sum;
use kogge_core::{Accumulate, Order, bf16, bytemuck, f16, from_fn, reference};

/// A scan of rows in words of 4 bytes; gives the fold of the rows, and of those ahead.
struct Scan<'a, F, A, O, const W: usize> {
    operator: &'a O,
    kind: Kind,
    rows: Rows<'a, A>,
    format: PhantomData<F>,
}

impl<F: Format, A: Element, O: Operator<A>, const W: usize> Work for Scan<'_, F, A, O, W> {
    type Output = [Option<A>; 2];

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) -> [Option<A>; 2] {
        let Self { operator, kind, rows, .. } = self;
        // SAFETY: memory and size by whoever made the value, features by contract.
        let (folds, ahead) = unsafe { scan::<F, W32, A, O, W>(operator, kind, rows) };
        [folds.fold(), ahead]
    }
}

/// What a scan should give, and of what.
struct Case<'a, T, A, O> {
    operator: &'a O,
    kind: Kind,
    before: Option<A>,
    input: &'a [T],
    want: &'a [T],
    ahead: &'a [T],
    /// The fold of the input, and of what is ahead.
    folds: [A; 2],
}

/// Elements `T` that lie as `F` says and are accumulated in `W` words.
fn every_way<F: Format, T: Accumulate<A>, A: Element, O: Operator<A>, const W: usize>(
    operator: &O,
    make: impl Fn(u64) -> T,
) {
    let order = Order::of::<T>();
    let counts: &[usize] = if cfg!(miri) { &[2] } else { &[2, 4, 6, 24] };
    for len in counts.iter().map(|count| count * order.row()) {
        let bits = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        let input: Box<[T]> = (0..len).map(|i| make(bits(i))).collect();
        let ahead: Box<[T]> = (len..2 * len).map(|i| make(bits(i))).collect();
        let scan = |elements: &[T], kind, before| {
            let elements: Vec<A> = elements.iter().map(|element| element.widen()).collect();
            reference::scan(&elements, operator, order, kind, before)
        };
        let folds = [&input, &ahead].map(|rows| scan(rows, Kind::Inclusive, None).total);
        let kinds = [(Kind::Exclusive, None), (Kind::Inclusive, Some(ahead[7].widen()))];
        // Interpreted, one of them is enough.
        for &(kind, before) in &kinds[..if cfg!(miri) { 1 } else { 2 }] {
            let values = scan(&input, kind, before).values;
            let want: Box<[T]> = values.into_iter().map(T::narrow).collect();
            let (input, want, ahead) = (&input, &want, &ahead);
            Case { operator, kind, before, input, want, ahead, folds }.check::<F, W>();
        }
    }
}

impl<T: Accumulate<A>, A: Element, O: Operator<A>> Case<'_, T, A, O> {
    /// In place, and out of place from some offset on.
    fn check<F: Format, const W: usize>(&self) {
        for level in Level::available() {
            let name = format!("{} elements, {:?}, {}", self.want.len(), self.kind, level.name());
            let mut values: Box<[T]> = self.input.into();
            let first = values.as_mut_ptr();
            self.scan::<F, W>(level, first, first, false);
            assert!(bytes(&values) == bytes(self.want), "in place, {name}");

            // Past the caches wherever a line of the cache may begin, and what lies before is left
            // alone.
            let places = if cfg!(miri) { 1 } else { 64 / size_of::<T>() };
            let stream = (0..places).map(|offset| (offset, true));
            for (offset, stream) in stream.chain([(1, false), (3, true)]) {
                let mut room = vec![T::zeroed(); offset + self.want.len()].into_boxed_slice();
                bytemuck::cast_slice_mut::<T, u8>(&mut room).fill(0xa5);
                let (from, to) = (self.input.as_ptr(), room[offset..].as_mut_ptr());
                self.scan::<F, W>(level, from, to, stream);
                assert!(bytes(&room[offset..]) == bytes(self.want), "stream: {stream}, {name}");
                assert!(bytes(&room[..offset]).iter().all(|&byte| byte == 0xa5), "{name}");
            }
        }
    }

    /// Scans the input, which is at `from`, and looks at the folds.
    fn scan<F: Format, const W: usize>(
        &self,
        level: Level,
        from: *const T,
        to: *mut T,
        stream: bool,
    ) {
        let count = self.input.len() / Order::of::<T>().row();
        let beside = Beside::Fold(self.ahead.as_ptr().cast(), Ask::PAGES.once_more(false));
        let (from, to, before) = (from.cast(), to.cast(), self.before);
        let rows = Rows { from, to, count, before, prefix: None, beside, stream };
        let (operator, kind, format) = (self.operator, self.kind, PhantomData);
        let folds = level.run(Scan::<F, A, O, W> { operator, kind, rows, format });
        let folds = folds.map(|fold| fold.expect("there are rows"));
        assert!(bytes(&folds) == bytes(&self.folds), "{} elements, {kind:?}", self.input.len());
    }
}

fn bytes<T: Element>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

#[test]
fn words() {
    let operator = from_fn(0u32, bracket_u32);
    every_way::<Whole, u32, u32, _, 1>(&operator, |bits| bits as u32);
    every_way::<Whole, f64, f64, _, 2>(&Sum, |bits| bits as f64);
}

#[test]
fn halves() {
    every_way::<f16, f16, f32, _, 1>(&Sum, |bits| f16::from_f32(bits as f32 / 2f32.powi(60)));
    every_way::<bf16, bf16, f32, _, 1>(&Sum, |bits| bf16::from_f32(bits as f32));
}
