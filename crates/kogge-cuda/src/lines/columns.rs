//! Lines that don't lie in consecutive elements; most often they lie side by side. Short ones take a lane each.
//! Others go by strips of neighbours, each with a team of thread blocks that tell each other the totals of rows;
//! where there are too few for that, they are cut in smaller units.

use super::shape::{Lines, MOST_OUTER};
use crate::inits::{InitArguments, Inits};
use crate::launch::{Grid, INIT_BYTES, Module};
use crate::plan::{LANES, WORKSPACE_HEAD};
use crate::scan::aligned;
use crate::source::Program;
use crate::{Capability, Device, Error, Specification, Tuning, Workspace};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::{Accumulate, Direction, Element, Order, Problem};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Which kernel takes lines that aren't consecutive elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKernel {
    /// A lane a line.
    Whole,
    /// Strips of neighbouring lines, each with as many resident thread blocks, which take its rows in turn.
    Teams {
        /// Lines of a strip.
        columns: u32,
        /// Rows of a strip that a block has in shared memory.
        stages: u32,
        /// Rows that a block reduces before it looks at the totals of others.
        ahead: u32,
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

impl fmt::Display for ColumnPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kernel {
            ColumnKernel::Whole => write!(f, "columns, a lane each")?,
            ColumnKernel::Teams { columns, stages, .. } => {
                write!(f, "columns by teams, strips of {columns} lines, {stages} stages")?;
            }
            ColumnKernel::Rounds { columns, rows } => {
                write!(f, "columns in rounds, {columns} lines by {rows} rows")?;
            }
        }
        write!(f, ", {} blocks of {} threads", self.grid, self.threads)
    }
}

/// The plan for so many lines of `problem.len` elements.
///
/// # Errors
///
/// [`Error::Unsupported`] if the accumulator or the elements are larger than kernels take.
pub(crate) fn plan(
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
        return Ok(team.plan(lines, problem, device, tuning));
    }
    if problem.len > problem.order().row() as u64
        && warps < enough
        && let Some(cut) = Cut::new(lines, problem, device, tuning)
    {
        return Ok(cut.plan(lines, problem, device));
    }
    whole(lines, problem, device, tuning)
}

/// A lane a line: `ColumnRing` of kernels/column_scan.cuh.
fn whole(
    lines: u64,
    problem: &Problem,
    device: Capability,
    tuning: &Tuning,
) -> Result<ColumnPlan, Error> {
    let bytes = |threads: u64| {
        let octet = 8 * problem.order().chunk() as u64;
        let stage = (octet * threads * problem.element_bytes as u64).next_multiple_of(128);
        STAGES * (stage + 8) + 128
    };
    let most = u64::from(device.shared_bytes / tuning.column_blocks);
    let fits = |threads: &u32| *threads <= tuning.column_lines && bytes((*threads).into()) <= most;
    let threads = [8, 4, 2, 1].map(|warps| warps * LANES);
    let Some(threads) = threads.into_iter().find(fits) else {
        let problem =
            format!("elements of {} bytes are more than kernels take", problem.element_bytes);
        return Err(Error::Unsupported(problem));
    };
    let resident = u64::from(device.multiprocessors * tuning.column_blocks);
    Ok(ColumnPlan {
        kernel: ColumnKernel::Whole,
        grid: lines.div_ceil(threads.into()).clamp(1, resident) as u32,
        threads,
        shared_bytes: bytes(threads.into()) as u32,
        cooperative: false,
        workspace_bytes: 0,
    })
}

/// Stages of the rings of the other kernels.
const STAGES: u64 = 3;

/// The strips of lines: `TeamRing` of kernels/column_teams.cuh.
#[derive(Clone, Copy)]
struct Team {
    columns: u32,
    stages: u32,
    shared_bytes: u32,
    /// Blocks of a strip.
    blocks: u64,
}

impl Team {
    /// Named barriers that a block has for the workers of its stages.
    const MOST_STAGES: u64 = 15;
    /// Segments that the look-ahead takes in at once, at most.
    const MOST_SEGMENTS: u64 = 12;

    /// Threads of a block, that each has the registers which so large accumulators need.
    fn most_threads(accumulator: u64) -> u64 {
        if accumulator <= 4 { 512 } else { 384 }
    }

