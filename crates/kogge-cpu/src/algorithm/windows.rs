//! Short segments that follow one another, window by window.
//!
//! Each [window] takes as many whole segments as have 32 chunks. Its values come to a stage, and
//! whole lines of the window before leave it meanwhile: so they go past the caches whatever the
//! segments' lengths, and what a window stores behind its segments is overwritten there and never
//! seen.

use super::cut::{Chunks, PLACES};
use super::format::Whole;
use super::rows::window;
use super::shape::{Shape, by_shape, shape};
use crate::arch::stream::{LINE, prefetch_row};
use crate::arch::{CHUNKS, Words, Work, put_line};
use kogge_core::{Element, Kind, Operator, Order};
use std::marker::PhantomData;
use std::ops::Range;

/// Bytes from where a window is read to where memory is asked for.
const AHEAD: usize = 4 << 10;

/// Bytes of the stage: the values of a mask, where they lie in their first line, and what a window
/// stores behind them.
pub(crate) const fn stage_bytes<A>() -> usize {
    PLACES * size_of::<A>() + 2 * LINE
}

/// Elements of the longest segment for windows, if there are windows for such elements.
pub(crate) const fn longest<T, A: Element, O: Operator<A>>() -> Option<usize> {
    match shape::<Whole, T, A, O>() {
        Shape::Narrow(_) | Shape::Wide(_) => Some(Order::of::<T>().row()),
        Shape::Exact | Shape::Array => None,
    }
}

/// Short segments to be scanned at some SIMD level. Made where they are known to be this thread's,
/// and a chunk behind them to be readable; `T` is the element as it lies in memory.
pub(crate) struct Windows<'a, T, A, O> {
    pub(crate) operator: &'a O,
    pub(crate) kind: Kind,
    pub(crate) init: Option<A>,
    /// The first place of the mask that the chunks were cut by.
    pub(crate) from: *const A,
    /// Its value; may be `from`.
    pub(crate) to: *mut A,
    /// The places of the segments.
    pub(crate) places: Range<usize>,
    /// Their chunks.
    pub(crate) chunks: &'a Chunks,
    /// Room for [`stage_bytes`], from a line of the cache on.
    pub(crate) stage: *mut u8,
    /// Whether values go past the caches.
    pub(crate) stream: bool,
    pub(crate) element: PhantomData<T>,
}

impl<T: Element, A: Element, O: Operator<A>> Work for Windows<'_, T, A, O> {
    type Output = ();
    const COMPACT: bool = O::COMPACT;

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) {
        // SAFETY: passed on; the size of `A` is what the arm says.
        unsafe {
            by_shape! { shape::<Whole, T, A, O>();
                Shape::Narrow(1) => self.all::<W32, 1>(),
                Shape::Narrow(2) => self.all::<W32, 2>(),
                Shape::Narrow(_) => self.all::<W32, 4>(),
                Shape::Wide(1) => self.all::<W64, 1>(),
                Shape::Wide(_) => self.all::<W64, 2>(),
            }
        }
    }
}

impl<T: Element, A: Element, O: Operator<A>> Windows<'_, T, A, O> {
    /// # Safety
    ///
    /// The segments as whoever made the value vouches; `A` must be `W` words of `H`, and a row of
    /// it 512 bytes; the CPU features of `H` must be present.
    #[inline(always)]
    unsafe fn all<H: Words, const W: usize>(self) {
        let Self { operator, kind, init, chunks, stream, .. } = self;
        let Range { start, end } = self.places;
        let bytes = start * size_of::<A>()..end * size_of::<A>();
        let (from, to) = (self.from.cast::<u8>(), self.to.cast::<u8>());
        // The stage's lines are the output's. Byte 0 is in it, whether it is a segment's or not:
        // chunks are stored at their distance from there.
        let stage = self.stage.wrapping_add(to.addr() % LINE);
        let lies = to.wrapping_add(bytes.start).addr() % LINE;
        let next = bytes.start + (LINE - lies) % LINE;
        let mut lines = Lines { stage, to, bytes, next, stream };
        let mut first = 0;
        while first < chunks.count() {
            let (places, heads) = (chunks.starts(first), chunks.heads(first));
            prefetch_row(from.wrapping_add(places[0] as usize + AHEAD));
            // SAFETY: by contract; there is room for what lies behind the last chunk.
            unsafe {
                window::scan::<H, A, O, W>(operator, kind, init, from, stage, places, heads as u32);
                lines.send::<H>(places[0] as usize);
            }
            first += whole(heads, chunks.count() - first);
        }
        // SAFETY: all values are there.
        unsafe { lines.finish::<H>() };
    }
}

/// How many of the next 32 chunks are whole segments, if so many are left.
#[inline(always)]
fn whole(heads: u64, left: usize) -> usize {
    if left <= CHUNKS {
        return left;
    }
    // The last head among those after the first; a segment has no more chunks than a window.
    let heads = heads & ((2 << CHUNKS) - 1);
    (heads.ilog2() as usize).max(1)
}

/// Values on their way from the stage.
struct Lines {
    /// The place of byte 0.
    stage: *mut u8,
    to: *mut u8,
    /// All of them.
    bytes: Range<usize>,
    /// The next whole line.
    next: usize,
    stream: bool,
}

impl Lines {
    /// Sends the lines that are ready up to some byte.
    ///
    /// # Safety
    ///
    /// The values up to there must be in the stage, and their places be this call's alone; the CPU
    /// features of `H` must be present.
    #[inline(always)]
    unsafe fn send<H: Words>(&mut self, ready: usize) {
        while self.next + LINE <= ready {
            let (from, to) = (self.stage.wrapping_add(self.next), self.to.wrapping_add(self.next));
            // SAFETY: by contract; `next` begins a line of the target.
            unsafe { put_line::<H::Simd>(from, to, self.stream) };
            self.next += LINE;
        }
    }

    /// Sends all that is left, and what isn't whole lines.
    ///
    /// # Safety
    ///
    /// As for [`send`](Self::send), for all values.
    #[inline(always)]
    unsafe fn finish<H: Words>(mut self) {
        let Range { start, end } = self.bytes;
        let begun =
            start..end.min(start + (LINE - self.to.wrapping_add(start).addr() % LINE) % LINE);
        // SAFETY: passed on.
        unsafe {
            self.send::<H>(end);
            for bytes in [begun, self.next.min(end)..end] {
                let (from, to) = (self.stage.wrapping_add(bytes.start), self.to);
                to.wrapping_add(bytes.start).copy_from_nonoverlapping(from, bytes.len());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_end_with_segments() {
        let every = |n: usize| (0..64).step_by(n).fold(0u64, |heads, place| heads | 1 << place);
        assert_eq!(whole(every(1), 5), 5);
        assert_eq!(whole(every(1), 64), 32);
        assert_eq!(whole(every(4), 64), 32);
        assert_eq!(whole(every(5), 64), 30);
        assert_eq!(whole(every(32), 64), 32);
        assert_eq!(whole(every(31), 64), 31);
    }
}
