//! A Kogge–Stone scan whose inputs come one by one.
//!
//! The value of level k at place i needs only level k − 1 at the places i and i − 2ᵏ, so it is
//! enough to keep the levels of the places before.

use crate::{Element, Operator};

const WIDTH: usize = 32;
const LEVELS: usize = WIDTH.ilog2() as usize;

/// A Kogge–Stone scan of up to 32 values, given one by one, 5 combinations each at most.
///
/// ```
/// use kogge_core::{Ladder, ops::Sum};
///
/// let mut ladder = Ladder::new();
/// let values: Vec<i32> = (1..=5).map(|x| ladder.push(&Sum, x)).collect();
/// assert_eq!(values, [1, 3, 6, 10, 15]);
/// ```
#[derive(Clone, Debug)]
pub struct Ladder<A> {
    len: usize,
    /// `levels[k][i]` is the value at place `i` before the stride 2ᵏ; the last is the scan's.
    levels: [[A; WIDTH]; LEVELS + 1],
}

impl<A: Element> Ladder<A> {
    /// The scan of nothing.
    ///
    /// ```
    /// use kogge_core::Ladder;
    ///
    /// assert_eq!(Ladder::<i32>::new().last(), None);
    /// ```
    pub fn new() -> Self {
        Self { len: 0, levels: [[A::zeroed(); WIDTH]; LEVELS + 1] }
    }

    /// Starts anew.
    ///
    /// ```
    /// use kogge_core::{Ladder, ops::Sum};
    ///
    /// let mut ladder = Ladder::new();
    /// assert_eq!([ladder.push(&Sum, 1), ladder.push(&Sum, 2)], [1, 3]);
    /// ladder.clear();
    /// assert_eq!([ladder.push(&Sum, 1), ladder.push(&Sum, 2)], [1, 3]);
    /// ```
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Takes in the next value and gives its inclusive Kogge–Stone value.
    ///
    /// # Panics
    ///
    /// At the 33rd value.
    ///
    /// ```
    /// use kogge_core::{Ladder, ops::Sum};
    ///
    /// // The fourth value is (a + b) + (c + d), not ((a + b) + c) + d.
    /// let (mut ladder, x) = (Ladder::new(), [1e8f32, 1.0, 4.0, 4.0]);
    /// let values = x.map(|x| ladder.push(&Sum, x));
    /// assert_eq!(values[3], (x[0] + x[1]) + (x[2] + x[3]));
    /// assert_ne!(values[3], ((x[0] + x[1]) + x[2]) + x[3]);
    /// ```
    pub fn push<O: Operator<A>>(&mut self, operator: &O, mut value: A) -> A {
        let i = self.len;
        for k in 0..LEVELS {
            self.levels[k][i] = value;
            if let Some(left) = i.checked_sub(1 << k) {
                value = operator.combine(self.levels[k][left], value);
            }
        }
        self.levels[LEVELS][i] = value;
        self.len += 1;
        value
    }

    /// The value of the last place; `None` before the first.
    ///
    /// ```
    /// use kogge_core::{Ladder, ops::Max};
    ///
    /// let mut ladder = Ladder::new();
    /// [3, 9, 4].map(|x| ladder.push(&Max, x));
    /// assert_eq!(ladder.last(), Some(9));
    /// ```
    pub fn last(&self) -> Option<A> {
        Some(self.levels[LEVELS][self.len.checked_sub(1)?])
    }
}

impl<A: Element> Default for Ladder<A> {
    fn default() -> Self {
        Self::new()
    }
}
