//! From a problem to a plan, without touching data or device: which kernel, in which shape, with
//! how many blocks and how much memory.

use crate::launch::{Grid, INIT_BYTES, PORTABLE_CLUSTER};
use crate::{Error, Tuning};
use kogge_core::{Direction, Order, Problem};
use std::ops::Range;

/// What a device offers a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capability {
    /// Compute capability: major, minor.
    pub compute: (u32, u32),
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of shared memory that one thread block can have.
    pub shared_bytes: u32,
    /// Bytes that memory moves at most while a multiprocessor's clock ticks once, for each
    /// multiprocessor; 0 if it isn't known.
    pub memory_bytes_per_cycle: u32,
}

impl Capability {
    /// An A100 of 40 GB, with the memory of its data sheet.
    pub const A100: Self = Self {
        compute: (8, 0),
        multiprocessors: 108,
        shared_bytes: 166_912,
        memory_bytes_per_cycle: 10,
    };
    /// An H100 SXM of 80 GB.
    pub const H100: Self = Self {
        compute: (9, 0),
        multiprocessors: 132,
        shared_bytes: 232_448,
        memory_bytes_per_cycle: 12,
    };
    /// An H200: an H100 with faster memory.
    pub const H200: Self = Self { memory_bytes_per_cycle: 18, ..Self::H100 };
    /// A GeForce RTX 5090, with the memory of its data sheet.
    pub const RTX_5090: Self = Self {
        compute: (12, 0),
        multiprocessors: 170,
        shared_bytes: 101_376,
        memory_bytes_per_cycle: 4,
    };
}

/// The shape of the ring through which tiles pass in the kernel of rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ring {
    /// Whether the copy engine fills it (sm_90 and newer), else asynchronous loads.
    pub bulk: bool,
    /// Tiles it holds.
    pub stages: u32,
    /// Groups of eight scanner warps.
    pub groups: u32,
    /// Reducer warps.
    pub reducers: u32,
    /// Look-ahead warps, which take tiles in turn.
    pub lookers: u32,
    /// Tiles reduced before the look-ahead.
    pub ahead: u32,
    /// Tiles on their way into it.
    pub flight: u32,
    /// Tiles of a sequence from which blocks draw them.
    pub draw_from: u32,
}

impl Ring {
    /// Threads of a block: a loader, look-aheads, reducers, scanners.
    pub(crate) const fn threads(self) -> u32 {
        LANES * (1 + self.lookers + self.reducers + 8 * self.groups)
    }

    /// Its part of what templates are given.
    pub(crate) fn constants(self) -> String {
        let Self { bulk: _, stages, groups, reducers, lookers, ahead, flight, draw_from } = self;
        format!(
            "STAGES = {stages}, GROUPS = {groups}, REDUCERS = {reducers}, LOOKERS = {lookers}, AHEAD = {ahead}, FLIGHT = {flight}, DRAW_FROM = {draw_from}"
        )
    }
}

/// How a sequence is shared out that the registers of a device hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tiling {
    /// Places in which the total of a tile is published.
    pub copies: u32,
    /// Thread blocks that a multiprocessor must have registers for.
    pub resident: u32,
}

/// Which kernel does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// All thread blocks one cluster, so many segments each (sm_90 and newer): short sequences.
    Cluster(u32),
    /// One thread block a segment: short sequences where there are no clusters, and elements of
    /// which a warp can't hold one.
    Segments,
    /// One thread block a tile, all of them at once: what the registers of the device hold.
    Tiles(Tiling),
    /// Resident thread blocks that take tiles in turn: long sequences.
    Rounds(Ring),
}

/// How a scan will be done. Nothing in it changes the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The kernel.
    pub kernel: Kernel,
    /// Thread blocks.
    pub grid: u32,
    /// Whether blocks wait for blocks of higher index, so that all must be resident at once.
    pub cooperative: bool,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory a block.
    pub shared_bytes: u32,
    /// Bytes of the workspace.
    pub workspace_bytes: u64,
    /// Elements of one launch: all of them, but for large elements of which a device's shared
    /// memory holds no two tiles. Those go by segments, launch after launch.
    pub launch_len: u64,
}

