//! Many threads, one pass over memory.
//!
//! Threads take pieces of a few tiles from a counter. Each folds the tiles of its piece, which
//! brings them into its L2, publishes the totals, folds *all* totals before its own by itself, in
//! the fixed order, and scans the piece from cache. The next piece is taken before the scan and
//! folded row by row beside it, so that reading never pauses, nor does storing.
//!
//! There is no chain: nobody passes a prefix on. Each thread spends some work on totals that others
//! have combined as well, a few combinations for 32 KiB of input, and in return gets the same
//! bits for any number of threads. A thread that isn't scheduled costs its share and no more, since
//! a total that is late is computed by whoever needs it.

use super::handover::{Piece, Slot, late};
use super::io::Io;
use super::tile::Scan;
use crate::arch::stream;
use crate::pool;
use kogge_core::{Element, Operator, Prefix};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often a late total is looked for before it is computed: some tens of microseconds, a few
/// times what folding a tile takes.
const PATIENCE: usize = 1 << 10;

/// What the threads of one scan share.
struct Shared<'a, I, A, O> {
    scan: &'a Scan<'a, I, A, O>,
    tiles_per_piece: usize,
    /// What precedes the first tile. Borrowed: of wide accumulators it is large.
    prefix: &'a Prefix<A>,
    /// The next piece to be taken.
    next: AtomicUsize,
    /// One slot for the total of each tile.
    totals: Vec<Slot<A>>,
    /// One entry a piece where the output overwrites the input, else empty.
    pieces: Vec<Piece>,
}

/// Scans on up to `threads` threads of the current rayon pool what follows the tiles of a prefix,
/// and takes its tiles in.
///
/// # Safety
///
/// The memory of `scan.io` must be this call's alone.
pub(crate) unsafe fn run<I: Io<A>, A: Element, O: Operator<A>>(
    scan: &Scan<'_, I, A, O>,
    prefix: &mut Prefix<A>,
    threads: usize,
    tiles_per_piece: usize,
    in_place: bool,
) {
    // So that places of pieces that don't exist can't overflow.
    let tiles_per_piece = tiles_per_piece.min(scan.tiles());
    let pieces = if in_place { scan.tiles().div_ceil(tiles_per_piece) } else { 0 };
    let shared = Shared {
        scan,
        tiles_per_piece,
        prefix,
        next: AtomicUsize::new(0),
        totals: (0..scan.tiles()).map(|_| Slot::new()).collect(),
        pieces: (0..pieces).map(|_| Piece::new()).collect(),
    };
    // SAFETY: passed on; pieces keep the threads apart.
    pool::together(threads, &|| unsafe { shared.work() });
    let totals = shared.totals;
    for slot in &totals {
        prefix.push(scan.operator, slot.get().expect("every tile was folded by its owner"));
    }
}

impl<I: Io<A>, A: Element, O: Operator<A>> Shared<'_, I, A, O> {
    /// What each thread does until no piece is left.
    ///
    /// # Safety
    ///
    /// As for [`run`].
    unsafe fn work(&self) {
        let mut stage = self.scan.stage();
        let mut prefix = self.prefix.clone();
        let first = prefix.tiles();
        let mut piece = self.take();
        if let Some(index) = piece {
            // SAFETY: the piece was taken by this thread, so nobody else writes it.
            unsafe { self.fold(self.tiles_of(index), &mut stage) };
        }
        while let Some(index) = piece {
            let tiles = self.tiles_of(index);
            // SAFETY: as above, and the piece was folded above or beside the one before.
            unsafe {
                while prefix.tiles() < first + tiles.start {
                    let total = self.total(prefix.tiles() - first, &mut stage);
                    prefix.push(self.scan.operator, total);
                }
                piece = self.take();
                if let Some(piece) = self.pieces.get(index) {
                    piece.close(&self.totals[tiles.clone()]);
                }
                self.scan_piece(tiles, piece, &mut prefix, &mut stage);
            }
        }
        stream::fence();
    }

    /// Takes the next piece.
    fn take(&self) -> Option<usize> {
        let piece = self.next.fetch_add(1, Ordering::Relaxed);
        (piece * self.tiles_per_piece < self.scan.tiles()).then_some(piece)
    }

    fn tiles_of(&self, piece: usize) -> Range<usize> {
        let start = piece * self.tiles_per_piece;
        start..self.scan.tiles().min(start + self.tiles_per_piece)
    }

    /// Folds and publishes tiles.
    ///
    /// # Safety
    ///
    /// Nobody may write these tiles meanwhile.
    unsafe fn fold(&self, tiles: Range<usize>, stage: &mut [MaybeUninit<A>]) {
        for tile in tiles {
            if self.totals[tile].get().is_none() {
                // SAFETY: passed on.
                let total = unsafe { self.scan.reduce_tile(self.scan.tile(tile), stage) };
                self.totals[tile].publish(total);
            }
        }
    }

    /// The total of a tile that another thread took: as published, or computed if that is late.
    ///
    /// # Safety
    ///
    /// As for [`run`].
    unsafe fn total(&self, tile: usize, stage: &mut [MaybeUninit<A>]) -> A {
        for _ in 0..PATIENCE {
            if let Some(total) = self.totals[tile].get() {
                return total;
            }
            std::hint::spin_loop();
        }
        let piece = self.pieces.get(tile / self.tiles_per_piece);
        // SAFETY: out of place nobody writes the input; in place `late` keeps the piece open.
        late(&self.totals[tile], piece, || unsafe {
            self.scan.reduce_tile(self.scan.tile(tile), stage)
        })
    }

    /// Scans the tiles of a piece whose prefix is known, and folds and publishes those of the `next`
    /// piece beside it.
    ///
    /// # Safety
    ///
    /// Both pieces must be this thread's, the first closed to helpers if it is overwritten.
    unsafe fn scan_piece(
        &self,
        tiles: Range<usize>,
        next: Option<usize>,
        prefix: &mut Prefix<A>,
        stage: &mut [MaybeUninit<A>],
    ) {
        let mut next = next.map_or(0..0, |next| self.tiles_of(next));
        for tile in tiles {
            let ahead = next.next().filter(|&tile| self.totals[tile].get().is_none());
            let places = ahead.map_or(0..0, |tile| self.scan.tile(tile));
            // SAFETY: passed on.
            let folded =
                unsafe { self.scan.scan_next(prefix, self.scan.tile(tile), places, stage) };
            if let (Some(tile), Some(total)) = (ahead, folded) {
                self.totals[tile].publish(total);
            }
        }
    }
}
