//! Operators for lessons: an element type, an identity and a C expression, given by macros.

use crate::{Number, ScalarType, Values};

/// An associative operator on a C scalar type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator {
    /// Its name.
    pub name: &'static str,
    /// The element type.
    pub element: ScalarType,
    identity: String,
    combine: &'static str,
}

/// The names of the operators.
pub const OPERATORS: [&str; 8] = ["sum", "product", "min", "max", "and", "or", "xor", "affine"];

impl Operator {
    /// The operator of this name on a type, where the two go together: bitwise ones take integers.
    ///
    /// `affine` is the one that is not commutative: an unsigned element holds a map x → a x + b,
    /// with a in its upper and b in its lower half, and the left operand's map is applied first.
    pub fn named(name: &str, element: ScalarType) -> Option<Self> {
        let float = matches!(element, ScalarType::F32 | ScalarType::F64);
        let (name, identity, combine) = match name {
            "sum" => ("sum", "0".to_owned(), "((a) + (b))"),
            "product" => ("product", "1".to_owned(), "((a) * (b))"),
            "min" => ("min", extreme(element, true)?, "((b) < (a) ? (b) : (a))"),
            "max" => ("max", extreme(element, false)?, "((a) < (b) ? (b) : (a))"),
            "and" if !float => ("and", all_bits(element)?, "((a) & (b))"),
            "or" if !float => ("or", "0".to_owned(), "((a) | (b))"),
            "xor" if !float => ("xor", "0".to_owned(), "((a) ^ (b))"),
            "affine" => match element {
                ScalarType::U32 => ("affine", "0x10000u".to_owned(), AFFINE_32),
                ScalarType::U64 => ("affine", "0x100000000ull".to_owned(), AFFINE_64),
                _ => return None,
            },
            _ => return None,
        };
        Some(Self { name, element, identity, combine })
    }

    /// The macros that give a lesson this operator.
    pub fn defines(&self) -> Vec<(String, String)> {
        let define = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        vec![
            define("ELEMENT", self.element.c_name()),
            define("IDENTITY", &self.identity),
            define("COMBINE(a, b)", self.combine),
        ]
    }

    /// The operator applied to two elements, as the C expression does it.
    pub fn combine(&self, a: Number, b: Number) -> Number {
        let (l, r) = (a.to_bits(), b.to_bits());
        let smaller = |x: bool| if x { b } else { a };
        let less = |x: Number, y: Number| match self.element {
            ScalarType::F32 | ScalarType::F64 => x.to_f64() < y.to_f64(),
            ScalarType::U64 => x.to_bits() < y.to_bits(),
            _ => (x.to_bits() as i64) < y.to_bits() as i64,
        };
        match (self.name, self.element) {
            ("sum", ScalarType::F32) => Number::Single(a.to_f32() + b.to_f32()),
            ("product", ScalarType::F32) => Number::Single(a.to_f32() * b.to_f32()),
            ("sum", ScalarType::F64) => Number::Double(a.to_f64() + b.to_f64()),
            ("product", ScalarType::F64) => Number::Double(a.to_f64() * b.to_f64()),
            ("min", _) => smaller(less(b, a)),
            ("max", _) => smaller(less(a, b)),
            ("sum", _) => self.wrapped(l.wrapping_add(r)),
            ("product", _) => self.wrapped(l.wrapping_mul(r)),
            ("and", _) => self.wrapped(l & r),
            ("or", _) => self.wrapped(l | r),
            ("xor", _) => self.wrapped(l ^ r),
            (_, ScalarType::U32) => {
                let (la, lb, ra, rb) = (l >> 16, l & 0xffff, r >> 16, r & 0xffff);
                Number::UInt(((la * ra) & 0xffff) << 16 | ((lb * ra + rb) & 0xffff))
            }
            _ => {
                let (la, lb, ra, rb) =
                    (l >> 32, l & u64::from(u32::MAX), r >> 32, r & u64::from(u32::MAX));
                let b = lb.wrapping_mul(ra).wrapping_add(rb);
                Number::UInt(la.wrapping_mul(ra) << 32 | (b & u64::from(u32::MAX)))
            }
        }
    }

