//! Memory past the caches: stores that don't read what they overwrite, and prefetches.

use super::Words;

/// Bytes of a cache line.
const LINE: usize = 64;

/// How a segment treats memory.
#[derive(Clone, Copy)]
pub(crate) struct Memory {
    /// What should be in L2 next, if anything: as many bytes as the segment has.
    pub ahead: Option<*const u8>,
    /// Whether values go past the caches.
    pub stream: bool,
}

impl Memory {
    /// Asks for the row at `ahead + offset` to be brought into L2. Any address is fine.
    ///
    /// Prefetches are spread among the rows of a scan: a longer burst fills the CPU's miss buffers,
    /// and the scan stands still until they drain. The same holds for streamed stores.
    #[inline(always)]
    pub(crate) fn prefetch(self, offset: usize) {
        if let Some(ahead) = self.ahead {
            for line in (0..512).step_by(64) {
                prefetch(ahead.wrapping_add(offset + line));
            }
        }
    }
}

/// Copies with non-temporal stores, a line of 64 bytes at a time. [`fence`] makes them visible.
///
/// # Safety
///
/// `bytes` bytes must be readable at `from` and writable at `to`, and not overlap; the CPU features
/// of `H` must be present.
#[inline(always)]
pub(crate) unsafe fn copy<H: Words>(from: *const u8, to: *mut u8, bytes: usize) {
    let head = (to.addr().wrapping_neg() % LINE).min(bytes);
    let lines = (bytes - head) / LINE;
    // SAFETY: head, lines and tail together are the bytes of the contract, and lines are aligned.
    unsafe {
        from.copy_to_nonoverlapping(to, head);
        for line in 0..lines {
            H::stream_line(from.add(head + line * LINE), to.add(head + line * LINE));
        }
        let done = head + lines * LINE;
        from.add(done).copy_to_nonoverlapping(to.add(done), bytes - done);
    }
}

/// A line past the caches, with what the target guarantees.
///
/// # Safety
///
/// 64 bytes must be readable at `from` and writable at `to`, which is aligned to 64 bytes.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
pub(super) unsafe fn line(from: *const u8, to: *mut u8) {
    use core::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    let (from, to) = (from.cast::<__m128i>(), to.cast::<__m128i>());
    for i in 0..LINE / 16 {
        // SAFETY: in bounds and aligned by contract; SSE2 is part of x86-64.
        unsafe { _mm_stream_si128(to.add(i), _mm_loadu_si128(from.add(i))) }
    }
}

/// Orders this thread's non-temporal stores before whatever it does next.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
pub(crate) fn fence() {
    // SAFETY: SSE is part of x86-64.
    unsafe { core::arch::x86_64::_mm_sfence() }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
pub(crate) fn prefetch(address: *const u8) {
    use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
    // SAFETY: a prefetch never faults, whatever the address.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(address.cast()) }
}

/// A line, through the caches: stable Rust has no non-temporal stores for this target.
///
/// # Safety
///
/// 64 bytes must be readable at `from` and writable at `to`.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
pub(super) unsafe fn line(from: *const u8, to: *mut u8) {
    // SAFETY: passed on.
    unsafe { from.copy_to_nonoverlapping(to, LINE) }
}

/// Nothing to order: [`line`] uses plain stores here.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline]
pub(crate) fn fence() {}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
pub(crate) fn prefetch(_address: *const u8) {}
