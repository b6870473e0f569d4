//! Bitwise exclusive or.

use crate::device::lang::Integer;
use crate::operator;

/// Bitwise xor of integers.
#[operator(identity = T::ZERO, exact, commutative)]
pub fn BitXor<T: Integer>(left: T, right: T) -> T {
    left ^ right
}
