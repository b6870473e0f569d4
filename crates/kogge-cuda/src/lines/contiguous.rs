//! Lines of consecutive elements. Short lines go in lots, each to a warp or a team of warps with a ring of
//! stages of its own, and no block waits for another. The tiles of longer lines, all together, go through the
//! rounds of the flat scan, where every line's look-ahead starts anew.

use super::shape::{Lines, MOST_OUTER};
use crate::inits::{InitArguments, Inits};
use crate::kernels;
use crate::launch::{Grid, Module};
use crate::plan::{LANES, WORKSPACE_HEAD, ring};
use crate::scan::aligned;
use crate::source::Program;
use crate::{Capability, Device, Error, Init, Plan, Ring, Scan, Specification, Tuning, Workspace};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::{Accumulate, Element, Order, Problem};
use std::fmt;
use std::sync::Arc;

/// Which kernel takes lines of consecutive elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContiguousKernel {
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
        /// Whether lines are whole chunks at even distances of 16 bytes. At addresses that are multiples of 16
        /// they have a kernel of their own.
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
        _ if in_one_tile => Ok(in_lots(lines, problem, device, tuning)),
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

/// Whether lines lie at even distances of whole 16 bytes, if the first does: else the rounds would go the way
/// of misaligned tiles, which costs them more than it costs lots.
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

/// Stages of a warp of `LineRings` of kernels/line_scan.cuh, at most, and what a stage has beside a lot.
const MOST_STAGES: u64 = 8;
const STAGE_PADS: u64 = 2 * 32;
/// Bytes of a warp for the lots that come, and of its `LotDraws`.
const DRAWS: u64 = 16 + 56;

/// As `LineShare` and `LineRings` of kernels/line_scan.cuh have it.
fn in_lots(
    lines: &Lines,
    problem: &Problem,
    device: Capability,
    tuning: &Tuning,
) -> ContiguousPlan {
    let order = problem.order();
    let (lanes, rows) = (u64::from(LANES), Order::ROWS_PER_SEGMENT as u64);
    let team = problem.len.div_ceil(order.segment() as u64).max(1);
    let chunks = problem.len.min(order.segment() as u64).div_ceil(order.chunk() as u64).max(1);
    let lot = if team > 1 { 1 } else { rows / chunks.div_ceil(lanes) * (lanes / chunks).max(1) };
    // For each warp barriers and the lots in its stages, those that come, and for two lots the totals of segments.
    let accumulator = problem.accumulator_bytes.max(4) as u64;
    let head =
        |warps: u64| (warps * (MOST_STAGES * 16 + DRAWS + 2 * accumulator)).next_multiple_of(128);
    let stage = stage_bytes(lines, problem, lot);
    let fitting = |warps: u64| {
        let room = u64::from(device.shared_bytes).saturating_sub(head(warps));
        let most = u64::from(tuning.line_stages).min(MOST_STAGES);
        stage.map_or(0, |stage| (room / warps / stage).min(most))
    };
    // Where lots are large, fewer warps, that two of each fit.
    let most = u64::from(tuning.line_warps).max(Order::SEGMENTS_PER_TILE as u64);
    let fewer = Order::SEGMENTS_PER_TILE as u64;
    let ringed = [most, fewer].into_iter().find(|&warps| fitting(warps) >= 2);
    let warps = ringed.unwrap_or(most);
    let (stages, stage) = match (ringed, stage) {
        (Some(warps), Some(stage)) => (fitting(warps), stage),
        _ => (0, 0),
    };
    // The lines of a lot are neighbours along one axis.
    let run = lines.outer.last().map_or(1, |axis| axis.len).max(1);
    let lots = (lines.count / run).saturating_mul(run.div_ceil(lot));
    let lot_bytes = lot.saturating_mul(problem.len).saturating_mul(problem.element_bytes as u64);
    let bunch =
        if team == 1 { u64::from(tuning.bunch_bytes).div_ceil(lot_bytes.max(1)) } else { 1 };
    // Numbers that are drawn have 32 bits.
    let bunch = if lots / bunch < 1 << 31 { bunch as u32 } else { 0 };
    ContiguousPlan {
        kernel: ContiguousKernel::Lots {
            lines: lot as u32,
            warps: warps as u32,
            bulk: device.compute >= (9, 0),
            stages: stages as u32,
            stage_bytes: stage as u32,
            bunch,
            whole: stages > 0 && are_whole(lines, problem),
        },
        even: lines.outer.len() <= 1,
        grid: lots.div_ceil(warps / team).clamp(1, device.multiprocessors.into()) as u32,
        threads: (lanes * warps) as u32,
        shared_bytes: (head(warps) + warps * stages * stage) as u32,
        cooperative: false,
        workspace_bytes: WORKSPACE_HEAD,
    }
}

