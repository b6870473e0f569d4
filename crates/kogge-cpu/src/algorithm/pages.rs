//! Four pages of memory asked for at a time.
//!
//! A core has memory as fast as lines are under way to it. What brings more of them than are asked for, the prefetcher of
//! L2, goes along a few pages by itself, each page in its own order, and stops where a page ends; a sequence asked for
//! line after line keeps it at one. So the block of four pages that comes next is asked for in turn, two lines of each, while
//! the block before it is used, and is there in L2, in whatever order it came.
//!
//! (Two threads of a mesh, copies of 512 MiB past the caches, GB/s: by line after line 34, with L2 asked so 4 or 8 KiB
//! ahead 41, C's `memcpy` 41, four pages in turn 46; two pages 44, eight half pages 34.)

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

/// Asks for some bytes of the block after that in which these lie that are used, by their addresses.
#[inline(always)]
pub(super) fn ask<const BYTES: usize>(used: *const u8) {
    const { assert!(BYTES <= TURN, "of one page") };
    let next = used.with_addr(in_turn(used.addr())).wrapping_add(BLOCK);
    Cache::L2.ask::<BYTES>(next);
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
    fn pages_take_turns() {
        let begin = [0, 1, 2, 3, 4].map(|turn| in_turn(turn * TURN + 7));
        assert_eq!(begin, [7, PAGE + 7, 2 * PAGE + 7, 3 * PAGE + 7, TURN + 7]);
    }
}
