//! A linear recurrence: an exponential moving average whose rate changes with the data.
//!
//! `yᵢ = aᵢ·yᵢ₋₁ + bᵢ` applies the map `y ↦ aᵢ·y + bᵢ`; maps compose associatively, so the
//! recurrence is a scan (Blelloch, "Prefix sums and their applications", 1990).

use kogge::{Element, inclusive_scan, operator};

/// The map `y ↦ decay·y + input`.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
pub struct Step {
    /// What is kept of the value before.
    pub decay: f32,
    /// What is added.
    pub input: f32,
}

/// The map of the left step, then of the right one.
#[operator(identity = Step { decay: 1.0, input: -0.0 })]
pub fn Then(left: Step, right: Step) -> Step {
    Step { decay: left.decay * right.decay, input: left.input * right.decay + right.input }
}

/// Runs the example.
pub fn main() {
    let signal: Vec<f32> = (0..50_000).map(|i| ((i / 1_000) % 2) as f32).collect();
    // Rise fast, fall slowly.
    let rate = |x: f32| if x > 0.5 { 0.1 } else { 0.01 };
    let steps: Vec<Step> =
        signal.iter().map(|&x| Step { decay: 1.0 - rate(x), input: rate(x) * x }).collect();
    let filtered = inclusive_scan(&steps, Then);

    let mut value = 0.0;
    for (i, step) in steps.iter().enumerate() {
        value = step.decay * value + step.input;
        // From rest the filter's output is the composed map's constant term.
        assert!((filtered[i].input - value).abs() < 1e-5, "{i}: {} {value}", filtered[i].input);
    }
    println!(
        "after the first rise {:.4}, after the first fall {:.4}",
        filtered[1_999].input, filtered[2_999].input
    );
}
