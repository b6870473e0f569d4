//! The kernel at every width, and without vectors, against a loop. Input and output end where their
//! allocations do, so Miri sees each access beyond them.

use super::*;
use crate::arch::Crosswise;
use crate::arch::ordered::{
    self,
    bytes::{Bytes, V},
};
use crate::arch::stream::Cache;
use kogge_core::ops::{Max, Sum};
use std::fmt::Debug;

fn bits(i: usize) -> u64 {
    (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

/// Heads of all densities, of up to three words; more are these over again.
fn masks() -> Vec<[u64; 3]> {
    let every = |n: usize| (0..64).step_by(n).fold(0, |mask, place| mask | 1u64 << place);
    let some = |k: usize| [0, 1, 2].map(|w| bits(7 * k + w) & bits(7 * k + 3) & bits(k));
    let mut masks = vec![some(1), [every(1), 0, 1 << 63], [1 << 63, every(3), 0]];
    if !cfg!(miri) {
        masks.extend([[0; 3], [!0; 3], [0, 1, 0], [every(2), every(5), every(17)]]);
        masks.extend((2..30).map(some));
    }
    masks
}

/// Places: less than a word, words, and a block of them, two and more, and what is left then.
fn lens(k: usize) -> Vec<usize> {
    match k {
        _ if cfg!(miri) => vec![[5, 2 * WORD], [8 * WORD, 1], [4 * WORD, 1]][k % 3].to_vec(),
        0..8 => vec![3 * WORD, WORD, 63, 1, 4 * WORD, 7 * WORD, 8 * WORD, 13 * WORD, WORDS * WORD],
        _ => vec![3 * WORD, 63, [4, 8, 5, 9, 14][k % 5] * WORD],
    }
}

fn every_way<A: Element + Debug, O: Operator<A>>(operator: &O, make: impl Fn(u64) -> A) {
    const { assert!(headed::<A, O>()) };
    for (k, heads) in masks().iter().enumerate() {
        // Now and then the first block has heads in its first word alone, and the third has none.
        let heads: Vec<u64> = (0..WORDS)
            .map(|w| if k % 2 == 1 && w > 0 && w % 8 < 4 { 0 } else { heads[w % 3] })
            .collect();
        for len in lens(k) {
            let input: Box<[A]> = (0..len).map(|i| make(bits(i ^ k << 8))).collect();
            for (kind, init) in [
                (Kind::Inclusive, None),
                (Kind::Inclusive, Some(make(5))),
                (Kind::Exclusive, None),
                (Kind::Exclusive, Some(make(6))),
            ] {
                let (heads, input) = (&heads[..], &input[..]);
                let case = Case { operator, kind, init, heads, input, through: make(77) };
                case.check::<ordered::None>();
                case.check::<V<16>>();
                case.check::<V<32>>();
                case.check::<Bytes<32, false>>();
            }
        }
    }
}

struct Case<'a, A, O> {
    operator: &'a O,
    kind: Kind,
    init: Option<A>,
    heads: &'a [u64],
    input: &'a [A],
    through: A,
}

impl<A: Element + Debug, O: Operator<A>> Case<'_, A, O> {
    /// The values and the last segment's fold.
    fn want(&self) -> (Vec<A>, A) {
        let mut before = Some(self.through);
        let values = self.input.iter().enumerate().map(|(i, &element)| {
            if self.heads[i / WORD] >> (i % WORD) & 1 == 1 {
                before = self.init;
            }
            let exclusive = before.unwrap_or(self.operator.identity());
            let through = before.map_or(element, |before| self.operator.combine(before, element));
            before = Some(through);
            if self.kind == Kind::Exclusive { exclusive } else { through }
        });
        (values.collect(), before.unwrap())
    }

    /// In place, and out of place on a line and off it.
    fn check<P: Crosswise>(&self) {
        let (want, fold) = self.want();
        let same = |values: &[A], through: A, how: &str| {
            let bytes = bytemuck::cast_slice::<A, u8>;
            let right = bytes(values) == bytes(&want) && bytes(&[through]) == bytes(&[fold]);
            let (kind, heads) = (self.kind, self.heads);
            assert!(
                right,
                "{how}, {kind:?}, {heads:x?}, vectors of {}: {values:?} instead of {want:?}",
                P::BYTES
            );
        };
        let mut values: Box<[A]> = self.input.into();
        let first = values.as_mut_ptr();
        // SAFETY: the values are elements too.
        let through = unsafe { self.scan::<P>(first, first, false) };
        same(&values, through, "in place");
        let mut room = vec![A::zeroed(); WORD + self.input.len()];
        let line = (room.as_ptr().addr().wrapping_neg() % LINE) / size_of::<A>();
        for (offset, stream) in [(line, true), (line + 1, true), (line, false)] {
            let to = room[offset..].as_mut_ptr();
            // SAFETY: there is room for as many values as elements.
            let through = unsafe { self.scan::<P>(self.input.as_ptr(), to, stream) };
            same(&room[offset..][..self.input.len()], through, "out of place");
        }
    }

    /// # Safety
    ///
    /// The elements must be readable at `from`, and writable at `to`.
    unsafe fn scan<P: Crosswise>(&self, from: *const A, to: *mut A, stream: bool) -> A {
        let Self { operator, kind, init, heads, input, through } = *self;
        let len = input.len();
        let looked_at = stream.then_some((from.cast(), 3));
        let wanted = Wanted { far: stream, cache: Cache::L1, looked_at };
        let places = Headed { operator, kind, init, from, to, heads, len, through, stream, wanted };
        // SAFETY: passed on; arrays need no CPU feature.
        unsafe {
            by_size! { A;
                1 => places.all::<P, 1>(),
                2 => places.all::<P, 2>(),
                4 => places.all::<P, 4>(),
                8 => places.all::<P, 8>(),
            }
        }
    }
}

