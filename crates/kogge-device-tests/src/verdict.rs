//! The comparison of what a device gave with what Rust gave.

use crate::{Case, Operands};
use kogge_core::device::ir::{Scalar, Type};
use std::fmt;

/// How far off a float may be: within either bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Units in the last place.
    pub ulps: u64,
    /// Absolute error.
    pub absolute: f64,
    /// Whether subnormal operands and results may be taken as zeros.
    pub flush: bool,
}

impl Tolerance {
    /// To the bit.
    pub const NONE: Self = Self { ulps: 0, absolute: 0.0, flush: false };
}

/// What a comparison found.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Pairs compared.
    pub pairs: usize,
    /// Pairs whose results differ beyond what the case allows.
    pub wrong: usize,
    /// Pairs that differ only in subnormal numbers taken or given as zeros.
    pub flushed: usize,
    /// The largest distance of two floats, in units in the last place, among the pairs that agree.
    pub ulps: u64,
    /// The first wrong pair, written out.
    pub first: Option<String>,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} pairs wrong", self.wrong, self.pairs)?;
        self.first.iter().try_for_each(|first| write!(f, "; {first}"))
    }
}

pub(crate) fn judge(
    case: &Case,
    tolerance: Tolerance,
    operands: &Operands,
    expected: &[u8],
    given: &[u8],
) -> Verdict {
    let size = case.bytes();
    assert_eq!(expected.len(), given.len(), "{}: as many results as pairs", case.name);
    let mut verdict = Verdict { pairs: expected.len() / size, ..Verdict::default() };
    for i in 0..verdict.pairs {
        let at = i * size..(i + 1) * size;
        let (expected, given) = (&expected[at.clone()], &given[at.clone()]);
        if expected == given {
            continue;
        }
        let distance = distance(&case.ty, tolerance.absolute, expected, given, &mut 0);
        if distance <= tolerance.ulps {
            verdict.ulps = verdict.ulps.max(distance);
            continue;
        }
        let sides = [&operands.left[at.clone()], &operands.right[at]];
        let subnormal = |bytes: &[u8]| has_subnormal(&case.ty, bytes, &mut 0);
        if subnormal(expected) || sides.iter().any(|side| subnormal(side)) {
            verdict.flushed += 1;
            if tolerance.flush {
                continue;
            }
        }
        verdict.wrong += 1;
        verdict.first.get_or_insert_with(|| {
            format!("{:x?} ∘ {:x?} is {expected:x?}, not {given:x?}", sides[0], sides[1])
        });
    }
    verdict
}

/// The largest distance of two floats in the same place; huge where anything else differs.
fn distance(ty: &Type, absolute: f64, expected: &[u8], given: &[u8], offset: &mut usize) -> u64 {
    match ty {
        Type::Scalar(scalar) => {
            let at = *offset..*offset + ty.bytes();
            *offset = at.end;
            let (expected, given) = (bits(&expected[at.clone()]), bits(&given[at]));
            if (value(*scalar, expected) - value(*scalar, given)).abs() < absolute {
                return 0;
            }
            scalar_distance(*scalar, expected, given)
        }
        Type::Array(element, len) => (0..*len)
            .map(|_| distance(element, absolute, expected, given, offset))
            .max()
            .unwrap_or(0),
        Type::Struct(fields) => {
            let fields = fields.fields.iter();
            fields
                .map(|field| distance(&field.ty, absolute, expected, given, offset))
                .max()
                .unwrap_or(0)
        }
    }
}

/// A float's value; NaN for integers, which no absolute error excuses.
fn value(scalar: Scalar, bits: u64) -> f64 {
    match scalar {
        Scalar::F32 => f64::from(f32::from_bits(bits as u32)),
        Scalar::F64 => f64::from_bits(bits),
        _ => f64::NAN,
    }
}

fn bits(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte))
}

fn scalar_distance(scalar: Scalar, expected: u64, given: u64) -> u64 {
    let (sign, infinity) = match scalar {
        Scalar::F32 => (0x8000_0000, 0x7f80_0000),
        Scalar::F64 => (1 << 63, 0x7ff0_0000_0000_0000),
        _ => return if expected == given { 0 } else { u64::MAX },
    };
    let is_nan = |x: u64| x & !sign > infinity;
    if is_nan(expected) || is_nan(given) {
        return if is_nan(expected) && is_nan(given) { 0 } else { u64::MAX };
    }
    if expected == given {
        return 0;
    }
    // Zeros of either sign differ, by more than a neighbour does.
    if expected & !sign == 0 && given & !sign == 0 {
        return u64::MAX;
    }
    let line = |x: u64| if x & sign == 0 { i128::from(x) } else { -i128::from(x & !sign) };
    line(expected).abs_diff(line(given)).try_into().unwrap_or(u64::MAX)
}

fn has_subnormal(ty: &Type, bytes: &[u8], offset: &mut usize) -> bool {
    match ty {
        Type::Scalar(scalar) => {
            let at = *offset..*offset + ty.bytes();
            *offset = at.end;
            let bits = bits(&bytes[at]);
            match scalar {
                Scalar::F32 => f32::from_bits(bits as u32).is_subnormal(),
                Scalar::F64 => f64::from_bits(bits).is_subnormal(),
                _ => false,
            }
        }
        // Every part is visited, to move the offset on.
        Type::Array(element, len) => {
            (0..*len).fold(false, |found, _| has_subnormal(element, bytes, offset) | found)
        }
        Type::Struct(fields) => fields
            .fields
            .iter()
            .fold(false, |found, field| has_subnormal(&field.ty, bytes, offset) | found),
    }
}
