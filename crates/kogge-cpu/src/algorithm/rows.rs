//! Rows of 512 bytes by vector: what a full row costs when elements are whole words.
//!
//! Elements of 4, 8 or 16 bytes make chunks of 4 words (or 2 longer ones), and halves make chunks
//! of 8 once they are widened, so a row splits into columns with a lane per chunk, and each step of
//! the order is one operation on whole registers: chunk folds go down the columns, Kogge–Stone goes
//! along the lanes, and the last fold goes down the columns again.
//!
//! A scan is two stages a row. Up to the Kogge–Stone values rows know nothing of each other; only
//! the second stage stitches a row to what precedes it. The first stage of a row goes before the
//! second of the one before, so that their long dependency chains overlap: on a Zen 4 the reorder
//! buffer holds about two rows.
//!
//! All is inlined, into one function for each SIMD level; but not in debug builds, where every
//! value of an inlined function has a place of its own on the stack, megabytes in all.
//!
//! Row by row with the scan another run of rows can be folded, those that will be scanned next, or
//! the rows themselves be asked for ([`beside`], [`asking`](super::asking)). The arithmetic is in
//! [`steps`], stores in [`out`].

mod beside;
mod out;
mod spread;
mod steps;
pub(super) mod successive;
pub(super) mod window;

use self::beside::Ahead;
use self::out::Out;
use self::spread::Spread;
use self::steps::{chunk_totals, chunks, closed, finish, row_totals};
use super::asking::Asking;
use super::folds::Folds;
use super::format::Format;
use super::lanes::{Columns, Vectors, last, splat};
use super::levels::ROWS_PER_TILE;
use super::tile::Beside;
use crate::arch::Words;
use crate::arch::stream::ROW;
use crate::array::map;
use kogge_core::{Element, Kind, Operator, Prefix};
use std::marker::PhantomData;

/// Full rows to be scanned.
pub(super) struct Rows<'a, A> {
    /// The first element, in its format.
    pub from: *const A,
    /// The first value; `from`, or not overlapping it.
    pub to: *mut A,
    /// How many rows, from the start of a segment: up to a segment, or whole segments of a tile;
    /// whole tiles if there is a `prefix`.
    pub count: usize,
    /// What precedes them.
    pub before: Option<A>,
    /// What takes in all tiles but the last.
    pub prefix: Option<&'a mut Prefix<A>>,
    /// What is done beside; where others are folded, as many rows.
    pub beside: Beside<*const A>,
    /// Whether values go past the caches.
    pub stream: bool,
}

/// Scans full rows. Gives their folds, those of the last tile if there are several, and the fold of
/// those folded beside.
///
/// # Safety
///
/// `A` must be `W` words of `H` and at most 16 bytes in size; the rows must be readable at `from`,
/// and where others are folded, and writable at `to`; `count` is not 0, and even if others are
/// folded; with a `prefix` none are; the CPU features of `H` must be present.
#[inline(always)]
pub(super) unsafe fn scan<F: Format, H: Words, A: Element, O: Operator<A>, const W: usize>(
    operator: &O,
    kind: Kind,
    rows: Rows<'_, A>,
) -> (Folds<A>, Option<A>) {
    // SAFETY: passed on.
    unsafe {
        match kind {
            Kind::Inclusive => Scanning::<F, H, A, O, W, false>::new(operator, rows).run(),
            Kind::Exclusive => Scanning::<F, H, A, O, W, true>::new(operator, rows).run(),
        }
    }
}

/// Rows being scanned.
struct Scanning<'a, F, H: Words, A, O, const W: usize, const EXCLUSIVE: bool> {
    operator: &'a O,
    /// The next row to be prepared.
    from: *const H::Word,
    /// Rows to be prepared.
    left: usize,
    folds: Spread<H, A, W>,
    /// What takes in tiles, if there are several.
    prefix: Option<&'a mut Prefix<A>>,
    out: Out<H>,
    asking: Asking,
    ahead: Ahead<H, A, W>,
    format: PhantomData<F>,
}

