//! Any operator, made to start anew at marked elements.
//!
//! Schwartz, "Ultracomputers", ACM TOPLAS 2 (1980): the pair of a value and a flag is again a
//! monoid, so a segmented scan is a plain scan over such pairs.

use super::Padded;
use crate::{Element, Operator, operator};

/// A value and a flag: whether a segment starts here ([`Segmented`]), or whether the value is there
/// at all ([`LastValid`](super::LastValid)).
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
    #[inline(always)]
    pub fn new(value: T, flag: bool) -> Self {
        Self { value, flag: flag.into() }
    }

    /// Whether the flag is set.
    #[inline(always)]
    pub fn is_set(self) -> bool {
        self.flag != T::CLEAR
    }
}

/// Segmented `O`: values are combined by `O` from the last set flag on.
///
/// Associative whenever `O` is; never commutative.
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
