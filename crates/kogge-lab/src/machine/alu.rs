//! Arithmetic on registers, one lane at a time: what the machine does and what
//! the compiler folds.

use super::ins::{Op, decode};
use crate::value::ScalarType;

pub(crate) fn f32_of(x: u64) -> f32 {
    f32::from_bits(x as u32)
}

pub(crate) fn f64_of(x: u64) -> f64 {
    f64::from_bits(x)
}

pub(crate) fn of_f32(x: f32) -> u64 {
    u64::from(x.to_bits())
}

pub(crate) fn of_f64(x: f64) -> u64 {
    x.to_bits()
}

/// Cuts an integer to its type and extends it again.
pub(crate) fn canonical(ty: ScalarType, x: u64) -> u64 {
    match ty {
        ScalarType::Bool => u64::from(x != 0),
        ScalarType::I8 => x as i8 as u64,
        ScalarType::U8 => x as u8 as u64,
        ScalarType::I16 => x as i16 as u64,
        ScalarType::U16 => x as u16 as u64,
        ScalarType::I32 => x as i32 as u64,
        ScalarType::U32 | ScalarType::F32 => x as u32 as u64,
        ScalarType::I64 | ScalarType::U64 | ScalarType::F64 => x,
    }
}

pub(crate) const fn is_signed(ty: ScalarType) -> bool {
    matches!(ty, ScalarType::I8 | ScalarType::I16 | ScalarType::I32 | ScalarType::I64)
}

pub(crate) const fn is_float(ty: ScalarType) -> bool {
    matches!(ty, ScalarType::F32 | ScalarType::F64)
}

/// A conversion as C has it; floats beyond an integer's range saturate and NaN
/// gives 0, as on the device.
pub(crate) fn convert(from: ScalarType, to: ScalarType, x: u64) -> u64 {
    use ScalarType as S;
    match (from, to) {
        (S::F32, S::F32) | (S::F64, S::F64) => x,
        (S::F32, S::F64) => of_f64(f64::from(f32_of(x))),
        (S::F64, S::F32) => of_f32(f64_of(x) as f32),
        (S::F32, _) => float_to_int(f64::from(f32_of(x)), to),
        (S::F64, _) => float_to_int(f64_of(x), to),
        (_, S::F32) if is_signed(from) => of_f32(x as i64 as f32),
        (_, S::F32) => of_f32(x as f32),
        (_, S::F64) if is_signed(from) => of_f64(x as i64 as f64),
        (_, S::F64) => of_f64(x as f64),
        _ => canonical(to, x),
    }
}

fn float_to_int(x: f64, to: ScalarType) -> u64 {
    match to {
        ScalarType::Bool => u64::from(x != 0.0),
        ScalarType::I8 => x as i8 as u64,
        ScalarType::U8 => x as u8 as u64,
        ScalarType::I16 => x as i16 as u64,
        ScalarType::U16 => x as u16 as u64,
        ScalarType::I32 => x as i32 as u64,
        ScalarType::U32 => x as u32 as u64,
        ScalarType::I64 => x as i64 as u64,
        _ => x as u64,
    }
}

fn shift_left(ty: ScalarType, a: u64, b: u64) -> u64 {
    let bits = 8 * ty.size() as u64;
    if b >= bits { 0 } else { canonical(ty, a << b) }
}

fn shift_right(ty: ScalarType, a: u64, b: u64) -> u64 {
    let b = b.min(63) as u32;
    if is_signed(ty) {
        ((a as i64) >> b) as u64
    } else if b as usize >= 8 * ty.size() {
        0
    } else {
        a >> b
    }
}

/// Quotient or remainder; a division by zero gives all ones, as the device
/// does (and is a finding of its own).
fn divide(ty: ScalarType, a: u64, b: u64, remainder: bool) -> u64 {
    if b == 0 {
        return canonical(ty, u64::MAX);
    }
    let value = match (is_signed(ty), remainder) {
        (true, false) => (a as i64).wrapping_div(b as i64) as u64,
        (true, true) => (a as i64).wrapping_rem(b as i64) as u64,
        (false, false) => a / b,
        (false, true) => a % b,
    };
    canonical(ty, value)
}

/// The result of an arithmetic instruction on one lane; none if it is no
/// arithmetic of two operands.
#[inline(always)]
pub(crate) fn alu(op: Op, x: u8, a: u64, b: u64) -> Option<u64> {
    let flag = u64::from;
    Some(match op {
        Op::Mov => a,
        Op::AddI32 => (a as i32).wrapping_add(b as i32) as u64,
        Op::AddU32 => u64::from((a as u32).wrapping_add(b as u32)),
        Op::Add64 => a.wrapping_add(b),
        Op::SubI32 => (a as i32).wrapping_sub(b as i32) as u64,
        Op::SubU32 => u64::from((a as u32).wrapping_sub(b as u32)),
        Op::Sub64 => a.wrapping_sub(b),
        Op::MulI32 => (a as i32).wrapping_mul(b as i32) as u64,
        Op::MulU32 => u64::from((a as u32).wrapping_mul(b as u32)),
        Op::Mul64 => a.wrapping_mul(b),
        Op::AddF32 => of_f32(f32_of(a) + f32_of(b)),
        Op::SubF32 => of_f32(f32_of(a) - f32_of(b)),
        Op::MulF32 => of_f32(f32_of(a) * f32_of(b)),
        Op::DivF32 => of_f32(f32_of(a) / f32_of(b)),
        Op::AddF64 => of_f64(f64_of(a) + f64_of(b)),
        Op::SubF64 => of_f64(f64_of(a) - f64_of(b)),
        Op::MulF64 => of_f64(f64_of(a) * f64_of(b)),
        Op::DivF64 => of_f64(f64_of(a) / f64_of(b)),
        Op::Div => divide(decode(x), a, b, false),
        Op::Rem => divide(decode(x), a, b, true),
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Shl => shift_left(decode(x), a, b),
        Op::Shr => shift_right(decode(x), a, b),
        Op::LtS => flag((a as i64) < b as i64),
        Op::LeS => flag(a as i64 <= b as i64),
        Op::LtU => flag(a < b),
        Op::LeU => flag(a <= b),
        Op::Eq => flag(a == b),
        Op::Ne => flag(a != b),
        Op::LtF32 => flag(f32_of(a) < f32_of(b)),
        Op::LeF32 => flag(f32_of(a) <= f32_of(b)),
        Op::EqF32 => flag(f32_of(a) == f32_of(b)),
        Op::NeF32 => flag(f32_of(a) != f32_of(b)),
        Op::LtF64 => flag(f64_of(a) < f64_of(b)),
        Op::LeF64 => flag(f64_of(a) <= f64_of(b)),
        Op::EqF64 => flag(f64_of(a) == f64_of(b)),
        Op::NeF64 => flag(f64_of(a) != f64_of(b)),
        Op::Convert => convert(decode(x >> 4), decode(x), a),
        _ => return None,
    })
}
