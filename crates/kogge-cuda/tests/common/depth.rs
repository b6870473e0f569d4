//! How much of a sweep a test goes through.

use super::{Random, boundary_lengths};
use kogge_core::Order;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// All of it.
    Whole,
    /// A part, drawn by lot from the test's own seed; all of it under `KOGGE_THOROUGH=1`.
    Sample,
}

/// Whether all is wanted, however long it takes.
pub fn thorough() -> bool {
    std::env::var("KOGGE_THOROUGH").is_ok_and(|value| value == "1")
}

impl Depth {
    fn whole(self) -> bool {
        self == Self::Whole || thorough()
    }

    /// All lengths around every boundary; of a sample, one of three: before, at, or after it.
    pub fn lengths(self, random: &mut Random, order: Order, most: usize) -> Vec<usize> {
        let mut lengths = boundary_lengths(order, most);
        if !self.whole() {
            lengths = lengths.chunks(3).map(|around| around[random.below(around.len())]).collect();
        }
        lengths
    }

    /// All of these; of a sample, so many.
    pub fn some<T: Copy>(self, random: &mut Random, all: &[T], count: usize) -> Vec<T> {
        let mut some = all.to_vec();
        while !self.whole() && some.len() > count {
            some.remove(random.below(some.len()));
        }
        some
    }
}
