//! Forward fill: the last value that isn't missing.

use super::{Flagged, Padded};
use crate::{Element, Operator};

/// The last value that isn't missing, else the left one. Exactly associative.
///
/// Among floats NaN is missing. [`Flagged`] values of any type are missing where the flag is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastValid;

macro_rules! implement {
    ($($float:ty),+) => {$(
        impl Operator<$float> for LastValid {
            const EXACT: bool = true;
            #[inline(always)]
            fn identity(&self) -> $float {
                <$float>::NAN
            }
            #[inline(always)]
            fn combine(&self, left: $float, right: $float) -> $float {
                if right.is_nan() { left } else { right }
            }
        }
    )+};
}

implement!(f32, f64);

impl<T: Padded> Operator<Flagged<T>> for LastValid
where
    Flagged<T>: Element,
{
    const EXACT: bool = true;
    #[inline(always)]
    fn identity(&self) -> Flagged<T> {
        Flagged::new(bytemuck::Zeroable::zeroed(), false)
    }
    #[inline(always)]
    fn combine(&self, left: Flagged<T>, right: Flagged<T>) -> Flagged<T> {
        if right.is_set() { right } else { left }
    }
}
