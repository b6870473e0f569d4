//! A scan to be done: what the caller asked for, before any engine or tuning is known.

use crate::Order;

/// Whether the value at `i` takes in the element at `i`.
///
/// ```
/// use kogge_core::{Kind, Order, ops::Sum, reference};
///
/// let scan = |kind| reference::scan(&[1, 2, 3], &Sum, Order::of::<i32>(), kind, Some(10)).values;
/// assert_eq!(scan(Kind::Inclusive), [11, 13, 16]);
/// assert_eq!(scan(Kind::Exclusive), [10, 11, 13]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The value at `i` combines the elements `0..=i`.
    #[default]
    Inclusive,
    /// The value at `i` combines the elements `0..i`; the first is `init`, or the identity.
    Exclusive,
}

/// From which end the sequence is read.
///
/// ```
/// use kogge_core::Direction;
///
/// let first = |x: &[i32], direction| match direction {
///     Direction::Forward => x.first().copied(),
///     Direction::Reverse => x.last().copied(),
/// };
/// assert_eq!(first(&[1, 2, 3], Direction::default()), Some(1));
/// assert_eq!(first(&[1, 2, 3], Direction::Reverse), Some(3));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the first element to the last.
    #[default]
    Forward,
    /// From the last element to the first; values stay at their elements' places.
    Reverse,
}

/// The size and kind of a one-dimensional scan. Engines turn it into a plan without touching data.
///
/// ```
/// use kogge_core::{Direction, Kind, Problem};
///
/// // A million f16, summed up in f32.
/// let problem = Problem {
///     len: 1_000_000,
///     element_bytes: 2,
///     output_bytes: 2,
///     accumulator_bytes: 4,
///     kind: Kind::Inclusive,
///     direction: Direction::Forward,
///     in_place: true,
/// };
/// assert_eq!(problem.len.div_ceil(problem.order().tile() as u64), 62);
/// ```
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
    ///
    /// ```
    /// use kogge_core::{Direction, Kind, Order, Problem, f16};
    ///
    /// let problem = Problem {
    ///     len: 100,
    ///     element_bytes: 2,
    ///     output_bytes: 4,
    ///     accumulator_bytes: 4,
    ///     kind: Kind::Inclusive,
    ///     direction: Direction::Forward,
    ///     in_place: false,
    /// };
    /// assert_eq!(problem.order(), Order::of::<f16>());
    /// ```
    pub const fn order(&self) -> Order {
        Order::of_size(self.element_bytes)
    }
}
