//! Lines of consecutive elements. Short lines go a row a warp where there are few of them, and else
//! in lots, each to a warp or a team of warps with a ring of stages of its own, and no block waits
//! for another. The tiles of longer lines, all together, go through the rounds of the flat scan,
//! where every line's look-ahead starts anew.

mod lots;
mod scan;
mod short;
mod source;

pub(crate) use scan::ContiguousScan;
pub(crate) use source::source;

use super::shape::Lines;
use crate::plan::{WORKSPACE_HEAD, ring};
use crate::{Capability, Error, Plan, Ring, Tuning};
use kogge_core::Problem;
use lots::in_lots;
use short::short;
use std::fmt;

/// Which kernel takes lines of consecutive elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContiguousKernel {
    /// A warp for each row of the order: short lines of a small table.
    Short {
        /// Lines of a thread block, or rows that lines share.
        bunch: u32,
    },
    /// Resident warps, or teams of warps, that draw lots of lines: short lines.
    Lots {
        /// Lines of a lot.
        lines: u32,
        /// Warps of a thread block.
        warps: u32,
        /// Whether the copy engine fills the rings (sm_90 and newer), else asynchronous loads.
        bulk: bool,
        /// Lots that the ring of a warp holds; none if lines lie too far apart for one copy.
        stages: u32,
        /// Bytes of one.
        stage_bytes: u32,
        /// Lots that a team draws at once; none if there are too many to be drawn.
        bunch: u32,
        /// Whether lines are whole chunks at even distances of 16 bytes. At addresses that are
        /// multiples of 16 they have a kernel of their own.
        whole: bool,
    },
    /// Resident thread blocks that draw the tiles of all lines.
    Rounds(Ring),
    /// One flat scan after another: elements of which a device's shared memory holds no two tiles.
    OneByOne(Plan),
}

/// How lines of consecutive elements will be scanned. Nothing in it changes the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContiguousPlan {
    /// The kernel.
    pub kernel: ContiguousKernel,
    /// Whether the kernel takes lines at even distances alone.
    pub even: bool,
    /// Thread blocks of a launch.
    pub grid: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory a block.
    pub shared_bytes: u32,
    /// Whether blocks wait for blocks of higher index, so that all must be resident at once.
    pub cooperative: bool,
    /// Bytes of the workspace.
    pub workspace_bytes: u64,
}

impl ContiguousPlan {
    /// The same for addresses that aren't multiples of 16 bytes, if that makes a difference.
    fn for_any_address(&self) -> Option<Self> {
        let mut any = *self;
        let ContiguousKernel::Lots { whole, .. } = &mut any.kernel else { return None };
        std::mem::take(whole).then_some(any)
    }
}

impl fmt::Display for ContiguousPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kernel {
            ContiguousKernel::Short { .. } => write!(f, "short lines, a row a warp")?,
            ContiguousKernel::Lots { lines, stages, .. } => {
                write!(f, "lots of {lines} lines, {stages} stages")?
            }
            ContiguousKernel::Rounds(ring) => write!(f, "in rounds, {} stages", ring.stages)?,
            ContiguousKernel::OneByOne(_) => write!(f, "line by line")?,
        }
        write!(f, ", {} blocks of {} threads", self.grid, self.threads)
    }
}

/// The plan for lines of `problem.len` consecutive elements.
///
/// # Errors
///
/// As [`plan()`](crate::plan()).
pub(crate) fn plan(
    lines: &Lines,
    problem: &Problem,
    device: Capability,
    tuning: &Tuning,
) -> Result<ContiguousPlan, Error> {
    // Also says whether kernels take the accumulator.
    let flat = crate::plan(problem, device, &Tuning { cluster_blocks: 0, ..*tuning })?;
    let order = problem.order();
    let in_one_tile = problem.len <= order.tile() as u64;
    let segments = problem.len / order.segment() as u64;
    let accumulator = problem.accumulator_bytes.max(4) as u32;
    let tiles = problem.len.div_ceil(order.tile() as u64).saturating_mul(lines.count);
    let ring = ring(order, problem.element_bytes as u32, accumulator, 0, device, tuning);
    // Kernels count tiles in 32 bits: there is no memory for more.
    match ring.filter(|_| u32::try_from(tiles).is_ok()) {
        Some((ring, shared_bytes))
            if !in_one_tile
                || segments >= tuning.line_rounds_segments.into()
                    && begin_evenly(lines, problem) =>
        {
            let slot = u64::from(accumulator).div_ceil(8) * 16;
            let blocks = u64::from(device.multiprocessors);
            let ring = Ring { flight: in_flight(ring, problem), ..ring };
            Ok(ContiguousPlan {
                kernel: ContiguousKernel::Rounds(ring),
                // Lines of one tile were faster with the general text: 94 % of a copy, not 90.
                even: lines.outer.len() <= 1 && !in_one_tile,
                grid: tiles.clamp(1, blocks) as u32,
                threads: ring.threads(),
                shared_bytes,
                cooperative: tuning.always_cooperative || tiles > blocks,
                workspace_bytes: tiles.saturating_mul(slot).saturating_add(WORKSPACE_HEAD),
            })
        }
        _ if in_one_tile => Ok(short(lines, problem, device, tuning)
            .unwrap_or_else(|| in_lots(lines, problem, device, tuning))),
        _ => Ok(ContiguousPlan {
            kernel: ContiguousKernel::OneByOne(flat),
            even: lines.outer.len() <= 1,
            grid: flat.grid,
            threads: flat.threads,
            shared_bytes: flat.shared_bytes,
            cooperative: flat.cooperative,
            workspace_bytes: flat.workspace_bytes,
        }),
    }
}

