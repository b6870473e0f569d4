//! The functions of the language by name, and what to write instead of others.

/// A function of the language.
pub(crate) struct Word {
    /// Its name in `device::lang`.
    pub(crate) function: &'static str,
    /// Its variant of `device::ir::Word`.
    pub(crate) variant: &'static str,
    /// How many arguments it takes beside the receiver.
    pub(crate) arguments: usize,
}

/// The function that a method call calls.
pub(crate) fn method(name: &str) -> Option<Word> {
    let (function, variant, arguments) = match name {
        "min" => ("min", "Min", 1),
        "max" => ("max", "Max", 1),
        "minimum" => ("minimum", "Minimum", 1),
        "maximum" => ("maximum", "Maximum", 1),
        "precedes" => ("precedes", "Precedes", 1),
        "exceeds" => ("exceeds", "Exceeds", 1),
        "abs" | "wrapping_abs" => ("abs", "Abs", 0),
        "clamp" => ("clamp", "Clamp", 2),
        "floor" => ("floor", "Floor", 0),
        "sqrt" => ("sqrt", "Sqrt", 0),
        "exp" => ("exp", "Exp", 0),
        "ln" => ("ln", "Ln", 0),
        "exp2" => ("exp2", "Exp2", 0),
        "log2" => ("log2", "Log2", 0),
        "powi" => ("powi", "Powi", 1),
        "mul_add" => ("mul_add", "MulAdd", 2),
        "to_bits" => ("to_bits", "ToBits", 0),
        "wrapping_add" => ("wrapping_add", "Add", 1),
        "wrapping_sub" => ("wrapping_sub", "Sub", 1),
        "wrapping_mul" => ("wrapping_mul", "Mul", 1),
        "wrapping_neg" => ("wrapping_neg", "Neg", 0),
        "wrapping_shl" => ("shl", "Shl", 1),
        "wrapping_shr" => ("shr", "Shr", 1),
        "saturating_add" => ("saturating_add", "SaturatingAdd", 1),
        "saturating_sub" => ("saturating_sub", "SaturatingSub", 1),
        _ => return None,
    };
    Some(Word { function, variant, arguments })
}

