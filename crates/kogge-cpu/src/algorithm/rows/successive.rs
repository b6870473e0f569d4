//! Segments that follow one another, in one loop of rows.
//!
//! Up to the Kogge–Stone values rows know nothing of each other, so they are prepared without
//! regard to where segments start, each a row ahead of the one that is finished, as in a scan of
//! many rows. The last row of a segment is scanned as a full one: what it holds of the next
//! segments never moves towards the beginning. A segment of no more chunks than a register has
//! lanes is scanned as one such group: nothing precedes it, and half of a row or more is saved.
//!
//! Each tile of a longer segment begins like a segment of its own, with what the tiles before it
//! come to.
//!
//! There are three ways for values to leave. Those that may go through the caches go where they
//! belong at once: the next segment's values are put over what is stored behind a segment. In
//! place, where the next elements lie, they come to a [stage](Outlet) in the same way and leave it
//! in whole lines. Past the caches those of short segments do so too; but rows leave [from
//! registers](Turned), unless most segments are short.
//!
//! What happens once in many rows is a call of its own, marked as cold: elsewhere a loop that calls
//! anything keeps its registers in memory. (On a Zen 4, of 1,024 `f32` on average in cache, 43 → 51
//! GB/s.)

use super::Prepared;
use super::spread::Spread;
use super::steps::{chunks, closed, finish};
use crate::algorithm::asking::{AHEAD, Wanted};
use crate::algorithm::cut::PLACES;
use crate::algorithm::lanes::{Vectors, splat};
use crate::algorithm::levels::ROWS_PER_TILE;
use crate::algorithm::outlet::Outlet;
use crate::algorithm::turned::Turned;
use crate::arch::stream::{LINE, ROW};
use crate::arch::{CHUNKS, Words};
use crate::array::for_each;
use kogge_core::{Element, Kind, Operator, Prefix};
use std::mem::MaybeUninit;

/// Places from those that are scanned to those of which what is looked at is asked for: more than
/// are looked at ahead.
const LOOKED_AT: usize = 4 * PLACES;

/// Segments that follow one another.
#[derive(Clone, Copy)]
pub(in crate::algorithm) struct Segments<'a, A> {
    /// Place 0.
    pub(in crate::algorithm) from: *const A,
    /// Where they start, and where the last ends.
    pub(in crate::algorithm) bounds: &'a [usize],
    /// Where places end that are readable.
    pub(in crate::algorithm) readable: usize,
    /// What precedes each, if anything does.
    pub(in crate::algorithm) init: Option<A>,
    /// Whether values go where they belong at once: they overwrite no elements, and don't go past
    /// the caches.
    pub(in crate::algorithm) at_once: bool,
    /// What is asked for of what follows.
    pub(in crate::algorithm) wanted: Wanted,
}

/// Scans segments. Their values are put in the stage, or go where they belong. The prefix is for
/// longer ones than a tile.
///
/// # Safety
///
/// `A` must be `W` words of `H` and at most 16 bytes in size; bounds must rise, and the segments be
/// readable, and written by nobody else; the outlet must be that of their values; the CPU features
/// of `H` must be present.
#[inline(always)]
pub(in crate::algorithm) unsafe fn scan<H, A, O, const W: usize>(
    operator: &O,
    kind: Kind,
    segments: Segments<'_, A>,
    prefix: &mut Prefix<A>,
    out: &mut Outlet,
) where
    H: Words,
    A: Element,
    O: Operator<A>,
{
    // SAFETY: passed on.
    unsafe {
        match kind {
            Kind::Inclusive => {
                Scanning::<H, A, O, W, false>::new(operator, segments, prefix, out).run()
            }
            Kind::Exclusive => {
                Scanning::<H, A, O, W, true>::new(operator, segments, prefix, out).run()
            }
        }
    }
}

/// Segments being scanned.
struct Scanning<'a, H: Words, A, O, const W: usize, const EXCLUSIVE: bool> {
    operator: &'a O,
    segments: Segments<'a, A>,
    prefix: &'a mut Prefix<A>,
    out: &'a mut Outlet,
    /// If rows leave from registers.
    turned: Option<Turned<H>>,
    /// Of the segment whose rows are finished.
    folds: Spread<H, A, W>,
    /// The row to be prepared next, and where its segment ends.
    place: usize,
    end: usize,
    /// Which row of its segment that is.
    row: usize,
    /// The bound behind that segment.
    bound: usize,
}

/// What precedes a tile of a segment that isn't its first, given the fold of the one before it.
#[cold]
fn before_tile<A: Element, O: Operator<A>>(
    operator: &O,
    init: Option<A>,
    prefix: &mut Prefix<A>,
    tile: usize,
    fold: Option<A>,
) -> Option<A> {
    if tile == 1 {
        prefix.restart(init);
    }
    prefix.push(operator, fold.expect("a tile has rows"));
    prefix.before(operator)
}

