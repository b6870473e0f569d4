//! The mathematical functions.

use super::alu::{canonical, convert, f32_of, f64_of, is_float, is_signed, of_f32, of_f64};
use crate::value::ScalarType;

macro_rules! functions {
    ($($variant:ident $arity:literal: $($name:literal)*;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Function { $($variant,)* }

        impl Function {
            const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The function of this name in C, `f` suffixes and rounding
            /// variants left out, and its number of operands.
            pub(crate) fn from_name(name: &str) -> Option<(Self, usize)> {
                match name {
                    $($($name)|* => Some((Self::$variant, $arity)),)*
                    _ => None,
                }
            }
        }
    };
}

functions! {
    Min 2: "min" "fmin";
    Max 2: "max" "fmax";
    Abs 1: "abs" "fabs" "labs" "llabs";
    Sqrt 1: "sqrt" "__fsqrt_rn" "__dsqrt_rn";
    Rsqrt 1: "rsqrt";
    Exp 1: "exp" "__exp";
    Exp2 1: "exp2";
    Expm1 1: "expm1";
    Log 1: "log" "__log";
    Log2 1: "log2" "__log2";
    Log10 1: "log10" "__log10";
    Log1p 1: "log1p";
    Pow 2: "pow" "__pow";
    Sin 1: "sin" "__sin";
    Cos 1: "cos" "__cos";
    Tan 1: "tan" "__tan";
    Tanh 1: "tanh";
    Atan 1: "atan";
    Floor 1: "floor";
    Ceil 1: "ceil";
    Trunc 1: "trunc";
    Round 1: "round";
    Rint 1: "rint";
    Fmod 2: "fmod";
    Hypot 2: "hypot";
    CopySign 2: "copysign";
    IsNan 1: "isnan";
    IsInf 1: "isinf";
    IsFinite 1: "isfinite";
    Fma 3: "fma" "__fmaf_rn" "__fma_rn";
    Popcount 1: "__popc" "__popcll";
    LeadingZeros 1: "__clz" "__clzll";
    FindFirst 1: "__ffs" "__ffsll";
    Reverse 1: "__brev" "__brevll";
    MulHigh 2: "__mulhi" "__umulhi";
    Clamp 1: "__saturatef";
}

impl Function {
    pub(crate) fn decode(code: u8) -> Self {
        Self::ALL[code as usize % Self::ALL.len()]
    }

    /// Whether the function works on floats only, so that integers convert.
    pub(crate) const fn floats_only(self) -> bool {
        !matches!(
            self,
            Self::Min
                | Self::Max
                | Self::Abs
                | Self::Popcount
                | Self::LeadingZeros
                | Self::FindFirst
                | Self::Reverse
                | Self::MulHigh
        )
    }

    /// Whether the result is an `int` whatever the operand.
    pub(crate) const fn gives_int(self) -> bool {
        matches!(
            self,
            Self::IsNan
                | Self::IsInf
                | Self::IsFinite
                | Self::Popcount
                | Self::LeadingZeros
                | Self::FindFirst
        )
    }
}

/// The function's value on operands of one type. Transcendental functions are
/// those of the host: within a few units in the last place of the device's.
pub(crate) fn apply(f: Function, ty: ScalarType, a: u64, b: u64, c: u64) -> u64 {
    match ty {
        ScalarType::F32 => match f {
            Function::IsNan | Function::IsInf | Function::IsFinite => {
                classify(f, f64::from(f32_of(a)))
            }
            _ => of_f32(single(f, f32_of(a), f32_of(b), f32_of(c))),
        },
        ScalarType::F64 => match f {
            Function::IsNan | Function::IsInf | Function::IsFinite => classify(f, f64_of(a)),
            _ => of_f64(double(f, f64_of(a), f64_of(b), f64_of(c))),
        },
        _ => integer(f, ty, a, b),
    }
}

fn classify(f: Function, x: f64) -> u64 {
    u64::from(match f {
        Function::IsNan => x.is_nan(),
        Function::IsInf => x.is_infinite(),
        _ => x.is_finite(),
    })
}

macro_rules! float_function {
    ($name:ident, $t:ty) => {
        fn $name(f: Function, a: $t, b: $t, c: $t) -> $t {
            match f {
                // −0 is less than +0, as PTX has it.
                Function::Min if a == b => {
                    if a.is_sign_negative() {
                        a
                    } else {
                        b
                    }
                }
                Function::Max if a == b => {
                    if a.is_sign_negative() {
                        b
                    } else {
                        a
                    }
                }
                Function::Min => a.min(b),
                Function::Max => a.max(b),
                Function::Abs => a.abs(),
                Function::Sqrt => a.sqrt(),
                Function::Rsqrt => 1.0 / a.sqrt(),
                Function::Exp => a.exp(),
                Function::Exp2 => a.exp2(),
                Function::Expm1 => a.exp_m1(),
                Function::Log => a.ln(),
                Function::Log2 => a.log2(),
                Function::Log10 => a.log10(),
                Function::Log1p => a.ln_1p(),
                Function::Pow => a.powf(b),
                Function::Sin => a.sin(),
                Function::Cos => a.cos(),
                Function::Tan => a.tan(),
                Function::Tanh => a.tanh(),
                Function::Atan => a.atan(),
                Function::Floor => a.floor(),
                Function::Ceil => a.ceil(),
                Function::Trunc => a.trunc(),
                Function::Round => a.round(),
                Function::Rint => a.round_ties_even(),
                Function::Fmod => a % b,
                Function::Hypot => a.hypot(b),
                Function::CopySign => a.copysign(b),
                Function::Fma => a.mul_add(b, c),
                Function::Clamp if a.is_nan() => 0.0,
                Function::Clamp => a.clamp(0.0, 1.0),
                _ => a,
            }
        }
    };
}

float_function!(single, f32);
float_function!(double, f64);

fn integer(f: Function, ty: ScalarType, a: u64, b: u64) -> u64 {
    let bits = 8 * ty.size() as u32;
    let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
    let less = if is_signed(ty) { (a as i64) < b as i64 } else { a < b };
    let value = match f {
        Function::Min => return if less { a } else { b },
        Function::Max => return if less { b } else { a },
        Function::Abs if is_signed(ty) => (a as i64).unsigned_abs(),
        Function::Popcount => return u64::from((a & mask).count_ones()),
        Function::LeadingZeros => {
            return u64::from((a & mask).leading_zeros() - (64 - bits));
        }
        Function::FindFirst if a & mask == 0 => return 0,
        Function::FindFirst => return u64::from(a.trailing_zeros() + 1),
        Function::Reverse => (a & mask).reverse_bits() >> (64 - bits),
        Function::MulHigh if is_signed(ty) => {
            ((i128::from(a as i64) * i128::from(b as i64)) >> bits) as u64
        }
        Function::MulHigh => ((u128::from(a) * u128::from(b)) >> bits) as u64,
        _ if is_float(ty) => a,
        _ => {
            // A float function on an integer type: by way of double.
            let as_double = |x| f64_of(convert(ty, ScalarType::F64, x));
            let value = of_f64(double(f, as_double(a), as_double(b), 0.0));
            return convert(ScalarType::F64, ty, value);
        }
    };
    canonical(ty, value)
}
