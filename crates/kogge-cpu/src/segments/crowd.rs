//! The segments of a piece as a mask of their heads. Where these are many they are scanned [where
//! they lie](crate::algorithm::segmented) or [by windows](crate::algorithm::windows); where they
//! are [few](sparse), one after another, and so are those of more than a row, and the last ones of
//! a piece, behind which a chunk might reach into what others write.

use super::short::{BATCH, Batches, sparse};
use super::starts::{See, Segments, Starts};
use super::{Done, Job};
use crate::algorithm::cut::{Chunks, Cut, PLACES, WORDS};
use crate::algorithm::segmented::{self, MOST, Segmented};
use crate::algorithm::windows::{self, Windows, stage_bytes};
use crate::arch::CHUNKS;
use crate::arch::stream::Fence;
use crate::engine::same;
use crate::room::Room;
use kogge_core::{Accumulate, Direction, Element, Operator, Order};
use std::marker::PhantomData;
use std::ops::Range;

/// Places from which it is worth to find what all of a mask says, where values go past the caches.
/// Fewer go [one after another](Batches).
const FEW: usize = 64;

/// The same in cache, where fewer go by windows.
const FEW_IN_CACHE: usize = 256;

/// Segments one after another that are scanned together, where what is looked at comes from far
/// away: fewer than in cache, so that less of it is looked at at a time. (On a mesh runs of 64
/// equal keys, `f32`, by two threads 33.5 GB/s, 32 by 64 of them; in cache 46 and 48. On a Zen 4 36
/// and 30.)
const BATCH_BESIDE_FAR: usize = BATCH / 4;

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
        let _fence = Fence;
        let mut mask = Mask::new(first, end);
        let mut crowd = Crowd::new(self);
        let known = end.saturating_sub(const { Order::of::<T>().chunk() });
        let mut at = first;
        let long = loop {
            mask.see(self.request.level, &mut starts, at);
            // SAFETY: passed on; the segments follow one another.
            unsafe {
                if let Some(next) = crowd.few(&mask, at) {
                    at = next;
                    continue;
                }
                let short = mask.short(at, longest, known);
                if short > at {
                    crowd.short(&mask, at..short);
                    at = short;
                } else if let Some(next) =
                    mask.next(at).or_else(|| mask.find(self.request.level, &mut starts))
                {
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
        let _fence = Fence;
        let mut crowd = Crowd::new(self);
        let mut mask = Mask::every(len);
        let (most, mut cut) = (MOST / len * len, 0);
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
                    crowd.windows(at, at..at + together);
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
        Done { first, long: None }
    }
}

/// Whether segments of so many elements leave little room in windows, which then are quicker than a
/// scan where they lie: in their chunks none, or in all chunks together.
fn fill_windows<T: Element>(len: usize) -> bool {
    let (chunk, row) = const { (Order::of::<T>().chunk(), Order::of::<T>().row()) };
    let together = CHUNKS / len.div_ceil(chunk) * len;
    len.is_multiple_of(chunk) || len > row / 4 && together >= row / 8 * 5
}

/// Words of a mask that are kept: of those at hand, and of as many that come next.
const KEPT: usize = 8 * WORDS;

/// Where segments start among the next places of a piece.
///
/// Words are looked at long before they are needed: who reads a vector of words that were just
/// written waits until these have left the store queue, and with them all values before.
struct Mask {
    /// The first place of the first word.
    base: usize,
    /// A word of none, words that were looked at, and one that may be asked for behind them.
    heads: [u64; KEPT + WORDS + 2],
    /// Words that were looked at.
    seen: usize,
    /// The end of the piece.
    end: usize,
}

impl Mask {
    fn new(base: usize, end: usize) -> Self {
        Self { base, heads: [0; _], seen: 0, end }
    }

    /// With a segment every so many places.
    fn every(len: usize) -> Self {
        let mut heads = [0; _];
        (0..PLACES).step_by(len).for_each(|place| heads[1 + place / 64] |= 1 << (place % 64));
        Self { base: 0, heads, seen: WORDS, end: PLACES }
    }

    /// The word of a place.
    fn word(&self, place: usize) -> usize {
        (place - self.base) / 64
    }

    /// The first place of a place's word.
    fn first(&self, place: usize) -> usize {
        self.base + 64 * self.word(place)
    }

    /// Words from that of a place on, behind the one before.
    fn heads(&self, place: usize) -> &[u64; WORDS + 2] {
        self.heads[self.word(place)..].first_chunk().expect("words behind the last")
    }

    /// Looks ahead, from the segment on that starts `at` some place.
    fn see<S: Starts>(&mut self, level: crate::Level, starts: &mut S, at: usize) {
        debug_assert!(self.seen == 0 && self.base == at || self.word(at) < self.seen);
        let all = (self.end - self.base).div_ceil(64);
        // Behind a long segment another may follow.
        let ahead = if self.seen == 0 { WORDS } else { 2 * WORDS };
        while self.seen < all.min(self.word(at) + ahead) {
            if self.seen == KEPT {
                let done = self.word(at);
                self.heads.copy_within(1 + done..=self.seen, 1);
                self.heads[1 + self.seen - done..].fill(0);
                self.base += 64 * done;
                self.seen -= done;
            }
            let words = WORDS.min(KEPT - self.seen);
            let from = self.base + 64 * self.seen;
            let heads = &mut self.heads[1 + self.seen..][..words];
            let places = from..self.end.min(from + 64 * words);
            level.run(See { starts, places, heads });
            self.seen += words;
        }
        let (word, bit) = (1 + self.word(at), (at - self.base) % 64);
        // Written only if need be, for the reason above.
        if self.heads[word] >> bit & 1 == 0 {
            self.heads[word] |= 1 << bit;
        }
    }

    /// Looks on, where no segment starts in the rest of what was seen, until one does.
    fn find<S: Starts>(&mut self, level: crate::Level, starts: &mut S) -> Option<usize> {
        loop {
            let from = self.base + 64 * self.seen;
            if from >= self.end {
                return None;
            }
            self.heads[1..=self.seen].fill(0);
            let words = WORDS.min((self.end - from).div_ceil(64));
            (self.base, self.seen) = (from, words);
            let heads = &mut self.heads[1..=words];
            let places = from..self.end.min(from + 64 * words);
            level.run(See { starts, places, heads });
            if let Some(w) = self.heads[1..=words].iter().position(|&heads| heads != 0) {
                return Some(from + 64 * w + self.heads[1 + w].trailing_zeros() as usize);
            }
        }
    }

    /// Where the segments end that follow one another from the one on that starts `at` some place,
    /// have up to `longest` elements, and end at `known` at the latest, as far as one mask goes.
    fn short(&self, at: usize, longest: usize, known: usize) -> usize {
        // What lies between two heads of as many places is no longer than that.
        match longest {
            64.. => self.short_by::<64>(at, longest, known),
            _ => self.short_by::<32>(at, longest, known),
        }
    }

    /// The same by so many places at a time.
    fn short_by<const BITS: usize>(&self, at: usize, longest: usize, known: usize) -> usize {
        debug_assert!(longest >= BITS);
        let word = self.first(at);
        let known = known.min(at + MOST).min(word + PLACES);
        let begin = at - (at - word) % BITS;
        let (mut last, mut from) = (at, !1u64 << (at - begin));
        for place in (begin..known + 1).step_by(BITS) {
            let word = &self.heads[1 + self.word(place)];
            let mut heads = word >> ((place - self.base) % 64) & !0 >> (64 - BITS) & from;
            from = !0;
            if known < place + BITS {
                heads &= !0 >> (63 - (known - place));
            }
            // Without a branch on whether there is any: that is as random as the lengths.
            let none = heads == 0;
            let first = if none { last } else { place + heads.trailing_zeros() as usize };
            if first > last + longest {
                break;
            }
            last = if none { last } else { place + (heads | 1).ilog2() as usize };
        }
        last
    }

    /// Where the first segment starts after that `at` some place, as far as can be seen.
    fn next(&self, at: usize) -> Option<usize> {
        let (word, bit) = (self.word(at), (at - self.base) % 64);
        let mut from = !1 << bit;
        for (word, heads) in (word..self.seen).zip(&self.heads[1 + word..]) {
            let heads = heads & from;
            if heads != 0 {
                return Some(self.base + 64 * word + heads.trailing_zeros() as usize);
            }
            from = !0;
        }
        None
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
    /// How many of them are scanned together.
    batch: usize,
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
        let (batches, bounds) = (Batches::new(job, 0), [0; BATCH + 1]);
        let batch = if job.wanted.looked_at.is_some() { BATCH_BESIDE_FAR } else { BATCH };
        Self { job, chunks, stage, batches, bounds, count: 0, batch }
    }

    /// If those are few that start in a mask behind the one `at` some place, leaves all for later
    /// but for the last, and says where that starts.
    ///
    /// # Safety
    ///
    /// They must be this thread's.
    unsafe fn few(&mut self, mask: &Mask, at: usize) -> Option<usize> {
        self.job.successive()?;
        let (first, bit) = (mask.word(at), (at - mask.base) % 64);
        let words = &mask.heads[1 + first..=mask.seen.min(first + WORDS)];
        let count: u32 = words.iter().map(|word| word.count_ones()).sum();
        if count as usize * const { sparse::<A, O>() } > 64 * words.len() {
            return None;
        }
        let (mut start, mut from) = (at, !1u64 << bit);
        for (w, word) in words.iter().enumerate() {
            let mut heads = word & from;
            from = !0;
            while heads != 0 {
                let next = mask.first(at) + 64 * w + heads.trailing_zeros() as usize;
                // SAFETY: passed on.
                unsafe { self.long(start..next) };
                (start, heads) = (next, heads & (heads - 1));
            }
        }
        (start > at).then_some(start)
    }

    /// Cuts the segments of these places into chunks.
    fn cut(&mut self, mask: &Mask, places: Range<usize>) {
        let [_, heads @ .., _] = mask.heads(places.start);
        let first = mask.first(places.start);
        let (places, element) = (places.start - first..places.end - first, PhantomData::<T>);
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
            if places.len() < FEW && self.job.plan.stream {
                let mut at = places.start;
                while at < places.end {
                    let next = mask.next(at).expect("short segments end where others start");
                    self.long(at..next);
                    at = next;
                }
            } else if places.len() < FEW_IN_CACHE && !self.job.plan.stream
                || !self.segmented(mask, places.clone())
            {
                self.cut(mask, places.clone());
                self.windows(mask.first(places.start), places);
            }
        }
    }

    /// Scans the segments of these places, all short, where they lie, if the elements and the level
    /// have them scanned so.
    ///
    /// # Safety
    ///
    /// As for [`windows`](Self::windows).
    unsafe fn segmented(&mut self, mask: &Mask, places: Range<usize>) -> bool {
        if const { segmented::longest::<T, A, O>().is_none() } {
            return false;
        }
        // SAFETY: passed on.
        unsafe { self.scan_long() };
        let (job, element) = (self.job, PhantomData::<T>);
        job.request.level.run(Segmented {
            operator: job.request.operator,
            kind: job.request.kind,
            init: job.parts.init(0),
            from: job.from.cast::<A>(),
            heads: mask.heads(places.start),
            bit: (places.start - mask.base) % 64,
            // What lies behind may be written by others in place.
            readable: if job.in_place { places.clone() } else { 0..job.len },
            places,
            out: self.batches.outlet(),
            wanted: job.wanted,
            element,
        })
    }

    /// Scans the segments of these places, all short, and cut into chunks, whose places are counted
    /// from `first` on.
    ///
    /// # Safety
    ///
    /// They must be this thread's, and a chunk behind them too; and elements their own
    /// accumulators.
    unsafe fn windows(&mut self, first: usize, places: Range<usize>) {
        // SAFETY: passed on.
        unsafe { self.scan_long() };
        let (job, element) = (self.job, PhantomData::<T>);
        let level = job.request.level;
        level.run(Windows {
            operator: job.request.operator,
            kind: job.request.kind,
            init: job.parts.init(0),
            from: job.from.cast::<A>().wrapping_add(first),
            to: job.to.cast::<A>().wrapping_add(first),
            places: places.start - first..places.end - first,
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
        if self.count == self.batch {
            // SAFETY: passed on.
            unsafe { self.scan_long() };
        }
    }

    /// Scans the segments that were left for later.
    ///
    /// # Safety
    ///
    /// They must be this thread's.
    unsafe fn scan_long(&mut self) {
        if self.count > 0 {
            // SAFETY: passed on.
            unsafe { self.batches.scan(&self.bounds[..=self.count]) };
            self.count = 0;
        }
    }

    /// Scans what was left for later, and stores what hasn't left yet.
    ///
    /// # Safety
    ///
    /// As for [`scan_long`](Self::scan_long).
    unsafe fn finish(&mut self) {
        // SAFETY: passed on.
        unsafe {
            self.scan_long();
            self.batches.finish();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::by_offsets;
    use super::*;
    use crate::Level;

    #[test]
    fn windows_that_are_filled() {
        let filled = |len: usize| fill_windows::<f32>(len);
        assert!([4, 8, 12, 64, 68, 100, 128, 39, 63, 99, 127].into_iter().all(filled));
        assert!(![1, 2, 3, 5, 7, 9, 31, 65, 70, 79].into_iter().any(filled));
    }

    /// Goes along segments as a piece does, and compares what a mask tells with what offsets say.
    fn follow(offsets: &[usize], longest: usize) {
        let (end, segments) = (offsets[offsets.len() - 1], by_offsets(offsets));
        let mut starts = segments.starts(0);
        let first = starts.next_below(end).unwrap();
        let (mut mask, mut at) = (Mask::new(first, end), first);
        let mut j = 0;
        while at < end {
            mask.see(Level::detect(), &mut starts, at);
            let mut last = j;
            while offsets[last + 1] < end
                && offsets[last + 1] - offsets[last] <= longest
                && offsets[last + 1] <= at + MOST
                && offsets[last + 1] <= mask.base + 64 * mask.word(at) + PLACES
            {
                last += 1;
            }
            assert_eq!(mask.short(at, longest, end - 1), offsets[last], "from {at} of {end}");
            for &head in &offsets[j..=last] {
                let word = mask.heads(at)[1 + (mask.word(head) - mask.word(at))];
                assert!(word >> ((head - mask.base) % 64) & 1 == 1, "{head} from {at} of {end}");
            }
            if last == j {
                let next = mask.next(at).or_else(|| mask.find(Level::detect(), &mut starts));
                let next = next.unwrap_or(end);
                assert_eq!(next, offsets[j + 1], "after {at} of {end}");
                last += 1;
            }
            (j, at) = (last, offsets[last]);
        }
    }

    /// Past what is kept of a mask, with segments that end far behind what was seen.
    #[test]
    fn masks_tell_where_short_segments_end() {
        let most = if cfg!(miri) { 2 } else { 60 };
        for turn in 0..most {
            let (mut offsets, mut bits) = (vec![0], turn as u64);
            while offsets.len() < if cfg!(miri) { 40 } else { 700 } {
                bits = bits.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                let longest = match (bits >> 60, turn % 3) {
                    (0, 0) => 3 * KEPT * 64,
                    (0..3, 1) => 5_000,
                    (0..5, _) => 400,
                    _ => [2, 9, 70, 128][turn % 4],
                };
                offsets.push(offsets[offsets.len() - 1] + 1 + (bits >> 33) as usize % longest);
            }
            follow(&offsets, 128);
            follow(&offsets, 32);
        }
    }
}