/// Whether lines lie at even distances of whole 16 bytes, if the first does: else the rounds would
/// go the way of misaligned tiles, which costs them more than it costs lots.
fn begin_evenly(lines: &Lines, problem: &Problem) -> bool {
    let even = |stride: i64, bytes: usize| stride.wrapping_mul(bytes as i64) % 16 == 0;
    let ends = even(problem.len as i64, problem.element_bytes);
    ends && lines.outer.iter().all(|axis| {
        even(axis.input_stride, problem.element_bytes)
            && even(axis.output_stride, problem.output_bytes)
    })
}

/// Whether lines are whole chunks of whole 16 bytes, and lie at even distances of such.
fn are_whole(lines: &Lines, problem: &Problem) -> bool {
    let chunk = problem.order().chunk();
    problem.len > 0
        && problem.len.is_multiple_of(chunk as u64)
        && (chunk * problem.element_bytes).is_multiple_of(16)
        && begin_evenly(lines, problem)
}

/// Tiles of a block under way at a time: of shorter ones more, so that as many bytes are.
fn in_flight(ring: Ring, problem: &Problem) -> u32 {
    let tile = problem.order().tile() as u64;
    let elements = problem.len.div_ceil(tile).saturating_mul(tile);
    let flight = u64::from(ring.flight).saturating_mul(elements);
    let nearest = flight.saturating_add(problem.len / 2) / problem.len.max(1);
    nearest.min(ring.stages.into()) as u32
}

#[cfg(test)]
mod tests {
    use super::scan::LineArguments;
    use super::*;
    use crate::inits::{InitArguments, Inits};
    use crate::lines::shape::{Axis, LineShape};
    use kogge_core::{Direction, Kind};

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

    fn lines(len: u64, count: u64, pitch: i64) -> Lines {
        let axis = |len, stride| Axis { len, input_stride: stride, output_stride: stride };
        let shape = LineShape { line: axis(len, 1), outer: vec![axis(count, pitch)] };
        Lines::new(&shape, Direction::Forward).unwrap()
    }

    /// The plan, however small the table is.
    fn of(len: u64, count: u64, pitch: i64, element: usize, device: Capability) -> ContiguousPlan {
        let tuning = Tuning { short_line_bytes: 0, ragged_line_bytes: 0, ..Tuning::default() };
        plan(&lines(len, count, pitch), &problem(len, element), device, &tuning).unwrap()
    }

    #[test]
    fn short_lines_of_small_tables_go_a_row_a_warp() {
        let of = |len, count, bytes| {
            let tuning = Tuning {
                short_line_bytes: bytes,
                ragged_line_bytes: bytes / 4,
                ..Tuning::default()
            };
            let lines = lines(len, count, len as i64);
            let plan = plan(&lines, &problem(len, 4), H100, &tuning).unwrap();
            match plan.kernel {
                ContiguousKernel::Short { bunch } => Some((bunch, plan.grid, plan.threads)),
                _ => None,
            }
        };
        assert_eq!(of(64, 1024, 1 << 18), Some((4, 128, 128)));
        assert_eq!(of(64, 1025, 1 << 18), None);
        assert_eq!(of(1024, 64, 1 << 18), Some((1, 64, 256)));
        assert_eq!(of(1025, 64, 1 << 20), None);
        assert_eq!(of(300, 800, 1 << 20), Some((2, 400, 192)));
        assert_eq!(of(3, 20_000, 1 << 20), Some((5, 125, 160)));
        assert_eq!(of(3, 30_000, 1 << 20), None);
        assert_eq!(of(1, 1, 1 << 20), Some((1, 1, 32)));
        assert_eq!(of(0, 9, 1 << 20), None);
    }

    #[test]
    fn lots_fill_a_warp_and_fit_every_device() {
        for device in [H100, RTX] {
            for (len, lot) in
                [(1, 256), (100, 8), (128, 8), (129, 4), (1024, 1), (1025, 1), (8191, 1)]
            {
                let plan = of(len, 1 << 20, len.max(1) as i64, 4, device);
                let ContiguousKernel::Lots { lines, stages, stage_bytes, warps, .. } = plan.kernel
                else {
                    panic!("{plan} isn't in lots")
                };
                assert_eq!(u64::from(lines), lot, "{len}");
                assert!(stages >= 2 && plan.shared_bytes <= device.shared_bytes);
                assert_eq!(plan.threads, 32 * warps);
                assert!(u64::from(stage_bytes) >= len.min(1024) * lot * 4 + 15);
                assert_eq!((plan.grid, plan.cooperative), (device.multiprocessors, false));
            }
        }
    }

