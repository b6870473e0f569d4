//! Which segments go tile by tile, in the rounds of the flat scan: all of them under an exact operator, else long ones.

use super::plan::SegmentSource;
use crate::plan::ring;
use crate::{Capability, Ring, Tuning};
use kogge_core::Problem;

/// How segments are scanned that go over from one window into another and are longer than a segment of the order: in
/// rounds, tile by tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongSegments {
    /// The ring through which tiles pass.
    pub ring: Ring,
    /// Thread blocks, which wait for each other.
    pub grid: u32,
    /// Bytes of shared memory a block.
    pub shared_bytes: u32,
    /// Tiles that there can be.
    pub tiles: u64,
    /// Elements of a tile.
    pub tile: u32,
    /// Elements of a segment that isn't long, wherever it lies.
    pub shorter: u32,
}

/// How all segments are scanned under an exact operator: in rounds, in the tiles of the whole sequence. Any order of
/// combination gives the same bits, so tiles needn't begin where segments do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExactSegments {
    /// The ring through which tiles pass.
    pub ring: Ring,
    /// Thread blocks, which wait for each other.
    pub grid: u32,
    /// Bytes of shared memory a block.
    pub shared_bytes: u32,
    /// Tiles.
    pub tiles: u64,
}

/// Bytes of the largest element, and accumulator, of which tiles go in rounds with a bit for each element.
const MOST_EXACT: usize = 8;

impl ExactSegments {
    /// Bytes of what a tile hands on: an accumulator, and whether a segment starts in the tile.
    pub(super) const fn tail_bytes(accumulator: u32) -> u32 {
        if accumulator <= 4 { 8 } else { 16 }
    }

    pub(super) fn new(problem: &Problem, device: Capability, tuning: &Tuning) -> Option<Self> {
        let (order, bytes) = (problem.order(), problem.element_bytes);
        // A chunk's bits must lie in one word of the mask.
        let fits = bytes.is_power_of_two() && bytes.max(problem.accumulator_bytes) <= MOST_EXACT;
        if !fits || problem.len == 0 {
            return None;
        }
        let accumulator = problem.accumulator_bytes as u32;
        let (tail, mask) = (Self::tail_bytes(accumulator), order.tile() as u32 / 8);
        let (ring, shared_bytes) = ring(order, bytes as u32, tail, mask, device, tuning)?;
        let tiles = problem.len.div_ceil(order.tile() as u64);
        let grid = tiles.min(device.multiprocessors.into()) as u32;
        Some(Self { ring: Ring { lookers: 1, ..ring }, grid, shared_bytes, tiles })
    }
}

impl LongSegments {
    /// Beside windows of so many positions.
    pub(super) fn beside_windows(
        problem: &Problem,
        source: SegmentSource,
        window: usize,
        device: Capability,
        tuning: &Tuning,
    ) -> Option<Self> {
        let (order, len) = (problem.order(), problem.len);
        let average = len / source.segments()?.max(1);
        let tile = order.tile() as u64;
        if average < tile.saturating_mul(tuning.run_rounds_tiles.into()).max(1) {
            return None;
        }
        // Of each segment one tile at most is cut short, and one ends in each window.
        let cut = len / window as u64 + 1;
        Self::new(problem, order.segment(), cut, device, tuning)
    }

    /// Beside stretches: those longer than a tile.
    pub(super) fn beside_stretches(
        problem: &Problem,
        device: Capability,
        tuning: &Tuning,
    ) -> Option<Self> {
        let tile = problem.order().tile();
        // Each segment has as many whole tiles at least as tiles that are cut short.
        Self::new(problem, tile, problem.len / tile as u64 + 1, device, tuning)
    }

    /// Those of more than `shorter` elements, of whose tiles so many may be cut short.
    fn new(
        problem: &Problem,
        shorter: usize,
        cut: u64,
        device: Capability,
        tuning: &Tuning,
    ) -> Option<Self> {
        let order = problem.order();
        let tile = order.tile() as u64;
        let accumulator = problem.accumulator_bytes.max(4) as u32;
        // Of larger ones the kernel keeps too much in local memory.
        if accumulator > 16 {
            return None;
        }
        let (ring, shared_bytes) =
            ring(order, problem.element_bytes as u32, accumulator, 0, device, tuning)?;
        let tiles = problem.len / tile + cut;
        u32::try_from(tiles).ok()?;
        Some(Self {
            ring,
            grid: tiles.clamp(1, device.multiprocessors.into()) as u32,
            shared_bytes,
            tiles,
            tile: tile as u32,
            shorter: shorter as u32,
        })
    }
}
