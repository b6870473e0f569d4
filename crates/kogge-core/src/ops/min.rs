//! The minimum of what came so far.

use crate::{Operator, OrderedNumber};

/// The smaller. NaN propagates, with the payload of the first one; `-0.0` comes before `0.0`
/// (IEEE 754-2019 `minimum`). Exactly associative, for floats too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Min;

impl<A: OrderedNumber> Operator<A> for Min {
    const EXACT: bool = true;
    #[inline(always)]
    fn identity(&self) -> A {
        A::HIGHEST
    }
    #[inline(always)]
    fn combine(&self, left: A, right: A) -> A {
        left.minimum(right)
    }
}
