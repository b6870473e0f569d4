//! The words of the operator language in WGSL: `lang.rs` says what each means.
//!
//! Tests for NaN look at bits, because a WGSL implementation may assume that there is none.

use crate::device::Error;
use crate::device::ir::{Scalar, Word};

/// The type that holds values of this one.
pub(super) const fn holder(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "bool",
        Scalar::I8 | Scalar::I16 | Scalar::I32 => "i32",
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::Usize => "u32",
        Scalar::I64 => "i64",
        Scalar::U64 => "u64",
        Scalar::F32 => "f32",
        Scalar::F64 => "f64",
    }
}

/// The definition of a word for one type.
pub(super) struct Definition {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) needs_int64: bool,
    /// Functions that the definition calls, by name.
    pub(super) helpers: &'static [(&'static str, &'static str)],
}

/// Brings the value of an expression back into the range of its type.
fn wrapped(scalar: Scalar, expression: &str) -> String {
    match scalar {
        Scalar::I8 => format!("(({expression}) << 24u) >> 24u"),
        Scalar::I16 => format!("(({expression}) << 16u) >> 16u"),
        Scalar::U8 => format!("({expression}) & 0xffu"),
        Scalar::U16 => format!("({expression}) & 0xffffu"),
        _ => expression.to_owned(),
    }
}

/// A literal of this type's holder.
fn number(scalar: Scalar, value: i128) -> String {
    match scalar {
        Scalar::I64 if value == i128::from(i64::MIN) => "(-9223372036854775807li - 1li)".to_owned(),
        Scalar::I64 => format!("({value}li)"),
        Scalar::U64 => format!("{value}lu"),
        Scalar::F32 => format!("{value}.0f"),
        Scalar::F64 => format!("{value}.0lf"),
        _ if scalar.is_signed() => format!("i32({value})"),
        _ => format!("{value}u"),
    }
}

fn highest(scalar: Scalar) -> i128 {
    let bits = scalar.bits() - u32::from(scalar.is_signed());
    (1 << bits) - 1
}

fn lowest(scalar: Scalar) -> i128 {
    if scalar.is_signed() { -(1 << (scalar.bits() - 1)) } else { 0 }
}

/// Whether the float in `x` is NaN.
fn is_nan(scalar: Scalar, x: &str) -> String {
    match scalar {
        Scalar::F32 => format!("((bitcast<u32>({x}) & 0x7fffffffu) > 0x7f800000u)"),
        _ => format!("((bitcast<u64>({x}) & 0x7ffffffffffffffflu) > 0x7ff0000000000000lu)"),
    }
}

/// `a` and `b`, equal floats, joined bit by bit: zeros of either sign.
fn joined(scalar: Scalar, operator: &str) -> String {
    let (float, bits) = if scalar == Scalar::F32 { ("f32", "u32") } else { ("f64", "u64") };
    format!("bitcast<{float}>(bitcast<{bits}>(a) {operator} bitcast<{bits}>(b))")
}

/// The sign bit of a float, as a literal of its bits' type.
fn sign(scalar: Scalar) -> &'static str {
    if scalar == Scalar::F32 { "0x80000000u" } else { "0x8000000000000000lu" }
}

/// The word for arguments of these types.
pub(super) fn word(word: Word, types: &[Scalar], zero: Option<&str>) -> Result<Definition, Error> {
    let scalar = types.first().copied().unwrap_or(Scalar::U32);
    let of = holder(scalar);
    let body = body(word, scalar, zero)?;
    let (name, parameters, result) = match word {
        Word::Eq | Word::Ne | Word::Lt | Word::Le | Word::Gt | Word::Ge => {
            (named(word, scalar), format!("a: {of}, b: {of}"), "bool")
        }
        Word::Precedes | Word::Exceeds => {
            (named(word, scalar), format!("a: {of}, b: {of}"), "bool")
        }
        Word::Shl | Word::Shr => {
            let amount = types.get(1).copied().unwrap_or(Scalar::U32);
            let name = format!("kogge_{}_{}_{}", word.name(), scalar.name(), amount.name());
            (name, format!("a: {of}, amount: {}", holder(amount)), of)
        }
        Word::Powi => (named(word, scalar), format!("a: {of}, n: i32"), of),
        Word::Clamp | Word::MulAdd => {
            (named(word, scalar), format!("a: {of}, b: {of}, c: {of}"), of)
        }
        Word::ToBits if scalar == Scalar::F32 => (named(word, scalar), "a: f32".into(), "u32"),
        Word::ToBits => (named(word, scalar), "a: f64".into(), "u64"),
        Word::F32FromBits => ("kogge_f32_from_bits".into(), "a: u32".into(), "f32"),
        Word::F64FromBits => ("kogge_f64_from_bits".into(), "a: u64".into(), "f64"),
        Word::Neg
        | Word::Not
        | Word::Abs
        | Word::Floor
        | Word::Sqrt
        | Word::Exp
        | Word::Ln
        | Word::Exp2
        | Word::Log2 => (named(word, scalar), format!("a: {of}"), of),
        _ => (named(word, scalar), format!("a: {of}, b: {of}"), of),
    };
    let text = format!("fn {name}({parameters}) -> {result} {{\n    {body}\n}}\n");
    let helpers = if word == Word::MulAdd { FUSED } else { &[] };
    let needs_int64 = text.contains("u64") || text.contains("i64");
    Ok(Definition { name, text, needs_int64, helpers })
}

