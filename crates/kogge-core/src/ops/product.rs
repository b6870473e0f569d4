//! Multiplication.

use crate::{Number, operator};

/// The product. Integers wrap around.
///
/// ```
/// use kogge_core::{Kind, Order, ops::Product, reference};
///
/// let scan = reference::scan(&[2; 5], &Product, Order::of::<u64>(), Kind::Inclusive, None);
/// assert_eq!(scan.values, [2u64, 4, 8, 16, 32]);
/// ```
#[operator(identity = T::ONE, exact = T::EXACT, commutative = T::EXACT)]
pub fn Product<T: Number>(left: T, right: T) -> T {
    left * right
}