impl<'a, F, H, A, O, const W: usize, const EXCLUSIVE: bool> Scanning<'a, F, H, A, O, W, EXCLUSIVE>
where
    F: Format,
    H: Words,
    A: Element,
    O: Operator<A>,
{
    /// # Safety
    ///
    /// As for [`scan`].
    #[inline(always)]
    unsafe fn new(operator: &'a O, rows: Rows<'a, A>) -> Self {
        // SAFETY: passed on.
        let (folds, out) = unsafe {
            let in_place = rows.from == rows.to;
            let out = Out::new(rows.to.cast(), rows.count, in_place, rows.stream);
            (Spread::new(rows.before), out)
        };
        Self {
            operator,
            from: rows.from.cast(),
            left: rows.count,
            folds,
            prefix: rows.prefix,
            out,
            asking: Asking::of(rows.from, rows.beside),
            ahead: Ahead::of(rows.beside),
            format: PhantomData,
        }
    }

    /// Scans all rows.
    ///
    /// Two rows a turn of the loop, so that none is moved from register to register.
    ///
    /// # Safety
    ///
    /// As for [`scan`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn run(mut self) -> (Folds<A>, Option<A>) {
        // SAFETY: rows are prepared while there are any. `first` goes before every `next`.
        unsafe {
            let mut row = self.prepare();
            if self.left == 0 {
                self.first(&row);
            } else {
                let behind = self.prepare();
                self.first(&row);
                self.ahead.row::<F, O>(self.operator);
                row = behind;
                while self.left >= 2 {
                    let behind = self.prepare();
                    self.next(&row);
                    self.end_tile();
                    self.ahead.row::<F, O>(self.operator);
                    row = self.prepare();
                    self.next(&behind);
                    self.ahead.row::<F, O>(self.operator);
                }
                if self.left == 1 {
                    let behind = self.prepare();
                    self.next(&row);
                    self.ahead.row::<F, O>(self.operator);
                    row = behind;
                }
                self.next(&row);
            }
            self.ahead.row::<F, O>(self.operator);
            self.out.finish();
        }
        (self.folds.folds(), self.ahead.folds.fold())
    }

    /// The next row, as far as it doesn't depend on what precedes it.
    ///
    /// # Safety
    ///
    /// There must be a row left, and all be as [`scan`] asks for.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn prepare(&mut self) -> Prepared<F::Row<H>, H, W> {
        let from = self.from;
        self.from = from.wrapping_add(ROW / size_of::<H::Word>());
        self.left -= 1;
        self.asking.quarter();
        // SAFETY: by contract.
        unsafe {
            let row = closed::<H, _>(F::split::<H>(from));
            let chunks = chunks::<H, A, O, W, _>(self.operator, &row, H::GROUPS);
            self.asking.quarter();
            Prepared { row, chunks }
        }
    }

    /// Finishes the first row, which nothing may precede.
    ///
    /// # Safety
    ///
    /// As for [`prepare`](Self::prepare).
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn first(&mut self, row: &Prepared<F::Row<H>, H, W>) {
        // SAFETY: by contract.
        unsafe {
            let values = self.values(row, self.folds.before());
            self.asking.quarter();
            self.out.first::<F>(values);
            self.asking.quarter();
            self.folds.push(self.operator, &row.chunks);
        }
    }

    /// Finishes a row after the first.
    ///
    /// # Safety
    ///
    /// As for [`prepare`](Self::prepare), and there must have been a first row.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn next(&mut self, row: &Prepared<F::Row<H>, H, W>) {
        // SAFETY: by contract; the first row precedes.
        unsafe {
            let values = self.values(row, Some(self.folds.before().unwrap_unchecked()));
            self.asking.quarter();
            self.out.next::<F>(values);
            self.asking.quarter();
            self.folds.push(self.operator, &row.chunks);
        }
    }

    /// Has the prefix take in the tile that the last row ends, if it ends one: as rows are finished
    /// by twos after the first, that is the first of two.
    ///
    /// # Safety
    ///
    /// As for [`prepare`](Self::prepare).
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn end_tile(&mut self) {
        if let Some(prefix) = &mut self.prefix
            && self.folds.rows() == ROWS_PER_TILE
        {
            let tile = self.folds.folds().fold().expect("a tile has rows");
            let before = take_in(prefix, self.operator, tile);
            // SAFETY: by contract.
            self.folds = unsafe { Spread::new(before) };
        }
    }

    /// # Safety
    ///
    /// As for [`prepare`](Self::prepare).
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn values(
        &self,
        row: &Prepared<F::Row<H>, H, W>,
        before: Option<Vectors<H, W>>,
    ) -> F::Row<H> {
        let kind = if EXCLUSIVE { Kind::Exclusive } else { Kind::Inclusive };
        let Prepared { row, chunks } = row;
        // SAFETY: by contract.
        unsafe { finish::<H, A, O, W, _>(self.operator, kind, *row, chunks, H::GROUPS, before) }
    }
}

/// Takes a tile in, and gives what precedes the next one. (Compiled once, not for each level.)
#[inline(never)]
fn take_in<A: Element, O: Operator<A>>(prefix: &mut Prefix<A>, operator: &O, tile: A) -> Option<A> {
    prefix.push(operator, tile);
    prefix.before(operator)
}

/// A row and its chunks' Kogge–Stone values.
struct Prepared<R, H: Words, const W: usize> {
    row: R,
    chunks: Columns<H, W>,
}

/// The fold of full rows, from the start of a segment.
///
/// # Safety
///
/// As for [`scan`], without the writing.
#[inline(always)]
pub(super) unsafe fn reduce<F: Format, H: Words, A: Element, O: Operator<A>, const W: usize>(
    operator: &O,
    from: *const A,
    rows: usize,
) -> A {
    let (from, words) = (from.cast::<H::Word>(), ROW / size_of::<H::Word>());
    let mut folds = Folds::new(None);
    for row in (0..rows).step_by(2) {
        // SAFETY: in bounds by contract, as are size and features.
        let [first, second] = unsafe {
            let (first, second) =
                (from.add(row * words), from.add((row + 1).min(rows - 1) * words));
            let [first, second] = map([first, second], |row| {
                chunk_totals::<H, A, O, W, _>(
                    operator,
                    &closed::<H, _>(F::split::<H>(row)),
                    H::GROUPS,
                )
            });
            row_totals::<H, A, O, W>(operator, first, second)
        };
        folds.push(operator, first);
        if row + 1 < rows {
            folds.push(operator, second);
        }
    }
    folds.fold().expect("there is a row")
}

/// Scans the beginning of a row: the chunks in the first `groups` registers of each column. The
/// others take nothing in, and what they give means nothing.
///
/// # Safety
///
/// As for [`scan`] of one row; `groups` is at least 1, and not more than a column has registers.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) unsafe fn scan_beginning<H: Words, A: Element, O: Operator<A>, const W: usize>(
    operator: &O,
    kind: Kind,
    from: *const A,
    to: *mut A,
    groups: usize,
    before: Option<A>,
) -> A {
    // SAFETY: a row is readable and writable, and the features present, by contract.
    unsafe {
        let row = closed::<H, _>(H::split(from.cast()));
        let chunks = chunks::<H, A, O, W, _>(operator, &row, groups);
        let before = before.map(|before| splat::<H, A, W>(before));
        let values = finish::<H, A, O, W, _>(operator, kind, row, &chunks, groups, before);
        H::join(values, to.cast());
        last::<H, A, W>(&chunks)
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
