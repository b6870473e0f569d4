//! Lines place by place, by vectors of any width, which are arrays: line by line against the
//! reference. Miri, which has no vectors of a CPU, sees these kernels here alone.

use super::*;
use crate::algorithm::group::{Groups, Lanes};
use crate::arch::ordered::bytes::V;
use crate::brackets::{bracket_u32, bracket_u64};
use kogge_core::ops::Sum;
use kogge_core::{Accumulate, Kind, Order, bytemuck, from_fn, reference};
use std::fmt::Debug;

/// Groups that a row of memory has room for.
const WIDTH: usize = 3;

/// How values leave, and where they go.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// To stay in a cache, of an exact operator.
    Near,
    Far,
    Past,
}

/// Some lines of rows of memory, each a table's first.
struct Case<'a, A, O> {
    operator: &'a O,
    kind: Kind,
    before: Option<A>,
    lines: usize,
    input: &'a [A],
}

impl<A: Element + Accumulate<A> + Debug, O: Operator<A>> Case<'_, A, O> {
    /// What a row of the order comes to, and what isn't written is as it was.
    fn want(&self, old: &[A]) -> Vec<A> {
        let mut values = old.to_vec();
        for line in 0..self.lines {
            let places = (line..values.len()).step_by(WIDTH * LANES);
            let elements: Vec<A> = places.clone().map(|place| self.input[place]).collect();
            let order = Order::of::<A>();
            let scan = reference::scan(&elements, self.operator, order, self.kind, self.before);
            places.zip(scan.values).for_each(|(place, value)| values[place] = value);
        }
        values
    }

    /// Out of place and, where no lines are another group's too, in place.
    fn check<const N: usize>(&self, way: Way) {
        let name = format!("{way:?}, {:?}, {} lines, by {N}", self.kind, self.lines);
        let blank = vec![A::zeroed(); self.input.len()];
        let mut room = rows(&blank);
        self.scan::<N>(self.input.as_ptr(), room.as_mut_ptr().cast(), way);
        same(&room, &self.want(&blank), &name);
        let overwrites = way == Way::Near && self.kind == Kind::Exclusive;
        if self.lines.is_multiple_of(LANES) && !overwrites {
            let mut room = rows(self.input);
            let to = room.as_mut_ptr().cast();
            self.scan::<N>(to, to, way);
            same(&room, &self.want(self.input), &format!("in place, {name}"));
        }
    }

    /// Two chunks, then what is left.
    fn scan<const N: usize>(&self, from: *const A, to: *mut A, way: Way) {
        let (chunk, width) = (Order::of::<A>().chunk(), WIDTH * LANES);
        let places = self.input.len() / width;
        let mut groups = Groups::new();
        groups.resize::<O>(self.lines.div_ceil(LANES), places.div_ceil(chunk));
        let before = self.before.unwrap_or_else(A::zeroed);
        groups.set_befores(std::iter::repeat([before; LANES]));
        for part in [0..2 * chunk, 2 * chunk..places] {
            let stride = width as isize;
            let at = |first: *const A| Abreast { first, stride }.on(part.start);
            let mut lines = InTurn {
                operator: self.operator,
                exclusive: self.kind == Kind::Exclusive,
                from: at(from),
                to: at(to),
                whole: self.lines / LANES,
                last: (!self.lines.is_multiple_of(LANES)).then(|| self.lines - LANES),
                known: groups.known(),
                preceded: self.before.is_some() || O::EXACT && part.start > 0,
                number: part.start / chunk,
            };
            let ahead = Ahead::by(5, (way == Way::Past).then_some(Cache::L2));
            // SAFETY: the places are this call's, and begin lines of the cache; arrays need no CPU
            // feature.
            unsafe {
                match way {
                    Way::Near => lines.scan::<V<N>>(part.len()),
                    _ => lines.scan_far::<V<N>>(part.len(), way == Way::Past, &ahead),
                }
            }
        }
    }
}

/// Rows of memory that begin on lines of the cache.
fn rows<A: Element>(values: &[A]) -> Vec<Lanes<A>> {
    values.chunks(LANES).map(|lanes| Lanes(lanes.try_into().expect("groups"))).collect()
}

fn same<A: Element + Debug>(got: &[Lanes<A>], want: &[A], name: &str) {
    let got: Vec<A> = got.iter().flat_map(|lanes| lanes.0).collect();
    let bytes = bytemuck::cast_slice::<A, u8>;
    assert!(bytes(&got) == bytes(want), "{name}: {got:?} for {want:?}");
}

fn every_way<A: Element + Accumulate<A> + Debug, O: Operator<A>>(
    operator: &O,
    make: impl Fn(u64) -> A,
) {
    let bits = |i: usize| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let places = 3 * Order::of::<A>().chunk() + 1;
    let input: Vec<A> = (0..places * WIDTH * LANES).map(|i| make(bits(i))).collect();
    let mut turn = 0;
    for lines in [LANES, 2 * LANES, 2 * LANES + 3] {
        for kind in [Kind::Inclusive, Kind::Exclusive] {
            for before in [None, Some(make(77))] {
                let case = Case { operator, kind, before, lines, input: &input };
                for way in [Way::Near, Way::Far, Way::Past] {
                    let whole = lines.is_multiple_of(LANES);
                    if way == Way::Near && !O::EXACT || way == Way::Past && !whole {
                        continue;
                    }
                    // Miri tries each case by one width, and every other one.
                    turn += 1;
                    let by = |n: u32| !cfg!(miri) || turn % 6 == 2 * n;
                    by(0).then(|| case.check::<16>(way));
                    by(1).then(|| case.check::<32>(way));
                    by(2).then(|| case.check::<64>(way));
                }
            }
        }
    }
}

#[test]
fn in_any_order() {
    every_way(&Sum, |bits| bits as u32);
    every_way(&Sum, |bits| bits);
}

#[test]
fn brackets() {
    every_way(&from_fn(0u32, bracket_u32), |bits| bits as u32);
    every_way(&from_fn(0u64, bracket_u64), |bits| bits);
}