    #[test]
    fn small_lots_are_drawn_in_bunches_and_too_many_not_at_all() {
        for (len, count, drawn) in
            [(1, 1 << 20, 16), (256, 1 << 20, 4), (1025, 1 << 20, 1), (1025, 1 << 40, 0)]
        {
            let plan = of(len, count, len as i64, 4, H100);
            let ContiguousKernel::Lots { bunch, .. } = plan.kernel else {
                panic!("{plan} isn't in lots")
            };
            assert_eq!(bunch, drawn, "{len}");
        }
    }

    #[test]
    fn few_lines_have_few_blocks() {
        assert_eq!(of(256, 1, 256, 4, H100).grid, 1);
        assert_eq!(of(256, 65, 256, 4, H100).grid, 17);
        assert_eq!(of(1 << 20, 1, 1 << 20, 4, H100).grid, 128);
    }

    #[test]
    fn lines_far_apart_are_read_without_a_ring() {
        for pitch in [1 << 20, 4000] {
            let plan = of(256, 1000, pitch, 4, H100);
            assert!(matches!(plan.kernel, ContiguousKernel::Lots { stages: 0, .. }), "{plan}");
        }
        let empty = of(0, 1000, 1, 4, H100);
        assert!(matches!(empty.kernel, ContiguousKernel::Lots { stages: 0, .. }), "{empty}");
        let near = of(256, 1000, 300, 4, H100);
        assert!(matches!(near.kernel, ContiguousKernel::Lots { stages: 2.., .. }), "{near}");
    }

    #[test]
    fn long_lines_go_in_rounds_or_one_by_one() {
        for (len, in_rounds) in
            [(4092, false), (4096, true), (4097, false), (8191, false), (8192, true), (8193, true)]
        {
            let plan = of(len, 16, len as i64, 4, H100);
            assert_eq!(matches!(plan.kernel, ContiguousKernel::Rounds(_)), in_rounds, "{plan}");
        }
        for (len, flight) in [(4096, 4), (8192, 2), (12_288, 3), (100_001, 2), (1 << 24, 2)] {
            let plan = of(len, 16, len as i64, 4, H100);
            let ContiguousKernel::Rounds(ring) = plan.kernel else { panic!("{plan}") };
            assert_eq!(ring.flight, flight, "{len}");
        }
        let plan = of(1 << 24, 16, 1 << 24, 4, H100);
        assert!(matches!(plan.kernel, ContiguousKernel::Rounds(_)) && plan.cooperative, "{plan}");
        assert_eq!(plan.workspace_bytes, 16 + 16 * 2048 * 16);
        let large = of(1 << 20, 16, 1 << 20, 64, H100);
        assert!(matches!(large.kernel, ContiguousKernel::OneByOne(_)), "{large}");
        assert!(large.to_string().starts_with("line by line"));
    }

    #[test]
    fn arguments_tell_what_is_aligned_and_what_is_dense() {
        let of = |len: u64, pitch: i64, address: u64| {
            let lines = lines(len, 5, pitch);
            let plan = plan(&lines, &problem(len, 4), H100, &Tuning::default()).unwrap();
            let inits = InitArguments::new::<f32>(Inits::None, None).unwrap();
            let arguments =
                LineArguments::new::<f32, f32>(&lines, &plan, address, address, 0, inits);
            (arguments.whole, arguments.dense)
        };
        assert_eq!(of(256, 256, 512), (1, 1));
        assert_eq!(of(256, 256, 516), (0, 1));
        assert_eq!(of(256, 260, 512), (1, 0));
        assert_eq!(of(256, 261, 512), (0, 0));
        assert_eq!(of(255, 256, 512), (0, 0));
        assert_eq!(of(0, 1, 512), (0, 0));
    }

    /// The copy engine takes whole sectors of memory, if nobody writes there.
    #[test]
    fn arguments_tell_what_may_be_read() {
        let of = |pitch: i64, input: u64, output: u64| {
            let lines = lines(255, 5, pitch);
            let plan = plan(&lines, &problem(255, 4), H100, &Tuning::default()).unwrap();
            let inits = InitArguments::new::<f32>(Inits::None, None).unwrap();
            LineArguments::new::<f32, f32>(&lines, &plan, input, output, 0, inits).readable
        };
        assert_eq!(of(255, 1024, 8192), [1024, 1024 + 5 * 255 * 4]);
        assert_eq!(of(300, 1024, 8192), [1024, 1024 + (4 * 300 + 255) * 4]);
        assert_eq!(of(-300, 8192, 1024), [8192 - 4 * 300 * 4, 8192 + 255 * 4]);
        assert_eq!(of(255, 1024, 1024), [0, 0], "in place");
        assert_eq!(of(510, 1024, 1024 + 255 * 4), [0, 0], "line between line");
    }
}
