//! The minimum of what came so far.

use crate::{OrderedNumber, operator};

/// The smaller. NaN propagates, with the payload of the first one; `-0.0` comes before `0.0`
/// (IEEE 754-2019 `minimum`). Exactly associative, for floats too.
///
/// ```
/// use kogge_core::{Kind, Order, ops::Min, reference};
///
/// let prices = [5.0, 7.0, 3.5, 4.0];
/// let scan = reference::scan(&prices, &Min, Order::of::<f64>(), Kind::Inclusive, None);
/// assert_eq!(scan.values, [5.0, 5.0, 3.5, 3.5]);
/// ```
#[operator(identity = T::HIGHEST, exact, commutative = T::EXACT)]
pub fn Min<T: OrderedNumber>(left: T, right: T) -> T {
    left.minimum(right)
}
