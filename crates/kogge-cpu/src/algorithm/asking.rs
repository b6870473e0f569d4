//! Memory asked for ahead of a scan, so that it is read evenly while stores drain. (Bursts of more
//! than 1 KiB, of loads, prefetches or stores, cost a fifth of the bandwidth and more.)

use super::levels::ROWS_PER_TILE;
use super::pages::{self, BLOCK};
use super::tile::Beside;
use crate::arch::stream::{Cache, LINE, ROW};
use crate::array::for_each;
use crate::{Cpu, tuning};

/// Bytes from where something is folded to where it is asked for: memory, by several threads.
pub(super) const AHEAD: usize = 8 * ROW;

/// Bytes from where a scan is to where it asks: a cache most of all, whose hardware prefetcher is
/// late.
const AHEAD_OF_SCAN: usize = 16 * ROW;

/// Bytes from where something is used to where it is asked for [on into L1](Cache::goes_on).
const SOON: usize = AHEAD / 4;

/// Bytes from where a scan is to where it asks once more for what was folded long ago.
const AHEAD_AGAIN: usize = AHEAD_OF_SCAN;

/// Bytes of a tile whose rows go by vector.
const TILE: usize = ROW * ROWS_PER_TILE;

/// How memory is asked for ahead of where it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// Nothing: the hardware's prefetcher is in time.
    Nothing,
    /// One line after another, a few rows ahead, into a cache.
    Along(Cache),
    /// [Pages in turn](pages), a block ahead, into L2, and on into L1 shortly before it is used:
    /// while a tile is, its second block and the first of the tile to be used next.
    Pages {
        /// Where that one begins, from the end of this one.
        then: isize,
        /// Bytes of what is scanned, from where the scan begins, up to which that is asked for into
        /// L2, as it has left it since it was folded.
        again: usize,
    },
}

/// Who asks memory for elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Askers {
    /// Whether several threads do.
    pub(crate) several: bool,
    /// Whether values go past the caches.
    pub(crate) stream: bool,
    /// Whether operands are taken in [any order](super::free).
    pub(crate) free: bool,
}

impl Ask {
    /// Pages of one tile after another.
    pub(super) const PAGES: Self = Self::Pages { then: 0, again: 0 };

    /// For a scan of so many bytes of elements from memory.
    pub(crate) fn of(bytes: u64, askers: Askers) -> Self {
        Self::on(Cpu::detect(), bytes, askers)
    }

    fn on(cpu: Cpu, bytes: u64, askers: Askers) -> Self {
        if askers.free && askers.stream && bytes >= tuning::unasked_bytes(cpu) {
            Self::Nothing
        } else if bytes >= tuning::paged_bytes(cpu, askers) {
            Self::PAGES
        } else {
            Self::Along(Cache::for_memory_of(cpu))
        }
    }

    /// The same, if the tile to be used next begins so many bytes behind this one.
    pub(super) fn then(self, behind: isize) -> Self {
        match self {
            Self::Pages { again, .. } => Self::Pages { then: behind, again },
            Self::Nothing | Self::Along(_) => self,
        }
    }

    /// The same, if what is scanned is a tile that has left L2 since it was folded, the last of
    /// those that follow one another or not.
    pub(super) fn once_more(self, last: bool) -> Self {
        let again = if last { TILE } else { TILE + AHEAD_AGAIN };
        match self {
            Self::Pages { then, .. } => Self::Pages { then, again },
            Self::Nothing | Self::Along(_) => self,
        }
    }
}

/// Memory asked for ahead, of what is being scanned or folded.
pub(super) enum Asking {
    Nothing,
    Along {
        /// What is next.
        next: *const u8,
        cache: Cache,
        /// Whether what is used soon is asked for into L1 too; what is next is [`AHEAD`] then.
        goes_on: bool,
    },
    Pages {
        /// The tile.
        from: *const u8,
        /// Bytes of it before what is used next.
        used: usize,
        /// Where the tile to be used next begins, from the end of this one.
        then: isize,
        /// What is scanned,
        scanned: *const u8,
        /// and up to which byte of it that is asked for, too.
        again: usize,
    },
}

impl Asking {
    /// What a scan from this place asks for.
    #[inline(always)]
    pub(super) fn of<A>(from: *const A, beside: Beside<*const A>) -> Self {
        let scanned = from.cast::<u8>();
        let (used, ask, ahead) = match beside {
            Beside::Nothing => return Self::Nothing,
            Beside::Ask(ask) => (from, ask, AHEAD_OF_SCAN),
            Beside::Fold(folded, ask) => (folded, ask, AHEAD),
        };
        let from = used.cast::<u8>();
        match ask {
            Ask::Nothing => Self::Nothing,
            Ask::Along(cache) => {
                let goes_on = cache.goes_on();
                let next = from.wrapping_add(if goes_on { AHEAD } else { ahead });
                Self::Along { next, cache, goes_on }
            }
            Ask::Pages { then, again } => Self::Pages { from, used: 0, then, scanned, again },
        }
    }

