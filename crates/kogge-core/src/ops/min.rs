//! The minimum of what came so far.

use crate::{OrderedNumber, operator};

/// The smaller. NaN propagates, with the payload of the first one; `-0.0` comes before `0.0`
/// (IEEE 754-2019 `minimum`). Exactly associative, for floats too.
#[operator(identity = T::HIGHEST, exact, commutative = T::EXACT)]
pub fn Min<T: OrderedNumber>(left: T, right: T) -> T {
    left.minimum(right)
}