fn named(word: Word, scalar: Scalar) -> String {
    format!("kogge_{}_{}", word.name(), scalar.name())
}

fn body(word: Word, scalar: Scalar, zero: Option<&str>) -> Result<String, Error> {
    if scalar.is_float() {
        return float(word, scalar, zero);
    }
    if scalar == Scalar::Bool {
        let operator = match word {
            Word::Not => return Ok("return !a;".to_owned()),
            Word::BitXor => "!=",
            _ => symbol(word).ok_or_else(|| unsupported(word, scalar))?,
        };
        return Ok(format!("return a {operator} b;"));
    }
    integer(word, scalar, zero)
}

fn unsupported(word: Word, scalar: Scalar) -> Error {
    Error::Unsupported { what: format!("`{}` of `{}`", word.name(), scalar.name()) }
}

/// The operator that a word is in WGSL too.
const fn symbol(word: Word) -> Option<&'static str> {
    Some(match word {
        Word::Add => "+",
        Word::Sub => "-",
        Word::Mul => "*",
        Word::Div => "/",
        Word::BitAnd => "&",
        Word::BitOr => "|",
        Word::BitXor => "^",
        Word::Eq => "==",
        Word::Ne => "!=",
        Word::Lt => "<",
        Word::Le => "<=",
        Word::Gt => ">",
        Word::Ge => ">=",
        _ => return None,
    })
}

fn integer(word: Word, scalar: Scalar, hidden: Option<&str>) -> Result<String, Error> {
    let (zero, one) = (number(scalar, 0), number(scalar, 1));
    let signed = scalar.is_signed();
    let wrapped = |expression: &str| format!("return {};", wrapped(scalar, expression));
    Ok(match word {
        Word::Neg => wrapped(&format!("{zero} - a")),
        Word::Not => wrapped("~a"),
        Word::Abs => wrapped(&format!("select(a, {zero} - a, a < {zero})")),
        Word::Div if signed => format!(
            "if (a == {zero} || b == {zero}) {{ return a; }}\n    \
             if (b == -{one}) {{ return {}; }}\n    return a / b;",
            self::wrapped(scalar, &format!("{zero} - a"))
        ),
        Word::Div => format!("if (b == {zero}) {{ return a; }}\n    return a / b;"),
        // By division: the sign of SPIR-V's remainder is unspecified for negative operands.
        Word::Rem if signed => format!(
            "if (b == {zero} || b == -{one}) {{ return {zero}; }}\n    return a - (a / b) * b;"
        ),
        Word::Rem => format!("if (b == {zero}) {{ return {zero}; }}\n    return a % b;"),
        Word::Shl => wrapped(&format!("a << (u32(amount) & {}u)", scalar.bits() - 1)),
        Word::Shr => format!("return a >> (u32(amount) & {}u);", scalar.bits() - 1),
        Word::SaturatingAdd | Word::SaturatingSub => saturating(word, scalar),
        Word::Min | Word::Minimum => "return select(a, b, b < a);".to_owned(),
        Word::Max | Word::Maximum => "return select(b, a, b < a);".to_owned(),
        Word::Precedes => "return a < b;".to_owned(),
        Word::Exceeds => "return a > b;".to_owned(),
        Word::Clamp => CLAMP.to_owned(),
        Word::F32FromBits => format!("return {};", rounded(Scalar::F32, "bitcast<f32>(a)", hidden)),
        Word::F64FromBits => format!("return {};", rounded(Scalar::F64, "bitcast<f64>(a)", hidden)),
        _ => {
            let symbol = symbol(word).ok_or_else(|| unsupported(word, scalar))?;
            match word {
                Word::Add | Word::Sub | Word::Mul => wrapped(&format!("a {symbol} b")),
                _ => format!("return a {symbol} b;"),
            }
        }
    })
}