/// Keeps its left operand, which is the identity only by chance; the last one would be as good a
/// test.
struct Left;

impl Operator<u16> for Left {
    const EXACT: bool = true;
    fn identity(&self) -> u16 {
        9
    }
    fn combine(&self, left: u16, right: u16) -> u16 {
        if left == 9 { right } else { left }
    }
}

#[test]
fn integers_of_every_size() {
    every_way(&Sum, |bits| bits as u8);
    every_way(&Left, |bits| bits as u16);
    every_way(&Sum, |bits| bits as u32);
    every_way(&Sum, |bits| bits);
}

/// The greatest is one of the operands, and zeros and NaNs are told apart by their bits; the
/// identity would show.
#[test]
fn floats_that_compare_equal() {
    let value = |bits: u64| [-0.0, 0.0, f64::NAN, -f64::NAN, 1.0, -1.0][bits as usize % 6];
    every_way(&Max, value);
}

/// Words without a head, which go another way, and with one at the end.
#[test]
fn a_call_without_heads() {
    let input: Vec<u32> = (0..WORDS * WORD).map(|i| (i as u32).wrapping_mul(0x9e37_79b9)).collect();
    for (len, head) in [(PLAIN, None), (WORDS * WORD, None), (PLAIN, Some(PLAIN - 1)), (WORD, None)]
    {
        for (kind, init) in
            [(Kind::Inclusive, None), (Kind::Exclusive, Some(9)), (Kind::Exclusive, None)]
        {
            let mut heads = [0; WORDS];
            head.into_iter().for_each(|place| heads[place / WORD] |= 1 << (place % WORD));
            let (input, heads, operator) = (&input[..len], &heads[..len / WORD], &Sum);
            let case = Case { operator, kind, init, heads, input, through: 7 };
            let (want, fold) = case.want();
            for level in Level::available() {
                let same = |to: *mut u32, from: *const u32, stream: bool, how: &str| {
                    let wanted = Wanted { far: false, cache: Cache::L1, looked_at: None };
                    let through = 7;
                    let places = Headed {
                        operator,
                        kind,
                        init,
                        from,
                        to,
                        heads,
                        len,
                        through,
                        stream,
                        wanted,
                    };
                    let name =
                        format!("{how}, {kind:?} {init:?}, {len}, {head:?}, {}", level.name());
                    assert_eq!(places.scan(level), fold, "{name}");
                    // SAFETY: so many values were written.
                    let values = unsafe { std::slice::from_raw_parts(to, len) };
                    assert_eq!(values, want, "{name}");
                };
                let mut values = input.to_vec();
                let first = values.as_mut_ptr();
                for stream in [false, true] {
                    // SAFETY: as many elements as values.
                    unsafe { first.copy_from(input.as_ptr(), len) };
                    same(first, first, stream, "in place");
                }
                let mut room = vec![0; WORD + len];
                let line = (room.as_ptr().addr().wrapping_neg() % LINE) / 4;
                for stream in [false, true] {
                    same(room[line..].as_mut_ptr(), input.as_ptr(), stream, "out of place");
                }
            }
        }
    }
}
