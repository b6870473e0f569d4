//! The maximum of what came so far.

use crate::{OrderedNumber, operator};

/// The larger. NaN propagates, with the payload of the first one; `-0.0` comes before `0.0`
/// (IEEE 754-2019 `maximum`). Exactly associative, for floats too.
#[operator(identity = T::LOWEST, exact, commutative = T::EXACT)]
pub fn Max<T: OrderedNumber>(left: T, right: T) -> T {
    left.maximum(right)
}
