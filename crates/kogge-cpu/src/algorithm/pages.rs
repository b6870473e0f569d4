//! Four pages of memory asked for at a time.
//!
//! A core has memory as fast as lines are under way to it. What brings more of them than are asked
//! for, the prefetcher of L2, goes along a few pages by itself, each page in its own order, and
//! stops where a page ends; a sequence asked for line after line keeps it at one. So the block of
//! four pages that comes next is asked for in turn, two lines of each, while the block before it is
//! used, and is there in L2, in whatever order it came.
//!
//! (Two threads of a mesh, copies of 512 MiB past the caches: line after line 34 GB/s, with L2
//! asked so 2 to 16 KiB ahead 39 to 42, C's `memcpy` 41, two pages in turn 44, four 46. Sums of
//! `i32` in place: as before 40, two pages 44, four 46, eight half pages 41; where what threads
//! take next is asked for too 49. One thread of a Zen 4 in place, `i32` and `i64`: line after line
//! 33 and 30, four pages 43 and 43, eight 37 and 36.)

use crate::arch::stream::{Cache, LINE, PAGE};

/// Pages of a block, from each of which two lines are asked for in turn.
const PAGES: usize = 4;

/// Bytes of a block.
pub(super) const BLOCK: usize = PAGES * PAGE;

/// What is asked for of a page at a time.
const TURN: usize = 2 * LINE;

/// Where lies what is asked for when so many bytes have been used: as far into its block, in turn.
#[inline(always)]
pub(super) fn in_turn(used: usize) -> usize {
    let (block, byte) = (used / BLOCK, used % BLOCK);
    let turn = byte / TURN;
    block * BLOCK + turn % PAGES * PAGE + turn / PAGES * TURN + byte % TURN
}

/// Asks for some bytes of the block after that in which these lie that are used, by their
/// addresses.
#[inline(always)]
pub(super) fn ask<const BYTES: usize>(used: *const u8) {
    const { assert!(BYTES <= TURN, "of one page") };
    let next = used.with_addr(in_turn(used.addr())).wrapping_add(BLOCK);
    Cache::L2.ask::<BYTES>(next);
}

/// Rows of memory that share pages, and lie so far apart that what is used of them is asked for row
/// by row.
#[derive(Clone, Copy)]
pub(super) struct RowsOfPages {
    /// The binary logarithm of the bytes from one to the next; 0 if they aren't asked for in turn.
    stride: u32,
}

impl RowsOfPages {
    /// For rows so many bytes apart, if they are far away.
    pub(super) fn new(far: bool, stride: isize) -> Self {
        let turns = far && matches!(stride, 0x400 | 0x800);
        Self { stride: if turns { stride.ilog2() } else { 0 } }
    }

    /// What is asked for in place of a place of a row that is asked for next: as far into a row of
    /// its block, of each page in turn.
    #[inline(always)]
    pub(super) fn in_turn(self, next: *const u8) -> *const u8 {
        if self.stride == 0 {
            return next;
        }
        next.map_addr(|address| {
            let (row, byte) = ((address % BLOCK) >> self.stride, address % (1 << self.stride));
            let page = row % PAGES * PAGE + ((row / PAGES) << self.stride);
            address / BLOCK * BLOCK + page + byte
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_a_block_has_its_turn() {
        let lines = |block: usize| (block * BLOCK..(block + 1) * BLOCK).step_by(LINE);
        for block in [0, 5] {
            let mut asked: Vec<_> = lines(block).map(in_turn).collect();
            asked.sort_unstable();
            assert_eq!(asked, lines(block).collect::<Vec<_>>());
        }
    }

    #[test]
    fn each_row_of_a_block_has_its_turn() {
        for stride in [0x400, 0x800] {
            let rows = RowsOfPages::new(true, stride);
            let stride = stride as usize;
            let at = |row: usize| std::ptr::without_provenance(3 * BLOCK + row * stride + 33);
            let turned = |row| rows.in_turn(at(row)).addr();
            let mut asked: Vec<_> = (0..BLOCK / stride).map(turned).collect();
            assert_eq!(asked[1] - asked[0], PAGE);
            asked.sort_unstable();
            let all: Vec<_> = (0..BLOCK / stride).map(|row| at(row).addr()).collect();
            assert_eq!(asked, all);
        }
        for (far, stride) in [(false, 0x400), (true, 0x1000), (true, 1000)] {
            let next = std::ptr::without_provenance(12_345);
            assert_eq!(RowsOfPages::new(far, stride).in_turn(next), next);
        }
    }

    #[test]
    fn pages_take_turns() {
        let begin = [0, 1, 2, 3, 4].map(|turn| in_turn(turn * TURN + 7));
        assert_eq!(begin, [7, PAGE + 7, 2 * PAGE + 7, 3 * PAGE + 7, TURN + 7]);
    }
}
