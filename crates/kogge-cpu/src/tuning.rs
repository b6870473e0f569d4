//! Numbers that were measured, and nothing else. bench/records holds the measurements. (What is
//! brought into which cache is chosen by kind of CPU, too: [`Cache`](crate::arch::stream::Cache).)

use crate::Cpu;
use crate::algorithm::asking::Askers;
use crate::arch::stream::{LINE, PAGE};
use std::ops::Range;
use std::time::Duration;

/// Input bytes below which a second thread costs more than it brings.
pub(crate) const BYTES_PER_THREAD: u64 = 8 << 20;

/// The same on any CPU, whose L3 may be far away.
pub(crate) const LEAST_PER_THREAD: u64 = 2 << 20;

/// The same for a flat scan, and for exact operators, whose threads all fold before they scan: that
/// costs a third if the second one doesn't come.
///
/// (On a mesh two threads have 1.5 to 1.7 times the speed of one from 4 MiB into another buffer,
/// and 0.86 to 1.02 times where calls are 2 ms apart; in place 1.2 to 1.4 and 0.7 to 1.0 times, so
/// there it takes as much as elsewhere.)
pub(crate) const fn bytes_per_thread(cpu: Cpu, in_place: bool, exact: bool) -> u64 {
    match (cpu, in_place, exact) {
        (Cpu::Mesh, false, false) => LEAST_PER_THREAD,
        (Cpu::Mesh, false, true) => 2 * LEAST_PER_THREAD,
        _ => BYTES_PER_THREAD,
    }
}

/// Input bytes of strips of lines side by side that a thread is given at least; fewer under Miri,
/// so that they are shared out. (Two threads of a Zen 4 beside one, calls one after another: tables
/// of 256 KiB 17 and 40 GB/s, of 1 MiB 19 to 41 and 34 to 41, of 2 MiB and more 1.2 to 1.8 times as
/// fast.)
///
/// (Two that are awake aren't faster with less: of 512 KiB 22 GB/s, where one has 52, likely since
/// prefetchers go on from one's rows into those that the other one writes beside them. On a Zen 5,
/// which doesn't ask for strips in a cache, tables of 512 KiB to 1.5 MiB are 1.2 to 1.7 times as
/// fast by two that are awake, on a Zen 3, which doesn't either, of 1 MiB 1.2 to 1.7 times.)
pub(crate) const fn strip_bytes_per_thread(cpu: Cpu, awake: bool) -> usize {
    match (cpu, awake) {
        _ if cfg!(miri) => 1 << 10,
        (Cpu::Zen3 | Cpu::Zen5, true) => 256 << 10,
        _ => 1 << 20,
    }
}

/// The same where threads scan a strip together, given whether they are awake. (Two of a Zen 4, 1
/// MiB: 1.1 to 1.3 times the speed of one. With 256 KiB 0.7 times.)
pub(crate) const fn part_of_strip_bytes(awake: bool) -> usize {
    let each = strip_bytes_per_thread(Cpu::Common, false);
    if awake { each / 2 } else { each }
}

/// A table that is cut into strips.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table {
    /// Bytes of its values.
    pub(crate) written: u64,
    /// Whether it is scanned in any order, as the operator is exact.
    pub(crate) exact: bool,
    /// Whether rows are whole lines of the cache.
    pub(crate) whole: bool,
    /// Whether values begin behind the beginning of a line.
    pub(crate) behind: bool,
}

impl Table {
    /// Whether it lies in a cache.
    pub(crate) const fn near(self) -> bool {
        self.written < STREAM_BYTES
    }
}

