//! What host data travel through: lanes of pinned host memory and device memory, with a stream for
//! each direction, so that a chunk comes in while another one is scanned and a third goes out.

use crate::Error;
use crate::memory::{DeviceMemory, PinnedMemory};
use crate::plan::CARRY_BYTES;
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, result};
use std::num::NonZero;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Chunks on their way at once: one comes, one is scanned, one goes.
pub(crate) const LANES: usize = 3;

/// The lanes.
#[derive(Debug)]
pub(crate) struct Staging {
    upload: Arc<CudaStream>,
    download: Arc<CudaStream>,
    lanes: Vec<Lane>,
    carries: DeviceMemory,
    /// Bytes of a chunk: in, out.
    room: (usize, usize),
}

#[derive(Debug)]
struct Lane {
    host_input: PinnedMemory,
    host_output: PinnedMemory,
    input: DeviceMemory,
    output: DeviceMemory,
    /// The download of its last chunk.
    done: CudaEvent,
}

impl Staging {
    /// Lanes for chunks of so many bytes in and out.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], [`Error::OutOfHostMemory`], or what the driver says.
    pub(crate) fn new(context: &Arc<CudaContext>, room: (usize, usize)) -> Result<Self, Error> {
        let lane = |_| {
            Ok(Lane {
                host_input: PinnedMemory::new(context, room.0)?,
                host_output: PinnedMemory::new(context, room.1)?,
                input: DeviceMemory::new(context, room.0 as u64)?,
                output: DeviceMemory::new(context, room.1 as u64)?,
                done: context.new_event(None)?,
            })
        };
        Ok(Self {
            upload: context.new_stream()?,
            download: context.new_stream()?,
            lanes: (0..LANES).map(lane).collect::<Result<_, Error>>()?,
            carries: DeviceMemory::new(context, 2 * CARRY_BYTES)?,
            room,
        })
    }

    /// Whether chunks of so many bytes fit.
    pub(crate) fn holds(&self, room: (usize, usize)) -> bool {
        self.room.0 >= room.0 && self.room.1 >= room.1
    }

    /// The addresses of a lane's chunk on the device: in, out.
    pub(crate) fn addresses(&self, lane: usize) -> (u64, u64) {
        (self.lanes[lane].input.address(), self.lanes[lane].output.address())
    }

    /// Where the carry before chunk `index` lies: two places, in turn.
    pub(crate) fn carry(&self, index: usize) -> u64 {
        self.carries.address() + index as u64 % 2 * CARRY_BYTES
    }

    /// Starts bringing in a chunk, before whatever `scans` does from now on. The lane's last chunk
    /// has been taken out.
    pub(crate) fn upload(
        &mut self,
        lane: usize,
        chunk: &[u8],
        scans: &CudaStream,
    ) -> Result<(), Error> {
        let lane = &mut self.lanes[lane];
        // SAFETY: the lane's last upload came before its last scan, which is done.
        let host = &mut unsafe { lane.host_input.bytes() }[..chunk.len()];
        copy(host, chunk);
        // SAFETY: the device memory has room for a chunk; the pinned memory stays until `idle`.
        unsafe { result::memcpy_htod_async(lane.input.address(), host, self.upload.cu_stream()) }?;
        Ok(scans.join(&self.upload)?)
    }

    /// Starts sending out a chunk of so many bytes, after what `scans` has been given so far.
    pub(crate) fn download(
        &mut self,
        lane: usize,
        bytes: usize,
        scans: &CudaStream,
    ) -> Result<(), Error> {
        let lane = &mut self.lanes[lane];
        self.download.join(scans)?;
        // SAFETY: nothing else uses the lane's memory until `take` has waited.
        let host = &mut unsafe { lane.host_output.bytes() }[..bytes];
        // SAFETY: the device memory has room for a chunk; the pinned memory stays until `idle`.
        unsafe {
            result::memcpy_dtoh_async(host, lane.output.address(), self.download.cu_stream())
        }?;
        Ok(lane.done.record(&self.download)?)
    }

    /// Waits for a lane's download and takes its chunk.
    pub(crate) fn take(&mut self, lane: usize, chunk: &mut [u8]) -> Result<(), Error> {
        let lane = &mut self.lanes[lane];
        lane.done.synchronize()?;
        // SAFETY: the download has ended.
        copy(chunk, &unsafe { lane.host_output.bytes() }[..chunk.len()]);
        Ok(())
    }

    /// Waits until no copy engine uses the lanes.
    pub(crate) fn idle(&self) -> Result<(), Error> {
        let (uploaded, downloaded) = (self.upload.synchronize(), self.download.synchronize());
        uploaded?;
        Ok(downloaded?)
    }
}

/// Copies by several threads, since one alone is slower than the bus.
fn copy(to: &mut [u8], from: &[u8]) {
    const SHARE: usize = 2 << 20;
    const MOST: usize = 4;
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MOST);
    let share = from.len().div_ceil(threads).max(SHARE);
    if from.len() <= share {
        return to.copy_from_slice(from);
    }
    let parts = Mutex::new(to.chunks_mut(share).zip(from.chunks(share)));
    let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some((to, from)) = next() {
            to.copy_from_slice(from);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // Where there is no other thread to be had, this one copies more.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_whole() {
        for len in [0, 1, 4095, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, (9 << 20) + 5] {
            let from: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
            let mut to = vec![0; len];
            copy(&mut to, &from);
            assert_eq!(to, from, "{len}");
        }
    }
}
