//! Numbers and arrays: as the script gives them, as the report returns them,
//! as the command line writes them.

use crate::diagnostic::Diagnostic;
use crate::random::Random;

mod parse;
mod spelling;

pub use parse::parse;

macro_rules! scalar_types {
    ($($variant:ident, $rust:ty, $size:literal, $c:literal, [$($alias:literal),*];)*) => {
        /// An arithmetic type of CUDA C, 64-bit Linux (`long` has 8 bytes).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize))]
        pub enum ScalarType {
            $(#[doc = concat!("C's `", $c, "`.")] $variant,)*
        }

        impl ScalarType {
            /// Size in bytes.
            pub const fn size(self) -> usize {
                match self { $(Self::$variant => $size,)* }
            }

            /// Its name in C.
            pub const fn c_name(self) -> &'static str {
                match self { $(Self::$variant => $c,)* }
            }

            /// The type of this name: C's (`float`, `unsigned long long`, with
            /// single spaces, its words in any order), `<stdint.h>`'s, or Rust's.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($c $(| $alias)* => Some(Self::$variant),)*
                    _ => spelling::of_words(name),
                }
            }
        }

        /// The elements of an array.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Values {
            $(#[doc = concat!("Elements of C's `", $c, "`.")] $variant(Vec<$rust>),)*
        }

        impl Values {
            /// Element type.
            pub const fn ty(&self) -> ScalarType {
                match self { $(Self::$variant(_) => ScalarType::$variant,)* }
            }

            /// Number of elements.
            pub fn len(&self) -> usize {
                match self { $(Self::$variant(v) => v.len(),)* }
            }

            /// Element `index`, or none beyond the end.
            pub fn get(&self, index: usize) -> Option<Number> {
                match self { $(Self::$variant(v) => v.get(index).map(|&x| x.into()),)* }
            }
        }

        $(impl From<Vec<$rust>> for Values {
            fn from(v: Vec<$rust>) -> Self { Self::$variant(v) }
        }
        impl From<Vec<$rust>> for Value {
            fn from(v: Vec<$rust>) -> Self { Self::Array(ArrayInit::Data(v.into())) }
        })*
    };
}

scalar_types! {
    Bool, bool, 1, "bool", [];
    I8, i8, 1, "char", ["int8_t", "i8"];
    U8, u8, 1, "unsigned char", ["uint8_t", "u8", "uchar"];
    I16, i16, 2, "short", ["int16_t", "i16"];
    U16, u16, 2, "unsigned short", ["uint16_t", "u16", "ushort"];
    I32, i32, 4, "int", ["int32_t", "i32"];
    U32, u32, 4, "unsigned int", ["uint", "uint32_t", "u32"];
    I64, i64, 8, "long long", ["int64_t", "i64"];
    U64, u64, 8, "unsigned long long", ["ulong", "uint64_t", "size_t", "u64"];
    F32, f32, 4, "float", ["f32"];
    F64, f64, 8, "double", ["f64"];
}

/// A number of the script: an integer in full range or a double.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A truth value.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    UInt(u64),
    /// A single, kept apart so that it prints with its own digits.
    Single(f32),
    /// A double.
    Double(f64),
}

/// What an array holds at first.
#[derive(Clone, Debug, PartialEq)]
pub enum ArrayInit {
    /// These elements.
    Data(Values),
    /// All zero.
    Zeros(ScalarType, usize),
    /// All one.
    Ones(ScalarType, usize),
    /// 0, 1, 2, … converted to the type.
    Iota(ScalarType, usize),
    /// Drawn from the seed: integers from −100 to 100 (0 to 200 if unsigned),
    /// floats that are multiples of 1/8 from −8 to 8, truth values.
    Random(ScalarType, usize, u64),
    /// Never written: reading an element before a kernel writes it is a finding.
    Uninitialised(ScalarType, usize),
}

/// A value of the script: a number or an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(Number),
    /// An array.
    Array(ArrayInit),
}

