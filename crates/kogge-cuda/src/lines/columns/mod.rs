//! Lines that don't lie in consecutive elements; most often they lie side by side. Those of few
//! elements go in vectors of neighbours, other short ones take a lane each. Longer ones go by
//! strips of neighbours, each with a team of thread blocks that tell each other the totals of rows;
//! where there are too few for that, they are cut in smaller units.

mod rounds;
mod scan;
mod short;
mod source;
mod teams;
mod whole;

pub(crate) use scan::ColumnScan;
pub(crate) use source::source;

use crate::launch::{Grid, INIT_BYTES};
use crate::lines::shape::Lines;
use crate::plan::LANES;
use crate::{Capability, Error, Tuning};
use kogge_core::Problem;
use rounds::Cut;
use short::short;
use std::fmt;
use teams::Team;
use whole::whole;

pub use whole::LaneRing;

/// Which kernel takes lines that aren't consecutive elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKernel {
    /// A thread for as many neighbours as 16 bytes have elements, at addresses that are multiples
    /// of 16. At others the lines take another kernel.
    Short {
        /// Elements of a line, at most.
        elements: u32,
    },
    /// A lane a line, by strips that blocks draw.
    Whole(LaneRing),
    /// Strips of neighbouring lines, each with as many resident thread blocks, which take its rows
    /// in turn.
    Teams {
        /// Lines of a strip.
        columns: u32,
        /// Rows of a strip that a block has in shared memory.
        stages: u32,
        /// Blocks of a cluster, which has whole segments; one where rows go round the team.
        cluster: u32,
    },
    /// Resident thread blocks that take parts of lines in turn.
    Rounds {
        /// Neighbouring lines that a thread block takes together.
        columns: u32,
        /// Rows of each that it takes at once.
        rows: u32,
    },
}

/// How lines that aren't consecutive elements will be scanned. Nothing in it changes the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnPlan {
    /// The kernel.
    pub kernel: ColumnKernel,
    /// Thread blocks.
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

impl ColumnPlan {
    /// Blocks of a cluster: one, where there are none.
    fn cluster(&self) -> u32 {
        match self.kernel {
            ColumnKernel::Teams { cluster, .. } => cluster,
            _ => 1,
        }
    }

    fn launch(&self) -> Grid {
        let Self { grid: blocks, threads, shared_bytes, cooperative, .. } = *self;
        Grid {
            blocks,
            threads,
            shared_bytes,
            cooperative,
            cluster: self.cluster(),
            dependent: false,
        }
    }
}

impl fmt::Display for ColumnPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kernel {
            ColumnKernel::Short { elements } => {
                write!(f, "columns of {elements} elements at most, neighbours by 16 bytes")?;
            }
            ColumnKernel::Whole(LaneRing { stages, .. }) => {
                write!(f, "columns, a lane each, {stages} stages")?;
            }
            ColumnKernel::Teams { columns, stages, cluster } => {
                write!(f, "columns by teams, strips of {columns} lines, {stages} stages")?;
                if cluster > 1 {
                    write!(f, ", clusters of {cluster}")?;
                }
            }
            ColumnKernel::Rounds { columns, rows } => {
                write!(f, "columns in rounds, {columns} lines by {rows} rows")?;
            }
        }
        write!(f, ", {} blocks of {} threads", self.grid, self.threads)
    }
}

/// The plan for lines of `problem.len` elements, where addresses are multiples of 16.
///
/// # Errors
///
/// As [`plan_anywhere`].
pub(crate) fn plan(
    lines: &Lines,
    problem: &Problem,
    device: Capability,
    tuning: &Tuning,
) -> Result<ColumnPlan, Error> {
    match short(lines, problem, device, tuning) {
        Some(plan) => Ok(plan),
        None => plan_anywhere(lines.count, problem, device, tuning),
    }
}

