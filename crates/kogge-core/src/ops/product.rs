//! Multiplication.

use crate::{Number, Operator};

/// The product. Integers wrap around.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Product;

impl<A: Number> Operator<A> for Product {
    const EXACT: bool = A::EXACT;
    #[inline(always)]
    fn identity(&self) -> A {
        A::ONE
    }
    #[inline(always)]
    fn combine(&self, left: A, right: A) -> A {
        left.mul(right)
    }
}
