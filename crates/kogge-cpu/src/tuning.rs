//! Numbers that were measured, and nothing else. bench/records holds the measurements.

/// Input bytes below which a second thread costs more than it brings.
pub(crate) const BYTES_PER_THREAD: u64 = 8 << 20;

/// Bytes of a piece: its second touch must be in L2, beside the next piece being prefetched.
pub(crate) const PIECE_BYTES: u64 = 128 << 10;

/// Output bytes from which stores go past the caches: a quarter of a common L3, which other cores
/// share.
pub(crate) const STREAM_BYTES: u64 = 8 << 20;
