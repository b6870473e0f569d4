//! Scans along one axis of an array: many lines, each a scan of its own.
//!
//! Lines that are contiguous in memory are scanned as slices. Across memory order, sixteen
//! neighbouring lines of elements up to 32 bytes go together: one element of each makes a 16-lane
//! element, so whole cache lines are used and the operator is vectorised across lines, in the order
//! of the single line.
//! Threads share out lines; when there are too few of them, each line is scanned by many threads.

use crate::algorithm::io::{Columns, Io};
use crate::engine::{Request, run, scan_raw};
use crate::plan::{Machine, Plan, plan};
use kogge_core::{Accumulate, Direction, Element, Operator, Problem};
use rayon::prelude::*;
use std::marker::PhantomData;

/// Lines that are scanned together.
const TOGETHER: usize = 16;

/// Bytes of the widest accumulators of lines that go together. A scan holds some hundreds of them on
/// the stack of a thread, and wider elements fill cache lines alone.
const WIDEST: usize = 32;

/// Elements a rayon task is given at least.
const TASK: usize = 1 << 14;

/// An axis of an input and an output of the same shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Elements along the axis.
    pub len: usize,
    /// Elements from one index to the next, in the input and in the output.
    pub strides: [isize; 2],
}

/// An operator on sixteen lines at once.
struct Across<'a, O>(&'a O);

impl<A: Element<Accumulator = A>, O: Operator<A>, const N: usize> Operator<[A; N]>
    for Across<'_, O>
{
    const EXACT: bool = O::EXACT;

    #[inline(always)]
    fn identity(&self) -> [A; N] {
        [self.0.identity(); N]
    }

    #[inline(always)]
    fn combine(&self, left: [A; N], right: [A; N]) -> [A; N] {
        let mut combined = left;
        for i in 0..N {
            combined[i] = self.0.combine(left[i], right[i]);
        }
        combined
    }
}

/// Scans every line along `line`; the other axes are `outer`. `from` and `to` are the elements with
/// index 0 on all axes.
///
/// # Safety
///
/// Every element the axes reach must be readable at `from` and writable at `to`, by this call
/// alone; outputs of distinct indices are distinct places. `to` may be `from` if their strides are
/// equal too (`in_place`), else the two arrays don't overlap.
pub unsafe fn scan_lines<T, U, A, O>(
    request: &Request<'_, O, A>,
    from: *const T,
    to: *mut U,
    line: Axis,
    outer: &[Axis],
    in_place: bool,
) where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element<Accumulator = A>,
    O: Operator<A>,
{
    if line.len == 0 || outer.iter().any(|axis| axis.len == 0) {
        return;
    }
    let array = Array { request, from, to, line, in_place };
    let (mut outer, mut together) = (outer.to_vec(), None);
    if line.strides != [1, 1] && size_of::<A>() <= WIDEST {
        // Lines side by side in memory go together.
        let beside = outer.iter().position(|axis| axis.strides == [1, 1] && axis.len > 1);
        together = beside.map(|axis| outer.swap_remove(axis).len);
    }
    // SAFETY: passed on.
    unsafe {
        match together {
            None => array.for_each(&outer, 1, |place, threads| array.single(place, threads)),
            Some(beside) => {
                let groups = beside / TOGETHER;
                let group = |n, width| Axis { len: n, strides: [width as isize; 2] };
                let full: Vec<Axis> =
                    outer.iter().copied().chain([group(groups, TOGETHER)]).collect();
                array.for_each(&full, TOGETHER, |place, threads| array.sixteen(place, threads));
                let done = (groups * TOGETHER) as isize;
                let rest: Vec<Axis> =
                    outer.iter().copied().chain([group(beside % TOGETHER, 1)]).collect();
                array.for_each(&rest, 1, |[from, to], threads| {
                    array.single([from + done, to + done], threads)
                });
            }
        }
    }
}

/// What all lines have in common.
struct Array<'a, 'b, T, U, A, O> {
    request: &'a Request<'b, O, A>,
    from: *const T,
    to: *mut U,
    line: Axis,
    in_place: bool,
}

// SAFETY: the lines are distinct places, and the caller of `scan_lines` vouches for the memory.
unsafe impl<T: Element, U: Element, A: Element, O: Operator<A>> Sync for Array<'_, '_, T, U, A, O> {}

