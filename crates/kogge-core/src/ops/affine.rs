//! Affine maps under composition: the scan of a first-order linear recurrence.
//!
//! The recurrence `yᵢ = aᵢ·yᵢ₋₁ + bᵢ` is the composition of the maps `x ↦ aᵢ·x + bᵢ` (Blelloch,
//! "Prefix sums and their applications", 1990, section 1.4).

use crate::{Element, Number, operator};

/// The map `x ↦ a·x + b`.
///
/// ```
/// use kogge_core::ops::Affine;
///
/// // Half of what was there, and one more.
/// let map = Affine { a: 0.5, b: 1.0 };
/// assert_eq!(map.a * 6.0 + map.b, 4.0);
/// ```
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
/// Product and sum are rounded separately; nothing is fused. Integers wrap. The identity,
/// `x ↦ 1·x - 0`, is one beside finite coefficients: ∞ times zero is no number. Engines never
/// combine with it; give no initial value rather than that one.
///
/// ```
/// use kogge_core::ops::{Affine, Compose};
/// use kogge_core::{Kind, Order, reference};
///
/// // y = 2·y + 1, then y = 3·y, then y = y + 5, from y = 0.
/// let maps = [(2, 1), (3, 0), (1, 5)].map(|(a, b)| Affine { a, b });
/// let order = Order::of::<Affine<i32>>();
/// let scan = reference::scan(&maps, &Compose, order, Kind::Inclusive, None);
/// let y: Vec<i32> = scan.values.iter().map(|map| map.b).collect();
/// assert_eq!(y, [1, 3, 8]);
/// ```
#[operator(identity = Affine { a: T::ONE, b: T::SUM_IDENTITY }, exact = T::EXACT)]
pub fn Compose<T: Number>(left: Affine<T>, right: Affine<T>) -> Affine<T>
where
    Affine<T>: Element,
{
    Affine::<T> { a: left.a * right.a, b: left.b * right.a + right.b }
}
