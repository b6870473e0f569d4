//! Elements: plain old data, each with the type that its partial results are held in.
//!
//! For most types that is the type itself. `f16` and `bf16` are combined in `f32`, because rounding
//! every partial result to 8 or 11 bits of mantissa would lose most of a sum. A wider accumulator
//! can be asked for: [`Accumulate`] lists which pairs exist.

use crate::device::lang;
use bytemuck::Pod;
use half::{bf16, f16};
use std::marker::PhantomData;

/// What a scan reads and writes: plain old data of any size.
///
/// Implemented for `i8`…`i64`, `u8`…`u64`, `f16`, `bf16`, `f32`, `f64`, arrays, and by
/// [`element!`](macro@crate::element) (or `#[derive(kogge::Element)]`) for `repr(C)` structs.
///
/// The size of the element fixes the [`Order`](crate::Order) of combination, and so the bits of a
/// result: `usize` and `isize`, whose size is the machine's, are none. Where they have 64 bits,
/// `bytemuck::cast_slice::<usize, u64>` makes elements of them without a copy.
///
/// ```
/// use kogge_core::{Element, Order, f16};
///
/// #[derive(Clone, Copy, Element)]
/// #[repr(C)]
/// struct Point {
///     x: f32,
///     y: f32,
/// }
/// assert_eq!(Order::of::<Point>().chunk(), 2);
/// assert_eq!(size_of::<<f16 as Element>::Accumulator>(), 4);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element",
    note = "use i8…i64, u8…u64, f32, f64, arrays of them, a `#[derive(kogge::Element)]` struct of them, or f16 or bf16",
    note = "`usize` and `isize` have the machine's size: `bytemuck::cast_slice::<usize, u64>` makes `u64` of them where that has 64 bits"
)]
pub trait Element: Pod + Send + Sync {
    /// What partial results are held in: `f32` for `f16` and `bf16`, else the type itself.
    type Accumulator: Element;
}

/// Elements that can be accumulated in `A`: every element in its own [`Element::Accumulator`], and
/// in the wider types listed below.
///
/// `widen` is exact. `narrow` rounds floats to nearest even and wraps integers around; from a float
/// to an integer it truncates and saturates, and NaN becomes 0.
///
/// Neither waits for another thread: an engine's threads may wait for one that calls them.
///
/// ```
/// use kogge_core::Accumulate;
///
/// let widened: u32 = Accumulate::<u32>::widen(200u8);
/// assert_eq!(widened + 100, 300);
/// assert_eq!(<u8 as Accumulate<u32>>::narrow(300), 44);
/// assert_eq!(<i32 as Accumulate<f64>>::narrow(1e20), i32::MAX);
/// ```
pub trait Accumulate<A: Element>: Element {
    /// Whether the element is the accumulator, so that nothing need be converted.
    const SAME: Same<Self, A> = Same::UNKNOWN;

    /// Which half the element is, if it is one: what engines needn't compile for the others.
    #[doc(hidden)]
    const HALF: Option<Half> = None;

    /// The element as an accumulator; exact.
    fn widen(self) -> A;

    /// The accumulator as an element.
    fn narrow(accumulator: A) -> Self;
}

/// What is known of two types: that they are one, or nothing. Engines take a `T` for an `A` on the
/// strength of it, so that they are one can't be said of any others.
///
/// ```
/// use kogge_core::{Accumulate, Same};
///
/// assert!(<f32 as Accumulate<f32>>::SAME.holds());
/// assert!(!<f32 as Accumulate<f64>>::SAME.holds());
/// ```
///
/// ```compile_fail
/// # use kogge_core::Same;
/// const WRONG: Same<u8, f64> = Same::KNOWN;
/// ```
pub struct Same<T, A> {
    known: bool,
    types: PhantomData<fn(T) -> A>,
}

impl<T, A> Same<T, A> {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self { known: false, types: PhantomData };

    /// Whether they are known to be one type.
    pub const fn holds(&self) -> bool {
        self.known
    }
}

