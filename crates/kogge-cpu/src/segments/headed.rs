//! The segments of a piece under operators that round nothing: [vectors](crate::algorithm::headed)
//! from the first of them to the end of the last, whatever their lengths.

use super::starts::{See, Segments, Starts};
use super::{Done, Job};
use crate::algorithm::headed::{self, Headed, WORD, WORDS, headed};
use crate::arch::stream::{Fence, LINE};
use crate::engine::same;
use kogge_core::{Accumulate, Direction, Element, Operator};
use std::ops::Range;

/// Elements of segments, on average, from which they are quicker one by one than
/// [crosswise](Job::crosswise).
///
/// (On a Zen 3, one thread in its caches, `i32` whose lengths are exponential were 0.97 times as
/// fast crosswise with 128 on average, 0.84 with 256; by Zipf's law 1.2 and 1.3 with 128, 1.06 to
/// 1.17 with 256, 0.98 to 1.00 with 512.)
pub(super) const SPARSE: usize = 192;

/// The same of segments that are alike. (`i32` in lines of 80 were 1.08 and 1.1 times as fast, of
/// 100 0.93; `i64` of 64 0.93, of 80 1.36.)
pub(super) const SPARSE_EVEN: usize = 96;

impl<T, U, A, O> Job<'_, '_, T, U, A, O>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    /// Whether segments go like this: not where elements are not their own accumulators, or
    /// segments have something of their own.
    pub(super) fn headed(&self) -> bool {
        let forward = self.request.direction == Direction::Forward;
        forward && const { headed::<A, O>() } && same::<T, U, A>() && self.parts.alike()
    }

    /// Whether those that go like this have lanes that run along memory, which takes as long
    /// whatever the segments.
    pub(super) fn crosswise(&self) -> bool {
        (const { headed::<A, O>() }) && headed::crosswise::<A>(self.request.level)
    }

    /// Scans the segments that start in these places, but for the last if its end is far away.
    ///
    /// # Safety
    ///
    /// As for [`run`](Job::run), and [`headed`](Job::headed) must hold.
    pub(super) unsafe fn heads<S: Segments>(&self, segments: &S, places: Range<usize>) -> Done {
        let end = places.end.min(self.len);
        let mut starts = segments.starts(places.start);
        let Some(first) = starts.next_below(end) else {
            return Done { first: None, long: None };
        };
        let reach = self.len.min(end.saturating_add(self.plan.alone));
        let next = if reach == end { None } else { segments.starts(end).next_below(reach) };
        let (end, long) = match next.or((reach == self.len).then_some(reach)) {
            Some(end) => (end, None),
            None => {
                let mut starts = segments.starts(first);
                let last = std::iter::from_fn(|| starts.next_below(end)).last().unwrap_or(first);
                (last, Some((last, 0)))
            }
        };
        let _fence = Fence;
        // SAFETY: passed on; the segments that start here end there.
        unsafe { self.to_end(starts, first..end) };
        Done { first: Some(first), long }
    }

    /// Scans the segments of these places, given the starts behind the first.
    ///
    /// # Safety
    ///
    /// As for [`heads`](Self::heads); they must be this thread's.
    unsafe fn to_end<S: Starts>(&self, mut starts: S, Range { start, end }: Range<usize>) {
        let level = self.request.level;
        let mut heads = [0; WORDS];
        let mut through = self.request.operator.identity();
        let mut at = start;
        while at < end {
            let len = self.together(at, start..end);
            level.run(See { starts: &mut starts, places: at..at + len, heads: &mut heads });
            heads[0] |= u64::from(at == start);
            let headed = Headed {
                operator: self.request.operator,
                kind: self.request.kind,
                init: self.parts.init(0),
                from: self.from.cast::<A>().wrapping_add(at),
                to: self.to.cast::<A>().wrapping_add(at),
                heads: &heads,
                len,
                through,
                stream: self.plan.stream,
                wanted: self.wanted.on(at),
            };
            through = headed.scan(level);
            at += len;
        }
    }

    /// How many places from this one on are scanned at a time: those up to a line first.
    fn together(&self, at: usize, Range { start, end }: Range<usize>) -> usize {
        let to = self.to.cast::<A>().wrapping_add(at);
        let begun = to.addr().wrapping_neg() % LINE / size_of::<A>().max(1);
        match end - at {
            left if at == start && begun > 0 => begun.min(left),
            left if left < WORD => left,
            left => left.min(WORDS * WORD) / WORD * WORD,
        }
    }
}
