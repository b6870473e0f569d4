//! Segments of up to a row, scanned where they lie.
//!
//! Chunks start where segments do, so a vector holds chunks that begin anywhere in it. Lanes are
//! still all that the order needs: an element takes in the place before it unless it starts a
//! chunk, and the chunk totals of Kogge–Stone, kept in the lane that starts the next chunk, take in
//! the lane that is 1, 2, 4, … chunks before, unless the segment has fewer. Which lanes do is one
//! [mask](places) a step. So nothing depends on where segments start but masks, no room is lost in
//! chunks that aren't full, and what is read and written is whole vectors, one after another. Steps
//! that no segment at hand is long enough for are left out; that is decided once for all of them,
//! since a CPU foresees no such branch where lengths are random.
//!
//! Where values go past the caches, vectors begin with lines of the output: so they leave from
//! registers in whole lines, wherever segments begin. Only the first and the last line go through
//! the [`Outlet`]'s stage.

mod lanes;
mod places;

use super::asking::Wanted;
use super::cut::{PLACES, WORDS};
use super::format::Whole;
use super::outlet::Outlet;
use super::shape::{Shape, by_shape, shape};
use crate::arch::stream::LINE;
use crate::arch::{Simd, Words, Work};
use kogge_core::{Element, Kind, Operator, Order};
use lanes::{Lanes, Target};
use places::Places;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Places that are scanned together.
const SPAN: usize = 128;

/// Bytes from where elements are read to where memory is asked for.
const AHEAD: usize = 4 << 10;

/// Places from those that are scanned to those of which what is looked at is asked for: more than
/// are looked at ahead.
const LOOKED_AT: usize = 3 * PLACES;

/// Places of segments that can be scanned at once: with what their first line has before, they are
/// a mask's.
pub(crate) const MOST: usize = PLACES - LINE / 4;

/// Elements of the longest segment that goes like this, if such elements do.
pub(crate) const fn longest<T, A: Element, O: Operator<A>>() -> Option<usize> {
    match shape::<Whole, T, A, O>() {
        Shape::Narrow(1) | Shape::Wide(1) => Some(Order::of::<T>().row()),
        _ => None,
    }
}

/// Segments to be scanned at some SIMD level. Made where they are known to be this thread's, and of
/// up to [`longest`] elements; `T` is the element as it lies in memory. Says whether the level
/// scans them like this; else nothing was done.
pub(crate) struct Segmented<'a, T, A, O> {
    pub(crate) operator: &'a O,
    pub(crate) kind: Kind,
    pub(crate) init: Option<A>,
    /// The element at place 0.
    pub(crate) from: *const A,
    /// One bit for each place where a segment starts, behind a word of others.
    pub(crate) heads: &'a [u64; WORDS + 2],
    /// The bit of the first segment in the second word.
    pub(crate) bit: usize,
    /// The places of the segments, [`MOST`] at most, of which there is one.
    pub(crate) places: Range<usize>,
    /// The places that are readable, these among them, and not written by others meanwhile.
    pub(crate) readable: Range<usize>,
    /// What values leave through, to place 0 and on; place 0 of the input may be there too.
    pub(crate) out: &'a mut Outlet,
    pub(crate) wanted: Wanted,
    pub(crate) element: PhantomData<T>,
}

impl<T: Element, A: Element, O: Operator<A>> Work for Segmented<'_, T, A, O> {
    type Output = bool;
    const COMPACT: bool = O::COMPACT;

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) -> bool {
        // Elements that aren't aligned to their size have no vector begin a line.
        let size = size_of::<A>();
        let lies = if self.out.stream() { self.out.lies(0) } else { 0 };
        if const { !W32::Simd::WHERE_THEY_LIE } || !lies.is_multiple_of(size) {
            return false;
        }
        // SAFETY: passed on; the size of `A` is what the arm says.
        unsafe {
            by_shape! { shape::<Whole, T, A, O>();
                Shape::Narrow(1) => self.any::<W32, 4>(),
                Shape::Wide(1) => self.any::<W64, 2>(),
            }
        }
        true
    }
}

