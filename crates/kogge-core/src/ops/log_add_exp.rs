//! Sums of probabilities kept as logarithms.

use crate::device::lang::Float;
use crate::operator;

/// ln(eˡ + eʳ), computed as max + ln(1 + e^(min − max)) so that it doesn't overflow.
///
/// The logarithm of 1 + x keeps small x: rounding 1 + x loses a part of x that multiplying by x /
/// ((1 + x) − 1) makes good (Goldberg, "What every computer scientist should know about
/// floating-point arithmetic", 1991, theorem 4). The transcendental functions are those of the
/// `libm` crate, not the system's, so the bits are the same on every CPU. NaN propagates; the
/// identity is `-∞`.
///
/// ```
/// use kogge_core::{Kind, Order, ops::LogAddExp, reference};
///
/// // Four probabilities too small for a float, kept as logarithms.
/// let order = Order::of::<f64>();
/// let scan = reference::scan(&[-1000.0; 4], &LogAddExp, order, Kind::Inclusive, None);
/// assert_eq!(scan.values[1], -1000.0 + 2f64.ln());
/// assert_eq!(scan.values[3], -1000.0 + 4f64.ln());
/// ```
#[operator(identity = T::LOWEST)]
pub fn LogAddExp<T: Float>(left: T, right: T) -> T {
    let low = if left < right { left } else { right };
    let high = if left < right { right } else { left };
    // Equal infinities would give ∞ − ∞.
    if low == T::LOWEST || high == T::HIGHEST {
        if low != low { low } else { high }
    } else {
        let x = (low - high).exp();
        let sum = T::ONE + x;
        let correction = if sum == T::ONE { x } else { sum.ln() * (x / (sum - T::ONE)) };
        high + correction
    }
}
