//! Columns: at strides of any sign, by a lane a line, cut in units, by teams and in clusters, on
//! few blocks and many.

use crate::common::Random;
use crate::common::columns::Case;
use crate::common::columns::Kernel::{self, Clusters, Lanes, Rounds, Teams, Vectors};
use crate::common::depth::Depth::{self, Sample, Whole};
use crate::common::shim::{
    BracketsI32, BracketsI64, BracketsU32, Bytes3, OfBytes3, OfTriple, Shim, Triple, skipped,
};
use crate::floats::{hurting, small_float, wild_float};
use crate::programs::Program;
use kogge_core::ops::{Affine, Compose, MatMul, Matrix2, Max, Sum};
use kogge_core::{Accumulate, Element, Operator, Order, bf16, f16};

/// Boundary lengths, by every kernel; then lines of several tiles and blocks.
fn sweep<T, U, A, O>(
    depth: Depth,
    case: &Case<'_, O>,
    make: impl Fn(&mut Random) -> T,
    init: impl Fn(&mut Random) -> A,
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
    let mut random = Random(case.name.bytes().map(u64::from).sum());
    let mut shim = Shim::start(Program::Columns.path());
    let mut check = |len, lines, kernel: Kernel, random: &mut Random| {
        case.check::<T, U, A>(&mut shim, random, kernel, len, lines, &make, &init).unwrap();
    };
    for len in depth.lengths(&mut random, order, order.tile() * 2) {
        let lines = 1 + random.below(if len > order.segment() { 5 } else { 40 });
        check(len, lines, Lanes, &mut random);
        if len > 0 {
            let grid = 1 + random.below(5) as u32;
            // Teams take many lines at once, which the reference goes down one by one.
            let short = len <= order.segment() * 2;
            let kernel = match random.below(3) {
                0 if short => Teams(grid),
                1 if short => Clusters(1 + grid % 2),
                _ => Rounds(grid),
            };
            check(len, lines, kernel, &mut random);
        }
    }
    // As many as kernels of few elements take, of sizes that they take.
    let chunk = order.chunk();
    if chunk * size_of::<T>() == 16 {
        for len in 2..=(8 * chunk).min(32) {
            let lines = 1 + random.below(if len % 4 == 0 { 1500 } else { 100 });
            check(len, lines, Vectors, &mut random);
        }
    }
    // As many strips as are drawn.
    let octet = 8 * order.chunk();
    let many = [
        (1 + random.below(octet / 4), 1200, Lanes),
        (octet / 4 + 1 + random.below(octet - octet / 4), 900, Lanes),
        (octet + 1 + random.below(octet), 900, Lanes),
        (1 + random.below(order.row()), 500, Teams(1)),
        (order.row() + 1 + random.below(order.row()), 700, Teams(2)),
    ];
    for (len, lines, kernel) in depth.some(&mut random, &many, 3) {
        check(len, lines, kernel, &mut random);
    }
    let long = [
        (9, Lanes),
        (9, Rounds(3)),
        (34, Rounds(16)),
        (34, Lanes),
        (33, Teams(7)),
        (9, Clusters(2)),
        (70, Rounds(3)),
    ];
    for (tiles, kernel) in depth.some(&mut random, &long, 3) {
        let len = order.tile() * tiles - random.below(order.tile());
        check(len, 1 + random.below(3), kernel, &mut random);
    }
}

#[test]
fn brackets_i64() {
    let case = Case { name: "brackets_i64", operator: BracketsI64, columns: 16, cluster: 2 };
    sweep::<i64, i64, i64, _>(Sample, &case, |r| r.next() as i64, |r| r.next() as i64);
}

#[test]
fn brackets_i32() {
    let case = Case { name: "brackets_i32", operator: BracketsI32, columns: 64, cluster: 8 };
    sweep::<i32, i32, i32, _>(Whole, &case, |r| r.next() as i32, |r| r.next() as i32);
}

#[test]
fn units_of_many_rows() {
    let case = Case { name: "brackets_i32_deep", operator: BracketsI32, columns: 2, cluster: 4 };
    sweep::<i32, i32, i32, _>(Whole, &case, |r| r.next() as i32, |r| r.next() as i32);
}