/// Bytes of a strip's width at least, where there are so many, and at most.
///
/// Memory is slow at short pieces: two threads of a Zen 3 that only copy, row by row, reach 34 to
/// 84 % of a plain copy with pieces of 512 bytes, 69 to 87 % with 2 KiB. In a cache there is more
/// to share out in more strips: on a Zen 4 tables of 1 to 4 MiB are 1.1 to 1.8 times as fast with 1
/// KiB as with 2, and with 512 bytes slower for some. Up to a page, as two threads of a Zen 5 were
/// up to a fifth slower with 5 KiB than with 4 for elements of 4 bytes, and a quarter with 10 for
/// those of 8 (tables of 16 to 32,768 rows).
///
/// In any order, of which less is known between two rows, two threads of a Zen 3 are 0 to 11 %
/// faster from memory with 8 KiB than with 2, and 1 to 17 % with 16; in a cache up to 15 % with 8
/// KiB in place of 4, where those are one strip and not two. On others that wasn't tried.
pub(crate) const fn strip_widths(cpu: Cpu, table: Table) -> [usize; 2] {
    match cpu {
        Cpu::Zen3 if table.exact && table.near() => [1 << 10, 2 * PAGE],
        _ if table.near() => [1 << 10, PAGE],
        Cpu::Zen3 if table.exact => [4 * PAGE; 2],
        _ => [2 << 10, PAGE],
    }
}

/// Whether lines go place by place (`algorithm/line/in_turn.rs`) at all, and in a cache in any
/// order from how many bytes of a strip's width on, where rows of memory are so far apart that
/// places of a group meet in a set of a cache.
///
/// (A Zen 3 in a cache, one thread up to 512 KiB and two that are awake of 1 MiB, `i32`: 1.04 to
/// 1.3 times as fast where rows are of 1 KiB and more, 0.83 to 1.0 where a strip has 128 to 256
/// bytes of each. From memory, 256 MiB in rows of 256 bytes to 4 KiB one after another: two threads
/// 0.9 to 1.4 times (`i32`) and 1.0 to 1.2 (`f32`), one 1.1 to 2.4 and 0.76 to 1.7. On others it
/// wasn't tried. Tests go so on any CPU.)
pub(crate) const fn in_turn(cpu: Cpu) -> Option<usize> {
    match cpu {
        Cpu::Zen3 => Some(512),
        _ if cfg!(test) => Some(512),
        _ => None,
    }
}

/// Bytes of a strip's width at least where each thread has but one; else threads scan a table
/// together, each part of it twice. (Two threads of a mesh from memory, with L2 asked, `f32`: 256
/// columns 29 and 33 GB/s, 320 27 and 33, 512 31 and 34; of 128, whose halves are 256 bytes, 26 to
/// 28 for 29. Where lines of the cache are shared, of 700 and 1,000 columns, 26 and 21, 28 and 26,
/// of 256 behind a line 25 and 17. On a Zen 4 128 columns 38 and 40, 192 33 and 41, 256 34 and 38,
/// 320 35 and 36, 384 30 and 41, 512 35 and 41, 768 24 and 35; of 64, whose halves are 128 bytes,
/// 36 and 21, of 250 20 and 13. Behind a line, as large vectors from the heap begin: 128 columns 27
/// and 19, 192 25 and 15, 256 26 and 27, 384 24 and 32, 512 25 and 29, 768 26 and 37; of `i64` 128
/// 32 and 26, 256 31 and 33, 512 29 and 36. On a Zen 5 tables in a cache are 1.1 to 1.6 times as
/// fast with a strip each, whatever its width, unless lines are shared: of 33, 40, 50 and 100
/// columns 0.5 to 0.9 times, of 300 1.3 to 1.5. From 8 to 24 MiB tables of 256 and 384 columns 1.2
/// to 1.4 times, from memory 0.9 to 1.0. On a Zen 3 tables of 1 MiB and more in a cache 1.2 to 2.0
/// times, of 512 KiB 0.85 to 1.05; of 256 columns, 16 and 64 MiB, 0.9 to 1.0. On others it wasn't
/// tried.)
pub(crate) const fn one_strip_bytes(cpu: Cpu, table: Table) -> Option<usize> {
    let Table { written, whole, behind, .. } = table;
    Some(match (cpu, behind) {
        (Cpu::Zen3 | Cpu::Zen5, _) if table.near() && whole => LINE,
        (Cpu::Zen3 | Cpu::Zen5, _) if table.near() => 512,
        _ if table.near() || !whole => return None,
        (Cpu::Zen5, _) if written < FAR_TABLE_BYTES => 512,
        (Cpu::Zen4, false) => 256,
        (Cpu::Mesh, false) => 512,
        (Cpu::Zen4, true) | (Cpu::Zen5, false) => 1 << 10,
        _ => 2 << 10,
    })
}

