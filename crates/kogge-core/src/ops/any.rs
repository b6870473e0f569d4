//! Logical disjunction of truth values.

use crate::device::lang::Integer;
use crate::operator;

/// 1 if any of the values is non-zero, else 0.
///
/// Any non-zero integer is true. Values that were combined are 0 or 1; a first element passes
/// through as it is, so the identity is one of 0 and 1 alone.
///
/// ```
/// use kogge_core::{Kind, Order, ops::Any, reference};
///
/// let seen = [0u8, 0, 1, 0];
/// let scan = reference::scan(&seen, &Any, Order::of::<u8>(), Kind::Inclusive, None);
/// assert_eq!(scan.values, [0, 0, 1, 1]);
/// ```
#[operator(identity = T::ZERO, exact)]
pub fn Any<T: Integer>(left: T, right: T) -> T {
    if left | right != T::ZERO { T::ONE } else { T::ZERO }
}
