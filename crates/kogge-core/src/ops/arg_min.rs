//! The smallest value and where it first stands.

use super::Padded;
use crate::{Element, OrderedNumber, operator};

/// A value and its 64-bit index; 16 bytes for every built-in number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Element)]
#[element(T = [i8, i16, i32, i64, u8, u16, u32, u64, f32, f64])]
#[repr(C)]
pub struct Indexed<T: Padded> {
    /// Where the value stands.
    pub index: u64,
    /// The value.
    pub value: T,
    fill: T::Fill,
}

impl<T: Padded> Indexed<T> {
    /// The value at this index.
    #[inline(always)]
    pub fn new(value: T, index: u64) -> Self {
        Self { index, value, fill: T::Fill::default() }
    }
}

/// The smaller value with its index; of equals the one with the lower index. Exactly associative.
///
/// The order is that of [`Min`](super::Min): `-0.0` before `0.0`, and a NaN wins over every number.
/// The identity's index is `u64::MAX`.
#[operator(identity = Indexed::new(T::HIGHEST, u64::MAX), exact)]
pub fn ArgMin<T: Padded + OrderedNumber>(left: Indexed<T>, right: Indexed<T>) -> Indexed<T>
where
    Indexed<T>: Element,
{
    let right_wins = right.value.precedes(left.value);
    let left_wins = left.value.precedes(right.value);
    if right_wins || (!left_wins && right.index < left.index) { right } else { left }
}
