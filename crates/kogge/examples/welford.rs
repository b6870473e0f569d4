//! Running mean and variance, by merging what two stretches of data know.
//!
//! Chan, Golub & LeVeque, "Updating formulae and a pairwise algorithm for computing sample
//! variances", 1979: no sum of squares, so nothing cancels where the mean is large.

use kogge::{Element, inclusive_scan, operator};

/// What is known of a stretch of data.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Moments {
    /// How many values.
    pub count: f64,
    /// Their mean.
    pub mean: f64,
    /// The sum of the squares of their distances from the mean.
    pub squares: f64,
}

impl Moments {
    /// Of no value.
    pub const NONE: Self = Self { count: 0.0, mean: 0.0, squares: 0.0 };

    /// Of one value.
    pub fn of(value: f64) -> Self {
        Self { count: 1.0, mean: value, squares: 0.0 }
    }

    /// The variance of the values.
    pub fn variance(self) -> f64 {
        self.squares / self.count
    }
}

/// The moments of both stretches together.
#[operator(identity = Moments::NONE)]
pub fn Merge(left: Moments, right: Moments) -> Moments {
    if left.count == 0.0 {
        right
    } else if right.count == 0.0 {
        left
    } else {
        let count = left.count + right.count;
        let distance = right.mean - left.mean;
        let share = right.count / count;
        Moments {
            count,
            mean: left.mean + distance * share,
            squares: left.squares + right.squares + distance * distance * left.count * share,
        }
    }
}

/// Runs the example.
pub fn main() {
    // Temperatures in Kelvin times a thousand: a sum of squares in f32 would have no digit left.
    let data: Vec<f64> = (0..100_000).map(|i| 293_150.0 + f64::from(i % 7)).collect();
    let moments: Vec<Moments> = data.iter().map(|&value| Moments::of(value)).collect();
    let running = inclusive_scan(&moments, Merge);

    for i in [0, 6, 99_999] {
        let count = (i + 1) as f64;
        let mean = data[..=i].iter().sum::<f64>() / count;
        let variance = data[..=i].iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
        println!(
            "first {count:>6}: mean {:.4}, variance {:.4}",
            running[i].mean,
            running[i].variance()
        );
        assert!((running[i].mean - mean).abs() < 1e-6);
        assert!((running[i].variance() - variance).abs() < 1e-6);
    }
}
