//! Forward fill: the last value that isn't missing.

use super::{Flagged, Padded};
use crate::device::lang::Float;
use crate::{Element, operator};

/// The last value that isn't missing, else the left one. Exactly associative.
///
/// Among floats NaN is missing. [`Flagged`] values of any type are missing where the flag is 0.
///
/// ```
/// use kogge_core::{Kind, Order, ops::LastValid, reference};
///
/// let prices = [3.0, f64::NAN, f64::NAN, 4.5, f64::NAN];
/// let scan = reference::scan(&prices, &LastValid, Order::of::<f64>(), Kind::Inclusive, None);
/// assert_eq!(scan.values, [3.0, 3.0, 3.0, 4.5, 4.5]);
/// ```
#[operator(identity = T::NAN, exact)]
pub fn LastValid<T: Float>(left: T, right: T) -> T {
    if right != right { left } else { right }
}

#[operator(on = LastValid, identity = Flagged::new(bytemuck::Zeroable::zeroed(), false), exact)]
fn LastFlagged<T: Padded>(left: Flagged<T>, right: Flagged<T>) -> Flagged<T>
where
    Flagged<T>: Element,
{
    if right.flag != T::CLEAR { right } else { left }
}