/// What to write instead of a method that isn't in the language.
pub(crate) fn instead_of_method(name: &str) -> String {
    let advice = match name {
        "is_nan" => "write `x != x`, which is true of NaN alone",
        "is_finite" => "write `x.abs() < f32::INFINITY`, or `f64::INFINITY`",
        "is_infinite" => "write `x.abs() == f32::INFINITY`, or `f64::INFINITY`",
        "is_sign_negative" => "write `x.to_bits() >> 31 != 0` for f32, `>> 63` for f64",
        "is_sign_positive" => "write `x.to_bits() >> 31 == 0` for f32, `>> 63` for f64",
        "signum" => "write `if x < 0 { -1 } else { 1 }` as you mean it",
        "ceil" => "write `-(-x).floor()`",
        "round" => {
            "write `let down = x.abs().floor(); let near = if x.abs() - down < 0.5 { down } else { down + 1.0 }; if x < 0.0 { -near } else { near }`"
        }
        "trunc" => "write `if x < 0.0 { -(-x).floor() } else { x.floor() }`",
        "recip" => "write `1.0 / x`",
        "pow" => "multiply in a `for` over a constant range",
        "powf" => "write `(y * x.ln()).exp()`, which takes no negative `x` and is less exact",
        "exp_m1" => {
            "write `let e = x.exp(); if e == 1.0 { x } else if x.abs() > 1.0 { e - 1.0 } else { (e - 1.0) * (x / e.ln()) }`, which keeps the digits of small `x`"
        }
        "ln_1p" => {
            "write `let s = 1.0 + x; if s == 1.0 { x } else if x > 1.0 { s.ln() } else { s.ln() * (x / (s - 1.0)) }`, which keeps the digits of small `x`"
        }
        "log10" => "write `x.log2() * std::f32::consts::LOG10_2`, or that of `std::f64`",
        "log" => "write `x.ln() / base.ln()`",
        "hypot" => "write `(x * x + y * y).sqrt()`, where the squares are no infinity",
        "cbrt" | "sin" | "cos" | "tan" | "tanh" | "sinh" | "cosh" | "atan2" | "asin" | "acos"
        | "atan" => "compute it before or after the scan",
        "abs_diff" => {
            "write `x.max(y) - x.min(y)`, and cast it for signed integers, as i32 with `as u32`"
        }
        "rotate_left" => {
            "write `x << n | x >> (width - n)` for unsigned `x`, to which a signed one is cast first"
        }
        "rotate_right" => {
            "write `x >> n | x << (width - n)` for unsigned `x`, to which a signed one is cast first"
        }
        "div_euclid" => {
            "write `let q = x / n; if x % n < 0 { if n > 0 { q - 1 } else { q + 1 } } else { q }`, or `x / n` for unsigned integers"
        }
        "rem_euclid" => {
            "write `let r = x % n; if r < 0 { r + n.abs() } else { r }`, or `x % n` for unsigned integers"
        }
        "checked_add" | "overflowing_add" | "strict_add" => {
            "write `wrapping_add` or `saturating_add`"
        }
        "checked_sub" | "overflowing_sub" | "strict_sub" => {
            "write `wrapping_sub` or `saturating_sub`"
        }
        "checked_mul" | "overflowing_mul" | "strict_mul" | "saturating_mul" => {
            "write `wrapping_mul`, or multiply in a wider type and `clamp`"
        }
        "wrapping_div" | "checked_div" => "write `/`, which never panics here",
        "wrapping_rem" | "checked_rem" => "write `%`, which never panics here",
        "count_ones" | "leading_zeros" | "trailing_zeros" => {
            "count in a `for` over the bits, or compute it before the scan"
        }
        "clone" | "to_owned" => "leave it out: values are copied",
        "into" | "try_into" | "from" | "try_from" => "write `as` and the type of a number",
        "total_cmp" | "cmp" | "partial_cmp" => "write `<` and `==`, or `.precedes()`",
        "eq" => "write `==`",
        "lt" => "write `<`",
        "gt" => "write `>`",
        "add" => "write `+`",
        "sub" => "write `-`",
        "mul" => "write `*`",
        "len" => "write the length, a constant",
        "iter" | "iter_mut" | "into_iter" | "map" | "fold" | "sum" => {
            "write a `for` over a constant range and index"
        }
        "unwrap" | "expect" | "is_some" | "is_none" => "carry a flag in an integer field instead",
        _ => {
            return format!(
                "`.{name}()` is not in the operator language; write a `#[kogge::device]` function and call it as `{name}(x)`"
            );
        }
    };
    format!("`.{name}()` is not in the operator language; {advice}")
}

/// The types that `as` casts to, and their variants of `device::ir::Scalar`.
pub(crate) fn scalar(name: &str) -> Option<&'static str> {
    Some(match name {
        "bool" => "Bool",
        "i8" => "I8",
        "i16" => "I16",
        "i32" => "I32",
        "i64" => "I64",
        "u8" => "U8",
        "u16" => "U16",
        "u32" => "U32",
        "u64" => "U64",
        "usize" => "Usize",
        "f32" => "F32",
        "f64" => "F64",
        _ => return None,
    })
}

/// What to write instead of a type that isn't in the language.
pub(crate) fn instead_of_type(name: &str) -> Option<&'static str> {
    Some(match name {
        "i128" => "use `i64`, or two of them in a struct",
        "u128" => "use `u64`, or two of them in a struct",
        "isize" => "use `i32` or `i64`",
        "char" => "use `u32`",
        "f16" | "bf16" => "use `f32`, in which such elements are accumulated",
        "f128" => "use `f64`",
        "Option" => "use a struct with a flag in an integer field",
        "Vec" | "Box" => "use an array of constant length",
        "str" | "String" => "use integers",
        "Wrapping" => "use the integer itself: `+`, `-` and `*` wrap here",
        "Self" => "write the type's name",
        _ => return None,
    })
}