impl<T> Same<T, T> {
    /// They are one type.
    pub const KNOWN: Self = Self { known: true, types: PhantomData };
}

/// A format of two bytes.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// [`f16`].
    F16,
    /// [`bf16`].
    BF16,
}

impl<T: Element<Accumulator = T>> Accumulate<T> for T {
    const SAME: Same<T, T> = Same::KNOWN;

    #[inline(always)]
    fn widen(self) -> T {
        self
    }
    #[inline(always)]
    fn narrow(accumulator: T) -> T {
        accumulator
    }
}

/// Implements [`Element`] for types that are accumulated in themselves.
///
/// The types must be [`bytemuck::Pod`]: `repr(C)`, no padding, every bit pattern valid.
///
/// ```
/// use kogge_core::{Element, bytemuck, element};
///
/// #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
/// #[repr(C)]
/// struct Span {
///     start: u32,
///     len: u32,
/// }
/// element!(Span);
/// assert_eq!(size_of::<<Span as Element>::Accumulator>(), 8);
/// ```
#[macro_export]
macro_rules! element {
    ($($type:ty),+ $(,)?) => {$(
        impl $crate::Element for $type {
            type Accumulator = Self;
        }
    )+};
}

impl<T: Element<Accumulator = T>, const N: usize> Element for [T; N] {
    type Accumulator = Self;
}

element!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);

macro_rules! half_element {
    ($($half:ty, $format:ident;)+) => {$(
        impl Element for $half {
            type Accumulator = f32;
        }
        impl Accumulate<f32> for $half {
            const HALF: Option<Half> = Some(Half::$format);

            #[inline(always)]
            fn widen(self) -> f32 {
                self.to_f32()
            }
            #[inline(always)]
            fn narrow(accumulator: f32) -> Self {
                Self::from_f32(accumulator)
            }
        }
        impl Accumulate<f64> for $half {
            #[inline(always)]
            fn widen(self) -> f64 {
                self.to_f64()
            }
            #[inline(always)]
            fn narrow(accumulator: f64) -> Self {
                // `from_f64` drops low bits before it rounds, on some CPUs more than on others.
                Self::from_f32(round_to_odd(accumulator))
            }
        }
    )+};
}

/// The nearest `f32` if exact, else the neighbour whose last bit is set, so that rounding once more
/// to a format at least two bits narrower is as good as rounding once (Boldo & Melquiond,
/// "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008).
#[inline(always)]
fn round_to_odd(x: f64) -> f32 {
    let nearest = x as f32;
    let back = f64::from(nearest);
    if back == x || x.is_nan() {
        return nearest;
    }
    let beyond = (back.abs() > x.abs()) as u32;
    f32::from_bits((nearest.to_bits() - beyond) | 1)
}

half_element! {
    f16, F16;
    bf16, BF16;
}

macro_rules! accumulate {
    ($($narrow:ty => $($wide:ty),+;)+) => {$($(
        impl Accumulate<$wide> for $narrow {
            #[inline(always)]
            fn widen(self) -> $wide {
                <$wide>::from(self)
            }
            #[inline(always)]
            fn narrow(accumulator: $wide) -> Self {
                accumulator as $narrow
            }
        }
    )+)+};
}

accumulate! {
    i8 => i16, i32, i64, f32, f64;
    i16 => i32, i64, f32, f64;
    i32 => i64, f64;
    u8 => u16, u32, u64, i16, i32, i64, f32, f64;
    u16 => u32, u64, i32, i64, f32, f64;
    u32 => u64, i64, f64;
    f32 => f64;
}

/// Arithmetic as kogge defines it: integers wrap around, floats follow IEEE 754.
///
/// ```
/// use kogge_core::{Kind, Number, Order, ops::Product, reference};
///
/// fn powers<T: Number>(x: T) -> Vec<T> {
///     let order = Order::of::<T>();
///     reference::scan(&[T::ONE, x, x, x], &Product, order, Kind::Inclusive, None).values
/// }
/// assert_eq!(powers(0.5), [1.0, 0.5, 0.25, 0.125]);
/// assert_eq!(powers(16u8), [1, 16, 0, 0]);
/// ```
pub trait Number: Element + lang::Arithmetic {
    /// Zero; for floats `-0.0`, the identity of IEEE addition (`-0.0 + 0.0` is `0.0`).
    const SUM_IDENTITY: Self;
    /// One.
    const ONE: Self;
    /// Whether addition and multiplication are associative to the last bit.
    const EXACT: bool;
}