    /// Asks for the next quarter of a row: once at each of four places between the loads and the
    /// stores of a row. (Two threads of a Zen 5 scan lines of floats at 93 % of a copy's speed so,
    /// at 89 % with a row at once.)
    #[inline(always)]
    pub(super) fn quarter(&mut self) {
        match self {
            Self::Nothing => {}
            Self::Along { next, cache, goes_on } => {
                cache.ask::<{ ROW / 4 }>(*next);
                if *goes_on {
                    Cache::L1.ask::<{ ROW / 4 }>(next.wrapping_sub(AHEAD - SOON));
                }
                *next = next.wrapping_add(ROW / 4);
            }
            Self::Pages { from, used, then, scanned, again } => {
                Cache::L2.ask::<{ ROW / 4 }>(from.wrapping_offset(block_ahead(*used, *then)));
                Cache::L1.ask::<{ ROW / 4 }>(from.wrapping_add(*used + SOON));
                if let Some(byte) = once_more(*used, *again) {
                    Cache::L2.ask::<{ ROW / 4 }>(scanned.wrapping_add(byte));
                }
                *used += ROW / 4;
            }
        }
    }

    /// Asks for the next row at once: right where a scan computes so little that it waits for
    /// memory all the time. (Sums of integers, one thread of a Zen 5, from L3: a tenth faster than
    /// by quarters. Two threads, from memory, 2 to 4 %.)
    #[inline(always)]
    pub(super) fn row(&mut self) {
        for _ in 0..4 {
            self.quarter();
        }
    }
}

/// The byte of what is scanned that is asked for once more when so many have been used, given up to
/// which one it is.
#[inline(always)]
fn once_more(used: usize, again: usize) -> Option<usize> {
    let byte = used + AHEAD_AGAIN;
    (byte < again).then_some(byte)
}

/// Bytes from where a tile begins to what is asked for when so many bytes of it have been used,
/// given from where it ends to where the one to be used next begins.
#[inline(always)]
fn block_ahead(used: usize, then: isize) -> isize {
    let behind = if used < TILE - BLOCK { 0 } else { then };
    (BLOCK + pages::in_turn(used)) as isize + behind
}

/// What is asked for while segments are scanned where they lie.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    /// Whether elements come from a memory that is so far away that L1 waits for too few lines at a
    /// time.
    pub(crate) far: bool,
    /// Where elements are asked for to, unless they are far.
    pub(crate) cache: Cache,
    /// What is looked at of each place before it is scanned, such as its key, if that too should be
    /// asked for: where that of the first place lies, and bytes of each.
    pub(crate) looked_at: Option<(*const u8, usize)>,
}

impl Wanted {
    /// For so many bytes of elements on such a CPU, given what may be asked for beside. From a
    /// cache neither is worth it: from a mesh's L3, 8 MiB beside keys were a tenth to a quarter
    /// slower.
    pub(crate) fn of(
        cpu: Cpu,
        bytes: u64,
        looked_at: impl FnOnce() -> Option<(*const u8, usize)>,
    ) -> Self {
        let far = cpu == Cpu::Mesh && bytes >= tuning::stream_bytes(cpu);
        let cache =
            if bytes >= tuning::stream_bytes(cpu) { Cache::for_memory_of(cpu) } else { Cache::L1 };
        let looked_at = if cache == Cache::L2 { looked_at() } else { None };
        Self { far, cache, looked_at }
    }

    /// The same from a place on.
    pub(crate) fn on(self, place: usize) -> Self {
        let moved = |(first, each): (*const u8, usize)| (first.wrapping_add(place * each), each);
        Self { looked_at: self.looked_at.map(moved), ..self }
    }

    /// Asks for some bytes of elements, so many bytes ahead, given those that are scanned: what is
    /// far away in [pages in turn](pages), and into L1 shortly before it is scanned.
    #[inline(always)]
    pub(super) fn elements<const BYTES: usize>(&self, from: *const u8, ahead: usize) {
        if self.far {
            pages::ask::<BYTES>(from);
            Cache::L1.ask::<BYTES>(from.wrapping_add(SOON));
        } else {
            self.cache.ask::<BYTES>(from.wrapping_add(ahead));
        }
    }

