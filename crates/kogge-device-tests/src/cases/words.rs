//! Every word of the language, for every type that it takes.

// Literals that have to be rounded are what is tested.
#![allow(clippy::excessive_precision)]

use super::on;
use crate::{Case, Tolerance};
use kogge_core::device::lang::{Float, Integer, Signed};
use kogge_core::{OrderedNumber, operator};

macro_rules! binary {
    ($($name:ident<$bound:path>: |$left:ident, $right:ident| $body:expr;)+) => {$(
        #[operator(identity = T::SUM_IDENTITY)]
        fn $name<T: $bound>($left: T, $right: T) -> T { $body }
    )+};
}

trait SignedNumber: Signed + OrderedNumber {}
impl<T: Signed + OrderedNumber> SignedNumber for T {}

binary! {
    Add<OrderedNumber>: |left, right| left + right;
    Sub<OrderedNumber>: |left, right| left - right;
    Mul<OrderedNumber>: |left, right| left * right;
    Div<OrderedNumber>: |left, right| left / right;
    MulThenAdd<OrderedNumber>: |left, right| left * right + right;
    Min<OrderedNumber>: |left, right| left.min(right);
    Max<OrderedNumber>: |left, right| left.max(right);
    Minimum<OrderedNumber>: |left, right| left.minimum(right);
    Maximum<OrderedNumber>: |left, right| left.maximum(right);
    OfType<OrderedNumber>: |left, right| T::maximum(left, T::min(right, T::ONE));
    Clamp<OrderedNumber>: |left, right| left.clamp(right, T::ONE);
    Neg<SignedNumber>: |left, right| if left < right { -left } else { -right };
    Abs<SignedNumber>: |left, right| if left < right { left.abs() } else { right.abs() };
    Rem<Integer>: |left, right| left % right;
    Bits<Integer>: |left, right| (left & right) ^ !(left | !right);
    Xor<Integer>: |left, right| left ^ right;
    Wrapping<Integer>: |left, right| left.wrapping_add(right).wrapping_mul(left.wrapping_sub(right)).wrapping_neg();
    SaturatingAdd<Integer>: |left, right| left.saturating_add(right);
    SaturatingSub<Integer>: |left, right| left.saturating_sub(right);
    Floor<Float>: |left, right| if left < right { left.floor() } else { right.floor() };
    Sqrt<Float>: |left, right| if left < right { left.sqrt() } else { right.sqrt() };
    MulAdd<Float>: |left, right| left.mul_add(right, left);
    MulSub<Float>: |left, right| left.mul_add(right, -(left * right));
    Exp<Float>: |left, right| if left < right { left.exp() } else { right.exp() };
    Ln<Float>: |left, right| if left < right { right.ln() } else { left.ln() };
    Exp2<Float>: |left, right| if left < right { left.exp2() } else { right.exp2() };
    Log2<Float>: |left, right| if left < right { right.log2() } else { left.log2() };
}

/// The answers of all comparisons as the binary digits of a number.
#[operator(identity = T::SUM_IDENTITY)]
fn Compare<T: OrderedNumber>(left: T, right: T) -> T {
    let zero = T::ONE - T::ONE;
    let mut digits = zero;
    digits = digits + digits + if left == right { T::ONE } else { zero };
    digits = digits + digits + if left != right { T::ONE } else { zero };
    digits = digits + digits + if left < right { T::ONE } else { zero };
    digits = digits + digits + if left <= right { T::ONE } else { zero };
    digits = digits + digits + if left > right { T::ONE } else { zero };
    digits = digits + digits + if left >= right { T::ONE } else { zero };
    digits = digits + digits + if left.precedes(right) { T::ONE } else { zero };
    digits + digits + if left.exceeds(right) { T::ONE } else { zero }
}

macro_rules! shifts {
    ($($name:ident $type:ty;)+) => {$(
        /// Shifts by amounts of every type, beyond the width too.
        #[operator(identity = 0)]
        fn $name(left: $type, right: $type) -> $type {
            let near = (left << (right as i8)) ^ (left >> (right as u8)).wrapping_shl(right as u32);
            let wide = (left >> (right as i64)) ^ (left << (right as u64)).wrapping_shr(right as u32);
            let mut far = left >> (right as i32);
            far <<= right as i16;
            far ^= right >> (left as u16);
            near ^ wide ^ far ^ (left >> right) ^ (right << left)
        }
    )+};
}

shifts! {
    ShiftI8 i8; ShiftI16 i16; ShiftI32 i32; ShiftI64 i64;
    ShiftU8 u8; ShiftU16 u16; ShiftU32 u32; ShiftU64 u64;
}

