//! How the elements of a file go through a scan of the library: packed, scanned, unpacked.

use bytemuck::{Pod, Zeroable};
use kogge::ops::{Affine, Indexed};
use kogge::{Accumulate, Element, Number, Operator};
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
    type Operator: Operator<Self::Accumulator> + Copy + Send + 'static;
    /// What the buffers hold after the scan.
    type Output: Pod + Send + Sync;

    /// Whether input, element and output are one type, and packing and unpacking do nothing.
    const PLAIN: bool;

    /// By which.
    fn operator(&self) -> Self::Operator;
    /// The element made from the input at this index.
    fn pack(input: Self::Input, index: u64) -> Self::Element;
    /// The output made from a scanned element.
    fn unpack(element: Self::Element) -> Self::Output;
    /// The accumulator that these bytes of an `--init` mean.
    fn init(bytes: &[u8]) -> Self::Accumulator;
}

/// A scan of numbers as they are.
pub struct Plain<T, A, O> {
    operator: O,
    types: PhantomData<fn(T) -> A>,
}

impl<T, A, O> Plain<T, A, O> {
    /// By this operator.
    pub fn new(operator: O) -> Self {
        Self { operator, types: PhantomData }
    }
}

impl<T, A, O> Recipe for Plain<T, A, O>
where
    T: Accumulate<A>,
    A: Element<Accumulator = A>,
    O: Operator<A> + Copy + Send + 'static,
{
    type Input = T;
    type Element = T;
    type Accumulator = A;
    type Operator = O;
    type Output = T;
    const PLAIN: bool = true;

    fn operator(&self) -> O {
        self.operator
    }
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

/// A scan of numbers of 8 bytes, whatever they mean, with their places; gives the places.
pub struct Place<O>(pub O);

impl<O: Operator<Indexed<u64>> + Copy + Send + 'static> Recipe for Place<O> {
    type Input = u64;
    type Element = Indexed<u64>;
    type Accumulator = Indexed<u64>;
    type Operator = O;
    type Output = i64;
    const PLAIN: bool = false;

    fn operator(&self) -> O {
        self.0
    }
    fn pack(input: u64, index: u64) -> Indexed<u64> {
        Indexed::new(input, index)
    }
    /// The identity's index, `u64::MAX`, becomes −1.
    fn unpack(element: Indexed<u64>) -> i64 {
        element.index.cast_signed()
    }
    fn init(_: &[u8]) -> Indexed<u64> {
        Indexed::zeroed()
    }
}

/// A linear recurrence over pairs (a, b); gives y.
pub struct Recurrence<T, O> {
    operator: O,
    number: PhantomData<fn(T)>,
}

impl<T, O> Recurrence<T, O> {
    /// By this composition.
    pub fn new(operator: O) -> Self {
        Self { operator, number: PhantomData }
    }
}

impl<T, O> Recipe for Recurrence<T, O>
where
    T: Number,
    Affine<T>: Element<Accumulator = Affine<T>>,
    O: Operator<Affine<T>> + Copy + Send + 'static,
{
    type Input = [T; 2];
    type Element = Affine<T>;
    type Accumulator = Affine<T>;
    type Operator = O;
    type Output = T;
    const PLAIN: bool = false;

    fn operator(&self) -> O {
        self.operator
    }
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
