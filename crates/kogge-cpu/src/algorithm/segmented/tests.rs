//! Segments of a mask against the reference, each by itself, from anywhere in a word to the end of
//! the allocation, at every level that has them scanned where they lie.

use super::*;
use crate::algorithm::outlet::STAGE_BYTES;
use crate::arch::Level;
use crate::arch::stream::Cache;
use crate::room::Room;
use kogge_core::ops::Sum;
use kogge_core::{Accumulate, from_fn, reference};
use std::fmt::Debug;

/// Segments of these lengths from a place of a mask on.
struct Case<'a, A, O> {
    operator: &'a O,
    kind: Kind,
    init: Option<A>,
    start: usize,
    lens: &'a [usize],
    /// From place 0 to the end of the last segment.
    input: &'a [A],
}

impl<A: Element + Accumulate<A> + PartialEq + Debug, O: Operator<A>> Case<'_, A, O> {
    fn want(&self) -> Vec<A> {
        let (mut values, mut start) = (self.input[..self.start].to_vec(), self.start);
        for len in self.lens {
            let segment = &self.input[start..start + len];
            let order = Order::of::<A>();
            let scan = reference::scan(segment, self.operator, order, self.kind, self.init);
            values.extend(scan.values);
            start += len;
        }
        values
    }

    /// Into another slice, on a line of the cache and off it, and in place.
    fn check(&self) {
        let (mut heads, mut at) = ([0; WORDS + 2], self.start);
        for len in self.lens {
            heads[1 + at / 64] |= 1 << (at % 64);
            at += len;
        }
        // Heads before and behind are none of these segments'.
        (0..self.start).step_by(5).for_each(|place| heads[1] |= 1 << place);
        (at..PLACES + 64).step_by(3).for_each(|place| heads[1 + place / 64] |= 1 << (place % 64));
        heads[0] = 1 << 60 | 1 << 13;
        let want = self.want();
        for level in Level::available() {
            let ways = [(true, 0, false), (false, 5, true), (false, 0, true), (false, 0, false)];
            for &(in_place, begun, stream) in &ways[..if cfg!(miri) { 2 } else { 4 }] {
                let mut stage = Room::new();
                let mut output = vec![self.input[0]; begun];
                output.extend(self.input);
                let to = output[begun..].as_mut_ptr();
                let input: Box<[A]> = self.input.into();
                let fence = crate::arch::stream::Fence;
                let mut out = Outlet::new(stage.of::<u8>(STAGE_BYTES), to.cast(), stream);
                let places = self.start..at;
                let done = level.run(Segmented::<A, A, O> {
                    operator: self.operator,
                    kind: self.kind,
                    init: self.init,
                    from: if in_place { to } else { input.as_ptr() },
                    heads: &heads,
                    bit: self.start,
                    readable: if in_place { places.clone() } else { 0..input.len() },
                    places,
                    out: &mut out,
                    wanted: Wanted {
                        far: stream,
                        cache: Cache::L1,
                        looked_at: stream.then_some((to.cast(), 3)),
                    },
                    element: PhantomData,
                });
                // SAFETY: the values are this call's.
                unsafe { out.finish() };
                drop(fence);
                if done {
                    let (name, Self { kind, init, lens, .. }) = (level.name(), self);
                    assert!(output[begun..] == want, "{name}, {kind:?}, {init:?}, {lens:?}");
                }
            }
        }
    }
}

/// Lengths up to every number of chunks, of elements of any kind.
fn all<A: Element + Accumulate<A> + PartialEq + Debug>(
    operator: &impl Operator<A>,
    init: A,
    make: impl Fn(u64) -> A,
) {
    let (row, most) = (Order::of::<A>().row(), if cfg!(miri) { 2 } else { 40 });
    let mut bits = 1u64;
    let mut next = || {
        bits = bits.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        bits >> 33
    };
    for turn in 0..most {
        let longest = [row, 1, 2, 3, 5, 8, 9, 17, 40, row - 1][turn % 10];
        let (start, mut lens) = (next() as usize % 64, vec![]);
        let end = MOST - next() as usize % 130 - row;
        while start + lens.iter().sum::<usize>() < end {
            // Now and then a longer one, so that steps come and go.
            let longest = if next() % 50 == 0 { row } else { longest };
            lens.push(1 + next() as usize % longest);
        }
        let len = start + lens.iter().sum::<usize>();
        let input: Vec<A> = (0..len).map(|_| make(next())).collect();
        for kind in [Kind::Inclusive, Kind::Exclusive] {
            for init in [None, Some(init)] {
                // Miri tries the first and the last.
                if cfg!(miri) && [kind == Kind::Exclusive, init.is_some()] != [turn == 1; 2] {
                    continue;
                }
                Case { operator, kind, init, start, lens: &lens, input: &input }.check();
            }
        }
    }
}

#[test]
fn segments_have_the_bits_of_scans_of_their_own() {
    all(&Sum, 0.5f64, |bits| bits as f64 * 1e-7);
}

#[test]
fn brackets_are_those_of_the_order() {
    // Not associative: equal values mean equal trees.
    all(&from_fn(0, |x: u32, y: u32| x.wrapping_mul(3).wrapping_add(y) ^ 5), 9, |bits| bits as u32);
}
