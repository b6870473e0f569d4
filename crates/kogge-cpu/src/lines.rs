//! Scans along one axis of an array: many lines, each a scan of its own.
//!
//! Lines that are contiguous in memory and follow one another are segments of equal length.
//! Contiguous ones that don't are scanned as slices. Lines side by side go together, across memory
//! order ([`columns`](crate::columns)), and so do short ones that are neither contiguous nor
//! sixteen side by side ([`scattered`](crate::scattered)). What is left has a stride of its own and
//! goes alone. Threads share out lines; when there are too few of them, each line is scanned by
//! many threads.

mod plan;

use crate::algorithm::group::LANES;
use crate::algorithm::io::Strided;
use crate::columns::{Columns, Lines, SECTIONS};
use crate::descent::Descent;
use crate::engine::{Request, run, scan_raw};
use crate::parts::{Parts, PerPart};
use crate::plan::{Machine, Plan};
use crate::pool::{self, Call};
use crate::scattered::Scattered;
use crate::segments::{Even, scan_segments};
use crate::together::Together;
use crate::tuning;
use kogge_core::{Accumulate, Direction, Element, Error, Operator, Problem};
use plan::{Strips, Way};
use std::marker::PhantomData;
use std::ops::Range;

pub use plan::{LinePlan, LineShape, plan_lines};

/// Bytes of the widest accumulators of lines that go together: the state of a strip holds some
/// hundreds of them, and wider elements fill cache lines alone.
const WIDEST: usize = 32;

/// Lines below which compact code scans each by itself, if it is long on all threads: strips are
/// cut along the lines in the other code only.
const FEW: usize = 1 << 10;

/// Elements a rayon task is given at least; fewer under Miri, so that short lines are shared out.
const TASK: usize = if cfg!(miri) { 1 << 8 } else { 1 << 14 };

/// An axis of an input and an output of the same shape.
///
/// ```
/// use kogge_core::ops::Sum;
/// use kogge_cpu::{Axis, PerPart, Request, scan_lines};
///
/// let mut data = [1, 0, 2, 0, 3, 0];
/// let (every_other, to) = (Axis { len: 3, strides: [2; 2] }, data.as_mut_ptr());
/// let (request, per) = (Request::<_, i32>::new(&Sum), PerPart::default());
/// // SAFETY: the axis reaches the places 0, 2 and 4.
/// unsafe { scan_lines(&request, per, to, to, every_other, &[], true)? };
/// assert_eq!(data, [1, 0, 3, 0, 6, 0]);
/// # Ok::<_, kogge_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Elements along the axis.
    pub len: usize,
    /// Elements from one index to the next, in the input and in the output.
    pub strides: [isize; 2],
}

/// A stride that no element's bytes overflow.
const MOST: isize = isize::MAX >> 16;

