//! Segments that go one after another, many in one call.

use super::Job;
use crate::algorithm::headed::headed;
use crate::algorithm::io::{Converted, Io};
use crate::algorithm::outlet::{Outlet, STAGE_BYTES};
use crate::algorithm::part::{self, Part};
use crate::algorithm::successive::{self, Successive};
use crate::arch::{Words, Work};
use crate::engine::{Request, same};
use crate::room::Room;
use crate::{Cpu, tuning};
use kogge_core::{Accumulate, Direction, Element, Operator, Order, Prefix};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Elements of segments, on average, from which they are quicker one by one.
///
/// (On a Zen 4 `f32` in segments of 32 on average, by lot, are 1.3 times as fast then, of 64 twice;
/// integers of 64 1.0 to 1.2 times, of 128 1.2 to 2.2 times.)
pub(super) const fn sparse<A: Element, O: Operator<A>>() -> usize {
    if headed::<A, O>() {
        return 64;
    }
    let size = if size_of::<A>() > 0 { size_of::<A>() } else { 1 };
    96 / size + 1
}

/// Segments a batch.
pub(super) const BATCH: usize = 64;

/// What scans batches of segments that follow one another.
pub(super) struct Batches<'a, 'b, 'c, T, U, A, O> {
    job: &'a Job<'b, 'c, T, U, A, O>,
    /// The number of the next segment.
    pub(super) number: usize,
    /// Accumulators for the longest part.
    stage: Vec<MaybeUninit<A>>,
    /// For segments of more than a tile.
    prefix: Prefix<A>,
    /// For values that leave in whole lines, once there are any.
    outlet: Option<Outlet>,
    /// Its stage.
    lines: Room,
}

impl<'a, 'b, 'c, T, U, A, O> Batches<'a, 'b, 'c, T, U, A, O>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    pub(super) fn new(job: &'a Job<'b, 'c, T, U, A, O>, number: usize) -> Self {
        let longest = part::longest::<T, A, O>();
        let mut stage = Vec::with_capacity(longest);
        stage.resize_with(longest, MaybeUninit::uninit);
        Self { job, number, stage, prefix: Prefix::new(None), outlet: None, lines: Room::new() }
    }

    /// What values leave through that go past the caches.
    pub(super) fn outlet(&mut self) -> &mut Outlet {
        outlet(&mut self.outlet, &mut self.lines, self.job)
    }

    /// Stores what hasn't left yet.
    ///
    /// # Safety
    ///
    /// As for [`Job::run`].
    pub(super) unsafe fn finish(&mut self) {
        if let Some(outlet) = &mut self.outlet {
            // SAFETY: passed on; the values are those of segments that were this thread's.
            unsafe { outlet.finish() };
        }
    }

    /// Scans the segments between these bounds.
    ///
    /// # Safety
    ///
    /// As for [`Job::run`]; they must be this thread's, and the first have the number `number`.
    pub(super) unsafe fn scan(&mut self, bounds: &[usize]) {
        let (job, number, stage) = (self.job, self.number, self.stage.as_mut_ptr().cast());
        if bounds.len() > 1 {
            match job.successive() {
                // SAFETY: passed on.
                Some(longest) => unsafe { self.by_rows(bounds, longest) },
                None => job.request.level.run(Batch { job, bounds, number, stage }),
            }
            self.number += bounds.len() - 1;
        }
    }

    /// Scans the segments between these bounds, those of up to `longest` elements row by row.
    ///
    /// # Safety
    ///
    /// As for [`scan`](Self::scan), and segments of so many elements must go like this.
    unsafe fn by_rows(&mut self, mut bounds: &[usize], longest: usize) {
        while let [start, end, ..] = *bounds {
            let long = bounds.windows(2).position(|pair| pair[1] - pair[0] > longest);
            let count = long.unwrap_or(bounds.len() - 1);
            // SAFETY: passed on.
            unsafe {
                if count > 0 {
                    self.successive(&bounds[..=count]);
                } else {
                    self.job.one(start..end, self.number, 1);
                }
            }
            bounds = &bounds[count.max(1)..];
        }
    }

    /// # Safety
    ///
    /// As for [`by_rows`](Self::by_rows).
    unsafe fn successive(&mut self, bounds: &[usize]) {
        let job = self.job;
        job.request.level.run(Successive {
            operator: job.request.operator,
            kind: job.request.kind,
            init: job.parts.init(self.number),
            from: job.from.cast::<A>(),
            bounds,
            // What lies behind may be written by others in place.
            readable: if job.in_place { bounds[bounds.len() - 1] } else { job.len },
            prefix: &mut self.prefix,
            out: outlet(&mut self.outlet, &mut self.lines, job),
            at_once: !job.in_place && !job.plan.stream,
            wanted: job.wanted,
            element: PhantomData::<T>,
        });
    }
}