/// Whether one thread scans tables that lie in a cache where the other one is [far
/// away](crate::Machine::apart): each asks for lines that the other has written beside its own.
/// (Two of a Zen 5, a word to the other one and back in 400 ns, 4 MiB of `f32` in 256 columns: 29
/// to 49 GB/s together, 28 to 41 with a strip each, one thread 51 to 75; in 85 to 130 ns 51 to 69,
/// 60 to 104 and 51 to 76. On others it wasn't tried.)
pub(crate) const fn tables_are_for_one(cpu: Cpu) -> bool {
    matches!(cpu, Cpu::Zen5)
}

/// Whether one of two threads scans a table that lies in a cache and whose rows of memory, of so
/// many bytes, go [place by place](in_turn) from end to end: two have half of each row, and likely
/// the CPU asks for what lies beyond.
///
/// (A Zen 3, `i32` into another buffer, 1 to 4 MiB: rows of 1, 2, 3, 4 and 8 KiB 1.07 to 1.33 times
/// as fast as by two that are awake, 6 MiB in rows of 1 KiB 0.97 times, rows of 16 KiB 0.95, of 64
/// and 256 KiB 0.9 and 0.7; rows of 256 and 512 bytes and of 4,000, whose places don't meet in a
/// set of a cache, 0.6 to 0.95. On others it wasn't tried.)
pub(crate) const fn rows_are_for_one(cpu: Cpu, bytes: usize) -> bool {
    matches!(cpu, Cpu::Zen3) && bytes.is_multiple_of(1 << 10) && bytes <= 8 << 10
}

/// Bytes of a table's values from which it lies in memory alone, on a Zen 5.
const FAR_TABLE_BYTES: u64 = 32 << 20;

/// Whether strips from memory whose places meet in a set of an L1 go by two chunks of elements of
/// four bytes at a time: what is kept of a group between two visits comes from L2. (Two threads of
/// a Zen 4: rows of 4 KiB of `f32` 7 to 27 % faster, of `i32` 18 to 31, longer ones of `f32` 0 to
/// 12, of `i32` 5 slower to 4 faster. By four chunks `f32` 2 % slower to 2 faster at 4 KiB, 5 to 17
/// slower at 16 and 256. Eight places of eight bytes: `f64` 8 % slower to 22 faster, 5 faster in
/// the median of twelve cells, `i64` 11 slower to 7 faster. In place `f32` was 12 to 23 % slower.
/// On others it wasn't tried.)
pub(crate) const fn pairs_of_chunks(cpu: Cpu) -> bool {
    matches!(cpu, Cpu::Zen4)
}

