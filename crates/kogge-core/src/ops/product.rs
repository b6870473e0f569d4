//! Multiplication.

use crate::{Number, operator};

/// The product. Integers wrap around.
#[operator(identity = T::ONE, exact = T::EXACT, commutative = T::EXACT)]
pub fn Product<T: Number>(left: T, right: T) -> T {
    left * right
}
