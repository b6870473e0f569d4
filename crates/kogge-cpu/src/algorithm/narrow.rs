//! A row of the order of a table so narrow that its lines are sixteen at most, and nothing else lies
//! between their elements.
//!
//! A place is then a vector or a few, whose lanes are lines. Vectors are loaded where places lie, so
//! the last one of a place may hold lanes of the next place too, and what is stored of those is stored
//! over with the next place. The levels of the order are gone through one after the other, chunk totals
//! first, then Kogge–Stone over all of them: so steps are loops of independent operations. (Chunk by
//! chunk, as wide [strips](super::strip) go, sixteen lanes at a time, 8 columns of floats were scanned
//! at a third of the speed.)

use super::free::{combine, splat};
use super::strip::{LANES, fills};
use crate::arch::stream::{Cache, LINE, stream_run};
use crate::arch::{CHUNKS, Masked, MaskedOf, Words, Work};
use kogge_core::{Element, Kind, Operator, Order};
use std::mem::MaybeUninit;

/// Bytes of a stage: a row of so many lines, where it lies in its first line of the cache, and lanes
/// behind it.
pub(crate) const fn stage_bytes<A: Element>(lines: usize) -> usize {
    Order::of::<A>().row() * lines * size_of::<A>() + 2 * LINE
}

/// A row of the order of some lines, scanned at some SIMD level, or folded only if `STORE` is not set.
/// Made where the row is known to be this thread's, and a vector to be readable wherever it has a
/// place. Says whether the level has such vectors; else nothing was done.
pub(crate) struct Narrow<'a, A, O, const STORE: bool> {
    pub(crate) operator: &'a O,
    pub(crate) kind: Kind,
    /// The first place.
    pub(crate) from: *const A,
    /// Its values.
    pub(crate) to: *mut A,
    /// Lines, sixteen at most.
    pub(crate) lines: usize,
    /// What precedes the row, if anything does.
    pub(crate) before: Option<[A; LANES]>,
    /// The fold of the row, the result.
    pub(crate) fold: &'a mut [A; LANES],
    /// Room for [`stage_bytes`], from a line of the cache on.
    pub(crate) stage: *mut u8,
    /// Whether values go past the caches.
    pub(crate) stream: bool,
    /// Bytes to the places that are asked for meanwhile, and what those are brought into.
    pub(crate) ahead: (usize, Cache),
}

impl<A: Element, O: Operator<A>, const STORE: bool> Work for Narrow<'_, A, O, STORE> {
    type Output = bool;
    const COMPACT: bool = O::COMPACT;

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) -> bool {
        if const { !fills::<MaskedOf<W32>, A>() } {
            return false;
        }
        // SAFETY: passed on by whoever made the value.
        unsafe { self.row::<MaskedOf<W32>, W32>() };
        true
    }
}

