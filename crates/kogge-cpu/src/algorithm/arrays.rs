//! Rows by array: any element, any length, no intrinsics.
//!
//! The same order as [`rows`](super::rows), written as loops over arrays of 32 chunk totals, which
//! the compiler vectorises as it can. It serves what isn't made of whole words (1- and 2-byte
//! elements, elements wider than a chunk, accumulators wider than their elements) and every
//! unfinished row.

use kogge_core::{Element, Kind, Operator, Order};

const CHUNKS: usize = Order::CHUNKS_PER_ROW;

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
    // SAFETY: passed on.
    let totals = unsafe { chunk_totals(operator, order, from, len) };
    let chunks = len.div_ceil(order.chunk());
    let totals = kogge_stone(operator, totals, chunks);
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
    // SAFETY: passed on.
    let totals = unsafe { chunk_totals(operator, order, from, len) };
    let chunks = len.div_ceil(order.chunk());
    kogge_stone(operator, totals, chunks)[chunks - 1]
}

/// The fold of each chunk; places without a chunk hold zeros.
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
) -> [A; CHUNKS] {
    let mut totals = [A::zeroed(); CHUNKS];
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
    totals
}

/// # Safety
///
/// `len` accumulators must be readable at `from`; `len` is not 0.
#[inline(always)]
unsafe fn fold<A: Element, O: Operator<A>>(operator: &O, from: *const A, len: usize) -> A {
    // SAFETY: in bounds by contract.
    unsafe {
        let mut total = *from;
        for i in 1..len {
            total = operator.combine(total, *from.add(i));
        }
        total
    }
}

/// The Kogge–Stone values of the first `chunks` totals.
#[inline(always)]
fn kogge_stone<A: Element, O: Operator<A>>(
    operator: &O,
    mut totals: [A; CHUNKS],
    chunks: usize,
) -> [A; CHUNKS] {
    if chunks == CHUNKS {
        // Constant bounds and separate arrays, so that each step can be vector operations.
        totals = stride::<A, O, 1>(operator, &totals);
        totals = stride::<A, O, 2>(operator, &totals);
        totals = stride::<A, O, 4>(operator, &totals);
        totals = stride::<A, O, 8>(operator, &totals);
        return stride::<A, O, 16>(operator, &totals);
    }
    let mut distance = 1;
    while distance < chunks {
        for i in (distance..chunks).rev() {
            totals[i] = operator.combine(totals[i - distance], totals[i]);
        }
        distance *= 2;
    }
    totals
}

#[inline(always)]
fn stride<A: Element, O: Operator<A>, const S: usize>(
    operator: &O,
    totals: &[A; CHUNKS],
) -> [A; CHUNKS] {
    let mut next = *totals;
    for i in S..CHUNKS {
        next[i] = operator.combine(totals[i - S], totals[i]);
    }
    next
}
