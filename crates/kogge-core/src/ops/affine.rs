//! Affine maps under composition: the scan of a first-order linear recurrence.
//!
//! The recurrence `yᵢ = aᵢ·yᵢ₋₁ + bᵢ` is the composition of the maps `x ↦ aᵢ·x + bᵢ` (Blelloch,
//! "Prefix sums and their applications", 1990, section 1.4).

use crate::{Element, Number, operator};

/// The map `x ↦ a·x + b`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Element)]
#[element(T = [i32, i64, u32, u64, f32, f64])]
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
#[operator(identity = Affine { a: T::ONE, b: T::SUM_IDENTITY }, exact = T::EXACT)]
pub fn Compose<T: Number>(left: Affine<T>, right: Affine<T>) -> Affine<T>
where
    Affine<T>: Element,
{
    Affine::<T> { a: left.a * right.a, b: left.b * right.a + right.b }
}
