//! Scans along one axis of an array: many lines, each a scan of its own.
//!
//! Lines that are contiguous in memory are scanned as slices. Across memory order, sixteen
//! neighbouring lines of elements up to 32 bytes go together: one element of each makes a 16-lane
//! element, so whole cache lines are used and the operator is vectorised across lines, in the order
//! of the single line.
//! Threads share out lines; when there are too few of them, each line is scanned by many threads.

use crate::algorithm::io::{Columns, Io};
use crate::engine::{Request, run, scan_raw};
use crate::parts::{Parts, PerPart};
use crate::plan::{Machine, Plan, plan};
use kogge_core::{Accumulate, Direction, Element, Error, Operator, Problem};
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

/// Scans every line along `line`; the other axes are `outer`, and their indices number the lines,
/// the last axis fastest. `from` and `to` are the elements with index 0 on all axes.
///
/// # Errors
///
/// If there isn't one initial value, or one place for a total, per line. Nothing is written then.
///
/// # Safety
///
/// Every element the axes reach must be readable at `from` and writable at `to`, by this call
/// alone; outputs of distinct indices are distinct places. `to` may be `from` if their strides are
/// equal too (`in_place`), else the two arrays don't overlap.
pub unsafe fn scan_lines<T, U, A, O>(
    request: &Request<'_, O, A>,
    per: PerPart<'_, A>,
    from: *const T,
    to: *mut U,
    line: Axis,
    outer: &[Axis],
    in_place: bool,
) -> Result<(), Error>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element<Accumulator = A>,
    O: Operator<A>,
{
    let mut outer = numbered(outer);
    let lines = match outer.iter().any(|axis| axis.len == 0) {
        true => 0,
        false => outer.iter().fold(1usize, |lines, axis| lines.saturating_mul(axis.len)),
    };
    per.check(lines, "line(s)")?;
    let totals = per.totals.is_some();
    let parts = per.share(request.init);
    if lines == 0 || line.len == 0 {
        // SAFETY: there are so many lines, as `check` saw, and nobody else puts their totals.
        let put = |line| unsafe { parts.put_total(request.operator, line, parts.init(line)) };
        (0..if totals { lines } else { 0 }).for_each(put);
        return Ok(());
    }
    let mut array = Array { request, parts, from, to, line, beside: 0, in_place };
    let mut together = None;
    if line.strides != [1, 1] && size_of::<A>() <= WIDEST {
        // Lines side by side in memory go together.
        let beside = outer.iter().position(|axis| axis.strides[..2] == [1, 1] && axis.len > 1);
        together = beside.map(|axis| outer.swap_remove(axis));
    }
    // SAFETY: passed on.
    unsafe {
        match together {
            None => array.for_each(&outer, 1, |place, threads| array.single(place, threads)),
            Some(Outer { len, strides: [.., number] }) => {
                array.beside = number;
                let groups = len / TOGETHER;
                let group = |n, width: usize| {
                    let width = width as isize;
                    Outer { len: n, strides: [width, width, width * number] }
                };
                let full: Vec<Outer> =
                    outer.iter().copied().chain([group(groups, TOGETHER)]).collect();
                array.for_each(&full, TOGETHER, |place, threads| array.sixteen(place, threads));
                let done = (groups * TOGETHER) as isize;
                let rest: Vec<Outer> =
                    outer.iter().copied().chain([group(len % TOGETHER, 1)]).collect();
                array.for_each(&rest, 1, |[from, to, line], threads| {
                    array.single([from + done, to + done, line + done * number], threads)
                });
            }
        }
    }
    Ok(())
}

/// An axis across the lines: the strides of the input, of the output, and of the lines' numbers.
#[derive(Clone, Copy)]
struct Outer {
    len: usize,
    strides: [isize; 3],
}

/// The axes across the lines, with numbers that count the last one fastest.
fn numbered(axes: &[Axis]) -> Vec<Outer> {
    let mut number = 1isize;
    let mut outer: Vec<Outer> = axes
        .iter()
        .rev()
        .map(|&Axis { len, strides: [from, to] }| {
            let axis = Outer { len, strides: [from, to, number] };
            number = number.saturating_mul(len as isize);
            axis
        })
        .collect();
    outer.reverse();
    outer
}

/// What all lines have in common.
struct Array<'a, 'b, T, U, A, O> {
    request: &'a Request<'b, O, A>,
    parts: Parts<'a, A>,
    from: *const T,
    to: *mut U,
    line: Axis,
    /// From the number of a line to that of the line beside it.
    beside: isize,
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
    /// Calls `scan` for every index of the axes, with the offsets of input and output, the line's
    /// number, and the threads a call may use; `width` lines a call.
    fn for_each(&self, axes: &[Outer], width: usize, scan: impl Fn([isize; 3], usize) + Sync) {
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
    unsafe fn single(&self, [from, to, line]: [isize; 3], threads: usize) {
        let plan = self.plan(1, threads);
        // SAFETY: the line's places are in bounds by contract.
        unsafe {
            if self.line.strides == [1, 1] {
                let init = self.parts.init(line as usize);
                let request = Request { plan: Some(plan), init, ..*self.request };
                let (from, to) = (self.from.offset(from), self.to.offset(to));
                let total = scan_raw(&request, from, to, self.line.len, self.in_place);
                self.parts.put_total(request.operator, line as usize, total);
            } else {
                self.run::<1, _>(self.columns::<1>([from, to]), line, plan);
            }
        }
    }

    /// Sixteen lines side by side.
    ///
    /// # Safety
    ///
    /// The lines must exist, and be this call's alone.
    unsafe fn sixteen(&self, [from, to, line]: [isize; 3], threads: usize) {
        let plan = self.plan(TOGETHER, threads);
        // SAFETY: passed on.
        unsafe { self.run::<TOGETHER, _>(self.columns([from, to]), line, plan) }
    }

    /// `N` lines, the first of which has this number.
    ///
    /// # Safety
    ///
    /// The memory of `io` must be this call's alone, and so the totals of the lines.
    unsafe fn run<const N: usize, I: Io<[A; N]>>(&self, io: I, line: isize, plan: Plan) {
        let number = |n: usize| (line + n as isize * self.beside) as usize;
        let init = self.parts.init(number(0)).map(|first| {
            let mut init = [first; N];
            for (n, init) in init.iter_mut().enumerate().skip(1) {
                *init = self.parts.init(number(n)).unwrap_or(first);
            }
            init
        });
        let request = Request {
            operator: &Across(self.request.operator),
            kind: self.request.kind,
            direction: Direction::Forward,
            init,
            level: self.request.level,
            plan: None,
        };
        // SAFETY: passed on.
        unsafe {
            let total = run(&request, io, self.line.len, plan, self.in_place);
            for n in 0..N {
                let total = total.map(|total| total[n]);
                self.parts.put_total(self.request.operator, number(n), total);
            }
        }
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
fn offsets(axes: &[Outer], mut index: usize) -> [isize; 3] {
    let mut offsets = [0; 3];
    for axis in axes.iter().rev() {
        let i = (index % axis.len) as isize;
        index /= axis.len;
        for (offset, stride) in offsets.iter_mut().zip(axis.strides) {
            *offset += i * stride;
        }
    }
    offsets
}
