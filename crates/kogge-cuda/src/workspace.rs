//! Memory that scans need beside their data, kept from call to call.

use crate::Error;
use crate::memory::DeviceMemory;
use crate::plan::CARRY_BYTES;
use crate::scan::same_context;
use crate::segments::RunSample;
use crate::staging::Staging;
use cudarc::driver::{CudaStream, result, sys};
use std::sync::Arc;

/// The workspace of one stream: an epoch, and a slot for every tile or segment of the longest scan.
///
/// Zeroed when it is allocated and never again. Scans of any type and length can share it, one
/// after another, as its one stream sees to. The memory isn't tracked by events, so a scan can be
/// captured.
#[derive(Debug)]
pub struct Workspace {
    stream: Arc<CudaStream>,
    /// Epoch and slots, behind the carries of scans of several launches: these never lie where a
    /// slot may be, since any value in one may be taken for an epoch that is to come.
    memory: Option<DeviceMemory>,
    /// Memory that a scan writes before it reads it, behind `PlacesTaken` of kernels/run_list.cuh.
    scratch: Option<DeviceMemory>,
    /// What host data travel through, once some have.
    pub(crate) staging: Option<Staging>,
    /// What is on its way to the host of the runs of a scan. After the memory that it is copied
    /// from, whose freeing waits.
    pub(crate) runs: Option<RunSample>,
}

/// Bytes of `PlacesTaken`, and as many more that what follows begins with a line of the cache.
const PLACES_TAKEN: u64 = 128;
/// Bytes of two carries.
const CARRIES: u64 = 2 * CARRY_BYTES;

impl Workspace {
    pub(crate) fn on(stream: Arc<CudaStream>) -> Self {
        Self { stream, memory: None, scratch: None, staging: None, runs: None }
    }

    /// The stream on which its scans run.
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// Bytes allocated.
    pub fn bytes(&self) -> u64 {
        [&self.memory, &self.scratch].into_iter().flatten().map(DeviceMemory::bytes).sum()
    }

    /// Allocates, unless there are so many bytes already: before a capture, or before a loop. What
    /// was there is freed, with which a graph may have been captured: that can't be launched any
    /// longer.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], or what the driver says; the workspace is empty then, and of use.
    pub fn reserve(&mut self, bytes: u64) -> Result<(), Error> {
        let bytes = bytes.saturating_add(CARRIES);
        if self.memory.as_ref().map_or(0, DeviceMemory::bytes) >= bytes {
            return Ok(());
        }
        self.memory = None;
        let memory = DeviceMemory::new(self.stream.context(), bytes)?;
        // SAFETY: so many bytes were allocated above.
        unsafe {
            result::memset_d8_async(memory.address(), 0, bytes as usize, self.stream.cu_stream())
        }?;
        self.memory = Some(memory);
        Ok(())
    }

    /// Allocates, unless there are so many bytes already, memory that isn't zeroed: what is left in
    /// it by one scan means nothing to the next. Before it lie places that are, and that every scan
    /// leaves so.
    pub(crate) fn reserve_scratch(&mut self, bytes: u64) -> Result<(), Error> {
        let bytes = bytes + PLACES_TAKEN;
        if self.scratch.as_ref().map_or(0, DeviceMemory::bytes) >= bytes {
            return Ok(());
        }
        self.scratch = None;
        let memory = DeviceMemory::new(self.stream.context(), bytes)?;
        let (address, places) = (memory.address(), PLACES_TAKEN as usize);
        // SAFETY: so many bytes and more were allocated above.
        unsafe { result::memset_d8_async(address, 0, places, self.stream.cu_stream()) }?;
        self.scratch = Some(memory);
        Ok(())
    }

    /// The address of that memory, for the stream's own use.
    pub(crate) fn scratch(&self) -> sys::CUdeviceptr {
        self.scratch.as_ref().map_or(0, |memory| memory.address() + PLACES_TAKEN)
    }

    /// The address of the places before it.
    pub(crate) fn places_taken(&self) -> sys::CUdeviceptr {
        self.scratch.as_ref().map_or(0, DeviceMemory::address)
    }

    /// Runs work on the workspace's stream after what other streams have been given so far, and
    /// before what they will be given.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if a stream is another context's; what the work or the driver says.
    pub fn between(
        &mut self,
        streams: &[&Arc<CudaStream>],
        work: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let ours = self.stream.clone();
        let others = || streams.iter().filter(|stream| !Arc::ptr_eq(stream, &ours));
        for stream in others() {
            same_context(&ours, stream)?;
            ours.join(stream)?;
        }
        let done = work(self);
        // Also after a failure: some of the work may have been launched.
        let joined = others().try_for_each(|stream| stream.join(&ours));
        done?;
        Ok(joined?)
    }

    /// Its address, for the stream's own use.
    pub(crate) fn address(&self) -> sys::CUdeviceptr {
        self.memory.as_ref().map_or(0, |memory| memory.address() + CARRIES)
    }

    /// Where the carry before launch `index` of a scan lies: two places, in turn.
    pub(crate) fn carry(&self, index: usize) -> sys::CUdeviceptr {
        let place = index as u64 % 2 * CARRY_BYTES;
        self.memory.as_ref().map_or(0, |memory| memory.address() + place)
    }
}
