//! The smallest value and where it first stands.

use super::Padded;
use crate::{Element, OrderedNumber, operator};

/// A value and its 64-bit index; 16 bytes for every built-in number.
///
/// ```
/// use kogge_core::ops::Indexed;
///
/// let peak = Indexed::new(2.5f32, 7);
/// assert_eq!((peak.value, peak.index), (2.5, 7));
/// assert_eq!(size_of::<Indexed<u8>>(), size_of::<Indexed<f64>>());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Element)]
#[element(T = [i8, i16, i32, i64, u8, u16, u32, u64, f32, f64])]
#[repr(C)]
pub struct Indexed<T: Padded> {
    /// Where the value stands.
    pub index: u64,
    /// The value.
    pub value: T,
    fill: T::Fill,
}

impl<T: Padded> Indexed<T> {
    /// The value at this index.
    ///
    /// ```
    /// use kogge_core::ops::Indexed;
    ///
    /// let numbered: Vec<_> = (0..).zip([3, 1]).map(|(i, x)| Indexed::new(x, i)).collect();
    /// assert_eq!(numbered, [Indexed::new(3, 0), Indexed::new(1, 1)]);
    /// ```
    #[inline(always)]
    pub fn new(value: T, index: u64) -> Self {
        Self { index, value, fill: T::Fill::default() }
    }
}

/// The smaller value with its index; of equals the one with the lower index. Exactly associative.
///
/// The order is that of [`Min`](super::Min): `-0.0` before `0.0`, and a NaN wins over every number.
/// The identity's index is `u64::MAX`.
///
/// ```
/// use kogge_core::ops::{ArgMin, Indexed};
/// use kogge_core::{Kind, Order, reference};
///
/// let x: Vec<_> = (0..).zip([4, 2, 7, 2]).map(|(i, x)| Indexed::new(x, i)).collect();
/// let order = Order::of::<Indexed<i32>>();
/// let scan = reference::scan(&x, &ArgMin, order, Kind::Inclusive, None);
/// let found: Vec<_> = scan.values.iter().map(|best| (best.value, best.index)).collect();
/// assert_eq!(found, [(4, 0), (2, 1), (2, 1), (2, 1)]);
/// ```
#[operator(identity = Indexed::new(T::HIGHEST, u64::MAX), exact)]
pub fn ArgMin<T: Padded + OrderedNumber>(left: Indexed<T>, right: Indexed<T>) -> Indexed<T>
where
    Indexed<T>: Element,
{
    let right_wins = right.value.precedes(left.value);
    let left_wins = left.value.precedes(right.value);
    if right_wins || (!left_wins && right.index < left.index) { right } else { left }
}
