//! Bitwise and.

use crate::device::lang::Integer;
use crate::operator;

/// Bitwise and of integers.
///
/// ```
/// use kogge_core::{Kind, Order, ops::BitAnd, reference};
///
/// let masks = [0b1110u8, 0b0111, 0b1010];
/// let scan = reference::scan(&masks, &BitAnd, Order::of::<u8>(), Kind::Inclusive, None);
/// assert_eq!(scan.values, [0b1110, 0b0110, 0b0010]);
/// ```
#[operator(identity = T::ZERO.not(), exact, commutative)]
pub fn BitAnd<T: Integer>(left: T, right: T) -> T {
    left & right
}