/// Bytes of a stage for what a warp has of a lot of lines and what lies between them; `None` if one copy
/// can't have them, or there is nothing to copy.
fn stage_bytes(lines: &Lines, problem: &Problem, lot: u64) -> Option<u64> {
    let length = problem.len.min(problem.order().segment() as u64);
    let stride = match lines.outer.last() {
        _ if problem.len == 0 => return None,
        None => 0,
        Some(axis) => u64::try_from(axis.input_stride).ok()?,
    };
    let elements = stride.checked_mul(lot - 1)?.checked_add(length)?;
    // A line may begin anywhere in 16 bytes.
    let bytes = elements.checked_mul(problem.element_bytes as u64)?.checked_add(16 + STAGE_PADS)?;
    bytes.checked_next_multiple_of(16)
}

/// The CUDA C++ text of a plan's kernel; that of the flat scan where lines go one by one.
///
/// # Errors
///
/// As [`source()`](crate::source()).
pub(crate) fn source<T, U, A, O>(
    operator: &O,
    specification: Specification,
    plan: &ContiguousPlan,
) -> Result<String, Error>
where
    T: DeviceElement + Accumulate<A>,
    U: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let even = u32::from(plan.even);
    let constants;
    let program = match plan.kernel {
        ContiguousKernel::OneByOne(flat) => {
            return crate::source::<T, U, A, O>(operator, specification, &flat);
        }
        ContiguousKernel::Lots { warps, bulk, whole, .. } => {
            constants = format!("EVEN = {even}, WARPS = {warps}, WHOLE = {}", u32::from(whole));
            Program {
                kernel: &kernels::LINE_SCAN,
                bulk,
                constants: &constants,
                shared: "LineRings",
                shared_bytes: plan.shared_bytes,
                bounds: "LineRings<Scan>::THREADS, 1",
                arguments: "LineArguments",
                entry: "line_scan",
            }
        }
        ContiguousKernel::Rounds(ring) => {
            constants = format!("EVEN = {even}, {}", ring.constants());
            Program {
                kernel: &kernels::LINE_TILES,
                bulk: ring.bulk,
                constants: &constants,
                shared: "Ring",
                shared_bytes: plan.shared_bytes,
                bounds: "Ring<Scan>::THREADS, 1",
                arguments: "LineArguments",
                entry: "long_line_scan",
            }
        }
    };
    program.text::<T, U, A, O>(operator, specification)
}

/// `OuterAxis` of kernels/contiguous.cuh, byte for byte: strides in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct OuterAxis {
    length: u64,
    input: i64,
    output: i64,
    number: i64,
}

/// `LineArguments` of kernels/contiguous.cuh, byte for byte.
#[repr(C)]
#[derive(Clone, Debug)]
struct LineArguments {
    input: u64,
    output: u64,
    number: u64,
    length: u64,
    lines: u64,
    workspace: u64,
    whole: u32,
    dense: u32,
    stages: u32,
    stage_bytes: u32,
    bunch: u64,
    axes: u64,
    axis: [OuterAxis; MOST_OUTER],
    inits: InitArguments,
}

impl LineArguments {
    fn new<T, U>(
        lines: &Lines,
        plan: &ContiguousPlan,
        input: u64,
        output: u64,
        workspace: u64,
        inits: InitArguments,
    ) -> Self {
        let (element, place) = (size_of::<T>() as i64, size_of::<U>() as i64);
        let mut axis = [OuterAxis::default(); MOST_OUTER];
        for (axis, outer) in axis.iter_mut().zip(&lines.outer) {
            *axis = OuterAxis {
                length: outer.len,
                input: outer.input_stride * element,
                output: outer.output_stride * place,
                number: outer.number_stride,
            };
        }
        let (input, output) = (
            input.wrapping_add_signed(lines.input_offset * element),
            output.wrapping_add_signed(lines.output_offset * place),
        );
        let length = lines.line.len;
        let chunk = Order::of::<T>().chunk() as u64;
        let vector = |at: u64| at.is_multiple_of(16);
        let whole = length > 0
            && length.is_multiple_of(chunk)
            && vector(input)
            && vector(output)
            && axis.iter().all(|axis| axis.input % 16 == 0 && axis.output % 16 == 0);
        let dense = match lines.outer[..] {
            [] => true,
            [outer] => [outer.input_stride, outer.output_stride] == [length as i64; 2],
            _ => false,
        };
        let (stages, stage_bytes, bunch) = match plan.kernel {
            ContiguousKernel::Lots { stages, stage_bytes, bunch, .. } => {
                (stages, stage_bytes, bunch.into())
            }
            _ => (0, 0, 0),
        };
        Self {
            input,
            output,
            number: lines.number_offset as u64,
            length,
            lines: lines.count,
            workspace,
            whole: whole.into(),
            dense: dense.into(),
            stages,
            stage_bytes,
            bunch,
            axes: lines.outer.len() as u64,
            axis,
            inits,
        }
    }
}

/// A prepared scan of lines of consecutive elements.
#[derive(Debug)]
pub(crate) struct ContiguousScan<T, U, A> {
    lines: Lines,
    plan: ContiguousPlan,
    way: Way<T, U, A>,
}

