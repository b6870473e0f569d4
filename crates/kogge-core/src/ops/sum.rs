//! Addition.

use crate::{Number, operator};

/// The sum. Integers wrap around; the float identity is `-0.0`.
///
/// ```
/// use kogge_core::{Kind, Order, ops::Sum, reference};
///
/// let (x, order) = ([3, 1, 4, 1, 5], Order::of::<i32>());
/// assert_eq!(reference::scan(&x, &Sum, order, Kind::Inclusive, None).values, [3, 4, 8, 9, 14]);
/// assert_eq!(reference::scan(&x, &Sum, order, Kind::Exclusive, None).values, [0, 3, 4, 8, 9]);
/// ```
#[operator(identity = T::SUM_IDENTITY, exact = T::EXACT, commutative = T::EXACT)]
pub fn Sum<T: Number>(left: T, right: T) -> T {
    left + right
}
