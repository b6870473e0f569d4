//! A Kogge–Stone scan whose inputs come one by one.
//!
//! The value of level k + 1 at place i needs only level k at the places i and i − 2ᵏ, so of level k
//! the last 2ᵏ values are enough: for 32 places 31 in all, and the last result.

use crate::{Element, Operator};
use std::mem;

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
    /// A ring of 2ᵏ values for each level k, from 2ᵏ − 1 on: before the stride 2ᵏ, that of place
    /// `i` is the `i % 2ᵏ`-th. Behind them the last result.
    kept: [A; WIDTH],
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
        Self { len: 0, kept: [A::zeroed(); WIDTH] }
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
    /// If the operator panics, only [`clear`](Self::clear) makes the ladder fit for use again.
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
        assert!(i < WIDTH, "a ladder has {WIDTH} places");
        for k in 0..LEVELS {
            let stride = 1 << k;
            let left = mem::replace(&mut self.kept[stride - 1 + i % stride], value);
            if i >= stride {
                value = operator.combine(left, value);
            }
        }
        self.kept[WIDTH - 1] = value;
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
        (self.len > 0).then(|| self.kept[WIDTH - 1])
    }
}

impl<A: Element> Default for Ladder<A> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::from_fn;

    /// Equal values of 3x + y, which isn't associative, mean equal brackets.
    #[test]
    fn every_value_has_the_brackets_of_kogge_and_stone() {
        let operator = from_fn(0u64, |x: u64, y: u64| x.wrapping_mul(3).wrapping_add(y));
        let inputs: Vec<u64> = (1..=WIDTH as u64).map(|i| i * i * 0x9e37_79b9).collect();
        let mut want = inputs.clone();
        for k in 0..LEVELS {
            let before = want.clone();
            for i in 1 << k..WIDTH {
                want[i] = operator.combine(before[i - (1 << k)], before[i]);
            }
        }
        let mut ladder = Ladder::new();
        // What was there before doesn't count.
        for turn in [WIDTH, 5, WIDTH] {
            ladder.clear();
            assert_eq!(ladder.last(), None);
            for i in 0..turn {
                assert_eq!(ladder.push(&operator, inputs[i]), want[i], "place {i}");
                assert_eq!(ladder.last(), Some(want[i]));
            }
        }
    }

    /// There may be one for each of many columns, of elements of up to 4 KiB.
    #[test]
    fn so_many_values_are_kept_as_there_are_places() {
        assert!(size_of::<Ladder<u64>>() <= (WIDTH + 1) * size_of::<u64>());
    }

    #[test]
    #[should_panic = "a ladder has 32 places"]
    fn more_places_are_refused() {
        let mut ladder = Ladder::new();
        for i in 0..=WIDTH as i32 {
            ladder.push(&crate::ops::Sum, i);
        }
    }
}
