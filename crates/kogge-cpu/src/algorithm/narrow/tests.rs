//! Rows of narrow tables by vectors of any width, line by line against the reference. Input and
//! output end where their allocations do, so Miri sees each access beyond them.

use super::*;
use crate::arch::Level;
use crate::arch::ordered::bytes::V;
use crate::brackets::{bracket_u32, bracket_u64};
use crate::room::Room;
use kogge_core::ops::Sum;
use kogge_core::{Accumulate, bytemuck, from_fn, reference};
use std::fmt::Debug;

/// Rows by vectors of `N` bytes, which are arrays.
struct By<'a, A, O, const STORE: bool, const N: usize>(Narrow<'a, A, O, STORE>);

impl<A: Element, O: Operator<A>, const STORE: bool, const N: usize> Work
    for By<'_, A, O, STORE, N>
{
    type Output = ();

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) {
        // SAFETY: passed on; arrays need no CPU feature.
        unsafe {
            if const { items::are_of::<A>() } {
                self.0.by_items::<V<N>, W32>();
            } else {
                self.0.by_vectors::<V<N>, W32>();
            }
        }
    }
}

/// Rows of a table.
const ROWS: usize = 2;

/// Those, and what precedes each line.
struct Case<'a, A, O> {
    operator: &'a O,
    kind: Kind,
    before: Option<[A; LANES]>,
    lines: usize,
    /// The rows.
    input: &'a [A],
}

impl<A: Element + Accumulate<A> + Debug, O: Operator<A>> Case<'_, A, O> {
    /// The values, the fold of each line without what precedes it, and what precedes the next row.
    fn want(&self) -> [Vec<A>; 3] {
        let order = Order::of::<A>();
        let (mut values, mut folds, mut nexts) = (self.input.to_vec(), vec![], vec![]);
        for line in 0..self.lines {
            let places = || (line..self.input.len()).step_by(self.lines);
            let elements: Vec<A> = places().map(|place| self.input[place]).collect();
            let before = self.before.map(|before| before[line]);
            let scan = reference::scan(&elements, self.operator, order, self.kind, before);
            places().zip(scan.values.iter()).for_each(|(place, value)| values[place] = *value);
            let alone = reference::scan(&elements, self.operator, order, Kind::Inclusive, None);
            folds.push(alone.total);
            let fold_of =
                |row: &[A]| reference::scan(row, self.operator, order, Kind::Inclusive, None).total;
            let rows = elements.chunks(order.row()).map(fold_of);
            let joined = before.into_iter().chain(rows).reduce(|x, y| self.operator.combine(x, y));
            nexts.push(joined.expect("rows"));
        }
        [values, folds, nexts]
    }

    /// Folded, and scanned into another slice on a line of the cache and off it, and in place.
    fn check<const N: usize>(&self) {
        let [want, folds, nexts] = self.want();
        let name = format!("{} lines, {:?}, vectors of {N}", self.lines, self.kind);
        let bytes = bytemuck::cast_slice::<A, u8>;
        for level in Level::available() {
            let same = |values: &[A], want: &[A], how: &str| {
                assert!(bytes(values) == bytes(want), "{how}, {name}: {values:?} for {want:?}");
            };
            let from = self.input.as_ptr();
            // Interpreted, each width has some of this.
            if !cfg!(miri) || N == 32 {
                let fold = self.rows::<false, N>(level, from, from.cast_mut(), false).segment;
                same(&fold.expect("rows")[..self.lines], &folds, "folded");
            }
            let outs = [(0, true), (1, true), (3, false)];
            let outs = if cfg!(miri) { &outs[N / 16 % 3..][..1] } else { &outs[..] };
            for &(offset, stream) in outs {
                let mut room = vec![A::zeroed(); offset + want.len()].into_boxed_slice();
                let to = room[offset..].as_mut_ptr();
                let Running { before, segment } = self.rows::<true, N>(level, from, to, stream);
                same(&room[offset..], &want, "out of place");
                match segment {
                    Some(fold) => same(&fold[..self.lines], &folds, "fold"),
                    None => assert!(O::EXACT, "no fold, {name}"),
                }
                same(&before.expect("rows")[..self.lines], &nexts, "what precedes the next row");
            }
            if !cfg!(miri) || N == 64 {
                let mut values: Box<[A]> = self.input.into();
                let to = values.as_mut_ptr();
                self.rows::<true, N>(level, to, to, false);
                same(&values, &want, "in place");
            }
        }
    }

    /// What comes of the rows, whose values go to `to` if `STORE`.
    fn rows<const STORE: bool, const N: usize>(
        &self,
        level: Level,
        from: *const A,
        to: *mut A,
        stream: bool,
    ) -> Running<[A; LANES]> {
        let Self { operator, kind, before, lines, .. } = *self;
        let mut state = State::new(Running { before, segment: None });
        let mut room = Room::new();
        level.run(By::<A, O, STORE, N>(Narrow {
            operator,
            kind,
            from,
            to,
            lines,
            rows: ROWS,
            running: &mut state,
            stage: room.of::<u8>(stage_bytes::<A>(lines)),
            stream,
            ahead: (64, stream.then_some(Cache::L2)),
        }));
        state.get(lines)
    }
}

fn every_way<A: Element + Accumulate<A> + Debug, O: Operator<A>>(
    operator: &O,
    make: impl Fn(u64) -> A,
) {
    let bits = |i: usize| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    // For Miri places that fill their items, three quarters of them, and, of words, some of them;
    // by vectors of 16 bytes those of 24 aren't items.
    let counts = match (cfg!(miri), size_of::<A>()) {
        (false, _) => (1..=LANES).collect(),
        (true, 4) => vec![2, 3, 5],
        (true, _) => vec![2, 3],
    };
    for lines in counts {
        let len = ROWS * Order::of::<A>().row() * lines;
        let input: Box<[A]> = (0..len).map(|i| make(bits(i))).collect();
        let before = std::array::from_fn(|n| make(bits(len + n)));
        let ways = [(Kind::Exclusive, None), (Kind::Inclusive, Some(before))];
        let ways = if cfg!(miri) { &ways[lines % 2..][..1] } else { &ways };
        for &(kind, before) in ways {
            let case = Case { operator, kind, before, lines, input: &input };
            case.check::<16>();
            case.check::<32>();
            // There is room for a vector of lanes at least.
            if const { LANES * size_of::<A>() >= 64 } {
                case.check::<64>();
            }
        }
    }
}

#[test]
fn brackets() {
    every_way(&from_fn(0u32, bracket_u32), |bits| bits as u32);
    every_way(&from_fn(0u64, bracket_u64), |bits| bits);
}

#[test]
fn sums_in_any_order() {
    every_way(&Sum, |bits| bits as i16);
    every_way(&Sum, |bits| bits as u32);
}
