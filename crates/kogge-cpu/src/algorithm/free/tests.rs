//! The kernel at every width, and without vectors, against a loop. Input and output end where their
//! allocations do, so Miri sees each access beyond them.

use super::super::asking::Ask;
use super::*;
use crate::algorithm::format::Whole;
use crate::arch::ordered::{self, bytes::Bytes, bytes::V};
use crate::arch::stream::Cache;
use kogge_core::ops::{Max, Sum};
use std::fmt::Debug;

/// Lengths around vectors of 16, 32 and 64 bytes, and rows.
fn lengths(size: usize) -> Vec<usize> {
    let [lane, half, vector, row] = [16, 32, 64, ROW].map(|bytes| bytes / size);
    if cfg!(miri) {
        return vec![1, row + vector + half + lane + 1];
    }
    let few = [
        1,
        lane - 1,
        lane + 1,
        half + 1,
        2 * half - 1,
        vector,
        vector + half,
        2 * vector,
        row,
        row + 1,
    ];
    [&few[..], &[row + vector, 2 * row + vector + half + lane + 1]].concat()
}

/// Elements with a bit of everything.
fn elements<A: Element>(len: usize, seed: u64, make: impl Fn(u64) -> A) -> Box<[A]> {
    let bits = |i: usize| (i as u64 ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    (0..len).map(|i| make(bits(i))).collect()
}

/// What a scan should give, and of what.
struct Case<'a, A, O> {
    operator: &'a O,
    kind: Kind,
    before: Option<A>,
    input: &'a [A],
    want: &'a [A],
    ahead: &'a [A],
    /// The fold of what precedes and the input, and of what is ahead.
    folds: (A, Option<A>),
}

fn every_way<A: Element + Debug + PartialEq, O: Operator<A>>(
    operator: &O,
    make: impl Fn(u64) -> A,
) {
    const { assert!(free::<Whole, A, O>()) };
    for len in lengths(size_of::<A>()) {
        let (input, ahead) = (elements(len, 1, &make), elements(len, 2, &make));
        let kinds = [(Kind::Exclusive, None), (Kind::Inclusive, Some(make(77)))];
        // Interpreted, the one that moves values along is enough.
        for &(kind, before) in &kinds[..if cfg!(miri) { 1 } else { 2 }] {
            let mut through = before.unwrap_or(operator.identity());
            let next = |element: &A| {
                let preceding = through;
                through = operator.combine(through, *element);
                if kind == Kind::Inclusive { through } else { preceding }
            };
            let want: Box<[A]> = input.iter().map(next).collect();
            let fold = |left, right: &A| operator.combine(left, *right);
            let folds = (through, Some(ahead.iter().fold(operator.identity(), fold)));
            let (input, want, ahead) = (&input, &want, &ahead);
            let case = Case { operator, kind, before, input, want, ahead, folds };
            case.check::<ordered::None>();
            case.check::<V<16>>();
            case.check::<V<32>>();
            case.check::<V<64>>();
            case.check::<Bytes<32, false>>();
            case.check_by::<V<64>, Bytes<32, false>>();
        }
    }
}

impl<A: Element + Debug + PartialEq, O: Operator<A>> Case<'_, A, O> {
    fn check<P: Ordered>(&self) {
        self.check_by::<P, P>();
    }

    /// In place, and out of place from some offset on.
    fn check_by<P: Ordered, H: Ordered>(&self) {
        let name =
            format!("{} elements, {:?}, vectors of {}", self.want.len(), self.kind, P::BYTES);
        let mut values: Box<[A]> = self.input.into();
        let first = values.as_mut_ptr();
        // SAFETY: the values are elements too.
        let folds =
            unsafe { self.scan::<P, H>(first, first, Beside::Ask(Ask::Along(Cache::L2)), false) };
        assert_eq!((&*values, folds), (self.want, (self.folds.0, None)), "in place, {name}");

        for (offset, stream) in [(1, true), (3, false)] {
            let mut room = vec![A::zeroed(); offset + self.want.len()].into_boxed_slice();
            let (from, to) = (self.input.as_ptr(), room[offset..].as_mut_ptr());
            // SAFETY: there is room for as many values as elements, and as many are ahead.
            let folds = unsafe {
                self.scan::<P, H>(
                    from,
                    to,
                    Beside::Fold(self.ahead.as_ptr(), Ask::PAGES.once_more(false)),
                    stream,
                )
            };
            let values = &room[offset..];
            assert_eq!((values, folds), (self.want, self.folds), "stream: {stream}, {name}");
        }
    }

    /// # Safety
    ///
    /// As for [`scan`], with the length of the input.
    unsafe fn scan<P: Ordered, H: Ordered>(
        &self,
        from: *const A,
        to: *mut A,
        beside: Beside<*const A>,
        stream: bool,
    ) -> (A, Option<A>) {
        let run = Run { from, to, len: self.input.len(), before: self.before, beside, stream };
        // SAFETY: passed on; arrays need no CPU feature.
        unsafe { scan::<P, H, A, O>(self.operator, self.kind, run) }
    }
}

#[test]
fn integers_of_every_size() {
    every_way(&Sum, |bits| bits as u8);
    every_way(&Sum, |bits| bits as i16);
    every_way(&Max, |bits| bits as i32);
    every_way(&Sum, |bits| bits);
}

/// Exclusive or; its elements may begin at any address.
struct Loose;

impl Operator<[u8; 4]> for Loose {
    const COMMUTATIVE: bool = true;
    const EXACT: bool = true;
    fn identity(&self) -> [u8; 4] {
        [0; 4]
    }
    fn combine(&self, left: [u8; 4], right: [u8; 4]) -> [u8; 4] {
        (u32::from_ne_bytes(left) ^ u32::from_ne_bytes(right)).to_ne_bytes()
    }
}

#[test]
fn loosely_aligned_words() {
    every_way(&Loose, |bits| (bits as u32).to_ne_bytes());
}
