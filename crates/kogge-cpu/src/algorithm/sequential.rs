//! One thread: tile after tile, each element touched once.
//!
//! Where values go past the caches, elements are prefetched: a thread whose stores drain asks for too
//! little memory ahead by itself.

use super::io::Io;
use super::tile::{Beside, Scan};
use crate::arch::stream;
use kogge_core::{Element, Operator, Prefix};

/// Scans on the calling thread and gives the total; `None` if there is neither element nor init.
///
/// # Safety
///
/// The memory of `scan.io` must be this call's alone.
pub(crate) unsafe fn run<I: Io<A>, A: Element, O: Operator<A>>(
    scan: &Scan<'_, I, A, O>,
    init: Option<A>,
) -> Option<A> {
    match scan.tiles() {
        0 => init,
        1 => {
            let mut stage = scan.stage();
            // SAFETY: passed on.
            let (tile, _) =
                unsafe { scan.scan_tile(scan.tile(0), init, Beside::Nothing, &mut stage) };
            stream::fence();
            Some(scan.through(init, tile))
        }
        _ => {
            let mut prefix = Prefix::new(init);
            // SAFETY: passed on.
            unsafe { resume(scan, &mut prefix) };
            prefix.before(scan.operator)
        }
    }
}

/// Scans on the calling thread what follows the tiles of a prefix, and takes its tiles in.
///
/// # Safety
///
/// As for [`run`].
pub(crate) unsafe fn resume<I: Io<A>, A: Element, O: Operator<A>>(
    scan: &Scan<'_, I, A, O>,
    prefix: &mut Prefix<A>,
) {
    let mut stage = scan.stage();
    let beside = if const { I::STREAM } { Beside::Prefetch } else { Beside::Nothing };
    for tile in 0..scan.tiles() {
        // SAFETY: passed on.
        unsafe { scan.scan_next(prefix, scan.tile(tile), beside.clone(), &mut stage) };
    }
    stream::fence();
}
