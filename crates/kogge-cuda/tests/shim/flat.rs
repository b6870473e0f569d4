//! Single sequences: forwards and in reverse, at any alignment, with one block or many.

use crate::common::Random;
use crate::common::depth::Depth::{self, Sample, Whole};
use crate::common::shim::{
    BracketsI32, BracketsI64, BracketsU32, Bytes3, Case, Halves,
    Launch::{self, Rounds},
    OfBytes3, OfHalves, OfTriple, OfTwins, Shim, Triple, Twins, skipped,
};
use crate::floats::{hurting, small_float, wild_float};
use crate::programs::Program;
use kogge_core::ops::{Affine, Compose, MatMul, Matrix2, Max, Sum};
use kogge_core::{Accumulate, Element, Operator, Order, bf16, f16};

/// Boundary lengths by all kernels; then many blocks.
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
    let mut shim = Shim::start(Program::Flat.path());
    let most = order.tile() * 5;
    let data: Vec<T> = (0..order.tile() * 140).map(|_| make(&mut random)).collect();
    for n in depth.lengths(&mut random, order, most) {
        let from = random.below(data.len() - n);
        let input = &data[from..from + n];
        let at_once = at_once::<T, A>(&mut random);
        case.check::<T, U>(&mut shim, &mut random, at_once, input).unwrap();
        if let Some(cluster) = cluster(order, n, &mut random) {
            case.check::<T, U>(&mut shim, &mut random, cluster, input).unwrap();
        }
        if n > 0 {
            let rounds = Rounds(1 + random.below(6) as u32);
            case.check::<T, U>(&mut shim, &mut random, rounds, input).unwrap();
        }
    }
    // Blocks of 32 tiles that rounds of any width cut anywhere.
    for grid in depth.some(&mut random, &[3, 32, 65, 31], 1) {
        let tiles = grid + 1 + random.below(70);
        let n = (order.tile() * tiles).min(data.len() - 16) - random.below(order.tile());
        let from = random.below(data.len() - n);
        case.check::<T, U>(&mut shim, &mut random, Rounds(grid as u32), &data[from..from + n])
            .unwrap();
    }
    // More than one block of tiles at once.
    for tiles in depth.some(&mut random, &[9, 33, 40], 1) {
        let n = order.tile() * tiles - random.below(order.tile());
        let at_once = at_once::<T, A>(&mut random);
        case.check::<T, U>(&mut shim, &mut random, at_once, &data[..n]).unwrap();
    }
}

/// In a cluster of sixteen blocks at most, if so many elements fit.
fn cluster(order: Order, n: usize, random: &mut Random) -> Option<Launch> {
    let segments = 1 + random.below(2);
    let fits = |&segments: &usize| n <= 16 * segments * order.segment();
    [segments, 2].into_iter().find(fits).map(|segments| Launch::Cluster(segments as u32))
}

/// By tiles, or by segments, or by segments because no warp can hold one.
fn at_once<T, A>(random: &mut Random) -> Launch {
    let wide = size_of::<T>().max(size_of::<A>()) > 16;
    if wide || random.below(2) == 0 { Launch::Segments } else { Launch::Tiles }
}

#[test]
fn brackets_i64() {
    sweep::<i64, i64, _, _>(
        Whole,
        &Case { name: "brackets_i64", operator: BracketsI64, init: 41i64 },
        |r| r.next() as i64,
    );
}

#[test]
fn brackets_i32_without_bulk_copies() {
    sweep::<i32, i32, _, _>(
        Whole,
        &Case { name: "brackets_i32_old", operator: BracketsI32, init: -9i32 },
        |r| r.next() as i32,
    );
}

#[test]
fn sum_f32() {
    sweep::<f32, f32, _, _>(
        Sample,
        &Case { name: "sum_f32", operator: Sum, init: 0.3f32 },
        wild_float,
    );
}

#[test]
fn sum_i8() {
    sweep::<i8, i8, _, _>(Sample, &Case { name: "sum_i8", operator: Sum, init: 100i8 }, |r| {
        r.next() as i8
    });
}

#[test]
fn sum_i16() {
    sweep::<i16, i16, _, _>(
        Sample,
        &Case { name: "sum_i16", operator: Sum, init: -30000i16 },
        |r| r.next() as i16,
    );
}

#[test]
fn brackets_u8_in_u32() {
    sweep::<u8, u32, _, _>(
        Whole,
        &Case { name: "brackets_u8_u32", operator: BracketsU32, init: 5u32 },
        |r| r.next() as u8,
    );
}

