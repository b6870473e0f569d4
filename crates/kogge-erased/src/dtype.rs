//! The types of elements, at run time.
//!
//! Names are Rust's and numpy's: `f32`, `float32` and `f4` are one.
//! [`with_type!`](crate::with_type) goes from a value to the Rust type.

use std::fmt;
use std::str::FromStr;

/// The type of an element in a file or a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Dtype {
    /// One byte, 0 or 1.
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    BF16,
    F32,
    F64,
}

use Dtype::*;

/// Every type with its name here, in numpy, and in numpy's files; the first is shown.
const NAMES: [(Dtype, [&str; 3]); 13] = [
    (Bool, ["bool", "bool_", "b1"]),
    (I8, ["i8", "int8", "i1"]),
    (I16, ["i16", "int16", "i2"]),
    (I32, ["i32", "int32", "i4"]),
    (I64, ["i64", "int64", "i8"]),
    (U8, ["u8", "uint8", "u1"]),
    (U16, ["u16", "uint16", "u2"]),
    (U32, ["u32", "uint32", "u4"]),
    (U64, ["u64", "uint64", "u8"]),
    (F16, ["f16", "float16", "f2"]),
    (BF16, ["bf16", "bfloat16", "bfloat16"]),
    (F32, ["f32", "float32", "f4"]),
    (F64, ["f64", "float64", "f8"]),
];

impl Dtype {
    /// Every type.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.into_iter().map(|(dtype, _)| dtype)
    }

    /// The name, as Rust has it.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(dtype, _)| *dtype == self).expect("every type is listed").1[0]
    }

    /// The type that a `.npy` header calls so, without the byte order; `bf16` has no name there.
    pub fn from_npy(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, names)| names[2] == name).map(|(dtype, _)| *dtype)
    }

    /// What a `.npy` header calls it, without the byte order; `None` for `bf16`.
    pub fn npy_name(self) -> Option<&'static str> {
        NAMES.iter().find(|(dtype, _)| *dtype == self && self != BF16).map(|(_, names)| names[2])
    }

    /// Bytes of an element.
    pub fn size(self) -> usize {
        match self {
            Bool | I8 | U8 => 1,
            I16 | U16 | F16 | BF16 => 2,
            I32 | U32 | F32 => 4,
            I64 | U64 | F64 => 8,
        }
    }

    /// Whether it is a float, of any width.
    pub fn is_float(self) -> bool {
        matches!(self, F16 | BF16 | F32 | F64)
    }

    /// What numpy's `cumsum` and `cumprod` give: integers and truth values in 64 bits.
    pub fn promoted(self) -> Self {
        match self {
            Bool | I8 | I16 | I32 => I64,
            U8 | U16 | U32 => U64,
            wide => wide,
        }
    }

    /// The type that two columns are scanned in together: the wider of floats, `f64` where an
    /// integer of 32 bits or more meets a float, and 64 bits of integers, signed if either is.
    pub fn with(self, other: Self) -> Self {
        let wide = |dtype: Self| dtype == F64 || !dtype.is_float() && dtype.size() >= 4;
        match (self.is_float() || other.is_float(), self.promoted(), other.promoted()) {
            _ if self == other => self,
            (true, ..) if wide(self) || wide(other) => F64,
            (true, ..) => F32,
            (false, U64, U64) => U64,
            (false, ..) => I64,
        }
    }

    /// The unsigned integer of the same size, whose wrapping arithmetic has the same bits.
    pub fn unsigned(self) -> Self {
        match self.size() {
            1 => U8,
            2 => U16,
            4 => U32,
            _ => U64,
        }
    }
}

#[cfg(feature = "clap")]
impl clap::ValueEnum for Dtype {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [Dtype; NAMES.len()] = {
            let mut all = [Bool; NAMES.len()];
            let mut at = 0;
            while at < all.len() {
                all[at] = NAMES[at].0;
                at += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        let (_, [name, long, _]) = NAMES.into_iter().find(|(dtype, _)| dtype == self)?;
        Some(clap::builder::PossibleValue::new(name).alias(long))
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Dtype {
    type Err = String;

    /// Rust's and numpy's long names. numpy's short ones are ambiguous (`i8`), so Rust's win.
    fn from_str(text: &str) -> Result<Self, String> {
        let found = NAMES.iter().find(|(_, names)| names[..2].contains(&text));
        found.map(|(dtype, _)| *dtype).ok_or_else(|| {
            let names: Vec<_> = Self::all().map(Self::name).collect();
            format!("no such type; there are {}", names.join(", "))
        })
    }
}

/// Runs an expression with a Rust type for the [`Dtype`]; `Bool` is `u8`.
///
/// ```
/// use kogge_erased::{Dtype, with_type};
///
/// assert_eq!(with_type!(Dtype::BF16, T => size_of::<T>()), 2);
/// ```
#[macro_export]
macro_rules! with_type {
    ($dtype:expr, $T:ident => $body:expr) => {{
        use $crate::Dtype;
        match $dtype {
            Dtype::Bool | Dtype::U8 => $crate::with_type!(@ u8, $T, $body),
            Dtype::I8 => $crate::with_type!(@ i8, $T, $body),
            Dtype::I16 => $crate::with_type!(@ i16, $T, $body),
            Dtype::I32 => $crate::with_type!(@ i32, $T, $body),
            Dtype::I64 => $crate::with_type!(@ i64, $T, $body),
            Dtype::U16 => $crate::with_type!(@ u16, $T, $body),
            Dtype::U32 => $crate::with_type!(@ u32, $T, $body),
            Dtype::U64 => $crate::with_type!(@ u64, $T, $body),
            Dtype::F16 => $crate::with_type!(@ $crate::f16, $T, $body),
            Dtype::BF16 => $crate::with_type!(@ $crate::bf16, $T, $body),
            Dtype::F32 => $crate::with_type!(@ f32, $T, $body),
            Dtype::F64 => $crate::with_type!(@ f64, $T, $body),
        }
    }};
    (@ $type:ty, $T:ident, $body:expr) => {{
        type $T = $type;
        $body
    }};
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        for dtype in Dtype::all() {
            assert_eq!(dtype.name().parse(), Ok(dtype));
            assert_eq!(with_type!(dtype, T => size_of::<T>()), dtype.size());
            if let Some(name) = dtype.npy_name() {
                assert_eq!(Dtype::from_npy(name), Some(dtype));
            }
        }
        assert_eq!("float32".parse(), Ok(F32));
        assert_eq!("i8".parse(), Ok(I8));
        assert_eq!(Dtype::from_npy("i8"), Some(I64));
        assert!("complex64".parse::<Dtype>().is_err());
    }

    #[test]
    fn two_columns_have_a_type_whatever_their_order() {
        for (one, other, both) in [
            (F32, I64, F64),
            (F32, U32, F64),
            (F32, I16, F32),
            (F16, BF16, F32),
            (BF16, F64, F64),
            (I64, U64, I64),
            (I32, U32, I64),
            (U8, U32, U64),
            (Bool, I8, I64),
        ] {
            assert_eq!((one.with(other), other.with(one)), (both, both), "{one} {other}");
        }
        assert!(Dtype::all().all(|dtype| dtype.with(dtype) == dtype));
    }
}