    /// Strips of the wanted width, or half of it where that doesn't fit; or none.
    fn new(lines: u64, problem: &Problem, device: Capability, tuning: &Tuning) -> Option<Self> {
        // Less than 128 bytes side by side are too narrow for the memory.
        let wanted = if problem.element_bytes < 4 { 128 } else { 64 };
        let widths = [wanted, wanted / 2];
        let team = |columns| Self::of(columns, lines, problem, device, tuning);
        widths.into_iter().filter_map(team).find(|team| team.blocks <= tuning.strip_blocks.into())
    }

    /// Strips of so many lines, if shared memory holds their stages.
    fn of(
        columns: u32,
        lines: u64,
        problem: &Problem,
        device: Capability,
        tuning: &Tuning,
    ) -> Option<Self> {
        let order = problem.order();
        let row = (order.row() as u64)
            .checked_mul(u64::from(columns) * problem.element_bytes as u64)?
            .next_multiple_of(128);
        let accumulator = problem.accumulator_bytes.max(4) as u64;
        // Barriers, totals and what precedes, and a flag; beside the stages, the totals of segments.
        let stage = row + 3 * 8 + 2 * accumulator * u64::from(columns) + 1;
        let segments = Self::MOST_SEGMENTS * accumulator * u64::from(columns) + 256;
        let stages = (u64::from(device.shared_bytes).saturating_sub(segments) / stage)
            .min(Self::MOST_STAGES)
            .min(Self::most_threads(accumulator) / u64::from(columns) - 1);
        if stages < tuning.strip_stages.into() {
            return None;
        }
        let shared_bytes = (stages * stage + segments).next_multiple_of(128) as u32;
        let strips = lines.div_ceil(columns.into());
        let rows = problem.len.div_ceil(order.row() as u64);
        let machine = u64::from(device.multiprocessors);
        let blocks = (machine / strips).clamp(1, rows);
        // Lanes that have a line, of all that the machine has while it goes from strip to strip.
        let lanes = u128::from(strips.div_ceil(machine) * machine) * u128::from(columns);
        let busy =
            u128::from(lines) * u128::from(blocks) * 100 >= lanes * u128::from(tuning.strip_use);
        if !busy {
            return None;
        }
        Some(Self { columns, stages: stages as u32, shared_bytes, blocks })
    }

    fn plan(
        self,
        lines: u64,
        problem: &Problem,
        device: Capability,
        tuning: &Tuning,
    ) -> ColumnPlan {
        let Self { columns, stages, shared_bytes, blocks } = self;
        let strips = lines.div_ceil(columns.into());
        let grid = (strips * blocks).min(device.multiprocessors.into());
        let rows = problem.len.div_ceil(problem.order().row() as u64);
        // Lines share a slot if two totals fit into it.
        let (slot, shared) = match problem.accumulator_bytes as u64 {
            0..=4 => (16, 2),
            bytes => (bytes.div_ceil(8) * 16, 1),
        };
        let parts = rows + problem.len.div_ceil(problem.order().segment() as u64);
        let across = strips * u64::from(columns / shared);
        let slots = across.saturating_mul(parts).saturating_add(grid);
        let cooperative = blocks > 1;
        ColumnPlan {
            kernel: ColumnKernel::Teams {
                columns,
                stages,
                ahead: tuning.strip_ahead.min(stages - 1),
            },
            grid: grid as u32,
            threads: (stages + 1) * columns,
            shared_bytes,
            cooperative,
            workspace_bytes: match cooperative {
                true => slots.saturating_mul(slot).saturating_add(WORKSPACE_HEAD),
                false => 0,
            },
        }
    }
}

/// The unit in which lines are cut: `ColumnShared` of kernels/column_rounds.cuh.
#[derive(Clone, Copy)]
struct Cut {
    columns: u32,
    rows: u32,
    shared_bytes: u32,
}

impl Cut {
    /// The largest unit of which shared memory holds three, or none.
    fn new(lines: u64, problem: &Problem, device: Capability, tuning: &Tuning) -> Option<Self> {
        let workers = [128, 64, 32].into_iter().filter(|&workers| workers <= tuning.column_workers);
        let fits = |cut: &Self| cut.shared_bytes <= device.shared_bytes;
        workers.filter_map(|workers| Self::of(workers, lines, problem)).find(fits)
    }

