//! The caller's segments in stretches, and long ones in rounds: of every kind of length, without
//! numbers.

use crate::common::Random;
use crate::common::depth::Depth::{self, Sample, Whole};
use crate::common::segmented::{Case, Numbered};
use crate::common::segments::lengths;
use crate::common::shim::{
    BracketsI32, BracketsI64, BracketsU32, Bytes3, OfBytes3, OfTriple, Shim, Triple, skipped,
};
use crate::floats::{small_float, wild_float};
use crate::programs::Program;
use kogge_core::ops::{MatMul, Matrix2, Sum};
use kogge_core::{Accumulate, Element, Operator, Order, f16};

/// Boundary lengths as one segment and as many; then sequences of several dozen stretches.
fn sweep<T, U, A, O>(
    depth: Depth,
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
    let mut shim = Shim::start(Program::Stretches.path());
    let data: Vec<T> = (0..order.block() + order.tile() * 3).map(|_| make(&mut random)).collect();
    let mut check = |random: &mut Random, lengths: &[usize]| {
        let len: usize = lengths.iter().sum();
        let from = random.below(data.len() - len + 1);
        let input = &data[from..from + len];
        let offset_bytes = [0, 4, 8][random.below(3)];
        let case = Case { name, operator: &operator, offset_bytes, inits };
        case.check_numbered::<T, U>(&mut shim, random, lengths, input, Numbered::Plain).unwrap();
    };
    for n in depth.lengths(&mut random, order, order.tile() * 2) {
        let lengths = if random.below(3) == 0 { vec![n] } else { lengths(&mut random, order, n) };
        check(&mut random, &lengths);
    }
    let turns: Vec<usize> = (0..12).collect();
    for turn in depth.some(&mut random, &turns, 3) {
        let n = match turn % 8 {
            0 => order.block() + random.below(order.tile() * 3),
            _ => random.below(order.tile() * 6),
        };
        let lengths = lengths(&mut random, order, n);
        check(&mut random, &lengths);
    }
}

#[test]
fn brackets_i64() {
    sweep::<i64, i64, i64, _>(Sample, "brackets_i64", BracketsI64, [41, -7, 9], |r| {
        r.next() as i64
    });
}

#[test]
fn brackets_i32() {
    sweep::<i32, i32, i32, _>(Whole, "brackets_i32", BracketsI32, [41, -7, 9], |r| r.next() as i32);
}

#[test]
fn sum_f32() {
    sweep::<f32, f32, f32, _>(Sample, "sum_f32", Sum, [0.3, -0.0, 1e9], wild_float);
}

#[test]
fn brackets_u8_in_u32() {
    let inits = [5, 0, 1 << 31];
    sweep::<u8, u32, u32, _>(Sample, "brackets_u8_u32", BracketsU32, inits, |r| r.next() as u8);
}

#[test]
fn sum_f16() {
    sweep::<f16, f16, f32, _>(Sample, "sum_f16", Sum, [0.3, -0.0, 1e3], |r| {
        f16::from_f32(wild_float(r).clamp(-6e4, 6e4))
    });
}

#[test]
fn matrices() {
    let init = Matrix2 { m00: 1.5f32, m01: -0.25, m10: 0.125, m11: 0.5 };
    sweep::<Matrix2<f32>, Matrix2<f32>, _, _>(Sample, "matmul_f32", MatMul, [init; 3], |r| {
        let mut x = || small_float(r) * 1.25;
        Matrix2 { m00: x(), m01: x(), m10: x(), m11: x() }
    });
}

#[test]
fn elements_of_twelve_bytes() {
    let inits = [1, 2, 3].map(|x| Triple { x, y: 2, z: 3 });
    sweep::<Triple, Triple, _, _>(Sample, "triple", OfTriple, inits, |r| Triple {
        x: r.next() as u32,
        y: r.next() as u32,
        z: r.next() as u32,
    });
}

#[test]
fn elements_of_three_bytes() {
    let inits = [1, 2, 3].map(|x| Bytes3 { x, y: 2, z: 3 });
    sweep::<Bytes3, Bytes3, _, _>(Sample, "bytes3", OfBytes3, inits, |r| Bytes3 {
        x: r.next() as u8,
        y: r.next() as u8,
        z: r.next() as u8,
    });
}

/// Segments about the length from which they are long and about a tile, wherever they start,
/// between short ones.
#[test]
fn segments_about_a_tile() {
    if skipped() {
        return;
    }
    let inits = [41i32, -7, 3];
    let case = Case { name: "brackets_i32", operator: BracketsI32, offset_bytes: 8, inits };
    let order = Order::of::<i32>();
    let (mut random, mut shim) = (Random(31), Shim::start(Program::Stretches.path()));
    let (chunk, row, tile) = (order.chunk(), order.row(), order.tile());
    let long = tile / 4 * 3;
    let mut check = |random: &mut Random, lengths: &[usize]| {
        let input: Vec<i32> = (0..lengths.iter().sum()).map(|_| random.next() as i32).collect();
        case.check_numbered::<i32, i32>(&mut shim, random, lengths, &input, Numbered::Plain)
            .unwrap();
    };
    for before in [0, 1, chunk - 1, chunk, row + 1, tile / 4] {
        for length in [long - 1, long, long + 1, tile - 1, tile, tile + 1] {
            check(&mut random, &[before, length, 1, length]);
        }
    }
    // That leave no head in windows of the mask up to the last, which isn't whole: then they aren't
    // long.
    let window = tile / 4;
    for before in 1..4 {
        for rest in [1, 2, window / 2, window - 1, window - 1] {
            check(&mut random, &[before * window - 1, 2 * window + 1 + rest]);
            check(&mut random, &[before * window, 2 * window + rest, 2]);
        }
    }
}

/// Chunks that are cells, and here and there one that isn't.
#[test]
fn segments_of_whole_chunks() {
    if skipped() {
        return;
    }
    let inits = [41i32, -7, 3];
    let case = Case { name: "brackets_i32", operator: BracketsI32, offset_bytes: 0, inits };
    let order = Order::of::<i32>();
    let (mut random, mut shim) = (Random(37), Shim::start(Program::Stretches.path()));
    for turn in 0..24 {
        let odd = if turn < 4 { usize::MAX } else { 1 + random.below(60) };
        let most = [3, 20, 70, 400][turn % 4];
        let lengths: Vec<usize> = (0..random.below(300))
            .map(|_| {
                let apart = if random.below(odd) == 0 { random.below(order.chunk()) } else { 0 };
                order.chunk() * (1 + random.below(most)) + apart
            })
            .collect();
        let input: Vec<i32> = (0..lengths.iter().sum()).map(|_| random.next() as i32).collect();
        case.check_numbered::<i32, i32>(&mut shim, &mut random, &lengths, &input, Numbered::Plain)
            .unwrap();
    }
}
