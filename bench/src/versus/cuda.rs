//! A cell on a CUDA device: the driver's copy, kogge and CUB in this process, Python's in the
//! child, each timed by events with nothing of the buffers left in L2.

use super::cpu::Shared;
use super::cub::Cub;
use super::python::{Python, Turn};
use super::turns::Entry;
use super::{Accumulator, Inexact, Options, Summed, cell_of, compare};
use crate::Shape;
use crate::contender::Role;
use crate::machine::Gpu;
use crate::record::Cell;
use kogge::ops::Sum;
use kogge_core::device::DeviceOperator;
use kogge_core::{Direction, Kind};
use kogge_cuda::cudarc::driver::sys::{CUevent_flags, cuDriverGetVersion};
use kogge_cuda::cudarc::driver::{
    CudaSlice, CudaStream, DevicePtr, DevicePtrMut, DriverError, result,
};
use kogge_cuda::{
    Device, Init, Inits, KeyType, LineScan, LineShape, Scan, SegmentScan, SegmentSource, Workspace,
};
use std::cell::RefCell;
use std::io;
use std::sync::Arc;

/// Written before each timed call: more than any L2 holds.
const FLUSHED: usize = 256 << 20;

/// The device, and what outlives a cell.
pub(super) struct Cuda {
    device: Device,
    ordinal: usize,
    stream: Arc<CudaStream>,
    flushed: CudaSlice<u8>,
    /// CUB's scans, if they were found.
    pub cub: Option<Cub>,
}

fn failed(error: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!("the GPU failed: {error}"))
}

impl Cuda {
    /// Opens the device.
    ///
    /// # Errors
    ///
    /// No driver, no such device, or what kogge's engine says.
    pub(super) fn open(ordinal: usize) -> io::Result<Self> {
        let device = Device::open(ordinal).map_err(|error| io::Error::other(error.to_string()))?;
        let stream = device.context().new_stream().map_err(failed)?;
        let flushed = stream.alloc_zeros(FLUSHED).map_err(failed)?;
        Ok(Self { device, ordinal, stream, flushed, cub: None })
    }

    /// What the record says of it.
    pub(super) fn gpu(&self) -> io::Result<Gpu> {
        let context = self.device.context();
        let capability = self.device.capability();
        let mut cuda = 0;
        // SAFETY: writes one integer.
        unsafe { cuDriverGetVersion(&mut cuda) }.result().map_err(failed)?;
        // Linux alone tells the driver's own version without a further library.
        let version = std::fs::read_to_string("/proc/driver/nvidia/version").unwrap_or_default();
        let driver = version.split_whitespace().find(|word| {
            word.split('.').count() >= 2 && word.chars().all(|c| c.is_ascii_digit() || c == '.')
        });
        Ok(Gpu {
            name: context.name().map_err(failed)?,
            driver: format!(
                "{} (CUDA {}.{})",
                driver.unwrap_or("unknown version"),
                cuda / 1000,
                cuda % 1000 / 10
            ),
            capability: format!("{}.{}", capability.compute.0, capability.compute.1),
            multiprocessors: capability.multiprocessors,
            memory_bytes: context.total_mem().map_err(failed)? as u64,
        })
    }
}

/// The buffers of a cell on the device.
struct Buffers {
    stream: Arc<CudaStream>,
    input: CudaSlice<u8>,
    output: CudaSlice<u8>,
    /// Keys or offsets.
    beside: CudaSlice<u8>,
    /// The address of what is written before each call.
    flushed: u64,
    turn: u8,
}

impl Buffers {
    /// Addresses of the input and the output.
    fn addresses(&mut self) -> (u64, u64) {
        (self.input.device_ptr(&self.stream).0, self.output.device_ptr_mut(&self.stream).0)
    }

