//! The built-in operators, on every type that they take.

use super::on;
use crate::{Case, Tolerance};
use kogge_core::ops::{
    Affine, All, Any, ArgMax, ArgMin, BitAnd, BitOr, BitXor, Compose, Flagged, Indexed, LastValid,
    LogAddExp, MatMul, Matrix2, Max, Min, Product, Segmented, Sum,
};

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    macro_rules! numbers {
        ($($name:literal $operator:expr;)+) => {
            $(on!(cases, $operator, $name, [i8, i16, i32, i64, u8, u16, u32, u64, f32, f64]);)+
        };
    }
    macro_rules! structs {
        ($($name:literal $operator:expr, $element:ident [$($type:ident)+];)+) => {
            $($(cases.push(Case::new::<$element<$type>, _>(
                concat!($name, "_", stringify!($type)), $operator,
            ));)+)+
        };
    }
    numbers! { "Sum" Sum; "Product" Product; "Min" Min; "Max" Max; }
    on!(cases, BitAnd, "BitAnd", [i8, i16, i32, i64, u8, u16, u32, u64]);
    on!(cases, BitOr, "BitOr", [i8, i16, i32, i64, u8, u16, u32, u64]);
    on!(cases, BitXor, "BitXor", [i8, i16, i32, i64, u8, u16, u32, u64]);
    on!(cases, All, "All", [i8, i16, i32, i64, u8, u16, u32, u64]);
    on!(cases, Any, "Any", [i8, i16, i32, i64, u8, u16, u32, u64]);
    on!(cases, LastValid, "LastValid", [f32, f64]);
    structs! {
        "Compose" Compose, Affine [i32 i64 u32 u64 f32 f64];
        "MatMul" MatMul, Matrix2 [i32 i64 u32 u64 f32 f64];
        "LastFlagged" LastValid, Flagged [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64];
        "ArgMin" ArgMin, Indexed [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64];
        "ArgMax" ArgMax, Indexed [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64];
        "SegmentedSum" Segmented(Sum), Flagged [i8 i16 i32 i64 u8 u16 u32 u64 f32 f64];
        "SegmentedMax" Segmented(Max), Flagged [i8 f32];
    }
    let mut transcendental = Vec::new();
    on!(transcendental, LogAddExp, "LogAddExp", [f32, f64]);
    // The error of the two words that it is made of, and of the sum.
    let near = Tolerance { ulps: 4, ..Tolerance::NONE };
    let wgsl = Tolerance { ulps: 8, absolute: 2.0 / f64::from(1 << 20), flush: true };
    cases.extend(transcendental.into_iter().map(|case| case.within(near, wgsl)));
    cases
}