/// Input bytes from which a second thread is worth it that is awake, in place or not, for exact
/// operators or others, where guests [`linger`], given whether it is
/// [apart](crate::Machine::apart).
///
/// (Two cores have twice the L2, and a mesh's L3 is slow: into another buffer 1.05 to 1.4 times the
/// speed of one thread with 256 and 512 KiB, 1.4 to 1.9 from 1 MiB, 2.2 to 3 from 2 MiB on; in
/// place 0.9 to 1 with 256 KiB, with 512 KiB 1.05 to 1.2 for integers and 0.9 to 1.05 for floats,
/// 1.1 to 1.5 from 1 MiB on. If the other CPU is taken both share one, which costs up to a half.
///
/// On a Zen 4 it depends on whether the two have an L3 in common. With 256 and 512 KiB into another
/// buffer 1.3 to 1.5 times if so, and 0.95 to 1.2 times if not; in place integers 1.2 to 1.4 and
/// 0.8 to 1 times, floats 1.4 and 1 to 1.1 with 512 KiB, 1.25 to 1.3 and 0.75 to 0.9 with 256 KiB;
/// with 128 KiB into another buffer 0.9 to 1.
///
/// On a Zen 5 whose two have an L3 in common, with 512 KiB to 4 MiB into another buffer 1.2 to 1.5
/// times (`f32` by the run 0.8 to 1.5), in place 1.15 to 1.4 times; with 256 KiB `i32` 1.1 to 1.2
/// times, `f32` 0.8 to 1.1, `f64` 0.85 to 1.05 and `i64` 0.8 to 1.05. Where they haven't it wasn't
/// tried.
///
/// On a Zen 3 with 512 KiB 1.0 to 1.3 times, with 1 MiB to 4 MiB 1.1 to 2.0, whether the two have
/// an L3 in common or not; with 256 KiB 0.9 to 1.06.)
pub(crate) const fn awake_bytes(cpu: Cpu, in_place: bool, exact: bool, apart: bool) -> u64 {
    match cpu {
        Cpu::Zen4 if in_place && apart => 2 * AWAKE_BYTES,
        Cpu::Zen4 => AWAKE_BYTES,
        Cpu::Zen5 if apart => 1 << 20,
        Cpu::Zen3 | Cpu::Zen5 => 2 * AWAKE_BYTES,
        Cpu::Mesh if !in_place => AWAKE_BYTES,
        Cpu::Mesh if exact => 2 * AWAKE_BYTES,
        Cpu::Mesh | Cpu::Common => 1 << 20,
    }
}

/// The least of these.
pub(crate) const AWAKE_BYTES: u64 = 256 << 10;

/// The same where threads share out segments or lines on end, each with those of its own.
///
/// (On a Zen 4 by key, in runs of 64 and by lot, with 256 KiB 1.0 to 1.5 times the speed of one
/// thread, in place too, with 512 KiB 1.4 to 1.8 times, with 4 MiB 1.8 to 2.3 times; with 128 KiB
/// 0.8 to 1.2 times. On a Zen 5 with 512 KiB to 4 MiB 1.35 to 1.9 times, with 256 KiB by key 1.0 to
/// 1.6 times and by lot 0.85 to 0.95. On a Zen 3 with 256 KiB by key 1.35 to 1.5 times, by lot 1.1
/// to 1.2, with 512 KiB to 8 MiB 1.45 to 2.6 times. On others it wasn't tried.)
pub(crate) const fn awake_shared_bytes(cpu: Cpu) -> u64 {
    match cpu {
        Cpu::Common | Cpu::Mesh => u64::MAX,
        Cpu::Zen3 | Cpu::Zen4 => AWAKE_BYTES,
        Cpu::Zen5 => 2 * AWAKE_BYTES,
    }
}

/// Of so many tiles those that the second of two threads folds and then scans, while the first one
/// scans those before and then those behind them.
///
/// The second one comes when the first has scanned a tile, and folds take 0.31 (integers) to 0.48
/// times as long as scans (floats of four bytes) on a Zen 4; so the middle should be 0.43 to 0.4 of
/// all other tiles. (A tile more or less costs 0 to 6 % where there are 32, 0 to 8 of 16; of eight
/// floats lose 2 to 13 % by that, integers 8 to 17.)
pub(crate) fn middle(tiles: usize) -> Range<usize> {
    let share = |of_32: usize| (tiles.saturating_sub(1) * of_32 + 16) / 32;
    let start = tiles.min(1 + share(6));
    start..start + share(13)
}

/// How long the second of two threads waits for a tile of the first one's front: an operator may
/// wait for what that thread would do, so not for ever.
pub(crate) const FRONT_WAIT: Duration = Duration::from_millis(10);

