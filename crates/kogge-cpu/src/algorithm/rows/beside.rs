//! What is done beside a scan of rows: memory asked for ahead, and other rows folded, so that memory is
//! read evenly while stores drain. (Bursts of more than 1 KiB, of loads, prefetches or stores, cost a fifth
//! of the bandwidth and more.)

use super::super::format::Format;
use super::super::lanes::Columns;
use super::super::tile::{Beside, Folds};
use super::steps::{chunk_totals, closed, row_totals};
use super::{PREFETCH, Rows};
use crate::arch::Words;
use crate::arch::stream::{ROW, prefetch_part};
use kogge_core::{Element, Operator};

/// Memory asked for ahead, of the rows being scanned or folded: a quarter of a row at each of four
/// places between the loads and the stores of a row. (Two threads of a Zen 5 scan lines of floats at 93 % of
/// a copy's speed so, at 89 % with a row at once.)
pub(super) struct Asking {
    /// What is next, if anything is asked for.
    next: Option<*const u8>,
}

impl Asking {
    #[inline(always)]
    pub(super) fn of<A>(rows: &Rows<A>) -> Self {
        let from = match rows.beside {
            Beside::Nothing => None,
            Beside::Prefetch => Some(rows.from),
            Beside::Fold(ahead) => Some(ahead),
        };
        Self { next: from.map(|from| from.cast::<u8>().wrapping_add(PREFETCH)) }
    }

    /// Asks for the next quarter of a row.
    #[inline(always)]
    pub(super) fn some(&mut self) {
        if let Some(next) = self.next {
            prefetch_part::<{ ROW / 4 }>(next);
            self.next = Some(next.wrapping_add(ROW / 4));
        }
    }
}

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
            let chunks = chunk_totals::<H, A, O, W, _>(operator, &row, 32 / H::LANES);
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