const CLAMP: &str = "if (a < b) { return b; }\n    if (a > c) { return c; }\n    return a;";

fn saturating(word: Word, scalar: Scalar) -> String {
    let (high, low) = (number(scalar, highest(scalar)), number(scalar, lowest(scalar)));
    let zero = number(scalar, 0);
    let signed = scalar.is_signed();
    match word {
        Word::SaturatingAdd if scalar.bits() < 32 && signed => {
            format!("return clamp(a + b, {low}, {high});")
        }
        Word::SaturatingSub if scalar.bits() < 32 && signed => {
            format!("return clamp(a - b, {low}, {high});")
        }
        Word::SaturatingAdd if scalar.bits() < 32 => format!("return min(a + b, {high});"),
        Word::SaturatingAdd if signed => format!(
            "let sum = a + b;\n    if (((a ^ sum) & (b ^ sum)) < {zero}) \
             {{ return select({high}, {low}, a < {zero}); }}\n    return sum;"
        ),
        Word::SaturatingSub if signed => format!(
            "let difference = a - b;\n    if (((a ^ b) & (a ^ difference)) < {zero}) \
             {{ return select({high}, {low}, a < {zero}); }}\n    return difference;"
        ),
        Word::SaturatingAdd => {
            format!("let sum = a + b;\n    return select(sum, {high}, sum < a);")
        }
        _ => format!("return select(a - b, {zero}, a < b);"),
    }
}

fn float(word: Word, scalar: Scalar, zero: Option<&str>) -> Result<String, Error> {
    let (nan_a, nan_b) = (is_nan(scalar, "a"), is_nan(scalar, "b"));
    let single = scalar == Scalar::F32;
    let (of, bits) = if single { ("f32", "u32") } else { ("f64", "u64") };
    let (smaller, larger) = (joined(scalar, "|"), joined(scalar, "&"));
    let sign = sign(scalar);
    let zeros = |first: &str, second: &str| {
        format!(
            "(a == b && (bitcast<{bits}>({first}) & ~bitcast<{bits}>({second}) & {sign}) != 0{})",
            if single { "u" } else { "lu" }
        )
    };
    Ok(match word {
        Word::Add | Word::Sub | Word::Mul | Word::Div => {
            let symbol = symbol(word).unwrap_or_default();
            format!("return {};", rounded(scalar, &format!("a {symbol} b"), zero))
        }
        // naga's `!=` is SPIR-V's ordered one, which is false of NaN.
        Word::Ne => "return !(a == b);".to_owned(),
        Word::Neg => format!("return bitcast<{of}>(bitcast<{bits}>(a) ^ {sign});"),
        Word::Abs => format!("return bitcast<{of}>(bitcast<{bits}>(a) & ~{sign});"),
        Word::Min => format!(
            "if (a == b) {{ return {smaller}; }}\n    \
             if (a < b || {nan_b}) {{ return a; }}\n    return b;"
        ),
        Word::Max => format!(
            "if (a == b) {{ return {larger}; }}\n    \
             if (a > b || {nan_b}) {{ return a; }}\n    return b;"
        ),
        Word::Minimum => format!(
            "if ({nan_a}) {{ return a; }}\n    if ({nan_b}) {{ return b; }}\n    \
             if (a == b) {{ return {smaller}; }}\n    return select(b, a, a < b);"
        ),
        Word::Maximum => format!(
            "if ({nan_a}) {{ return a; }}\n    if ({nan_b}) {{ return b; }}\n    \
             if (a == b) {{ return {larger}; }}\n    return select(b, a, a > b);"
        ),
        Word::Precedes => {
            format!("return a < b || {} || ({nan_a} && !{nan_b});", zeros("a", "b"))
        }
        Word::Exceeds => {
            format!("return a > b || {} || ({nan_a} && !{nan_b});", zeros("b", "a"))
        }
        Word::Clamp => CLAMP.to_owned(),
        Word::Floor => "return floor(a);".to_owned(),
        Word::Sqrt => "return sqrt(a);".to_owned(),
        Word::Exp if single => "return exp(a);".to_owned(),
        Word::Ln if single => "return log(a);".to_owned(),
        Word::Exp2 if single => "return exp2(a);".to_owned(),
        Word::Log2 if single => "return log2(a);".to_owned(),
        Word::MulAdd if single => "return kogge_fused(a, b, c);".to_owned(),
        Word::ToBits => format!("return bitcast<{bits}>(a);"),
        Word::Powi => {
            let (one, half) = (number(scalar, 1), "bits >>= 1u");
            let product = rounded(scalar, "power * square", zero);
            let next = rounded(scalar, "square * square", zero);
            format!(
                "var square = a;\n    var power = {one};\n    \
                 for (var bits = u32(abs(n)); bits != 0u; {half}) {{\n        \
                 if ((bits & 1u) != 0u) {{ power = {product}; }}\n        \
                 square = {next};\n    }}\n    \
                 if (n < 0) {{ return {one} / power; }}\n    return power;"
            )
        }
        _ => {
            let symbol = symbol(word).ok_or_else(|| unsupported(word, scalar))?;
            format!("return a {symbol} b;")
        }
    })
}

