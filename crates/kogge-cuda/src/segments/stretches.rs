//! Which segments go in stretches, each by one warp: those of at most three quarters of a tile,
//! where the others go in rounds.

use super::rounds::LongSegments;
use crate::{Capability, Tuning};
use kogge_core::{Order, Problem};

/// How segments of at most three quarters of a tile are scanned that follow one another: a warp
/// goes along them from the first to the last, and waits for nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretches {
    /// Thread blocks, of eight warps each.
    pub blocks: u32,
    /// Thread blocks that a multiprocessor has room for.
    pub residents: u32,
    /// Stages of each warp's ring.
    pub stages: u32,
    /// Rows of the order in a stage.
    pub rows: u32,
    /// Bytes of shared memory a block.
    pub shared_bytes: u32,
    /// Whether the copy engine fills the ring.
    pub bulk: bool,
}

/// Warps of a thread block.
const WARPS: u32 = 8;
/// Rows of a stage where shared memory is small.
const FEW_ROWS: u32 = 8;
/// What a multiprocessor keeps for itself of each block's shared memory.
const RESERVED: u32 = 1024;

impl Stretches {
    /// Positions of the windows whose heads begin a stretch: fewer even out better between warps,
    /// and more are less to list.
    pub(super) const fn marked(order: Order) -> usize {
        order.tile() / 4
    }

    /// None if a multiprocessor has no room for a block, or if there are too few stretches for all
    /// warps.
    pub(super) fn new(
        problem: &Problem,
        long: LongSegments,
        device: Capability,
        tuning: &Tuning,
    ) -> Option<Self> {
        // As the registers have room, by the bytes of what a lane keeps.
        let most = match problem.accumulator_bytes {
            0..=4 if problem.order().chunk() <= 4 => tuning.stretch_residents,
            0..=8 => 2,
            _ => 1,
        };
        let stages = tuning.stretch_stages;
        let of = |rows: u32| {
            let shared_bytes = WARPS * stage_bytes(problem, rows) * stages + 128;
            (rows, shared_bytes, (device.shared_bytes / (shared_bytes + RESERVED)).min(most))
        };
        let most_rows = of(tuning.stretch_rows);
        let few = tuning.stretch_rows.min(FEW_ROWS);
        let (rows, shared_bytes, residents) =
            if most_rows.2 < most.min(2) { of(few) } else { most_rows };
        let stretches = problem.len.div_ceil(Self::marked(problem.order()) as u64);
        let blocks = stretches.div_ceil(WARPS.into()).max(1);
        let warps = u64::from(residents * device.multiprocessors * WARPS);
        let enough = stretches >= warps * u64::from(tuning.stretches_per_warp);
        (residents > 0 && enough).then_some(Self {
            blocks: blocks.min((residents * device.multiprocessors).into()) as u32,
            residents,
            stages,
            rows,
            shared_bytes,
            bulk: long.ring.bulk,
        })
    }
}

/// `StretchShape` of kernels/stretch_heads.cuh: rows with room for any alignment; then their heads,
/// what the rows are, and a barrier.
fn stage_bytes(problem: &Problem, rows: u32) -> u32 {
    let (order, rows) = (problem.order(), rows as usize);
    let elements = (rows * order.row() * problem.element_bytes).next_multiple_of(16);
    (elements + 64 + 4 * rows * order.chunk() + 16 + 8) as u32
}
