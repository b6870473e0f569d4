//! A scan of a few rows at most, by itself: what many short segments are made of.
//!
//! Up to two chunks the order is a plain left fold, and for exact operators any order will do. What
//! is longer goes through the lanes of a row; lanes behind the end hold whatever lies there, which
//! never moves towards the beginning.
//!
//! The kernel of many full rows is a call away from the loop that goes through segments: with the
//! kernel inside, compiling the loop took minutes.

use super::format::Whole;
use super::rows;
use super::shape::{Shape, by_shape, shape};
use super::tile::{Beside, ReduceSegment, ScanSegment, join, through};
use super::{arrays, compact};
use crate::arch::stream::ROW;
use crate::arch::{Level, Words};
use kogge_core::{Element, Kind, Operator, Order};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::slice;

/// Elements that exact operators scan one by one; more are worth a vector.
const ONE_BY_ONE: usize = 16;

/// Full rows that are worth a call; fewer go one by one.
const FULL_ROWS: usize = 4;

/// Where a part's values lie.
#[derive(Clone, Copy)]
pub(crate) struct Part<A> {
    /// The first element.
    pub(crate) from: *const A,
    /// The first value; may be `from`.
    pub(crate) to: *mut A,
    /// Elements; [`longest`] at most.
    pub(crate) len: usize,
    /// Elements that are readable from `from` on, `len` or more.
    pub(crate) readable: usize,
    /// Values from `to` on that may be overwritten, `len` or more; what is behind the part will be
    /// written later, and was not yet to be read if the output overwrites the input.
    pub(crate) writable: usize,
    /// Whether the part's fold is asked for.
    pub(crate) folded: bool,
}

impl<A> Part<A> {
    /// What is left behind some of its elements.
    ///
    /// # Safety
    ///
    /// `done` must be no more than `len`.
    unsafe fn behind(&self, done: usize) -> Self {
        // SAFETY: so many elements are there.
        let (from, to) = unsafe { (self.from.add(done), self.to.add(done)) };
        let (readable, writable) = (self.readable - done, self.writable - done);
        Self { from, to, len: self.len - done, readable, writable, folded: self.folded }
    }
}

/// Elements of the longest part.
pub(crate) const fn longest<T, A: Element, O: Operator<A>>() -> usize {
    match shape::<Whole, T, A, O>() {
        // By themselves, as slices: what is inlined here has many of them on the stack, where the
        // compiler doesn't optimise.
        _ if size_of::<A>() > arrays::LARGE => 0,
        Shape::Exact | Shape::Array => Order::of::<T>().row(),
        Shape::Narrow(_) | Shape::Wide(_) => Order::of::<T>().segment(),
    }
}

/// Scans a part and gives its fold if that is asked for; `T` is the element as it lies in memory,
/// which fixes the order.
///
/// # Safety
///
/// The part must be as its fields say, readable and writable by this call alone, and `0 < len`; the
/// CPU features of `W32` and `W64`, the level's words, must be present.
#[inline(always)]
pub(crate) unsafe fn scan<W32, W64, T, A, O>(
    level: Level,
    operator: &O,
    kind: Kind,
    part: Part<A>,
    before: Option<A>,
) -> Option<A>
where
    W32: Words<Word = u32>,
    W64: Words<Word = u64>,
    T: Element,
    A: Element,
    O: Operator<A>,
{
    let order = const { Order::of::<T>() };
    if const { O::COMPACT } {
        debug_assert!(std::ptr::eq(part.from, part.to));
        // SAFETY: compact code has its elements in a stage, where they are scanned in place.
        let data = unsafe { slice::from_raw_parts_mut(part.to, part.len) };
        return compact::scan_part(operator, order, kind, data, before, part.folded);
    }
    let one_by_one = match (O::EXACT, before) {
        (true, _) => ONE_BY_ONE,
        (false, Some(_)) => order.chunk(),
        (false, None) => 2 * order.chunk(),
    };
    // SAFETY: passed on; the size of `A` is what the arm says.
    unsafe {
        if part.len <= one_by_one {
            return left_fold(operator, kind, order, part, before);
        }
        by_shape! { shape::<Whole, T, A, O>();
            Shape::Narrow(1) => vector::<W32, T, A, O, 1>(level, operator, kind, part, before),
            Shape::Narrow(2) => vector::<W32, T, A, O, 2>(level, operator, kind, part, before),
            Shape::Narrow(_) => vector::<W32, T, A, O, 4>(level, operator, kind, part, before),
            Shape::Wide(1) => vector::<W64, T, A, O, 1>(level, operator, kind, part, before),
            Shape::Wide(_) => vector::<W64, T, A, O, 2>(level, operator, kind, part, before),
            Shape::Exact => left_fold(operator, kind, order, part, before),
            Shape::Array => {
                let Part { from, to, len, .. } = part;
                Some(arrays::scan_row(operator, order, kind, from, to, len, before))
            },
        }
    }
}

/// # Safety
///
/// As for [`scan`]; the part must be two chunks at most, or the operator exact.
#[inline(always)]
unsafe fn left_fold<A: Element, O: Operator<A>>(
    operator: &O,
    kind: Kind,
    order: Order,
    part: Part<A>,
    mut before: Option<A>,
) -> Option<A> {
    // SAFETY: the part is readable; nothing of it was overwritten yet.
    let fold = unsafe { part.folded.then(|| short_fold(operator, order, part.from, part.len)) };
    for i in 0..part.len {
        // SAFETY: `i < len`; element `i` is read before value `i` is written.
        unsafe {
            let element = *part.from.add(i);
            let through = before.map_or(element, |before| operator.combine(before, element));
            *part.to.add(i) = match kind {
                Kind::Inclusive => through,
                Kind::Exclusive => before.unwrap_or_else(|| operator.identity()),
            };
            before = Some(through);
        }
    }
    fold
}

