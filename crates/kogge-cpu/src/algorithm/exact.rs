//! Short elements under operators that round nothing: any order gives the bits of the fixed one.
//!
//! A chunk of 1- or 2-byte elements is long, so transposing rows as [`rows`](super::rows) does
//! would cost more than it saves. Where every order is as good, a Kogge–Stone scan over 64
//! neighbours does without: each of its steps is a few vector operations on an array and the same
//! array, shifted. Several arrays go through the steps together, which hides the latency of each.

use super::folds::Folds;
use super::tile::join;
use crate::array::for_each;
use kogge_core::{Element, Kind, Operator};

/// Elements of an array.
const LANES: usize = 64;

/// Arrays whose dependency chains overlap.
const BATCH: usize = 8;

/// Elements that go through at a time.
pub(super) const BLOCK: usize = LANES * BATCH;

type Arrays<A> = [[A; LANES]; BATCH];

/// Scans blocks and gives their fold, and the same with `before`. `to` may be `from`.
///
/// # Safety
///
/// `blocks` times [`BLOCK`] accumulators must be readable at `from` and writable at `to`, equal or
/// not overlapping; `blocks` is not 0.
#[inline(always)]
pub(super) unsafe fn scan<A: Element, O: Operator<A>>(
    operator: &O,
    kind: Kind,
    from: *const A,
    to: *mut A,
    blocks: usize,
    before: Option<A>,
) -> (Folds<A>, Option<A>) {
    let (mut fold, mut run) = (None, before);
    for block in 0..blocks {
        // SAFETY: the block is in bounds; it is read as a whole before it is written.
        unsafe {
            let arrays = from.add(block * BLOCK).cast::<Arrays<A>>().read_unaligned();
            let mut scanned = kogge_stone(operator, &arrays);
            for array in &mut scanned {
                let total = array[LANES - 1];
                finish(operator, kind, array, run);
                run = Some(join(operator, run, total));
                fold = Some(join(operator, fold, total));
            }
            to.add(block * BLOCK).cast::<Arrays<A>>().write_unaligned(scanned);
        }
    }
    let mut folds = Folds::new(before);
    if let Some(f) = fold {
        folds.push(operator, f);
    }
    (folds, None)
}

/// The fold of blocks.
///
/// # Safety
///
/// `blocks` times [`BLOCK`] accumulators must be readable at `from`; `blocks` is not 0.
#[inline(always)]
pub(super) unsafe fn reduce<A: Element, O: Operator<A>>(
    operator: &O,
    from: *const A,
    blocks: usize,
) -> A {
    let mut fold = None;
    for block in 0..blocks {
        // SAFETY: the block is in bounds.
        let arrays = unsafe { from.add(block * BLOCK).cast::<Arrays<A>>().read_unaligned() };
        for array in &kogge_stone(operator, &arrays) {
            fold = Some(join(operator, fold, array[LANES - 1]));
        }
    }
    fold.expect("there is a block")
}

/// The fold of elements of any size, one by one.
///
/// # Safety
///
/// `len` accumulators must be readable at `from`; `len` is not 0.
#[inline(always)]
pub(super) unsafe fn reduce_one_by_one<A: Element, O: Operator<A>>(
    operator: &O,
    from: *const A,
    len: usize,
) -> A {
    // SAFETY: in bounds by contract.
    let element = |i| unsafe { *from.add(i) };
    (1..len).fold(element(0), |fold, i| operator.combine(fold, element(i)))
}

/// The inclusive Kogge–Stone scan of each array.
#[inline(always)]
fn kogge_stone<A: Element, O: Operator<A>>(operator: &O, arrays: &Arrays<A>) -> Arrays<A> {
    let arrays = stride::<A, O, 1>(operator, arrays);
    let arrays = stride::<A, O, 2>(operator, &arrays);
    let arrays = stride::<A, O, 4>(operator, &arrays);
    let arrays = stride::<A, O, 8>(operator, &arrays);
    let arrays = stride::<A, O, 16>(operator, &arrays);
    stride::<A, O, 32>(operator, &arrays)
}

#[inline(always)]
fn stride<A: Element, O: Operator<A>, const S: usize>(
    operator: &O,
    arrays: &Arrays<A>,
) -> Arrays<A> {
    let mut next = *arrays;
    for (next, array) in next.iter_mut().zip(arrays) {
        for_each!(S..LANES, |i| {
            next[i] = operator.combine(array[i - S], array[i]);
        });
    }
    next
}

/// Turns the inclusive values of an array into those asked for, with what precedes it.
#[inline(always)]
fn finish<A: Element, O: Operator<A>>(
    operator: &O,
    kind: Kind,
    array: &mut [A; LANES],
    run: Option<A>,
) {
    if kind == Kind::Exclusive {
        let first = run.unwrap_or_else(|| operator.identity());
        array.copy_within(..LANES - 1, 1);
        array[0] = first;
        if let Some(run) = run {
            for value in &mut array[1..] {
                *value = operator.combine(run, *value);
            }
        }
    } else if let Some(run) = run {
        for value in array {
            *value = operator.combine(run, *value);
        }
    }
}
