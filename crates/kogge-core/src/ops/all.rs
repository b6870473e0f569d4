//! Logical conjunction of truth values.

use crate::device::lang::Integer;
use crate::operator;

/// 1 if all of the values are non-zero, else 0.
///
/// Any non-zero integer is true. Values that were combined are 0 or 1; a first element passes
/// through as it is, so the identity is one of 0 and 1 alone.
///
/// ```
/// use kogge_core::{Kind, Order, ops::All, reference};
///
/// let passed = [1u8, 1, 0, 1];
/// let scan = reference::scan(&passed, &All, Order::of::<u8>(), Kind::Inclusive, None);
/// assert_eq!(scan.values, [1, 1, 0, 0]);
/// ```
#[operator(identity = T::ONE, exact)]
pub fn All<T: Integer>(left: T, right: T) -> T {
    if left != T::ZERO && right != T::ZERO { T::ONE } else { T::ZERO }
}
