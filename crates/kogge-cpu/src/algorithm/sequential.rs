//! One thread, each element touched once.
//!
//! Elements far from the thread are asked for ahead: while stores drain, past the caches or not, it
//! asks for too little by itself. Near ones aren't, since that would take time of its own.

use super::asking::{Ask, Askers};
use super::io::Io;
use super::tile::{Beside, Scan};
use crate::arch::Cpu;
use crate::arch::stream::{Cache, Fence};
use crate::tuning;
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
            let _fence = I::STREAM.then_some(Fence);
            let mut stage = scan.stage();
            // SAFETY: passed on.
            let (tile, _) =
                unsafe { scan.scan_tile(scan.tile(0), init, Beside::Nothing, &mut stage) };
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
    let _fence = I::STREAM.then_some(Fence);
    let mut stage = scan.stage();
    let free = const { Scan::<I, A, O>::FREE };
    let near = if free { tuning::L2_BYTES } else { tuning::L3_BYTES };
    // Past the caches and yet so few, it is a segment among many, which together are in none.
    let among_many = I::STREAM && Cpu::detect() == Cpu::Mesh;
    let ask = match scan.len * size_of::<I::Element>() {
        bytes if among_many && bytes < tuning::MEMORY_BYTES => Some(Ask::PAGES),
        bytes if bytes < near => None,
        bytes if bytes < tuning::MEMORY_BYTES => Some(Ask::Along(Cache::L1)),
        bytes => {
            let askers = Askers { several: false, stream: I::STREAM, free };
            Some(Ask::of(bytes as u64, askers))
        }
    };
    // SAFETY: passed on.
    unsafe { scan.scan_tiles(prefix, 0..scan.tiles(), ask, &mut stage) };
}