/// The fold of two chunks at most, or by an exact operator.
///
/// # Safety
///
/// `len` accumulators must be readable at `from`; `0 < len`.
#[inline(always)]
unsafe fn short_fold<A: Element, O: Operator<A>>(
    operator: &O,
    order: Order,
    from: *const A,
    len: usize,
) -> A {
    let chunk = order.chunk();
    // SAFETY: passed on; what is left is not empty.
    unsafe {
        if O::EXACT || len <= chunk {
            return arrays::fold(operator, from, len);
        }
        let first = arrays::fold(operator, from, chunk);
        operator.combine(first, arrays::fold(operator, from.add(chunk), len - chunk))
    }
}

/// The fold of less than a row.
///
/// # Safety
///
/// As for [`short_fold`].
#[inline(always)]
unsafe fn long_fold<T: Element, A: Element, O: Operator<A>>(
    level: Level,
    operator: &O,
    from: *const A,
    len: usize,
) -> A {
    if const { O::EXACT } {
        let types = PhantomData;
        return level.run(ReduceSegment::<Whole, T, A, O> { operator, from, len, types });
    }
    // SAFETY: passed on.
    unsafe { arrays::reduce_part(operator, const { Order::of::<T>() }, from, len) }
}

/// # Safety
///
/// As for [`scan`]; `A` must be `W` words of `H`, and a row of it 512 bytes.
#[inline(always)]
unsafe fn vector<H: Words, T: Element, A: Element, O: Operator<A>, const W: usize>(
    level: Level,
    operator: &O,
    kind: Kind,
    part: Part<A>,
    mut before: Option<A>,
) -> Option<A> {
    let order = const { Order::of::<T>() };
    let full = part.len / order.row();
    let mut fold = None;
    // SAFETY: so many full rows are in the part; the rest as `beginning` says.
    unsafe {
        if full >= FULL_ROWS {
            let Part { from, to, folded, .. } = part;
            let (len, types) = (full * order.row(), PhantomData);
            if const { through::<Whole, A, O>() } && folded {
                let rows = ReduceSegment::<Whole, T, A, O> { operator, from, len, types };
                fold = Some(level.run(rows));
            }
            let (beside, stream, mut after) = (Beside::Nothing, false, None);
            let rows = ScanSegment::<Whole, T, A, O> {
                operator,
                kind,
                from,
                to,
                len,
                before,
                prefix: None,
                beside,
                stream,
                after: Some(&mut after),
                types,
            };
            let (folded, _) = level.run(rows);
            before = after;
            if const { !through::<Whole, A, O>() } {
                fold = Some(folded);
            }
        } else {
            for row in 0..full {
                let Part { from, to, .. } = part.behind(row * order.row());
                let groups = H::GROUPS;
                let total =
                    rows::scan_beginning::<H, A, O, W>(operator, kind, from, to, groups, before);
                fold = Some(join(operator, fold, total));
                before = Some(join(operator, before, total));
            }
        }
        let rest = part.behind(full * order.row());
        if rest.len > 0 {
            if rest.folded {
                let total = long_fold::<T, A, O>(level, operator, rest.from, rest.len);
                fold = Some(join(operator, fold, total));
            }
            beginning::<H, A, O, W>(operator, kind, order, rest, before);
        }
    }
    fold
}

/// Room for a row, in whole cache lines.
#[repr(align(64))]
struct Room {
    _row: [u8; ROW],
}

/// Scans less than a row.
///
/// # Safety
///
/// As for [`vector`].
#[inline(always)]
unsafe fn beginning<H: Words, A: Element, O: Operator<A>, const W: usize>(
    operator: &O,
    kind: Kind,
    order: Order,
    part: Part<A>,
    before: Option<A>,
) {
    let Part { from, to, len, readable, writable, .. } = part;
    let mut room = MaybeUninit::<Room>::uninit();
    let row = room.as_mut_ptr().cast::<A>();
    let groups = len.div_ceil(order.chunk() * H::LANES);
    // SAFETY: `row` is all that is read where memory has less than a row, and all that is written;
    // reads and writes are unaligned.
    unsafe {
        let from = if readable >= order.row() {
            from
        } else {
            // An operator sees no values but such as there are.
            let some = from.read();
            for i in 0..order.row() {
                row.add(i).write(some);
            }
            row.copy_from_nonoverlapping(from, len);
            row.cast_const()
        };
        if groups == 1 {
            rows::scan_beginning::<H, A, O, W>(operator, kind, from, row, 1, before);
        } else {
            rows::scan_beginning::<H, A, O, W>(operator, kind, from, row, H::GROUPS, before);
        }
        put(row.cast::<u8>(), to.cast::<u8>(), len * size_of::<A>(), writable * size_of::<A>());
    }
}

/// Copies `bytes` bytes, in whole lines where there is room for them.
///
/// # Safety
///
/// A row must be readable at `from`, `writable` bytes writable at `to`, and `bytes` be no more than
/// either.
#[inline(always)]
unsafe fn put(from: *const u8, to: *mut u8, bytes: usize, writable: usize) {
    type Line = [u64; 8];
    let lines = bytes.div_ceil(size_of::<Line>());
    // SAFETY: bounds by contract.
    unsafe {
        if lines * size_of::<Line>() <= writable {
            for line in 0..lines {
                let line = line * size_of::<Line>();
                let copied = from.add(line).cast::<Line>().read_unaligned();
                to.add(line).cast::<Line>().write_unaligned(copied);
            }
        } else {
            to.copy_from_nonoverlapping(from, bytes);
        }
    }
}
