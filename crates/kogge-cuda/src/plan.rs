//! From a problem to a plan, without touching data or device: which kernel, in which shape, with how
//! many blocks and how much memory.

use crate::{Error, Tuning};
use kogge_core::{Order, Problem};

/// What a device offers a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capability {
    /// Compute capability: major, minor.
    pub compute: (u32, u32),
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of shared memory that one thread block can have.
    pub shared_bytes: u32,
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
    /// Tiles reduced before the look-ahead.
    pub ahead: u32,
}

/// Which kernel does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// One thread block a segment: short sequences.
    Segments,
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
}

impl Plan {
    /// The same kernel on fewer elements of the problem, at least one unless it goes by segments.
    pub(crate) fn of_fewer(&self, problem: &Problem, len: u64) -> Self {
        if self.kernel == Kernel::Segments || len == problem.len {
            return *self;
        }
        let tiles = len.div_ceil(problem.order().tile() as u64);
        let grid = tiles.min(self.grid.into()) as u32;
        Self { grid, cooperative: self.cooperative && tiles > grid.into(), ..*self }
    }
}

const LANES: u32 = 32;
const WORKSPACE_HEAD: u64 = 16;
/// Segments whose totals every block can fold: 16 blocks of 32 tiles of 8.
const MOST_SEGMENTS: u64 = 16 * 256;

/// The plan for a problem on a device. `accumulator_bytes` in it is what the operator computes in.
///
/// # Errors
///
/// [`Error::Unsupported`] if the elements are too large for the device's shared memory, unless the
/// sequence is short.
///
/// ```
/// use kogge_core::{Direction, Kind, Problem};
/// use kogge_cuda::{Capability, Kernel, Tuning, plan};
///
/// let h100 = Capability { compute: (9, 0), multiprocessors: 132, shared_bytes: 232_448 };
/// let problem = Problem {
///     len: 1 << 28,
///     element_bytes: 4,
///     output_bytes: 4,
///     accumulator_bytes: 4,
///     kind: Kind::Inclusive,
///     direction: Direction::Forward,
///     in_place: false,
/// };
/// let plan = plan(&problem, h100, &Tuning::default())?;
/// assert!(matches!(plan.kernel, Kernel::Rounds(ring) if ring.bulk));
/// assert_eq!(plan.grid, 132);
/// # Ok::<_, kogge_cuda::Error>(())
/// ```
pub fn plan(problem: &Problem, device: Capability, tuning: &Tuning) -> Result<Plan, Error> {
    let order = problem.order();
    let accumulator = problem.accumulator_bytes.max(4) as u32;
    let slot = (accumulator as u64).div_ceil(8) * 16;
    let segments = problem.len.div_ceil(order.segment() as u64);
    let bytes = problem.len.saturating_mul(problem.element_bytes as u64);
    let ring = ring(order, problem.element_bytes as u32, accumulator, device, tuning);
    match ring {
        Some((ring, shared_bytes))
            if problem.len > 0 && (bytes >= tuning.rounds_bytes || segments > MOST_SEGMENTS) =>
        {
            let tiles = problem.len.div_ceil(order.tile() as u64);
            Ok(Plan {
                kernel: Kernel::Rounds(ring),
                grid: tiles.min(device.multiprocessors.into()) as u32,
                cooperative: tuning.always_cooperative || tiles > device.multiprocessors.into(),
                threads: LANES * (2 + ring.reducers + 8 * ring.groups),
                shared_bytes,
                workspace_bytes: WORKSPACE_HEAD + tiles * slot,
            })
        }
        _ if segments <= MOST_SEGMENTS => Ok(Plan {
            kernel: Kernel::Segments,
            grid: segments.max(1) as u32,
            cooperative: false,
            threads: LANES * 8,
            shared_bytes: 32 * accumulator + 64,
            workspace_bytes: WORKSPACE_HEAD + segments * slot,
        }),
        _ => Err(Error::Unsupported(format!(
            "{} elements of {} bytes: a device with {} bytes of shared memory scans at most {} of that size",
            problem.len,
            problem.element_bytes,
            device.shared_bytes,
            MOST_SEGMENTS * order.segment() as u64,
        ))),
    }
}

/// The largest ring that fits, and its shared memory.
fn ring(
    order: Order,
    element: u32,
    accumulator: u32,
    device: Capability,
    tuning: &Tuning,
) -> Option<(Ring, u32)> {
    // A tile may start anywhere in 16 bytes; a stage is a multiple of 128.
    let stage = (order.tile() as u32 * element + 16).next_multiple_of(128);
    // Beside its tile a stage has four barriers, a prefix and eight segment totals.
    let per_stage = stage + 4 * 8 + (accumulator + 16) + 8 * accumulator;
    let most = (device.shared_bytes.saturating_sub(256) / per_stage).min(tuning.stages);
    let groups = if most >= 2 * tuning.groups { tuning.groups } else { 1 };
    let stages = most / groups * groups;
    let ring = Ring {
        bulk: device.compute >= (9, 0),
        stages,
        groups,
        reducers: tuning.reducers,
        ahead: tuning.ahead.min(stages.saturating_sub(1)),
    };
    (stages >= 2).then_some((ring, stages * per_stage + 256))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kogge_core::{Direction, Kind};

    const A100: Capability =
        Capability { compute: (8, 0), multiprocessors: 108, shared_bytes: 166_912 };
    const H100: Capability =
        Capability { compute: (9, 0), multiprocessors: 132, shared_bytes: 232_448 };
    const RTX: Capability =
        Capability { compute: (12, 0), multiprocessors: 170, shared_bytes: 101_376 };

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
            Kernel::Segments => panic!("{plan:?} isn't in rounds"),
        }
    }

    #[test]
    fn rings_fit_every_device() {
        for device in [A100, H100, RTX] {
            for element in [1, 2, 3, 4, 8, 12, 16, 32] {
                if element == 32 && device == RTX {
                    // A tile of 64 KiB has no second stage there.
                    assert!(plan(&problem(1 << 30, element), device, &Tuning::default()).is_err());
                    continue;
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
    fn short_sequences_take_a_block_a_segment() {
        for (len, grid) in [(0, 1), (1, 1), (1024, 1), (1025, 2), (1 << 15, 32)] {
            let plan = plan(&problem(len, 4), H100, &Tuning::default()).unwrap();
            assert_eq!((plan.kernel, plan.grid), (Kernel::Segments, grid));
        }
    }

    #[test]
    fn nothing_to_scan_is_never_in_rounds() {
        let tuning = Tuning { rounds_bytes: 0, ..Tuning::default() };
        assert_eq!(plan(&problem(0, 4), H100, &tuning).unwrap().grid, 1);
        assert_eq!(
            plan(&problem(1, 4), H100, &tuning).unwrap().kernel,
            plan(&problem(1 << 30, 4), H100, &tuning).unwrap().kernel
        );
    }

    #[test]
    fn large_elements_go_by_segments_or_not_at_all() {
        assert_eq!(
            plan(&problem(1 << 13, 64), H100, &Tuning::default()).unwrap().kernel,
            Kernel::Segments
        );
        let error = plan(&problem(1 << 30, 64), RTX, &Tuning::default()).unwrap_err();
        assert!(matches!(error, Error::Unsupported(_)), "{error}");
    }

    #[test]
    fn huge_lengths_do_not_overflow() {
        let plan = plan(&problem(u64::MAX / 64, 16), H100, &Tuning::default()).unwrap();
        assert!(plan.workspace_bytes > 1 << 40);
    }
}
