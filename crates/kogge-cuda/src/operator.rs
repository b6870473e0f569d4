//! Operators as CUDA C++ knows them.
//!
//! The text is a struct with `typedef … Element`, `static __device__ Element identity()` and
//! `static __device__ Element combine(Element left, Element right)`. It may use the fixed-width names
//! `u8`…`u64` and `KOGGE_DEVICE` functions, and no header.

use crate::element::flag_name;
use crate::{DeviceElement, DeviceType};
use kogge_core::Operator;
use kogge_core::ops::{
    Affine, All, Any, ArgMax, ArgMin, BitAnd, BitOr, BitXor, Compose, Flagged, Indexed, LastValid,
    MatMul, Matrix2, Max, Min, Padded, Product, Segmented, Sum,
};
use std::borrow::Cow;

/// An operator's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorSource {
    /// Definitions that the struct needs, itself among them.
    pub text: Cow<'static, str>,
    /// The struct's name, template arguments and all.
    pub name: String,
    /// Whether it adds integers, so that small ones can be added four at a time. `false` is always
    /// right.
    pub adds_integers: bool,
}

/// An operator that kernels can apply, with the bits that its `combine` gives on the CPU.
///
/// A NaN that arithmetic makes is a NaN on both; its payload is the machine's.
pub trait DeviceOperator<A: DeviceElement>: Operator<A> {
    /// Its text.
    fn device_source(&self) -> OperatorSource;
}

const ARITHMETIC: &str = include_str!("../kernels/ops/arithmetic.cuh");

macro_rules! text {
    ($file:literal) => {
        concat!(
            include_str!("../kernels/ops/arithmetic.cuh"),
            include_str!(concat!("../kernels/ops/", $file))
        )
        .into()
    };
}

macro_rules! numeric {
    ($($operator:ident, $file:literal;)+) => {$(
        impl<A: DeviceElement> DeviceOperator<A> for $operator
        where
            $operator: Operator<A>,
        {
            fn device_source(&self) -> OperatorSource {
                let name = format!(concat!(stringify!($operator), "<{}>"), A::device_type().name);
                OperatorSource { text: text!($file), name, adds_integers: false }
            }
        }
    )+};
}

numeric! {
    Product, "product.cuh";
    Min, "min.cuh";
    Max, "max.cuh";
    BitAnd, "bit_and.cuh";
    BitOr, "bit_or.cuh";
    BitXor, "bit_xor.cuh";
    All, "all.cuh";
    Any, "any.cuh";
}

impl<A: DeviceElement> DeviceOperator<A> for Sum
where
    Sum: Operator<A>,
{
    /// Small integers are added as `int`: the low bits are the same.
    fn device_source(&self) -> OperatorSource {
        let DeviceType { name, .. } = A::device_type();
        let adds_integers =
            matches!(&*name, "signed char" | "unsigned char" | "short" | "unsigned short");
        let name = if adds_integers { "Sum<int>".into() } else { format!("Sum<{name}>") };
        OperatorSource { text: text!("sum.cuh"), name, adds_integers }
    }
}

impl<T: DeviceElement> DeviceOperator<Affine<T>> for Compose
where
    Compose: Operator<Affine<T>>,
    Affine<T>: DeviceElement,
{
    fn device_source(&self) -> OperatorSource {
        let name = format!("Compose<{}>", <T as DeviceElement>::device_type().name);
        OperatorSource { text: text!("affine.cuh"), name, adds_integers: false }
    }
}

impl<T: DeviceElement> DeviceOperator<Matrix2<T>> for MatMul
where
    MatMul: Operator<Matrix2<T>>,
    Matrix2<T>: DeviceElement,
{
    fn device_source(&self) -> OperatorSource {
        let name = format!("MatMul<{}>", <T as DeviceElement>::device_type().name);
        OperatorSource { text: text!("matrix2.cuh"), name, adds_integers: false }
    }
}

macro_rules! indexed {
    ($($operator:ident),+) => {$(
        impl<T: DeviceElement + Padded> DeviceOperator<Indexed<T>> for $operator
        where
            $operator: Operator<Indexed<T>>,
            Indexed<T>: DeviceElement,
        {
            fn device_source(&self) -> OperatorSource {
                let name = format!(concat!(stringify!($operator), "<{}>"), <T as DeviceElement>::device_type().name);
                OperatorSource { text: text!("indexed.cuh"), name, adds_integers: false }
            }
        }
    )+};
}

indexed!(ArgMin, ArgMax);

macro_rules! last_valid {
    ($($float:ty),+) => {$(
        impl DeviceOperator<$float> for LastValid {
            fn device_source(&self) -> OperatorSource {
                let name = format!("LastValid<{}>", <$float>::device_type().name);
                OperatorSource { text: text!("last_valid.cuh"), name, adds_integers: false }
            }
        }
    )+};
}

last_valid!(f32, f64);

impl<T: DeviceElement + Padded> DeviceOperator<Flagged<T>> for LastValid
where
    LastValid: Operator<Flagged<T>>,
    Flagged<T>: DeviceElement,
{
    fn device_source(&self) -> OperatorSource {
        let name = format!(
            "LastFlagged<{}, {}>",
            <T as DeviceElement>::device_type().name,
            flag_name(size_of::<T>())
        );
        OperatorSource { text: text!("flagged.cuh"), name, adds_integers: false }
    }
}

impl<T, O> DeviceOperator<Flagged<T>> for Segmented<O>
where
    T: DeviceElement + Padded,
    O: DeviceOperator<T>,
    Segmented<O>: Operator<Flagged<T>>,
    Flagged<T>: DeviceElement,
{
    fn device_source(&self) -> OperatorSource {
        let inner = self.0.device_source();
        // The inner operator must keep the value's own type within the pair.
        let name = if inner.adds_integers {
            format!("Sum<{}>", <T as DeviceElement>::device_type().name)
        } else {
            inner.name
        };
        let own = if inner.text.starts_with(ARITHMETIC) { "" } else { ARITHMETIC };
        let flagged = include_str!("../kernels/ops/flagged.cuh");
        OperatorSource {
            text: format!("{own}{}{flagged}", inner.text).into(),
            name: format!("Segmented<{name}, {}>", flag_name(size_of::<T>())),
            adds_integers: false,
        }
    }
}
