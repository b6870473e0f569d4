//! The built-in operators on every element that they take, with their types gone: what can be
//! compiled ahead, and what the tests compile.

use crate::{Capability, Error, Plan, Specification, Tuning, plan, source};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::ops::{
    Affine, All, Any, ArgMax, ArgMin, BitAnd, BitOr, BitXor, Compose, Flagged, Indexed, LastValid,
    LogAddExp, MatMul, Matrix2, Max, Min, Product, Segmented, Sum,
};
use kogge_core::{Accumulate, Element, Problem, bf16, f16};

type Text = dyn Fn(Specification, &Plan) -> Result<String, Error> + Send + Sync;

/// An operator on one type of element.
pub struct Entry {
    /// Operator and element, as in `Sum f32`.
    pub name: String,
    element_bytes: usize,
    accumulator_bytes: usize,
    text: Box<Text>,
}

impl Entry {
    /// An operator on elements `T`, accumulated in `A`.
    pub fn new<T, A, O>(name: impl Into<String>, operator: O) -> Self
    where
        T: DeviceElement + Accumulate<A>,
        A: Element + DeviceType,
        O: DeviceOperator<A> + Send + 'static,
    {
        Self {
            name: name.into(),
            element_bytes: size_of::<T>(),
            accumulator_bytes: size_of::<A>(),
            text: Box::new(move |specification, plan| {
                source::<T, T, A, O>(&operator, specification, plan)
            }),
        }
    }

    /// The plan of a scan of so many bytes on a device.
    ///
    /// # Errors
    ///
    /// As [`plan()`].
    pub fn plan(
        &self,
        bytes: u64,
        specification: Specification,
        device: Capability,
        tuning: &Tuning,
    ) -> Result<Plan, Error> {
        let problem = Problem {
            len: bytes / self.element_bytes as u64,
            element_bytes: self.element_bytes,
            output_bytes: self.element_bytes,
            accumulator_bytes: self.accumulator_bytes,
            kind: specification.kind,
            direction: specification.direction,
            in_place: false,
        };
        plan(&problem, device, tuning)
    }

    /// The text of its kernel.
    ///
    /// # Errors
    ///
    /// As [`source()`].
    pub fn text(&self, specification: Specification, plan: &Plan) -> Result<String, Error> {
        (self.text)(specification, plan)
    }
}

/// All of them.
pub fn built_in() -> Vec<Entry> {
    let mut entries = Vec::new();
    macro_rules! on {
        ($($operator:ident: $($type:ident),+;)+) => {$($(
            entries.push(Entry::new::<$type, <$type as Element>::Accumulator, _>(
                concat!(stringify!($operator), " ", stringify!($type)),
                $operator,
            ));
        )+)+};
    }
    macro_rules! on_pairs {
        ($($name:literal $operator:expr, $pair:ident: $($type:ident),+;)+) => {$($(
            entries.push(Entry::new::<$pair<$type>, $pair<$type>, _>(
                concat!($name, " ", stringify!($pair), "<", stringify!($type), ">"),
                $operator,
            ));
        )+)+};
    }
    on! {
        Sum: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64;
        Product: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64;
        Min: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64;
        Max: i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64;
        BitAnd: i8, i16, i32, i64, u8, u16, u32, u64;
        BitOr: i8, i16, i32, i64, u8, u16, u32, u64;
        BitXor: i8, i16, i32, i64, u8, u16, u32, u64;
        All: i8, i16, i32, i64, u8, u16, u32, u64;
        Any: i8, i16, i32, i64, u8, u16, u32, u64;
        LastValid: f16, bf16, f32, f64;
        LogAddExp: f16, bf16, f32, f64;
    }
    on_pairs! {
        "Compose" Compose, Affine: i32, i64, u32, u64, f32, f64;
        "MatMul" MatMul, Matrix2: i32, i64, u32, u64, f32, f64;
        "LastValid" LastValid, Flagged: i8, i16, i32, i64, u8, u16, u32, u64, f32, f64;
        "ArgMin" ArgMin, Indexed: i8, i16, i32, i64, u8, u16, u32, u64, f32, f64;
        "ArgMax" ArgMax, Indexed: i8, i16, i32, i64, u8, u16, u32, u64, f32, f64;
        "Segmented(Sum)" Segmented(Sum), Flagged: i8, i16, i32, i64, u8, u16, u32, u64, f32, f64;
    }
    entries.push(Entry::new::<f32, f64, _>("Sum f32 in f64", Sum));
    entries.push(Entry::new::<f16, f64, _>("Sum f16 in f64", Sum));
    entries.push(Entry::new::<bf16, f64, _>("Sum bf16 in f64", Sum));
    entries.push(Entry::new::<i32, i64, _>("Sum i32 in i64", Sum));
    entries.push(Entry::new::<i16, f32, _>("Sum i16 in f32", Sum));
    entries
}
