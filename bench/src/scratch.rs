//! How much memory a call takes beyond its buffers, as the allocator counts it.
//!
//! The counting allocator is installed by the program `kogge-bench`; in another program, which has
//! its own, calls seem to take none.

use peak_alloc::PeakAlloc;

static COUNTER: PeakAlloc = PeakAlloc;

/// The most bytes of heap that were held at once during a call, beyond those held before.
pub fn of(call: impl FnOnce()) -> usize {
    COUNTER.reset_peak_usage();
    let before = COUNTER.current_usage();
    call();
    COUNTER.peak_usage().saturating_sub(before)
}
