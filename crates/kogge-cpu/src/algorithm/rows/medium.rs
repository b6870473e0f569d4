//! Segments of up to a tile each that follow one another, in one loop of rows.
//!
//! Up to the Kogge–Stone values rows know nothing of each other, so they are prepared without regard to
//! where segments start, each a row ahead of the one that is finished, as in a scan of many rows. The
//! last row of a segment is scanned as a full one: what it holds of the next segments never moves towards
//! the beginning. A segment of no more chunks than a register has lanes is scanned as one such group: nothing
//! precedes it, and half of a row or more is saved.
//!
//! The next segment's values are put over what is stored behind a segment. They come to a [stage](Outlet), and leave it in
//! whole lines, wherever segments begin; or go where they belong at once.

use super::Prepared;
use super::spread::Spread;
use super::steps::{chunks, closed, finish};
use crate::algorithm::asking::{AHEAD, Wanted};
use crate::algorithm::lanes::{Vectors, splat};
use crate::algorithm::outlet::Outlet;
use crate::arch::stream::{LINE, ROW};
use crate::arch::{CHUNKS, Words};
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
    /// Whether values go where they belong at once: they overwrite no elements, and don't go past the caches.
    pub(in crate::algorithm) at_once: bool,
    /// What is asked for of what follows.
    pub(in crate::algorithm) wanted: Wanted,
}

/// Scans segments. Their values are put in the stage, or go where they belong.
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
}

/// Where a row lies.
#[derive(Clone, Copy)]
struct At {
    place: usize,
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

    /// Bytes of a group, and its elements.
    const GROUP: usize = ROW / CHUNKS * H::LANES;
    const SHORT: usize = Self::LEN / CHUNKS * H::LANES;

    /// # Safety
    ///
    /// As for [`scan`].
    #[inline(always)]
    unsafe fn new(operator: &'a O, segments: Segments<'a, A>, out: &'a mut Outlet) -> Self {
        // SAFETY: passed on.
        let folds = unsafe { Spread::new(None) };
        let place = segments.bounds[0];
        Self { operator, segments, out, folds, place, end: place, bound: 1 }
    }

