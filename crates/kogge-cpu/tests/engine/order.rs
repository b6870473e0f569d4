//! The engine against the scalar reference, bit for bit: every SIMD level, every boundary length,
//! in place and not, forward and reverse, one thread and many.

use crate::common::{ONE, Random, bracket, bracket_each, bracket_u8, bracket_u32, sweep};
use kogge_core::ops::{Affine, Compose, LastValid, MatMul, Matrix2, Max, Min, Sum};
use kogge_core::{bf16, f16, from_fn};
use kogge_cpu::{Request, scan_into};

#[test]
fn floats_by_sum() {
    let mut random = Random(1);
    sweep("f32", &Sum, 0.1, |_| random.float() as f32);
    sweep("f64", &Sum, 0.1, |_| random.float());
}

#[test]
fn half_floats_are_combined_in_f32() {
    let mut random = Random(2);
    sweep("f16", &Sum, 0.1f32, |_| f16::from_f64(random.float()));
    sweep("bf16", &Sum, 0.1f32, |_| bf16::from_f64(random.float()));
}

#[test]
fn wider_accumulators() {
    let mut random = Random(4);
    sweep::<f32, f64, _>("f32 in f64", &Sum, 0.1, |_| random.float() as f32);
    sweep::<i32, i64, _>("i32 in i64", &Sum, 7, |_| random.next() as i32);
    sweep::<u8, u64, _>("u8 in u64", &Sum, 7, |_| random.next() as u8);
}

#[test]
#[cfg_attr(miri, ignore = "the same unsafe code as for other operators")]
fn extremes_with_nans_and_signed_zeros() {
    let mut random = Random(5);
    let mut special = move |_| match random.next() % 1000 {
        0 => f32::NAN,
        1..100 => -0.0,
        100..200 => 0.0,
        _ => random.float() as f32,
    };
    sweep("min", &Min, f32::INFINITY, &mut special);
    sweep("max", &Max, f32::NEG_INFINITY, &mut special);
    sweep("last valid", &LastValid, 1.0, |i| if i % 7 == 3 { i as f32 } else { f32::NAN });
}

#[test]
#[cfg_attr(miri, ignore = "the same unsafe code as for other operators")]
fn compositions_do_not_commute() {
    let mut random = Random(6);
    let mut affine =
        move |_| Affine { a: 1.0 + random.float() as f32 / 4096.0, b: random.float() as f32 };
    sweep("affine", &Compose, Affine { a: 0.5, b: 0.25 }, &mut affine);
    let mut random = Random(7);
    sweep("affine f64", &Compose, Affine { a: 0.5, b: 0.25 }, |_| Affine {
        a: random.float(),
        b: random.float(),
    });
    let mut random = Random(8);
    sweep("matrix", &MatMul, Matrix2 { m00: 1, m01: 2, m10: 3, m11: 4 }, |_| {
        let mut next = || random.next() as u32;
        Matrix2 { m00: next(), m01: next(), m10: next(), m11: next() }
    });
}

/// x ∘ y = 3x + y isn't associative: equal values mean equal brackets.
#[test]
fn brackets_of_every_element_size() {
    let mut random = Random(9);
    let f8 = from_fn(0, bracket_u8);
    sweep("3x + y, u8", &f8, 5, |_| random.next() as u8);
    let f32 = from_fn(0, bracket_u32);
    sweep("3x + y, u32", &f32, 5, |_| random.next() as u32);
    let f64 = from_fn(0, bracket);
    sweep("3x + y, u64", &f64, 5, |_| random.next());
    let wide = from_fn([0; 3], bracket_each);
    sweep("3x + y, 24 bytes", &wide, [5; 3], |_| [random.next(), random.next(), random.next()]);
    let odd = from_fn([0u8; 3], |x: [u8; 3], y: [u8; 3]| {
        std::array::from_fn(|i| x[i].wrapping_mul(3).wrapping_add(y[(i + 1) % 3]))
    });
    sweep("3x + y, 3 bytes", &odd, [5; 3], |_| std::array::from_fn(|_| random.next() as u8));
}

/// The bicyclic monoid: what is left of a string of parentheses. Associative, not commutative.
#[test]
#[cfg_attr(miri, ignore = "the same unsafe code as for other operators")]
fn bicyclic_monoid() {
    let mut random = Random(10);
    let cancel = from_fn([0u32; 2], |[close, open]: [u32; 2], [closes, opens]: [u32; 2]| {
        let matched = open.min(closes);
        [close.wrapping_add(closes - matched), (open - matched).wrapping_add(opens)]
    });
    sweep("bicyclic", &cancel, [0, 3], |_| {
        if random.next().is_multiple_of(2) { [1, 0] } else { [0, 1] }
    });
}

#[test]
fn sums_beyond_32_bits() {
    let input = vec![u32::MAX; if cfg!(miri) { 300 } else { 100_000 }];
    let mut output = vec![0u64; input.len()];
    let request = Request::<_, u64> { plan: cfg!(miri).then_some(ONE), ..Request::new(&Sum) };
    let total = scan_into(&request, &input, &mut output).unwrap();
    assert_eq!(total, Some(u32::MAX as u64 * input.len() as u64));
    assert!(output.iter().enumerate().all(|(i, &sum)| sum == u32::MAX as u64 * (i as u64 + 1)));
}

#[test]
fn lengths_must_match() {
    let request = Request::<_, u32>::new(&Sum);
    let error = scan_into(&request, &[1u32, 2, 3], &mut [0u32; 2]).unwrap_err();
    assert_eq!(error, kogge_core::Error::LengthMismatch { input: 3, output: 2 });
}
