//! Many threads, one pass over memory.
//!
//! Threads take pieces of a few tiles from a counter. Each folds the tiles of its piece, which
//! brings them into its L2, publishes the totals, folds *all* totals before its own by itself, in
//! the fixed order, and scans the piece from cache. Another piece is taken before the scan and
//! folded row by row beside it, so that reading never pauses, nor does storing.
//!
//! One thread, the leader, doesn't fold: it scans a piece as soon as all before it are known, and
//! its totals are those of the scan. The others fold ahead of themselves, so when the leader has
//! done a piece, what lies between it and the next has been folded. Its pieces are longer for it,
//! by as much as lets all come just in time: they grow where it comes too early, and shrink where
//! the others do. It takes a piece before it has done one, so before those who wait for that go on
//! and take theirs: what they take then would lie before its own, and it would wait for them. Where
//! there is a leader all have a piece more in hand than the one that follows, or each would wait
//! for the other whenever one was a little slow. Exact operators are led where that was measured.
//!
//! There is no chain: nobody passes a prefix on. Each thread spends some work on totals that others
//! have combined as well, a few combinations for 32 KiB of input, and in return gets the same bits
//! for any number of threads. A thread that isn't scheduled costs its share and no more, since a
//! total that is late is computed by whoever needs it. But the tile that the leader is at in place
//! has to be waited for; so in place only operators that wait for nobody are led.

use super::asking::Ask;
use super::format::Format;
use super::free::free;
use super::handover::{Gate, Owed, Slot, late, many};
use super::io::Io;
use super::middle;
use super::tile::{Beside, Scan, through};
use crate::arch::stream::Fence;
use crate::{Cpu, pool, tuning};
use kogge_core::{Element, Operator, Prefix};
use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The leader's pieces are at most so many times as long as the others'. (For sums of floats 1.25
/// were the best on a Zen 5; while folds took longer, 1.25 to 1.75 on a Zen 3, 1.75 to 2.25 on a
/// Zen 4.)
const LEAD: usize = 4;

/// Pieces that a thread has taken, behind the one that it scans, where there is a leader. (Two
/// threads of a Zen 5 wait for each other 1 % of the time, with one piece 7 to 11 %; three gain
/// nothing.)
const IN_HAND: usize = 2;

/// What the threads of one scan share.
struct Shared<'a, I, A, O> {
    scan: &'a Scan<'a, I, A, O>,
    tiles_per_piece: usize,
    /// How memory is asked for.
    ask: Ask,
    /// Whether a piece has left L2 when it is scanned, and is asked for once more.
    once_more: bool,
    /// What precedes the first tile. Borrowed: of wide accumulators it is large.
    prefix: &'a Prefix<A>,
    /// The next tile to be taken.
    next: AtomicUsize,
    /// Whether a thread leads, if there is to be a leader at all.
    led: Option<AtomicBool>,
    /// Whether a thread other than the leader has waited since the leader took a piece.
    waited: AtomicBool,
    /// One slot for the total of each tile, which belongs to the thread that took the tile.
    totals: Vec<Slot<Total<A>>>,
    /// One gate a tile where the output overwrites the input, else empty.
    gates: Vec<Gate>,
}

/// Scans on up to `threads` threads of the current rayon pool what follows the tiles of a prefix,
/// and takes its tiles in; `tiles_per_piece` are such as `scan` has. Memory is asked for as `ask`
/// says; a thread leads if that is `led`, and there is time and leave for it.
///
/// # Safety
///
/// The memory of `scan.io` must be this call's alone.
pub(crate) unsafe fn run<I: Io<A>, A: Element, O: Operator<A>>(
    scan: &Scan<'_, I, A, O>,
    prefix: &mut Prefix<A>,
    threads: usize,
    tiles_per_piece: usize,
    ask: Ask,
    in_place: bool,
    led: bool,
) {
    // So that places of pieces that don't exist can't overflow.
    let tiles_per_piece = tiles_per_piece.min(scan.tiles());
    if threads == 2 && tiles_per_piece == scan.tiles() && scan.tiles() <= middle::TILES {
        // SAFETY: passed on.
        return unsafe { middle::run(scan, prefix, in_place) };
    }
    // One part each: nobody could lead for long.
    let few = scan.tiles() <= threads.saturating_mul(tiles_per_piece);
    let led = led && !few && (!in_place || const { O::NONBLOCKING });
    let gates = if in_place { scan.tiles() } else { 0 };
    let shared = Shared {
        scan,
        tiles_per_piece,
        ask,
        once_more: tiles_per_piece.saturating_mul(scan.tile_bytes()) >= tuning::L2_BYTES,
        prefix,
        next: AtomicUsize::new(0),
        led: led.then(|| AtomicBool::new(false)),
        waited: AtomicBool::new(false),
        totals: many(scan.tiles(), Slot::owned),
        gates: many(gates, Gate::new),
    };
    // SAFETY: passed on; pieces keep the threads apart.
    pool::together(threads, &|| unsafe { shared.work() });
    let totals = shared.totals;
    for slot in &totals {
        let total = slot.get().expect("every tile was folded by its owner");
        total.taken_in(scan.operator, prefix);
    }
}

