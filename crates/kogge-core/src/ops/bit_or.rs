//! Bitwise or.

use crate::device::lang::Integer;
use crate::operator;

/// Bitwise or of integers.
#[operator(identity = T::ZERO, exact, commutative)]
pub fn BitOr<T: Integer>(left: T, right: T) -> T {
    left | right
}
