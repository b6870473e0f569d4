//! Memory that outlives a call: on the device, and on the host where the copy engines reach it.

use crate::Error;
use cudarc::driver::{CudaContext, result, sys};
use std::sync::Arc;

/// Bytes on the device, freed when dropped.
#[derive(Debug)]
pub(crate) struct DeviceMemory {
    context: Arc<CudaContext>,
    address: sys::CUdeviceptr,
    bytes: u64,
}

impl DeviceMemory {
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], or what the driver says.
    pub(crate) fn new(context: &Arc<CudaContext>, bytes: u64) -> Result<Self, Error> {
        context.bind_to_thread()?;
        let size = usize::try_from(bytes).map_err(|_| Error::OutOfMemory(bytes))?;
        // SAFETY: the context is bound; the address is freed by `drop` alone.
        let address = unsafe { result::malloc_sync(size.max(1)) };
        let address = address.map_err(|error| full(error, Error::OutOfMemory(bytes)))?;
        Ok(Self { context: context.clone(), address, bytes })
    }

    pub(crate) fn address(&self) -> sys::CUdeviceptr {
        self.address
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        let free = || -> Result<(), result::DriverError> {
            bind_to_give_back(&self.context)?;
            // SAFETY: allocated by `new` and freed once; freeing waits for the device's work.
            unsafe { result::free_sync(self.address) }
        };
        // A failure means that the context is gone, and the memory with it.
        let _ = free();
    }
}

/// Bytes on the host that are never paged out, freed when dropped.
#[derive(Debug)]
pub(crate) struct PinnedMemory {
    context: Arc<CudaContext>,
    pointer: *mut u8,
    bytes: usize,
}

// SAFETY: plain memory with one owner.
unsafe impl Send for PinnedMemory {}

impl PinnedMemory {
    /// # Errors
    ///
    /// [`Error::OutOfHostMemory`], or what the driver says.
    pub(crate) fn new(context: &Arc<CudaContext>, bytes: usize) -> Result<Self, Error> {
        context.bind_to_thread()?;
        // SAFETY: the context is bound; the pointer is freed by `drop` alone.
        let pointer = unsafe { result::malloc_host(bytes.max(1), 0) };
        let full_host = |error| full(error, Error::OutOfHostMemory(bytes as u64));
        let pointer = pointer.map_err(full_host)?.cast::<u8>();
        // SAFETY: so many bytes were allocated. Zeroed, so that a slice of them is of known values.
        unsafe { pointer.write_bytes(0, bytes) };
        Ok(Self { context: context.clone(), pointer, bytes })
    }

    /// Where they lie.
    pub(crate) fn pointer(&self) -> *mut u8 {
        self.pointer
    }

    /// The bytes.
    ///
    /// # Safety
    ///
    /// No copy engine may use them as long as the slice lives, but those that the caller starts
    /// with it.
    pub(crate) unsafe fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: allocated with this length and initialised; exclusive by the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(self.pointer, self.bytes) }
    }
}

impl Drop for PinnedMemory {
    fn drop(&mut self) {
        let free = || -> Result<(), result::DriverError> {
            bind_to_give_back(&self.context)?;
            // SAFETY: allocated by `new` and freed once.
            unsafe { result::free_host(self.pointer.cast()) }
        };
        // A failure means that the context is gone, and the memory with it.
        let _ = free();
    }
}

/// What a driver without room says, or else what it does say.
fn full(error: result::DriverError, full: Error) -> Error {
    match error.0 {
        sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => full,
        _ => error.into(),
    }
}

/// Binds a context in which something is given back. What an earlier call has left to be said of
/// it, which would be in the way, is left for the next one.
pub(crate) fn bind_to_give_back(context: &CudaContext) -> Result<(), result::DriverError> {
    let earlier = context.check_err();
    let bound = context.bind_to_thread();
    context.record_err(earlier);
    bound
}
