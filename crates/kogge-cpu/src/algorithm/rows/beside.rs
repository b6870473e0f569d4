//! Other rows folded beside a scan of rows, so that memory is read evenly while stores drain.

use super::super::folds::Folds;
use super::super::format::Format;
use super::super::lanes::Columns;
use super::super::tile::Beside;
use super::steps::{chunk_totals, closed, row_totals};
use crate::arch::Words;
use crate::arch::stream::ROW;
use kogge_core::{Element, Operator};

/// Rows being folded beside the scan.
pub(super) struct Ahead<H: Words, A, const W: usize> {
    /// The next row, if there are any.
    next: Option<*const H::Word>,
    /// The chunk totals of a row that is folded with the next one.
    pending: Option<Columns<H, W>>,
    pub(super) folds: Folds<A>,
}

impl<H: Words, A: Element, const W: usize> Ahead<H, A, W> {
    #[inline(always)]
    pub(super) fn of(beside: Beside<*const A>) -> Self {
        let next = beside.folded().map(|ahead| ahead.cast());
        Self { next, pending: None, folds: Folds::new(None) }
    }

    /// Takes in the next row, if there are rows ahead at all.
    ///
    /// # Safety
    ///
    /// The row must be readable, `A` be `W` words of `H` in size, the CPU features of `H` present.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) unsafe fn row<F: Format, O: Operator<A>>(&mut self, operator: &O) {
        let Some(next) = self.next else { return };
        self.next = Some(next.wrapping_add(ROW / size_of::<H::Word>()));
        // SAFETY: by contract.
        unsafe {
            let row = closed::<H, _>(F::split::<H>(next));
            let chunks = chunk_totals::<H, A, O, W, _>(operator, &row, H::GROUPS);
            match self.pending.take() {
                None => self.pending = Some(chunks),
                Some(first) => {
                    for total in row_totals::<H, A, O, W>(operator, first, chunks) {
                        self.folds.push(operator, total);
                    }
                }
            }
        }
    }
}
