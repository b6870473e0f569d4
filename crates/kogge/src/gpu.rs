//! Scans on a GPU: a device, its buffers, and what [`Scan`] does with them.
//!
//! A [`Device`] has one stream, so what is asked of it happens in the order of the asking. Scans are
//! started and not waited for; reading a buffer waits.

use crate::{Accumulate, Direction, Element, Kind, Scan};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_cuda::Workspace;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use kogge_cuda::{Buffer, Error as DeviceError};

/// What a prepared scan is kept under: its types, kind, direction and length.
type Key = (TypeId, Kind, Direction, usize);

/// Prepared scans that are kept; a program of more lengths than this prepares anew.
const MOST_PREPARED: usize = 1024;

/// A GPU. Cheap to clone; clones share its stream.
///
/// ```
/// use kogge::{Device, DeviceError, Scan, ops::Sum};
///
/// fn running_sums(data: &[f32]) -> Result<Vec<f32>, DeviceError> {
///     let device = Device::cuda(0)?;
///     let input = device.buffer(data)?;
///     let output = Scan::new(Sum).scan_buffer(&device, &input)?;
///     output.read()
/// }
///
/// match running_sums(&[1.0, 2.0, 3.0]) {
///     Ok(sums) => assert_eq!(sums, [1.0, 3.0, 6.0]),
///     // Without a GPU this says what is missing: "no CUDA driver was found (libcuda); …".
///     Err(error) => println!("{error}"),
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Device {
    inner: kogge_cuda::Device,
    workspace: Arc<Mutex<Workspace>>,
    prepared: Arc<Mutex<HashMap<Key, Arc<dyn Any + Send + Sync>>>>,
}

impl Device {
    /// NVIDIA GPU number `ordinal`, counted from 0.
    ///
    /// # Errors
    ///
    /// [`DeviceError::NoDriver`], [`DeviceError::DriverTooOld`], [`DeviceError::NoDevice`],
    /// [`DeviceError::DeviceTooOld`], or what the driver says.
    pub fn cuda(ordinal: usize) -> Result<Self, DeviceError> {
        let inner = kogge_cuda::Device::open(ordinal)?;
        let workspace = Arc::new(Mutex::new(inner.workspace()?));
        Ok(Self { inner, workspace, prepared: Arc::default() })
    }

    /// A copy of a slice in device memory.
    ///
    /// # Errors
    ///
    /// [`DeviceError::OutOfMemory`], or what the driver says.
    pub fn buffer<T: Element>(&self, data: &[T]) -> Result<Buffer<T>, DeviceError> {
        let stream = self.workspace().stream().clone();
        Buffer::from_slice(&stream, data)
    }

    /// So many zeros in device memory.
    ///
    /// # Errors
    ///
    /// [`DeviceError::OutOfMemory`], or what the driver says.
    pub fn zeros<T: Element>(&self, len: usize) -> Result<Buffer<T>, DeviceError> {
        let stream = self.workspace().stream().clone();
        Buffer::zeroed(&stream, len)
    }

    /// The device as the engine knows it, for streams, graphs and raw addresses.
    pub fn engine(&self) -> &kogge_cuda::Device {
        &self.inner
    }

    fn workspace(&self) -> MutexGuard<'_, Workspace> {
        self.workspace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The scan of so many elements, prepared once.
    fn prepare<T, U, A, O>(
        &self,
        scan: &Scan<T, O, A>,
        len: usize,
    ) -> Result<kogge_cuda::Scan<T, U, A>, DeviceError>
    where
        T: DeviceElement + Accumulate<A>,
        U: DeviceElement + Accumulate<A>,
        A: Element + DeviceType,
        O: DeviceOperator<A> + 'static,
    {
        let (kind, direction) = (scan.kind, scan.direction);
        let key = (TypeId::of::<(T, U, A, O)>(), kind, direction, len);
        let prepared = || self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        // An operator that holds a value isn't known by its type.
        let stateless = size_of::<O>() == 0;
        let found = if stateless { prepared().get(&key).cloned() } else { None };
        if let Some(found) =
            found.and_then(|found| found.downcast::<kogge_cuda::Scan<T, U, A>>().ok())
        {
            return Ok((*found).clone());
        }
        let scan = self.inner.prepare(&scan.operator, kind, direction, len as u64)?;
        if stateless {
            if prepared().len() == MOST_PREPARED {
                prepared().clear();
            }
            prepared().insert(key, Arc::new(scan.clone()));
        }
        Ok(scan)
    }
}