impl Values {
    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements as numbers.
    pub fn iter(&self) -> impl Iterator<Item = Number> + '_ {
        (0..self.len()).filter_map(|i| self.get(i))
    }

    /// The elements in a GPU's memory: little-endian, one after the other.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Bool(v) => v.iter().map(|&x| u8::from(x)).collect(),
            Self::I8(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Self::U8(v) => v.clone(),
            Self::I16(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Self::U16(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Self::I32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Self::U32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Self::I64(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Self::U64(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Self::F32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Self::F64(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        }
    }

    /// The elements that little-endian bytes hold; a last incomplete one is
    /// left out.
    pub fn from_bytes(ty: ScalarType, bytes: &[u8]) -> Self {
        macro_rules! read {
            ($t:ty) => {
                bytes
                    .chunks_exact(size_of::<$t>())
                    .map(|c| <$t>::from_le_bytes(c.try_into().unwrap_or_default()))
                    .collect()
            };
        }
        match ty {
            ScalarType::Bool => Self::Bool(bytes.iter().map(|&b| b != 0).collect()),
            ScalarType::I8 => Self::I8(read!(i8)),
            ScalarType::U8 => Self::U8(bytes.to_vec()),
            ScalarType::I16 => Self::I16(read!(i16)),
            ScalarType::U16 => Self::U16(read!(u16)),
            ScalarType::I32 => Self::I32(read!(i32)),
            ScalarType::U32 => Self::U32(read!(u32)),
            ScalarType::I64 => Self::I64(read!(i64)),
            ScalarType::U64 => Self::U64(read!(u64)),
            ScalarType::F32 => Self::F32(read!(f32)),
            ScalarType::F64 => Self::F64(read!(f64)),
        }
    }

    /// `len` elements, element i being `number(i)` converted as C converts it.
    pub fn from_numbers(
        ty: ScalarType,
        len: usize,
        mut number: impl FnMut(usize) -> Number,
    ) -> Self {
        macro_rules! make {
            ($variant:ident, $convert:ident, $t:ty) => {
                Self::$variant((0..len).map(|i| number(i).$convert() as $t).collect())
            };
        }
        match ty {
            ScalarType::Bool => Self::Bool((0..len).map(|i| number(i).to_f64() != 0.0).collect()),
            ScalarType::I8 => make!(I8, to_bits, i8),
            ScalarType::U8 => make!(U8, to_bits, u8),
            ScalarType::I16 => make!(I16, to_bits, i16),
            ScalarType::U16 => make!(U16, to_bits, u16),
            ScalarType::I32 => make!(I32, to_bits, i32),
            ScalarType::U32 => make!(U32, to_bits, u32),
            ScalarType::I64 => make!(I64, to_bits, i64),
            ScalarType::U64 => make!(U64, to_bits, u64),
            ScalarType::F32 => Self::F32((0..len).map(|i| number(i).to_f32()).collect()),
            ScalarType::F64 => make!(F64, to_f64, f64),
        }
    }
}

impl Number {
    /// As a double.
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Bool(x) => f64::from(u8::from(x)),
            Self::Int(x) => x as f64,
            Self::UInt(x) => x as f64,
            Self::Single(x) => f64::from(x),
            Self::Double(x) => x,
        }
    }

    /// As a single, rounded once.
    pub fn to_f32(self) -> f32 {
        match self {
            Self::Bool(x) => f32::from(u8::from(x)),
            Self::Int(x) => x as f32,
            Self::UInt(x) => x as f32,
            Self::Single(x) => x,
            Self::Double(x) => x as f32,
        }
    }

    /// As a 64-bit integer in two's complement; floats are truncated and saturate.
    pub fn to_bits(self) -> u64 {
        match self {
            Self::Bool(x) => u64::from(x),
            Self::Int(x) => x as u64,
            Self::UInt(x) => x,
            Self::Single(x) => f64_to_bits(f64::from(x)),
            Self::Double(x) => f64_to_bits(x),
        }
    }
}

fn f64_to_bits(x: f64) -> u64 {
    if x < 0.0 { x as i64 as u64 } else { x as u64 }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bool(x) => write!(f, "{}", u8::from(*x)),
            Self::Int(x) => write!(f, "{x}"),
            Self::UInt(x) => write!(f, "{x}"),
            Self::Single(x) => write!(f, "{x}"),
            Self::Double(x) => write!(f, "{x}"),
        }
    }
}

