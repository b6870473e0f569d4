//! A prepared scan, and the ways to give it data.

use crate::launch::{Arguments, Launch, Module};
use crate::plan::parts;
use crate::{Error, Plan, Workspace};
use cudarc::driver::{DevicePtr, DevicePtrMut};
use kogge_core::{Accumulate, Element, Problem};
use std::marker::PhantomData;
use std::sync::Arc;

/// What is combined first, on the left.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Init<A> {
    /// Nothing.
    #[default]
    None,
    /// This value, taken at the call.
    Value(A),
    /// The value at this address on the device, read by the kernel.
    Memory(u64),
}

/// A scan ready to run, as often as wanted, on any workspace of its device.
#[derive(Clone, Debug)]
pub struct Scan<T, U, A> {
    pub(crate) problem: Problem,
    pub(crate) plan: Plan,
    module: Arc<Module>,
    types: PhantomData<fn(T, A) -> U>,
}

impl<T, U, A> Scan<T, U, A>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
{
    pub(crate) fn new(problem: Problem, plan: Plan, module: Arc<Module>) -> Result<Self, Error> {
        check_alignment::<A>()?;
        Ok(Self { problem, plan, module, types: PhantomData })
    }

    /// How it will be done.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Elements it was prepared for.
    pub fn len(&self) -> u64 {
        self.problem.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.problem.len == 0
    }

    /// Scans from one device address to another, or in place if they are equal, on the workspace's
    /// stream; returns at once. The total, if wanted, goes to the address `total`, as an `A`.
    ///
    /// One launch, or for large elements a few ([`Plan::launch_len`]). It allocates only if the
    /// workspace is too small, so after a first call, or after [`Workspace::reserve`], it can be
    /// captured in a CUDA graph.
    ///
    /// # Errors
    ///
    /// [`Error::Misaligned`], [`Error::OutOfMemory`], or what the driver says.
    ///
    /// # Safety
    ///
    /// Until the stream has done it, [`len`](Self::len) elements must be readable at `input` and
    /// writable at `output`, equal or without overlap; one `A` must be readable at
    /// [`Init::Memory`]'s address and writable at `total`. All on the workspace's device.
    pub unsafe fn run(
        &self,
        workspace: &mut Workspace,
        input: u64,
        output: u64,
        init: Init<A>,
        total: Option<u64>,
    ) -> Result<(), Error> {
        let launch = Launch { input, output, len: self.problem.len, init, total };
        // SAFETY: the caller's promise.
        unsafe { self.launch(workspace, launch) }
    }

    /// Launches the kernel on as many elements as it was prepared for, or, in rounds, on fewer.
    ///
    /// # Safety
    ///
    /// As [`run`](Self::run).
    pub(crate) unsafe fn launch(
        &self,
        workspace: &mut Workspace,
        launch: Launch<A>,
    ) -> Result<(), Error> {
        aligned::<T>(launch.input)?;
        aligned::<U>(launch.output)?;
        launch.total.map_or(Ok(()), aligned::<A>)?;
        if let Init::Memory(address) = launch.init {
            aligned::<A>(address)?;
        }
        if launch.len == 0 && launch.total.is_none() {
            return Ok(());
        }
        workspace.reserve(self.plan.workspace_bytes)?;
        let parts = parts(launch.len, self.plan.launch_len, self.problem.direction);
        let (carry, mut parts) = (|i| workspace.carry(i), parts.enumerate().peekable());
        while let Some((i, part)) = parts.next() {
            let last = parts.peek().is_none();
            let part = Launch {
                input: launch.input + part.start * size_of::<T>() as u64,
                output: launch.output + part.start * size_of::<U>() as u64,
                len: part.end - part.start,
                init: if i == 0 { launch.init } else { Init::Memory(carry(i)) },
                total: if last { launch.total } else { Some(carry(i + 1)) },
            };
            let plan = self.plan.of_fewer(&self.problem, part.len);
            let mut arguments = Arguments::new(part, workspace.address());
            // SAFETY: the caller's promise; these are the kernel's arguments; the workspace is this
            // stream's alone, and large enough.
            unsafe { self.module.launch(plan.launch(), workspace.stream(), &mut arguments) }?;
        }
        Ok(())
    }

    /// Scans from one cudarc slice or view into another, on the workspace's stream; returns at
    /// once.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] unless both have [`len`](Self::len) elements, [`Error::Unsupported`] if
    /// they are another context's; else as [`run`](Self::run).
    pub fn run_slices<I: DevicePtr<T>, D: DevicePtrMut<U>>(
        &self,
        workspace: &mut Workspace,
        input: &I,
        output: &mut D,
        init: Option<A>,
    ) -> Result<(), Error> {
        self.check(input.len(), output.len())?;
        let stream = workspace.stream().clone();
        same_context(&stream, input.stream())?;
        same_context(&stream, output.stream())?;
        let (from, _read) = input.device_ptr(&stream);
        let (to, _written) = output.device_ptr_mut(&stream);
        // SAFETY: both slices have the length and the context; cudarc orders other streams' uses by
        // the guards; one is borrowed exclusively, so they don't overlap.
        unsafe { self.run(workspace, from, to, init.map_or(Init::None, Init::Value), None) }
    }

    /// Scans a cudarc slice or view in place, as [`run_slices`](Self::run_slices) does.
    ///
    /// # Errors
    ///
    /// As [`run_slices`](Self::run_slices).
    pub fn run_in_place<D: DevicePtrMut<T>>(
        &self,
        workspace: &mut Workspace,
        data: &mut D,
        init: Option<A>,
    ) -> Result<(), Error> {
        if size_of::<T>() != size_of::<U>() {
            return Err(Error::Unsupported("in place, elements can't change their size".into()));
        }
        self.check(data.len(), data.len())?;
        let stream = workspace.stream().clone();
        same_context(&stream, data.stream())?;
        let (at, _written) = data.device_ptr_mut(&stream);
        // SAFETY: as in `run_slices`, with one slice.
        unsafe { self.run(workspace, at, at, init.map_or(Init::None, Init::Value), None) }
    }

    pub(crate) fn check(&self, input: usize, output: usize) -> Result<(), Error> {
        let (input, output, prepared) = (input as u64, output as u64, self.problem.len);
        if input == prepared && output == prepared {
            return Ok(());
        }
        Err(Error::Length { prepared, input, output })
    }
}

/// Whether kernels can keep an accumulator in their arguments.
pub(crate) fn check_alignment<A>() -> Result<(), Error> {
    if align_of::<A>() <= 8 {
        return Ok(());
    }
    Err(Error::Unsupported(format!(
        "an accumulator aligned to {}; kernels take an alignment of 8 at most",
        align_of::<A>(),
    )))
}

pub(crate) fn aligned<T>(address: u64) -> Result<(), Error> {
    if address.is_multiple_of(align_of::<T>() as u64) {
        return Ok(());
    }
    Err(Error::Misaligned { address, align: align_of::<T>() })
}

pub(crate) fn same_context(
    stream: &cudarc::driver::CudaStream,
    other: &cudarc::driver::CudaStream,
) -> Result<(), Error> {
    if stream.context().cu_ctx() == other.context().cu_ctx() {
        return Ok(());
    }
    Err(Error::Unsupported("the data are in another context than the workspace".into()))
}
