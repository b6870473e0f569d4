//! Many short segments in one call: a row at most each, in registers and L1.

use super::{Job, Segments};
use crate::algorithm::arrays;
use crate::algorithm::io::{Converted, Direct, Io};
use crate::arch::{Words, Work};
use crate::engine::same;
use kogge_core::{Accumulate, Direction, Element, Operator, Order};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Segments a batch.
pub(super) const BATCH: usize = 64;

/// Accumulators for a row of elements.
pub(super) fn stage<T, A>() -> Vec<MaybeUninit<A>> {
    let row = Order::of::<T>().row();
    let mut stage = Vec::with_capacity(row);
    stage.resize_with(row, MaybeUninit::uninit);
    stage
}

/// Segments that follow one another, scanned at some SIMD level. Made where the segments are known
/// to be this thread's, and the stage to hold a row.
pub(super) struct Batch<'a, 'b, 'c, T, U, A, O, S> {
    pub(super) job: &'a Job<'b, 'c, T, U, A, O, S>,
    /// Where they start, and where the last ends.
    pub(super) bounds: &'a [usize],
    /// The number of the first.
    pub(super) number: usize,
    pub(super) stage: *mut A,
}

impl<T, U, A, O, S> Work for Batch<'_, '_, '_, T, U, A, O, S>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
    S: Segments,
{
    type Output = ();

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) {
        let row = const { Order::of::<T>() }.row();
        for (i, bounds) in self.bounds.windows(2).enumerate() {
            let (start, len) = (bounds[0], bounds[1] - bounds[0]);
            // SAFETY: whoever made the batch vouches for the segments and the stage.
            unsafe {
                if len > row {
                    self.job.one(start..start + len, self.number + i, 1);
                } else {
                    self.row(start, len, self.number + i);
                }
            }
        }
    }
}

impl<T, U, A, O, S> Batch<'_, '_, '_, T, U, A, O, S>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
    S: Segments,
{
    /// # Safety
    ///
    /// The segment must be this thread's, and a row long at most.
    #[inline(always)]
    unsafe fn row(&self, start: usize, len: usize, number: usize) {
        let (job, direction) = (self.job, self.job.request.direction);
        let init = job.parts.init(number);
        // SAFETY: the segment's places are in bounds.
        unsafe {
            let (from, to) = (job.from.add(start), job.to.add(start));
            let total = if len == 0 {
                init
            } else if same::<T, U, A>() && direction == Direction::Forward {
                let (from, to) = (from.cast::<A>(), to.cast::<A>());
                self.scan(Direct::<A, false> { from, to }, len, init)
            } else {
                let accumulator = PhantomData;
                self.scan(Converted { from, to, len, direction, accumulator }, len, init)
            };
            job.parts.put_total(job.request.operator, number, total);
        }
    }

    /// The total of a segment that isn't empty.
    ///
    /// # Safety
    ///
    /// The memory of `io` must be this thread's; `len` is a row at most.
    #[inline(always)]
    unsafe fn scan<I: Io<A>>(&self, io: I, len: usize, init: Option<A>) -> Option<A> {
        let request = self.job.request;
        let order = const { Order::of::<T>() };
        // SAFETY: the places exist, and the stage holds a row.
        let total = unsafe {
            let (from, to) = (io.load(0, len, self.stage), io.target(0, self.stage));
            let kind = request.kind;
            let total = arrays::scan_row(request.operator, order, kind, from, to, len, init);
            io.store(0, len, self.stage);
            total
        };
        Some(init.map_or(total, |init| request.operator.combine(init, total)))
    }
}