    /// Asks for what is looked at of these places, which are as far ahead of those that are scanned
    /// as others are looked at; of what is far away, for that of a block behind. (It is looked at
    /// all at once for some thousand places. Asked for only then, memory rests before and is late
    /// after.)
    #[inline(always)]
    pub(super) fn looked_at(&self, place: usize, count: usize) {
        if let Some((first, each)) = self.looked_at {
            let from = first.wrapping_add(place.wrapping_mul(each));
            for_each!((0..count * each).step_by(LINE), |line| {
                let line = from.wrapping_add(line);
                if self.far {
                    pages::ask::<LINE>(line);
                } else {
                    self.cache.ask::<LINE>(line);
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_tile_and_the_first_block_of_the_next_are_asked_for() {
        let tile = TILE as isize;
        for then in [0, 3 * tile, -9 * tile] {
            let quarters = (0..TILE).step_by(ROW / 4);
            let mut asked: Vec<_> = quarters.map(|used| block_ahead(used, then)).collect();
            asked.sort_unstable();
            let next = (0..BLOCK).map(|byte| tile + then + byte as isize);
            let mut all: Vec<_> = (BLOCK..TILE).map(|byte| byte as isize).chain(next).collect();
            all.retain(|byte| byte.unsigned_abs().is_multiple_of(ROW / 4));
            all.sort_unstable();
            assert_eq!(asked, all, "{then} bytes behind");
        }
    }

    /// Each byte once, by its tile or the one before it; none behind the last of them, where another
    /// thread may write.
    #[test]
    fn what_left_l2_is_asked_for_once_more() {
        let asked = |ask: Ask| -> Vec<usize> {
            let Ask::Pages { again, .. } = ask else { panic!("{ask:?}") };
            (0..TILE).step_by(ROW / 4).filter_map(|used| once_more(used, again)).collect()
        };
        let along: Vec<_> = (AHEAD_AGAIN..TILE + AHEAD_AGAIN).step_by(ROW / 4).collect();
        assert_eq!(asked(Ask::PAGES.once_more(false).then(7)), along);
        let last: Vec<_> = (AHEAD_AGAIN..TILE).step_by(ROW / 4).collect();
        assert_eq!(asked(Ask::PAGES.then(7).once_more(true)), last);
        assert_eq!(asked(Ask::PAGES), []);
        assert_eq!(Ask::Along(Cache::L1).once_more(true), Ask::Along(Cache::L1));
    }

    #[test]
    fn pages_are_asked_for_from_memory() {
        let ask = |cpu, kib: u64, askers| Ask::on(cpu, kib << 10, askers);
        let by = |several, stream, free| Askers { several, stream, free };
        let far = [
            (Cpu::Mesh, 16, by(true, true, false)),
            (Cpu::Mesh, 128, by(true, false, false)),
            (Cpu::Mesh, 128, by(false, true, false)),
            (Cpu::Zen4, 8, by(true, true, true)),
            (Cpu::Zen4, 32, by(true, false, false)),
            (Cpu::Zen4, 32, by(false, true, true)),
        ];
        for (cpu, mib, askers) in far {
            assert_eq!(ask(cpu, mib << 10, askers), Ask::PAGES, "{cpu:?}, {askers:?}");
            let nearer = ask(cpu, (mib << 10) - 1, askers);
            assert_eq!(nearer, Ask::Along(Cache::L2), "{cpu:?}, {askers:?}");
            assert_eq!(ask(Cpu::Common, mib << 10, askers), Ask::Along(Cache::L1));
        }
        let ordered = ask(Cpu::Zen4, 1 << 20, by(false, true, false));
        assert_eq!(ordered, Ask::Along(Cache::L2), "a thread that computes more");
        assert_eq!(Ask::PAGES.then(5), Ask::Pages { then: 5, again: 0 });
        assert_eq!(Ask::Along(Cache::L2).then(5), Ask::Along(Cache::L2));
    }

    #[test]
    fn a_zen_5_finds_integers_by_itself() {
        let ask = |kib: u64, (several, stream, free)| {
            Ask::on(Cpu::Zen5, kib << 10, Askers { several, stream, free })
        };
        let far = 64 << 10;
        assert_eq!(ask(far, (true, true, true)), Ask::Nothing);
        assert_eq!(ask(far, (false, true, true)), Ask::Nothing);
        assert_eq!(Ask::Nothing.then(5).once_more(true), Ask::Nothing);
        let along = Ask::Along(Cache::L1);
        assert_eq!(ask(far - 1, (true, true, true)), along);
        assert_eq!(ask(far, (true, true, false)), along, "floats");
        assert_eq!(ask(far, (true, false, true)), along, "in place");
    }

    #[test]
    fn keys_are_asked_for_from_memory() {
        let keys = (std::ptr::without_provenance(64), 4);
        let wanted = |cpu, mib: u64| Wanted::of(cpu, mib << 20, || Some(keys));
        assert!(wanted(Cpu::Mesh, 16).far);
        let moved = (std::ptr::without_provenance(104), 4);
        assert_eq!(wanted(Cpu::Mesh, 16).on(10).looked_at, Some(moved));
        let line_by_line = wanted(Cpu::Zen4, 8);
        assert!(!line_by_line.far && line_by_line.looked_at.is_some());
        for near in [wanted(Cpu::Mesh, 15), wanted(Cpu::Zen4, 7), wanted(Cpu::Common, 1 << 10)] {
            assert!(!near.far && near.looked_at.is_none());
        }
    }
}
