//! The largest value and where it first stands.

use super::{Indexed, Padded};
use crate::{Element, OrderedNumber, operator};

/// The larger value with its index; of equals the one with the lower index. Exactly associative.
///
/// The order is that of [`Max`](super::Max): `0.0` after `-0.0`, and a NaN wins over every number.
/// The identity's index is `u64::MAX`.
///
/// ```
/// use kogge_core::ops::{ArgMax, Indexed};
/// use kogge_core::{Kind, Order, reference};
///
/// let x: Vec<_> = (0..).zip([4, 2, 7, 7]).map(|(i, x)| Indexed::new(x, i)).collect();
/// let order = Order::of::<Indexed<i32>>();
/// let scan = reference::scan(&x, &ArgMax, order, Kind::Inclusive, None);
/// let found: Vec<_> = scan.values.iter().map(|best| (best.value, best.index)).collect();
/// assert_eq!(found, [(4, 0), (4, 0), (7, 2), (7, 2)]);
/// ```
#[operator(identity = Indexed::new(T::LOWEST, u64::MAX), exact)]
pub fn ArgMax<T: Padded + OrderedNumber>(left: Indexed<T>, right: Indexed<T>) -> Indexed<T>
where
    Indexed<T>: Element,
{
    let right_wins = right.value.exceeds(left.value);
    let left_wins = left.value.exceeds(right.value);
    if right_wins || (!left_wins && right.index < left.index) { right } else { left }
}
