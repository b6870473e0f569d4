//! How the elements of a file go through a scan of the library: packed, scanned, unpacked.

use bytemuck::{Pod, Zeroable};
use kogge::ops::{Affine, Compose, Indexed, LastValid, Padded};
use kogge::{Accumulate, Compact, Element, Number, Operator};
use std::marker::PhantomData;

/// One way through the library, all types known.
pub trait Recipe: Send + Sync + 'static {
    /// What the buffers hold before the scan.
    type Input: Pod + Send + Sync;
    /// What the library scans.
    type Element: Accumulate<Self::Accumulator>;
    /// What it accumulates in.
    type Accumulator: Element<Accumulator = Self::Accumulator>;
    /// By what.
    type Operator: Operator<Self::Accumulator>
        + Operator<<Self::Element as Element>::Accumulator>
        + Copy
        + Default
        + Send
        + 'static;
    /// What the buffers hold after the scan.
    type Output: Pod + Send + Sync;

    /// Whether input, element and output are one type, and packing and unpacking do nothing.
    const PLAIN: bool;
    /// Whether the last value also stands where elements are missing.
    const FILLS: bool;

    /// The element made from the input at this index.
    fn pack(input: Self::Input, index: u64) -> Self::Element;
    /// The output made from a scanned element.
    fn unpack(element: Self::Element) -> Self::Output;
    /// The accumulator that these bytes of an `--init` mean.
    fn init(bytes: &[u8]) -> Self::Accumulator;
}

/// Whether an operator fills in missing elements.
pub trait Fills {
    /// `true` for forward fill alone.
    const FILLS: bool = false;
}

/// A scan of numbers as they are.
pub struct Plain<T, A, O>(PhantomData<(T, A, O)>);

impl<T, A, O> Recipe for Plain<T, A, O>
where
    T: Accumulate<A>,
    A: Element<Accumulator = A>,
    O: Operator<A> + Operator<T::Accumulator> + Fills + Copy + Default + Send + 'static,
{
    type Input = T;
    type Element = T;
    type Accumulator = A;
    type Operator = O;
    type Output = T;
    const PLAIN: bool = true;
    const FILLS: bool = O::FILLS;

    fn pack(input: T, _: u64) -> T {
        input
    }
    fn unpack(element: T) -> T {
        element
    }
    fn init(bytes: &[u8]) -> A {
        bytemuck::pod_read_unaligned(bytes)
    }
}

/// A scan of numbers with their places; gives the places.
pub struct Place<T, O>(PhantomData<(T, O)>);

impl<T, O> Recipe for Place<T, O>
where
    T: Padded,
    Indexed<T>: Element<Accumulator = Indexed<T>>,
    O: Operator<Indexed<T>> + Copy + Default + Send + 'static,
{
    type Input = T;
    type Element = Indexed<T>;
    type Accumulator = Indexed<T>;
    type Operator = O;
    type Output = i64;
    const PLAIN: bool = false;
    const FILLS: bool = false;

    fn pack(input: T, index: u64) -> Indexed<T> {
        Indexed::new(input, index)
    }
    /// The identity's index, `u64::MAX`, becomes −1.
    fn unpack(element: Indexed<T>) -> i64 {
        element.index.cast_signed()
    }
    fn init(_: &[u8]) -> Indexed<T> {
        Indexed::zeroed()
    }
}

/// A linear recurrence over pairs (a, b); gives y.
pub struct Recurrence<T>(PhantomData<T>);

impl<T> Recipe for Recurrence<T>
where
    T: Number,
    Affine<T>: Element<Accumulator = Affine<T>>,
{
    type Input = [T; 2];
    type Element = Affine<T>;
    type Accumulator = Affine<T>;
    type Operator = Compact<Compose>;
    type Output = T;
    const PLAIN: bool = false;
    const FILLS: bool = false;

    fn pack([a, b]: [T; 2], _: u64) -> Affine<T> {
        Affine { a, b }
    }
    /// Composed with a constant map, or taken at 0, `b` is the value.
    fn unpack(element: Affine<T>) -> T {
        element.b
    }
    fn init(bytes: &[u8]) -> Affine<T> {
        Affine { a: T::zeroed(), b: bytemuck::pod_read_unaligned(bytes) }
    }
}

/// Forward fill of integers, none of which is missing: the last one.
#[derive(Clone, Copy, Default)]
pub struct LastPresent;

macro_rules! last_present {
    ($($type:ty),+) => {$(
        impl Operator<$type> for LastPresent {
            const EXACT: bool = true;
            const NONBLOCKING: bool = true;
            fn identity(&self) -> $type {
                0
            }
            fn combine(&self, _: $type, right: $type) -> $type {
                right
            }
        }
    )+};
}

last_present!(u8, u16, u32, u64);

macro_rules! never_fills {
    ($($operator:ident),+) => {$(
        impl Fills for kogge::ops::$operator {}
    )+};
}

never_fills!(Sum, Product, Min, Max, BitAnd, BitOr, BitXor, LogAddExp);

impl Fills for LastValid {
    const FILLS: bool = true;
}

impl Fills for LastPresent {
    const FILLS: bool = true;
}

impl<O: Fills> Fills for Compact<O> {
    const FILLS: bool = O::FILLS;
}