impl Plan {
    /// The same kernel on fewer elements of the problem, at least one unless it goes by segments.
    pub(crate) fn of_fewer(&self, problem: &Problem, len: u64) -> Self {
        if len == problem.len && len <= self.launch_len {
            return *self;
        }
        let order = problem.order();
        match self.kernel {
            Kernel::Cluster(segments) => {
                let blocks = len.div_ceil(u64::from(segments) * order.segment() as u64);
                Self { grid: blocks.max(1) as u32, ..*self }
            }
            Kernel::Tiles(_) => {
                let tiles = len.div_ceil(order.tile() as u64);
                Self { grid: tiles.max(1) as u32, ..*self }
            }
            Kernel::Segments => {
                let segments = len.div_ceil(order.segment() as u64);
                Self { grid: segments.max(1) as u32, ..*self }
            }
            Kernel::Rounds(_) => {
                let tiles = len.div_ceil(order.tile() as u64);
                let grid = tiles.min(self.grid.into()) as u32;
                Self { grid, cooperative: self.cooperative && tiles > grid.into(), ..*self }
            }
        }
    }

    /// Its launch.
    pub(crate) fn launch(&self) -> Grid {
        let Self { grid: blocks, threads, shared_bytes, cooperative, .. } = *self;
        let cluster = if self.in_cluster() { blocks } else { 1 };
        Grid { blocks, threads, shared_bytes, cooperative, cluster, dependent: false }
    }

    /// Whether its thread blocks are one cluster.
    pub(crate) fn in_cluster(&self) -> bool {
        matches!(self.kernel, Kernel::Cluster(_))
    }
}

/// Parts of a sequence in the order of the scan, as ranges of elements; one at least.
pub(crate) fn parts(len: u64, part: u64, direction: Direction) -> impl Iterator<Item = Range<u64>> {
    let part = part.max(1);
    (0..len.div_ceil(part).max(1)).map(move |i| {
        let (start, end) = (i * part, len.min((i + 1) * part));
        match direction {
            Direction::Forward => start..end,
            Direction::Reverse => len - end..len - start,
        }
    })
}

/// Room for a carry; no accumulator is larger.
pub(crate) const CARRY_BYTES: u64 = INIT_BYTES as u64;

pub(crate) const LANES: u32 = 32;
const TILE_THREADS: u32 = LANES * 8;
pub(crate) const WORKSPACE_HEAD: u64 = 16;
/// Segments whose totals every block can fold: 16 blocks of 32 tiles of 8.
const MOST_SEGMENTS: u64 = 16 * 256;
/// Thread blocks of a cluster for which its kernel has room.
const MOST_CLUSTER: u32 = 16;
/// Blocks of the order whose totals the kernel of tiles has room for.
const MOST_BLOCKS: u32 = 32;
/// Bytes of an element, and of an accumulator, of which a warp can hold a segment.
const HELD_BYTES: usize = 16;

