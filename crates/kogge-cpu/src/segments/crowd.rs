//! The segments of a piece where short ones are many: seen as a mask of their heads, and scanned
//! [where they lie](crate::algorithm::segmented) or [by windows](crate::algorithm::windows). Segments of
//! more than a row go as everywhere else, and so do the last ones of a piece, behind which a chunk might
//! reach into what others write.

use super::short::{BATCH, Batches};
use super::starts::{Segments, Starts};
use super::{Done, Job};
use crate::algorithm::cut::{Chunks, Cut, PLACES, WORDS};
use crate::algorithm::segmented::{self, Segmented};
use crate::algorithm::windows::{self, Windows, stage_bytes};
use crate::arch::{CHUNKS, Words, Work, stream};
use crate::descent::Room;
use crate::engine::same;
use kogge_core::{Accumulate, Direction, Element, Operator, Order};
use std::marker::PhantomData;
use std::ops::Range;

/// Places fewer than which go by windows: for others it is worth to find what all of a mask says.
const FEW: usize = 256;

impl<T, U, A, O> Job<'_, '_, T, U, A, O>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    /// Elements of the longest segments that go by windows; `None` where elements are not their own
    /// accumulators, or segments have something of their own.
    pub(super) fn crowded(&self) -> Option<usize> {
        let longest = const { windows::longest::<T, A, O>() }?;
        let forward = self.request.direction == Direction::Forward;
        (forward && same::<T, U, A>() && self.parts.alike()).then_some(longest)
    }

    /// Scans the segments that start in these places, but for the last if its end is far away.
    ///
    /// # Safety
    ///
    /// As for [`run`](Job::run), and segments of up to `longest` elements must go by windows.
    pub(super) unsafe fn crowd<S: Segments>(
        &self,
        segments: &S,
        places: Range<usize>,
        longest: usize,
    ) -> Done {
        let end = places.end.min(self.len);
        let mut starts = segments.starts(places.start);
        let Some(first) = starts.next_below(end) else {
            return Done { first: None, long: None };
        };
        let mut mask = Mask::new(first, end);
        let mut crowd = Crowd::new(self);
        let known = end.saturating_sub(const { Order::of::<T>().chunk() });
        let mut at = first;
        let long = loop {
            mask.see(self.request.level, &mut starts, at);
            let short = mask.short(at, longest, known);
            // SAFETY: passed on; the segments follow one another.
            unsafe {
                if short > at {
                    crowd.short(&mask, at..short);
                    at = short;
                } else if let Some(next) = mask.next(at).or_else(|| starts.next_below(end)) {
                    crowd.long(at..next);
                    at = next;
                } else {
                    let reach = self.len.min(places.end.saturating_add(self.plan.alone));
                    match starts.next_below(reach).or((reach == self.len).then_some(reach)) {
                        Some(end) => crowd.long(at..end),
                        None => break Some((at, 0)),
                    }
                    break None;
                }
            }
        };
        // SAFETY: passed on.
        unsafe { crowd.finish() };
        stream::fence();
        Done { first: Some(first), long }
    }
}

impl<T, U, A, O> Job<'_, '_, T, U, A, O>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    /// Scans the segments that start in these places, all of one length but for the last of all.
    ///
    /// # Safety
    ///
    /// As for [`crowd`](Job::crowd).
    pub(super) unsafe fn crowd_alike(&self, len: usize, places: Range<usize>) -> Done {
        let mut at = places.start.next_multiple_of(len);
        let end = self.len.min(places.end.next_multiple_of(len));
        if at >= end {
            return Done { first: None, long: None };
        }
        let first = Some(at);
        let known = end.saturating_sub(const { Order::of::<T>().chunk() });
        let by_windows = fill_windows::<T>(len);
        let mut crowd = Crowd::new(self);
        let mut mask = Mask::every(len);
        let (most, mut cut) = (PLACES / len * len, 0);
        while at + len <= known {
            let together = most.min((known - at) / len * len);
            mask.base = at;
            // SAFETY: passed on; they were cut, these or others that lie alike.
            unsafe {
                if by_windows || !crowd.segmented(&mask, at..at + together) {
                    if together != cut {
                        crowd.cut(&mask, at..at + together);
                        cut = together;
                    }
                    crowd.windows(&mask, at..at + together);
                }
            }
            at += together;
        }
        for at in (at..end).step_by(len) {
            // SAFETY: passed on.
            unsafe { crowd.long(at..end.min(at + len)) };
        }
        // SAFETY: passed on.
        unsafe { crowd.finish() };
        stream::fence();
        Done { first, long: None }
    }
}

