//! Which segments go in stretches, each by one warp: those of at most three quarters of a tile,
//! where the others go in rounds.

use super::plan::SegmentSource;
use super::rounds::LongSegments;
use crate::{Capability, Tuning};
use kogge_core::{Order, Problem};

/// How segments of at most three quarters of a tile are scanned that follow one another: a warp
/// goes along them from the first to the last, and waits for nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretches {
    /// Thread blocks.
    pub blocks: u32,
    /// Warps of a block.
    pub warps: u32,
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
        source: SegmentSource,
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
        let of = |warps: u32, rows: u32| {
            let stages = tuning.stretch_stages;
            let shared_bytes = warps * stage_bytes(problem, rows) * stages + 128;
            let residents = (device.shared_bytes / (shared_bytes + RESERVED)).min(most);
            Self { blocks: 0, warps, residents, stages, rows, shared_bytes, bulk: long.ring.bulk }
        };
        let few = Self::few_warps(problem, source, device, tuning)
            .then(|| of(tuning.long_stretch_warps, tuning.long_stretch_rows));
        let usual = of(tuning.stretch_warps, tuning.stretch_rows);
        let shape = few
            .into_iter()
            .chain([usual])
            .find(|shape| shape.residents >= most.min(2))
            .unwrap_or_else(|| of(usual.warps, usual.rows.min(FEW_ROWS)));
        let stretches = problem.len.div_ceil(Self::marked(problem.order()) as u64);
        let room = u64::from(shape.residents * device.multiprocessors);
        // As many as for the usual warps: with fewer it wasn't tried.
        let least = u64::from(usual.warps) * u64::from(tuning.stretches_per_warp);
        let enough = stretches >= room * least;
        let blocks = stretches.div_ceil(shape.warps.into()).max(1).min(room) as u32;
        (shape.residents > 0 && enough).then_some(Self { blocks, ..shape })
    }

    /// Whether fewer warps with longer stages have time enough: where offsets say that segments are
    /// long on average, and memory takes its time, an H100's but not an H200's. It is faster, the
    /// fewer of them ask it. Of 8 bytes they were slower; of others nobody has looked.
    fn few_warps(
        problem: &Problem,
        source: SegmentSource,
        device: Capability,
        tuning: &Tuning,
    ) -> bool {
        (problem.element_bytes, problem.accumulator_bytes) == (4, 4)
            && (1..=tuning.long_stretch_bytes_per_cycle).contains(&device.memory_bytes_per_cycle)
            && source.average_at_least(tuning.long_stretches_from, problem.len)
    }
}

/// `StretchShape` of kernels/stretch_heads.cuh: rows with room for any alignment; then their heads,
/// what the rows are, and a barrier.
fn stage_bytes(problem: &Problem, rows: u32) -> u32 {
    let (order, rows) = (problem.order(), rows as usize);
    let elements = (rows * order.row() * problem.element_bytes).next_multiple_of(16);
    (elements + 64 + 4 * rows * order.chunk() + 16 + 8) as u32
}
