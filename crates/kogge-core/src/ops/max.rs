//! The maximum of what came so far.

use crate::{OrderedNumber, operator};

/// The larger. NaN propagates, with the payload of the first one; `-0.0` comes before `0.0`
/// (IEEE 754-2019 `maximum`). Exactly associative, for floats too.
///
/// ```
/// use kogge_core::{Kind, Order, ops::Max, reference};
///
/// let prices = [3.0, 5.0, 4.0, 7.0];
/// let scan = reference::scan(&prices, &Max, Order::of::<f64>(), Kind::Inclusive, None);
/// assert_eq!(scan.values, [3.0, 5.0, 5.0, 7.0]);
/// ```
#[operator(identity = T::LOWEST, exact, commutative = T::EXACT)]
pub fn Max<T: OrderedNumber>(left: T, right: T) -> T {
    left.maximum(right)
}