    /// Of so many workers, a row of a line each.
    fn of(workers: u32, lines: u64, problem: &Problem) -> Option<Self> {
        const ROWS_PER_TILE: u32 = (Order::ROWS_PER_SEGMENT * Order::SEGMENTS_PER_TILE) as u32;
        // As many lines side by side as leave few workers without one.
        let idle = |columns: u64| lines.next_multiple_of(columns) - lines;
        let mut columns = lines.next_power_of_two().min(workers.into());
        while columns > LANES.into() && idle(columns) > lines / 8 {
            columns /= 2;
        }
        let columns = columns as u32;
        let rows = (workers / columns).min(ROWS_PER_TILE);
        let element =
            u32::try_from(problem.element_bytes).ok().filter(|&bytes| bytes <= 1 << 10)?;
        let pitch = columns * element;
        let pad = if pitch < 128 { pitch } else { 0 };
        let row = problem.order().row() as u32 * pitch + pad;
        let stage = (rows * row).next_multiple_of(128);
        Some(Self { columns, rows, shared_bytes: STAGES as u32 * (stage + 8) + 128 })
    }

    fn plan(self, lines: u64, problem: &Problem, device: Capability) -> ColumnPlan {
        let Self { columns, rows, shared_bytes } = self;
        let order = problem.order();
        let strips = lines.div_ceil(columns.into());
        let parts = |elements: usize| problem.len.div_ceil(elements as u64);
        let units = parts(order.row()).div_ceil(rows.into()).saturating_mul(strips);
        let grid = units.min(device.multiprocessors.into()).max(1);
        let slot = (problem.accumulator_bytes as u64).div_ceil(8) * 16;
        let places = parts(order.row()) + parts(order.segment()) + 2 * parts(order.tile());
        let slots = places.saturating_mul(strips * u64::from(columns)).saturating_add(grid);
        ColumnPlan {
            kernel: ColumnKernel::Rounds { columns, rows },
            grid: grid as u32,
            threads: STAGES as u32 * rows * columns,
            shared_bytes,
            cooperative: grid > 1,
            workspace_bytes: slots.saturating_mul(slot).saturating_add(WORKSPACE_HEAD),
        }
    }
}

const WHOLE: [&str; 5] = [
    include_str!("../../kernels/inits.cuh"),
    include_str!("../../kernels/columns.cuh"),
    include_str!("../../kernels/descent.cuh"),
    include_str!("../../kernels/column_fetch.cuh"),
    include_str!("../../kernels/column_scan.cuh"),
];
const TEAMS: [&str; 6] = [
    include_str!("../../kernels/inits.cuh"),
    include_str!("../../kernels/columns.cuh"),
    include_str!("../../kernels/descent.cuh"),
    include_str!("../../kernels/column_fetch.cuh"),
    include_str!("../../kernels/column_row.cuh"),
    include_str!("../../kernels/column_teams.cuh"),
];
const ROUNDS: [&str; 6] = [
    include_str!("../../kernels/inits.cuh"),
    include_str!("../../kernels/columns.cuh"),
    include_str!("../../kernels/descent.cuh"),
    include_str!("../../kernels/column_fetch.cuh"),
    include_str!("../../kernels/column_row.cuh"),
    include_str!("../../kernels/column_rounds.cuh"),
];

/// The CUDA C++ text of a plan's kernel. Strides have the direction in them, so the text hasn't.
///
/// # Errors
///
/// As [`source()`](crate::source()).
pub(crate) fn source<T, U, A, O>(
    operator: &O,
    specification: Specification,
    plan: &ColumnPlan,
) -> Result<String, Error>
where
    T: DeviceElement + Accumulate<A>,
    U: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let specification = Specification { direction: Direction::Forward, ..specification };
    let constants = match plan.kernel {
        ColumnKernel::Whole => format!("COLUMNS = {}", plan.threads),
        ColumnKernel::Teams { columns, stages, ahead } => {
            format!("COLUMNS = {columns}, STAGES = {stages}, AHEAD = {ahead}")
        }
        ColumnKernel::Rounds { columns, rows } => {
            format!("COLUMNS = {columns}, ROWS = {rows}")
        }
    };
    let common = Program {
        kernels: &WHOLE,
        bulk: false,
        constants: &constants,
        shared: "ColumnRing",
        shared_bytes: plan.shared_bytes,
        // Registers for the delay lines; memory needs many warps to be filled.
        bounds: if size_of::<A>() <= 4 {
            "Scan::COLUMNS, 512 / Scan::COLUMNS"
        } else {
            "Scan::COLUMNS"
        },
        arguments: "ColumnArguments",
        entry: "column_scan",
    };
    let program = match plan.kernel {
        ColumnKernel::Whole => common,
        ColumnKernel::Teams { .. } => Program {
            kernels: &TEAMS,
            shared: "TeamRing",
            bounds: "TeamRing<Scan>::THREADS, 1",
            entry: "column_teams",
            ..common
        },
        ColumnKernel::Rounds { .. } => Program {
            kernels: &ROUNDS,
            shared: "ColumnShared",
            bounds: "ColumnShared<Scan>::THREADS, 1",
            entry: "column_rounds",
            ..common
        },
    };
    program.text::<T, U, A, O>(operator, specification)
}

