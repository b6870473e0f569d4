//! A stage from which values leave for memory in whole lines, past the caches if that is wanted.
//!
//! Values come in the order of memory, and what comes later may be put over what came before: so
//! only what lies before the values to come is final, and leaves while those are made. (A value
//! that leaves at once would have to be fetched from the store queue.)
//!
//! One outlet serves kernels in turn. What one leaves of a line that isn't full stays until the
//! next one has filled it: written by itself it would have the line read from memory, and all
//! stores wait for that.

use crate::arch::stream::{LINE, ROW};
use crate::arch::{Words, put_line};
use crate::{Cpu, tuning};

/// Bytes after which a stage for rows is begun anew.
const ROOM: usize = 8 << 10;

/// Bytes that are put in the stage at once, at most.
const AT_ONCE: usize = 2 * ROW;

/// Bytes of a stage.
pub(crate) const STAGE_BYTES: usize = ROOM + AT_ONCE + LINE;

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
    /// Where the values end that have come.
    end: usize,
    stream: bool,
    /// Bytes that leave at once where it isn't foreseen how many are ready, and that stay behind
    /// then: what stays has been put there shortly before, and would have to be awaited.
    burst: usize,
}

impl Outlet {
    /// For values of which byte 0 belongs at `to`. The stage has room for [`STAGE_BYTES`], and
    /// begins with a line of the cache.
    pub(crate) fn new(stage: *mut u8, to: *mut u8, stream: bool) -> Self {
        let burst = tuning::burst_bytes(Cpu::detect());
        Self { start: stage, stage, to, next: 0, end: 0, stream, burst }
    }

    /// Before values from the `first` byte on.
    ///
    /// # Safety
    ///
    /// Those that came before belong where they were said to, and their places be this call's
    /// alone.
    #[inline(always)]
    pub(crate) unsafe fn open(&mut self, first: usize) {
        if first != self.end || first == 0 {
            // SAFETY: passed on.
            unsafe { self.finish() };
            (self.next, self.end) = (first, first);
            self.begin();
        }
    }

    /// After the values up to the `end`: what is left is less than a line.
    ///
    /// # Safety
    ///
    /// As for [`send`](Self::send).
    #[inline(always)]
    pub(crate) unsafe fn close<H: Words>(&mut self, end: usize) {
        // SAFETY: passed on.
        unsafe { self.send::<H>(end) };
        self.end = end;
    }

    /// The next byte to leave.
    #[inline(always)]
    pub(super) fn next(&self) -> usize {
        self.next
    }

    /// Sends all vectors that end with byte `ready` at the latest, before values that don't come to
    /// the stage.
    ///
    /// # Safety
    ///
    /// As for [`send`](Self::send).
    #[inline(always)]
    pub(super) unsafe fn send_all<H: Words>(&mut self, ready: usize) {
        // SAFETY: passed on.
        unsafe {
            self.send::<H>(ready);
            if const { size_of::<H::Vector>() < LINE } {
                self.send_vectors::<H>(ready);
            }
        }
    }

    /// Goes on behind values that didn't come to the stage, up to byte `end`; so many bytes of them
    /// haven't left.
    #[inline(always)]
    pub(super) fn go_on(&mut self, end: usize, left: usize) {
        self.next = end - left;
        self.begin();
    }

    /// Whether values go past the caches.
    #[inline(always)]
    pub(crate) fn stream(&self) -> bool {
        self.stream
    }

