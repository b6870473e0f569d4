//! Lines side by side that threads scan together, cut along the lines.
//!
//! As for a slice ([`parallel`](crate::algorithm::parallel)), threads take pieces from a counter,
//! some rows of the order of all lines. Each folds its rows, publishes their totals, takes in *all*
//! totals before its own by itself, and scans the piece, which is in its L2 by then. The next piece
//! is taken before the scan and asked for meanwhile. A total that is late is computed by whoever
//! needs it.
//!
//! Totals are those of the order's tiles or segments where a piece has such, and of rows where it
//! hasn't: narrow tables have many rows, and what every thread hears of each takes longer than to
//! scan it.

use crate::algorithm::group::LANES;
use crate::algorithm::handover::{Gate, Slot, late, many};
use crate::algorithm::levels::ROWS_PER_TILE;
use crate::algorithm::strip::Ahead;
use crate::arch::Cpu;
use crate::arch::stream::{Cache, Fence};
use crate::columns::{Columns, Lines};
use crate::descent::Descent;
use crate::sync::spin;
use crate::{pool, tuning};
use kogge_core::{Accumulate, Element, Operator, Order};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a piece that is asked for into L2 alone at most, where that is worth it: it is asked
/// for a piece ahead. (On a mesh, rows of 500 KiB are a tenth slower so, those of 256 KiB 3 %
/// faster.)
const FAR: usize = 256 << 10;

/// Rows whose total is handed over, if a piece has so many.
const SPANS: [usize; 3] = [ROWS_PER_TILE, Order::ROWS_PER_SEGMENT, 1];

/// What the threads of one scan share.
pub(crate) struct Together<'a, 'b, T, U, A, O> {
    columns: &'a Columns<'a, 'b, A, O>,
    lines: &'a Lines<T, U>,
    /// Rows whose total is handed over: a tile's, a segment's or one.
    span: usize,
    /// Rows of a piece, which has whole spans.
    piece: usize,
    /// What the next piece is brought into.
    cache: Cache,
    /// The next row to be taken.
    next: AtomicUsize,
    /// One slot for the total of each group in each span.
    totals: Vec<Slot<[A; LANES]>>,
    /// One gate a span where the output overwrites the input, else empty.
    gates: Vec<Gate>,
}