/// `OuterAxis` of kernels/columns.cuh, byte for byte: strides in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct OuterAxis {
    length: u64,
    input_stride: i64,
    output_stride: i64,
    number_stride: i64,
}

/// `ColumnArguments` of kernels/columns.cuh, byte for byte.
#[repr(C)]
#[derive(Clone, Debug)]
struct ColumnArguments {
    input: u64,
    output: u64,
    length: u64,
    input_stride: i64,
    output_stride: i64,
    lines: u64,
    first_number: i64,
    axes: u64,
    outer: [OuterAxis; MOST_OUTER],
    workspace: u64,
    inits: InitArguments,
}

impl ColumnArguments {
    /// Lines as they lie, walked in the direction of the scan.
    fn new<T, U>(lines: &Lines, addresses: [u64; 2], workspace: u64, inits: InitArguments) -> Self {
        let sizes = [size_of::<T>() as i64, size_of::<U>() as i64];
        let mut strides = [lines.line.input_stride, lines.line.output_stride];
        let mut offsets = [lines.input_offset, lines.output_offset];
        if lines.direction == Direction::Reverse && lines.line.len > 0 {
            for (offset, stride) in offsets.iter_mut().zip(&mut strides) {
                *offset += (lines.line.len - 1) as i64 * *stride;
                *stride = -*stride;
            }
        }
        let at = |side: usize| addresses[side].wrapping_add_signed(offsets[side] * sizes[side]);
        let mut outer = [OuterAxis::default(); MOST_OUTER];
        for (to, axis) in outer.iter_mut().zip(&lines.outer) {
            *to = OuterAxis {
                length: axis.len,
                input_stride: axis.input_stride * sizes[0],
                output_stride: axis.output_stride * sizes[1],
                number_stride: axis.number_stride,
            };
        }
        Self {
            input: at(0),
            output: at(1),
            length: lines.line.len,
            input_stride: strides[0] * sizes[0],
            output_stride: strides[1] * sizes[1],
            lines: lines.count,
            first_number: lines.number_offset,
            axes: lines.outer.len() as u64,
            outer,
            workspace,
            inits,
        }
    }
}

/// A prepared scan of lines that aren't consecutive elements.
#[derive(Clone, Debug)]
pub(crate) struct ColumnScan<T, U, A> {
    lines: Lines,
    plan: ColumnPlan,
    module: Arc<Module>,
    types: PhantomData<fn(T, A) -> U>,
}

impl<T, U, A> ColumnScan<T, U, A>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
{
    /// Plan and kernel.
    ///
    /// # Errors
    ///
    /// As [`plan()`] and [`Device::prepare`].
    pub(crate) fn prepare<O>(
        device: &Device,
        operator: &O,
        problem: &Problem,
        lines: Lines,
    ) -> Result<Self, Error>
    where
        T: DeviceElement,
        U: DeviceElement,
        A: DeviceType,
        O: DeviceOperator<A>,
    {
        let plan = plan(lines.count, problem, device.capability(), device.tuning())?;
        let specification = Specification { kind: problem.kind, direction: problem.direction };
        let text = source::<T, U, A, O>(operator, specification, &plan)?;
        let module = device.module(text, plan.shared_bytes)?;
        Ok(Self { lines, plan, module, types: PhantomData })
    }

    pub(crate) fn plan(&self) -> &ColumnPlan {
        &self.plan
    }

