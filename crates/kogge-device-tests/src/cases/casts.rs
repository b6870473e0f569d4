//! Every cast between numbers, and from `bool`.
//!
//! The element is `u64`: the value to cast is read from its bits, and so is the result written,
//! with one number for all NaNs.

use super::on;
use crate::Case;
use kogge_core::operator;

/// `FROM => [NAME TO, …]`, one operator each; `FROM` and `TO` choose how bits are read and written.
macro_rules! casts {
    ($v:tt $($from:ident => [$($name:ident $to:ident),+];)+) => {
        $(casts!(@each $v $from [$($name $to),+]);)+
    };
    (@each $v:tt $from:ident [$($name:ident $to:ident),+]) => {
        $(casts!(@from $from $v $name $to);)+
    };
    (@from f32 ($left:ident $right:ident $x:ident) $name:ident $to:ident) => {
        casts!(@to $to ($left $right $x) $name [f32::from_bits(($left ^ $right) as u32)]);
    };
    (@from f64 ($left:ident $right:ident $x:ident) $name:ident $to:ident) => {
        casts!(@to $to ($left $right $x) $name [f64::from_bits($left ^ $right)]);
    };
    (@from $from:ident ($left:ident $right:ident $x:ident) $name:ident $to:ident) => {
        casts!(@to $to ($left $right $x) $name [($left ^ $right) as $from]);
    };
    (@to f32 ($left:ident $right:ident $x:ident) $name:ident $value:tt) => {
        casts!(@write f32 ($left $right $x) $name $value
            [if $x == $x { $x.to_bits() as u64 } else { 1 }]);
    };
    (@to f64 ($left:ident $right:ident $x:ident) $name:ident $value:tt) => {
        casts!(@write f64 ($left $right $x) $name $value
            [if $x == $x { $x.to_bits() } else { 1 }]);
    };
    (@to $to:ident ($left:ident $right:ident $x:ident) $name:ident $value:tt) => {
        casts!(@write $to ($left $right $x) $name $value [$x as u64]);
    };
    (@write $to:ident ($left:ident $right:ident $x:ident) $name:ident
        [$($value:tt)+] [$($bits:tt)+]) => {
        #[operator(identity = 0)]
        fn $name($left: u64, $right: u64) -> u64 {
            let $x = $($value)+;
            let $x = $x as $to;
            $($bits)+
        }
    };
}

casts! {
    (left right x)
    i8 => [I8ToI16 i16, I8ToI32 i32, I8ToI64 i64, I8ToU8 u8, I8ToU16 u16, I8ToU32 u32, I8ToU64 u64, I8ToF32 f32, I8ToF64 f64];
    i16 => [I16ToI8 i8, I16ToI32 i32, I16ToI64 i64, I16ToU8 u8, I16ToU16 u16, I16ToU32 u32, I16ToU64 u64, I16ToF32 f32, I16ToF64 f64];
    i32 => [I32ToI8 i8, I32ToI16 i16, I32ToI64 i64, I32ToU8 u8, I32ToU16 u16, I32ToU32 u32, I32ToU64 u64, I32ToF32 f32, I32ToF64 f64];
    i64 => [I64ToI8 i8, I64ToI16 i16, I64ToI32 i32, I64ToU8 u8, I64ToU16 u16, I64ToU32 u32, I64ToU64 u64, I64ToF32 f32, I64ToF64 f64];
    u8 => [U8ToI8 i8, U8ToI16 i16, U8ToI32 i32, U8ToI64 i64, U8ToU16 u16, U8ToU32 u32, U8ToU64 u64, U8ToF32 f32, U8ToF64 f64];
    u16 => [U16ToI8 i8, U16ToI16 i16, U16ToI32 i32, U16ToI64 i64, U16ToU8 u8, U16ToU32 u32, U16ToU64 u64, U16ToF32 f32, U16ToF64 f64];
    u32 => [U32ToI8 i8, U32ToI16 i16, U32ToI32 i32, U32ToI64 i64, U32ToU8 u8, U32ToU16 u16, U32ToU64 u64, U32ToF32 f32, U32ToF64 f64];
    u64 => [U64ToI8 i8, U64ToI16 i16, U64ToI32 i32, U64ToI64 i64, U64ToU8 u8, U64ToU16 u16, U64ToU32 u32, U64ToF32 f32, U64ToF64 f64];
    f32 => [F32ToI8 i8, F32ToI16 i16, F32ToI32 i32, F32ToI64 i64, F32ToU8 u8, F32ToU16 u16, F32ToU32 u32, F32ToU64 u64, F32ToF64 f64];
    f64 => [F64ToI8 i8, F64ToI16 i16, F64ToI32 i32, F64ToI64 i64, F64ToU8 u8, F64ToU16 u16, F64ToU32 u32, F64ToU64 u64, F64ToF32 f32];
}

