//! The free functions: inclusive and exclusive, into a new vector, into a slice, and in place.

use crate::{Accumulate, Element, Error, Operator, Scan};

/// Combines each element with all before it, into a new vector.
///
/// `out[i] = input[0] ∘ … ∘ input[i]`, in the fixed [`Order`](crate::Order). O(n) work.
///
/// ```
/// use kogge::{inclusive_scan, ops::Sum};
///
/// assert_eq!(inclusive_scan(&[3, 1, 4, 1, 5], Sum), [3, 4, 8, 9, 14]);
/// ```
#[must_use = "it scans into a new vector; `inclusive_scan_in_place` changes its argument"]
pub fn inclusive_scan<T, O>(input: &[T], operator: O) -> Vec<T>
where
    T: Element + Accumulate<<T as Element>::Accumulator>,
    O: Operator<T::Accumulator>,
{
    Scan::new(operator).scan(input)
}

/// Combines each element with all before it, into a slice of the same length; gives the total. O(n)
/// work.
///
/// # Errors
///
/// [`Error::LengthMismatch`] if the slices differ in length; nothing is written then.
///
/// ```
/// use kogge::{inclusive_scan_into, ops::Product};
///
/// let mut powers = [0u64; 5];
/// let total = inclusive_scan_into(&[2; 5], &mut powers, Product)?;
/// assert_eq!(powers, [2, 4, 8, 16, 32]);
/// assert_eq!(total, 32);
/// # Ok::<_, kogge::Error>(())
/// ```
pub fn inclusive_scan_into<T, O>(
    input: &[T],
    output: &mut [T],
    operator: O,
) -> Result<T::Accumulator, Error>
where
    T: Element + Accumulate<<T as Element>::Accumulator>,
    O: Operator<T::Accumulator>,
{
    Scan::new(operator).scan_into(input, output)
}

/// Combines each element with all before it, in place; gives the total. O(n) work.
///
/// ```
/// use kogge::{inclusive_scan_in_place, ops::Min};
///
/// let mut lows = [5.0, 7.0, 3.5, 4.0];
/// inclusive_scan_in_place(&mut lows, Min);
/// assert_eq!(lows, [5.0, 5.0, 3.5, 3.5]);
/// ```
pub fn inclusive_scan_in_place<T, O>(data: &mut [T], operator: O) -> T::Accumulator
where
    T: Element + Accumulate<<T as Element>::Accumulator>,
    O: Operator<T::Accumulator>,
{
    Scan::new(operator).scan_in_place(data)
}

/// Combines all elements before each, into a new vector; the first value is the identity. Of sums
/// of floats that is `-0.0`: where the sign is seen, [`Scan::init`] with `0.0` begins with that.
///
/// `out[i] = input[0] ∘ … ∘ input[i - 1]`. For operators that round, `out[i]` need not have the
/// bits of the inclusive scan's value at `i - 1`: see [`Order`](crate::Order). O(n) work.
///
/// ```
/// use kogge::{exclusive_scan, ops::Sum};
///
/// let lengths = [3, 0, 2, 5];
/// let offsets = exclusive_scan(&lengths, Sum);
/// assert_eq!(offsets, [0, 3, 3, 5]);
/// ```
#[must_use = "it scans into a new vector; `exclusive_scan_in_place` changes its argument"]
pub fn exclusive_scan<T, O>(input: &[T], operator: O) -> Vec<T>
where
    T: Element + Accumulate<<T as Element>::Accumulator>,
    O: Operator<T::Accumulator>,
{
    Scan::new(operator).exclusive().scan(input)
}

/// Combines all elements before each, into a slice of the same length; gives the total. O(n) work.
///
/// # Errors
///
/// [`Error::LengthMismatch`] if the slices differ in length; nothing is written then.
///
/// ```
/// use kogge::{exclusive_scan_into, ops::Sum};
///
/// let mut offsets = [0u32; 3];
/// let size = exclusive_scan_into(&[4, 8, 15], &mut offsets, Sum)?;
/// assert_eq!((offsets, size), ([0, 4, 12], 27));
/// # Ok::<_, kogge::Error>(())
/// ```
pub fn exclusive_scan_into<T, O>(
    input: &[T],
    output: &mut [T],
    operator: O,
) -> Result<T::Accumulator, Error>
where
    T: Element + Accumulate<<T as Element>::Accumulator>,
    O: Operator<T::Accumulator>,
{
    Scan::new(operator).exclusive().scan_into(input, output)
}

/// Combines all elements before each, in place; gives the total. O(n) work.
///
/// ```
/// use kogge::{exclusive_scan_in_place, ops::Sum};
///
/// let mut counts = [2u64, 3, 4];
/// let total = exclusive_scan_in_place(&mut counts, Sum);
/// assert_eq!((counts, total), ([0, 2, 5], 9));
/// ```
pub fn exclusive_scan_in_place<T, O>(data: &mut [T], operator: O) -> T::Accumulator
where
    T: Element + Accumulate<<T as Element>::Accumulator>,
    O: Operator<T::Accumulator>,
{
    Scan::new(operator).exclusive().scan_in_place(data)
}
