//! Sums of probabilities kept as logarithms.

use crate::Operator;

/// ln(eˡ + eʳ), computed as max + ln(1 + e^(min − max)) so that it doesn't overflow.
///
/// The transcendental functions are those of the `libm` crate, not the system's, so the bits are
/// the same on every CPU. NaN propagates; the identity is `-∞`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogAddExp;

macro_rules! implement {
    ($($type:ty, $exp:path, $log1p:path;)+) => {$(
        impl Operator<$type> for LogAddExp {
            #[inline(always)]
            fn identity(&self) -> $type {
                <$type>::NEG_INFINITY
            }
            #[inline]
            fn combine(&self, left: $type, right: $type) -> $type {
                let (high, low) = if left < right { (right, left) } else { (left, right) };
                // Equal infinities would give ∞ − ∞.
                if low == <$type>::NEG_INFINITY || high == <$type>::INFINITY {
                    return if low.is_nan() { low } else { high };
                }
                high + $log1p($exp(low - high))
            }
        }
    )+};
}

implement! {
    f32, libm::expf, libm::log1pf;
    f64, libm::exp, libm::log1p;
}