/// Fills a room with what there is from some address on, and behind with the same again: an
/// operator sees no values but such as there are.
///
/// # Safety
///
/// The room must have so many bytes, of which `left`, an element at least, be readable.
#[cold]
unsafe fn fill(room: *mut u8, bytes: usize, from: *const u8, left: usize) {
    // SAFETY: by contract.
    unsafe {
        room.copy_from_nonoverlapping(from, left);
        let mut there = left;
        while there < bytes {
            let more = there.min(bytes - there);
            room.add(there).copy_from_nonoverlapping(room, more);
            there += more;
        }
    }
}

/// Where a row lies.
#[derive(Clone, Copy)]
struct At {
    place: usize,
    /// Which it is of its segment's.
    row: usize,
    /// Bytes of it that are of its segment.
    bytes: usize,
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
    unsafe fn new(
        operator: &'a O,
        segments: Segments<'a, A>,
        prefix: &'a mut Prefix<A>,
        out: &'a mut Outlet,
    ) -> Self {
        // SAFETY: passed on.
        let (folds, turned) = unsafe { (Spread::new(None), Self::turned(&segments, out)) };
        let place = segments.bounds[0];
        Self { operator, segments, prefix, out, turned, folds, place, end: place, row: 0, bound: 1 }
    }

    /// What rows leave from, if they leave from registers.
    ///
    /// (On a Zen 4 segments of 32 `f32` on average are 5 to 10 % slower so, those of 64 as fast, of
    /// 128 a fifth faster.)
    ///
    /// # Safety
    ///
    /// As for [`scan`].
    #[inline(always)]
    unsafe fn turned(segments: &Segments<'_, A>, out: &Outlet) -> Option<Turned<H>> {
        let (bounds, count) = (segments.bounds, segments.bounds.len() - 1);
        let turns = const { H::TURNS && align_of::<A>().is_multiple_of(4) } && out.stream();
        if !turns || bounds[count] - bounds[0] <= count * Self::SHORT {
            return None;
        }
        // SAFETY: passed on; elements lie at multiples of 4 bytes.
        Some(unsafe { Turned::new(out, bounds[0] * size_of::<A>()) })
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
                        self.short(self.place, end);
                    }
                    (self.place, self.end) = (end, end);
                    self.bound += 1;
                }
                let Some(at) = self.next() else { break };
                if let Some(turned) = &mut self.turned {
                    turned.begin_rows(self.out, at.place * size_of::<A>());
                }
                if self.segments.at_once {
                    self.long::<true>(at);
                } else {
                    self.long::<false>(at);
                }
                if let Some(turned) = &self.turned {
                    turned.end_rows(self.out, self.end * size_of::<A>());
                }
            }
            let end = self.end * size_of::<A>();
            match self.turned {
                Some(turned) => turned.close(self.out, end),
                None if self.segments.at_once => {}
                None => self.out.close::<H>(end),
            }
        }
    }

    /// Scans rows of segments that aren't short; whether their values go where they belong
    /// `AT_ONCE` must be as it is.
    ///
    /// Two rows a turn of the loop, so that none is moved from register to register.
    ///
    /// # Safety
    ///
    /// As for [`scan`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn long<const AT_ONCE: bool>(&mut self, mut at: At) {
        // SAFETY: by contract.
        unsafe {
            let mut row = self.prepare(at);
            loop {
                let Some(next) = self.next() else {
                    return self.finish::<AT_ONCE>(at, &row);
                };
                let behind = self.prepare(next);
                self.finish::<AT_ONCE>(at, &row);
                let Some(after) = self.next() else {
                    return self.finish::<AT_ONCE>(next, &behind);
                };
                row = self.prepare(after);
                self.finish::<AT_ONCE>(next, &behind);
                at = after;
            }
        }
    }

    /// Where the next row lies, if there is one before a short segment.
    #[inline(always)]
    fn next(&mut self) -> Option<At> {
        if self.place == self.end {
            let end = *self.segments.bounds.get(self.bound)?;
            if end - self.place <= Self::SHORT {
                return None;
            }
            (self.end, self.row, self.bound) = (end, 0, self.bound + 1);
        }
        let (place, row) = (self.place, self.row);
        self.place = self.end.min(place + Self::LEN);
        self.row = row + 1;
        Some(At { place, row, bytes: (self.place - place) * size_of::<A>() })
    }

    /// Scans a short segment.
    ///
    /// # Safety
    ///
    /// As for [`scan`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn short(&mut self, place: usize, end: usize) {
        let kind = if EXCLUSIVE { Kind::Exclusive } else { Kind::Inclusive };
        // SAFETY: by contract; rows are plain arrays.
        unsafe {
            let mut room = MaybeUninit::<H::Group>::uninit();
            let from = self.elements(place, room.as_mut_ptr().cast(), Self::GROUP);
            let group = H::split_group(from.cast());
            let mut row: H::Row = MaybeUninit::zeroed().assume_init();
            for_each!(0..row.as_ref().len(), |c| {
                row.as_mut()[c].as_mut()[0] = H::opaque(group.as_ref()[c]);
            });
            let chunks = chunks::<H, A, O, W, _>(self.operator, &row, 1);
            let before = self.segments.init.map(|init| splat::<H, A, W>(init));
            let row = finish::<H, A, O, W, _>(self.operator, kind, row, &chunks, 1, before);
            if let Some(turned) = &mut self.turned {
                let (first, bytes) = (place * size_of::<A>(), (end - place) * size_of::<A>());
                return turned.group(&row, self.out, first, bytes);
            }
            let mut values = group;
            for_each!(0..row.as_ref().len(), |c| {
                values.as_mut()[c] = row.as_ref()[c].as_ref()[0];
            });
            let at_once = self.segments.at_once;
            let to = self.target(at_once, place, Self::GROUP, room.as_mut_ptr().cast());
            H::join_group(values, to.cast());
            self.sent(at_once, place, Self::GROUP, to);
        }
    }

    /// Where elements are from some place on that have so many bytes: where they lie, or copied to
    /// a room.
    ///
    /// # Safety
    ///
    /// As for [`scan`], and there must be room for so many bytes.
    #[inline(always)]
    unsafe fn elements(&self, place: usize, room: *mut A, bytes: usize) -> *const A {
        // SAFETY: by contract.
        unsafe {
            let from = self.segments.from.add(place);
            for_each!((0..bytes).step_by(LINE), |line| {
                let line = from.cast::<u8>().wrapping_add(line);
                self.segments.wanted.elements::<LINE>(line, AHEAD);
            });
            self.segments.wanted.looked_at(place + LOOKED_AT, bytes / size_of::<A>());
            let left = (self.segments.readable - place) * size_of::<A>();
            if left >= bytes {
                return from;
            }
            fill(room.cast(), bytes, from.cast(), left);
            room
        }
    }

    /// Where so many bytes of values are put that begin with that of some place.
    ///
    /// # Safety
    ///
    /// As for [`scan`].
    #[inline(always)]
    unsafe fn target(
        &mut self,
        at_once: bool,
        place: usize,
        bytes: usize,
        room: *mut u8,
    ) -> *mut u8 {
        let byte = place * size_of::<A>();
        if !at_once {
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
    unsafe fn sent(&mut self, at_once: bool, place: usize, bytes: usize, room: *const u8) {
        let byte = place * size_of::<A>();
        if at_once && self.left(byte) < bytes {
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
            let chunks = chunks::<H, A, O, W, _>(self.operator, &row, H::GROUPS);
            Prepared { row, chunks }
        }
    }

    /// Finishes a row, and sends its values on their way.
    ///
    /// # Safety
    ///
    /// As for [`scan`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn finish<const AT_ONCE: bool>(&mut self, at: At, row: &Prepared<H::Row, H, W>) {
        // SAFETY: by contract.
        unsafe {
            if at.row.is_multiple_of(ROWS_PER_TILE) {
                self.begin(at.row / ROWS_PER_TILE);
            }
            let values = match self.folds.before() {
                Some(before) => self.values(row, Some(before)),
                None => self.values(row, None),
            };
            if !const { AT_ONCE }
                && let Some(turned) = &mut self.turned
            {
                let to = self.out.target(at.place * size_of::<A>());
                if at.bytes == ROW {
                    turned.row(&values, to);
                } else {
                    turned.beginning(&values, to, at.bytes);
                }
            } else {
                let mut room = MaybeUninit::<H::Row>::uninit();
                let to = self.target(AT_ONCE, at.place, ROW, room.as_mut_ptr().cast());
                H::join(values, to.cast());
                self.sent(AT_ONCE, at.place, ROW, to);
            }
            self.folds.push(self.operator, &row.chunks);
        }
    }

    /// Begins a segment, or another tile of it.
    ///
    /// # Safety
    ///
    /// As for [`scan`].
    #[inline(always)]
    unsafe fn begin(&mut self, tile: usize) {
        let init = self.segments.init;
        let before = match tile {
            0 => init,
            tile => {
                let fold = self.folds.folds().fold();
                before_tile(self.operator, init, self.prefix, tile, fold)
            }
        };
        // SAFETY: passed on.
        self.folds = unsafe { Spread::new(before) };
    }

    /// # Safety
    ///
    /// As for [`scan`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn values(&self, row: &Prepared<H::Row, H, W>, before: Option<Vectors<H, W>>) -> H::Row {
        let kind = if EXCLUSIVE { Kind::Exclusive } else { Kind::Inclusive };
        let Prepared { row, chunks } = row;
        // SAFETY: by contract.
        unsafe { finish::<H, A, O, W, _>(self.operator, kind, *row, chunks, H::GROUPS, before) }
    }
}
