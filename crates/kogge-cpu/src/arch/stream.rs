//! Memory past the caches: stores that don't read what they overwrite, and prefetches.

use super::{Cpu, Simd, Words};
use crate::array::for_each;
use crate::tuning;
use std::mem::MaybeUninit;

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Bytes of a page, the smallest there is; after so many, lines of the cache fall into the same set
/// of an L1.
pub(crate) const PAGE: usize = 4096;

/// Bytes of a row.
pub(crate) const ROW: usize = 512;

/// Asks for a row to be brought into L1. Any address is fine.
///
/// Prefetches are spread among the rows of a scan: a longer burst fills the CPU's miss buffers, and
/// the scan stands still until they drain. Into which cache, [`Cache`] tells.
#[inline(always)]
pub(crate) fn prefetch_row(row: *const u8) {
    prefetch_part::<ROW>(row);
}

/// Asks for so many bytes, as for a [row](prefetch_row).
#[inline(always)]
pub(crate) fn prefetch_part<const BYTES: usize>(part: *const u8) {
    for_each!((0..BYTES).step_by(LINE), |line| {
        prefetch_near(part.wrapping_add(line));
    });
}

/// A cache that memory can be brought into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cache {
    L1,
    L2,
}

impl Cache {
    /// The one for what comes from memory and is used soon.
    ///
    /// L2 alone where that can wait for more lines at a time than L1. On a mesh two threads are up
    /// to 17 % faster in place and 12 % into another buffer from memory, one thread 15 %, on a Zen
    /// 4 two threads 5 to 33 % in place. (From L3 they are slower. Two threads of a Zen 5 are a
    /// tenth slower from memory, too.)
    #[inline]
    pub(crate) fn for_memory() -> Self {
        Self::for_memory_of(Cpu::detect())
    }

    /// The same for a kind of CPU.
    #[inline]
    pub(crate) fn for_memory_of(cpu: Cpu) -> Self {
        match cpu {
            Cpu::Common | Cpu::Zen3 | Cpu::Zen5 => Self::L1,
            Cpu::Mesh | Cpu::Zen4 => Self::L2,
        }
    }

    /// Whether what is brought into this cache is brought on into L1 shortly before it is used.
    ///
    /// On a mesh, where L2 is brought what is asked for nearer than elsewhere, too. (Sums by one
    /// thread from memory, into another buffer `f32` 15 % faster and `i32` 8, in place 14 and 13;
    /// by two 12, 3, 9 and 9. Asked for as near into L2 alone, by one thread, 1 to 10.)
    #[inline]
    pub(crate) fn goes_on(self) -> bool {
        self == Self::L2 && Cpu::detect() == Cpu::Mesh
    }

    /// The one for strips of a table of so many bytes, unless it lies in a cache.
    ///
    /// (On a Zen 4 L2 gives 15 to 30 % from memory; from a cache it costs a quarter. On a Zen 5
    /// strips from a cache are 4 to 24 % faster unasked, one of ten a tenth slower, on a Zen 3 rows
    /// of 4 KiB and more 20 to 60 %, shorter ones 15 slower to 15 faster. On a mesh strips of 512
    /// bytes are 3 to 11 % faster from memory, others 0 to 4.)
    #[inline]
    pub(crate) fn for_strips(table: usize) -> Option<Self> {
        match Cpu::detect() {
            _ if table < tuning::L2_BYTES => None,
            Cpu::Zen3 | Cpu::Zen4 | Cpu::Zen5 if (table as u64) < tuning::STREAM_BYTES => None,
            Cpu::Zen4 => Some(Self::L2),
            Cpu::Mesh if table >= tuning::MEMORY_BYTES => Some(Self::L2),
            _ => Some(Self::L1),
        }
    }

