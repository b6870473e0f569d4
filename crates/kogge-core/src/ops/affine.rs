//! Affine maps under composition: the scan of a first-order linear recurrence.
//!
//! The recurrence `yᵢ = aᵢ·yᵢ₋₁ + bᵢ` is the composition of the maps `x ↦ aᵢ·x + bᵢ` (Blelloch,
//! "Prefix sums and their applications", 1990, section 1.4).

use crate::{Element, Number, Operator};

/// The map `x ↦ a·x + b`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Affine<T> {
    /// The factor.
    pub a: T,
    /// The summand.
    pub b: T,
}

/// Composition: the map that applies the left map, then the right one. Not commutative.
///
/// Product and sum are rounded separately; nothing is fused. Integers wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compose;

impl<T: Number> Operator<Affine<T>> for Compose
where
    Affine<T>: Element,
{
    const EXACT: bool = T::EXACT;
    #[inline(always)]
    fn identity(&self) -> Affine<T> {
        Affine { a: T::ONE, b: T::SUM_IDENTITY }
    }
    #[inline(always)]
    fn combine(&self, left: Affine<T>, right: Affine<T>) -> Affine<T> {
        Affine { a: left.a.mul(right.a), b: left.b.mul(right.a).add(right.b) }
    }
}