/// Whether segments of so many elements leave little room in windows, which then are quicker than a scan
/// where they lie: in their chunks none, or in all chunks together.
fn fill_windows<T: Element>(len: usize) -> bool {
    let (chunk, row) = const { (Order::of::<T>().chunk(), Order::of::<T>().row()) };
    let together = CHUNKS / len.div_ceil(chunk) * len;
    len.is_multiple_of(chunk) || len > row / 4 && together >= row / 8 * 5
}

/// Where segments start among the next places of a piece.
struct Mask {
    /// The first place of the first word.
    base: usize,
    heads: [u64; WORDS],
    /// Words that were looked at.
    seen: usize,
    /// The end of the piece.
    end: usize,
}

impl Mask {
    fn new(base: usize, end: usize) -> Self {
        Self { base, heads: [0; WORDS], seen: 0, end }
    }

    /// With a segment every so many places.
    fn every(len: usize) -> Self {
        let mut heads = [0; WORDS];
        (0..PLACES).step_by(len).for_each(|place| heads[place / 64] |= 1 << (place % 64));
        Self { base: 0, heads, seen: WORDS, end: PLACES }
    }

    /// Looks as far as there is room, from the segment on that starts `at` some place.
    fn see<S: Starts>(&mut self, level: crate::Level, starts: &mut S, at: usize) {
        let done = ((at - self.base) / 64).min(self.seen);
        if done == self.seen {
            (self.base, self.seen) = (at, 0);
        } else {
            self.heads.copy_within(done..self.seen, 0);
            self.base += 64 * done;
            self.seen -= done;
        }
        let from = self.base + 64 * self.seen;
        let words = WORDS.min((self.end - self.base).div_ceil(64));
        if self.seen < words {
            let heads = &mut self.heads[self.seen..words];
            level.run(See { starts, from, end: self.end, heads });
            self.seen = words;
        }
        self.heads[self.seen..].fill(0);
        self.heads[(at - self.base) / 64] |= 1 << ((at - self.base) % 64);
    }

    /// Where the segments end that follow one another from the one on that starts `at` some place, have
    /// up to `longest` elements, and end at `known` at the latest, as far as can be seen.
    fn short(&self, at: usize, longest: usize, known: usize) -> usize {
        // What lies between two heads of as many places is no longer than that.
        let bits = longest.min(64);
        let mut last = at;
        for place in (self.base..self.base + 64 * self.seen).step_by(bits) {
            let bit = place - self.base;
            let mut heads = self.heads[bit / 64] >> (bit % 64) & (!0 >> (64 - bits));
            if known < place + bits {
                heads &=
                    !(!0u64).checked_shl((known + 1).saturating_sub(place) as u32).unwrap_or(0);
            }
            if heads == 0 || place + heads.ilog2() as usize <= at {
                continue;
            }
            let first = (place + heads.trailing_zeros() as usize).max(at);
            if first > last + longest {
                break;
            }
            last = place + heads.ilog2() as usize;
        }
        last
    }

    /// Where the first segment starts after that `at` some place, as far as can be seen.
    fn next(&self, at: usize) -> Option<usize> {
        let (mut word, bit) = ((at - self.base) / 64, (at - self.base) % 64);
        let mut heads = self.heads[word] & (!1 << bit);
        while heads == 0 {
            word += 1;
            heads = *self.heads.get(word)?;
        }
        Some(self.base + 64 * word + heads.trailing_zeros() as usize)
    }
}

/// Looks where segments start, at some SIMD level.
struct See<'a, S> {
    starts: &'a mut S,
    from: usize,
    end: usize,
    heads: &'a mut [u64],
}

impl<S: Starts> Work for See<'_, S> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) {
        let end = self.end.min(self.from + 64 * self.heads.len());
        // SAFETY: features by contract.
        unsafe { self.starts.masks::<W32>(self.from..end, self.heads) };
    }
}

/// What scans them.
struct Crowd<'a, 'b, 'c, T, U, A, O> {
    job: &'a Job<'b, 'c, T, U, A, O>,
    chunks: Box<Chunks>,
    stage: Room,
    batches: Batches<'a, 'b, 'c, T, U, A, O>,
    /// Where segments start that are no windows' and follow one another, and where the last ends.
    bounds: [usize; BATCH + 1],
    count: usize,
}