impl<T: Element, A: Element, O: Operator<A>> Segmented<'_, T, A, O> {
    /// # Safety
    ///
    /// The segments as whoever made the value vouches; `A` must be a word of `H`, and the CPU
    /// features of `H` be present.
    #[inline(always)]
    unsafe fn any<H: Words, const CHUNK: usize>(self) {
        // SAFETY: passed on.
        unsafe {
            match (self.kind, self.init) {
                (Kind::Inclusive, None) => self.all::<H, CHUNK, false, false>(),
                (Kind::Inclusive, Some(_)) => self.all::<H, CHUNK, false, true>(),
                (Kind::Exclusive, None) => self.all::<H, CHUNK, true, false>(),
                (Kind::Exclusive, Some(_)) => self.all::<H, CHUNK, true, true>(),
            }
        }
    }

    /// # Safety
    ///
    /// As for [`any`](Self::any).
    #[inline(always)]
    unsafe fn all<H: Words, const CHUNK: usize, const EXCLUSIVE: bool, const INIT: bool>(self) {
        let Range { start, end } = self.places;
        let size = size_of::<A>();
        // Lanes of the first line before the first segment, and places that are scanned.
        let stream = self.out.stream();
        let lead = if stream { self.out.lies(start * size) / size } else { 0 };
        let len = lead + end - start;
        let places = Places::of::<CHUNK>(&moved(self.heads, self.bit, lead, len));
        let first = self.init.unwrap_or_else(|| self.operator.identity());
        let mut room = MaybeUninit::<[A; SPAN]>::uninit();
        // SAFETY: by contract.
        unsafe {
            if stream {
                self.out.open(start * size);
            }
            let operator = self.operator;
            let mut lanes = Lanes::<H, A, O, EXCLUSIVE, INIT>::new(operator, first, &places);
            for span in 0..len.div_ceil(SPAN) {
                let done = span * SPAN;
                // May lie before place 0.
                let place = (start + done).wrapping_sub(lead);
                let mut from = self.from.wrapping_add(place);
                for line in (0..SPAN * size).step_by(LINE) {
                    let line = from.cast::<u8>().wrapping_add(line);
                    self.wanted.elements::<LINE>(line, AHEAD);
                }
                self.wanted.looked_at(place.wrapping_add(LOOKED_AT), SPAN);
                let behind = (place as isize) < self.readable.start as isize;
                if behind || place.wrapping_add(SPAN) > self.readable.end {
                    let copied = room.as_mut_ptr().cast::<A>();
                    let skip = if span == 0 { lead } else { 0 };
                    let count = SPAN.min(len - done) - skip;
                    // An operator sees no values but such as there are.
                    let some = from.wrapping_add(skip).read();
                    for i in 0..SPAN {
                        copied.add(i).write(some);
                    }
                    copied.add(skip).copy_from_nonoverlapping(from.wrapping_add(skip), count);
                    from = copied;
                }
                let to = Target { lead: if span == 0 { lead } else { 0 }, place, end };
                if const { size_of::<H::Vector>() == 64 } {
                    lanes.span::<8>(&places, span, from.cast(), to, self.out);
                } else {
                    lanes.span::<4>(&places, span, from.cast(), to, self.out);
                }
            }
            if stream {
                self.out.close::<H>(end * size);
            }
        }
    }
}

/// The heads from the `bit` of the second word on, `lead` places up. All places before them and
/// from `len` on are heads too: nothing has to be done for those.
#[inline(always)]
fn moved(heads: &[u64; WORDS + 2], bit: usize, lead: usize, len: usize) -> [u64; WORDS] {
    let down = 64 + bit - lead;
    let (from, by) = (&heads[down / 64..], down % 64);
    let from: &[u64; WORDS + 1] = from.first_chunk().expect("a word before and one behind");
    let mut moved = [0; WORDS];
    for w in 0..WORDS {
        let left = len as i64 - 64 * w as i64;
        let behind = if left < 64 { !0 << left.max(0) } else { 0 };
        moved[w] = from[w] >> by | from[w + 1] << 1 << (63 - by) | behind;
    }
    moved[0] |= !(!0 << lead);
    moved
}

#[cfg(all(test, not(loom)))]
mod tests;
