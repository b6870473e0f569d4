//! What is left of a row of halves: widened, scanned as an array, and narrowed.

use super::arrays;
use super::format::Format;
use kogge_core::{Element, Kind, Operator, Order};
use std::mem::MaybeUninit;

/// Elements of a row of halves.
const ROW: usize = Order::of_size(2).row();

/// Scans less than a row and gives its fold. `to` may be `from`.
///
/// # Safety
///
/// `len` elements must be readable at `from` and writable at `to`, equal or not overlapping;
/// they are two bytes each; `len` is not 0, and less than a row.
#[inline(always)]
pub(super) unsafe fn scan_row<F: Format, A: Element, O: Operator<A>>(
    operator: &O,
    order: Order,
    kind: Kind,
    from: *const A,
    to: *mut A,
    len: usize,
    before: Option<A>,
) -> A {
    let mut stage = [const { MaybeUninit::<A>::uninit() }; ROW];
    let stage = stage.as_mut_ptr().cast::<A>();
    // SAFETY: the stage holds a row; elements and values are in bounds by contract.
    unsafe {
        widen::<F, A>(from, len, stage);
        let total = arrays::scan_row(operator, order, kind, stage, stage, len, before);
        for i in 0..len {
            F::put(to, i, *stage.add(i));
        }
        total
    }
}

/// The fold of less than a row.
///
/// # Safety
///
/// As for [`scan_row`], without the writing.
#[inline(always)]
pub(super) unsafe fn reduce_row<F: Format, A: Element, O: Operator<A>>(
    operator: &O,
    order: Order,
    from: *const A,
    len: usize,
) -> A {
    let mut stage = [const { MaybeUninit::<A>::uninit() }; ROW];
    let stage = stage.as_mut_ptr().cast::<A>();
    // SAFETY: the stage holds a row; elements are in bounds by contract.
    unsafe {
        widen::<F, A>(from, len, stage);
        arrays::reduce_row(operator, order, stage, len)
    }
}

/// # Safety
///
/// `len` elements must be readable at `from`, and so many accumulators writable at `stage`.
#[inline(always)]
unsafe fn widen<F: Format, A: Element>(from: *const A, len: usize, stage: *mut A) {
    for i in 0..len {
        // SAFETY: in bounds by contract.
        unsafe { stage.add(i).write(F::get(from, i)) };
    }
}