    /// The nanoseconds of `calls` calls, each behind a flush.
    fn timed(
        &mut self,
        calls: u32,
        mut call: impl FnMut(&Arc<CudaStream>, u64, u64) -> io::Result<()>,
    ) -> io::Result<f64> {
        let (from, to) = self.addresses();
        let mut total = 0.0;
        for _ in 0..calls {
            self.turn = self.turn.wrapping_add(1);
            // SAFETY: the buffer has this length, and outlives the cell.
            unsafe {
                result::memset_d8_async(self.flushed, self.turn, FLUSHED, self.stream.cu_stream())
            }
            .map_err(failed)?;
            let event = || self.stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT));
            let start = event().map_err(failed)?;
            call(&self.stream, from, to)?;
            let end = event().map_err(failed)?;
            total += f64::from(start.elapsed_ms(&end).map_err(failed)?) * 1e6;
        }
        Ok(total)
    }
}

type Call<'a> = Box<dyn FnMut(&Arc<CudaStream>, u64, u64) -> io::Result<()> + 'a>;

/// A contender of this process.
struct Native<'a> {
    name: String,
    role: Role,
    call: Call<'a>,
    buffers: &'a RefCell<Buffers>,
}

impl Entry for Native<'_> {
    fn name(&self) -> &str {
        &self.name
    }
    fn role(&self) -> Role {
        self.role
    }
    fn threads(&self) -> usize {
        1
    }
    fn repeats(&self) -> bool {
        false
    }
    fn run(&mut self, calls: u32) -> io::Result<f64> {
        self.buffers.borrow_mut().timed(calls, &mut self.call)
    }
}

fn copy<'a>(bytes: usize) -> Call<'a> {
    Box::new(move |stream, from, to| {
        // SAFETY: both buffers of the cell have this length.
        unsafe { result::memcpy_dtod_async(to, from, bytes, stream.cu_stream()) }.map_err(failed)
    })
}

/// kogge's scan of a shape; `beside` is the address of its keys or offsets.
fn kogge<'a, T: Summed<A>, A: Accumulator>(
    cuda: &Cuda,
    shape: Shape,
    beside: u64,
) -> io::Result<Call<'a>>
where
    Sum: DeviceOperator<A>,
{
    let (device, len) = (&cuda.device, shape.len() as u64);
    let (kind, direction) = (Kind::Inclusive, Direction::Forward);
    let mut workspace: Workspace = device.workspace_on(cuda.stream.clone());
    let source = match shape {
        Shape::Flat(_) => {
            let scan: Scan<T, T, A> = device.prepare(&Sum, kind, direction, len).map_err(failed)?;
            return Ok(Box::new(move |_, from, to| {
                // SAFETY: both buffers of the cell hold `len` elements, and outlive the stream's
                // work.
                unsafe { scan.run(&mut workspace, from, to, Init::None, None) }.map_err(failed)
            }));
        }
        Shape::Table { rows, columns, axis } => {
            let extents = [rows as u64, columns as u64];
            let lines = LineShape::row_major(&extents, axis).map_err(failed)?;
            let scan: LineScan<T, T, A> =
                device.prepare_lines(&Sum, kind, direction, &lines).map_err(failed)?;
            return Ok(Box::new(move |_, from, to| {
                // SAFETY: as above; the table is dense.
                unsafe { scan.run(&mut workspace, from, to, Inits::None, None) }.map_err(failed)
            }));
        }
        Shape::Runs { .. } => SegmentSource::Keys(KeyType::Bits32),
        Shape::Zipf { segments, .. } => {
            SegmentSource::Offsets { segments: segments as u64, bits: 64 }
        }
    };
    let scan: SegmentScan<T, T, A> =
        device.prepare_segments(&Sum, kind, direction, len, source, false).map_err(failed)?;
    Ok(Box::new(move |_, from, to| {
        // SAFETY: as above; the keys or offsets are the shape's own, and in the cell's buffers.
        unsafe { scan.run(&mut workspace, from, to, beside, Inits::None, None) }.map_err(failed)
    }))
}