    /// Scans all segments: short ones as long as they follow one another, then longer ones.
    ///
    /// # Safety
    ///
    /// As for [`scan`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn run(mut self) {
        // SAFETY: by contract.
        unsafe {
            loop {
                while let Some(&end) = self.segments.bounds.get(self.bound)
                    && end - self.place <= Self::SHORT
                {
                    if end > self.place {
                        self.short(self.place);
                    }
                    (self.place, self.end) = (end, end);
                    self.bound += 1;
                }
                let Some(at) = self.next() else { return };
                self.long(at);
            }
        }
    }

    /// Scans rows of segments that aren't short.
    ///
    /// Two rows a turn of the loop, so that none is moved from register to register.
    ///
    /// # Safety
    ///
    /// As for [`scan`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn long(&mut self, mut at: At) {
        // SAFETY: by contract.
        unsafe {
            let mut row = self.prepare(at);
            loop {
                let Some(next) = self.next() else {
                    return self.finish(at, &row);
                };
                let behind = self.prepare(next);
                self.finish(at, &row);
                let Some(after) = self.next() else {
                    return self.finish(next, &behind);
                };
                row = self.prepare(after);
                self.finish(next, &behind);
                at = after;
            }
        }
    }

    /// Where the next row lies, if there is one before a short segment.
    #[inline(always)]
    fn next(&mut self) -> Option<At> {
        let mut first = false;
        if self.place == self.end {
            let end = *self.segments.bounds.get(self.bound)?;
            if end - self.place <= Self::SHORT {
                return None;
            }
            self.end = end;
            (self.bound, first) = (self.bound + 1, true);
        }
        let place = self.place;
        self.place = self.end.min(place + Self::LEN);
        Some(At { place, first })
    }

    /// Scans a short segment.
    ///
    /// # Safety
    ///
    /// As for [`scan`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn short(&mut self, place: usize) {
        let kind = if EXCLUSIVE { Kind::Exclusive } else { Kind::Inclusive };
        // SAFETY: by contract; rows are plain arrays.
        unsafe {
            let mut room = MaybeUninit::<H::Group>::uninit();
            let from = self.elements(place, room.as_mut_ptr().cast(), Self::GROUP);
            let group = H::split_group(from.cast());
            let mut row: H::Row = MaybeUninit::zeroed().assume_init();
            for (column, vector) in row.as_mut().iter_mut().zip(group.as_ref()) {
                column.as_mut()[0] = H::opaque(*vector);
            }
            let chunks = chunks::<H, A, O, W, _>(self.operator, &row, 1);
            let before = self.segments.init.map(|init| splat::<H, A, W>(init));
            let row = finish::<H, A, O, W, _>(self.operator, kind, row, &chunks, 1, before);
            let mut values = group;
            for (value, column) in values.as_mut().iter_mut().zip(row.as_ref()) {
                *value = column.as_ref()[0];
            }
            let to = self.target(place, Self::GROUP, room.as_mut_ptr().cast());
            H::join_group(values, to.cast());
            self.sent(place, Self::GROUP, to);
        }
    }

    /// Where elements are from some place on that have so many bytes: where they lie, or copied to a room.
    ///
    /// # Safety
    ///
    /// As for [`scan`], and there must be room for so many bytes.
    #[inline(always)]
    unsafe fn elements(&self, place: usize, room: *mut A, bytes: usize) -> *const A {
        // SAFETY: by contract.
        unsafe {
            let from = self.segments.from.add(place);
            for line in (0..bytes).step_by(LINE) {
                let line = from.cast::<u8>().wrapping_add(line);
                self.segments.wanted.elements::<LINE>(line, AHEAD);
            }
            let left = (self.segments.readable - place) * size_of::<A>();
            if left >= bytes {
                return from;
            }
            room.cast::<u8>().write_bytes(0, bytes);
            room.cast::<u8>().copy_from_nonoverlapping(from.cast(), left);
            room
        }
    }

    /// Where so many bytes of values are put that begin with that of some place.
    ///
    /// # Safety
    ///
    /// As for [`scan`].
    #[inline(always)]
    unsafe fn target(&mut self, place: usize, bytes: usize, room: *mut u8) -> *mut u8 {
        let byte = place * size_of::<A>();
        if !self.segments.at_once {
            // SAFETY: by contract.
            return unsafe { self.out.group::<H>(byte) };
        }
        // What is behind a segment is written with the next one, if there is one.
        if self.left(byte) >= bytes { self.out.target(byte) } else { room }
    }

    /// Bytes of values from one on.
    #[inline(always)]
    fn left(&self, byte: usize) -> usize {
        self.segments.bounds[self.segments.bounds.len() - 1] * size_of::<A>() - byte
    }

    /// Once they were put there.
    ///
    /// # Safety
    ///
    /// As for [`scan`].
    #[inline(always)]
    unsafe fn sent(&mut self, place: usize, bytes: usize, room: *const u8) {
        let byte = place * size_of::<A>();
        if self.segments.at_once && self.left(byte) < bytes {
            // SAFETY: by contract.
            unsafe { self.out.pass_some(room, byte, self.left(byte)) };
        }
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
            let mut room = MaybeUninit::<H::Row>::uninit();
            let from = self.elements(at.place, room.as_mut_ptr().cast(), ROW);
            let row = closed::<H, _>(H::split(from.cast()));
            let chunks = chunks::<H, A, O, W, _>(self.operator, &row, CHUNKS / H::LANES);
            Prepared { row, chunks }
        }
    }

    /// Finishes a row, and sends its values on their way.
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
            let mut room = MaybeUninit::<H::Row>::uninit();
            let to = self.target(at.place, ROW, room.as_mut_ptr().cast());
            H::join(values, to.cast());
            self.sent(at.place, ROW, to);
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
        unsafe {
            finish::<H, A, O, W, _>(self.operator, kind, *row, chunks, CHUNKS / H::LANES, before)
        }
    }
}
