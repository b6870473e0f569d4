//! Rows of the order, one after another: what precedes the next one, and the fold of all.

use crate::array::map;
use kogge_core::{Element, Operator, Order};

/// The totals of rows as they come, turned into what precedes the next row, and into their fold.
#[derive(Clone, Copy)]
pub(super) struct Folds<A> {
    /// What precedes the segment.
    segment_before: Option<A>,
    /// What precedes the next row.
    before: Option<A>,
    /// The fold of the rows of the segment.
    segment: Option<A>,
    /// The fold of the segments before.
    segments: Option<A>,
    /// Rows taken in.
    rows: usize,
}

impl<A: Copy> Folds<A> {
    #[inline(always)]
    pub(super) fn new(before: Option<A>) -> Self {
        Self { segment_before: before, before, segment: None, segments: None, rows: 0 }
    }

    /// Rows taken in.
    #[inline(always)]
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// What precedes the next row.
    #[inline(always)]
    pub(super) fn before(&self) -> Option<A> {
        self.before
    }

    /// Takes in the next row's total.
    #[inline(always)]
    pub(super) fn push<O: Operator<A>>(&mut self, operator: &O, row: A)
    where
        A: Element,
    {
        self.push_by(|left, right| operator.combine(left, right), row);
    }

    /// As [`push`](Self::push), for accumulators that are held in some form of their own.
    #[inline(always)]
    pub(super) fn push_by(&mut self, combine: impl Fn(A, A) -> A, row: A) {
        // Not `map_or`, which isn't always inlined: then vectors go by memory.
        let join = |left: Option<A>, right| match left {
            Some(left) => combine(left, right),
            None => right,
        };
        self.rows += 1;
        let segment = join(self.segment, row);
        if self.rows.is_multiple_of(Order::ROWS_PER_SEGMENT) {
            self.segment_before = Some(join(self.segment_before, segment));
            self.before = self.segment_before;
            self.segments = Some(join(self.segments, segment));
            self.segment = None;
        } else {
            self.before = Some(join(self.before, row));
            self.segment = Some(segment);
        }
    }

    /// The same in another form.
    #[inline(always)]
    pub(super) fn map<B: Copy>(self, form: impl Fn(A) -> B) -> Folds<B> {
        let folds = [self.segment_before, self.before, self.segment, self.segments];
        let [segment_before, before, segment, segments] = map(folds, |fold| fold.map(&form));
        Folds { segment_before, before, segment, segments, rows: self.rows }
    }

    /// The fold of all rows; a segment that isn't full counts only where it is the first.
    #[inline(always)]
    pub(super) fn fold(&self) -> Option<A> {
        self.segments.or(self.segment)
    }
}