    /// Scans the lines; returns at once.
    ///
    /// # Errors
    ///
    /// [`Error::Misaligned`], [`Error::OutOfMemory`], or what the driver says.
    ///
    /// # Safety
    ///
    /// As [`LineScan::run`](super::LineScan::run).
    pub(crate) unsafe fn run(
        &self,
        workspace: &mut Workspace,
        input: u64,
        output: u64,
        inits: Inits<A>,
        totals: Option<u64>,
    ) -> Result<(), Error> {
        aligned::<T>(input)?;
        aligned::<U>(output)?;
        let inits = InitArguments::new(inits, totals)?;
        if self.lines.count == 0 || self.lines.line.len == 0 && totals.is_none() {
            return Ok(());
        }
        workspace.reserve(self.plan.workspace_bytes)?;
        let addresses = [input, output];
        let mut arguments =
            ColumnArguments::new::<T, U>(&self.lines, addresses, workspace.address(), inits);
        let ColumnPlan { grid: blocks, threads, shared_bytes, cooperative, .. } = self.plan;
        let grid = Grid { blocks, threads, shared_bytes, cooperative, cluster: false };
        // SAFETY: these are the kernel's arguments; the caller's promise; the workspace is this stream's
        // alone, and large enough.
        unsafe { self.module.launch(grid, workspace.stream(), &mut arguments) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kogge_core::Kind;

    const H100: Capability =
        Capability { compute: (9, 0), multiprocessors: 132, shared_bytes: 232_448 };
    const RTX: Capability =
        Capability { compute: (12, 0), multiprocessors: 170, shared_bytes: 101_376 };

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
        plan(lines, &problem(len, element), device, &Tuning::default()).unwrap()
    }

    #[test]
    fn short_lines_take_a_lane_each_and_long_ones_go_by_teams() {
        for (lines, len, bytes) in [(1 << 24, 16, 4), (1, 128, 4), (3, 0, 4)] {
            let plan = plan_of(lines, len, bytes, H100);
            assert_eq!(plan.kernel, ColumnKernel::Whole, "{lines} × {len} of {bytes} bytes");
        }
        let team = |lines, len| {
            let plan = plan_of(lines, len, 4, H100);
            match plan.kernel {
                ColumnKernel::Teams { columns, .. } => (columns, plan.grid, plan.cooperative),
                kernel => panic!("{lines} × {len}: {kernel:?}"),
            }
        };
        assert_eq!(team(4096, 65_536), (64, 128, true));
        assert_eq!(team(65_536, 4096), (64, 132, false));
        let cut = |lines, len| match plan_of(lines, len, 4, H100).kernel {
            ColumnKernel::Rounds { columns, rows } => (columns, rows),
            kernel => panic!("{lines} × {len}: {kernel:?}"),
        };
        assert_eq!(plan_of(1 << 16, 4096, 8, H100).kernel, ColumnKernel::Whole);
        assert_eq!(cut(256, 1 << 20), (128, 1));
        assert_eq!(cut(6000, 65_536), (128, 1));
        assert_eq!(cut(144, 1 << 20), (32, 4));
        assert_eq!(cut(3, 1 << 24), (4, 32));
        assert_eq!(cut(1, 1 << 24), (1, 64));
    }

    #[test]
    fn units_fit_every_device_and_fill_their_warps() {
        for device in [H100, RTX] {
            for element in [1, 2, 3, 4, 8, 12, 16, 32, 64] {
                for lines in [1, 2, 5, 100, 4000] {
                    let plan = plan_of(lines, 1 << 20, element, device);
                    assert!(plan.shared_bytes <= device.shared_bytes);
                    assert_eq!(plan.threads % LANES, 0);
                    assert!(
                        plan.grid <= device.multiprocessors || plan.kernel == ColumnKernel::Whole
                    );
                    if element <= 16 {
                        assert_ne!(
                            plan.kernel,
                            ColumnKernel::Whole,
                            "{element} bytes on {device:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn huge_shapes_do_not_overflow() {
        let plan = plan_of(1, 1 << 62, 4, H100);
        assert!(plan.workspace_bytes > 1 << 52 && plan.grid == 132);
        assert_eq!(plan_of(1 << 62, 2, 4, H100).grid, 132 * 2);
        assert!(super::plan(1, &problem(2, 65), H100, &Tuning::default()).is_err());
    }
}
