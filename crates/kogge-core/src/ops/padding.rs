//! Types that fill up an element of several fields, so that no byte of it is padding.

use crate::Element;
use crate::device::DeviceType;
use crate::device::lang::Comparable;

/// An element with companions of fitting size: what a struct of it and a flag, or of it and a
/// 64-bit index, is filled up with.
///
/// ```
/// use kogge_core::ops::{Flagged, Padded};
///
/// fn marked<T: Padded>(value: T) -> Flagged<T> {
///     Flagged { value, flag: T::SET }
/// }
/// assert_eq!(marked(7u16), Flagged::new(7, true));
/// assert_eq!((size_of::<Flagged<u16>>(), size_of::<Flagged<u64>>()), (4, 16));
/// ```
pub trait Padded: Element + DeviceType {
    /// An unsigned integer as wide as the element (8 bytes at most), for a flag beside it.
    type Flag: Element + Comparable + Default + From<bool>;
    /// What fills the element up to 8 bytes.
    type Fill: Element + DeviceType + Default;
    /// The flag that is not set.
    const CLEAR: Self::Flag;
    /// The flag that is set.
    const SET: Self::Flag;
}

macro_rules! padded {
    ($($type:ty, $flag:ty, $fill:ty;)+) => {$(
        impl Padded for $type {
            type Flag = $flag;
            type Fill = $fill;
            const CLEAR: $flag = 0;
            const SET: $flag = 1;
        }
    )+};
}

padded! {
    i8, u8, [u8; 7]; u8, u8, [u8; 7];
    i16, u16, [u16; 3]; u16, u16, [u16; 3];
    i32, u32, u32; u32, u32, u32; f32, u32, u32;
    i64, u64, [u64; 0]; u64, u64, [u64; 0]; f64, u64, [u64; 0];
}
