//! The state of one line, element by element.
//!
//! An exactly associative operator needs one accumulator: any order gives the bits of the fixed one.
//! Any other needs a [`Stepper`], which keeps the fixed order.

use super::recipe::Recipe;
use kogge::{Accumulate, Kind, Operator, Order, Stepper};

/// The state of a scan between two elements.
pub enum Track<R: Recipe> {
    /// Everything so far, where any order gives the same bits.
    Exact(Option<R::Accumulator>),
    /// The state of the fixed order.
    Ordered(Box<Stepper<R::Accumulator>>),
}

impl<R: Recipe> Track<R> {
    const EXACT: bool = <R::Operator as Operator<R::Accumulator>>::EXACT;

    /// The state before the first element.
    pub fn new(init: Option<R::Accumulator>) -> Self {
        if Self::EXACT {
            Self::Exact(init)
        } else {
            Self::Ordered(Box::new(Stepper::new(Order::of::<R::Element>(), init)))
        }
    }

    /// Bytes of one state.
    pub fn size() -> usize {
        let stepper = if Self::EXACT { 0 } else { size_of::<Stepper<R::Accumulator>>() };
        size_of::<Self>() + stepper
    }

    /// Takes in the next element and gives its value.
    #[inline]
    pub fn step(&mut self, operator: &R::Operator, kind: Kind, element: R::Element) -> R::Element {
        let element = element.widen();
        R::Element::narrow(match self {
            Self::Ordered(stepper) => stepper.step(operator, kind, element),
            Self::Exact(through) => {
                let before = *through;
                let after = before.map_or(element, |before| operator.combine(before, element));
                *through = Some(after);
                match kind {
                    Kind::Inclusive => after,
                    Kind::Exclusive => before.unwrap_or_else(|| operator.identity()),
                }
            }
        })
    }

    /// Everything so far combined.
    pub fn total(&self, operator: &R::Operator) -> R::Accumulator {
        let total = match self {
            Self::Exact(through) => *through,
            Self::Ordered(stepper) => stepper.total(operator),
        };
        total.unwrap_or_else(|| operator.identity())
    }
}
