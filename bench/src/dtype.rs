//! The numbers that are scanned, made so that every result can be checked exactly.
//!
//! The inclusive sum at `i` is a hash of `i`, and the element is the difference of two neighbouring
//! sums. Integers wrap, so theirs are random bits. The sums of floats are whole numbers, small
//! enough for every partial sum to be exact, even of every eighth element: all orders of
//! combination give the same bits, and each contender is held to them, whatever its order.

use half::f16;
use kogge::{Accumulate, Element, Number};
use std::fmt::Debug;

/// A type of element that is measured.
pub trait Dtype:
    Element<Accumulator: Number + Element<Accumulator = <Self as Element>::Accumulator>>
    + Accumulate<<Self as Element>::Accumulator>
    + PartialEq
    + PartialOrd
    + Debug
{
    /// The name, as numpy has it.
    const NAME: &'static str;

    /// The inclusive sum at `i`.
    fn sum_at(i: u64) -> Self;

    /// The sum at `i` without what the sum at `before` holds.
    fn difference(i: u64, before: u64) -> Self;

    /// The element at `i`.
    fn element_at(i: u64) -> Self {
        i.checked_sub(1).map_or_else(|| Self::sum_at(i), |before| Self::difference(i, before))
    }

    /// The sum; integers wrap.
    fn plus(self, other: Self) -> Self;
}

/// SplitMix64's finaliser (Steele, Lea, Flood 2014).
pub fn hash(i: u64) -> u64 {
    let mut z = i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

macro_rules! integer {
    ($($type:ident),+) => {$(
        impl Dtype for $type {
            const NAME: &'static str = stringify!($type);
            fn sum_at(i: u64) -> Self {
                hash(i) as $type
            }
            fn difference(i: u64, before: u64) -> Self {
                Self::sum_at(i).wrapping_sub(Self::sum_at(before))
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
        }
    )+};
}

integer!(i8, i16, i32, i64);

macro_rules! float {
    ($($type:ident, $bits:literal, $from:expr;)+) => {$(
        impl Dtype for $type {
            const NAME: &'static str = stringify!($type);
            fn sum_at(i: u64) -> Self {
                $from((hash(i) >> (64 - $bits)) as f64)
            }
            fn difference(i: u64, before: u64) -> Self {
                Self::sum_at(i) - Self::sum_at(before)
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
        }
    )+};
}

float! {
    f16, 9, f16::from_f64;
    f32, 8, |x: f64| x as f32;
    f64, 32, |x: f64| x;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sequential sum in 64 bits is the closed form that results are checked against.
    fn sums_are_the_hashes<T: Dtype, W: Copy>(
        zero: W,
        add: impl Fn(W, T) -> W,
        to: impl Fn(W) -> T,
    ) {
        let mut sum = zero;
        for i in 0..5_000 {
            sum = add(sum, T::element_at(i));
            assert_eq!(to(sum), T::sum_at(i), "{} at {i}", T::NAME);
        }
    }

    #[test]
    fn the_closed_form_is_the_sum() {
        sums_are_the_hashes::<i8, i64>(0, |s, x| s.wrapping_add(x.into()), |s| s as i8);
        sums_are_the_hashes::<i16, i64>(0, |s, x| s.wrapping_add(x.into()), |s| s as i16);
        sums_are_the_hashes::<i32, i64>(0, |s, x| s.wrapping_add(x.into()), |s| s as i32);
        sums_are_the_hashes::<i64, i64>(0, |s, x| s.wrapping_add(x), |s| s);
        sums_are_the_hashes::<f16, f64>(0.0, |s, x| s + x.to_f64(), f16::from_f64);
        sums_are_the_hashes::<f32, f64>(0.0, |s, x| s + f64::from(x), |s| s as f32);
        sums_are_the_hashes::<f64, f64>(0.0, |s, x| s + x, |s| s);
    }
}
