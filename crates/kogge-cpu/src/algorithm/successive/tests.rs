//! Segments of lengths that hurt, one by one against the reference, at every level. Input and
//! output end where their allocations do, so Miri sees each access beyond them.

use super::*;
use crate::algorithm::outlet::STAGE_BYTES;
use crate::arch::Level;
use crate::arch::stream::Cache;
use crate::brackets::{bracket_four, bracket_u32, bracket_u32_pair, bracket_u64_pair};
use crate::room::Room;
use kogge_core::ops::Sum;
use kogge_core::{Accumulate, Order, bytemuck, from_fn, reference};
use std::fmt::Debug;

/// Segments that begin with the first bound, among elements of others.
struct Case<'a, A, O> {
    operator: &'a O,
    kind: Kind,
    init: Option<A>,
    bounds: &'a [usize],
    input: &'a [A],
}

impl<A: Element + Accumulate<A> + Debug, O: Operator<A>> Case<'_, A, O> {
    /// What memory of these values has after the scan.
    fn want(&self, values: &[A]) -> Vec<A> {
        let mut want = values.to_vec();
        for bounds in self.bounds.windows(2) {
            let (places, order) = (bounds[0]..bounds[1], Order::of::<A>());
            let segment = &self.input[places.clone()];
            let scan = reference::scan(segment, self.operator, order, self.kind, self.init);
            want[places].copy_from_slice(&scan.values);
        }
        want
    }

    /// In place, and out of place on a line of the cache and off it.
    fn check(&self) {
        for level in Level::available() {
            let same = |values: &[A], want: &[A], how: &str| {
                let bytes = bytemuck::cast_slice::<A, u8>;
                let wrong = (0..want.len()).find(|&i| bytes(&values[i..=i]) != bytes(&want[i..=i]));
                let (kind, bounds, name) = (self.kind, self.bounds, level.name());
                assert_eq!(wrong, None, "{how}, {kind:?}, {bounds:?}, {name}");
            };
            let mut values: Box<[A]> = self.input.into();
            let to = values.as_mut_ptr();
            self.scan(level, to, to, self.bounds[self.bounds.len() - 1], false, false);
            same(&values, &self.want(self.input), "in place");
            // Past the caches wherever a line of the cache may begin.
            let places = if cfg!(miri) { 1 } else { 64 / size_of::<A>() };
            let stream = (0..places).map(|offset| (offset, true, false));
            for (offset, stream, at_once) in stream.chain([(1, false, false), (2, false, true)]) {
                let mut room = vec![A::zeroed(); offset + self.input.len()].into_boxed_slice();
                bytemuck::cast_slice_mut::<A, u8>(&mut room).fill(0xa5);
                let want = [&room[..offset], &self.want(&room[offset..])].concat();
                let to = room[offset..].as_mut_ptr();
                self.scan(level, self.input.as_ptr(), to, self.input.len(), stream, at_once);
                same(&room, &want, "out of place");
            }
        }
    }

    fn scan(
        &self,
        level: Level,
        from: *const A,
        to: *mut A,
        readable: usize,
        stream: bool,
        at_once: bool,
    ) {
        let Self { operator, kind, init, bounds, .. } = *self;
        let (mut room, mut prefix, element) = (Room::new(), Prefix::new(None), PhantomData::<A>);
        let stage = room.of::<u8>(STAGE_BYTES);
        let mut outlet = Outlet::new(stage, to.cast(), stream);
        let out = &mut outlet;
        let wanted = Wanted { far: out.stream(), cache: Cache::L1, looked_at: None };
        let prefix = &mut prefix;
        level.run(Successive {
            operator,
            kind,
            init,
            from,
            bounds,
            readable,
            prefix,
            out,
            at_once,
            wanted,
            element,
        });
        // SAFETY: the values are this call's.
        unsafe { outlet.finish() };
    }
}

