//! Numbers that were measured, and nothing else. bench/records holds the measurements.

/// Input bytes below which a second thread costs more than it brings.
pub(crate) const BYTES_PER_THREAD: u64 = 8 << 20;

/// Bytes of a piece: its second touch must be in L2, beside the next piece being prefetched.
pub(crate) const PIECE_BYTES: u64 = 128 << 10;

/// Output bytes from which stores go past the caches: a quarter of a common L3, which other cores
/// share.
pub(crate) const STREAM_BYTES: u64 = 8 << 20;

/// Input bytes from which a thread by itself asks ahead for elements that it scans in any order: those of a
/// common L2.
pub(crate) const L2_BYTES: usize = 1 << 20;

/// The same for elements that it scans in the fixed order, which takes longer. (On a Zen 5, `f64` in place: with
/// 8 MiB 51 to 76 GB/s, with 2 MiB 112 to 103.)
pub(crate) const L3_BYTES: usize = 8 << 20;
