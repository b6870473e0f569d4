//! Numbers that were measured, and nothing else. bench/records holds the measurements.

/// Input bytes from which the scan goes in rounds. Below, the segment kernel is faster.
pub(crate) const ROUNDS_BYTES: u64 = 8 << 20;

/// Stages of the ring, at most: what one thread block needs in flight to fill its share of the
/// memory's bandwidth.
pub(crate) const STAGES: u32 = 6;

/// Groups of scanners, if the stages can be shared evenly.
pub(crate) const GROUPS: u32 = 2;

/// Warps that reduce tiles.
pub(crate) const REDUCERS: u32 = 4;

/// Tiles that a block reduces before it looks at the totals of others.
pub(crate) const AHEAD: u32 = 2;
