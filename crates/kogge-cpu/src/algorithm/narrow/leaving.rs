//! Rows that leave a stage past the caches, in whole lines.
//!
//! A row that doesn't begin on a line ends within one: that line waits for the next row. (Stored in
//! two parts, it is read from memory for each, and there is one a row. Rows of 1 to 4 KiB had 45 to
//! 73 % of a flat scan's speed so, and have 69 to 79.)

use crate::arch::Words;
use crate::arch::stream::{LINE, stream_run};

/// Rows that leave, of whole lines in length.
pub(super) struct Leaving {
    /// The stage, from where a line of the target begins on.
    stage: *mut u8,
    /// The line in which the next row begins in the target.
    to: *mut u8,
    /// Bytes of that line before the row.
    before: usize,
    /// Whether those are a row's that left from here too.
    continued: bool,
}

impl Leaving {
    /// Rows that belong at `to`, from a stage that begins on a line.
    #[inline(always)]
    pub(super) fn new(stage: *mut u8, to: *mut u8) -> Self {
        let before = to.addr() % LINE;
        Self { stage, to: to.wrapping_sub(before), before, continued: false }
    }

    /// Where a row is put.
    #[inline(always)]
    pub(super) fn row(&self) -> *mut u8 {
        self.stage.wrapping_add(self.before)
    }

    /// Sends a row, but for the line that it ends in.
    ///
    /// # Safety
    ///
    /// So many bytes must have been put, and be writable where they belong; the CPU features of `H`
    /// be present.
    #[inline(always)]
    pub(super) unsafe fn send<H: Words>(&mut self, bytes: usize) {
        // SAFETY: by contract; what precedes the row in its line was put with the row before, and
        // the stage has room for the line that the row ends in.
        unsafe {
            if self.before > 0 && !self.continued {
                let to = self.to.wrapping_add(self.before);
                to.copy_from_nonoverlapping(self.row(), LINE - self.before);
                stream_run::<H>(
                    self.stage.wrapping_add(LINE),
                    self.to.wrapping_add(LINE),
                    bytes - LINE,
                );
            } else {
                stream_run::<H>(self.stage, self.to, bytes);
            }
            self.stage.copy_from_nonoverlapping(self.stage.wrapping_add(bytes), LINE);
        }
        self.to = self.to.wrapping_add(bytes);
        self.continued = true;
    }

    /// Stores what is left of the last row.
    ///
    /// # Safety
    ///
    /// As for [`send`](Self::send).
    #[inline(always)]
    pub(super) unsafe fn end(&self) {
        // SAFETY: the row's own bytes of its last line.
        unsafe { self.to.copy_from_nonoverlapping(self.stage, self.before) };
    }
}
