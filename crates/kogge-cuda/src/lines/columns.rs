//! Lines that don't lie in consecutive elements; most often they lie side by side. Short ones take a lane each.
//! Others go by strips of neighbours, each with a team of thread blocks that tell each other the totals of rows;
//! where there are too few for that, they are cut in smaller units.

use super::shape::{Lines, MOST_OUTER};
use crate::inits::{InitArguments, Inits};
use crate::kernels;
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
    Whole {
        /// Stages of a block's ring,
        stages: u32,
        /// each with eight chunks of a line, or with a half (2) or a quarter (4) of them where lines have no more.
        share: u32,
        /// Whether lines have no more than eight chunks.
        short: bool,
        /// Blocks that a multiprocessor must have registers for, where accumulators have four bytes at most.
        blocks: u32,
    },
    /// Strips of neighbouring lines, each with as many resident thread blocks, which take its rows in turn.
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
        Grid { blocks, threads, shared_bytes, cooperative, cluster: self.cluster() }
    }
}

impl fmt::Display for ColumnPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kernel {
            ColumnKernel::Whole { stages, .. } => {
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

/// A lane a line: `ColumnRing` of kernels/column_scan.cuh.
fn whole(
    lines: u64,
    problem: &Problem,
    device: Capability,
    tuning: &Tuning,
) -> Result<ColumnPlan, Error> {
    let octet = 8 * problem.order().chunk() as u64;
    // Stages of less than an octet, if lines have no more: then there is room for more of them.
    let short = problem.len <= octet;
    let share = [4, 2].into_iter().find(|share| problem.len <= octet / share).unwrap_or(1);
    let most_stages = u64::from(tuning.column_stages) * share;
    // Bytes by sixteen a chunk need too many registers.
    let least_blocks = tuning.column_blocks;
    let most_blocks = match short && problem.element_bytes > 1 {
        true => tuning.short_column_blocks.max(least_blocks),
        false => least_blocks,
    };
    let ring = |threads: u32, blocks: u32| {
        let elements = octet / share * u64::from(threads);
        let stage = (elements * problem.element_bytes as u64).next_multiple_of(128);
        let room = u64::from(device.shared_bytes / blocks).saturating_sub(256);
        let stages = (room / (stage + 16)).min(most_stages);
        let enough = if short { 2 } else { most_stages };
        (stages >= enough).then_some((threads, blocks, stages, stages * (stage + 16) + 256))
    };
    let threads = [8, 4, 2, 1].map(|warps| warps * LANES);
    let Some((threads, blocks, stages, shared_bytes)) = threads
        .into_iter()
        .filter(|&threads| threads <= tuning.column_lines)
        .flat_map(|threads| (least_blocks..=most_blocks).rev().map(move |blocks| (threads, blocks)))
        .find_map(|(threads, blocks)| ring(threads, blocks))
    else {
        let problem =
            format!("elements of {} bytes are more than kernels take", problem.element_bytes);
        return Err(Error::Unsupported(problem));
    };
    let resident = u64::from(device.multiprocessors * blocks);
    Ok(ColumnPlan {
        kernel: ColumnKernel::Whole { stages: stages as u32, share: share as u32, short, blocks },
        grid: lines.div_ceil(threads.into()).clamp(1, resident) as u32,
        threads,
        shared_bytes: shared_bytes as u32,
        cooperative: false,
        workspace_bytes: WORKSPACE_HEAD,
    })
}

/// Stages of the ring of units.
const STAGES: u64 = 3;

/// The strips of lines: `TeamRing` of kernels/column_teams.cuh.
#[derive(Clone, Copy)]
struct Team {
    columns: u32,
    /// Blocks of a cluster.
    cluster: u32,
    stages: u32,
    shared_bytes: u32,
    /// Blocks of a strip.
    blocks: u64,
}

impl Team {
    /// Named barriers that a block has for the workers of its stages.
    const MOST_STAGES: u64 = 15;
    /// Segments that the look-ahead takes in at once, at most.
    const MOST_SEGMENTS: u64 = 6;

    /// Threads of a block, that each has the registers which so large accumulators need.
    fn most_threads(accumulator: u64) -> u64 {
        if accumulator <= 4 { 512 } else { 384 }
    }

    /// Strips of the wanted width, or half of it where that doesn't fit, in the largest clusters that fill the machine;
    /// or none.
    fn new(lines: u64, problem: &Problem, device: Capability, tuning: &Tuning) -> Option<Self> {
        // Less than 128 bytes side by side are too narrow for the memory.
        let wanted = if problem.element_bytes < 4 { 128 } else { 64 };
        let most = if device.compute.0 >= 9 { tuning.strip_cluster } else { 1 };
        let clusters = [8, 4, 2, 1].into_iter().filter(|&cluster| cluster <= most.max(1));
        [wanted, wanted / 2]
            .into_iter()
            .flat_map(|columns| clusters.clone().map(move |cluster| (columns, cluster)))
            .filter_map(|(columns, cluster)| {
                Self::of(columns, cluster, lines, problem, device, tuning)
            })
            .find(|team| team.blocks <= tuning.strip_blocks.into())
    }

    /// Strips of so many lines, in clusters of so many blocks, if shared memory holds their stages.
    fn of(
        columns: u32,
        cluster: u32,
        lines: u64,
        problem: &Problem,
        device: Capability,
        tuning: &Tuning,
    ) -> Option<Self> {
        let strips = lines.div_ceil(columns.into());
        let rows = problem.len.div_ceil(problem.order().row() as u64);
        let machine = u64::from(device.multiprocessors);
        let blocks = match cluster {
            1 => (machine / strips).clamp(1, rows),
            _ => {
                (in_clusters(device, cluster) / strips).min(rows) / u64::from(cluster)
                    * u64::from(cluster)
            }
        };
        let at_least = |part: u64, of: u64, percent: u32| {
            u128::from(part) * 100 >= u128::from(of) * u128::from(percent)
        };
        let (width, turns) = (u64::from(columns), strips.div_ceil(machine));
        let enough = match cluster {
            // Lanes that have a line, of all that the machine has while it goes from strip to strip.
            1 => at_least(
                lines.saturating_mul(blocks),
                turns.saturating_mul(machine * width),
                tuning.strip_use,
            ),
            _ => {
                at_least(lines, strips * width, tuning.strip_use)
                    && at_least(strips * blocks, machine, tuning.strip_cluster_use)
            }
        };
        if blocks == 0 || !enough {
            return None;
        }
        let alone = (blocks == 1).then_some(rows);
        let (stages, shared_bytes) =
            Self::stages(columns, cluster, alone, problem, device, tuning)?;
        Some(Self { columns, cluster, stages, shared_bytes, blocks })
    }

    /// Stages of a block's ring, if they are enough, and the bytes of shared memory that it takes. `alone` is the rows of a
    /// strip that a block has to itself.
    fn stages(
        columns: u32,
        cluster: u32,
        alone: Option<u64>,
        problem: &Problem,
        device: Capability,
        tuning: &Tuning,
    ) -> Option<(u32, u32)> {
        const LEVELS: u64 = (Order::TILES_PER_BLOCK - 1) as u64;
        let row = (problem.order().row() as u64)
            .checked_mul(u64::from(columns) * problem.element_bytes as u64)?
            .next_multiple_of(128);
        let accumulator = problem.accumulator_bytes.max(4) as u64;
        let across = accumulator.next_multiple_of(4) * u64::from(columns);
        // Barriers, a row's total and what precedes it, and a flag; in a cluster, totals of the rows before.
        let told =
            if cluster > 1 { 2 * 8 + (Order::ROWS_PER_SEGMENT - 1) as u64 * across } else { 0 };
        let stage = row + 3 * 8 + 2 * across + 1 + told;
        // Beside the stages, totals of segments, and the delay lines of tiles.
        let others = (Self::MOST_SEGMENTS + LEVELS) * across + 256;
        let most = (u64::from(device.shared_bytes).saturating_sub(others) / stage)
            .min(Self::MOST_STAGES)
            .min(Self::most_threads(accumulator) / u64::from(columns) - 1);
        let most = match alone {
            Some(rows) if rows < Order::ROWS_PER_SEGMENT as u64 => {
                most.min(tuning.short_strip_stages.into())
            }
            Some(_) => most.min(tuning.lone_strip_stages.into()),
            None => most,
        };
        // In a cluster a stage keeps its place in the segment.
        let places =
            if cluster > 1 { Order::ROWS_PER_SEGMENT as u64 / u64::from(cluster) } else { 1 };
        let stages = most - most % places;
        let shared_bytes = (stages * stage + others).next_multiple_of(128) as u32;
        (stages >= tuning.strip_stages.into()).then_some((stages as u32, shared_bytes))
    }

    fn plan(self, lines: u64, problem: &Problem, device: Capability) -> ColumnPlan {
        let Self { columns, cluster, stages, shared_bytes, blocks } = self;
        let strips = lines.div_ceil(columns.into());
        let grid = (strips * blocks).min(device.multiprocessors.into());
        let parts = |elements: usize| problem.len.div_ceil(elements as u64);
        // In clusters the totals of rows take no slots.
        let rows = if cluster > 1 { 0 } else { parts(problem.order().row()) };
        // Lines share a slot if two totals fit into it.
        let (slot, shared) = match problem.accumulator_bytes as u64 {
            0..=4 => (16, 2),
            bytes => (bytes.div_ceil(8) * 16, 1),
        };
        let across = strips * u64::from(columns / shared);
        let slots =
            across.saturating_mul(rows + parts(problem.order().segment())).saturating_add(grid);
        let cooperative = blocks > 1;
        ColumnPlan {
            kernel: ColumnKernel::Teams { columns, stages, cluster },
            grid: grid as u32,
            threads: (stages + 1) * columns,
            shared_bytes,
            cooperative,
            workspace_bytes: match cooperative {
                true => slots.saturating_mul(slot).saturating_add(WORKSPACE_HEAD),
                false => WORKSPACE_HEAD,
            },
        }
    }
}

/// Thread blocks, one a multiprocessor, that clusters of so many leave room for. Multiprocessors lie together in some
/// eight groups, of which a cluster needs one; where they have an odd number of pairs, some are left over.
fn in_clusters(device: Capability, cluster: u32) -> u64 {
    let all = device.multiprocessors;
    let left = if cluster > 2 { all - all / 11 } else { all };
    u64::from(left - left % cluster)
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
        ColumnKernel::Whole { stages, share, short, blocks } => {
            let short = u32::from(short);
            format!(
                "COLUMNS = {}, STAGES = {stages}, SHARE = {share}, SHORT = {short}, BLOCKS = {blocks}",
                plan.threads
            )
        }
        ColumnKernel::Teams { columns, stages, cluster } => {
            format!("COLUMNS = {columns}, STAGES = {stages}, CLUSTER = {cluster}")
        }
        ColumnKernel::Rounds { columns, rows } => {
            format!("COLUMNS = {columns}, ROWS = {rows}")
        }
    };
    let common = Program {
        kernel: &kernels::COLUMN_SCAN,
        bulk: false,
        constants: &constants,
        shared: "ColumnRing",
        shared_bytes: plan.shared_bytes,
        // Registers for the delay lines; memory needs many warps to be filled.
        bounds: if size_of::<A>() <= 4 { "Scan::COLUMNS, Scan::BLOCKS" } else { "Scan::COLUMNS" },
        arguments: "ColumnArguments",
        entry: "column_scan",
    };
    let program = match plan.kernel {
        ColumnKernel::Whole { .. } => common,
        ColumnKernel::Teams { .. } => Program {
            kernel: &kernels::COLUMN_TEAMS,
            shared: "TeamRing",
            bounds: "TeamRing<Scan>::THREADS, 1",
            entry: "column_teams",
            ..common
        },
        ColumnKernel::Rounds { .. } => Program {
            kernel: &kernels::COLUMN_ROUNDS,
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
        let specification = Specification { kind: problem.kind, direction: problem.direction };
        let kernel = |tuning: &Tuning| {
            let plan = plan(lines.count, problem, device.capability(), tuning)?;
            let text = source::<T, U, A, O>(operator, specification, &plan)?;
            let module = device.module(text, plan.shared_bytes)?;
            Ok::<_, Error>((plan, module))
        };
        let (mut plan, mut module) = kernel(device.tuning())?;
        // How many clusters a device holds, it tells of a kernel only.
        while plan.cluster() > 1 && !module.holds(plan.launch())? {
            let smaller = Tuning { strip_cluster: plan.cluster() / 2, ..*device.tuning() };
            (plan, module) = kernel(&smaller)?;
        }
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
        // SAFETY: these are the kernel's arguments; the caller's promise; the workspace is this stream's
        // alone, and large enough.
        unsafe { self.module.launch(self.plan.launch(), workspace.stream(), &mut arguments) }
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
        assert_eq!(plan_of(1 << 16, 4096, 8, H100).kernel, ColumnKernel::Whole);
        assert_eq!(cut(6000, 65_536), (128, 1));
        assert_eq!(cut(70, 1 << 20), (32, 4));
        assert_eq!(cut(3, 1 << 24), (4, 32));
        assert_eq!(cut(1, 1 << 24), (1, 64));
    }

    #[test]
    fn teams_go_in_the_largest_clusters_that_fill_the_machine() {
        let of = |lines, device, tuning: &Tuning| {
            let plan = plan(lines, &problem(1 << 20, 4), device, tuning).unwrap();
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