    /// How far behind the start of its line a byte belongs.
    #[inline(always)]
    pub(crate) fn lies(&self, byte: usize) -> usize {
        self.to.wrapping_add(byte).addr() % LINE
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

    /// Where a group of chunks is put that begins with this byte; what comes up to there must have
    /// been put there.
    ///
    /// # Safety
    ///
    /// As for [`send`](Self::send), up to this byte.
    #[inline(always)]
    pub(crate) unsafe fn group<H: Words>(&mut self, byte: usize) -> *mut u8 {
        // SAFETY: passed on.
        unsafe {
            if self.at(byte).addr() - self.start.addr() > ROOM {
                self.send::<H>(byte);
                self.renew(byte);
            } else if byte - self.next >= 2 * self.burst {
                self.send::<H>(self.next + self.burst);
            }
        }
        self.at(byte)
    }

    /// Where a byte belongs.
    #[inline(always)]
    pub(crate) fn target(&self, byte: usize) -> *mut u8 {
        self.to.wrapping_add(byte)
    }

    /// Begins the stage anew, with what has come and not left.
    ///
    /// # Safety
    ///
    /// As for [`row`](Self::row).
    #[cold]
    unsafe fn renew(&mut self, byte: usize) {
        let (from, left) = (self.at(self.next), byte - self.next);
        self.begin();
        // SAFETY: by contract; a row and less than a line, for which there is room.
        unsafe { from.copy_to(self.at(self.next), left) }
    }

    /// Has the next byte lie in its line of the stage as it will in memory.
    fn begin(&mut self) {
        let begun = self.lies(self.next);
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
        let begun = self.lies(self.next);
        // SAFETY: by contract; whole lines begin where the target has them.
        unsafe {
            if begun > 0 {
                let end = self.next + LINE - begun;
                if end > ready {
                    return;
                }
                self.send_vectors::<H>(end);
            }
            while self.next + LINE <= ready {
                let (from, to) = (self.at(self.next), self.to.wrapping_add(self.next));
                put_line::<H::Simd>(from, to, self.stream);
                self.next += LINE;
            }
        }
    }

    /// Sends the vectors that end with byte `ready` at the latest, all of one line.
    ///
    /// # Safety
    ///
    /// As for [`send`](Self::send).
    #[inline(always)]
    unsafe fn send_vectors<H: Words>(&mut self, ready: usize) {
        let bytes = size_of::<H::Vector>();
        // SAFETY: by contract; a vector begins where the target has one.
        unsafe {
            let begun = self.lies(self.next) % bytes;
            if begun > 0 {
                let end = self.next + bytes - begun;
                if end > ready {
                    return;
                }
                self.copy(end);
            }
            while self.next + bytes <= ready {
                let (from, to) = (self.at(self.next), self.target(self.next));
                let vector = from.cast::<H::Vector>().read_unaligned();
                if self.stream {
                    H::stream(vector, to);
                } else {
                    to.cast::<H::Vector>().write_unaligned(vector);
                }
                self.next += bytes;
            }
        }
    }

    /// Sends as many bytes as a line has by themselves, which aren't in the stage.
    ///
    /// # Safety
    ///
    /// Their place must be this call's alone, and begin a line if values go past the caches; the
    /// CPU features of `H` must be present.
    #[inline(always)]
    pub(crate) unsafe fn pass<H: Words>(&mut self, line: *const u8, byte: usize) {
        let to = self.to.wrapping_add(byte);
        // SAFETY: by contract.
        unsafe { put_line::<H::Simd>(line, to, self.stream) };
    }

    /// Sends less than that.
    ///
    /// # Safety
    ///
    /// Their places must be this call's alone.
    #[cold]
    pub(crate) unsafe fn pass_some(&mut self, bytes: *const u8, first: usize, count: usize) {
        let to = self.to.wrapping_add(first);
        // SAFETY: by contract.
        unsafe { to.copy_from_nonoverlapping(bytes, count) };
    }

    /// Has the lines up to this byte, which begins one, be behind.
    #[inline(always)]
    pub(crate) fn passed(&mut self, byte: usize) {
        self.next = byte;
        self.stage = self.start.wrapping_sub(byte);
    }

    /// Stores what is left.
    ///
    /// # Safety
    ///
    /// As for [`open`](Self::open).
    pub(crate) unsafe fn finish(&mut self) {
        // SAFETY: passed on.
        unsafe { self.copy(self.end) };
    }

    /// Stores less than a line, up to the `end`.
    ///
    /// # Safety
    ///
    /// As for [`send`](Self::send).
    #[cold]
    unsafe fn copy(&mut self, end: usize) {
        let (from, to) = (self.at(self.next), self.to.wrapping_add(self.next));
        // SAFETY: by contract.
        unsafe { to.copy_from_nonoverlapping(from, end - self.next) };
        self.next = end;
    }
}