#[test]
fn sum_f16() {
    sweep::<f16, f16, _, _>(Sample, &Case { name: "sum_f16", operator: Sum, init: 0.3f32 }, |r| {
        f16::from_f32(wild_float(r).clamp(-6e4, 6e4))
    });
}

#[test]
fn sum_bf16() {
    sweep::<bf16, bf16, _, _>(
        Sample,
        &Case { name: "sum_bf16", operator: Sum, init: 0.3f32 },
        |r| bf16::from_f32(wild_float(r)),
    );
}

/// With NaNs here and there, and from some place on; and without any, as far as the first.
#[test]
fn max_f32() {
    let case = Case { name: "max_f32", operator: Max, init: 0.1f32 };
    sweep::<f32, f32, _, _>(Sample, &case, |r| {
        if r.below(400) == 0 { hurting(r) } else { wild_float(r) }
    });
}

#[test]
fn max_f16() {
    sweep::<f16, f16, _, _>(Sample, &Case { name: "max_f16", operator: Max, init: 0.1f32 }, |r| {
        f16::from_f32(hurting(r))
    });
}

#[test]
fn max_bf16() {
    sweep::<bf16, bf16, _, _>(
        Sample,
        &Case { name: "max_bf16", operator: Max, init: 0.1f32 },
        |r| bf16::from_f32(hurting(r)),
    );
}

#[test]
fn max_f16_in_f64() {
    sweep::<f16, f16, _, _>(
        Sample,
        &Case { name: "max_f16_in_f64", operator: Max, init: 0.1f64 },
        |r| f16::from_f32(hurting(r)),
    );
}

#[test]
fn sum_bf16_in_f64() {
    sweep::<bf16, bf16, _, _>(
        Sample,
        &Case { name: "sum_bf16_in_f64", operator: Sum, init: 0.1f64 },
        |r| bf16::from_f32(wild_float(r)),
    );
}

#[test]
fn max_f32_in_f64() {
    sweep::<f32, f32, _, _>(
        Sample,
        &Case { name: "max_f32_in_f64", operator: Max, init: 0.1f64 },
        hurting,
    );
}

#[test]
fn compose_f32() {
    sweep::<Affine<f32>, Affine<f32>, _, _>(
        Sample,
        &Case { name: "compose_f32", operator: Compose, init: Affine { a: 0.5f32, b: -2.0 } },
        |r| Affine { a: small_float(r), b: wild_float(r) },
    );
}

#[test]
fn matmul_f32() {
    let init = Matrix2 { m00: 1.5f32, m01: -0.25, m10: 0.125, m11: 0.5 };
    sweep::<Matrix2<f32>, Matrix2<f32>, _, _>(
        Sample,
        &Case { name: "matmul_f32", operator: MatMul, init },
        |r| {
            let mut x = || small_float(r) * 1.25;
            Matrix2 { m00: x(), m01: x(), m10: x(), m11: x() }
        },
    );
}

#[test]
fn matmul_f64() {
    let init = Matrix2 { m00: 1.5f64, m01: -0.25, m10: 0.125, m11: 0.5 };
    sweep::<Matrix2<f64>, Matrix2<f64>, _, _>(
        Sample,
        &Case { name: "matmul_f64", operator: MatMul, init },
        |r| {
            let mut x = || small_float(r) as f64 * 1.25;
            Matrix2 { m00: x(), m01: x(), m10: x(), m11: x() }
        },
    );
}

#[test]
fn elements_of_twelve_bytes() {
    sweep::<Triple, Triple, _, _>(
        Whole,
        &Case { name: "triple", operator: OfTriple, init: Triple { x: 1, y: 2, z: 3 } },
        |r| Triple { x: r.next() as u32, y: r.next() as u32, z: r.next() as u32 },
    );
}

#[test]
fn elements_of_sixteen_bytes() {
    sweep::<Twins, Twins, _, _>(
        Sample,
        &Case { name: "twins", operator: OfTwins, init: Twins { x: 1, y: 2 } },
        |r| Twins { x: r.next() as i64, y: r.next() as i64 },
    );
}

#[test]
fn elements_of_three_bytes() {
    sweep::<Bytes3, Bytes3, _, _>(
        Whole,
        &Case { name: "bytes3", operator: OfBytes3, init: Bytes3 { x: 1, y: 2, z: 3 } },
        |r| Bytes3 { x: r.next() as u8, y: r.next() as u8, z: r.next() as u8 },
    );
}

/// Rows that straddle quads by two bytes.
#[test]
fn elements_of_two_halves() {
    sweep::<Halves, Halves, _, _>(
        Whole,
        &Case { name: "halves", operator: OfHalves, init: Halves { x: 1, y: 2 } },
        |r| Halves { x: r.next() as u16, y: r.next() as u16 },
    );
}