    /// The one for so many bytes of keys, when they are looked at by the thousand; `None` if they
    /// are asked for while what they belong to is scanned.
    ///
    /// (On a Zen 4 from memory, since it rests else: `f32` by two threads in runs of 64 a fifth
    /// faster, of 16 a sixth, together with fewer keys at a time; integers as fast.)
    #[inline]
    pub(crate) fn for_keys(bytes: usize) -> Option<Self> {
        match Cpu::detect() {
            Cpu::Zen4 if bytes as u64 >= tuning::STREAM_BYTES => None,
            _ => Some(Self::L1),
        }
    }

    /// Asks for so many bytes, as for a [row](prefetch_row).
    #[inline(always)]
    pub(crate) fn ask<const BYTES: usize>(self, part: *const u8) {
        match self {
            Self::L1 => prefetch_part::<BYTES>(part),
            Self::L2 => {
                for line in (0..BYTES).step_by(LINE) {
                    prefetch(part.wrapping_add(line));
                }
            }
        }
    }
}

/// Whether lines are to be brought into L1 before a scan writes them through the caches; those that
/// it has read are there.
///
/// On a mesh, since such a line comes from L2 or L3 only when its store is next in turn, and a row
/// is stored at once. (One thread into another buffer: floats 7 to 30 % faster in L2 and 10 to 20 %
/// in L3; integers, which store vector by vector, 5 to 18 % in L3 and up to 6 % slower in L2.)
#[inline]
pub(crate) fn fetches_output() -> bool {
    Cpu::detect() == Cpu::Mesh
}

/// Whether [`translate_ahead`] is worth it.
#[inline]
pub(crate) fn translates() -> bool {
    Cpu::detect() != Cpu::Mesh
}

/// Has the address of the next page of the output looked up, once a page, given where a row goes.
///
/// A store past the caches waits for its page's translation, and prefetchers follow reads only. One
/// line of the page is read for it. (Two threads of a Zen 3, pages of 4 KiB: sums of floats are 6
/// to 9 % faster; scans in any order, which compute less, 3 to 6 % slower, so they don't. On a mesh
/// floats too are up to a tenth slower.)
#[inline(always)]
pub(crate) fn translate_ahead(row: *const u8) {
    if row.addr() % PAGE < ROW {
        prefetch(row.wrapping_add(PAGE));
    }
}

/// Has the line fetched in which values end that go past the caches, unless they end with one.
///
/// They are stored through the caches, and what is stored after them waits for the rest of their
/// line. (On a mesh, rows that don't begin on a line, two threads: sums of `f32` and `i32` 4 %
/// faster, by one as fast.)
#[inline(always)]
pub(crate) fn fetch_end(end: *const u8) {
    if !end.addr().is_multiple_of(LINE) {
        prefetch_near(end);
    }
}

/// Rows on their way past the caches, in whole lines. [`Fence`] makes them visible.
///
/// For rows that don't begin on a line, and whose words aren't turned in registers. A row is put
/// together in L1 and leaves before the next one comes, but for what it has of its last line. (On a
/// Zen 4, four rows at a time were a fifth slower: they fill the store queue, and what is read
/// meanwhile waits for it to drain.)
#[repr(align(64))]
pub(crate) struct Stream {
    /// The line begun, and a row from where it would continue.
    bytes: [MaybeUninit<u8>; LINE + ROW],
}

