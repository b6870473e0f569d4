//! Any operator, made to start anew at marked elements.
//!
//! Schwartz, "Ultracomputers", ACM TOPLAS 2 (1980): the pair of a value and a flag is again a
//! monoid, so a segmented scan is a plain scan over such pairs.

use super::Padded;
use crate::{Element, Operator};

/// A value and a flag: whether a segment starts here ([`Segmented`]), or whether the value is there
/// at all ([`LastValid`](super::LastValid)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Flagged<T: Padded> {
    /// The value.
    pub value: T,
    /// Zero or non-zero.
    pub flag: T::Flag,
}

impl<T: Padded> Flagged<T> {
    /// The value with this flag.
    #[inline(always)]
    pub fn new(value: T, flag: bool) -> Self {
        Self { value, flag: flag.into() }
    }

    /// Whether the flag is set.
    #[inline(always)]
    pub fn is_set(self) -> bool {
        self.flag != T::Flag::default()
    }
}

/// Segmented `O`: values are combined by `O` from the last set flag on.
///
/// Associative whenever `O` is; never commutative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segmented<O>(
    /// The operator within a segment.
    pub O,
);

impl<T, O> Operator<Flagged<T>> for Segmented<O>
where
    T: Padded,
    O: Operator<T>,
    Flagged<T>: Element,
{
    const EXACT: bool = O::EXACT;
    #[inline(always)]
    fn identity(&self) -> Flagged<T> {
        Flagged::new(self.0.identity(), false)
    }
    #[inline(always)]
    fn combine(&self, left: Flagged<T>, right: Flagged<T>) -> Flagged<T> {
        let joined = self.0.combine(left.value, right.value);
        let value = if right.is_set() { right.value } else { joined };
        Flagged::new(value, left.is_set() | right.is_set())
    }
}
