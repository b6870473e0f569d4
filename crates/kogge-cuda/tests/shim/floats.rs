//! Random floats that tell orders, conversions and zeros apart.

use crate::common::Random;

/// A float of few digits below one.
pub fn small_float(random: &mut Random) -> f32 {
    (random.below(2001) as f32 - 1000.0) / 1024.0
}

/// Floats of all magnitudes, and zeros of both signs.
pub fn wild_float(random: &mut Random) -> f32 {
    match random.below(16) {
        0 => -0.0,
        1 => 0.0,
        _ => small_float(random) * (1u64 << random.below(40)) as f32,
    }
}

/// Floats that conversions must take care of: NaNs with a payload, zeros, values that round.
pub fn hurting(random: &mut Random) -> f32 {
    match random.below(300) {
        0 => f32::from_bits(0xffc0_0000 | random.below(1 << 22) as u32),
        1 => f32::from_bits(0x7f80_0001 | random.below(1 << 22) as u32),
        _ => wild_float(random),
    }
}
