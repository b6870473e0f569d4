//! One thread: tile after tile, each element touched once.
//!
//! Nothing is prefetched: the hardware follows a plain sequence better than software does (on a
//! Zen 4, prefetches 4 to 32 KiB ahead made it slower).

use super::io::Io;
use super::tile::{Prefix, Scan};
use crate::arch::stream;
use kogge_core::{Element, Operator};

/// Scans on the calling thread and gives the total; `None` if there is neither element nor init.
///
/// # Safety
///
/// The memory of `scan.io` must be this call's alone.
pub(crate) unsafe fn run<I: Io<A>, A: Element, O: Operator<A>>(
    scan: &Scan<'_, I, A, O>,
) -> Option<A> {
    if scan.len == 0 {
        return scan.init;
    }
    let mut stage = scan.stage();
    if scan.tiles() == 1 {
        // SAFETY: passed on. Nothing lies ahead.
        let (tile, _) = unsafe { scan.scan_tile(scan.tile(0), scan.init, 0..0, &mut stage) };
        stream::fence();
        return Some(super::tile::join(scan.operator, scan.init, tile));
    }
    let mut prefix = Prefix::new(scan.init);
    for tile in 0..scan.tiles() {
        let places = scan.tile(tile);
        let before = prefix.before(scan.operator);
        // SAFETY: passed on.
        let (total, _) = unsafe { scan.scan_tile(places, before, 0..0, &mut stage) };
        prefix.push(scan.operator, total);
    }
    stream::fence();
    prefix.before(scan.operator)
}
