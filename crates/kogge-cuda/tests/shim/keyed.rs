//! Segments by flags and keys in one launch: of every kind of length, by each kind of key.

use crate::common::Random;
use crate::common::depth::Depth::{self, Sample, Whole};
use crate::common::segmented::{Case, Numbered};
use crate::common::segments::{Source, lengths};
use crate::common::shim::{BracketsI32, BracketsI64, BracketsU32, Bytes3, OfBytes3, Shim, skipped};
use crate::floats::{small_float, wild_float};
use crate::programs::Program;
use kogge_core::ops::{MatMul, Matrix2, Sum};
use kogge_core::{Accumulate, Element, Operator, Order, f16};

/// Boundary lengths as one segment and as many; then windows enough for blocks of the order, and
/// for more than a warp looks back to at once.
fn sweep<T, U, A, O>(
    depth: Depth,
    source: Source,
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
    let order = Order::of::<T>();
    let mut random = Random(name.bytes().map(u64::from).sum());
    let mut shim = Shim::start(Program::Keyed.path());
    let data: Vec<T> = (0..order.block() * 2 + order.tile()).map(|_| make(&mut random)).collect();
    let case = Case { name, operator, offset_bytes: 0, inits };
    let mut check = |random: &mut Random, lengths: &[usize]| {
        let len: usize = lengths.iter().sum();
        let from = random.below(data.len() - len + 1);
        let input = &data[from..from + len];
        case.check_by::<T, U>(&mut shim, random, lengths, input, Numbered::Neither, source)
            .unwrap();
    };
    for n in depth.lengths(&mut random, order, order.tile() * 3) {
        let lengths = if random.below(3) == 0 { vec![n] } else { lengths(&mut random, order, n) };
        check(&mut random, &lengths);
    }
    let turns: Vec<usize> = (0..16).collect();
    for turn in depth.some(&mut random, &turns, 5) {
        let n = match turn % 8 {
            0 => order.block() + random.below(order.block() + order.tile()),
            _ => random.below(order.tile() * 12),
        };
        let lengths = lengths(&mut random, order, n);
        check(&mut random, &lengths);
    }
    let tiny = 1 + random.below(order.tile());
    let long = order.block() + random.below(order.block() / 2);
    check(&mut random, &[tiny, long, 3, order.segment()]);
    check(&mut random, &[long]);
}

#[test]
fn brackets_i64() {
    let inits = [41i64, -7, 1 << 40];
    sweep::<i64, i64, _, _>(Whole, Source::Keys32, "brackets_i64", BracketsI64, inits, |r| {
        r.next() as i64
    });
}

#[test]
fn brackets_i32_in_short_windows() {
    let inits = [41i32, -7, 3];
    sweep::<i32, i32, _, _>(Whole, Source::Keys64, "brackets_i32", BracketsI32, inits, |r| {
        r.next() as i32
    });
}

#[test]
fn sum_f32() {
    let inits = [0.3f32, -0.0, 1e9];
    sweep::<f32, f32, _, _>(Sample, Source::Flags, "sum_f32", Sum, inits, wild_float);
}

#[test]
fn sum_i8() {
    let inits = [100i8, -1, 7];
    sweep::<i8, i8, _, _>(Sample, Source::KeysF64, "sum_i8", Sum, inits, |r| r.next() as i8);
}

#[test]
fn sum_f16() {
    let inits = [0.3f32, -0.0, 1e3];
    sweep::<f16, f16, _, _>(Sample, Source::KeysF16, "sum_f16", Sum, inits, |r| {
        f16::from_f32(wild_float(r).clamp(-6e4, 6e4))
    });
}

#[test]
fn brackets_u8_in_u32() {
    let inits = [5u32, 0, 1 << 31];
    sweep::<u8, u32, _, _>(Whole, Source::Keys8, "brackets_u8_u32", BracketsU32, inits, |r| {
        r.next() as u8
    });
}

#[test]
fn matmul_f64() {
    let inits = [Matrix2 { m00: 1.5f64, m01: -0.25, m10: 0.125, m11: 0.5 }; 3];
    sweep::<Matrix2<f64>, Matrix2<f64>, _, _>(
        Sample,
        Source::KeysBf16,
        "matmul_f64",
        MatMul,
        inits,
        |r| {
            let mut x = || small_float(r) as f64 * 1.25;
            Matrix2 { m00: x(), m01: x(), m10: x(), m11: x() }
        },
    );
}

#[test]
fn elements_of_three_bytes() {
    let inits = [1, 2, 3].map(|x| Bytes3 { x, y: 2, z: 3 });
    sweep::<Bytes3, Bytes3, _, _>(Sample, Source::Keys32, "bytes3", OfBytes3, inits, |r| Bytes3 {
        x: r.next() as u8,
        y: r.next() as u8,
        z: r.next() as u8,
    });
}
