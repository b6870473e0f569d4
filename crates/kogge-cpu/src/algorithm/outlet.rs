//! A stage from which values leave for memory in whole lines, past the caches if that is wanted.
//!
//! Values come in the order of memory, and what comes later may be put over what came before: so only
//! what lies before the values to come is final, and leaves while those are made. (A value that leaves
//! at once would have to be fetched from the store queue.)

use crate::arch::stream::{LINE, ROW};
use crate::arch::{Simd, Words};

/// Bytes after which a stage for rows is begun anew.
const ROOM: usize = 8 << 10;

/// Bytes of a stage for rows.
pub(crate) const STAGE_BYTES: usize = ROOM + ROW + LINE;

/// Values on their way through a stage. Their places are bytes from where byte 0 is.
pub(crate) struct Outlet {
    /// Where the stage begins.
    start: *mut u8,
    /// Where byte 0 would be in it.
    stage: *mut u8,
    /// Where byte 0 belongs.
    to: *mut u8,
    /// The next byte to leave.
    next: usize,
    stream: bool,
}

impl Outlet {
    /// For values from the `first` byte on. The stage begins with a line of the cache.
    pub(crate) fn new(stage: *mut u8, to: *mut u8, first: usize, stream: bool) -> Self {
        let mut outlet = Self { start: stage, stage, to, next: first, stream };
        outlet.begin();
        outlet
    }

    /// Where a byte is in the stage.
    #[inline(always)]
    pub(crate) fn at(&self, byte: usize) -> *mut u8 {
        self.stage.wrapping_add(byte)
    }

    /// Where a row is put that begins with this byte; what comes up to there must have been
    /// [sent](Self::send), but for a row.
    ///
    /// # Safety
    ///
    /// The values before it must be in the stage.
    #[inline(always)]
    pub(crate) unsafe fn row(&mut self, byte: usize) -> *mut u8 {
        if self.at(byte).addr() - self.start.addr() > ROOM {
            // SAFETY: passed on.
            unsafe { self.renew(byte) }
        }
        self.at(byte)
    }

    /// Begins the stage anew, with what has come and not left.
    ///
    /// # Safety
    ///
    /// As for [`row`](Self::row).
    unsafe fn renew(&mut self, byte: usize) {
        let (from, left) = (self.at(self.next), byte - self.next);
        self.begin();
        // SAFETY: by contract; a row and less than a line, for which there is room.
        unsafe { from.copy_to(self.at(self.next), left) }
    }

    /// Has the next byte lie in its line of the stage as it will in memory.
    fn begin(&mut self) {
        let begun = self.to.wrapping_add(self.next).addr() % LINE;
        self.stage = self.start.wrapping_add(begun).wrapping_sub(self.next);
    }

    /// Sends the lines that end with byte `ready` at the latest.
    ///
    /// # Safety
    ///
    /// The values up to there must be in the stage, and their places be this call's alone; the CPU
    /// features of `H` must be present.
    #[inline(always)]
    pub(crate) unsafe fn send<H: Words>(&mut self, ready: usize) {
        let begun = self.to.wrapping_add(self.next).addr() % LINE;
        // SAFETY: by contract; whole lines begin where the target has them.
        unsafe {
            if begun > 0 {
                let end = self.next + LINE - begun;
                if end > ready {
                    return;
                }
                self.copy(end);
            }
            while self.next + LINE <= ready {
                let (from, to) = (self.at(self.next), self.to.wrapping_add(self.next));
                if self.stream {
                    H::Simd::stream_line(from, to);
                } else {
                    to.cast::<[u64; 8]>().write_unaligned(from.cast::<[u64; 8]>().read_unaligned());
                }
                self.next += LINE;
            }
        }
    }

    /// Sends all that is left up to the `end`.
    ///
    /// # Safety
    ///
    /// As for [`send`](Self::send).
    #[inline(always)]
    pub(crate) unsafe fn finish<H: Words>(mut self, end: usize) {
        // SAFETY: passed on.
        unsafe {
            self.send::<H>(end);
            self.copy(end);
        }
    }

    /// Stores less than a line, up to the `end`.
    ///
    /// # Safety
    ///
    /// As for [`send`](Self::send).
    unsafe fn copy(&mut self, end: usize) {
        let (from, to) = (self.at(self.next), self.to.wrapping_add(self.next));
        // SAFETY: by contract.
        unsafe { to.copy_from_nonoverlapping(from, end - self.next) };
        self.next = end;
    }
}
