//! Addition.

use crate::{Number, Operator};

/// The sum. Integers wrap around; the float identity is `-0.0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum;

impl<A: Number> Operator<A> for Sum {
    const EXACT: bool = A::EXACT;
    #[inline(always)]
    fn identity(&self) -> A {
        A::SUM_IDENTITY
    }
    #[inline(always)]
    fn combine(&self, left: A, right: A) -> A {
        left.add(right)
    }
}
