//! Bitwise exclusive or.

use crate::device::lang::Integer;
use crate::operator;

/// Bitwise xor of integers.
///
/// ```
/// use kogge_core::{Kind, Order, ops::BitXor, reference};
///
/// // Whether a place is between quotes: the parity of the quotes up to it.
/// let quotes = [0u8, 1, 0, 0, 1, 0];
/// let scan = reference::scan(&quotes, &BitXor, Order::of::<u8>(), Kind::Inclusive, None);
/// assert_eq!(scan.values, [0, 1, 1, 1, 0, 0]);
/// ```
#[operator(identity = T::ZERO, exact, commutative)]
pub fn BitXor<T: Integer>(left: T, right: T) -> T {
    left ^ right
}