macro_rules! floats {
    ($($powi:ident $bits:ident $constants:ident $float:ident $integer:ident $mask:literal;)+) => {$(
        #[operator(identity = 1.0)]
        fn $powi(left: $float, right: $float) -> $float {
            left.powi((right.to_bits() % 45) as i32 - 22)
        }

        #[operator(identity = 0.0)]
        fn $bits(left: $float, right: $float) -> $float {
            // Finite, so that no NaN loses its payload on the way.
            $float::from_bits((left.to_bits() ^ right.to_bits().wrapping_mul(3)) & $mask)
        }

        /// Literals that round, and constants of every kind.
        #[operator(identity = 0.0)]
        fn $constants(left: $float, right: $float) -> $float {
            let literals = left * 0.1 + right * 1e-3 - 16777217.0 + 3.4028234e38 * -1.175_494_4e-38;
            let named = $float::EPSILON * $float::MAX + std::$float::consts::PI;
            if left < $float::NEG_INFINITY || right == $float::INFINITY { $float::NAN }
            else if left == -0.0 { $float::MIN_POSITIVE / 4.0 }
            else { literals / named }
        }
    )+};
}

floats! {
    PowiF32 BitsF32 ConstantsF32 f32 u32 0xbfff_ffff;
    PowiF64 BitsF64 ConstantsF64 f64 u64 0xbfff_ffff_ffff_ffff;
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    macro_rules! numbers {
        ($($name:literal $operator:ident)+) => {
            $(on!(cases, $operator, $name, [i8, i16, i32, i64, u8, u16, u32, u64, f32, f64]);)+
        };
    }
    macro_rules! signed {
        ($($name:literal $operator:ident)+) => {
            $(on!(cases, $operator, $name, [i8, i16, i32, i64, f32, f64]);)+
        };
    }
    macro_rules! integers {
        ($($name:literal $operator:ident)+) => {
            $(on!(cases, $operator, $name, [i8, i16, i32, i64, u8, u16, u32, u64]);)+
        };
    }
    numbers! {
        "add" Add "sub" Sub "mul" Mul "div" Div "mul_then_add" MulThenAdd "min" Min "max" Max
        "minimum" Minimum "maximum" Maximum "of_type" OfType "clamp" Clamp "compare" Compare
    }
    signed! { "neg" Neg "abs" Abs }
    integers! {
        "rem" Rem "bits" Bits "xor" Xor "wrapping" Wrapping
        "saturating_add" SaturatingAdd "saturating_sub" SaturatingSub
    }
    on!(cases, Floor, "floor", [f32, f64]);
    on!(cases, Sqrt, "sqrt", [f32, f64]);
    on!(cases, MulAdd, "mul_add", [f32, f64]);
    on!(cases, MulSub, "mul_sub", [f32, f64]);
    on!(cases, PowiF32, "powi", [f32]);
    on!(cases, PowiF64, "powi", [f64]);
    on!(cases, BitsF32, "bits", [f32]);
    on!(cases, BitsF64, "bits", [f64]);
    on!(cases, ConstantsF32, "constants", [f32]);
    on!(cases, ConstantsF64, "constants", [f64]);
    on!(cases, ShiftI8, "shift", [i8]);
    on!(cases, ShiftI16, "shift", [i16]);
    on!(cases, ShiftI32, "shift", [i32]);
    on!(cases, ShiftI64, "shift", [i64]);
    on!(cases, ShiftU8, "shift", [u8]);
    on!(cases, ShiftU16, "shift", [u16]);
    on!(cases, ShiftU32, "shift", [u32]);
    on!(cases, ShiftU64, "shift", [u64]);
    // Here and in CUDA 2 units in the last place. In WGSL 3 + 2·|x| for exponentials, with |x| up
    // to 150; for logarithms 3, or 2^-21 where they are near 0; and subnormals may be zeros.
    let near = Tolerance { ulps: 2, ..Tolerance::NONE };
    let exponential = Tolerance { ulps: 303, absolute: 0.0, flush: true };
    let logarithm = Tolerance { ulps: 3, absolute: 1.0 / f64::from(1 << 21), flush: true };
    let (mut powers, mut logarithms) = (Vec::new(), Vec::new());
    on!(powers, Exp, "exp", [f32, f64]);
    on!(powers, Exp2, "exp2", [f32, f64]);
    on!(logarithms, Ln, "ln", [f32, f64]);
    on!(logarithms, Log2, "log2", [f32, f64]);
    cases.extend(powers.into_iter().map(|case| case.within(near, exponential)));
    cases.extend(logarithms.into_iter().map(|case| case.within(near, logarithm)));
    cases
}
