//! Memory that scans need beside their data, kept from call to call.

use crate::Error;
use cudarc::driver::{CudaSlice, CudaStream, DevicePtrMut, sys};
use std::sync::Arc;

/// The workspace of one stream: an epoch, and a slot for every tile or segment of the longest scan.
///
/// Zeroed when it is allocated and never again. Scans of any type and length can share it, one after
/// another, as its one stream sees to.
#[derive(Debug)]
pub struct Workspace {
    stream: Arc<CudaStream>,
    memory: Option<CudaSlice<u64>>,
}

impl Workspace {
    pub(crate) fn on(stream: Arc<CudaStream>) -> Self {
        Self { stream, memory: None }
    }

    /// The stream on which its scans run.
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> u64 {
        self.memory.as_ref().map_or(0, |memory| memory.num_bytes() as u64)
    }

    /// Allocates, unless there are so many bytes already: before a capture, or before a loop.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], or what the driver says.
    pub fn reserve(&mut self, bytes: u64) -> Result<(), Error> {
        if self.bytes() >= bytes {
            return Ok(());
        }
        // The old memory is freed in the stream's order, after the scans that use it.
        self.memory = None;
        let words = usize::try_from(bytes.div_ceil(8)).map_err(|_| Error::OutOfMemory(bytes))?;
        self.memory = Some(self.stream.alloc_zeros(words).map_err(|error| match error.0 {
            sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => Error::OutOfMemory(bytes),
            _ => error.into(),
        })?);
        Ok(())
    }

    /// Its address, for the stream's own use.
    pub(crate) fn address(&mut self) -> u64 {
        let Self { stream, memory } = self;
        memory.as_mut().map_or(0, |memory| memory.device_ptr_mut(stream).0)
    }
}