#[test]
fn brackets_u8_in_u32() {
    let case = Case { name: "brackets_u8_u32", operator: BracketsU32, columns: 32, cluster: 8 };
    sweep::<u8, u32, u32, _>(Sample, &case, |r| r.next() as u8, |r| r.next() as u32);
}

#[test]
fn sum_f32() {
    let case = Case { name: "sum_f32", operator: Sum, columns: 4, cluster: 4 };
    sweep::<f32, f32, f32, _>(Sample, &case, wild_float, wild_float);
}

#[test]
fn sum_i8() {
    let case = Case { name: "sum_i8", operator: Sum, columns: 16, cluster: 2 };
    sweep::<i8, i8, i8, _>(Sample, &case, |r| r.next() as i8, |r| r.next() as i8);
}

#[test]
fn sum_i16() {
    let case = Case { name: "sum_i16", operator: Sum, columns: 8, cluster: 4 };
    sweep::<i16, i16, i16, _>(Sample, &case, |r| r.next() as i16, |r| r.next() as i16);
}

#[test]
fn sum_f16() {
    let case = Case { name: "sum_f16", operator: Sum, columns: 32, cluster: 8 };
    let make = |r: &mut Random| f16::from_f32(wild_float(r).clamp(-6e4, 6e4));
    sweep::<f16, f16, f32, _>(Sample, &case, make, small_float);
}

#[test]
fn max_bf16() {
    let case = Case { name: "max_bf16", operator: Max, columns: 8, cluster: 2 };
    sweep::<bf16, bf16, f32, _>(Sample, &case, |r| bf16::from_f32(hurting(r)), hurting);
}

#[test]
fn max_f32_in_f64() {
    let case = Case { name: "max_f32_in_f64", operator: Max, columns: 8, cluster: 4 };
    sweep::<f32, f32, f64, _>(Sample, &case, hurting, |r| f64::from(wild_float(r)));
}

#[test]
fn compose_f32() {
    let case = Case { name: "compose_f32", operator: Compose, columns: 16, cluster: 8 };
    let make = |r: &mut Random| Affine { a: small_float(r), b: wild_float(r) };
    sweep::<Affine<f32>, Affine<f32>, Affine<f32>, _>(Sample, &case, make, make);
}

#[test]
fn matmul_f32() {
    let case = Case { name: "matmul_f32", operator: MatMul, columns: 1, cluster: 2 };
    let make = |r: &mut Random| {
        let mut x = || small_float(r) * 1.25;
        Matrix2 { m00: x(), m01: x(), m10: x(), m11: x() }
    };
    sweep::<Matrix2<f32>, Matrix2<f32>, Matrix2<f32>, _>(Sample, &case, make, make);
}

#[test]
fn matmul_f64() {
    let case = Case { name: "matmul_f64", operator: MatMul, columns: 8, cluster: 8 };
    let make = |r: &mut Random| {
        let mut x = || f64::from(small_float(r)) * 1.25;
        Matrix2 { m00: x(), m01: x(), m10: x(), m11: x() }
    };
    sweep::<Matrix2<f64>, Matrix2<f64>, Matrix2<f64>, _>(Sample, &case, make, make);
}

#[test]
fn elements_of_twelve_bytes() {
    let case = Case { name: "triple", operator: OfTriple, columns: 16, cluster: 4 };
    let make =
        |r: &mut Random| Triple { x: r.next() as u32, y: r.next() as u32, z: r.next() as u32 };
    sweep::<Triple, Triple, Triple, _>(Whole, &case, make, make);
}

#[test]
fn elements_of_three_bytes() {
    let case = Case { name: "bytes3", operator: OfBytes3, columns: 4, cluster: 8 };
    let make = |r: &mut Random| Bytes3 { x: r.next() as u8, y: r.next() as u8, z: r.next() as u8 };
    sweep::<Bytes3, Bytes3, Bytes3, _>(Whole, &case, make, make);
}