/// `bool` as integers; literals take the type that they are cast to.
#[operator(identity = 0)]
fn OfBool(left: u64, right: u64) -> u64 {
    let less = left < right;
    let large = 4294967297 as u64 + (0.1 as f32 as f64 * 1e9) as u64;
    less as u64 + ((less as i8) << 1) as u64 + (!less as u32 as u64) * large
}

/// Floats to integers at the bounds of their range, where random bits rarely fall.
#[operator(identity = 0)]
fn AtBounds(left: u64, right: u64) -> u64 {
    let bound =
        [127.0, 128.0, 255.0, 32767.0, 65535.0, 2147483647.0, 4294967295.0, 9.223372036854775e18];
    let near = bound[(left as u32 % 8) as usize] + (right as i8) as f64 * 0.25;
    let mut hash = near as i8 as u64;
    hash = hash * 31 + near as u8 as u64;
    hash = hash * 31 + near as i16 as u64;
    hash = hash * 31 + near as u16 as u64;
    hash = hash * 31 + near as i32 as u64;
    hash = hash * 31 + near as u32 as u64;
    hash = hash * 31 + near as i64 as u64;
    hash = hash * 31 + near as u64;
    hash = hash * 31 + -near as i8 as u64;
    hash = hash * 31 + (-near as f32) as i32 as u64;
    hash = hash * 31 + (near as f32) as u32 as u64;
    hash * 31 + (near as f32) as i64 as u64
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    macro_rules! cast_cases {
        ($($operator:ident)+) => {
            $(cases.push(Case::new::<u64, _>(concat!("cast_", stringify!($operator)), $operator));)+
        };
    }
    cast_cases! {
        I8ToI16 I8ToI32 I8ToI64 I8ToU8 I8ToU16 I8ToU32 I8ToU64 I8ToF32 I8ToF64
        I16ToI8 I16ToI32 I16ToI64 I16ToU8 I16ToU16 I16ToU32 I16ToU64 I16ToF32 I16ToF64
        I32ToI8 I32ToI16 I32ToI64 I32ToU8 I32ToU16 I32ToU32 I32ToU64 I32ToF32 I32ToF64
        I64ToI8 I64ToI16 I64ToI32 I64ToU8 I64ToU16 I64ToU32 I64ToU64 I64ToF32 I64ToF64
        U8ToI8 U8ToI16 U8ToI32 U8ToI64 U8ToU16 U8ToU32 U8ToU64 U8ToF32 U8ToF64
        U16ToI8 U16ToI16 U16ToI32 U16ToI64 U16ToU8 U16ToU32 U16ToU64 U16ToF32 U16ToF64
        U32ToI8 U32ToI16 U32ToI32 U32ToI64 U32ToU8 U32ToU16 U32ToU64 U32ToF32 U32ToF64
        U64ToI8 U64ToI16 U64ToI32 U64ToI64 U64ToU8 U64ToU16 U64ToU32 U64ToF32 U64ToF64
        F32ToI8 F32ToI16 F32ToI32 F32ToI64 F32ToU8 F32ToU16 F32ToU32 F32ToU64 F32ToF64
        F64ToI8 F64ToI16 F64ToI32 F64ToI64 F64ToU8 F64ToU16 F64ToU32 F64ToU64 F64ToF32
    }
    on!(cases, OfBool, "cast_bool", [u64]);
    on!(cases, AtBounds, "cast_bounds", [u64]);
    cases
}
