//! The caller's segments: of every kind of length, by offsets, flags and keys, each by itself.

use crate::common::Random;
use crate::common::depth::Depth::{self, Sample, Whole};
use crate::common::segmented::Case;
use crate::common::segments::lengths;
use crate::common::shim::{
    BracketsI32, BracketsI64, BracketsU32, Bytes3, OfBytes3, OfTriple, Shim, Triple, skipped,
};
use crate::floats::{hurting, small_float, wild_float};
use crate::programs::Program;
use kogge_core::ops::{Affine, Compose, MatMul, Matrix2, Max, Sum};
use kogge_core::{Accumulate, Element, Operator, Order, bf16, f16};

/// Boundary lengths as one segment and as many; then windows enough for blocks of the order.
fn sweep<T, U, A, O>(depth: Depth, case: &Case<'_, O, A>, make: impl Fn(&mut Random) -> T)
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    if skipped() {
        return;
    }
    let order = Order::of::<T>();
    let mut random = Random(case.name.bytes().map(u64::from).sum());
    let mut shim = Shim::start(Program::Segments.path());
    let data: Vec<T> = (0..order.block() * 2 + order.tile()).map(|_| make(&mut random)).collect();
    let mut check = |random: &mut Random, lengths: &[usize]| {
        let len: usize = lengths.iter().sum();
        let from = random.below(data.len() - len + 1);
        case.check::<T, U>(&mut shim, random, lengths, &data[from..from + len]).unwrap();
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
    // One segment of more than a block of tiles, entered and left in the middle of a window.
    let tiny = 1 + random.below(order.tile());
    let long = order.block() + random.below(order.block() / 2);
    check(&mut random, &[tiny, long, 3, 0, order.segment()]);
}

#[test]
fn brackets_i64() {
    let case = Case {
        name: "brackets_i64",
        operator: BracketsI64,
        offset_bytes: 0,
        inits: [41i64, -7, 1 << 40],
    };
    sweep::<i64, i64, _, _>(Whole, &case, |r| r.next() as i64);
}

#[test]
fn brackets_i64_by_offsets() {
    let case = Case {
        name: "brackets_i64_offsets",
        operator: BracketsI64,
        offset_bytes: 8,
        inits: [5i64, -7, 1 << 40],
    };
    sweep::<i64, i64, _, _>(Whole, &case, |r| r.next() as i64);
}

#[test]
fn brackets_i32() {
    let case = Case {
        name: "brackets_i32",
        operator: BracketsI32,
        offset_bytes: 0,
        inits: [41i32, -7, 3],
    };
    sweep::<i32, i32, _, _>(Whole, &case, |r| r.next() as i32);
}

#[test]
fn brackets_i32_in_narrow_windows() {
    if skipped() {
        return;
    }
    // A window a segment of the order: a tile's totals come from eight blocks.
    let case = Case {
        name: "brackets_i32_narrow",
        operator: BracketsI32,
        offset_bytes: 4,
        inits: [41i32, -7, 3],
    };
    let order = Order::of::<i32>();
    let (mut random, mut shim) = (Random(3), Shim::start(Program::Segments.path()));
    for _ in 0..25 {
        let n = random.below(order.segment() * 70);
        let lengths = lengths(&mut random, order, n);
        let input: Vec<i32> = (0..n).map(|_| random.next() as i32).collect();
        case.check::<i32, i32>(&mut shim, &mut random, &lengths, &input).unwrap();
    }
}

#[test]
fn sum_f32() {
    let case = Case { name: "sum_f32", operator: Sum, offset_bytes: 4, inits: [0.3f32, -0.0, 1e9] };
    sweep::<f32, f32, _, _>(Sample, &case, wild_float);
}

#[test]
fn sum_i8() {
    let case = Case { name: "sum_i8", operator: Sum, offset_bytes: 0, inits: [100i8, -1, 7] };
    sweep::<i8, i8, _, _>(Sample, &case, |r| r.next() as i8);
}

#[test]
fn sum_i16() {
    let case = Case { name: "sum_i16", operator: Sum, offset_bytes: 0, inits: [-30000i16, -1, 7] };
    sweep::<i16, i16, _, _>(Sample, &case, |r| r.next() as i16);
}

#[test]
fn brackets_u8_in_u32() {
    let case = Case {
        name: "brackets_u8_u32",
        operator: BracketsU32,
        offset_bytes: 4,
        inits: [5u32, 0, 1 << 31],
    };
    sweep::<u8, u32, _, _>(Whole, &case, |r| r.next() as u8);
}

#[test]
fn sum_f16() {
    let case = Case { name: "sum_f16", operator: Sum, offset_bytes: 0, inits: [0.3f32, -0.0, 1e3] };
    sweep::<f16, f16, _, _>(Sample, &case, |r| f16::from_f32(wild_float(r).clamp(-6e4, 6e4)));
}

#[test]
fn max_bf16_in_f64() {
    let case = Case {
        name: "max_bf16_in_f64",
        operator: Max,
        offset_bytes: 4,
        inits: [0.1f64, -0.0, -1e9],
    };
    sweep::<bf16, bf16, _, _>(Sample, &case, |r| bf16::from_f32(hurting(r)));
}

#[test]
fn compose_f32() {
    let init = |a, b| Affine { a, b };
    let inits = [init(0.5f32, -2.0), init(1.0, 0.0), init(-0.0, 3.0)];
    let case = Case { name: "compose_f32", operator: Compose, offset_bytes: 4, inits };
    sweep::<Affine<f32>, Affine<f32>, _, _>(Sample, &case, |r| Affine {
        a: small_float(r),
        b: wild_float(r),
    });
}

#[test]
fn matmul_f32() {
    let init = Matrix2 { m00: 1.5f32, m01: -0.25, m10: 0.125, m11: 0.5 };
    let case = Case { name: "matmul_f32", operator: MatMul, offset_bytes: 0, inits: [init; 3] };
    sweep::<Matrix2<f32>, Matrix2<f32>, _, _>(Sample, &case, |r| {
        let mut x = || small_float(r) * 1.25;
        Matrix2 { m00: x(), m01: x(), m10: x(), m11: x() }
    });
}

#[test]
fn matmul_f64() {
    let init = Matrix2 { m00: 1.5f64, m01: -0.25, m10: 0.125, m11: 0.5 };
    let case = Case { name: "matmul_f64", operator: MatMul, offset_bytes: 0, inits: [init; 3] };
    sweep::<Matrix2<f64>, Matrix2<f64>, _, _>(Sample, &case, |r| {
        let mut x = || small_float(r) as f64 * 1.25;
        Matrix2 { m00: x(), m01: x(), m10: x(), m11: x() }
    });
}

#[test]
fn elements_of_twelve_bytes() {
    let inits = [1, 2, 3].map(|x| Triple { x, y: 2, z: 3 });
    let case = Case { name: "triple", operator: OfTriple, offset_bytes: 0, inits };
    sweep::<Triple, Triple, _, _>(Whole, &case, |r| Triple {
        x: r.next() as u32,
        y: r.next() as u32,
        z: r.next() as u32,
    });
}

#[test]
fn elements_of_three_bytes() {
    let inits = [1, 2, 3].map(|x| Bytes3 { x, y: 2, z: 3 });
    let case = Case { name: "bytes3", operator: OfBytes3, offset_bytes: 0, inits };
    sweep::<Bytes3, Bytes3, _, _>(Whole, &case, |r| Bytes3 {
        x: r.next() as u8,
        y: r.next() as u8,
        z: r.next() as u8,
    });
}

#[test]
fn long_segments_in_rounds_i64() {
    let case =
        Case { name: "rounds_i64", operator: BracketsI64, offset_bytes: 0, inits: [41i64, -7, 9] };
    sweep::<i64, i64, _, _>(Sample, &case, |r| r.next() as i64);
}

#[test]
fn long_segments_in_rounds_i32() {
    let case =
        Case { name: "rounds_i32", operator: BracketsI32, offset_bytes: 4, inits: [41i32, -7, 3] };
    sweep::<i32, i32, _, _>(Whole, &case, |r| r.next() as i32);
}

#[test]
fn long_segments_in_rounds_f32() {
    let inits = [0.3f32, -0.0, 1e9];
    let case = Case { name: "rounds_f32", operator: Sum, offset_bytes: 8, inits };
    sweep::<f32, f32, _, _>(Sample, &case, wild_float);
}

#[test]
fn long_segments_in_rounds_u8_in_u32() {
    let inits = [5u32, 0, 1 << 31];
    let case = Case { name: "rounds_u8_u32", operator: BracketsU32, offset_bytes: 4, inits };
    sweep::<u8, u32, _, _>(Sample, &case, |r| r.next() as u8);
}

#[test]
fn long_segments_in_rounds_f16() {
    let inits = [0.3f32, -0.0, 1e3];
    let case = Case { name: "rounds_f16", operator: Sum, offset_bytes: 0, inits };
    sweep::<f16, f16, _, _>(Sample, &case, |r| f16::from_f32(wild_float(r).clamp(-6e4, 6e4)));
}

#[test]
fn long_segments_in_rounds_of_matrices() {
    let init = Matrix2 { m00: 1.5f64, m01: -0.25, m10: 0.125, m11: 0.5 };
    let inits = [init; 3];
    let case = Case { name: "rounds_matmul_f64", operator: MatMul, offset_bytes: 8, inits };
    sweep::<Matrix2<f64>, Matrix2<f64>, _, _>(Sample, &case, |r| {
        let mut x = || small_float(r) as f64 * 1.25;
        Matrix2 { m00: x(), m01: x(), m10: x(), m11: x() }
    });
}

#[test]
fn long_segments_in_rounds_of_twelve_bytes() {
    let inits = [1, 2, 3].map(|x| Triple { x, y: 2, z: 3 });
    let case = Case { name: "rounds_triple", operator: OfTriple, offset_bytes: 0, inits };
    sweep::<Triple, Triple, _, _>(Sample, &case, |r| Triple {
        x: r.next() as u32,
        y: r.next() as u32,
        z: r.next() as u32,
    });
}

#[test]
fn long_segments_in_rounds_of_three_bytes() {
    let inits = [1, 2, 3].map(|x| Bytes3 { x, y: 2, z: 3 });
    let case = Case { name: "rounds_bytes3", operator: OfBytes3, offset_bytes: 4, inits };
    sweep::<Bytes3, Bytes3, _, _>(Sample, &case, |r| Bytes3 {
        x: r.next() as u8,
        y: r.next() as u8,
        z: r.next() as u8,
    });
}

/// Long segments that end, and tiles that begin, at every place that differs from others.
#[test]
fn long_segments_about_tiles() {
    if skipped() {
        return;
    }
    let case =
        Case { name: "rounds_i32", operator: BracketsI32, offset_bytes: 4, inits: [41i32, -7, 3] };
    let order = Order::of::<i32>();
    let (mut random, mut shim) = (Random(29), Shim::start(Program::Segments.path()));
    let (chunk, row, segment, tile) = (order.chunk(), order.row(), order.segment(), order.tile());
    let mut check = |random: &mut Random, lengths: &[usize]| {
        let input: Vec<i32> = (0..lengths.iter().sum()).map(|_| random.next() as i32).collect();
        case.check::<i32, i32>(&mut shim, random, lengths, &input).unwrap();
    };
    for phase in 0..=chunk {
        for end in [tile - 1, tile, tile + 1, 3 * tile - 1, 3 * tile, 3 * tile + 1] {
            check(&mut random, &[phase, end]);
            check(&mut random, &[phase, end, tile + 5, 1, 2, end]);
        }
    }
    // What is left over behind the last whole tile.
    let edges = [chunk, row, segment, 2 * segment + row].map(|n| [n - 1, n, n + 1]);
    for rest in (0..2 * chunk + 2).chain(edges.into_iter().flatten()) {
        let phase = random.below(row);
        check(&mut random, &[phase, tile + rest, 3]);
    }
    // About the length from which segments are long, over the border between windows, which are a
    // quarter of a tile.
    for length in [segment - 1, segment, segment + 1, segment + row] {
        for before in [1, chunk, segment / 2, segment - 1] {
            check(&mut random, &[tile / 4 - before, length, 7, tile / 4]);
        }
    }
    // Many short ones in a window, between two that leave nothing of others; and none.
    for _ in 0..6 {
        let mut lengths = vec![random.below(row), tile + random.below(row)];
        for _ in 0..random.below(30) {
            lengths.push(random.below(2 * row));
        }
        lengths.push(2 * tile + random.below(segment));
        check(&mut random, &lengths);
        let whole = tile / 4 * (1 + random.below(6));
        let few = random.below(3);
        check(&mut random, &[whole, whole, few, whole]);
    }
    let whole = order.block() + random.below(tile);
    check(&mut random, &[whole]);
}