/// Whether one of the threads should lead, where that is possible.
pub(crate) fn led<F: Format, A: Element, O: Operator<A>>(in_place: bool) -> bool {
    if const { free::<F, A, O>() } {
        tuning::exact_are_led(Cpu::detect(), in_place)
    } else {
        const { !through::<F, A, O>() }
    }
}

/// What is published of a tile.
#[derive(Clone, Copy)]
enum Total<A> {
    /// What it comes to.
    Own(A),
    /// What it and all before it come to: the leader's, where [scans have it so](through).
    Through(A),
}

impl<A: Element> Total<A> {
    /// The next tile's taken in.
    fn taken_in<O: Operator<A>>(self, operator: &O, prefix: &mut Prefix<A>) {
        match self {
            Self::Own(fold) => prefix.push(operator, fold),
            Self::Through(fold) => prefix.replace(1, fold),
        }
    }
}

impl<I: Io<A>, A: Element, O: Operator<A>> Shared<'_, I, A, O> {
    /// What each thread does until no piece is left.
    ///
    /// # Safety
    ///
    /// As for [`run`].
    unsafe fn work(&self) {
        let _fence = I::STREAM.then_some(Fence);
        let mut stage = self.scan.stage();
        let mut prefix = self.prefix.clone();
        // Whether it ended early doesn't matter: the panic that ended it goes on.
        // SAFETY: passed on.
        let _ = unsafe {
            match &self.led {
                None => self.follow(1, &mut prefix, &mut stage),
                Some(led) if led.swap(true, Ordering::Relaxed) => {
                    self.follow(IN_HAND, &mut prefix, &mut stage)
                }
                Some(_) => self.lead(&mut prefix, &mut stage),
            }
        };
    }

    /// Scans pieces, each folded beside the one that was scanned so many pieces earlier. `None` as
    /// for [`catch_up`](Self::catch_up).
    ///
    /// # Safety
    ///
    /// As for [`run`].
    unsafe fn follow(
        &self,
        in_hand: usize,
        prefix: &mut Prefix<A>,
        stage: &mut [MaybeUninit<A>],
    ) -> Option<()> {
        let mut taken = self.take_some(in_hand, self.tiles_per_piece);
        for piece in &taken {
            // SAFETY: pieces were taken by this thread, so nobody else writes them.
            unsafe { self.fold(piece.clone(), stage) };
        }
        // The piece after these, if it has been taken already.
        let mut next = None;
        while let Some(piece) = taken.pop_front().filter(|piece| !piece.is_empty()) {
            if self.early(&piece) {
                self.waited.store(true, Ordering::Relaxed);
            }
            // SAFETY: as above.
            unsafe {
                self.catch_up(prefix, piece.start, stage)?;
                let folded = next.take().unwrap_or_else(|| self.take(self.tiles_per_piece));
                next = self.scan_piece(piece, folded.clone(), prefix, stage);
                taken.push_back(folded);
            }
        }
        Some(())
    }

    /// Scans pieces without folding them first. `None` as for [`catch_up`](Self::catch_up).
    ///
    /// # Safety
    ///
    /// As for [`run`].
    unsafe fn lead(&self, prefix: &mut Prefix<A>, stage: &mut [MaybeUninit<A>]) -> Option<()> {
        let mut tiles = self.tiles_per_piece + self.tiles_per_piece / 4;
        let mut taken = self.take_some(IN_HAND, tiles);
        while let Some(piece) = taken.pop_front().filter(|piece| !piece.is_empty()) {
            let waited = self.waited.swap(false, Ordering::Relaxed);
            tiles = next_lead(tiles, self.early(&piece), waited).min(LEAD * self.tiles_per_piece);
            // SAFETY: the piece was taken by this thread, so nobody else writes it.
            unsafe { self.catch_up(prefix, piece.start, stage) }?;
            let last = piece.end - 1;
            for tile in piece {
                let mut behind = tile + 1;
                if tile == last {
                    taken.push_back(self.take(tiles));
                    behind = taken[0].start;
                }
                // SAFETY: as above.
                unsafe { self.scan_unfolded(tile, behind, prefix, stage) };
            }
        }
        Some(())
    }

    /// Scans a tile that nobody need have folded, and publishes its total. `behind` is the tile to
    /// be scanned next.
    ///
    /// # Safety
    ///
    /// As for [`run`], and the tile must be this thread's.
    unsafe fn scan_unfolded(
        &self,
        tile: usize,
        behind: usize,
        prefix: &mut Prefix<A>,
        stage: &mut [MaybeUninit<A>],
    ) {
        let (places, before) = (self.scan.tile(tile), prefix.before(self.scan.operator));
        if let Some(gate) = self.gates.get(tile) {
            gate.close();
        }
        let owed = Owed(&self.totals[tile]);
        let beside = Beside::Ask(self.ask_then(tile, behind));
        // SAFETY: passed on.
        let (total, _) = unsafe { self.scan.scan_tile(places, before, beside, stage) };
        let total = if const { through::<I::Format, A, O>() } {
            Total::Through(total)
        } else {
            Total::Own(total)
        };
        // SAFETY: the tile is this thread's, which scans it once.
        unsafe { owed.put(total) };
        total.taken_in(self.scan.operator, prefix);
    }

    /// Whether a piece can't be scanned yet, as the tile before it is neither folded nor scanned.
    fn early(&self, piece: &Range<usize>) -> bool {
        piece.start > 0 && self.totals[piece.start - 1].get().is_none()
    }

    /// Takes in the totals of the tiles before one. `None` if another thread panicked, which ends
    /// the scan.
    ///
    /// # Safety
    ///
    /// As for [`run`].
    unsafe fn catch_up(
        &self,
        prefix: &mut Prefix<A>,
        tile: usize,
        stage: &mut [MaybeUninit<A>],
    ) -> Option<()> {
        let first = self.prefix.tiles();
        while prefix.tiles() < first + tile {
            // SAFETY: passed on.
            let total = unsafe { self.total(prefix.tiles() - first, stage) };
            total?.taken_in(self.scan.operator, prefix);
        }
        Some(())
    }

    /// Takes up to so many tiles, the next ones; none if there are none.
    fn take(&self, tiles: usize) -> Range<usize> {
        let end = self.scan.tiles();
        let start = self.next.fetch_add(tiles, Ordering::Relaxed).min(end);
        start..end.min(start + tiles)
    }

    /// Takes so many pieces of up to so many tiles.
    fn take_some(&self, pieces: usize, tiles: usize) -> VecDeque<Range<usize>> {
        let mut taken = VecDeque::with_capacity(pieces + 1);
        for _ in 0..pieces {
            taken.push_back(self.take(tiles));
        }
        taken
    }

    /// Folds and publishes tiles.
    ///
    /// # Safety
    ///
    /// They must be this thread's, and neither folded nor written.
    unsafe fn fold(&self, tiles: Range<usize>, stage: &mut [MaybeUninit<A>]) {
        for tile in tiles {
            // SAFETY: passed on.
            unsafe {
                let total = self.scan.reduce_tile(self.scan.tile(tile), stage);
                self.totals[tile].put(Total::Own(total));
            }
        }
    }

    /// The total of a tile that another thread took: as published, or computed if that is late.
    ///
    /// # Safety
    ///
    /// As for [`run`].
    unsafe fn total(&self, tile: usize, stage: &mut [MaybeUninit<A>]) -> Option<Total<A>> {
        if let Some(total) = self.totals[tile].soon() {
            return Some(total);
        }
        // SAFETY: out of place nobody writes the input; in place `late` keeps the gate open.
        late(&self.totals[tile], self.gates.get(tile), || unsafe {
            Total::Own(self.scan.reduce_tile(self.scan.tile(tile), stage))
        })
    }

    /// What is asked for beside a tile, if the one to be read next is that `behind` it.
    fn ask_then(&self, tile: usize, behind: usize) -> Ask {
        let tile_bytes = self.scan.tile_bytes();
        // A distance of elements that exist, or of none, where nothing is read.
        self.ask.then(
            (behind as isize).wrapping_sub(tile as isize + 1).wrapping_mul(tile_bytes as isize),
        )
    }

    /// Scans the tiles of a piece whose prefix is known, and folds and publishes those that are
    /// `to_fold` beside it. Gives the piece after that, if it was taken: where memory is asked for
    /// in blocks, so that its first one is, while the last tile is folded.
    ///
    /// # Safety
    ///
    /// Both pieces must be this thread's.
    unsafe fn scan_piece(
        &self,
        tiles: Range<usize>,
        mut to_fold: Range<usize>,
        prefix: &mut Prefix<A>,
        stage: &mut [MaybeUninit<A>],
    ) -> Option<Range<usize>> {
        let (mut next, last): (Option<Range<usize>>, _) = (None, tiles.end - 1);
        for tile in tiles {
            let folded = to_fold.next();
            if folded.is_some() && to_fold.is_empty() && matches!(self.ask, Ask::Pages { .. }) {
                next = Some(self.take(self.tiles_per_piece));
            }
            let beside = folded.map_or(Beside::Nothing, |folded| {
                let behind = next.as_ref().map_or(folded + 1, |next| next.start);
                let ask = self.ask_then(folded, behind);
                let ask = if self.once_more { ask.once_more(tile == last) } else { ask };
                Beside::Fold(self.scan.tile(folded), ask)
            });
            if let Some(gate) = self.gates.get(tile) {
                gate.close_folded(&self.totals[tile]);
            }
            // SAFETY: passed on.
            let total = unsafe { self.scan.scan_next(prefix, self.scan.tile(tile), beside, stage) };
            if let (Some(tile), Some(total)) = (folded, total) {
                // SAFETY: the tile is this thread's, which folds it once.
                unsafe { self.totals[tile].put(Total::Own(total)) };
            }
        }
        next
    }
}

