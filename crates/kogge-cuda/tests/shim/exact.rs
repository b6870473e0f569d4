//! The caller's segments under exact operators, in rounds: of every kind of length, by offsets, and
//! by flags and keys that it reads itself.

use crate::common::Random;
use crate::common::depth::Depth::{self, Sample, Whole};
use crate::common::segmented::{Case, Numbered};
use crate::common::segments::{Source, lengths};
use crate::common::shim::{PackedU8, PackedU32, Shim, skipped};
use crate::floats::{hurting, small_float};
use crate::programs::Program;
use kogge_core::ops::{Affine, Compose, Max, Sum};
use kogge_core::{Accumulate, Element, Operator, Order, bf16, f16};

/// Boundary lengths as one segment and as many, and sequences of more tiles than blocks of the
/// order have; by offsets if nothing else is said.
fn sweep<T, U, A, O>(
    depth: Depth,
    source: Option<Source>,
    name: &str,
    operator: O,
    inits: [A; 3],
    make: impl Fn(&mut Random) -> T,
) where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    if skipped() {
        return;
    }
    assert!(O::EXACT, "or the order of the tiles would show");
    let order = Order::of::<T>();
    let mut random = Random(name.bytes().map(u64::from).sum());
    let mut shim = Shim::start(Program::Exact.path());
    let data: Vec<T> = (0..order.block() + order.tile() * 3).map(|_| make(&mut random)).collect();
    let mut check = |random: &mut Random, lengths: &[usize]| {
        let offsets = [Source::Offsets32, Source::Offsets64][random.below(2)];
        let case = Case { name, operator: &operator, offset_bytes: 0, inits };
        let len: usize = lengths.iter().sum();
        let from = random.below(data.len() - len + 1);
        let input = &data[from..from + len];
        let source = source.unwrap_or(offsets);
        case.check_by::<T, U>(&mut shim, random, lengths, input, Numbered::Neither, source)
            .unwrap();
    };
    for n in depth.lengths(&mut random, order, order.tile() * 3) {
        let lengths = if random.below(3) == 0 { vec![n] } else { lengths(&mut random, order, n) };
        check(&mut random, &lengths);
    }
    let turns: Vec<usize> = (0..20).collect();
    for turn in depth.some(&mut random, &turns, 5) {
        let n = match turn % 8 {
            0 => order.block() + random.below(order.tile() * 3),
            _ => random.below(order.tile() * 12),
        };
        let lengths = lengths(&mut random, order, n);
        check(&mut random, &lengths);
    }
}

#[test]
fn packed_u32() {
    sweep::<u32, u32, u32, _>(Sample, None, "packed_u32", PackedU32, [7, 0x1_0003, 1], |r| {
        r.next() as u32 | 1
    });
}

#[test]
fn packed_u8() {
    sweep::<u8, u8, u8, _>(
        Sample,
        Some(Source::Flags),
        "packed_u8",
        PackedU8,
        [0x37, 0x13, 1],
        |r| r.next() as u8 | 1,
    );
}

#[test]
fn packed_u8_in_u32() {
    let inits = [7, 0x1_0003, 1];
    sweep::<u8, u32, u32, _>(Sample, None, "packed_u8_u32", PackedU32, inits, |r| {
        r.next() as u8 | 1
    });
}

#[test]
fn compose_i32() {
    let map = |a, b| Affine { a, b };
    sweep::<Affine<i32>, Affine<i32>, _, _>(
        Whole,
        None,
        "compose_i32",
        Compose,
        [map(3, 4), map(-1, 1 << 30), map(1, 0)],
        |r| map(r.next() as i32 | 1, r.next() as i32),
    );
}

#[test]
fn sum_i8() {
    sweep::<i8, i8, i8, _>(Sample, None, "sum_i8", Sum, [100, -1, 7], |r| r.next() as i8);
}

#[test]
fn sum_i16() {
    sweep::<i16, i16, i16, _>(
        Sample,
        Some(Source::KeysF64),
        "sum_i16",
        Sum,
        [-30_000, -1, 7],
        |r| r.next() as i16,
    );
}

#[test]
fn max_f32() {
    sweep::<f32, f32, f32, _>(
        Sample,
        Some(Source::Keys32),
        "max_f32",
        Max,
        [0.5, f32::NAN, -0.0],
        small_float,
    );
}

#[test]
fn max_f32_of_nans() {
    sweep::<f32, f32, f32, _>(
        Sample,
        Some(Source::Keys32),
        "max_f32",
        Max,
        [0.5, -3.0, -0.0],
        |r| match r.below(3000) {
            0 => f32::from_bits(0x7fc0_0000 | r.next() as u32),
            1..1500 => [0.0, -0.0][r.below(2)],
            _ => small_float(r),
        },
    );
}

#[test]
fn max_f16() {
    // NaNs are so rare that many a segment has none.
    sweep::<f16, f16, f32, _>(Sample, None, "max_f16", Max, [0.5, -3.0, -0.0], |r| {
        f16::from_f32(if r.below(40) == 0 { hurting(r) } else { small_float(r) })
    });
}

#[test]
fn max_bf16_in_f64() {
    sweep::<bf16, bf16, f64, _>(
        Sample,
        Some(Source::Keys8),
        "max_bf16_in_f64",
        Max,
        [0.5, -3.0, -0.0],
        |r| bf16::from_f32(small_float(r)),
    );
}
