//! Elements on the device, safely: a buffer knows the stream on which its contents are in order,
//! and a scan on another one waits for it and makes it wait.

use crate::memory::DeviceMemory;
use crate::{Error, Init, Scan, Workspace};
use cudarc::driver::{CudaStream, result};
use kogge_core::{Accumulate, Element, bytemuck};
use std::marker::PhantomData;
use std::sync::Arc;

/// Elements `T` in device memory; freed when dropped.
#[derive(Debug)]
pub struct Buffer<T> {
    stream: Arc<CudaStream>,
    memory: DeviceMemory,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Element> Buffer<T> {
    /// So many zeros.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], or what the driver says.
    pub fn zeroed(stream: &Arc<CudaStream>, len: usize) -> Result<Self, Error> {
        let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
        let memory = DeviceMemory::new(stream.context(), bytes)?;
        // SAFETY: so many bytes were allocated above.
        unsafe {
            result::memset_d8_async(memory.address(), 0, bytes as usize, stream.cu_stream())
        }?;
        Ok(Self { stream: stream.clone(), memory, len, element: PhantomData })
    }

    /// A copy of a slice.
    ///
    /// # Errors
    ///
    /// As [`zeroed`](Self::zeroed).
    pub fn from_slice(stream: &Arc<CudaStream>, data: &[T]) -> Result<Self, Error> {
        let mut buffer = Self::zeroed(stream, data.len())?;
        buffer.write(data)?;
        Ok(buffer)
    }

    /// How many elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address of the first one.
    pub fn address(&self) -> u64 {
        self.memory.address()
    }

    /// The stream on which the contents are in order.
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// Copies a slice of the same length in, and waits for it.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the lengths differ, or what the driver says.
    pub fn write(&mut self, data: &[T]) -> Result<(), Error> {
        kogge_core::Error::unless_equal(data.len(), self.len)?;
        let bytes = bytemuck::cast_slice::<T, u8>(data);
        self.stream.context().bind_to_thread()?;
        // SAFETY: the memory has this length; the slice lives until the copy is done.
        let copied =
            unsafe { result::memcpy_htod_async(self.address(), bytes, self.stream.cu_stream()) };
        let done = self.stream.synchronize();
        copied?;
        Ok(done?)
    }

    /// Copies the elements out into a slice of the same length, and waits for it.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if the lengths differ, or what the driver says.
    pub fn read_into(&self, data: &mut [T]) -> Result<(), Error> {
        kogge_core::Error::unless_equal(self.len, data.len())?;
        let bytes = bytemuck::cast_slice_mut::<T, u8>(data);
        self.stream.context().bind_to_thread()?;
        // SAFETY: the memory has this length; the slice lives until the copy is done.
        let copied =
            unsafe { result::memcpy_dtoh_async(bytes, self.address(), self.stream.cu_stream()) };
        let done = self.stream.synchronize();
        copied?;
        Ok(done?)
    }

    /// The elements as a vector, waited for.
    ///
    /// # Errors
    ///
    /// What the driver says.
    pub fn read(&self) -> Result<Vec<T>, Error> {
        let mut data = vec![T::zeroed(); self.len];
        self.read_into(&mut data)?;
        Ok(data)
    }
}

impl<T, U, A> Scan<T, U, A>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
{
    /// Scans from one buffer into another, on the workspace's stream; returns at once. The total,
    /// if wanted, goes to the first place of a third.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] unless both have [`len`](Self::len) elements; [`Error::Unsupported`] if
    /// the third has none, or they are another context's; else as [`run`](Self::run).
    pub fn run_buffers(
        &self,
        workspace: &mut Workspace,
        input: &Buffer<T>,
        output: &mut Buffer<U>,
        init: Option<A>,
        total: Option<&mut Buffer<A>>,
    ) -> Result<(), Error> {
        self.check(input.len(), output.len())?;
        if let Some(total) = &total
            && total.is_empty()
        {
            return Err(Error::Unsupported("the total has no place in an empty buffer".into()));
        }
        let mut streams = vec![input.stream(), output.stream()];
        streams.extend(total.as_ref().map(|total| total.stream()));
        let (from, to) = (input.address(), output.address());
        let total = total.as_ref().map(|total| total.address());
        self.run_after(workspace, &streams, from, to, init, total)
    }

    /// Scans a buffer in place, as [`run_buffers`](Self::run_buffers) does.
    ///
    /// # Errors
    ///
    /// As [`run_buffers`](Self::run_buffers); [`Error::Unsupported`] if elements change their size.
    pub fn run_buffer_in_place(
        &self,
        workspace: &mut Workspace,
        data: &mut Buffer<T>,
        init: Option<A>,
    ) -> Result<(), Error> {
        if size_of::<T>() != size_of::<U>() {
            return Err(Error::Unsupported("in place, elements can't change their size".into()));
        }
        self.check(data.len(), data.len())?;
        let at = data.address();
        self.run_after(workspace, &[data.stream()], at, at, init, None)
    }

    /// Runs between what these streams have been given so far and what they will be given.
    fn run_after(
        &self,
        workspace: &mut Workspace,
        streams: &[&Arc<CudaStream>],
        from: u64,
        to: u64,
        init: Option<A>,
        total: Option<u64>,
    ) -> Result<(), Error> {
        workspace.between(streams, |workspace| {
            // SAFETY: the buffers have the scan's lengths and live until they are freed, which
            // waits for the device; the output is borrowed exclusively; the streams wait for each
            // other.
            unsafe { self.run(workspace, from, to, init.map_or(Init::None, Init::Value), total) }
        })
    }
}