impl<T, U, A, O> Array<'_, '_, T, U, A, O>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element<Accumulator = A>,
    O: Operator<A>,
{
    /// Calls `scan` for every index of the axes, with the offsets of input and output and with the
    /// threads a call may use; `width` lines a call.
    fn for_each(&self, axes: &[Axis], width: usize, scan: impl Fn([isize; 2], usize) + Sync) {
        let count: usize = axes.iter().map(|axis| axis.len).product();
        let threads = rayon::current_num_threads();
        let elements = self.line.len.saturating_mul(width);
        if count == 0 {
        } else if count >= 2 * threads || elements.saturating_mul(count) <= TASK {
            let at_least = (TASK / elements).max(1);
            if count <= at_least || threads == 1 {
                (0..count).for_each(|index| scan(offsets(axes, index), 1));
            } else {
                let lines = (0..count).into_par_iter().with_min_len(at_least);
                lines.for_each(|index| scan(offsets(axes, index), 1));
            }
        } else {
            (0..count).for_each(|index| scan(offsets(axes, index), threads));
        }
    }

    /// The plan for `width` lines on so many threads.
    fn plan(&self, width: usize, threads: usize) -> Plan {
        let problem = Problem {
            len: self.line.len as u64,
            element_bytes: size_of::<T>(),
            output_bytes: size_of::<U>() * width,
            accumulator_bytes: size_of::<A>() * width,
            kind: self.request.kind,
            direction: self.request.direction,
            in_place: self.in_place,
        };
        Plan { stream: false, ..plan(&problem, Machine { threads }) }
    }

    /// One line.
    ///
    /// # Safety
    ///
    /// The line must exist, and be this call's alone.
    unsafe fn single(&self, [from, to]: [isize; 2], threads: usize) {
        let plan = self.plan(1, threads);
        // SAFETY: the line's places are in bounds by contract.
        unsafe {
            if self.line.strides == [1, 1] {
                let request = Request { plan: Some(plan), ..*self.request };
                scan_raw(
                    &request,
                    self.from.offset(from),
                    self.to.offset(to),
                    self.line.len,
                    self.in_place,
                );
            } else {
                let io = self.columns::<1>([from, to]);
                self.run::<1, _>(io, plan);
            }
        }
    }

    /// Sixteen lines side by side.
    ///
    /// # Safety
    ///
    /// The lines must exist, and be this call's alone.
    unsafe fn sixteen(&self, place: [isize; 2], threads: usize) {
        // SAFETY: passed on.
        unsafe { self.run::<TOGETHER, _>(self.columns(place), self.plan(TOGETHER, threads)) }
    }

    /// # Safety
    ///
    /// The memory of `io` must be this call's alone.
    unsafe fn run<const N: usize, I: Io<[A; N]>>(&self, io: I, plan: Plan) {
        let request = Request {
            operator: &Across(self.request.operator),
            kind: self.request.kind,
            direction: Direction::Forward,
            init: self.request.init.map(|init| [init; N]),
            level: self.request.level,
            plan: None,
        };
        // SAFETY: passed on.
        unsafe { run(&request, io, self.line.len, plan, self.in_place) };
    }

    /// `N` lines from these offsets on; the direction is in the strides.
    ///
    /// # Safety
    ///
    /// The lines must exist.
    unsafe fn columns<const N: usize>(&self, [from, to]: [isize; 2]) -> Columns<T, U, A, N> {
        let [mut from_stride, mut to_stride] = self.line.strides;
        // SAFETY: index 0 of the line is in bounds, and so is its last index.
        let (mut from, mut to) = unsafe { (self.from.offset(from), self.to.offset(to)) };
        if self.request.direction == Direction::Reverse {
            let last = self.line.len as isize - 1;
            // SAFETY: as above.
            (from, to) = unsafe { (from.offset(last * from_stride), to.offset(last * to_stride)) };
            (from_stride, to_stride) = (-from_stride, -to_stride);
        }
        Columns { from, to, from_stride, to_stride, accumulator: PhantomData }
    }
}

/// The offsets of the `index`-th place of the axes, the last axis fastest.
fn offsets(axes: &[Axis], mut index: usize) -> [isize; 2] {
    let mut offsets = [0, 0];
    for axis in axes.iter().rev() {
        let i = (index % axis.len) as isize;
        index /= axis.len;
        for (offset, stride) in offsets.iter_mut().zip(axis.strides) {
            *offset += i * stride;
        }
    }
    offsets
}
