//! Segments by the loops of the operator, in place: what [compact] code does.
//!
//! No element is combined here one at a time, so an operator may well be behind a pointer.
//!
//! [compact]: kogge_core::Compact

use super::arrays::{LARGE, Totals};
use super::folds::Folds;
use kogge_core::{Element, Kind, Operator, Order};

/// Whether whole runs of elements go one by one, and come with what precedes them: any order has
/// the bits of the fixed one.
pub(super) const fn runs<A: Element, O: Operator<A>>() -> bool {
    O::COMPACT && O::EXACT
}

/// Scans up to a segment and gives its fold, with what precedes it if [`runs`] go one by one.
pub(super) fn scan_segment<A: Element, O: Operator<A>>(
    operator: &O,
    order: Order,
    kind: Kind,
    data: &mut [A],
    before: Option<A>,
) -> A {
    if const { runs::<A, O>() } {
        return operator.scan_chunks(kind, data, data.len(), before, &[]);
    }
    let mut folds = Folds::new(before);
    for row in data.chunks_mut(order.row()) {
        let total = scan_row(operator, order, kind, row, folds.before());
        folds.push(operator, total);
    }
    folds.fold().expect("a segment has a row")
}

/// The fold of up to a segment.
pub(super) fn reduce_segment<A: Element, O: Operator<A>>(
    operator: &O,
    order: Order,
    elements: &[A],
) -> A {
    if const { runs::<A, O>() } {
        let mut fold = [elements[0]];
        operator.fold_chunks(elements, elements.len(), &mut fold);
        return fold[0];
    }
    let rows = elements.chunks(order.row()).map(|row| reduce_row(operator, order, row));
    rows.reduce(|left, right| operator.combine(left, right)).expect("a segment has a row")
}

/// Scans up to a row, and gives its fold if that is asked for.
pub(super) fn scan_part<A: Element, O: Operator<A>>(
    operator: &O,
    order: Order,
    kind: Kind,
    data: &mut [A],
    before: Option<A>,
    folded: bool,
) -> Option<A> {
    if const { !runs::<A, O>() } {
        return Some(scan_row(operator, order, kind, data, before));
    }
    let fold = folded.then(|| reduce_segment(operator, order, data));
    scan_segment(operator, order, kind, data, before);
    fold
}

/// Scans up to a row and gives its fold.
fn scan_row<A: Element, O: Operator<A>>(
    operator: &O,
    order: Order,
    kind: Kind,
    data: &mut [A],
    before: Option<A>,
) -> A {
    let mut totals = Totals::new();
    let totals = chunk_totals(operator, order, data, totals.get());
    let (&mut fold, before_last) = totals.split_last_mut().expect("a row has a chunk");
    operator.scan_chunks(kind, data, order.chunk(), before, before_last);
    fold
}

/// The fold of up to a row.
fn reduce_row<A: Element, O: Operator<A>>(operator: &O, order: Order, elements: &[A]) -> A {
    let mut totals = Totals::new();
    *chunk_totals(operator, order, elements, totals.get()).last().expect("a row has a chunk")
}

/// The Kogge–Stone values of the chunks of a row.
fn chunk_totals<'a, A: Element, O: Operator<A>>(
    operator: &O,
    order: Order,
    elements: &[A],
    totals: &'a mut [A; Order::CHUNKS_PER_ROW],
) -> &'a mut [A] {
    let chunks = elements.len().div_ceil(order.chunk());
    operator.fold_chunks(elements, order.chunk(), totals);
    let mut distance = 1;
    while distance < chunks {
        if const { size_of::<A>() > LARGE } {
            for i in (distance..chunks).rev() {
                totals[i] = operator.combine(totals[i - distance], totals[i]);
            }
        } else {
            let left = *totals;
            operator.combine_each(&left[..chunks - distance], &mut totals[distance..chunks]);
        }
        distance *= 2;
    }
    &mut totals[..chunks]
}