impl<A: Element, O: Operator<A>, const STORE: bool> Narrow<'_, A, O, STORE> {
    /// Goes through the row by vectors of `P`.
    ///
    /// # Safety
    ///
    /// As for whoever makes the value; the CPU features of `P` and `H` must be present.
    #[inline(always)]
    unsafe fn row<P: Masked, H: Words>(mut self) {
        let vectors = self.lines.div_ceil(P::BYTES / size_of::<A>());
        // The last vector first: its lanes of the next place are stored over with the first vector's.
        for v in (0..vectors).rev() {
            // SAFETY: passed on; the lanes of `v` begin with one of a line.
            unsafe { self.vector::<P>(v) };
        }
        if STORE {
            let bytes = const { Order::of::<A>().row() } * self.lines * size_of::<A>();
            let (from, to) = (self.staged(), self.to.cast::<u8>());
            // SAFETY: all values are in the stage.
            unsafe {
                if self.stream {
                    stream_run::<H>(from, to, bytes);
                } else {
                    to.copy_from_nonoverlapping(from, bytes);
                }
            }
        }
    }

    /// Where the values of the first place are put: in its line as in that of the target.
    #[inline(always)]
    fn staged(&self) -> *mut u8 {
        self.stage.wrapping_add(self.to.addr() % LINE)
    }

    /// Goes through the lanes of vector `v` of each place.
    ///
    /// # Safety
    ///
    /// As for whoever makes the value; the CPU features of `P` must be present.
    #[inline(always)]
    unsafe fn vector<P: Masked>(&mut self, v: usize) {
        let (operator, pitch) = (self.operator, self.lines * size_of::<A>());
        let mut from = self.from.cast::<u8>().wrapping_add(v * P::BYTES);
        let chunk = const { Order::of::<A>().chunk() };
        let (ahead, cache) = self.ahead;
        // SAFETY: places of the row; features by contract.
        unsafe {
            let mut chunks = MaybeUninit::<[P::Vector; CHUNKS]>::uninit();
            let chunks = chunks.as_mut_ptr().cast::<P::Vector>();
            for c in 0..CHUNKS {
                for line in (0..chunk * pitch).step_by(LINE) {
                    cache.ask::<LINE>(from.wrapping_add(ahead + line));
                }
                let mut total = P::load(from);
                for _ in 1..chunk {
                    from = from.wrapping_add(pitch);
                    total = combine::<P, A, O>(operator, total, P::load(from));
                }
                from = from.wrapping_add(pitch);
                chunks.add(c).write(total);
            }
            let chunks = std::slice::from_raw_parts_mut(chunks, CHUNKS);
            let fold = if STORE {
                kogge_stone::<P, A, O>(operator, chunks);
                self.finish::<P>(v, chunks);
                chunks[CHUNKS - 1]
            } else {
                tree::<P, A, O>(operator, chunks)
            };
            P::store(fold, (&raw mut *self.fold).cast::<u8>().add(v * P::BYTES));
        }
    }

    /// Puts the values in the stage, given the chunks' Kogge–Stone values.
    ///
    /// # Safety
    ///
    /// As for [`vector`](Self::vector).
    #[inline(always)]
    unsafe fn finish<P: Masked>(&self, v: usize, chunks: &[P::Vector]) {
        let (operator, pitch) = (self.operator, self.lines * size_of::<A>());
        let mut from = self.from.cast::<u8>().wrapping_add(v * P::BYTES);
        let mut to = self.staged().wrapping_add(v * P::BYTES);
        let chunk = const { Order::of::<A>().chunk() };
        // SAFETY: places of the row, and of the stage; features by contract.
        unsafe {
            let before = self
                .before
                .map(|before| P::load((&raw const before).cast::<u8>().add(v * P::BYTES)));
            for c in 0..CHUNKS {
                let mut value = match (before, c.checked_sub(1)) {
                    (Some(before), Some(c)) => {
                        Some(combine::<P, A, O>(operator, before, chunks[c]))
                    }
                    (None, Some(c)) => Some(chunks[c]),
                    (before, None) => before,
                };
                for _ in 0..chunk {
                    let element = P::load(from);
                    let through = match value {
                        Some(value) => combine::<P, A, O>(operator, value, element),
                        None => element,
                    };
                    let out = match self.kind {
                        Kind::Inclusive => through,
                        Kind::Exclusive => {
                            value.unwrap_or_else(|| splat::<P, A>(operator.identity()))
                        }
                    };
                    // What of the lanes are another vector's or place's is overwritten with that.
                    P::store(out, to);
                    value = Some(through);
                    (from, to) = (from.wrapping_add(pitch), to.wrapping_add(pitch));
                }
            }
        }
    }
}

/// The Kogge–Stone values of chunk totals.
///
/// # Safety
///
/// The CPU features of `P` must be present.
#[inline(always)]
unsafe fn kogge_stone<P: Masked, A: Element, O: Operator<A>>(
    operator: &O,
    chunks: &mut [P::Vector],
) {
    // Any tree has the same bits where the operator is exact.
    let strides: &[usize] = if const { O::EXACT } { &[1] } else { &[1, 2, 4, 8, 16] };
    for &stride in strides {
        let mut c = if const { O::EXACT } { stride } else { CHUNKS - 1 };
        for _ in stride..CHUNKS {
            // SAFETY: features by contract.
            chunks[c] = unsafe { combine::<P, A, O>(operator, chunks[c - stride], chunks[c]) };
            c = if const { O::EXACT } { c + 1 } else { c - 1 };
        }
    }
}

/// The last of the Kogge–Stone values: neighbours are combined until one is left.
///
/// # Safety
///
/// The CPU features of `P` must be present.
#[inline(always)]
unsafe fn tree<P: Masked, A: Element, O: Operator<A>>(
    operator: &O,
    chunks: &mut [P::Vector],
) -> P::Vector {
    let mut count = CHUNKS;
    while count > 1 {
        count /= 2;
        for c in 0..count {
            // SAFETY: features by contract.
            chunks[c] = unsafe { combine::<P, A, O>(operator, chunks[2 * c], chunks[2 * c + 1]) };
        }
    }
    chunks[0]
}

#[cfg(test)]
mod tests;
