//! The largest value and where it first stands.

use super::{Indexed, Padded};
use crate::{Element, Operator, OrderedNumber};

/// The larger value with its index; of equals the one with the lower index. Exactly associative.
///
/// The order is that of [`Max`](super::Max): `0.0` after `-0.0`, and a NaN wins over every number.
/// The identity's index is `u64::MAX`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArgMax;

impl<T: Padded + OrderedNumber> Operator<Indexed<T>> for ArgMax
where
    Indexed<T>: Element,
{
    const EXACT: bool = true;
    #[inline(always)]
    fn identity(&self) -> Indexed<T> {
        Indexed::new(T::LOWEST, u64::MAX)
    }
    #[inline(always)]
    fn combine(&self, left: Indexed<T>, right: Indexed<T>) -> Indexed<T> {
        let right_wins = right.value.exceeds(left.value);
        let left_wins = left.value.exceeds(right.value);
        if right_wins || (!left_wins && right.index < left.index) { right } else { left }
    }
}