macro_rules! number_from {
    ($($rust:ty => $variant:ident,)*) => {
        $(impl From<$rust> for Number {
            fn from(x: $rust) -> Self { Self::$variant(x.into()) }
        }
        impl From<$rust> for Value {
            fn from(x: $rust) -> Self { Self::Number(x.into()) }
        })*
    };
}

number_from! {
    bool => Bool,
    i8 => Int, i16 => Int, i32 => Int, i64 => Int,
    u8 => UInt, u16 => UInt, u32 => UInt, u64 => UInt,
    f32 => Single, f64 => Double,
}

impl From<Number> for Value {
    fn from(x: Number) -> Self {
        Self::Number(x)
    }
}

impl From<ArrayInit> for Value {
    fn from(x: ArrayInit) -> Self {
        Self::Array(x)
    }
}

impl ArrayInit {
    /// Element type.
    pub fn ty(&self) -> ScalarType {
        match self {
            Self::Data(v) => v.ty(),
            Self::Zeros(t, _)
            | Self::Ones(t, _)
            | Self::Iota(t, _)
            | Self::Random(t, _, _)
            | Self::Uninitialised(t, _) => *t,
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Self::Data(v) => v.len(),
            Self::Zeros(_, n)
            | Self::Ones(_, n)
            | Self::Iota(_, n)
            | Self::Random(_, n, _)
            | Self::Uninitialised(_, n) => *n,
        }
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements; zeros where they are uninitialised. The same on every
    /// machine for the same seed.
    pub fn values(&self) -> Values {
        let int = |i: usize| Number::UInt(i as u64);
        match *self {
            Self::Data(ref v) => v.clone(),
            Self::Zeros(t, n) | Self::Uninitialised(t, n) => Values::from_numbers(t, n, |_| int(0)),
            Self::Ones(t, n) => Values::from_numbers(t, n, |_| int(1)),
            Self::Iota(t, n) => Values::from_numbers(t, n, int),
            Self::Random(t, n, seed) => random_values(t, n, seed),
        }
    }
}

fn random_values(ty: ScalarType, len: usize, seed: u64) -> Values {
    use ScalarType as S;
    let mut random = Random::new(seed);
    Values::from_numbers(ty, len, |_| match ty {
        S::Bool => Number::Bool(random.below(2) == 1),
        S::F32 | S::F64 => Number::Double((random.below(129) as f64 - 64.0) / 8.0),
        S::U8 | S::U16 | S::U32 | S::U64 => Number::UInt(random.below(201)),
        S::I8 | S::I16 | S::I32 | S::I64 => Number::Int(random.below(201) as i64 - 100),
    })
}

#[cfg(feature = "serde")]
mod json {
    use super::{Number, Values};
    use serde::ser::{Serialize, SerializeSeq, Serializer};

    /// A number; infinities and NaN, which JSON lacks, as strings.
    impl Serialize for Number {
        fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            match *self {
                Self::Bool(x) => s.serialize_bool(x),
                Self::Int(x) => s.serialize_i64(x),
                Self::UInt(x) => s.serialize_u64(x),
                Self::Single(x) if x.is_finite() => s.serialize_f32(x),
                Self::Double(x) if x.is_finite() => s.serialize_f64(x),
                Self::Single(_) | Self::Double(_) => s.collect_str(self),
            }
        }
    }

    /// A list of numbers.
    impl Serialize for Values {
        fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            let mut list = s.serialize_seq(Some(self.len()))?;
            for x in self.iter() {
                list.serialize_element(&x)?;
            }
            list.end()
        }
    }
}
