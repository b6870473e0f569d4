//! Rows by array: any element, any length, no intrinsics.
//!
//! The same order as [`rows`](super::rows), written as loops over arrays of 32 chunk totals, which
//! the compiler vectorises as it can. It serves what isn't made of whole words (1- and 2-byte
//! elements, elements wider than a chunk, accumulators wider than their elements) and every
//! unfinished row.

use crate::array::for_each;
use kogge_core::{Element, Kind, Operator, Order};

const CHUNKS: usize = Order::CHUNKS_PER_ROW;

/// Bytes from which accumulators are large: a row of them on the stack, in several copies, would
/// be too much for a thread.
pub(super) const LARGE: usize = 512;

/// Scans up to a row and gives its fold. `to` may be `from`.
///
/// # Safety
///
/// `len` accumulators must be readable at `from` and writable at `to`, equal or not overlapping;
/// `0 < len <= order.row()`.
#[inline(always)]
pub(super) unsafe fn scan_row<A: Element, O: Operator<A>>(
    operator: &O,
    order: Order,
    kind: Kind,
    from: *const A,
    to: *mut A,
    len: usize,
    before: Option<A>,
) -> A {
    let mut totals = Totals::new();
    let totals = totals.get();
    // SAFETY: passed on.
    unsafe { chunk_totals(operator, order, from, len, totals) };
    let chunks = len.div_ceil(order.chunk());
    kogge_stone(operator, totals, chunks);
    for c in 0..chunks {
        let start = c * order.chunk();
        let end = len.min(start + order.chunk());
        let mut value = match (before, c) {
            (before, 0) => before,
            (None, _) => Some(totals[c - 1]),
            (Some(before), _) => Some(operator.combine(before, totals[c - 1])),
        };
        for i in start..end {
            // SAFETY: `i < len`; element `i` is read before value `i` is written.
            unsafe {
                let through = match value {
                    Some(value) => operator.combine(value, *from.add(i)),
                    None => *from.add(i),
                };
                *to.add(i) = match kind {
                    Kind::Inclusive => through,
                    Kind::Exclusive => value.unwrap_or_else(|| operator.identity()),
                };
                value = Some(through);
            }
        }
    }
    totals[chunks - 1]
}

/// The fold of up to a row.
///
/// # Safety
///
/// `len` accumulators must be readable at `from`; `0 < len <= order.row()`.
#[inline(always)]
pub(super) unsafe fn reduce_row<A: Element, O: Operator<A>>(
    operator: &O,
    order: Order,
    from: *const A,
    len: usize,
) -> A {
    let mut totals = Totals::new();
    let totals = totals.get();
    // SAFETY: passed on.
    unsafe { chunk_totals(operator, order, from, len, totals) };
    let chunks = len.div_ceil(order.chunk());
    kogge_stone(operator, totals, chunks);
    totals[chunks - 1]
}

/// As [`reduce_row`], with the combinations alone that the last Kogge–Stone value is made of:
/// little code, for loops that have much else in them. The accumulator isn't large.
///
/// # Safety
///
/// As for [`reduce_row`].
#[inline(always)]
pub(super) unsafe fn reduce_part<A: Element, O: Operator<A>>(
    operator: &O,
    order: Order,
    from: *const A,
    len: usize,
) -> A {
    let mut totals = [A::zeroed(); CHUNKS];
    // SAFETY: passed on.
    unsafe { chunk_totals(operator, order, from, len, &mut totals) };
    let last = len.div_ceil(order.chunk()) - 1;
    let mut distance = 1;
    while distance <= last {
        for i in (distance..last + 1).rev().step_by(2 * distance) {
            totals[i] = operator.combine(totals[i - distance], totals[i]);
        }
        distance *= 2;
    }
    totals[last]
}

/// Room for the totals of a row's chunks: on the stack, or on the heap where it is large.
pub(super) enum Totals<A> {
    Stack([A; CHUNKS]),
    Heap(Vec<A>),
}

impl<A: Element> Totals<A> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        if const { size_of::<A>() > LARGE } {
            Self::Heap(vec![A::zeroed(); CHUNKS])
        } else {
            Self::Stack([A::zeroed(); CHUNKS])
        }
    }

    #[inline(always)]
    pub(super) fn get(&mut self) -> &mut [A; CHUNKS] {
        match self {
            Self::Stack(totals) => totals,
            Self::Heap(totals) => totals.first_chunk_mut().expect("that many were made"),
        }
    }
}

/// Puts the fold of each chunk into `totals`.
///
/// # Safety
///
/// `len` accumulators must be readable at `from`; `0 < len <= order.row()`.
#[inline(always)]
unsafe fn chunk_totals<A: Element, O: Operator<A>>(
    operator: &O,
    order: Order,
    from: *const A,
    len: usize,
    totals: &mut [A; CHUNKS],
) {
    let whole = len / order.chunk();
    for (c, total) in totals.iter_mut().enumerate().take(whole) {
        // SAFETY: the chunk is whole, so in bounds.
        *total = unsafe { fold(operator, from.add(c * order.chunk()), order.chunk()) };
    }
    if whole * order.chunk() < len {
        let start = whole * order.chunk();
        // SAFETY: what is left of the row is not empty.
        totals[whole] = unsafe { fold(operator, from.add(start), len - start) };
    }
}

/// A left fold.
///
/// # Safety
///
/// `len` accumulators must be readable at `from`; `len` is not 0.
#[inline(always)]
pub(super) unsafe fn fold<A: Element, O: Operator<A>>(
    operator: &O,
    from: *const A,
    len: usize,
) -> A {
    // SAFETY: in bounds by contract.
    unsafe {
        let mut total = *from;
        for i in 1..len {
            total = operator.combine(total, *from.add(i));
        }
        total
    }
}

/// Turns the first `chunks` totals into their Kogge–Stone values.
#[inline(always)]
fn kogge_stone<A: Element, O: Operator<A>>(operator: &O, totals: &mut [A; CHUNKS], chunks: usize) {
    if chunks == CHUNKS && const { size_of::<A>() <= LARGE } {
        // Constant bounds and separate arrays, so that each step can be vector operations.
        let next = stride::<A, O, 1>(operator, totals);
        let next = stride::<A, O, 2>(operator, &next);
        let next = stride::<A, O, 4>(operator, &next);
        let next = stride::<A, O, 8>(operator, &next);
        *totals = stride::<A, O, 16>(operator, &next);
        return;
    }
    let mut distance = 1;
    while distance < chunks {
        for i in (distance..chunks).rev() {
            totals[i] = operator.combine(totals[i - distance], totals[i]);
        }
        distance *= 2;
    }
}

#[inline(always)]
fn stride<A: Element, O: Operator<A>, const S: usize>(
    operator: &O,
    totals: &[A; CHUNKS],
) -> [A; CHUNKS] {
    let mut next = *totals;
    for_each!(S..CHUNKS, |i| {
        next[i] = operator.combine(totals[i - S], totals[i]);
    });
    next
}
