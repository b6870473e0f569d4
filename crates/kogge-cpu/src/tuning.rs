//! Numbers that were measured, and nothing else. bench/records holds the measurements.

use crate::Cpu;

/// Input bytes below which a second thread costs more than it brings.
pub(crate) const BYTES_PER_THREAD: u64 = 8 << 20;

/// The same on any CPU, whose L3 may be far away.
pub(crate) const LEAST_PER_THREAD: u64 = 2 << 20;

/// The same for a flat scan, and for exact operators, whose threads all fold before they scan: that costs a third if
/// the second one doesn't come.
///
/// (On a mesh two threads have 1.5 to 1.7 times the speed of one from 4 MiB into another buffer, and 0.86 to 1.02
/// times where calls are 2 ms apart; in place 1.2 to 1.4 and 0.7 to 1.0 times, so there it takes as much as elsewhere.)
pub(crate) const fn bytes_per_thread(cpu: Cpu, in_place: bool, exact: bool) -> u64 {
    match (cpu, in_place, exact) {
        (Cpu::Mesh, false, false) => LEAST_PER_THREAD,
        (Cpu::Mesh, false, true) => 2 * LEAST_PER_THREAD,
        _ => BYTES_PER_THREAD,
    }
}

/// Bytes of a piece: its second touch must be in L2, beside the next piece being prefetched.
pub(crate) const PIECE_BYTES: u64 = 128 << 10;

/// The same on any CPU: an eighth of L2. (256 KiB give a mesh 2 to 10 % in place, segments there 1 to 5 %, lines side
/// by side that threads scan together 6 %, and nothing is lost.)
pub(crate) const fn piece_bytes(cpu: Cpu) -> u64 {
    match cpu {
        Cpu::Common => PIECE_BYTES,
        Cpu::Mesh => 2 * PIECE_BYTES,
    }
}

/// Output bytes from which stores go past the caches: a quarter of a common L3, which other cores
/// share. (Not a share of what the CPU says: of the hundreds of MiB of a mesh's L3 others have theirs, and copies past
/// it are as fast as others from 4 MiB on there, 1.5 times as fast from 64 MiB on.)
pub(crate) const STREAM_BYTES: u64 = 8 << 20;

/// The same for a flat scan. (On a mesh, 8 MiB of `f32` by two threads: 53 GB/s through the caches, 46 past them.)
pub(crate) const fn stream_bytes(cpu: Cpu) -> u64 {
    match cpu {
        Cpu::Common => STREAM_BYTES,
        Cpu::Mesh => 2 * STREAM_BYTES,
    }
}

/// Bytes of a stage for narrow rows of memory that don't begin with lines of the cache: those it begins and ends in
/// are stored in part. (On a mesh that costs most: 64 columns of `f32` have 65 % of a flat scan's speed with 2 KiB,
/// 71, 74 and 72 % with 4, 8 and 16. On others those weren't tried.)
pub(crate) const fn column_stage_bytes(cpu: Cpu) -> usize {
    match cpu {
        Cpu::Common => 2 << 10,
        Cpu::Mesh => 8 << 10,
    }
}

/// Input bytes from which a thread by itself asks ahead for elements that it scans in any order: those of a
/// common L2.
pub(crate) const L2_BYTES: usize = 1 << 20;

/// The same for elements that it scans in the fixed order, which takes longer. (On a Zen 5, `f64` in place: with
/// 8 MiB 51 to 76 GB/s, with 2 MiB 112 to 103.)
pub(crate) const L3_BYTES: usize = 8 << 20;

/// Input bytes from which a thread by itself asks the memory and not a cache, on a mesh.
pub(crate) const MEMORY_BYTES: usize = 16 << 20;
