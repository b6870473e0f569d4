//! What unit tests scan with: functions that aren't associative, so that equal values mean equal
//! brackets, and that don't commute.
//!
//! Named functions, since the engine is compiled for each function that it is given.

macro_rules! bracket {
    ($($name:ident: $type:ty;)+) => {$(
        /// 3x + y.
        pub(crate) fn $name(x: $type, y: $type) -> $type {
            x.wrapping_mul(3).wrapping_add(y)
        }
    )+};
}

bracket! {
    bracket_u16: u16;
    bracket_u32: u32;
    bracket_u64: u64;
}

/// Across: the second of one goes into the first.
pub(crate) fn bracket_u32_pair(x: [u32; 2], y: [u32; 2]) -> [u32; 2] {
    [bracket_u32(x[0], y[1]), x[1] ^ y[0]]
}

/// As [`bracket_u32_pair`].
pub(crate) fn bracket_u64_pair(x: [u64; 2], y: [u64; 2]) -> [u64; 2] {
    [bracket_u64(x[0], y[1]), x[1] ^ y[0]]
}

/// From end to end.
pub(crate) fn bracket_four(x: [u32; 4], y: [u32; 4]) -> [u32; 4] {
    std::array::from_fn(|i| bracket_u32(x[i], y[3 - i]))
}