/// A rounded result that no compiler fuses or reassociates with others, if there is a zero to hide
/// its bits behind.
fn rounded(scalar: Scalar, expression: &str, zero: Option<&str>) -> String {
    match (scalar, zero) {
        (Scalar::F32, Some(zero)) => {
            format!("bitcast<f32>(bitcast<u32>({expression}) ^ ({zero}))")
        }
        (Scalar::F64, Some(zero)) => {
            format!("bitcast<f64>(bitcast<u64>({expression}) ^ u64({zero}))")
        }
        _ => expression.to_owned(),
    }
}

/// `a as to` for `a` of type `from`: the function's name and text.
pub(super) fn cast(from: Scalar, to: Scalar) -> (String, String) {
    let name = format!("kogge_{}_as_{}", from.name(), to.name());
    let body = if from == Scalar::Bool {
        format!("return select({}, {}, a);", number(to, 0), number(to, 1))
    } else if to.is_float() {
        format!("return {}(a);", holder(to))
    } else if from.is_float() {
        saturated(from, to)
    } else {
        format!("return {};", wrapped(to, &converted(from, to)))
    };
    let text = format!("fn {name}(a: {}) -> {} {{\n    {body}\n}}\n", holder(from), holder(to));
    (name, text)
}

/// An integer in the holder of `to`: its low bits, or extended as its own type says.
fn converted(from: Scalar, to: Scalar) -> String {
    match (holder(from), holder(to)) {
        (from, to) if from == to => "a".to_owned(),
        ("i32", "u32") => "bitcast<u32>(a)".to_owned(),
        ("u32", "i32") => "bitcast<i32>(a)".to_owned(),
        ("i32", "i64") => "i64(a)".to_owned(),
        ("i32", "u64") => "bitcast<u64>(i64(a))".to_owned(),
        ("u32", "u64") => "u64(a)".to_owned(),
        ("u32", "i64") => "bitcast<i64>(u64(a))".to_owned(),
        ("i64", "u64") => "bitcast<u64>(a)".to_owned(),
        ("u64", "i64") => "bitcast<i64>(a)".to_owned(),
        ("i64", "u32") => "u32(bitcast<u64>(a))".to_owned(),
        ("i64", _) => "bitcast<i32>(u32(bitcast<u64>(a)))".to_owned(),
        (_, "u32") => "u32(a)".to_owned(),
        _ => "bitcast<i32>(u32(a))".to_owned(),
    }
}

/// A float toward zero, saturating, NaN to 0.
fn saturated(from: Scalar, to: Scalar) -> String {
    let past = number(from, highest(to) + 1);
    let nan = is_nan(from, "a");
    let (low, high, zero) = (number(to, lowest(to)), number(to, highest(to)), number(to, 0));
    let bound = number(from, lowest(to));
    format!(
        "if ({nan}) {{ return {zero}; }}\n    if (a >= {past}) {{ return {high}; }}\n    \
         if (a <= {bound}) {{ return {low}; }}\n    return {}(a);",
        holder(to)
    )
}

/// The fused multiply-add of `f32` by integers, because WGSL's `fma` may round twice.
///
/// The product of two 24-bit mantissas is exact in 48 bits; product and summand are aligned in 64
/// bits, what falls off the end is kept as a sticky lowest bit, and the sum is rounded once.
const FUSED: &[(&str, &str)] = &[("kogge_fused", include_str!("fused.wgsl"))];