/// How many tiles the leader takes next, given how many it took, whether it came too early, and
/// whether others did.
fn next_lead(tiles: usize, early: bool, others: bool) -> usize {
    match (early, others) {
        (true, false) => tiles + 1,
        (false, true) => (tiles - 1).max(1),
        _ => tiles,
    }
}

#[cfg(test)]
mod tests {
    use super::super::io::Direct;
    use super::super::trial::{elements, scanned};
    use super::*;
    use crate::arch::stream::Cache;
    use kogge_core::ops::Sum;
    use std::fmt::Debug;

    fn check<A: Element + PartialEq + Debug>(tiles: usize, element: impl Fn(usize) -> A)
    where
        Sum: Operator<A>,
    {
        let (elements, want) = elements(tiles, element);
        for ask in [Ask::Along(Cache::L1), Ask::Along(Cache::L2), Ask::PAGES] {
            for pieces in [1, 3, 4] {
                for in_place in [false, true] {
                    for led in [false, true] {
                        // SAFETY: the test's own slices.
                        let got = scanned(&elements, in_place, |scan, prefix| unsafe {
                            run(scan, prefix, 3, pieces, ask, in_place, led);
                        });
                        let what = format!("{tiles} tiles, {ask:?}, {pieces}, {in_place}, {led}");
                        assert!(got == want, "{what}");
                    }
                }
            }
        }
    }