/// The plan for a problem on a device. `accumulator_bytes` in it is what the operator computes in.
///
/// # Errors
///
/// [`Error::Unsupported`] if the accumulator is larger than kernels take, or `tuning` has a number
/// that they can't be made of.
///
/// ```
/// use kogge_core::{Direction, Kind, Problem};
/// use kogge_cuda::{Capability, Kernel, Tuning, plan};
///
/// let problem = Problem {
///     len: 1 << 28,
///     element_bytes: 4,
///     output_bytes: 4,
///     accumulator_bytes: 4,
///     kind: Kind::Inclusive,
///     direction: Direction::Forward,
///     in_place: false,
/// };
/// let plan = plan(&problem, Capability::H100, &Tuning::default())?;
/// assert!(matches!(plan.kernel, Kernel::Rounds(ring) if ring.bulk));
/// assert_eq!(plan.grid, 132);
/// # Ok::<_, kogge_cuda::Error>(())
/// ```
pub fn plan(problem: &Problem, device: Capability, tuning: &Tuning) -> Result<Plan, Error> {
    tuning.check()?;
    if problem.accumulator_bytes > INIT_BYTES {
        return Err(Error::Unsupported(format!(
            "an accumulator of {} bytes; kernels take up to {INIT_BYTES}",
            problem.accumulator_bytes,
        )));
    }
    let order = problem.order();
    let accumulator = problem.accumulator_bytes.max(4) as u32;
    let slot = (accumulator as u64).div_ceil(8) * 16;
    let segments = problem.len.div_ceil(order.segment() as u64);
    let bytes = problem.len.saturating_mul(problem.element_bytes as u64);
    let tiles = problem.len.div_ceil(order.tile() as u64);
    if let Some((blocks, each)) = cluster(segments, device, tuning) {
        return Ok(Plan {
            kernel: Kernel::Cluster(each),
            grid: blocks,
            cooperative: false,
            threads: LANES * 8 * each,
            // A barrier, the totals of rows, and those of sixteen blocks' segments.
            shared_bytes: (8 + MOST_CLUSTER) * each * accumulator.next_multiple_of(4) + 64,
            workspace_bytes: WORKSPACE_HEAD,
            launch_len: problem.len,
        });
    }
    if let Some(tiling) = tiling(problem, tuning)
        && segments > tuning.few_segments
        && tiles <= u64::from((tiling.resident * device.multiprocessors).min(MOST_BLOCKS * LANES))
    {
        return Ok(Plan {
            kernel: Kernel::Tiles(tiling),
            grid: tiles as u32,
            cooperative: false,
            threads: TILE_THREADS,
            // The totals of segments and of blocks, and an epoch.
            shared_bytes: (8 + MOST_BLOCKS) * accumulator + 64,
            workspace_bytes: WORKSPACE_HEAD + tiles * u64::from(tiling.copies) * slot,
            launch_len: problem.len,
        });
    }
    match ring(order, problem.element_bytes as u32, accumulator, 0, device, tuning) {
        Some((mut ring, shared_bytes))
            if problem.len > 0 && (bytes >= tuning.rounds_bytes || segments > MOST_SEGMENTS) =>
        {
            if problem.element_bytes == 1 && tiles < tuning.draw_from.into() {
                ring.lookers = ring.lookers.max(tuning.byte_lookers);
            }
            Ok(Plan {
                kernel: Kernel::Rounds(ring),
                grid: tiles.min(device.multiprocessors.into()) as u32,
                cooperative: tuning.always_cooperative || tiles > device.multiprocessors.into(),
                threads: ring.threads(),
                shared_bytes,
                workspace_bytes: WORKSPACE_HEAD + tiles * slot,
                launch_len: problem.len,
            })
        }
        _ => {
            let grid = segments.clamp(1, MOST_SEGMENTS);
            Ok(Plan {
                kernel: Kernel::Segments,
                grid: grid as u32,
                cooperative: false,
                threads: LANES * 8,
                // The totals of rows, and a prefix that may not exist; room for 256 more, unused,
                // is part of the text of kernels made ahead.
                shared_bytes: (8 + 256 + 1) * accumulator + 64,
                workspace_bytes: WORKSPACE_HEAD + grid * slot,
                launch_len: problem.len.min(MOST_SEGMENTS * order.segment() as u64),
            })
        }
    }
}

/// The blocks of a cluster that takes so many segments, and the segments of each, if there is one.
///
/// Every device with clusters has them of 8 blocks; those of data centres, of 16.
fn cluster(segments: u64, device: Capability, tuning: &Tuning) -> Option<(u32, u32)> {
    let offered = match device.compute.0 {
        ..9 => 0,
        9 | 10 => MOST_CLUSTER,
        _ => PORTABLE_CLUSTER,
    };
    let most = offered.min(tuning.cluster_blocks);
    let each = (1..=tuning.cluster_segments.min(2))
        .find(|each| segments <= u64::from(most * each) && most > 0)?;
    Some(((segments.div_ceil(each.into()) as u32).max(1), each))
}

/// How thread blocks hold a tile each, if they can.
fn tiling(problem: &Problem, tuning: &Tuning) -> Option<Tiling> {
    let accumulator = problem.accumulator_bytes;
    if problem.element_bytes.max(accumulator) > HELD_BYTES || tuning.tile_blocks == 0 {
        return None;
    }
    // What a lane keeps beside its elements, in registers: a value for each of eight rows and, as
    // it writes one, for each element of a chunk.
    let written = problem.output_bytes.max(accumulator);
    let registers = 8 * accumulator.div_ceil(4) + problem.order().chunk() * written.div_ceil(4);
    let most = match registers {
        ..=12 => 4,
        13..=20 => 3,
        _ => 2,
    };
    // A lane of the first warp publishes each copy.
    let copies = tuning.copies.clamp(1, LANES);
    Some(Tiling { copies, resident: most.min(tuning.tile_blocks) })
}