impl<T, O, A> Scan<T, O, A>
where
    T: DeviceElement + Accumulate<A>,
    O: DeviceOperator<A> + 'static,
    A: Element + DeviceType,
{
    /// Scans a buffer into a new one; returns before it is done.
    ///
    /// # Errors
    ///
    /// [`DeviceError::NoCompiler`] if the kernel must be compiled and NVRTC isn't there,
    /// [`DeviceError::OutOfMemory`], or what the driver says.
    pub fn scan_buffer(
        &self,
        device: &Device,
        input: &Buffer<T>,
    ) -> Result<Buffer<T>, DeviceError> {
        let mut output = device.zeros(input.len())?;
        self.scan_buffer_into(device, input, &mut output)?;
        Ok(output)
    }

    /// Scans a buffer into another of the same length and of any type that holds the accumulator;
    /// returns before it is done.
    ///
    /// # Errors
    ///
    /// [`DeviceError::Length`] if the lengths differ; else as [`scan_buffer`](Self::scan_buffer).
    pub fn scan_buffer_into<U: DeviceElement + Accumulate<A>>(
        &self,
        device: &Device,
        input: &Buffer<T>,
        output: &mut Buffer<U>,
    ) -> Result<(), DeviceError> {
        let prepared = device.prepare(self, input.len())?;
        prepared.run_buffers(&mut device.workspace(), input, output, self.init, None)
    }

    /// Scans a buffer into another; gives the total, for which it waits.
    ///
    /// # Errors
    ///
    /// As [`scan_buffer_into`](Self::scan_buffer_into).
    pub fn scan_buffer_with_total<U: DeviceElement + Accumulate<A>>(
        &self,
        device: &Device,
        input: &Buffer<T>,
        output: &mut Buffer<U>,
    ) -> Result<A, DeviceError> {
        let prepared = device.prepare(self, input.len())?;
        let (mut total, mut value) = (device.zeros(1)?, [A::zeroed()]);
        let mut workspace = device.workspace();
        prepared.run_buffers(&mut workspace, input, output, self.init, Some(&mut total))?;
        drop(workspace);
        total.read_into(&mut value)?;
        Ok(value[0])
    }

    /// Scans a buffer in place; returns before it is done.
    ///
    /// # Errors
    ///
    /// As [`scan_buffer`](Self::scan_buffer).
    pub fn scan_buffer_in_place(
        &self,
        device: &Device,
        data: &mut Buffer<T>,
    ) -> Result<(), DeviceError> {
        let prepared = device.prepare::<T, T, A, O>(self, data.len())?;
        prepared.run_buffer_in_place(&mut device.workspace(), data, self.init)
    }

    /// Scans a slice into another by way of a device; gives the total. Data travel in both directions
    /// at once, in chunks, so they may be larger than the device's memory.
    ///
    /// The CPU is faster unless the data are to be on the GPU anyway or the operator is costly: a bus
    /// carries less than memory does.
    ///
    /// # Errors
    ///
    /// As [`scan_buffer_into`](Self::scan_buffer_into); the output is in part written then.
    ///
    /// ```no_run
    /// use kogge::{Device, Scan, ops::LogAddExp};
    ///
    /// let logs = vec![-1.5f32; 1 << 28];
    /// let mut sums = vec![0f32; 1 << 28];
    /// let total = Scan::new(LogAddExp).scan_by_way_of(&Device::cuda(0)?, &logs, &mut sums)?;
    /// # Ok::<_, kogge::DeviceError>(())
    /// ```
    pub fn scan_by_way_of<U: DeviceElement + Accumulate<A>>(
        &self,
        device: &Device,
        input: &[T],
        output: &mut [U],
    ) -> Result<A, DeviceError> {
        let prepared = device.prepare(self, input.len())?;
        prepared.run_host(&mut device.workspace(), input, output, self.init)
    }
}
