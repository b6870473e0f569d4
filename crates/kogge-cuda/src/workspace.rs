//! Memory that scans need beside their data, kept from call to call.

use crate::Error;
use cudarc::driver::{CudaStream, result, sys};
use std::sync::Arc;

/// The workspace of one stream: an epoch, and a slot for every tile or segment of the longest scan.
///
/// Zeroed when it is allocated and never again. Scans of any type and length can share it, one after
/// another, as its one stream sees to. The memory isn't tracked by events, so a scan can be captured.
#[derive(Debug)]
pub struct Workspace {
    stream: Arc<CudaStream>,
    address: sys::CUdeviceptr,
    bytes: u64,
}

impl Workspace {
    pub(crate) fn on(stream: Arc<CudaStream>) -> Self {
        Self { stream, address: 0, bytes: 0 }
    }

    /// The stream on which its scans run.
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Allocates, unless there are so many bytes already: before a capture, or before a loop.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], or what the driver says; the workspace is empty then, and of use.
    pub fn reserve(&mut self, bytes: u64) -> Result<(), Error> {
        if self.bytes >= bytes {
            return Ok(());
        }
        self.release()?;
        let size = usize::try_from(bytes).map_err(|_| Error::OutOfMemory(bytes))?;
        let stream = self.stream.cu_stream();
        self.stream.context().bind_to_thread()?;
        // SAFETY: the context is bound; the address is freed by `release` alone.
        let address = unsafe { result::malloc_sync(size) }.map_err(|error| match error.0 {
            sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => Error::OutOfMemory(bytes),
            _ => error.into(),
        })?;
        (self.address, self.bytes) = (address, bytes);
        // SAFETY: so many bytes were allocated above.
        unsafe { result::memset_d8_async(address, 0, size, stream) }?;
        Ok(())
    }

    /// Frees the memory, after the scans that use it.
    fn release(&mut self) -> Result<(), Error> {
        let address = std::mem::take(&mut self.address);
        self.bytes = 0;
        if address != 0 {
            self.stream.context().bind_to_thread()?;
            // SAFETY: allocated by `reserve` and freed once; freeing waits for the device's work.
            unsafe { result::free_sync(address) }?;
        }
        Ok(())
    }

    /// Its address, for the stream's own use.
    pub(crate) fn address(&self) -> sys::CUdeviceptr {
        self.address
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        // A failure means that the context is gone, and the memory with it.
        let _ = self.release();
    }
}
