//! Every built-in operator on every element it is defined for.
//!
//! The operators are called through a pointer and by compact code, so that there is one small copy
//! of the engine for each element type; those whose vector code is worth a look of its own are
//! inlined as well, at every level.

use crate::common::{Case, MANY, MANY_STREAM, ONE, Random, few_lengths};
use kogge_core::ops::{
    Affine, All, Any, ArgMax, ArgMin, BitAnd, BitOr, BitXor, Compose, Flagged, Indexed, LastValid,
    LogAddExp, MatMul, Matrix2, Max, Min, Product, Segmented, Sum,
};
use kogge_core::{
    Accumulate, Compact, Direction, Element, Kind, Operator, Order, bf16, f16, from_fn,
};
use kogge_cpu::{Level, Request};
use std::fmt::Debug;

/// Few lengths, each in one variant by all levels and some plans.
fn sweep<T, U, A, O>(name: &str, operator: &O, init: A, make: impl FnMut(usize) -> T)
where
    T: Accumulate<A> + Debug,
    U: Accumulate<A> + Debug,
    A: Element + Debug,
    O: Operator<A>,
{
    let lengths = few_lengths(Order::of::<T>());
    let input: Vec<T> = (0..*lengths.iter().max().unwrap()).map(make).collect();
    for len in lengths {
        let mut random = Random(len as u64 + name.len() as u64);
        let kind = [Kind::Inclusive, Kind::Exclusive][random.next() as usize % 2];
        let direction = [Direction::Forward, Direction::Reverse][random.next() as usize % 5 / 4];
        let init = [None, Some(init)][random.next() as usize % 2];
        let request = Request { kind, direction, init, ..Request::new(operator) };
        let case = Case::<T, U, A>::new(name, &input[..len], &request);
        for level in Level::available() {
            for plan in [ONE, MANY, MANY_STREAM] {
                case.check(&Request { level, plan: Some(plan), ..request });
            }
        }
    }
}

/// An operator through a pointer, by compact code.
fn erased<A>(name: &str, operator: impl Operator<A>, mut make: impl FnMut(usize) -> A)
where
    A: Element<Accumulator = A> + Debug,
{
    let combine: &(dyn Fn(A, A) -> A + Sync) = &|x, y| operator.combine(x, y);
    let init = make(7);
    sweep::<A, A, A, _>(name, &Compact(from_fn(operator.identity(), combine)), init, make);
}

macro_rules! each {
    ($make:expr; $($operator:expr),+ $(,)?) => {
        $(erased(stringify!($operator), $operator, $make);)+
    };
}

macro_rules! integers {
    ($($name:ident: $type:ty;)+) => {$(
        #[test]
        fn $name() {
            let value = |i: usize| Random(i as u64).next() as $type;
            each!(value; Sum, Product, Min, Max, BitAnd, BitOr, BitXor, All, Any);
        }
    )+};
}

integers! {
    operators_on_i8: i8;
    operators_on_i16: i16;
    operators_on_i32: i32;
    operators_on_i64: i64;
    operators_on_u8: u8;
    operators_on_u16: u16;
    operators_on_u32: u32;
    operators_on_u64: u64;
}

/// Mixed magnitudes, zeros of both signs, infinities and NaNs.
fn special(i: usize) -> f64 {
    let mut random = Random(i as u64);
    match random.next() % 200 {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => f64::NEG_INFINITY,
        3..20 => -0.0,
        20..40 => 0.0,
        _ => random.float(),
    }
}

macro_rules! floats {
    ($($name:ident: $type:ty;)+) => {$(
        #[test]
        fn $name() {
            let finite = |i: usize| Random(i as u64).float() as $type;
            let special = |i: usize| special(i) as $type;
            let near_one = |i: usize| 1.0 + finite(i) / 4096.0;
            each!(finite; Sum, LogAddExp);
            each!(near_one; Product);
            each!(special; Min, Max, LastValid, LogAddExp);
        }
    )+};
}

floats! {
    operators_on_f32: f32;
    operators_on_f64: f64;
}

#[test]
fn extremes_with_their_places() {
    each!(|i| Indexed::new(Random(i as u64).next() as i8 % 5, i as u64); ArgMin, ArgMax);
    each!(|i| Indexed::new(special(i), i as u64); ArgMin, ArgMax);
}

#[test]
fn segments_and_missing_values() {
    let flag = |i: usize| Random(i as u64 + 1).next().is_multiple_of(9);
    each!(|i| Flagged::new(Random(i as u64).next() as u16, flag(i));
        LastValid, Segmented(Sum), Segmented(BitXor));
    each!(|i| Flagged::new(special(i) as f32, flag(i)); LastValid, Segmented(Min), Segmented(Max));
    each!(|i| Flagged::new(Random(i as u64).float(), flag(i)); LastValid, Segmented(LogAddExp));
}

