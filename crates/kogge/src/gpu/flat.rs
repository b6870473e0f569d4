//! Scans of whole buffers.

use super::{Buffer, Device, DeviceError, Shape};
use crate::{Accumulate, Element, Error, Scan};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use std::sync::Arc;

impl Device {
    /// The scan of so many elements, prepared once.
    fn flat<T, U, A, O>(
        &self,
        scan: &Scan<T, O, A>,
        len: usize,
    ) -> Result<Arc<kogge_cuda::Scan<T, U, A>>, DeviceError>
    where
        T: DeviceElement + Accumulate<A>,
        U: DeviceElement + Accumulate<A>,
        A: Element + DeviceType,
        O: DeviceOperator<A> + 'static,
    {
        self.prepared::<U, _, _, _, _>(scan, Shape::Flat(len), |device| {
            device.prepare(&scan.operator, scan.kind, scan.direction, len as u64)
        })
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
    /// [`DeviceError::Invalid`] if the lengths differ; else as [`scan_buffer`](Self::scan_buffer).
    pub fn scan_buffer_into<U: DeviceElement + Accumulate<A>>(
        &self,
        device: &Device,
        input: &Buffer<T>,
        output: &mut Buffer<U>,
    ) -> Result<(), DeviceError> {
        // Before a kernel is prepared, and perhaps compiled.
        Error::unless_equal(input.len(), output.len())?;
        let prepared = device.flat(self, input.len())?;
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
        // Before a kernel is prepared, and perhaps compiled.
        Error::unless_equal(input.len(), output.len())?;
        let prepared = device.flat(self, input.len())?;
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
        let prepared = device.flat::<T, T, A, O>(self, data.len())?;
        prepared.run_buffer_in_place(&mut device.workspace(), data, self.init)
    }

    /// Scans a slice into another by way of a device; gives the total. Data travel in both
    /// directions at once, in chunks, so they may be larger than the device's memory.
    ///
    /// Expect the CPU to be faster unless the data are to be on the GPU anyway or the operator is
    /// costly: a bus carries less than memory does.
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
        // Before a kernel is prepared, and perhaps compiled.
        Error::unless_equal(input.len(), output.len())?;
        let prepared = device.flat(self, input.len())?;
        prepared.run_host(&mut device.workspace(), input, output, self.init)
    }
}