#[derive(Debug)]
enum Way<T, U, A> {
    /// One launch, of the kernel of whole lines, if there is one, where addresses allow it.
    Kernel { whole: Option<Arc<Module>>, any: Arc<Module> },
    /// A flat scan a line.
    OneByOne(Scan<T, U, A>),
}

impl<T, U, A> ContiguousScan<T, U, A>
where
    T: DeviceElement + Accumulate<A>,
    U: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
{
    /// Plan and kernel.
    ///
    /// # Errors
    ///
    /// As [`plan()`] and [`Device::prepare`].
    pub(crate) fn prepare<O: DeviceOperator<A>>(
        device: &Device,
        operator: &O,
        problem: &Problem,
        lines: Lines,
    ) -> Result<Self, Error> {
        let Problem { len, kind, direction, .. } = *problem;
        let plan = plan(&lines, problem, device.capability(), device.tuning())?;
        let way = match plan.kernel {
            ContiguousKernel::OneByOne(_) => {
                Way::OneByOne(device.prepare::<T, U, A, O>(operator, kind, direction, len)?)
            }
            _ => {
                let specification = Specification { kind, direction };
                let module = |plan: &ContiguousPlan| {
                    let text = source::<T, U, A, O>(operator, specification, plan)?;
                    device.module(text, plan.shared_bytes)
                };
                match plan.for_any_address() {
                    Some(any) => Way::Kernel { whole: Some(module(&plan)?), any: module(&any)? },
                    None => Way::Kernel { whole: None, any: module(&plan)? },
                }
            }
        };
        Ok(Self { lines, plan, way })
    }

    pub(crate) fn plan(&self) -> &ContiguousPlan {
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
        let init_arguments = InitArguments::new(inits, totals)?;
        if self.lines.count == 0 || self.lines.line.len == 0 && totals.is_none() {
            return Ok(());
        }
        workspace.reserve(self.plan.workspace_bytes)?;
        match &self.way {
            Way::Kernel { whole, any } => {
                let address = workspace.address();
                let mut arguments = LineArguments::new::<T, U>(
                    &self.lines,
                    &self.plan,
                    input,
                    output,
                    address,
                    init_arguments,
                );
                let module = whole.as_ref().filter(|_| arguments.whole != 0).unwrap_or(any);
                let ContiguousPlan { grid: blocks, threads, shared_bytes, cooperative, .. } =
                    self.plan;
                let grid = Grid { blocks, threads, shared_bytes, cooperative, cluster: 1 };
                // SAFETY: these are the kernel's arguments; the caller's promise; the workspace is this
                // stream's alone, and large enough.
                unsafe { module.launch(grid, workspace.stream(), &mut arguments) }
            }
            Way::OneByOne(scan) => (0..self.lines.count).try_for_each(|index| {
                let place = place(&self.lines, index);
                let at = |base: u64, elements: i64, bytes: usize| {
                    base.wrapping_add_signed(elements * bytes as i64)
                };
                let own = |base: u64| at(base, place.number, size_of::<A>());
                let init = match inits {
                    Inits::None => Init::None,
                    Inits::Value(value) => Init::Value(value),
                    Inits::Memory(address) => Init::Memory(address),
                    Inits::Each(address) => Init::Memory(own(address)),
                };
                let (from, to) = (
                    at(input, place.input, size_of::<T>()),
                    at(output, place.output, size_of::<U>()),
                );
                // SAFETY: the caller's promise, for one of the lines.
                unsafe { scan.run(workspace, from, to, init, totals.map(own)) }
            }),
        }
    }
}

/// Where a line lies from the caller's addresses, in elements, and its number.
struct Place {
    input: i64,
    output: i64,
    number: i64,
}

fn place(lines: &Lines, mut index: u64) -> Place {
    let Lines { input_offset: input, output_offset: output, number_offset: number, .. } = *lines;
    let mut place = Place { input, output, number };
    for axis in lines.outer.iter().rev() {
        let step = (index % axis.len) as i64;
        index /= axis.len;
        place.input += step * axis.input_stride;
        place.output += step * axis.output_stride;
        place.number += step * axis.number_stride;
    }
    place
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
    use super::super::shape::{Axis, LineShape};
    use super::*;
    use kogge_core::{Direction, Kind};

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

    fn lines(len: u64, count: u64, pitch: i64) -> Lines {
        let axis = |len, stride| Axis { len, input_stride: stride, output_stride: stride };
        let shape = LineShape { line: axis(len, 1), outer: vec![axis(count, pitch)] };
        Lines::new(&shape, Direction::Forward).unwrap()
    }

    fn of(len: u64, count: u64, pitch: i64, element: usize, device: Capability) -> ContiguousPlan {
        plan(&lines(len, count, pitch), &problem(len, element), device, &Tuning::default()).unwrap()
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
        assert_eq!(of(256, 65, 256, 4, H100).grid, 2);
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
}
