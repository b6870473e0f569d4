//! The maximum of what came so far.

use crate::{Operator, OrderedNumber};

/// The larger. NaN propagates, with the payload of the first one; `-0.0` comes before `0.0`
/// (IEEE 754-2019 `maximum`). Exactly associative, for floats too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Max;

impl<A: OrderedNumber> Operator<A> for Max {
    const EXACT: bool = true;
    #[inline(always)]
    fn identity(&self) -> A {
        A::LOWEST
    }
    #[inline(always)]
    fn combine(&self, left: A, right: A) -> A {
        left.maximum(right)
    }
}