impl<'a, 'b, T, U, A, O> Together<'a, 'b, T, U, A, O>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element<Accumulator = A>,
    O: Operator<A>,
{
    pub(crate) fn new(
        columns: &'a Columns<'a, 'b, A, O>,
        lines: &'a Lines<T, U>,
        in_place: bool,
    ) -> Self {
        let row = const { Order::of::<T>().row() } * lines.count * size_of::<T>().max(1);
        let piece = (tuning::piece_bytes(Cpu::detect()) as usize / row).clamp(1, lines.rows());
        let span = SPANS.into_iter().find(|&span| span <= piece).expect("a row");
        Self::by_spans(columns, lines, in_place, span, piece / span)
    }

    /// By pieces of so many spans of so many rows: a tile's, a segment's or one.
    pub(crate) fn by_spans(
        columns: &'a Columns<'a, 'b, A, O>,
        lines: &'a Lines<T, U>,
        in_place: bool,
        span: usize,
        spans_of_piece: usize,
    ) -> Self {
        let (piece, spans) = (span * spans_of_piece, lines.rows().div_ceil(span));
        let bytes = piece * const { Order::of::<T>().row() } * lines.count * size_of::<T>().max(1);
        Self {
            columns,
            lines,
            span,
            piece,
            cache: if bytes > FAR { Cache::L1 } else { Cache::for_memory() },
            next: AtomicUsize::new(0),
            totals: many(spans * lines.groups(), Slot::new),
            gates: many(if in_place { spans } else { 0 }, Gate::new),
        }
    }

    /// Scans the lines on up to so many threads.
    ///
    /// # Safety
    ///
    /// The lines must exist, and be this call's alone, and so their totals.
    pub(crate) unsafe fn run(&self, threads: usize) {
        // SAFETY: passed on; pieces keep the threads apart.
        pool::together(threads, &|| unsafe { self.work() });
    }

    /// What each thread does until no piece is left.
    ///
    /// # Safety
    ///
    /// As for [`run`](Self::run).
    unsafe fn work(&self) {
        let _fence = Fence;
        let mut descent = Descent::new();
        self.columns.begin(self.lines, &mut descent);
        let mut piece = self.take();
        while !piece.is_empty() {
            // SAFETY: rows were taken by this thread, so nobody else writes them; totals are put by
            // the one that scans the last row.
            unsafe {
                let spans = piece.clone().step_by(self.span);
                spans.clone().for_each(|row| self.fold(row, &mut descent));
                while descent.rows() < piece.start {
                    self.catch_up(&mut descent);
                }
                let next = self.take();
                let ahead = (next.start - piece.start) * const { Order::of::<T>().row() };
                let ahead = Ahead::by(ahead, Some(self.cache));
                for first in spans {
                    self.close(first);
                    self.columns.scan_rows(self.lines, self.rows(first), |_| ahead, &mut descent);
                }
                if piece.end == self.lines.rows() {
                    self.columns.put_totals(self.lines, &mut descent);
                }
                piece = next;
            }
        }
    }

    /// Takes the next piece; an empty one if there is none.
    fn take(&self) -> Range<usize> {
        let rows = self.lines.rows();
        let start = self.next.fetch_add(self.piece, Ordering::Relaxed).min(rows);
        start..rows.min(start + self.piece)
    }

    /// The rows of the span that begins with row `first`.
    fn rows(&self, first: usize) -> Range<usize> {
        first..self.lines.rows().min(first + self.span)
    }

    /// The slots of that span.
    fn slots(&self, first: usize) -> &[Slot<[A; LANES]>] {
        let groups = self.lines.groups();
        &self.totals[first / self.span * groups..][..groups]
    }

    /// The gate of that span, if there is one.
    fn gate(&self, first: usize) -> Option<&Gate> {
        self.gates.get(first / self.span)
    }

    /// Folds that span: each group's total.
    ///
    /// # Safety
    ///
    /// Nobody may write its rows meanwhile.
    unsafe fn folds(
        &self,
        first: usize,
        descent: &mut Descent<A>,
    ) -> impl Iterator<Item = [A; LANES]> {
        // SAFETY: passed on.
        unsafe { self.columns.fold_rows(self.lines, self.rows(first), descent) };
        descent.span(self.columns.request.operator)
    }

    /// Folds that span, unless another thread has, and publishes its totals.
    ///
    /// # Safety
    ///
    /// As for [`folds`](Self::folds).
    unsafe fn fold(&self, first: usize, descent: &mut Descent<A>) {
        let slots = self.slots(first);
        if slots.iter().any(|slot| slot.get().is_none()) {
            // SAFETY: passed on.
            let folds = unsafe { self.folds(first, descent) };
            slots.iter().zip(folds).for_each(|(slot, fold)| slot.publish(fold));
        }
    }

    /// Takes in the totals of the next span, which another thread has taken: as published, or
    /// computed if they are late.
    ///
    /// # Safety
    ///
    /// As for [`run`](Self::run).
    unsafe fn catch_up(&self, descent: &mut Descent<A>) {
        let first = descent.rows();
        let slots = self.slots(first);
        for (g, slot) in slots.iter().enumerate() {
            if slot.soon().is_none() {
                // SAFETY: out of place nobody writes the input; in place `late` keeps the gate
                // open.
                late(slot, self.gate(first), || unsafe {
                    let folds = self.folds(first, descent);
                    let (mut own, folds) = (None, slots.iter().zip(folds).enumerate());
                    for (other, (slot, fold)) in folds {
                        if other == g { own = Some(fold) } else { slot.publish(fold) }
                    }
                    own.expect("the fold of the group")
                });
            }
        }
        descent.push_span(self.columns.request.operator, self.span, slots.iter().map(settled));
    }

    /// Keeps others out of the span that begins with row `first`, which its owner will overwrite:
    /// its totals are known.
    fn close(&self, first: usize) {
        if let Some(gate) = self.gate(first) {
            let (last, others) = self.slots(first).split_last().expect("a group");
            others.iter().for_each(|slot| _ = settled(slot));
            gate.close_folded(last);
        }
    }
}

/// A total that is there, or about to be: another thread may have claimed the slot and not filled
/// it yet.
fn settled<A: Copy>(slot: &Slot<A>) -> A {
    loop {
        if let Some(total) = slot.get() {
            return total;
        }
        spin();
    }
}