/// Segments of these lengths, after three elements and before two of others.
fn every_way<A: Element + Accumulate<A> + Debug, O: Operator<A>>(
    operator: &O,
    lens: &[usize],
    make: impl Fn(u64) -> A,
) {
    const { assert!(by_rows::<A, A, O>()) };
    let bits = |i: usize| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let mut bounds = vec![3];
    lens.iter().for_each(|len| bounds.push(bounds[bounds.len() - 1] + len));
    let input: Box<[A]> = (0..bounds[lens.len()] + 2).map(|i| make(bits(i))).collect();
    for (kind, init) in [(Kind::Inclusive, None), (Kind::Exclusive, Some(make(5)))] {
        Case { operator, kind, init, bounds: &bounds, input: &input }.check();
    }
}

/// Elements of every number and width of words.
#[test]
fn about_a_row() {
    let operator = from_fn(0u32, bracket_u32);
    every_way(&operator, &[127, 129, 1], |bits| bits as u32);
    every_way(&Sum, &[63, 1, 65], |bits| bits as f64);
    let pair = |bits: u64| [bits as u32, (bits >> 32) as u32];
    let operator = from_fn([0; 2], bracket_u32_pair);
    every_way(&operator, &[65, 2, 63], pair);
    let operator = from_fn([0; 4], bracket_four);
    every_way(&operator, &[31, 33, 1], |bits| [0, 9, 17, 33].map(|by| (bits >> by) as u32));
    let operator = from_fn([0; 2], bracket_u64_pair);
    every_way(&operator, &[32, 31, 2], |bits| [bits, bits.rotate_left(7)]);
}

/// Elements of a group of chunks, one more and one less, whatever the lanes of a register.
/// (Interpreted, these are 4.)
#[test]
fn about_a_group() {
    let lens = |all: &'static [usize], interpreted| if cfg!(miri) { interpreted } else { all };
    let operator = from_fn(0u32, bracket_u32);
    let all = &[15, 16, 17, 31, 32, 33, 63, 64, 65, 1, 64, 0, 64, 130, 5];
    every_way(&operator, lens(all, &[15, 16, 0, 17, 1]), |bits| bits as u32);
    let all = &[3, 4, 5, 7, 8, 9, 15, 16, 17, 1, 16, 0, 16, 70, 3];
    every_way(&Sum, lens(all, &[7, 8, 0, 9, 1]), |bits| bits as f64);
    let operator = from_fn([0; 4], bracket_four);
    every_way(&operator, lens(&[4, 5, 8, 9, 16, 17, 15, 1, 33], &[4, 0, 5, 1]), |bits| {
        [0, 9, 17, 33].map(|by| (bits >> by) as u32)
    });
}

/// More than a stage has room for: it is begun anew while a segment goes through it.
#[test]
fn more_than_a_stage() {
    let operator = from_fn(0u32, bracket_u32);
    every_way(&operator, &[5, 18 * 128 + 3, 130], |bits| bits as u32);
    if cfg!(not(miri)) {
        every_way(&operator, &[21; 150], |bits| bits as u32);
    }
}

/// Segments of more than a tile, and one of more than a block of them, among short ones.
#[test]
#[cfg_attr(miri, ignore = "thousands of rows")]
fn more_than_a_tile() {
    let operator = from_fn(0u32, bracket_u32);
    let tile = 8192;
    every_way(&operator, &[70, tile, 5, tile + 1, 300, 3 * tile - 1, 64], |bits| bits as u32);
    let operator = from_fn([0; 2], bracket_u64_pair);
    every_way(&operator, &[2, 34 * 2048 + 3, 2049, 1], |bits| [bits, bits.rotate_left(7)]);
    every_way(&Sum, &[4096 + 77, 4096, 9], |bits| bits as f64);
}

/// Rows and short segments in turn, so that values leave from registers and from the stage.
#[test]
fn rows_and_short_ones() {
    let operator = from_fn(0u32, bracket_u32);
    let lens: &[usize] = &[1, 200, 2, 129, 63, 64, 500, 1, 1, 127, 3, 1025, 16, 140, 33];
    every_way(&operator, if cfg!(miri) { &lens[..4] } else { lens }, |bits| bits as u32);
    let all: Vec<usize> = (0..90).map(|i| [1 + i % 40, 130 + i * 7 % 90][i % 2]).collect();
    if cfg!(not(miri)) {
        every_way(&operator, &all, |bits| bits as u32);
        every_way(&Sum, &all, |bits| bits as f64);
    }
}