/// The outlet, made when it is first needed.
fn outlet<'a, T, U, A, O>(
    outlet: &'a mut Option<Outlet>,
    lines: &mut Room,
    job: &Job<'_, '_, T, U, A, O>,
) -> &'a mut Outlet {
    outlet.get_or_insert_with(|| {
        Outlet::new(lines.of::<u8>(STAGE_BYTES), job.to.cast(), job.plan.stream)
    })
}

impl<T, U, A, O> Job<'_, '_, T, U, A, O>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    /// Elements of the longest segments that go row by row, one after another; `None` where they
    /// don't, where elements are not their own accumulators, or segments have something of their
    /// own.
    ///
    /// In place values go through a stage, which is slower than what many rows of one segment need;
    /// so they may where they go past the caches ([`tuning::successive_bytes`]).
    pub(super) fn successive(&self) -> Option<usize> {
        if const { !successive::by_rows::<T, A, O>() } {
            return None;
        }
        let longest = match (self.in_place, self.plan.stream) {
            (true, _) => const { Order::of::<T>().segment() },
            (false, true) => tuning::successive_bytes(Cpu::detect()) / size_of::<T>(),
            (false, false) => usize::MAX,
        };
        self.crowded().map(|_| longest)
    }
}

/// A batch to be scanned at some SIMD level. Made where its segments are known to be this thread's,
/// and the stage to hold the longest part.
struct Batch<'a, 'b, 'c, T, U, A, O> {
    job: &'a Job<'b, 'c, T, U, A, O>,
    /// Where segments start, and where the last ends.
    bounds: &'a [usize],
    /// The number of the first.
    number: usize,
    stage: *mut A,
}

impl<T, U, A, O> Work for Batch<'_, '_, '_, T, U, A, O>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    type Output = ();
    const COMPACT: bool = O::COMPACT;

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) {
        for (i, bounds) in self.bounds.windows(2).enumerate() {
            let (start, len) = (bounds[0], bounds[1] - bounds[0]);
            let number = self.number + i;
            // SAFETY: whoever made the batch vouches for the segments and the stage; the features
            // by contract.
            unsafe {
                if len > const { part::longest::<T, A, O>() } {
                    self.job.one(start..start + len, number, 1);
                } else if const { part::longest::<T, A, O>() > 0 } && len > 0 {
                    self.short::<W32, W64>(start, len, number);
                } else {
                    let (parts, operator) = (&self.job.parts, self.job.request.operator);
                    parts.put_total(operator, number, parts.init(number));
                }
            }
        }
    }
}

impl<T, U, A, O> Batch<'_, '_, '_, T, U, A, O>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    /// # Safety
    ///
    /// The segment must be this thread's, not empty, and no longer than a part; the CPU features of
    /// `W32` and `W64`, the level's words, must be present.
    #[inline(always)]
    unsafe fn short<W32: Words<Word = u32>, W64: Words<Word = u64>>(
        &self,
        start: usize,
        len: usize,
        number: usize,
    ) {
        let Job { request, from, to, in_place, .. } = *self.job;
        // SAFETY: the segment's places are in bounds. What is behind it up to the end of the batch
        // is this thread's, and written after it; what is behind that may be written by others in
        // place.
        unsafe {
            let (from, to) = (from.add(start), to.add(start));
            let folded = self.job.parts.totals_wanted();
            if const { !O::COMPACT } && same::<T, U, A>() && request.direction == Direction::Forward
            {
                let end = self.bounds[self.bounds.len() - 1] - start;
                let (readable, writable) = match in_place {
                    true => (end, len),
                    false => (self.job.len - start, end),
                };
                let (from, to) = (from.cast(), to.cast());
                self.part::<W32, W64>(Part { from, to, len, readable, writable, folded }, number);
            } else {
                let (direction, accumulator) = (request.direction, PhantomData);
                let io = Converted { from, to, len, direction, accumulator };
                let from = io.load(0, len, self.stage);
                let to = io.target(0, self.stage);
                let part = Part { from, to, len, readable: len, writable: len, folded };
                self.part::<W32, W64>(part, number);
                io.store(0, len, self.stage);
            }
        }
    }

    /// # Safety
    ///
    /// The part must be as it says, and this thread's; the CPU features of `W32` and `W64`, the
    /// level's words, must be present.
    #[inline(always)]
    unsafe fn part<W32: Words<Word = u32>, W64: Words<Word = u64>>(
        &self,
        part: Part<A>,
        number: usize,
    ) {
        let Request { level, operator, kind, .. } = *self.job.request;
        let parts = &self.job.parts;
        let init = parts.init(number);
        // SAFETY: passed on.
        unsafe {
            if let Some(fold) = part::scan::<W32, W64, T, A, O>(level, operator, kind, part, init) {
                let total = init.map_or(fold, |init| operator.combine(init, fold));
                parts.put_total(operator, number, Some(total));
            }
        }
    }
}
