//! Segments of a few rows each, one after another in one loop of rows.
//!
//! Up to the Kogge–Stone values rows know nothing of each other, so they are prepared without regard to
//! where segments start, each a row ahead of the one that is finished, as in a scan of many rows. The
//! last row of a segment is scanned as a full one: what it holds of the next segments never moves towards
//! the beginning. Values come to a [stage](Outlet), where the next segment's are put over what such a
//! row has too many of, and leave it in whole lines, wherever segments begin.

use super::Prepared;
use super::spread::Spread;
use super::steps::{chunks, closed, finish};
use crate::algorithm::asking::{AHEAD, Wanted};
use crate::algorithm::lanes::Vectors;
use crate::algorithm::outlet::Outlet;
use crate::arch::Words;
use crate::arch::stream::ROW;
use kogge_core::{Element, Kind, Operator};
use std::mem::MaybeUninit;

/// Segments that follow one another.
#[derive(Clone, Copy)]
pub(in crate::algorithm) struct Segments<'a, A> {
    /// Place 0.
    pub(in crate::algorithm) from: *const A,
    /// Where they start, and where the last ends. Each has up to a tile.
    pub(in crate::algorithm) bounds: &'a [usize],
    /// Where places end that are readable.
    pub(in crate::algorithm) readable: usize,
    /// What precedes each, if anything does.
    pub(in crate::algorithm) init: Option<A>,
    /// What is asked for of what follows.
    pub(in crate::algorithm) wanted: Wanted,
}

/// Scans segments, and puts their values in the stage.
///
/// # Safety
///
/// `A` must be `W` words of `H` and at most 16 bytes in size; bounds must rise, and the segments be
/// readable, and written by nobody else; the outlet must be that of their values; the CPU features of
/// `H` must be present.
#[inline(always)]
pub(in crate::algorithm) unsafe fn scan<H, A, O, const W: usize>(
    operator: &O,
    kind: Kind,
    segments: Segments<'_, A>,
    out: &mut Outlet,
) where
    H: Words,
    A: Element,
    O: Operator<A>,
{
    // SAFETY: passed on.
    unsafe {
        match kind {
            Kind::Inclusive => Scanning::<H, A, O, W, false>::new(operator, segments, out).run(),
            Kind::Exclusive => Scanning::<H, A, O, W, true>::new(operator, segments, out).run(),
        }
    }
}

/// Segments being scanned.
struct Scanning<'a, H: Words, A, O, const W: usize, const EXCLUSIVE: bool> {
    operator: &'a O,
    segments: Segments<'a, A>,
    out: &'a mut Outlet,
    /// Of the segment whose rows are finished.
    folds: Spread<H, A, W>,
    /// The row to be prepared next, and where its segment ends.
    place: usize,
    end: usize,
    /// The bound behind that.
    bound: usize,
    /// For a row that isn't readable as a whole.
    room: MaybeUninit<H::Row>,
}

/// Where a row lies.
#[derive(Clone, Copy)]
struct At {
    place: usize,
    /// Its elements.
    len: usize,
    /// Whether it is the first of its segment.
    first: bool,
}

impl<'a, H, A, O, const W: usize, const EXCLUSIVE: bool> Scanning<'a, H, A, O, W, EXCLUSIVE>
where
    H: Words,
    A: Element,
    O: Operator<A>,
{
    /// Elements of a row.
    const LEN: usize = ROW / if size_of::<A>() > 0 { size_of::<A>() } else { 1 };

    /// # Safety
    ///
    /// As for [`scan`].
    #[inline(always)]
    unsafe fn new(operator: &'a O, segments: Segments<'a, A>, out: &'a mut Outlet) -> Self {
        // SAFETY: passed on.
        let folds = unsafe { Spread::new(None) };
        let (place, room) = (segments.bounds[0], MaybeUninit::uninit());
        Self { operator, segments, out, folds, place, end: place, bound: 1, room }
    }

    /// Scans all rows.
    ///
    /// Two rows a turn of the loop, so that none is moved from register to register.
    ///
    /// # Safety
    ///
    /// As for [`scan`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn run(mut self) {
        // SAFETY: by contract.
        unsafe {
            let Some(mut at) = self.next() else { return };
            let mut row = self.prepare(at);
            loop {
                // Behind the last row it is prepared once more, which does no harm.
                let next = self.next();
                let behind = self.prepare(next.unwrap_or(at));
                self.finish(at, &row);
                let Some(next) = next else { return };
                at = next;
                let next = self.next();
                row = self.prepare(next.unwrap_or(at));
                self.finish(at, &behind);
                let Some(next) = next else { return };
                at = next;
            }
        }
    }

    /// Where the next row lies, if there is one.
    #[inline(always)]
    fn next(&mut self) -> Option<At> {
        let mut first = false;
        while self.place == self.end {
            self.end = *self.segments.bounds.get(self.bound)?;
            (self.bound, first) = (self.bound + 1, true);
        }
        let (place, len) = (self.place, Self::LEN.min(self.end - self.place));
        self.place += len;
        Some(At { place, len, first })
    }

    /// A row, as far as it doesn't depend on what precedes it.
    ///
    /// # Safety
    ///
    /// As for [`scan`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn prepare(&mut self, at: At) -> Prepared<H::Row, H, W> {
        // SAFETY: by contract.
        unsafe {
            let mut from = self.segments.from.add(at.place);
            self.segments.wanted.elements::<ROW>(from.cast(), AHEAD);
            if at.place + Self::LEN > self.segments.readable {
                let room = self.room.as_mut_ptr().cast::<A>();
                room.cast::<u8>().write_bytes(0, ROW);
                room.copy_from_nonoverlapping(from, at.len);
                from = room;
            }
            let row = closed::<H, _>(H::split(from.cast()));
            let chunks = chunks::<H, A, O, W, _>(self.operator, &row, 32 / H::LANES);
            Prepared { row, chunks }
        }
    }

    /// Finishes a row, and puts its values in the stage.
    ///
    /// # Safety
    ///
    /// As for [`scan`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn finish(&mut self, at: At, row: &Prepared<H::Row, H, W>) {
        // SAFETY: by contract.
        unsafe {
            if at.first {
                self.folds = Spread::new(self.segments.init);
            }
            let values = match self.folds.before() {
                Some(before) => self.values(row, Some(before)),
                None => self.values(row, None),
            };
            let byte = at.place * size_of::<A>();
            H::join(values, self.out.row(byte).cast());
            self.out.send::<H>(byte);
            self.folds.push(self.operator, &row.chunks);
        }
    }

    /// # Safety
    ///
    /// As for [`scan`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn values(&self, row: &Prepared<H::Row, H, W>, before: Option<Vectors<H, W>>) -> H::Row {
        let kind = if EXCLUSIVE { Kind::Exclusive } else { Kind::Inclusive };
        let Prepared { row, chunks } = row;
        // SAFETY: by contract.
        unsafe { finish::<H, A, O, W, _>(self.operator, kind, *row, chunks, 32 / H::LANES, before) }
    }
}