/// How long a guest takes at least for a line of its host's if the two have no cache in common; see
/// `pool/distance.rs`. (Not 100 ns, by which some clocks go: a step of theirs isn't far.)
pub(crate) const FAR: Duration = Duration::from_nanos(110);

/// So many calls do without a second thread that was far away, and then one tries again: 20 ms of
/// calls of 256 KiB.
pub(crate) const REMEMBERED: u32 = 1 << 12;

/// How long a thread of the pool stays awake for the next call when it has helped with one. (A
/// library of OpenMP does so for milliseconds. It wasn't tried on others, so there nobody stays.)
pub(crate) const fn linger(cpu: Cpu) -> Duration {
    match cpu {
        Cpu::Common => Duration::ZERO,
        // Miri's clock goes on by 5 µs a step.
        _ if cfg!(miri) => Duration::from_millis(20),
        Cpu::Mesh | Cpu::Zen3 | Cpu::Zen4 | Cpu::Zen5 => Duration::from_micros(200),
    }
}

/// How long it stays at most, however often it is invited: it may have come from a `join` of its
/// own, which it goes on with only then. (The next call asks the pool again, where the thread still
/// looks around for work. With 2 ms calls of 256 KiB to 1 MiB were 3 to 6 % slower by two threads
/// of a mesh, with 10 as fast as without an end.)
pub(crate) const STAY: Duration = Duration::from_millis(10);

/// So many calls that guests were no help with, one after another
pub(crate) const FAILURES: u32 = 8;

/// and in the time that one may take to wake from the depths, or more, and a caller does short ones
/// alone
pub(crate) const WAKING: Duration = Duration::from_micros(400);

/// for so long, and twice as long each time that guests are no help again,
pub(crate) const SHORT_PAUSE: Duration = Duration::from_millis(2);

/// until it is so long: who is in the way may be gone in a moment, as threads of a library of
/// OpenMP are that spin behind a call, or have come to stay.
pub(crate) const LONG_PAUSE: Duration = Duration::from_millis(100);

/// Bytes read or written up to which the second of two threads has the [middle], in place or not:
/// each has its own in its L2 then, or in an L3 that is near.
///
/// (On a Zen 4 in place, beside a part each, integers of 256 and 512 KiB and all of 1 and 2 MiB 1.1
/// to 1.3 times as fast, beside pieces 4 and 8 MiB 1.05 to 1.2 times, 16 MiB 1.05 to 1.3 times; of
/// 32 MiB floats 0.75 to 0.87 times. Into another buffer as fast as where the second one folded
/// what the first one would scan, from behind, until the two met, which was up to 4 MiB 1.05 to 1.3
/// times as fast as with a part each, from there on, beside pieces, up to 1.15 times, beside pieces
/// whose values go past the caches 1.3 to 1.9 times. On a mesh that had 2 MiB 1.05 to 1.15 times as
/// fast, 4 MiB 0.8 times, in place 0.4 to 0.9 times, where one core wrote what the other one had
/// read; the middle wasn't tried there. On a Zen 5 beside pieces into another buffer of 10 to 12
/// MB 0.95 to 1.9 times as fast, of 14 MB 1.15 to 1.9; in place, of 24 to 32 MB, floats 0.7 to 0.9
/// times, integers 0.9 to 1.3. On a Zen 3 beside pieces 1.1 to 1.3 times as fast up to 4 MiB, which
/// are 8 read and written, and in place up to 8 MiB 1.1 to 1.5 times, of 12 MiB 0.5 to 0.8 times.)
pub(crate) const fn middle_bytes(cpu: Cpu, in_place: bool) -> u64 {
    match (cpu, in_place) {
        (Cpu::Zen5, false) => 24 << 20,
        (Cpu::Zen3, false) => 16 << 20,
        (Cpu::Zen3, true) => 8 << 20,
        (Cpu::Zen4 | Cpu::Zen5, _) => 20 << 20,
        (Cpu::Mesh, false) => 2 << 20,
        (Cpu::Mesh, true) | (Cpu::Common, _) => 0,
    }
}