impl<'a, 'b, 'c, T, U, A, O> Crowd<'a, 'b, 'c, T, U, A, O>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    fn new(job: &'a Job<'b, 'c, T, U, A, O>) -> Self {
        let (chunks, stage) = (Box::new(Chunks::new()), Room::new());
        Self { job, chunks, stage, batches: Batches::new(job, 0), bounds: [0; BATCH + 1], count: 0 }
    }

    /// Cuts the segments of these places into chunks.
    fn cut(&mut self, mask: &Mask, places: Range<usize>) {
        let places = places.start - mask.base..places.end - mask.base;
        let (heads, element) = (&mask.heads, PhantomData::<T>);
        let chunks = &mut self.chunks;
        self.job.request.level.run(Cut { heads, places, chunks, element });
    }

    /// Scans the segments of these places, all short.
    ///
    /// # Safety
    ///
    /// As for [`windows`](Self::windows).
    unsafe fn short(&mut self, mask: &Mask, places: Range<usize>) {
        // SAFETY: passed on.
        unsafe {
            if places.len() < FEW || !self.segmented(mask, places.clone()) {
                self.cut(mask, places.clone());
                self.windows(mask, places);
            }
        }
    }

    /// Scans the segments of these places, all short, where they lie, if the elements and the level have
    /// them scanned so.
    ///
    /// # Safety
    ///
    /// As for [`windows`](Self::windows).
    unsafe fn segmented(&mut self, mask: &Mask, places: Range<usize>) -> bool {
        if const { segmented::longest::<T, A, O>().is_none() } {
            return false;
        }
        // SAFETY: passed on.
        unsafe { self.finish() };
        let (job, element) = (self.job, PhantomData::<T>);
        job.request.level.run(Segmented {
            operator: job.request.operator,
            kind: job.request.kind,
            init: job.parts.init(0),
            from: job.from.cast::<A>().wrapping_add(mask.base),
            to: job.to.cast::<A>().wrapping_add(mask.base),
            heads: &mask.heads,
            places: places.start - mask.base..places.end - mask.base,
            stage: self.stage.of::<u8>(segmented::stage_bytes::<A>()),
            stream: job.plan.stream,
            element,
        })
    }

    /// Scans the segments of these places, all short, and cut into chunks.
    ///
    /// # Safety
    ///
    /// They must be this thread's, and a chunk behind them too; and elements their own accumulators.
    unsafe fn windows(&mut self, mask: &Mask, places: Range<usize>) {
        // SAFETY: passed on.
        unsafe { self.finish() };
        let (job, element) = (self.job, PhantomData::<T>);
        let places = places.start - mask.base..places.end - mask.base;
        let level = job.request.level;
        level.run(Windows {
            operator: job.request.operator,
            kind: job.request.kind,
            init: job.parts.init(0),
            from: job.from.cast::<A>().wrapping_add(mask.base),
            to: job.to.cast::<A>().wrapping_add(mask.base),
            places,
            chunks: &self.chunks,
            stage: self.stage.of::<u8>(stage_bytes::<A>()),
            stream: job.plan.stream,
            element,
        });
    }

    /// Scans a segment that is no windows', now or with the next ones.
    ///
    /// # Safety
    ///
    /// It must be this thread's.
    unsafe fn long(&mut self, places: Range<usize>) {
        self.bounds[self.count] = places.start;
        self.count += 1;
        self.bounds[self.count] = places.end;
        if self.count == BATCH {
            // SAFETY: passed on.
            unsafe { self.finish() };
        }
    }

    /// Scans the segments that were left for later.
    ///
    /// # Safety
    ///
    /// They must be this thread's.
    unsafe fn finish(&mut self) {
        if self.count > 0 {
            // SAFETY: passed on.
            unsafe { self.batches.scan(&self.bounds[..=self.count]) };
            self.count = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_that_are_filled() {
        let filled = |len: usize| fill_windows::<f32>(len);
        assert!([4, 8, 12, 64, 68, 100, 128, 39, 63, 99, 127].into_iter().all(filled));
        assert!(![1, 2, 3, 5, 7, 9, 31, 65, 70, 79].into_iter().any(filled));
    }
}
