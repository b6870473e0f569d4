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

/// A conversion as C has it; floats beyond an integer's range saturate, as on the device. NaN gives
/// 0 there, but the highest bit of an integer of 64 bits, and from `double` of one of 32 too.
pub(crate) fn convert(from: ScalarType, to: ScalarType, x: u64) -> u64 {
    use ScalarType as S;
    match (from, to) {
        (S::F32, S::F32) | (S::F64, S::F64) => x,
        (S::F32, S::F64) => of_f64(f64::from(f32_of(x))),
        (S::F64, S::F32) => of_f32(f64_of(x) as f32),
        (S::F32 | S::F64, S::I64 | S::U64) if is_nan(from, x) => 1 << 63,
        (S::F64, S::I32 | S::U32) if is_nan(from, x) => canonical(to, 1 << 31),
        (S::F32, _) => float_to_int(f64::from(f32_of(x)), to),
        (S::F64, _) => float_to_int(f64_of(x), to),
        (_, S::F32) if is_signed(from) => of_f32(x as i64 as f32),
        (_, S::F32) => of_f32(x as f32),
        (_, S::F64) if is_signed(from) => of_f64(x as i64 as f64),
        (_, S::F64) => of_f64(x as f64),
        _ => canonical(to, x),
    }
}

fn is_nan(ty: ScalarType, x: u64) -> bool {
    if ty == ScalarType::F32 { f32_of(x).is_nan() } else { f64_of(x).is_nan() }
}

fn float_to_int(x: f64, to: ScalarType) -> u64 {
    match to {
        ScalarType::Bool => u64::from(x != 0.0),
        // Shorter ones by way of 32 bits.
        ScalarType::I8 | ScalarType::I16 | ScalarType::I32 => canonical(to, x as i32 as u64),
        ScalarType::U8 | ScalarType::U16 | ScalarType::U32 => canonical(to, u64::from(x as u32)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use ScalarType as S;

    /// As an H100 converts, by CUDA 13.0.
    #[test]
    fn floats_become_integers_as_on_the_device() {
        let from = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 3e9, -3e9, 300.7, -300.7, -0.9];
        let same: [(S, [u64; 7]); 8] = [
            (S::I8, [0xff, 0, 0xff, 0, 0x2c, 0xd4, 0]),
            (S::U8, [0xff, 0, 0, 0, 0x2c, 0, 0]),
            (S::I16, [0xffff, 0, 0xffff, 0, 0x12c, 0xfed4, 0]),
            (S::U16, [0xffff, 0, 0x5e00, 0, 0x12c, 0, 0]),
            (S::I32, [0x7fff_ffff, 1 << 31, 0x7fff_ffff, 1 << 31, 300, -300i32 as u32 as u64, 0]),
            (S::U32, [0xffff_ffff, 0, 3_000_000_000, 0, 300, 0, 0]),
            (
                S::I64,
                [
                    i64::MAX as u64,
                    1 << 63,
                    3_000_000_000,
                    -3_000_000_000i64 as u64,
                    300,
                    -300i64 as u64,
                    0,
                ],
            ),
            (S::U64, [u64::MAX, 0, 3_000_000_000, 0, 300, 0, 0]),
        ];
        for (to, others) in same {
            let bits = u64::MAX >> (64 - 8 * to.size());
            let wide = to.size() == 8;
            let nans =
                [if wide { 1 << 63 } else { 0 }, if to.size() >= 4 { bits / 2 + 1 } else { 0 }];
            for (ty, nan) in [(S::F32, nans[0]), (S::F64, nans[1])] {
                let expected = std::iter::once(nan).chain(others);
                for (x, expected) in from.into_iter().zip(expected) {
                    let word = if ty == S::F32 { of_f32(x as f32) } else { of_f64(x) };
                    let got = convert(ty, to, word);
                    assert_eq!(got & bits, expected, "{x} of {ty:?} as {to:?}");
                    assert_eq!(got, canonical(to, got));
                }
            }
        }
    }
}
