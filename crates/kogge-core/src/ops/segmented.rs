//! Any operator, made to start anew at marked elements.
//!
//! Schwartz, "Ultracomputers", ACM TOPLAS 2 (1980): the pair of a value and a flag is again a
//! monoid, so a segmented scan is a plain scan over such pairs.

use super::Padded;
use crate::{Element, Operator, operator};

/// A value and a flag: whether a segment starts here ([`Segmented`]), or whether the value is there
/// at all ([`LastValid`](super::LastValid)).
///
/// ```
/// use kogge_core::ops::Flagged;
///
/// let start = Flagged::new(5i32, true);
/// assert_eq!((start.value, start.flag), (5, 1));
/// assert_eq!(Flagged::new(5i32, false), Flagged { value: 5, flag: 0 });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Element)]
#[element(T = [i8, i16, i32, i64, u8, u16, u32, u64, f32, f64])]
#[repr(C)]
pub struct Flagged<T: Padded> {
    /// The value.
    pub value: T,
    /// Zero or non-zero.
    pub flag: T::Flag,
}

impl<T: Padded> Flagged<T> {
    /// The value with this flag.
    ///
    /// ```
    /// use kogge_core::ops::{Flagged, LastValid};
    /// use kogge_core::Operator;
    ///
    /// let (known, missing) = (Flagged::new(7u8, true), Flagged::new(0, false));
    /// assert_eq!(LastValid.combine(known, missing), known);
    /// ```
    #[inline(always)]
    pub fn new(value: T, flag: bool) -> Self {
        Self { value, flag: flag.into() }
    }

    /// Whether the flag is set.
    ///
    /// ```
    /// use kogge_core::ops::Flagged;
    ///
    /// assert!(Flagged::new(7, true).is_set());
    /// assert!(Flagged { value: 7u8, flag: 255 }.is_set());
    /// assert!(!Flagged::new(7, false).is_set());
    /// ```
    #[inline(always)]
    pub fn is_set(self) -> bool {
        self.flag != T::CLEAR
    }
}

/// Segmented `O`: values are combined by `O` from the last set flag on.
///
/// Associative whenever `O` is; never commutative. Of elements that [`Flagged`] isn't made for
/// (affine maps, matrices, your own structs) the pair is an array of two, of which [`marked`] makes
/// the second one a flag; not on a GPU. Where an operator of any kind is to start anew is said
/// beside the elements, too, by the builder's segments, which are faster.
///
/// ```
/// use kogge_core::ops::{Flagged, Segmented, Sum};
/// use kogge_core::{Kind, Order, reference};
///
/// let x = [(1, false), (2, false), (3, true), (4, false)].map(|(x, f)| Flagged::new(x, f));
/// let order = Order::of::<Flagged<i32>>();
/// let scan = reference::scan(&x, &Segmented(Sum), order, Kind::Inclusive, None);
/// let sums: Vec<i32> = scan.values.iter().map(|sum| sum.value).collect();
/// assert_eq!(sums, [1, 3, 3, 7]);
/// ```
#[operator(identity = Flagged::new(inner.identity(), false), exact = O::EXACT)]
pub fn Segmented<T: Padded, O: Operator<T>>(
    inner: &O,
    left: Flagged<T>,
    right: Flagged<T>,
) -> Flagged<T>
where
    Flagged<T>: Element,
{
    let joined = inner.combine(left.value, right.value);
    let starts = right.flag != T::CLEAR;
    Flagged::<T> {
        value: if starts { right.value } else { joined },
        flag: if starts | (left.flag != T::CLEAR) { T::SET } else { T::CLEAR },
    }
}

/// An element, and whether a segment starts there, for [`Segmented`]: the second of the two counts
/// as a flag, which is set unless all of its bytes are 0.
///
/// ```
/// use kogge_core::ops::{Affine, Compose, Segmented, marked};
/// use kogge_core::{Kind, Order, reference};
///
/// let steps = [(2, false), (3, false), (5, true), (7, false)];
/// let maps = steps.map(|(b, starts)| marked(Affine { a: 2, b }, starts));
/// let order = Order::of::<[Affine<i32>; 2]>();
/// let scan = reference::scan(&maps, &Segmented(Compose), order, Kind::Inclusive, None);
/// let y: Vec<i32> = scan.values.iter().map(|[map, _]| map.b).collect();
/// assert_eq!(y, [2, 7, 5, 17]);
/// ```
#[inline(always)]
pub fn marked<T: Element>(value: T, starts: bool) -> [T; 2] {
    let mut flag = T::zeroed();
    bytemuck::bytes_of_mut(&mut flag).fill(starts.into());
    [value, flag]
}

impl<T: Element<Accumulator = T>, O: Operator<T>> Operator<[T; 2]> for Segmented<O> {
    const EXACT: bool = O::EXACT;
    const NONBLOCKING: bool = O::NONBLOCKING;
    const COMPACT: bool = O::COMPACT;
    #[inline(always)]
    fn identity(&self) -> [T; 2] {
        [self.0.identity(), T::zeroed()]
    }
    #[inline(always)]
    fn combine(&self, left: [T; 2], right: [T; 2]) -> [T; 2] {
        let joined = self.0.combine(left[0], right[0]);
        let starts = bytemuck::bytes_of(&right[1]).iter().fold(0, |any, byte| any | byte) != 0;
        if starts { right } else { [joined, left[1]] }
    }
}