/// Bytes that each of two threads has, read or written, up to which it has one part in place of
/// pieces: an L2, which finds the part again in the next call. (On a mesh 2 MiB into another buffer
/// 75 to 97 GB/s so, 53 to 90 in pieces; with twice as much f32 of 4 MiB 47 instead of 51, i64 48
/// instead of 61.)
pub(crate) const fn part_bytes(cpu: Cpu) -> u64 {
    match cpu {
        Cpu::Common | Cpu::Zen3 | Cpu::Zen4 | Cpu::Zen5 => 1 << 20,
        Cpu::Mesh => 2 << 20,
    }
}

/// Bytes of a piece: its second touch must be in L2, beside the next piece being prefetched.
pub(crate) const PIECE_BYTES: u64 = 128 << 10;

/// The same on any CPU: an eighth of L2. (256 KiB give a mesh 2 to 10 % in place, segments there 1
/// to 5 %, lines side by side that threads scan together 6 %, and nothing is lost.)
pub(crate) const fn piece_bytes(cpu: Cpu) -> u64 {
    match cpu {
        Cpu::Common | Cpu::Zen3 | Cpu::Zen4 | Cpu::Zen5 => PIECE_BYTES,
        Cpu::Mesh => 2 * PIECE_BYTES,
    }
}

/// The same for a flat scan of so many bytes, in place or not, by so many threads, given whether
/// two are [apart](crate::Machine::apart).
///
/// (Where a piece ends prefetchers go on into the next one, which another core writes. On a Zen 4
/// in place by two threads, 128 MiB: with 256 KiB 8 to 24 % faster where the two are apart, and 1 %
/// slower to 2 faster where they aren't; with 512 KiB 15 to 30 faster, and 0 to 4 slower; with 1
/// MiB, of which a thread has three in hand, beside that 3 to 12 % faster, and 1 slower to 2
/// faster, as elements are asked for once more when they are scanned. Of 32 MiB, which lie in L3 in
/// part, integers are an eighth slower so where the two aren't apart, of 64 MiB 2 %. Into another
/// buffer, past the caches, integers are up to 6 % slower with 256 KiB, floats 5 slower to 8
/// faster: what is folded must be in L2 for longer.
///
/// On a Zen 5 by two threads, 256 MiB and more, with 256 and 512 KiB: when memory is quick (70 to
/// 90 GB/s) 2 to 11 and 6 to 21 % faster, when it is slow (48 to 60) as fast within 4; with 1 and 2
/// MiB as slow as with 128 KiB or slower. Of 16 to 128 MiB all are as fast as runs differ.)
pub(crate) const fn flat_piece_bytes(
    cpu: Cpu,
    in_place: bool,
    threads: usize,
    apart: bool,
    bytes: u64,
) -> u64 {
    match (cpu, in_place) {
        (Cpu::Zen4, true) if threads == 2 && (apart || bytes >= 128 << 20) => 8 * PIECE_BYTES,
        (Cpu::Zen5, _) if bytes >= 128 << 20 => 4 * PIECE_BYTES,
        (Cpu::Zen4, true) | (Cpu::Zen5, _) => 2 * PIECE_BYTES,
        _ => piece_bytes(cpu),
    }
}

/// Whether one of several threads leads where operators are exact, and scans what it hasn't folded;
/// in the fixed order, whose folds take longer, one always does.
///
/// (Two threads of a Zen 4 in place, 128 MiB of `i32` and `i64` by pieces of 1 MiB: 10 to 12 %
/// faster where they are apart, 2 to 4 where they aren't; into another buffer from 3 % slower to 4
/// faster. On a Zen 5, 512 MiB and 1 GiB by pieces of 512 KiB, beside pieces of 128 KiB without a
/// leader: when memory is quick in place 1.3 to 1.5 times as fast, into another buffer 1.09 to 1.16
/// times, when it is slow 3 % slower to 6 faster. On others it wasn't tried.)
pub(crate) const fn exact_are_led(cpu: Cpu, in_place: bool) -> bool {
    matches!(cpu, Cpu::Zen5) || matches!(cpu, Cpu::Zen4) && in_place
}

