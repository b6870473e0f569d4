//! Lines: dense and apart, along several axes, at any alignment, with an init for none, for all, or
//! for each; what lies between lines stays as it was.

use crate::common::Random;
use crate::common::depth::Depth::{self, Sample, Whole};
use crate::common::lines::{Layout, Way, batch, check};
use crate::common::shim::{
    BracketsI32, BracketsI64, BracketsU32, Bytes3, OfBytes3, OfTriple, Shim, Triple, skipped,
};
use crate::floats::small_float;
use crate::programs::Program;
use kogge_core::ops::{MatMul, Matrix2, Max, Sum};
use kogge_core::{Accumulate, Element, Operator, Order, bf16, f16};

/// Lines of boundary lengths up to a tile, a few blocks of them, and a row a warp; then longer
/// ones, in rounds.
fn sweep<T, U, A, O>(
    depth: Depth,
    name: &str,
    operator: O,
    some: A,
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
    let mut shim = Shim::start(Program::Lines.path());
    let data: Vec<T> = (0..order.tile() * 80).map(|_| make(&mut random)).collect();
    let inits: Vec<A> =
        (0..512).map(|_| operator.combine(some, make(&mut random).widen())).collect();
    let mut sizes = Random(random.next());
    let mut lot = Random(random.next());
    let mut size = |end: usize| 1 + sizes.below(end);
    let mut try_one = |n: usize, lines: usize, way: Way| {
        let layout = Layout::random::<T>(&mut random, n, lines);
        check::<T, U, A, O>(name, &operator, &mut shim, &mut random, way, &layout, &data, &inits)
            .unwrap();
    };
    let mut lengths = depth.lengths(&mut lot, order, order.tile());
    lengths.extend([3, 5, 100, 1000, 1001].into_iter().filter(|&n| n <= order.tile()));
    for n in lengths {
        for blocks in depth.some(&mut lot, &[1, 2, 3], 2) {
            // A few lots of each warp, and few enough lines for their inits and for a test.
            let most = (5 * batch(order, n) + 2).min(inits.len()).min(order.tile() * 20 / n.max(1));
            try_one(n, size(most), Way::Lots(blocks));
        }
        if n > order.segment() {
            try_one(n, size(7), Way::Rounds(size(5) as u32));
        } else if n > 0 {
            for most in [batch(order, n), 5] {
                try_one(n, size(most.min(inits.len())), Way::Rows(size(8) as u32));
            }
        }
    }
    for tiles in depth.some(&mut lot, &[1, 2, 3, 5, 8], 3) {
        let rest = [1, order.chunk(), order.tile() - 1];
        for n in depth.some(&mut lot, &rest, 1).into_iter().map(|n| order.tile() * tiles + n) {
            let lines = size(20 / tiles);
            try_one(n, lines, Way::Rounds(size(9) as u32));
        }
    }
    // Lines of more than a block of tiles, by few thread blocks and by many.
    for blocks in depth.some(&mut lot, &[3, 37], 1) {
        let n = order.tile() * (32 + size(4)) - size(order.tile()) + 1;
        try_one(n, 2, Way::Rounds(blocks));
    }
}

fn wild_float(random: &mut Random) -> f32 {
    match random.below(16) {
        0 => -0.0,
        1 => 0.0,
        2 if random.below(20) == 0 => {
            f32::from_bits(0x7f80_0001 | random.next() as u32 & 0x803f_ffff)
        }
        _ => small_float(random) * (1u64 << random.below(40)) as f32,
    }
}

#[test]
fn brackets_i64() {
    sweep::<i64, i64, _, _>(Whole, "brackets_i64", BracketsI64, 41i64, |r| r.next() as i64);
}

#[test]
fn brackets_i32_without_bulk_copies() {
    sweep::<i32, i32, _, _>(Whole, "brackets_i32_old", BracketsI32, -9i32, |r| r.next() as i32);
}

#[test]
fn sum_f32() {
    sweep::<f32, f32, _, _>(Sample, "sum_f32", Sum, 0.3f32, |r| {
        small_float(r) * (1u64 << r.below(40)) as f32
    });
}

#[test]
fn sum_i8() {
    sweep::<i8, i8, _, _>(Sample, "sum_i8", Sum, 100i8, |r| r.next() as i8);
}

#[test]
fn brackets_u8_in_u32() {
    sweep::<u8, u32, _, _>(Whole, "brackets_u8_u32", BracketsU32, 5u32, |r| r.next() as u8);
}

#[test]
fn max_f16() {
    sweep::<f16, f16, _, _>(Sample, "max_f16", Max, 0.1f32, |r| f16::from_f32(wild_float(r)));
}

#[test]
fn sum_bf16_in_f64() {
    sweep::<bf16, f64, _, _>(Sample, "sum_bf16_in_f64", Sum, 0.1f64, |r| {
        bf16::from_f32(small_float(r))
    });
}

#[test]
fn sum_f32_as_f16() {
    sweep::<f32, f16, _, _>(Sample, "sum_f32_as_f16", Sum, 0.1f32, small_float);
}

#[test]
fn matmul_f64() {
    let init = Matrix2 { m00: 1.5f64, m01: -0.25, m10: 0.125, m11: 0.5 };
    sweep::<Matrix2<f64>, Matrix2<f64>, _, _>(Sample, "matmul_f64", MatMul, init, |r| {
        let mut x = || small_float(r) as f64 * 1.25;
        Matrix2 { m00: x(), m01: x(), m10: x(), m11: x() }
    });
}

#[test]
fn elements_of_twelve_bytes() {
    sweep::<Triple, Triple, _, _>(Whole, "triple", OfTriple, Triple { x: 1, y: 2, z: 3 }, |r| {
        Triple { x: r.next() as u32, y: r.next() as u32, z: r.next() as u32 }
    });
}

#[test]
fn elements_of_three_bytes() {
    sweep::<Bytes3, Bytes3, _, _>(Whole, "bytes3", OfBytes3, Bytes3 { x: 1, y: 2, z: 3 }, |r| {
        Bytes3 { x: r.next() as u8, y: r.next() as u8, z: r.next() as u8 }
    });
}