impl Stream {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { bytes: [const { MaybeUninit::uninit() }; LINE + ROW] }
    }

    /// Where to put the 512 bytes of the row that belongs at `to`, before [`send`](Self::send).
    #[inline(always)]
    pub(crate) fn row(&mut self, to: *const u8) -> *mut u8 {
        self.bytes.as_mut_ptr().cast::<u8>().wrapping_add(to.addr() % LINE)
    }

    /// Sends the first row, but for the line that it begins in, which is stored.
    ///
    /// # Safety
    ///
    /// As for [`send`](Self::send).
    #[inline(always)]
    pub(crate) unsafe fn begin<H: Words>(&mut self, to: *mut u8) {
        let begun = to.addr() % LINE;
        // SAFETY: the row was put where it is read.
        unsafe {
            let bytes = self.bytes.as_ptr().cast::<u8>();
            bytes.add(begun).copy_to_nonoverlapping(to, LINE - begun);
            self.lines::<H>(to, 1);
        }
    }

    /// Sends the row that was put together.
    ///
    /// # Safety
    ///
    /// [`row`](Self::row) must have been filled, 512 bytes be writable at `to`, which follows the
    /// row before, and the CPU features of `H` be present.
    #[inline(always)]
    pub(crate) unsafe fn send<H: Words>(&mut self, to: *mut u8) {
        // SAFETY: passed on.
        unsafe { self.lines::<H>(to, 0) }
    }

    /// Sends the lines from `first` on that the row completes, and keeps what it begins.
    ///
    /// # Safety
    ///
    /// As for [`send`](Self::send); line 0 only if it is complete.
    #[inline(always)]
    unsafe fn lines<H: Words>(&mut self, to: *mut u8, first: usize) {
        let (bytes, to) = (self.bytes.as_mut_ptr().cast::<u8>(), to.wrapping_sub(to.addr() % LINE));
        for line in first..ROW / LINE {
            // SAFETY: the lines are filled and inside the rows, by contract.
            unsafe { H::Simd::stream_line(bytes.add(line * LINE), to.wrapping_add(line * LINE)) }
        }
        self.bytes.copy_within(ROW.., 0);
    }

    /// Stores what has begun a line that no row completes; `end` is where the last row ended.
    ///
    /// # Safety
    ///
    /// `end` must be the end of the rows sent.
    #[inline(always)]
    pub(crate) unsafe fn finish(self, end: *mut u8) {
        let begun = end.addr() % LINE;
        // SAFETY: the last bytes of the last row, which lay at the end and were moved.
        unsafe {
            let bytes = self.bytes.as_ptr().cast::<u8>();
            bytes.copy_to_nonoverlapping(end.sub(begun), begun);
        }
    }
}

/// Copies a run of bytes, the whole lines among them past the caches. [`Fence`] makes them visible.
///
/// # Safety
///
/// So many bytes must be readable and writable, and not overlap; the CPU features of `H` must be
/// present.
#[inline(always)]
pub(crate) unsafe fn stream_run<H: Words>(from: *const u8, to: *mut u8, bytes: usize) {
    let begun = (to.addr().wrapping_neg() % LINE).min(bytes);
    let lines = (bytes - begun) / LINE * LINE;
    // SAFETY: within the run; lines begin where the target has them.
    unsafe {
        // Most runs are whole lines, and copying nothing is a call.
        if begun > 0 {
            from.copy_to_nonoverlapping(to, begun);
        }
        for line in (begun..begun + lines).step_by(LINE) {
            H::Simd::stream_line(from.add(line), to.add(line));
        }
        let end = begun + lines;
        if end < bytes {
            from.add(end).copy_to_nonoverlapping(to.add(end), bytes - end);
        }
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
    for_each!(0..LINE / 16, |i| {
        // SAFETY: in bounds and aligned by contract; SSE2 is part of x86-64.
        unsafe { _mm_stream_si128(to.add(i), _mm_loadu_si128(from.add(i))) }
    });
}

/// Orders this thread's non-temporal stores before whatever it does when it drops this, if a panic
/// drops it too. It waits for all stores, those through the caches as well.
#[must_use = "what is dropped at once orders nothing that follows"]
pub(crate) struct Fence;

impl Drop for Fence {
    #[inline]
    fn drop(&mut self) {
        fence();
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
fn fence() {
    // SAFETY: SSE is part of x86-64.
    unsafe { core::arch::x86_64::_mm_sfence() }
}

/// Asks for a line to be brought into L1.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn prefetch_near(address: *const u8) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch never faults, whatever the address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
}

/// Asks for a line to be brought into L2.
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
fn fence() {}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
fn prefetch_near(_address: *const u8) {}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
pub(crate) fn prefetch(_address: *const u8) {}