    /// The identity as an element.
    pub fn identity(&self) -> Number {
        let first = |bits: u64| self.wrapped(bits);
        match (self.name, self.element) {
            ("min", ScalarType::F32 | ScalarType::F64) => Number::Double(f64::INFINITY),
            ("max", ScalarType::F32 | ScalarType::F64) => Number::Double(f64::NEG_INFINITY),
            ("min", element) => first(bounds(element).1),
            ("max", element) => first(bounds(element).0),
            ("product", _) => first(1),
            ("and", _) => first(u64::MAX),
            ("affine", ScalarType::U32) => first(1 << 16),
            ("affine", _) => first(1 << 32),
            _ => first(0),
        }
    }

    /// What a lesson scans unless told otherwise: 0, 1, 2, …, and under `affine`, to which these
    /// would all be constants, maps x → (2 i + 3) x + 1, no two of which commute.
    pub fn elements(&self, n: usize) -> Values {
        let (half, low) = match self.element {
            ScalarType::U32 => (16, 0xffff),
            _ => (32, u64::from(u32::MAX)),
        };
        Values::from_numbers(self.element, n, |i| {
            let i = i as u64;
            let map = ((2 * i + 3) & low) << half | 1;
            Number::UInt(if self.name == "affine" { map } else { i })
        })
    }

    /// The scan of `x`, from left to right: what a lesson must give.
    pub fn scan(&self, x: &Values, exclusive: bool) -> Values {
        let mut before = self.identity();
        let mut empty = true;
        Values::from_numbers(self.element, x.len(), |i| {
            let element = x.get(i).unwrap_or(Number::Int(0));
            let through = if empty { element } else { self.combine(before, element) };
            empty = false;
            let value = if exclusive { before } else { through };
            before = through;
            value
        })
    }

    fn wrapped(&self, bits: u64) -> Number {
        let one = Values::from_numbers(self.element, 1, |_| Number::UInt(bits));
        one.get(0).unwrap_or(Number::UInt(bits))
    }
}

const AFFINE_32: &str =
    "((((a) >> 16) * ((b) >> 16)) << 16 | ((((a) & 0xffffu) * ((b) >> 16) + (b)) & 0xffffu))";
const AFFINE_64: &str = "((((a) >> 32) * ((b) >> 32)) << 32 | ((((a) & 0xffffffffull) * ((b) >> 32) + (b)) & 0xffffffffull))";

/// The least and the greatest value of an integer type, as 64 bits.
fn bounds(element: ScalarType) -> (u64, u64) {
    let bits = 8 * element.size() as u32;
    match element {
        ScalarType::I8 | ScalarType::I16 | ScalarType::I32 | ScalarType::I64 => {
            let high = (1_u64 << (bits - 1)) - 1;
            (!high, high)
        }
        ScalarType::Bool => (0, 1),
        _ => (0, u64::MAX >> (64 - bits)),
    }
}

/// The identity of `min` (the greatest value) or of `max` (the least), in C.
fn extreme(element: ScalarType, greatest: bool) -> Option<String> {
    let (low, high) = bounds(element);
    Some(match (element, greatest) {
        (ScalarType::F32, true) => "__int_as_float(0x7f800000)".to_owned(),
        (ScalarType::F32, false) => "(-__int_as_float(0x7f800000))".to_owned(),
        (ScalarType::F64, true) => "__longlong_as_double(0x7ff0000000000000ll)".to_owned(),
        (ScalarType::F64, false) => "(-__longlong_as_double(0x7ff0000000000000ll))".to_owned(),
        (ScalarType::I64, false) => format!("(-{high}ll - 1)"),
        (_, false) if low != 0 => format!("(-{high} - 1)"),
        (_, false) => "0".to_owned(),
        (ScalarType::I64, true) => format!("{high}ll"),
        (ScalarType::U32, true) => format!("{high}u"),
        (ScalarType::U64, true) => format!("{high}ull"),
        (_, true) => high.to_string(),
    })
}

fn all_bits(element: ScalarType) -> Option<String> {
    match element {
        ScalarType::U8 | ScalarType::U16 | ScalarType::U32 | ScalarType::U64 | ScalarType::Bool => {
            extreme(element, true)
        }
        ScalarType::F32 | ScalarType::F64 => None,
        _ => Some("-1".to_owned()),
    }
}
