//! The smallest value and where it first stands.

use super::Padded;
use crate::{Element, Operator, OrderedNumber};

/// A value and its 64-bit index; 16 bytes for every built-in number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArgMin;

impl<T: Padded + OrderedNumber> Operator<Indexed<T>> for ArgMin
where
    Indexed<T>: Element,
{
    const EXACT: bool = true;
    #[inline(always)]
    fn identity(&self) -> Indexed<T> {
        Indexed::new(T::HIGHEST, u64::MAX)
    }
    #[inline(always)]
    fn combine(&self, left: Indexed<T>, right: Indexed<T>) -> Indexed<T> {
        let right_wins = right.value.precedes(left.value);
        let left_wins = left.value.precedes(right.value);
        if right_wins || (!left_wins && right.index < left.index) { right } else { left }
    }
}
