//! The one place with `unsafe`: generic operator elements declared plain old data.
//!
//! `bytemuck` derives this for concrete structs only, because it can't see the padding of a generic
//! one. Here each instance is checked: its size must be the sum of its fields' sizes.
#![allow(unsafe_code)]

use crate::ops::{Affine, Flagged, Indexed, Matrix2, Padded};
use bytemuck::{Pod, Zeroable};

macro_rules! plain {
    ($($type:ty: $($field:ty),+;)+) => {$(
        const _: () = assert!(size_of::<$type>() == 0 $(+ size_of::<$field>())+);
        // SAFETY: `repr(C)` of fields that are all zeroable.
        unsafe impl Zeroable for $type {}
        // SAFETY: `repr(C)` of Pod fields, without padding by the assertion above; `Copy`.
        unsafe impl Pod for $type {}
        crate::element!($type);
    )+};
}

macro_rules! arithmetic_structs {
    ($($t:ty),+) => {
        plain! {$(
            Affine<$t>: $t, $t;
            Matrix2<$t>: $t, $t, $t, $t;
        )+}
    };
}

macro_rules! padded_structs {
    ($($t:ty),+) => {
        plain! {$(
            Flagged<$t>: $t, <$t as Padded>::Flag;
            Indexed<$t>: u64, $t, <$t as Padded>::Fill;
        )+}
    };
}

arithmetic_structs!(i32, i64, u32, u64, f32, f64);
padded_structs!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);