/// CUB's scan of a shape and its name, if it has one.
fn cub<'a>(
    cuda: &Cuda,
    cub: &'a Cub,
    dtype: &str,
    shape: Shape,
    beside: u64,
) -> io::Result<Option<(&'static str, Call<'a>)>> {
    let Some(job) = cub.job(dtype, shape, beside) else { return Ok(None) };
    let Some(bytes) = cub.scratch_bytes(&job) else { return Ok(None) };
    let mut scratch = cuda.stream.alloc_zeros::<u8>(bytes.max(1)).map_err(failed)?;
    let name = job.name;
    let call: Call<'a> = Box::new(move |stream, from, to| {
        let memory = scratch.device_ptr_mut(stream).0;
        // SAFETY: the memory has the bytes that were asked for, the buffers hold the shape.
        unsafe { cub.scan(&job, (memory, bytes), (from, to), stream) }
    });
    Ok(Some((name, call)))
}

/// Measures the inclusive sum of a shape into another buffer.
pub(super) fn cell<T: Summed<A>, A: Accumulator>(
    cuda: &mut Cuda,
    python: Option<&mut Python>,
    shape: Shape,
    options: &Options,
    inexact: &mut Vec<Inexact>,
) -> io::Result<Cell> {
    let (len, moved) = (shape.len(), shape.moved(size_of::<T>()));
    let (keys, offsets) = (shape.keys(), shape.offsets());
    let mut host = Shared::<T>::new(moved)?;
    shape.fill(&offsets, &mut host.values_mut()[..len]);
    let result = RefCell::new(Shared::<T>::new(moved)?);
    let bytes = moved * size_of::<T>();
    let memory = |error: DriverError| failed(error);
    let stream = cuda.stream.clone();
    let device = |bytes: &[u8]| stream.clone_htod(bytes).map_err(memory);
    let beside = match shape {
        Shape::Runs { .. } => device(bytemuck::cast_slice(&keys))?,
        _ => device(bytemuck::cast_slice(&offsets))?,
    };
    let buffers = RefCell::new(Buffers {
        stream: cuda.stream.clone(),
        input: device(bytemuck::cast_slice::<T, u8>(host.values()))?,
        output: cuda.stream.alloc_zeros(bytes).map_err(memory)?,
        beside,
        flushed: cuda.flushed.device_ptr_mut(&cuda.stream).0,
        turn: 0,
    });
    let python = python.map(RefCell::new);
    let native = |name: &str, role, call| {
        Box::new(Native { name: name.to_owned(), role, call, buffers: &buffers }) as Box<dyn Entry>
    };
    let cuda = &*cuda;
    let beside = buffers.borrow().beside.device_ptr(&cuda.stream).0;
    let mut entries = vec![
        native("cudaMemcpy device to device", Role::Copy, copy(bytes)),
        native("kogge", Role::Kogge, kogge::<T, A>(cuda, shape, beside)?),
    ];
    if let Some(library) = &cuda.cub
        && let Some((name, call)) = cub(cuda, library, T::NAME, shape, beside)?
    {
        entries.push(native(name, Role::Peer, call));
    }
    if let Some(python) = &python {
        let path = result.borrow().path().to_owned();
        let place = super::Place::Cuda(cuda.ordinal);
        let peers = python.borrow_mut().open(T::NAME, shape, host.path(), &path, place)?;
        let turns = peers.into_iter().map(|peer| Turn { python, peer, checks: true });
        entries.extend(turns.map(|turn| Box::new(turn) as Box<dyn Entry>));
    }
    let fault = |one: &mut dyn Entry| {
        result.borrow_mut().values_mut().fill(T::zeroed());
        let stream = cuda.stream.clone();
        stream.memset_zeros(&mut buffers.borrow_mut().output).map_err(failed)?;
        let from_device = one.run(1)? > 0.0;
        // Python's contenders have their own memory, and leave their result in the file.
        if from_device {
            let bytes = stream.clone_dtoh(&buffers.borrow().output).map_err(failed)?;
            result.borrow_mut().values_mut().copy_from_slice(bytemuck::cast_slice(&bytes));
        }
        Ok(result.borrow().fault(len))
    };
    let series = compare(entries, fault, (T::NAME, shape), options, inexact)?;
    if let Some(python) = &python {
        python.borrow_mut().close()?;
    }
    Ok(cell_of::<T>(shape, series))
}