#[test]
fn compositions() {
    let integer = |i: usize| Random(i as u64).next() as i32;
    let float = |i: usize| Random(i as u64).float();
    each!(|i| Affine { a: integer(2 * i), b: integer(2 * i + 1) }; Compose);
    each!(|i| Affine { a: float(2 * i), b: float(2 * i + 1) }; Compose);
    each!(|i| {
        let [m00, m01, m10, m11] = std::array::from_fn(|k| float(4 * i + k));
        Matrix2 { m00, m01, m10, m11 }
    }; MatMul);
}

/// Conversions at either end; `kogge-core` tests each pair of types by itself.
#[test]
fn wider_accumulators_and_outputs() {
    let random = |i: usize| Random(i as u64).next();
    sweep::<u8, i16, i16, _>("u8 in i16", &Sum, -3, |i| random(i) as u8);
    sweep::<i16, f32, f32, _>("i16 in f32", &Sum, 0.5, |i| random(i) as i16);
    sweep::<u32, f64, f64, _>("u32 in f64", &Sum, 0.5, |i| random(i) as u32);
    sweep::<f16, bf16, f32, _>("f16 to bf16", &Sum, 0.1, |i| {
        f16::from_f64(Random(i as u64).float())
    });
    sweep::<bf16, f64, f64, _>("bf16 in f64", &Sum, 0.1, |i| {
        bf16::from_f64(Random(i as u64).float())
    });
}

/// All bits of halves, NaNs with and without the quiet bit among them, as an operator sees them.
#[test]
fn every_half_is_widened_alike() {
    let xor = from_fn(0f32, |x: f32, y: f32| f32::from_bits(x.to_bits() ^ y.to_bits()));
    let bits = |i: usize| i as u16;
    sweep::<bf16, f32, f32, _>("bf16", &xor, 0.1, |i| bf16::from_bits(bits(i)));
    sweep::<f16, f32, f32, _>("f16", &xor, 0.1, |i| f16::from_bits(bits(i)));
}

/// Operators whose vector code the compiler makes of more than one instruction.
#[test]
fn inlined_operators() {
    let finite = |i: usize| Random(i as u64).float() as f32;
    sweep::<f32, f32, f32, _>("product", &Product, 1.5, |i| 1.0 + finite(i) / 4096.0);
    sweep::<i64, i64, i64, _>("max", &Max, 3, |i| Random(i as u64).next() as i64);
    sweep::<u8, u8, u8, _>("min", &Min, 250, |i| Random(i as u64).next() as u8 | 64);
    sweep::<f64, f64, f64, _>("min", &Min, 1.0, special);
    sweep::<Indexed<f32>, Indexed<f32>, _, _>("argmin", &ArgMin, Indexed::new(1.0, 1 << 40), |i| {
        Indexed::new(special(i) as f32, i as u64)
    });
    sweep::<Flagged<f32>, Flagged<f32>, _, _>(
        "segmented sum",
        &Segmented(Sum),
        Flagged::new(0.1, false),
        |i| Flagged::new(finite(i), i % 13 == 5),
    );
    sweep::<Affine<i64>, Affine<i64>, _, _>("affine", &Compose, Affine { a: 3, b: 5 }, |i| {
        Affine { a: Random(i as u64).next() as i64 | 1, b: Random(i as u64 + 9).next() as i64 }
    });
}

/// The first place of the extreme value so far, against a plain loop: an oracle of its own.
#[test]
fn first_extremes_against_a_loop() {
    let len = if cfg!(miri) { 300 } else { 20_000 };
    let values: Vec<i16> = (0..len).map(|i| Random(i).next() as i16 / 64).collect();
    let mut pairs: Vec<_> = values.iter().zip(0..).map(|(&v, i)| Indexed::new(v, i)).collect();
    let request = Request { plan: Some(MANY), ..Request::new(&Compact(ArgMax)) };
    kogge_cpu::scan_in_place(&request, &mut pairs);
    let mut best = 0;
    for (i, pair) in pairs.iter().enumerate() {
        if values[i] > values[best] {
            best = i;
        }
        assert_eq!((pair.value, pair.index), (values[best], best as u64), "at {i}");
    }
}

/// Running totals that restart, against a plain loop.
#[test]
fn segments_against_a_loop() {
    let len = if cfg!(miri) { 300 } else { 50_000 };
    let starts = |i: u64| Random(i).next().is_multiple_of(37);
    let input: Vec<Flagged<u32>> =
        (0..len).map(|i| Flagged::new(Random(i).next() as u32, starts(i))).collect();
    let mut output = input.clone();
    let request = Request { plan: Some(MANY), ..Request::new(&Compact(Segmented(Sum))) };
    kogge_cpu::scan_in_place(&request, &mut output);
    let mut sum = 0u32;
    for (i, (element, value)) in input.iter().zip(&output).enumerate() {
        sum = if element.is_set() { element.value } else { sum.wrapping_add(element.value) };
        assert_eq!(value.value, sum, "at {i}");
    }
}