    /// However memory is asked for, and so when pieces are taken.
    #[test]
    #[cfg_attr(miri, ignore = "tiles of thousands; `threads.rs` has smaller ones")]
    fn all_pieces_are_scanned() {
        for tiles in 3..31 {
            check(tiles, |i| (i % 7) as f32 * 0.1 - 0.25);
            check(tiles, |i| i as i64 % 1000 - 300);
        }
    }

    /// Where any number of places will do.
    #[test]
    #[cfg_attr(miri, ignore = "tiles of thousands")]
    fn tiles_may_be_longer() {
        for tiles in [3, 8, 9, 30] {
            let (elements, want) = elements(tiles, |i| i as i64 % 1000 - 300);
            for (longer, in_place, led) in [(2, false, true), (3, true, false), (8, false, false)] {
                let got = scanned(&elements, in_place, |scan, prefix| {
                    let &Scan { level, operator, kind, len, tile, accumulator, .. } = scan;
                    let (io, tile) = (Direct { ..scan.io }, longer * tile);
                    let scan = Scan { level, operator, kind, io, len, tile, accumulator };
                    // SAFETY: the test's own slices.
                    unsafe { run(&scan, prefix, 3, 1, Ask::Nothing, in_place, led) };
                });
                assert!(got == want, "{tiles} tiles, {longer} at once, {in_place}, {led}");
            }
        }
    }

    #[test]
    fn the_lead_grows_for_the_leader_and_shrinks_for_others() {
        assert_eq!(next_lead(4, true, false), 5);
        assert_eq!(next_lead(4, false, true), 3);
        assert_eq!(next_lead(1, false, true), 1, "a piece has a tile");
        assert_eq!([next_lead(4, true, true), next_lead(4, false, false)], [4, 4]);
    }
}
