//! How much memory a call takes beyond its buffers: an allocator that counts.

use peak_alloc::PeakAlloc;

#[global_allocator]
static COUNTER: PeakAlloc = PeakAlloc;

/// The most bytes of heap that were held at once during a call, beyond those held before.
pub fn of(call: impl FnOnce()) -> usize {
    COUNTER.reset_peak_usage();
    let before = COUNTER.current_usage();
    call();
    COUNTER.peak_usage().saturating_sub(before)
}
