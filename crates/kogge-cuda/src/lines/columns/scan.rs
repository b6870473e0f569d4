//! What the kernels are told, and their launch.

use super::{ColumnKernel, ColumnPlan, plan, plan_anywhere, source};
use crate::inits::{InitArguments, Inits};
use crate::launch::Module;
use crate::lines::shape::{Lines, MOST_OUTER};
use crate::scan::aligned;
use crate::{Device, Error, Specification, Tuning, Workspace};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::{Accumulate, Direction, Element, Problem};
use std::marker::PhantomData;
use std::sync::Arc;

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
    /// Lines as they lie, walked in the direction of the scan; the workspace is yet to be told.
    fn new<T, U>(lines: &Lines, addresses: [u64; 2], inits: InitArguments) -> Self {
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
            workspace: 0,
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
    /// For addresses that aren't multiples of 16, where that makes a difference.
    anywhere: Option<(ColumnPlan, Arc<Module>)>,
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
        let compiled = |plan: ColumnPlan| {
            let text = source::<T, U, A, O>(operator, specification, &plan)?;
            let module = device.module(text, plan.shared_bytes)?;
            Ok::<_, Error>((plan, module))
        };
        let kernel =
            |tuning: &Tuning| compiled(plan(&lines, problem, device.capability(), tuning)?);
        let (mut plan, mut module) = kernel(device.tuning())?;
        // How many clusters a device holds, it tells of a kernel only.
        while plan.cluster() > 1 && !module.holds(plan.launch())? {
            let smaller = Tuning { strip_cluster: plan.cluster() / 2, ..*device.tuning() };
            (plan, module) = kernel(&smaller)?;
        }
        let anywhere = match plan.kernel {
            ColumnKernel::Short { .. } => {
                let (device, tuning) = (device.capability(), device.tuning());
                Some(compiled(plan_anywhere(lines.count, problem, device, tuning)?)?)
            }
            _ => None,
        };
        Ok(Self { lines, plan, module, anywhere, types: PhantomData })
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
        let inits = InitArguments::new(inits, totals)?;
        if self.lines.count == 0 || self.lines.line.len == 0 && totals.is_none() {
            return Ok(());
        }
        let mut arguments = ColumnArguments::new::<T, U>(&self.lines, [input, output], inits);
        let aligned = (arguments.input | arguments.output).is_multiple_of(16);
        let (plan, module) = match &self.anywhere {
            Some((plan, module)) if !aligned => (plan, module),
            _ => (&self.plan, &self.module),
        };
        workspace.reserve(plan.workspace_bytes)?;
        arguments.workspace = workspace.address();
        // SAFETY: these are the kernel's arguments; the caller's promise; the workspace is this
        // stream's alone, and large enough.
        unsafe { module.launch(plan.launch(), workspace.stream(), &mut arguments) }
    }
}
