//! Logical conjunction of truth values.

use crate::device::lang::Integer;
use crate::operator;

/// 1 if all of the values are non-zero, else 0.
///
/// Any non-zero integer is true. Values that were combined are 0 or 1; a first element passes
/// through as it is.
#[operator(identity = T::ONE, exact)]
pub fn All<T: Integer>(left: T, right: T) -> T {
    if left != T::ZERO && right != T::ZERO { T::ONE } else { T::ZERO }
}