/// Output bytes from which stores go past the caches: a quarter of a common L3, which other cores
/// share. (Not a share of what the CPU says: of the hundreds of MiB of a mesh's L3 others have
/// theirs, and copies past it are as fast as others from 4 MiB on there, 1.5 times as fast from 64
/// MiB on.)
pub(crate) const STREAM_BYTES: u64 = 8 << 20;

/// The same for a flat scan. (On a mesh, 8 MiB of `f32` by two threads: 53 GB/s through the caches,
/// 46 past them.)
pub(crate) const fn stream_bytes(cpu: Cpu) -> u64 {
    match cpu {
        Cpu::Common | Cpu::Zen3 | Cpu::Zen4 | Cpu::Zen5 => STREAM_BYTES,
        Cpu::Mesh => 2 * STREAM_BYTES,
    }
}

/// The same by two threads that are awake, as the last call was moments ago: caches may hold what
/// it had.
///
/// (On a Zen 4 8 MiB of `f32` 50 GB/s past the caches, 47 to 77 through them, `f64` 49 and 63 to
/// 81, integers 51 and 86 to 99; of 10 MB 48 to 53 and 45 to 92, of 12 MB 42 to 54 and 32 to 79, of
/// 14 MB less than past them. Where calls are far apart one thread has 46 past the caches, 28 to 32
/// through them. On a Zen 5 8 MiB of `f32` 80 and 91 to 127, of `i32` 77 and 110 to 144, of `f64`
/// 78 and 88 to 116, of `i64` 79 and 106 to 145; of 10 to 12 MB with the [middle] 1.2 to 1.6 times
/// the speed of what goes past the caches, of 14 MB 1.1 to 1.5, of 16 MiB 1.0 to 1.2.)
pub(crate) const fn awake_stream_bytes(cpu: Cpu) -> u64 {
    match cpu {
        Cpu::Zen4 => 10 << 20,
        Cpu::Zen5 => 12 << 20,
        _ => stream_bytes(cpu),
    }
}

/// Input bytes from which what comes from memory is asked for in four pages in turn.
///
/// (On a mesh, by two threads: into another buffer of 16 to 64 MiB 5 to 8 % faster (of 64 MiB in
/// another run 5 % slower), of 128 MiB and more 9 to 21 %; in place of 128 MiB and more 3 to 17 %,
/// of 8 to 64 MiB 1 to 15 % slower. By one from 128 MiB on 2 to 20 % faster, of 16 to 64 MiB into
/// another buffer 4 to 8 % slower. On a Zen 4 by two threads integers 3 to 40 % faster into another
/// buffer, 4 to 18 in place in seven of eight cells, floats 4 slower to 7 faster (in place of 16
/// MiB all 2 slower); by one thread integers 3 to 24 faster into another buffer, 12 to 44 in place,
/// floats 9 to 15 slower in seven of eight cells. On a Zen 5 two threads are 5 to 10 % slower. On
/// others it wasn't tried.)
pub(crate) const fn paged_bytes(cpu: Cpu, askers: Askers) -> u64 {
    match (cpu, askers) {
        (Cpu::Mesh | Cpu::Zen4, Askers { several: true, stream: true, .. }) => stream_bytes(cpu),
        (Cpu::Mesh, _) => 128 << 20,
        (Cpu::Zen4, Askers { several: true, .. } | Askers { free: true, .. }) => 32 << 20,
        (Cpu::Common | Cpu::Zen3 | Cpu::Zen4 | Cpu::Zen5, _) => u64::MAX,
    }
}

