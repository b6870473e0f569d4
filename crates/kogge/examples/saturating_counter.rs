//! Counters that stop at their bounds: the two-bit branch predictor, over a whole trace at once.
//!
//! `x ↦ clamp(x + step, low, high)` is closed under composition, so a saturating counter is a scan,
//! although a saturating sum itself isn't associative.

use kogge::{Element, inclusive_scan, operator};

/// The map `x ↦ clamp(x + step, low, high)`.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Count {
    /// What is added.
    pub step: i32,
    /// The least result.
    pub low: i32,
    /// The greatest result.
    pub high: i32,
}

/// The left map, then the right one.
#[operator(identity = Count { step: 0, low: i32::MIN, high: i32::MAX })]
pub fn Advance(left: Count, right: Count) -> Count {
    Count {
        step: left.step.saturating_add(right.step),
        low: left.low.saturating_add(right.step).clamp(right.low, right.high),
        high: left.high.saturating_add(right.step).clamp(right.low, right.high),
    }
}

impl Count {
    /// A branch taken or not, for a counter from 0 to 3.
    pub fn branch(taken: bool) -> Self {
        Self { step: if taken { 1 } else { -1 }, low: 0, high: 3 }
    }

    /// The counter after all steps, if it started here.
    pub fn starting_at(self, start: i32) -> i32 {
        start.saturating_add(self.step).clamp(self.low, self.high)
    }
}

/// Runs the example.
pub fn main() {
    let taken: Vec<bool> =
        (0..40_000u32).map(|i| i % 5 != 4 && i.wrapping_mul(0x9e37_79b9) >> 28 > 2).collect();
    let branches: Vec<Count> = taken.iter().map(|&taken| Count::branch(taken)).collect();
    let counters = inclusive_scan(&branches, Advance);

    let (mut counter, mut right) = (0, 0);
    for (i, &taken) in taken.iter().enumerate() {
        right += usize::from((counter >= 2) == taken);
        counter = if taken { (counter + 1).min(3) } else { (counter - 1).max(0) };
        assert_eq!(counters[i].starting_at(0), counter, "after {} branches", i + 1);
    }
    println!("{right} of {} branches predicted", taken.len());
}