impl Axis {
    /// The same, with strides that may be multiplied: there need be no multiple in bytes of one
    /// that is never stepped by, and what has no bytes may have any.
    fn steady<T, U>(self) -> Self {
        let steady = |stride: isize, bytes: usize| match self.len {
            _ if bytes == 0 => 0,
            0 | 1 => stride.clamp(-MOST, MOST),
            _ => stride,
        };
        let [from, to] = self.strides;
        Self { strides: [steady(from, size_of::<T>()), steady(to, size_of::<U>())], ..self }
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
/// alone; outputs of distinct indices are distinct places. `to` may be `from` if their strides and
/// the sizes of their elements are equal too (`in_place`), else the two arrays don't overlap.
///
/// ```
/// use kogge_core::ops::Sum;
/// use kogge_cpu::{Axis, PerPart, Request, scan_lines};
///
/// let (table, mut sums) = ([1, 2, 3, 4, 5, 6], [0; 6]);
/// let (down, across) = (Axis { len: 2, strides: [3; 2] }, Axis { len: 3, strides: [1; 2] });
/// let (request, per) = (Request::<_, i32>::new(&Sum), PerPart::default());
/// let (from, to) = (table.as_ptr(), sums.as_mut_ptr());
/// // SAFETY: the axes reach six elements, and so many are there.
/// unsafe { scan_lines(&request, per, from, to, down, &[across], false)? };
/// assert_eq!(sums, [1, 2, 3, 5, 7, 9]);
/// # Ok::<_, kogge_core::Error>(())
/// ```
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
    debug_assert!(!in_place || size_of::<T>() == size_of::<U>(), "values overwrite other elements");
    let line = line.steady::<T, U>();
    // Nearly all are: another list would be felt by small tables.
    let steady: Vec<Axis>;
    let outer = if outer.iter().all(|axis| axis.steady::<T, U>() == *axis) {
        outer
    } else {
        steady = outer.iter().map(|axis| axis.steady::<T, U>()).collect();
        &steady
    };
    let (own, compact, exact) = (per.is_some(), O::COMPACT, O::EXACT);
    let shape = LineShape { line, outer, own, compact, exact };
    let (mut outer, lines) = (numbered(outer), shape.lines());
    per.check(lines, "line(s)")?;
    if lines == 0 || line.len == 0 {
        let totals = if per.totals.is_some() { lines } else { 0 };
        let parts = per.share(request.init);
        for line in 0..totals {
            // SAFETY: there are so many lines, as `check` saw, and nobody else puts their totals.
            unsafe { parts.put_total(request.operator, line, parts.init(line)) };
        }
        return Ok(());
    }
    let problem = request.problem::<T, U>(line.len, in_place);
    let way = plan::way(&problem, &shape, &outer);
    if const { !O::COMPACT } && matches!(way, Way::OnEnd) {
        let segments = Even { len: line.len, count: lines };
        // SAFETY: the lines are so many elements on end.
        return unsafe {
            scan_segments(request, &segments, per, from, to, lines * line.len, in_place)
        };
    }
    let parts = &per.share(request.init);
    let array = Array { request, parts, from, to, line, in_place };
    // SAFETY: passed on.
    unsafe {
        match way {
            Way::Scattered => array.scattered(&outer, lines),
            Way::Strips(beside) => {
                let beside = outer.remove(beside);
                array.strips(&problem, &shape, &outer, beside);
            }
            _ => array.for_each(&outer, |place, threads| {
                let plan = plan::plan_single(&problem, &shape, Machine::here(threads));
                array.single(place, plan);
            }),
        }
    }
    Ok(())
}

/// Whether contiguous lines follow one another without a gap; in the order of their numbers, if
/// those matter.
fn follow_one_another(line: Axis, outer: &[Outer], numbers: bool) -> bool {
    if line.strides != [1, 1] {
        return false;
    }
    let mut axes: Vec<Outer> = outer.iter().copied().filter(|axis| axis.len > 1).collect();
    if !numbers {
        axes.sort_unstable_by_key(|axis| std::cmp::Reverse(axis.strides[0]));
    }
    let mut end = line.len as isize;
    let dense = |axis: &Outer| {
        let follows = axis.strides[..2] == [end; 2];
        end = end.saturating_mul(axis.len as isize);
        follows
    };
    axes.iter().rev().all(dense)
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
    parts: &'a Parts<'a, A>,
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
    /// Calls `scan` for every index of the axes, with the offsets of input and output, the line's
    /// number, and the threads a call may use.
    fn for_each(&self, axes: &[Outer], scan: impl Fn([isize; 3], usize) + Sync) {
        let count: usize = axes.iter().map(|axis| axis.len).product();
        match plan::singly(count, self.line.len, rayon::current_num_threads()) {
            (1, threads) => (0..count).for_each(|index| scan(offsets(axes, index), threads)),
            (threads, _) => {
                let (_, at_least) = plan::shared(count, self.line.len, threads);
                pool::each(count, at_least, threads, &|index| scan(offsets(axes, index), 1));
            }
        }
    }

    /// Scans lines sixteen at a time, in the order of their numbers.
    ///
    /// # Safety
    ///
    /// As for [`scan_lines`]; there must be so many lines.
    unsafe fn scattered(&self, axes: &[Outer], lines: usize) {
        let tasks = lines.div_ceil(LANES);
        let threads = rayon::current_num_threads();
        let (threads, at_least) = plan::shared(tasks, LANES * self.line.len, threads);
        let scan = |descent: &mut Descent<A>, task: usize| {
            let numbers = task * LANES..lines.min((task + 1) * LANES);
            // SAFETY: there are such lines; each is one task's.
            unsafe { self.group_at(axes, numbers).scan(self.request, self.parts, descent) };
        };
        if threads == 1 {
            let mut descent = Descent::new();
            (0..tasks).for_each(|task| scan(&mut descent, task));
        } else {
            pool::ranges(tasks, at_least, threads, &|tasks| {
                let mut descent = Descent::new();
                tasks.flatten().for_each(|task| scan(&mut descent, task));
            });
        }
    }

    /// The lines of some numbers, sixteen at most.
    ///
    /// # Safety
    ///
    /// The lines must exist.
    unsafe fn group_at(&self, axes: &[Outer], numbers: Range<usize>) -> Scattered<T, U> {
        // SAFETY: passed on.
        let (first, to, strides) = unsafe { self.begin(offsets(axes, numbers.start)) };
        let mut group = Scattered {
            from: [first; LANES],
            to: [to; LANES],
            numbers: [numbers.start; LANES],
            count: numbers.len(),
            strides,
            len: self.line.len,
        };
        for (n, number) in numbers.enumerate().skip(1) {
            // SAFETY: passed on.
            let (from, to, _) = unsafe { self.begin(offsets(axes, number)) };
            (group.from[n], group.to[n], group.numbers[n]) = (from, to, number);
        }
        group
    }

    /// Scans lines side by side, for every index of the other axes.
    ///
    /// # Safety
    ///
    /// As for [`scan_lines`].
    unsafe fn strips(
        &self,
        problem: &Problem,
        shape: &LineShape<'_>,
        outer: &[Outer],
        beside: Outer,
    ) {
        let count: usize = outer.iter().map(|axis| axis.len).product();
        let values = self.line.len.saturating_mul(beside.len).saturating_mul(count) as u64;
        let machine = Machine::here(rayon::current_num_threads());
        let call = if plan::alone(values.saturating_mul(size_of::<U>() as u64), machine) {
            pool::alone();
            None
        } else {
            let bytes = values.saturating_mul(size_of::<T>() as u64);
            Call::begin_from(bytes, tuning::awake_shared_bytes(machine.cpu))
        };
        let awake = call.as_ref().is_some_and(|call| call.awake);
        let machine = Machine { awake, ..machine };
        let plan = Strips::new(problem, shape, beside.len, count, machine, self.to.addr());
        let Strips { cut, tasks, threads, at_least, together, stream } = plan;
        let strips = cut.strips();
        let columns = Columns { request: self.request, parts: self.parts };
        let strip = |task: usize| {
            // SAFETY: there are such lines.
            let lines = unsafe { self.side_by_side(offsets(outer, task / strips), beside, stream) };
            lines.part(cut.strip(task % strips))
        };
        let scan = |task: usize, descents: &mut [Descent<A>; SECTIONS]| {
            // SAFETY: there is a task for each strip.
            unsafe { columns.strip(&strip(task), descents) };
        };
        let descents = || std::array::from_fn(|_| Descent::new());
        if threads == 1 {
            let mut descents = descents();
            (0..tasks).for_each(|task| scan(task, &mut descents));
        } else if const { !O::COMPACT } && together {
            // SAFETY: as above.
            (0..tasks).for_each(|task| unsafe {
                Together::new(&columns, &strip(task), self.in_place).run(threads);
            });
        } else {
            pool::ranges(tasks, at_least, threads, &|tasks| {
                let mut descents = descents();
                tasks.flatten().for_each(|task| scan(task, &mut descents));
            });
        }
    }

    /// The lines at these offsets; the direction is in the strides.
    ///
    /// # Safety
    ///
    /// The lines must exist.
    unsafe fn side_by_side(&self, offsets: [isize; 3], beside: Outer, stream: bool) -> Lines<T, U> {
        // SAFETY: passed on.
        let (from, to, strides) = unsafe { self.begin(offsets) };
        Lines {
            from,
            to,
            strides,
            len: self.line.len,
            count: beside.len,
            number: offsets[2],
            beside: beside.strides[2],
            stream,
        }
    }

    /// One line.
    ///
    /// # Safety
    ///
    /// The line must exist, and be this call's alone.
    unsafe fn single(&self, place: [isize; 3], plan: Plan) {
        let line = place[2] as usize;
        let request = Request { init: self.parts.init(line), plan: Some(plan), ..*self.request };
        let len = self.line.len;
        // SAFETY: the line's places are in bounds by contract.
        unsafe {
            let total = if self.line.strides == [1, 1] {
                let (from, to) = (self.from.offset(place[0]), self.to.offset(place[1]));
                scan_raw(&request, from, to, len, self.in_place)
            } else {
                let (from, to, strides) = self.begin(place);
                let io = Strided { from, to, strides, accumulator: PhantomData };
                run(&request, io, len, plan, self.in_place)
            };
            self.parts.put_total(request.operator, line, total);
        }
    }

    /// Where the scan of a line begins, and its strides: from the end if that is the direction.
    ///
    /// # Safety
    ///
    /// The line must exist.
    unsafe fn begin(&self, [from, to, _]: [isize; 3]) -> (*const T, *mut U, [isize; 2]) {
        let strides = self.line.strides;
        // SAFETY: index 0 of the line is in bounds, and so is its last index.
        unsafe {
            let (from, to) = (self.from.offset(from), self.to.offset(to));
            match self.request.direction {
                Direction::Forward => (from, to, strides),
                Direction::Reverse => {
                    let last = self.line.len as isize - 1;
                    let (from, to) = (from.offset(last * strides[0]), to.offset(last * strides[1]));
                    (from, to, strides.map(isize::wrapping_neg))
                }
            }
        }
    }
}

/// The offsets of the `index`-th place of the axes, the last axis fastest.
fn offsets(axes: &[Outer], mut index: usize) -> [isize; 3] {
    let mut offsets = [0; 3];
    for (k, axis) in axes.iter().enumerate().rev() {
        // The first axis takes what is left; most arrays have no other.
        let i = if k == 0 { index } else { index % axis.len } as isize;
        index = if k == 0 { 0 } else { index / axis.len };
        for (offset, stride) in offsets.iter_mut().zip(axis.strides) {
            *offset += i * stride;
        }
    }
    offsets
}
