//! Which way segments by flags or keys go, as the runs were that the last calls saw.
//!
//! Windows in one launch are fastest where runs are short, stretches where they are long, and only
//! the device knows which there are. Both leave behind where the last head lies before each window.
//! Of a few windows the host has that copied to pinned memory, waits for nothing, and goes by it
//! when it has arrived. Data of one kind are mostly scanned by one kind of runs; if not, it costs
//! time and nothing else: the bits are the same both ways.

use crate::memory::PinnedMemory;
use crate::{Error, Workspace};
use cudarc::driver::sys;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Windows that are looked at.
const SAMPLES: usize = 64;
/// Positions before a window within which windows in one launch find a head without asking others:
/// `HeadsBefore` of kernels/window_heads.cuh.
const NEAR: u64 = 128;
/// Windows with no head so near from which runs are taken for long.
const MANY: usize = SAMPLES / 4;
/// Calls from one look to the next: it takes as long as a launch.
const EVERY: u32 = 8;
/// What no position is.
const NOT_YET: u64 = u64::MAX;

/// Which way to segments by flags or keys, if sequences are long and segments without numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StretchesByKey {
    /// Windows in one launch.
    Never,
    /// Windows at first, and stretches after a call that saw long runs.
    AsTheLastCall,
    /// Stretches.
    Always,
}

/// What is known of a scan's runs.
#[derive(Debug, Default)]
pub(super) struct RunsSeen {
    long: AtomicBool,
    calls: AtomicU32,
}

impl RunsSeen {
    /// Whether they were long.
    pub(super) fn long(&self) -> bool {
        self.long.load(Ordering::Relaxed)
    }

    /// Takes note of the last heads before samples that lie `step` positions apart: each 1 + its
    /// position, or 0.
    fn note(&self, heads: impl Iterator<Item = u64>, step: u64) {
        let ends = (1..).map(|sample| sample * step);
        let far = heads.zip(ends).filter(|&(head, end)| end + 1 - head.min(end) > NEAR).count();
        self.long.store(far >= MANY, Ordering::Relaxed);
    }
}

/// Where a way leaves the last heads: 1 + its position, 8 bytes in 16, for what ends at each
/// multiple of `window`.
pub(super) struct HeadsLeft {
    pub(super) address: sys::CUdeviceptr,
    pub(super) window: u64,
    pub(super) windows: u64,
}

/// Heads on their way to the host.
#[derive(Debug)]
pub(crate) struct RunSample {
    memory: PinnedMemory,
    /// Whose they are, and how far apart.
    of: Option<(Arc<RunsSeen>, u64)>,
}

impl RunSample {
    fn heads(&self) -> impl Iterator<Item = u64> {
        let heads = self.memory.pointer().cast::<u64>();
        // SAFETY: so many are allocated and initialised. A copy engine may write them, whole ones,
        // so they are volatile.
        (0..SAMPLES).map(move |i| unsafe { heads.add(i).read_volatile() })
    }

    fn note(&mut self) {
        if self.of.is_none() || self.heads().any(|head| head == NOT_YET) {
            return;
        }
        if let Some((seen, step)) = self.of.take() {
            seen.note(self.heads(), step);
        }
    }
}

impl Workspace {
    /// Takes note of what has arrived of the runs last looked at.
    pub(super) fn note_runs(&mut self) {
        if let Some(sample) = &mut self.runs {
            sample.note();
        }
    }

    /// Has the runs of the scan last launched looked at, now and then.
    pub(super) fn look_at_runs(
        &mut self,
        seen: &Arc<RunsSeen>,
        left: HeadsLeft,
    ) -> Result<(), Error> {
        let step = left.windows / SAMPLES as u64;
        let due = seen.calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(EVERY);
        if !due || step == 0 || self.captures()? {
            return Ok(());
        }
        let stream = self.stream().clone();
        let sample = match &mut self.runs {
            Some(RunSample { of: Some(_), .. }) => return Ok(()),
            Some(sample) => sample,
            none => none.insert(RunSample {
                memory: PinnedMemory::new(stream.context(), SAMPLES * size_of::<u64>())?,
                of: None,
            }),
        };
        let heads = sample.memory.pointer().cast::<u64>();
        for i in 0..SAMPLES {
            // SAFETY: so many are allocated, and no copy is under way.
            unsafe { heads.add(i).write_volatile(NOT_YET) };
        }
        let copy = sys::CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcHost: std::ptr::null(),
            srcDevice: left.address + (step - 1) * 16,
            srcArray: std::ptr::null_mut(),
            srcPitch: step as usize * 16,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
            dstHost: heads.cast(),
            dstDevice: 0,
            dstArray: std::ptr::null_mut(),
            dstPitch: size_of::<u64>(),
            WidthInBytes: size_of::<u64>(),
            Height: SAMPLES,
        };
        // SAFETY: rows of 8 bytes, `step` windows apart, lie within what the scan has left; the
        // workspace keeps both memories until its stream has done it, as freeing those of the
        // device waits. The struct is read before the call returns.
        unsafe { sys::cuMemcpy2DAsync_v2(&copy, stream.cu_stream()) }.result()?;
        sample.of = Some((seen.clone(), step * left.window));
        Ok(())
    }

    /// Whether what its stream is given is recorded, not run.
    fn captures(&self) -> Result<bool, Error> {
        let mut status = sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        // SAFETY: the stream is alive, and the status written before the call returns.
        unsafe { sys::cuStreamIsCapturing(self.stream().cu_stream(), &mut status) }.result()?;
        Ok(status != sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Heads of runs that all have this length, before samples so far apart.
    fn equal(run: u64, step: u64) -> impl Iterator<Item = u64> {
        (1..=SAMPLES as u64).map(move |sample| (sample * step - 1) / run * run + 1)
    }

    #[test]
    fn runs_are_long_if_a_quarter_of_the_windows_see_no_head_near() {
        let seen = RunsSeen::default();
        for (run, long) in
            [(1, false), (64, false), (128, false), (1 << 20, true), (64, false), (1000, true)]
        {
            seen.note(equal(run, 8191 * 2048), 8191 * 2048);
            assert_eq!(seen.long(), long, "runs of {run}");
        }
        // Heads just near enough, of all but some windows.
        for (far, long) in [(MANY as u64 - 1, false), (MANY as u64, true)] {
            let heads = (1..=SAMPLES as u64).map(|i| i * 2048 + 1 - NEAR - u64::from(i <= far));
            seen.note(heads, 2048);
            assert_eq!(seen.long(), long, "{far} far");
        }
        // None at all, as a way may leave it that isn't done.
        seen.note(std::iter::repeat_n(0, SAMPLES), 2048);
        assert!(seen.long());
    }
}