/// Input bytes from which nothing is asked for ahead of scans in any order whose values go past the
/// caches, and threads have [longer tiles](AT_ONCE): who computes so little reads far enough ahead,
/// and each call and each prefetch takes its time.
///
/// (On a Zen 5 by two threads, when memory is slow (50 GB/s), `i32` and `i64` of 64 MiB are as
/// fast, of 128 MiB and more 1 to 6 % faster, when it is quick as fast; either one of the two by
/// itself is worth nothing. Of 32 MiB, which lie in L3 in part, `i32` is a tenth slower. In place
/// `i32` and `i64` are 4 to 9 % slower without prefetches. By one thread `i32` of 512 MiB is 3 %
/// faster, `i64` of 1 GiB as fast. On others it wasn't tried.)
pub(crate) const fn unasked_bytes(cpu: Cpu) -> u64 {
    match cpu {
        Cpu::Zen5 => 64 << 20,
        Cpu::Common | Cpu::Mesh | Cpu::Zen3 | Cpu::Zen4 => u64::MAX,
    }
}

/// Tiles of the order that threads scan at once where nothing is [asked for](unasked_bytes). (With
/// 16, and with 32 by pieces of 1 MiB, as fast.)
pub(crate) const AT_ONCE: usize = 8;

/// Bytes of the longest segments whose values leave for memory with those of others, in whole lines
/// of the cache; longer ones are scanned by themselves.
///
/// (On a Zen 5, two threads, `f32` and `i32`, when memory is slow: lines on end of 256 KiB and 4
/// MiB 44 to 46 GB/s with others, 50 to 55 by themselves; of 16 KiB 42 to 45, and 35 to 41. When it
/// is quick 72 and 73 GB/s with others. On others it wasn't tried.)
pub(crate) const fn successive_bytes(cpu: Cpu) -> usize {
    match cpu {
        Cpu::Zen5 => 32 << 10,
        Cpu::Common | Cpu::Mesh | Cpu::Zen3 | Cpu::Zen4 => usize::MAX,
    }
}

/// Bytes of values of short segments that go past the caches at once.
///
/// More at a time are fewer branches that a CPU foresees wrongly; memory is slower by bursts of
/// more than 1 KiB. (On a mesh runs of 64 equal keys, `f32`, by two threads: 30 to 31 GB/s with 64
/// bytes, 128 and 1 KiB, 34 with 256.)
pub(crate) const fn burst_bytes(cpu: Cpu) -> usize {
    match cpu {
        Cpu::Common | Cpu::Zen3 | Cpu::Zen4 | Cpu::Zen5 => 1 << 10,
        Cpu::Mesh => 256,
    }
}

/// Bytes of a stage for narrow rows of memory that don't begin with lines of the cache: those it
/// begins and ends in are stored in part. (On a mesh that costs most: 64 columns of `f32` have 65 %
/// of a flat scan's speed with 2 KiB, 71, 74 and 72 % with 4, 8 and 16. On others those weren't
/// tried.)
pub(crate) const fn column_stage_bytes(cpu: Cpu) -> usize {
    match cpu {
        Cpu::Common | Cpu::Zen3 | Cpu::Zen4 | Cpu::Zen5 => 2 << 10,
        Cpu::Mesh => 8 << 10,
    }
}

/// Input bytes from which a thread by itself asks ahead for elements that it scans in any order:
/// those of a common L2.
pub(crate) const L2_BYTES: usize = 1 << 20;

/// The same for elements that it scans in the fixed order, which takes longer. (On a Zen 5, `f64`
/// in place: with 8 MiB 51 to 76 GB/s, with 2 MiB 112 to 103.)
pub(crate) const L3_BYTES: usize = 8 << 20;

/// Input bytes from which a thread by itself asks the memory and not a cache, on a mesh.
pub(crate) const MEMORY_BYTES: usize = 16 << 20;
