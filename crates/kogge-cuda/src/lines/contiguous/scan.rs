//! What the kernels are told, and their launch; or a flat scan a line.

use super::{ContiguousKernel, ContiguousPlan, plan, source};
use crate::inits::{InitArguments, Inits};
use crate::launch::{Grid, Module};
use crate::lines::shape::{Lines, MOST_OUTER};
use crate::scan::aligned;
use crate::{Device, Error, Init, Scan, Specification, Workspace};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::{Accumulate, Element, Order, Problem};
use std::sync::Arc;

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
pub(super) struct LineArguments {
    input: u64,
    output: u64,
    number: u64,
    length: u64,
    lines: u64,
    workspace: u64,
    pub(super) readable: [u64; 2],
    pub(super) whole: u32,
    pub(super) dense: u32,
    stages: u32,
    stage_bytes: u32,
    bunch: u64,
    axes: u64,
    axis: [OuterAxis; MOST_OUTER],
    inits: InitArguments,
}

impl LineArguments {
    pub(super) fn new<T, U>(
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
        // From the first line in memory to the last.
        let reach = |at: u64, element: i64, stride: fn(&OuterAxis) -> i64| {
            let line = (0, length as i64 * element);
            let (below, above) = axis.iter().fold(line, |(below, above), axis| {
                let last = axis.length.saturating_sub(1) as i64 * stride(axis);
                (below + last.min(0), above + last.max(0))
            });
            at.wrapping_add_signed(below)..at.wrapping_add_signed(above)
        };
        let read = reach(input, element, |axis| axis.input);
        let written = reach(output, place, |axis| axis.output);
        let readable = match read.end <= written.start || written.end <= read.start {
            true => [read.start, read.end],
            // In place, or line between line.
            false => [0, 0],
        };
        let dense = match lines.outer[..] {
            [] => true,
            [outer] => [outer.input_stride, outer.output_stride] == [length as i64; 2],
            _ => false,
        };
        let (stages, stage_bytes, bunch) = match plan.kernel {
            ContiguousKernel::Lots { stages, stage_bytes, bunch, .. } => {
                (stages, stage_bytes, bunch.into())
            }
            ContiguousKernel::Short { bunch } => (0, 0, bunch.into()),
            _ => (0, 0, 0),
        };
        Self {
            input,
            output,
            number: lines.number_offset as u64,
            length,
            lines: lines.count,
            workspace,
            readable,
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
    /// As [`LineScan::run`](crate::LineScan::run).
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
                let grid = Grid {
                    blocks,
                    threads,
                    shared_bytes,
                    cooperative,
                    cluster: 1,
                    dependent: false,
                };
                // SAFETY: these are the kernel's arguments; the caller's promise; the workspace is
                // this stream's alone, and large enough.
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
