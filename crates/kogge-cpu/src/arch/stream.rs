//! Memory past the caches: stores that don't read what they overwrite, and prefetches.

/// Copies with non-temporal stores where the CPU has them. [`fence`] makes them visible.
///
/// # Safety
///
/// `bytes` bytes must be readable at `from` and writable at `to`, and not overlap.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    use core::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    const LINE: usize = 64;
    let head = to.align_offset(LINE).min(bytes);
    let lines = (bytes - head) / LINE;
    // SAFETY: head, lines and tail together are the `bytes` of the contract. SSE2 is part of
    // x86-64, and `to + head` is aligned to a line wherever a line is stored.
    unsafe {
        from.copy_to_nonoverlapping(to, head);
        for line in 0..lines {
            let from = from.add(head + line * LINE).cast::<__m128i>();
            let to = to.add(head + line * LINE).cast::<__m128i>();
            for i in 0..LINE / 16 {
                _mm_stream_si128(to.add(i), _mm_loadu_si128(from.add(i)));
            }
        }
        let done = head + lines * LINE;
        from.add(done).copy_to_nonoverlapping(to.add(done), bytes - done);
    }
}

/// Orders this thread's non-temporal stores before whatever it does next.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
pub(crate) fn fence() {
    // SAFETY: SSE is part of x86-64.
    unsafe { core::arch::x86_64::_mm_sfence() }
}

/// Asks for the 64-byte line at `address` to be brought into L2. Any address is fine.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
pub(crate) fn prefetch(address: *const u8) {
    use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
    // SAFETY: a prefetch never faults, whatever the address.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(address.cast()) }
}

/// Copies; this CPU's non-temporal stores, if any, are not used.
///
/// # Safety
///
/// `bytes` bytes must be readable at `from` and writable at `to`, and not overlap.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline]
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: passed on.
    unsafe { from.copy_to_nonoverlapping(to, bytes) }
}

/// Nothing to order: [`copy`] uses plain stores here.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline]
pub(crate) fn fence() {}

/// Nothing; hardware prefetching has to do.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
pub(crate) fn prefetch(_address: *const u8) {}
