//! The largest sum of neighbours, for every prefix at once.
//!
//! Bentley, "Programming pearls: algorithm design techniques", 1984; as a divide-and-conquer, its
//! conquering step is associative. The empty stretch counts, with sum 0.

use kogge::{Element, inclusive_scan, operator};

/// What is known of a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Stretch {
    /// The sum of all.
    pub total: i64,
    /// The largest sum that starts at its beginning.
    pub head: i64,
    /// The largest sum that ends at its end.
    pub tail: i64,
    /// The largest sum within.
    pub best: i64,
}

impl Stretch {
    /// Of one number.
    pub fn of(number: i64) -> Self {
        let best = number.max(0);
        Self { total: number, head: best, tail: best, best }
    }
}

/// Both stretches as one.
#[operator(identity = Stretch { total: 0, head: 0, tail: 0, best: 0 })]
pub fn Join(left: Stretch, right: Stretch) -> Stretch {
    Stretch {
        total: left.total + right.total,
        head: left.head.max(left.total + right.head),
        tail: right.tail.max(right.total + left.tail),
        best: left.best.max(right.best).max(left.tail + right.head),
    }
}

/// Runs the example.
pub fn main() {
    let numbers: Vec<i64> = (0..20_000i64).map(|i| (i * 7_919 + i * i) % 201 - 100).collect();
    let stretches: Vec<Stretch> = numbers.iter().map(|&number| Stretch::of(number)).collect();
    let running = inclusive_scan(&stretches, Join);

    // Kadane's sequential algorithm.
    let (mut best, mut ending) = (0, 0);
    for (i, &number) in numbers.iter().enumerate() {
        ending = (ending + number).max(0);
        best = best.max(ending);
        assert_eq!(running[i].best, best, "the first {} numbers", i + 1);
    }
    println!("the largest sum of neighbours among {} numbers is {best}", numbers.len());
}
