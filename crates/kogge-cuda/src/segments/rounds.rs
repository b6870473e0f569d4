//! Which segments go tile by tile, in the rounds of the flat scan: all of them under an exact
//! operator, else long ones.

use super::plan::SegmentSource;
use crate::plan::ring;
use crate::{Capability, Ring, Tuning};
use kogge_core::Problem;

/// How segments are scanned that go over from one window into another and are longer than a segment
/// of the order: in rounds, tile by tile.
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

/// How all segments are scanned under an exact operator: in rounds, in the tiles of the whole
/// sequence. Any order of combination gives the same bits, so tiles needn't begin where segments
/// do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExactSegments {
    /// The ring through which tiles pass.
    pub ring: Ring,
    /// Warps that find in keys where segments start; or none, and another launch does.
    pub markers: u32,
    /// Pieces of keys that each of them has under way.
    pub pieces: u32,
    /// Thread blocks, which wait for each other.
    pub grid: u32,
    /// Bytes of shared memory a block.
    pub shared_bytes: u32,
    /// Tiles.
    pub tiles: u64,
}

/// Bytes of the largest element, and accumulator, of which tiles go in rounds with a bit for each
/// element.
const MOST_EXACT: usize = 8;
/// Of these elements at most and these keys at least one launch is faster than two: what is saved
/// is to read the keys once, and what finds heads takes time of those that scan.
const MOST_MARKED_ELEMENT: usize = 4;
const LEAST_MARKED_KEY: u32 = 4;
/// Stages that a ring must have beside the pieces of keys.
const FEWEST_STAGES: u32 = 4;

impl ExactSegments {
    /// Bytes of what a tile hands on: an accumulator, and whether a segment starts in the tile.
    pub(super) const fn tail_bytes(accumulator: u32) -> u32 {
        if accumulator <= 4 { 8 } else { 16 }
    }

    /// Threads of a block.
    pub(super) const fn threads(&self) -> u32 {
        self.ring.threads() + 32 * self.markers
    }

    pub(super) fn new(
        problem: &Problem,
        source: SegmentSource,
        device: Capability,
        tuning: &Tuning,
    ) -> Option<Self> {
        let (order, bytes) = (problem.order(), problem.element_bytes);
        // A chunk's bits must lie in one word of the mask.
        let fits = bytes.is_power_of_two() && bytes.max(problem.accumulator_bytes) <= MOST_EXACT;
        if !fits || problem.len == 0 {
            return None;
        }
        let marked = source.segments().is_none()
            && source.bytes() >= LEAST_MARKED_KEY
            && bytes <= MOST_MARKED_ELEMENT
            && device.compute >= (9, 0)
            && tuning.markers > 0;
        if marked {
            // A piece gives each lane a word of at most 32 bits; it has the value before it too,
            // and whole 16 bytes.
            let piece = (order.chunk() as u32 * 8 * 32).min(1024) * source.bytes() + 48;
            let pieces = tuning.pieces * (piece.next_multiple_of(128) + 8);
            let room = tuning.markers * pieces.next_multiple_of(128) + 128;
            // Bits are made while those of the tile before in a stage are still read.
            let mask = order.tile() as u32 / 8 * 2;
            let exact = Self::beside(problem, (mask, room), tuning.markers, device, tuning);
            if let Some(exact) = exact.filter(|exact| exact.ring.stages >= FEWEST_STAGES) {
                return Some(exact);
            }
        }
        Self::beside(problem, (order.tile() as u32 / 8, 0), 0, device, tuning)
    }

    /// Beside so many bytes of bits a stage, and others.
    fn beside(
        problem: &Problem,
        (mask, room): (u32, u32),
        markers: u32,
        device: Capability,
        tuning: &Tuning,
    ) -> Option<Self> {
        let (order, accumulator) = (problem.order(), problem.accumulator_bytes as u32);
        let left = device.shared_bytes.saturating_sub(room);
        let left = Capability { shared_bytes: left, ..device };
        let (element, tail) = (problem.element_bytes as u32, Self::tail_bytes(accumulator));
        let (ring, shared_bytes) = ring(order, element, tail, mask, left, tuning)?;
        let tiles = problem.len.div_ceil(order.tile() as u64);
        Some(Self {
            ring: Ring { lookers: 1, ..ring },
            markers,
            pieces: if markers > 0 { tuning.pieces } else { 0 },
            grid: tiles.min(device.multiprocessors.into()) as u32,
            shared_bytes: shared_bytes + room,
            tiles,
        })
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

    /// Beside stretches: those longer than three quarters of a tile. Rounds are faster than
    /// stretches for them, and slower for shorter ones, which fill less of a stage.
    pub(super) fn beside_stretches(
        problem: &Problem,
        device: Capability,
        tuning: &Tuning,
    ) -> Option<Self> {
        let shorter = problem.order().tile() / 4 * 3;
        // A tile of each at most is cut short.
        Self::new(problem, shorter, problem.len / shorter as u64 + 1, device, tuning)
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
        // Wide values aren't drawn, and have two look-aheads in any case.
        let ring = match accumulator {
            0..=8 => Ring {
                lookers: tuning.run_lookers,
                ahead: tuning.run_ahead.min(ring.stages - 1),
                ..ring
            },
            _ => ring,
        };
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
