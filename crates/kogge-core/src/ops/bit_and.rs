//! Bitwise and.

use crate::device::lang::Integer;
use crate::operator;

/// Bitwise and of integers.
#[operator(identity = T::ZERO.not(), exact, commutative)]
pub fn BitAnd<T: Integer>(left: T, right: T) -> T {
    left & right
}