/// The largest ring that fits, and its shared memory, with so many bytes for each stage `beside`
/// what it needs itself.
pub(crate) fn ring(
    order: Order,
    element: u32,
    accumulator: u32,
    beside: u32,
    device: Capability,
    tuning: &Tuning,
) -> Option<(Ring, u32)> {
    // A tile may start anywhere in a sector of 32 bytes; a stage is a multiple of 128.
    let stage = (order.tile() as u32 * element + 32).next_multiple_of(128);
    // Values of which a look ahead takes longer than a tile, and that keep the totals of rows.
    let wide = accumulator > 8;
    let rows = if wide { 8 * 8 } else { 1 };
    // Beside its tile a stage has four barriers, where the tile lies, a prefix, and eight totals of
    // segments.
    let per_stage = stage + beside + 4 * 8 + 24 + (accumulator + 16) + (8 + rows) * accumulator;
    let most = (device.shared_bytes.saturating_sub(256) / per_stage).min(tuning.stages);
    let groups = if most >= 2 * tuning.groups { tuning.groups } else { 1 };
    let stages = most / groups * groups;
    let ring = Ring {
        bulk: device.compute >= (9, 0),
        stages,
        groups,
        reducers: tuning.reducers,
        lookers: if wide { tuning.wide_lookers } else { 1 },
        ahead: tuning.ahead.min(stages.saturating_sub(1)),
        flight: tuning.flight.max(1),
        draw_from: tuning.draw_from,
    };
    (stages >= 2).then_some((ring, stages * per_stage + 256))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kogge_core::Kind;

    const A100: Capability = Capability::A100;
    const H100: Capability = Capability::H100;
    const RTX: Capability = Capability::RTX_5090;

    fn problem(len: u64, element: usize) -> Problem {
        Problem {
            len,
            element_bytes: element,
            output_bytes: element,
            accumulator_bytes: element,
            kind: Kind::Inclusive,
            direction: Direction::Forward,
            in_place: false,
        }
    }

    fn rounds(plan: &Plan) -> Ring {
        match plan.kernel {
            Kernel::Rounds(ring) => ring,
            _ => panic!("{plan:?} isn't in rounds"),
        }
    }

    #[test]
    fn rings_fit_every_device() {
        for device in [A100, H100, RTX] {
            for element in [1, 2, 3, 4, 8, 12, 16, 32] {
                if element == 32 && device == RTX {
                    continue; // A tile of 64 KiB has no second stage there.
                }
                let plan = plan(&problem(1 << 30, element), device, &Tuning::default()).unwrap();
                let ring = rounds(&plan);
                assert!(plan.shared_bytes <= device.shared_bytes, "{device:?} {element}");
                assert!(ring.ahead < ring.stages && ring.stages.is_multiple_of(ring.groups));
                assert!(plan.threads <= 1024 && plan.grid == device.multiprocessors);
                assert_eq!(ring.bulk, device.compute >= (9, 0));
            }
        }
    }

    #[test]
    fn bytes_have_two_look_aheads_until_their_tiles_are_drawn() {
        let tuning = Tuning::default();
        let lookers =
            |len, element| rounds(&plan(&problem(len, element), H100, &tuning).unwrap()).lookers;
        let drawn = u64::from(tuning.draw_from) << 15;
        assert_eq!(
            (lookers(1 << 26, 1), lookers(drawn - (1 << 15), 1), lookers(drawn, 1)),
            (2, 2, 1)
        );
        assert_eq!((lookers(1 << 26, 4), lookers(1 << 28, 4), lookers(1 << 28, 16)), (1, 1, 2));
    }

    #[test]
    fn short_sequences_take_a_block_a_segment() {
        for (len, grid) in [(0, 1), (1, 1), (1024, 1), (1025, 2), (1 << 15, 32)] {
            let plan = plan(&problem(len, 4), A100, &Tuning::default()).unwrap();
            assert_eq!((plan.kernel, plan.grid), (Kernel::Segments, grid));
        }
    }

    #[test]
    fn where_there_are_clusters_one_takes_short_sequences() {
        let of = |segments: u64, device, tuning: &Tuning| {
            let problem = problem(segments * 1024, 4);
            let plan = plan(&problem, device, tuning).unwrap();
            assert!(plan.of_fewer(&problem, 1).grid == 1, "{plan:?}");
            (plan.kernel, plan.grid, plan.threads)
        };
        let most = Tuning::default();
        for (segments, each, grid) in [(0, 1, 1), (1, 1, 1), (16, 1, 16), (17, 2, 9), (32, 2, 16)] {
            let cluster = (Kernel::Cluster(each), grid, 256 * each);
            assert_eq!(of(segments, H100, &most), cluster, "{segments}");
        }
        assert!(matches!(of(33, H100, &most).0, Kernel::Tiles(_)));
        // Eight blocks are all that there are elsewhere, and in a slice of a GPU perhaps.
        let few = Tuning { cluster_blocks: 8, ..most };
        for (device, tuning) in [(RTX, &most), (H100, &few)] {
            assert_eq!(of(8, device, tuning), (Kernel::Cluster(1), 8, 256));
            assert_eq!(of(16, device, tuning), (Kernel::Cluster(2), 8, 512));
            assert_eq!(of(17, device, tuning).0, Kernel::Segments);
        }
        let none = Tuning { cluster_blocks: 0, ..most };
        assert_eq!(of(1, H100, &none).0, Kernel::Segments);
    }

    #[test]
    fn what_registers_hold_takes_a_block_a_tile() {
        let tiles = |problem: &Problem, device| {
            let plan = plan(problem, device, &Tuning::default()).unwrap();
            match plan.kernel {
                Kernel::Tiles(Tiling { resident, .. }) => Some((resident, plan.grid)),
                _ => None,
            }
        };
        // A tile is 8,192 elements of 4 bytes; 132 multiprocessors hold four each, or three of 8
        // bytes.
        assert_eq!(tiles(&problem(1 << 15, 4), H100), None);
        assert_eq!(tiles(&problem((1 << 15) + 1, 4), H100), Some((4, 5)));
        assert_eq!(tiles(&problem(528 << 13, 4), H100), Some((4, 528)));
        assert_eq!(tiles(&problem((528 << 13) + 1, 4), H100), None);
        assert_eq!(tiles(&problem(396 << 12, 8), H100), Some((3, 396)));
        assert_eq!(tiles(&problem((396 << 12) + 1, 8), H100), None);
        assert_eq!(tiles(&problem(264 << 11, 16), H100), Some((2, 264)));
        assert_eq!(tiles(&problem(1 << 20, 32), H100), None);
        assert_eq!(tiles(&problem(680 << 13, 4), RTX), Some((4, 680)));
        assert_eq!(tiles(&problem(1 << 22, 1), H100), Some((2, 128)));
        let wider = Problem { accumulator_bytes: 4, output_bytes: 2, ..problem(1 << 21, 2) };
        assert_eq!(tiles(&wider, H100), Some((3, 128)));
    }

    #[test]
    fn nothing_to_scan_is_never_in_rounds() {
        let tuning = Tuning { rounds_bytes: 0, ..Tuning::default() };
        assert_eq!(plan(&problem(0, 4), A100, &tuning).unwrap().grid, 1);
        assert_eq!(
            plan(&problem(1, 4), A100, &tuning).unwrap().kernel,
            plan(&problem(1 << 30, 4), A100, &tuning).unwrap().kernel
        );
    }

    #[test]
    fn large_elements_go_by_segments_in_launches() {
        for (element, device) in [(64, H100), (32, RTX)] {
            let one = plan(&problem(1 << 14, element), device, &Tuning::default()).unwrap();
            assert_eq!((one.kernel, one.launch_len), (Kernel::Segments, 1 << 14));
            let problem = problem((1 << 30) + 5, element);
            let plan = plan(&problem, device, &Tuning::default()).unwrap();
            assert_eq!(
                (plan.kernel, plan.launch_len, plan.grid),
                (Kernel::Segments, 1 << 20, 4096)
            );
            // Slots alone: anything else there, an element that ends like an epoch, another scan
            // would take for one.
            assert_eq!(plan.workspace_bytes, 16 + 4096 * (element as u64).div_ceil(8) * 16);
            // Launches are whole blocks of the order, or a carry would cut one.
            assert!(plan.launch_len.is_multiple_of(problem.order().block() as u64));
            assert_eq!(plan.of_fewer(&problem, 1 << 20).grid, 4096);
            assert_eq!(plan.of_fewer(&problem, 5).grid, 1);
            let last = parts(problem.len, plan.launch_len, Direction::Forward).last();
            assert_eq!(last, Some(1 << 30..(1 << 30) + 5));
        }
        let error = plan(&problem(1, 80), H100, &Tuning::default()).unwrap_err();
        assert!(matches!(error, Error::Unsupported(_)), "{error}");
    }

    #[test]
    fn huge_lengths_do_not_overflow() {
        let plan = plan(&problem(u64::MAX / 64, 16), H100, &Tuning::default()).unwrap();
        assert!(plan.workspace_bytes > 1 << 40);
    }
}
