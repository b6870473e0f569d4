//! Operators that take operands in any order: integers of every size, against the fixed order.

use crate::common::{Case, Random, check, plans, sweep};
use kogge_core::ops::{BitAnd, BitXor, Max, Min, Product, Sum};
use kogge_core::{Accumulate, Direction, Element, Kind, Operator, Order};
use kogge_cpu::{Level, Request};
use std::fmt::Debug;

/// Lengths around vectors, rows and tiles.
fn lengths<T>() -> Vec<usize> {
    let (size, tile) = (size_of::<T>(), Order::of::<T>().tile());
    if cfg!(miri) {
        return vec![3, 600 / size];
    }
    let some = (0..=64).chain((1..=8).flat_map(|k| [k * 512 / size - 1, k * 512 / size + 1]));
    some.chain([tile - 1, tile, tile + 1, 3 * tile + 700 / size]).collect()
}

fn every_way<A, O>(operator: &O, init: A, make: impl Fn(u64) -> A)
where
    A: Element<Accumulator = A> + Debug,
    O: Operator<A>,
{
    const { assert!(O::COMMUTATIVE && O::EXACT) };
    let lengths = lengths::<A>();
    let mut random = Random(size_of::<A>() as u64);
    let input: Vec<A> = (0..*lengths.iter().max().unwrap()).map(|_| make(random.next())).collect();
    for len in lengths {
        let direction = [Direction::Forward, Direction::Reverse][usize::from(len % 16 == 9)];
        for kind in [Kind::Inclusive, Kind::Exclusive] {
            let init = [None, Some(init)][random.next() as usize % 2];
            let request = Request { kind, direction, init, ..Request::new(operator) };
            let case = Case::<A, A, A>::new("free", &input[..len], &request);
            for level in Level::available() {
                for &plan in plans(Order::of::<A>(), len) {
                    case.check(&Request { level, plan: Some(plan), ..request });
                }
            }
        }
    }
}

macro_rules! every_integer {
    ($($type:ident),+) => {$(
        #[test]
        fn $type() {
            every_way(&Sum, 77, |bits| bits as $type);
        }
    )+};
}

// With a sign and without one they are added by the same code. Sums by the operator itself are of
// those without throughout this program, unless they are accumulated in wider ones: so it is
// compiled once for each size.
every_integer!(u8, u16, u32, u64);

/// Of every length that others are tried with too.
#[test]
#[cfg_attr(miri, ignore = "the same unsafe code as for other operators")]
fn integers_wrap() {
    let mut random = Random(3);
    sweep("u8", &Sum, 7, |_| random.next() as u8);
    sweep("u16", &Sum, 7, |_| random.next() as u16);
    sweep("u32", &Sum, 7u32, |_| random.next() as u32);
    sweep("u64", &Sum, 7, |_| random.next());
}

#[test]
fn the_other_operators() {
    every_way(&Max, 7, |bits| bits as i8);
    every_way(&Product, 3, |bits| bits as u16 | 1);
    every_way(&BitXor, 5, |bits| bits as i32);
    every_way(&BitAnd, !1, |bits| !(1u32 << (bits % 32)));
    every_way(&Min, 7u64, |bits| bits);
}

/// Wider accumulators go through the stage.
fn widened<T, A>(make: impl Fn(u64) -> T)
where
    T: Accumulate<A> + Debug,
    A: Accumulate<A> + Debug,
    Sum: Operator<A>,
{
    let len = if cfg!(miri) { 700 } else { 2 * Order::of::<T>().tile() + 1301 };
    let mut random = Random(3);
    let input: Vec<T> = (0..len).map(|_| make(random.next())).collect();
    for kind in [Kind::Inclusive, Kind::Exclusive] {
        for &plan in plans(Order::of::<T>(), len) {
            let request = Request { kind, plan: Some(plan), ..Request::new(&Sum) };
            check::<T, A, A, _>("widened", &input, &request);
        }
    }
}

#[test]
fn wider_accumulators() {
    widened::<u8, u64>(|bits| bits as u8);
    widened::<u8, i16>(|bits| bits as u8);
    widened::<i16, i32>(|bits| bits as i16);
    widened::<i32, i64>(|bits| bits as i32);
}
