//! Bitwise or.

use crate::device::lang::Integer;
use crate::operator;

/// Bitwise or of integers.
///
/// ```
/// use kogge_core::{Kind, Order, ops::BitOr, reference};
///
/// let flags = [0b0001u8, 0b0100, 0b0001];
/// let scan = reference::scan(&flags, &BitOr, Order::of::<u8>(), Kind::Inclusive, None);
/// assert_eq!(scan.values, [0b0001, 0b0101, 0b0101]);
/// ```
#[operator(identity = T::ZERO, exact, commutative)]
pub fn BitOr<T: Integer>(left: T, right: T) -> T {
    left | right
}
