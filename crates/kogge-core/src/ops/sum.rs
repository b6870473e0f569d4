//! Addition.

use crate::{Number, operator};

/// The sum. Integers wrap around; the float identity is `-0.0`.
#[operator(identity = T::SUM_IDENTITY, exact = T::EXACT, commutative = T::EXACT)]
pub fn Sum<T: Number>(left: T, right: T) -> T {
    left + right
}
