//! A scan to be done: what the caller asked for, before any engine or tuning is known.

use crate::Order;

/// Whether the value at `i` takes in the element at `i`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The value at `i` combines the elements `0..=i`.
    #[default]
    Inclusive,
    /// The value at `i` combines the elements `0..i`; the first is `init`, or the identity.
    Exclusive,
}

/// From which end the sequence is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the first element to the last.
    #[default]
    Forward,
    /// From the last element to the first; values stay at their elements' places.
    Reverse,
}

/// The size and kind of a one-dimensional scan. Engines turn it into a plan without touching data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Elements to scan.
    pub len: u64,
    /// Bytes of an element as read; fixes the [`Order`].
    pub element_bytes: usize,
    /// Bytes of an element as written.
    pub output_bytes: usize,
    /// Bytes of an accumulator.
    pub accumulator_bytes: usize,
    /// Inclusive or exclusive.
    pub kind: Kind,
    /// Forward or reverse.
    pub direction: Direction,
    /// Whether the output overwrites the input.
    pub in_place: bool,
}

impl Problem {
    /// The order of combination of this problem.
    pub const fn order(&self) -> Order {
        Order::of_size(self.element_bytes)
    }
}