/// The plan for so many lines of `problem.len` elements, wherever they lie.
///
/// # Errors
///
/// [`Error::Unsupported`] if the accumulator or the elements are larger than kernels take.
fn plan_anywhere(
    lines: u64,
    problem: &Problem,
    device: Capability,
    tuning: &Tuning,
) -> Result<ColumnPlan, Error> {
    if problem.accumulator_bytes > INIT_BYTES {
        return Err(Error::Unsupported(format!(
            "an accumulator of {} bytes; kernels take up to {INIT_BYTES}",
            problem.accumulator_bytes,
        )));
    }
    let warps = lines.div_ceil(LANES.into());
    let enough = u64::from(tuning.column_warps * device.multiprocessors);
    // Enough lines are faster by teams if elements have four bytes, and a lane each if not.
    if problem.len > problem.order().row() as u64
        && (warps < enough || problem.element_bytes == 4)
        && let Some(team) = Team::new(lines, problem, device, tuning)
    {
        return Ok(team.plan(lines, problem, device));
    }
    if problem.len > problem.order().row() as u64
        && warps < enough
        && let Some(cut) = Cut::new(lines, problem, device, tuning)
    {
        return Ok(cut.plan(lines, problem, device));
    }
    whole(lines, problem, device, tuning)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::shape::{Axis, LineShape};
    use kogge_core::{Direction, Kind};

    const H100: Capability = Capability::H100;
    const RTX: Capability = Capability::RTX_5090;

    fn problem(len: u64, element: usize) -> Problem {
        Problem {
            len,
            element_bytes: element,
            output_bytes: element,
            accumulator_bytes: element.max(4),
            kind: Kind::Inclusive,
            direction: Direction::Forward,
            in_place: false,
        }
    }

    fn plan_of(lines: u64, len: u64, element: usize, device: Capability) -> ColumnPlan {
        plan_anywhere(lines, &problem(len, element), device, &Tuning::default()).unwrap()
    }

    fn is_whole(plan: &ColumnPlan) -> bool {
        matches!(plan.kernel, ColumnKernel::Whole(_))
    }

    /// Of `len` elements in each of so many lines, of so many bytes as elements and as values.
    fn plan_short(shape: &LineShape, bytes: [usize; 2]) -> Option<(u32, u32, u32)> {
        let lines = Lines::new(shape, Direction::Forward).unwrap();
        let problem = Problem { output_bytes: bytes[1], ..problem(lines.line.len, bytes[0]) };
        let plan = plan(&lines, &problem, H100, &Tuning::default()).unwrap();
        match plan.kernel {
            ColumnKernel::Short { elements } => Some((elements, plan.grid, plan.threads)),
            _ => None,
        }
    }

    #[test]
    fn few_elements_side_by_side_go_in_vectors() {
        let dense = |extents: &[u64], axis, bytes| {
            plan_short(&LineShape::row_major(extents, axis).unwrap(), bytes)
        };
        assert_eq!(dense(&[4, 1 << 18], 0, [4, 4]), Some((4, 512, 128)));
        assert_eq!(dense(&[3, 1 << 18], 0, [4, 8]), Some((4, 512, 128)));
        assert_eq!(dense(&[16, 4096], 0, [4, 4]), Some((16, 32, 32)));
        assert_eq!(dense(&[16, 4096], 0, [1, 1]), Some((16, 8, 32)));
        assert_eq!(dense(&[5, 8, 6, 2], 1, [8, 8]), Some((8, 1, 32)));
        assert_eq!(dense(&[4, 1 << 40], 0, [4, 4]), None);
        assert_eq!(dense(&[17, 4096], 0, [4, 4]), None);
        assert_eq!(dense(&[17, 1 << 20], 0, [4, 4]), Some((32, 2048, 128)));
        assert_eq!(dense(&[33, 1 << 20], 0, [4, 4]), None);
        assert_eq!(dense(&[9, 4096], 0, [16, 16]), None);
        assert_eq!(dense(&[4, 4098], 0, [4, 4]), None);
        assert_eq!(dense(&[4, 4096], 0, [12, 12]), None);
        assert_eq!(dense(&[4, 4096], 0, [4, 2]), None);
        assert_eq!(dense(&[4, 1], 0, [4, 4]), None);
    }

    #[test]
    fn vectors_want_even_strides_and_neighbours() {
        let axis = |len, input_stride, output_stride| Axis { len, input_stride, output_stride };
        let of = |line, outer: &[Axis]| {
            plan_short(&LineShape { line, outer: outer.to_vec() }, [4; 2]).is_some()
        };
        assert!(of(axis(4, 64, 68), &[axis(64, 1, 1)]));
        assert!(of(axis(4, -64, 68), &[axis(3, 512, 320), axis(64, 1, 1)]));
        assert!(!of(axis(4, 66, 68), &[axis(64, 1, 1)]));
        assert!(!of(axis(4, 64, 66), &[axis(64, 1, 1)]));
        assert!(!of(axis(4, 64, 68), &[axis(3, 513, 320), axis(64, 1, 1)]));
        assert!(!of(axis(4, 64, 68), &[axis(3, 512, 322), axis(64, 1, 1)]));
        assert!(!of(axis(4, 128, 68), &[axis(64, 2, 1)]));
        assert!(!of(axis(4, 64, 128), &[axis(64, 1, 2)]));
        assert!(!of(axis(4, 2, 2), &[]));
    }

    #[test]
    fn lines_of_few_chunks_have_more_and_smaller_stages() {
        let ring = |len, element, device| match plan_of(1 << 24, len, element, device).kernel {
            ColumnKernel::Whole(LaneRing { stages, share, short, blocks }) => {
                (stages, share, short, blocks)
            }
            kernel => panic!("{len}: {kernel:?}"),
        };
        assert_eq!(ring(33, 4, H100), (3, 1, false, 2));
        assert_eq!(ring(32, 4, H100), (2, 1, true, 3));
        assert_eq!(ring(17, 4, H100), (2, 1, true, 3));
        assert_eq!(ring(16, 4, H100), (4, 2, true, 3));
        assert_eq!(ring(8, 4, H100), (9, 4, true, 3));
        // Bytes go sixteen to a chunk, which takes too many registers for a third block.
        assert_eq!(ring(16, 1, H100), (12, 4, true, 2));
        assert_eq!(ring(32, 4, RTX), (2, 1, true, 3));
    }

    #[test]
    fn short_lines_take_a_lane_each_and_long_ones_go_by_teams() {
        for (lines, len, bytes) in [(1 << 24, 16, 4), (1, 128, 4), (3, 0, 4)] {
            let plan = plan_of(lines, len, bytes, H100);
            assert!(is_whole(&plan), "{lines} × {len} of {bytes} bytes: {plan}");
        }
        let team = |lines, len| {
            let plan = plan_of(lines, len, 4, H100);
            match plan.kernel {
                ColumnKernel::Teams { columns, cluster, .. } => {
                    (columns, cluster, plan.grid, plan.cooperative)
                }
                kernel => panic!("{lines} × {len}: {kernel:?}"),
            }
        };
        assert_eq!(team(4096, 65_536), (64, 2, 128, true));
        assert_eq!(team(65_536, 4096), (64, 1, 132, false));
        assert_eq!(team(256, 1 << 20), (64, 8, 96, true));
        assert_eq!(team(144, 1 << 20), (32, 8, 120, true));
        let cut = |lines, len| match plan_of(lines, len, 4, H100).kernel {
            ColumnKernel::Rounds { columns, rows } => (columns, rows),
            kernel => panic!("{lines} × {len}: {kernel:?}"),
        };
        assert!(is_whole(&plan_of(1 << 16, 4096, 8, H100)));
        assert_eq!(cut(6000, 65_536), (128, 1));
        assert_eq!(cut(70, 1 << 20), (32, 4));
        assert_eq!(cut(3, 1 << 24), (4, 32));
        assert_eq!(cut(1, 1 << 24), (1, 64));
    }

    #[test]
    fn teams_go_in_the_largest_clusters_that_fill_the_machine() {
        let of = |lines, device, tuning: &Tuning| {
            let plan = plan_anywhere(lines, &problem(1 << 20, 4), device, tuning).unwrap();
            let ColumnKernel::Teams { stages, cluster, .. } = plan.kernel else {
                panic!("{lines}: {plan}")
            };
            let places = if cluster > 1 { 8 / cluster } else { 1 };
            assert_eq!((plan.grid % cluster, stages % places), (0, 0), "{plan}");
            (cluster, plan.grid)
        };
        let most = |strip_cluster| Tuning { strip_cluster, ..Tuning::default() };
        assert_eq!(of(256, H100, &most(8)), (8, 96));
        assert_eq!(of(256, H100, &most(4)), (4, 112));
        assert_eq!(of(256, H100, &most(2)), (2, 128));
        assert_eq!(of(256, H100, &most(1)), (1, 132));
        assert_eq!(of(256, Capability { compute: (8, 0), ..H100 }, &most(8)), (1, 132));
        // Three blocks a strip: clusters of two would leave a third of the machine without work.
        assert_eq!(of(44 * 64, H100, &most(8)), (1, 132));
    }

    #[test]
    fn units_fit_every_device_and_fill_their_warps() {
        for device in [H100, RTX] {
            for element in [1, 2, 3, 4, 8, 12, 16, 32, 64] {
                for lines in [1, 2, 5, 100, 4000] {
                    let plan = plan_of(lines, 1 << 20, element, device);
                    assert!(plan.shared_bytes <= device.shared_bytes);
                    assert_eq!(plan.threads % LANES, 0);
                    assert!(plan.grid <= device.multiprocessors || is_whole(&plan));
                    if element <= 16 {
                        assert!(!is_whole(&plan), "{element} bytes on {device:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn huge_shapes_do_not_overflow() {
        let plan = plan_of(1, 1 << 62, 4, H100);
        assert!(plan.workspace_bytes > 1 << 52 && plan.grid == 132);
        assert_eq!(plan_of(1 << 62, 2, 4, H100).grid, 132 * 3);
        assert!(plan_anywhere(1, &problem(2, 65), H100, &Tuning::default()).is_err());
    }
}