/// Numbers in a total order in which `-0.0 < 0.0` and NaN propagates.
///
/// ```
/// use kogge_core::OrderedNumber;
///
/// assert_eq!(OrderedNumber::maximum(3, 7), 7);
/// assert!(OrderedNumber::minimum(0.0, -0.0f64).is_sign_negative());
/// assert!(OrderedNumber::minimum(1.0, f64::NAN).is_nan());
/// assert_eq!(OrderedNumber::maximum(f64::LOWEST, -1e300), -1e300);
/// ```
pub trait OrderedNumber: Number {
    /// The identity of `minimum`: the largest value (`∞` for floats).
    const HIGHEST: Self;
    /// The identity of `maximum`: the smallest value (`-∞` for floats).
    const LOWEST: Self;

    /// The smaller; NaN if either is (the left one's payload first), `-0.0` before `0.0`.
    fn minimum(self, other: Self) -> Self;
    /// The larger; NaN if either is (the left one's payload first), `0.0` before `-0.0`.
    fn maximum(self, other: Self) -> Self;
    /// Whether `minimum` prefers this value: it is smaller, or a NaN beside a number.
    fn precedes(self, other: Self) -> bool;
    /// Whether `maximum` prefers this value: it is larger, or a NaN beside a number.
    fn exceeds(self, other: Self) -> bool;
}

macro_rules! integer {
    ($($type:ty),+) => {$(
        impl Number for $type {
            const SUM_IDENTITY: Self = 0;
            const ONE: Self = 1;
            const EXACT: bool = true;
        }
        impl OrderedNumber for $type {
            const HIGHEST: Self = <$type>::MAX;
            const LOWEST: Self = <$type>::MIN;
            #[inline(always)]
            fn minimum(self, other: Self) -> Self {
                self.min(other)
            }
            #[inline(always)]
            fn maximum(self, other: Self) -> Self {
                self.max(other)
            }
            #[inline(always)]
            fn precedes(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn exceeds(self, other: Self) -> bool {
                self > other
            }
        }
    )+};
}

integer!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! float {
    ($($type:ty),+) => {$(
        impl Number for $type {
            const SUM_IDENTITY: Self = -0.0;
            const ONE: Self = 1.0;
            const EXACT: bool = false;
        }
        impl OrderedNumber for $type {
            const HIGHEST: Self = <$type>::INFINITY;
            const LOWEST: Self = <$type>::NEG_INFINITY;
            #[inline(always)]
            fn minimum(self, other: Self) -> Self {
                // Equal values may be zeros of either sign: `|` keeps the minus.
                let equal = <$type>::from_bits(self.to_bits() | other.to_bits());
                let ordered = if self < other { self } else { other };
                let number = if self == other { equal } else { ordered };
                if self.is_nan() { self } else { number }
            }
            #[inline(always)]
            fn maximum(self, other: Self) -> Self {
                // Equal values may be zeros of either sign: `&` drops the minus.
                let equal = <$type>::from_bits(self.to_bits() & other.to_bits());
                let ordered = if self > other { self } else { other };
                let number = if self == other { equal } else { ordered };
                if self.is_nan() { self } else { number }
            }
            #[inline(always)]
            fn precedes(self, other: Self) -> bool {
                let zeros = self == other && self.is_sign_negative() && !other.is_sign_negative();
                self < other || zeros || (self.is_nan() && !other.is_nan())
            }
            #[inline(always)]
            fn exceeds(self, other: Self) -> bool {
                let zeros = self == other && !self.is_sign_negative() && other.is_sign_negative();
                self > other || zeros || (self.is_nan() && !other.is_nan())
            }
        }
    )+};
}

float!(f32, f64);
