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
