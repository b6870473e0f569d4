//! Going down the axis of lines side by side, a row of the order at a time.

use crate::algorithm::abreast::{Sink, Source};
use crate::algorithm::group::{Groups, LANES};
use crate::algorithm::levels::{Levels, Running, Span};
use crate::algorithm::narrow::{self, Narrow};
use crate::algorithm::strip::{Ahead, Row};
use crate::arch::stream::Cache;
use crate::engine::Request;
use crate::room::Room;
use kogge_core::{Accumulate, Element, Operator};
use std::ptr::null_mut;

/// Bytes, at least, from the places of a narrow table to those that are asked for meanwhile.
const AHEAD: usize = 4 << 10;

/// An operator on the lines of a group at once.
pub(crate) struct Across<'a, O>(pub(crate) &'a O);

impl<A: Element<Accumulator = A>, O: Operator<A>> Operator<[A; LANES]> for Across<'_, O> {
    const EXACT: bool = O::EXACT;
    const NONBLOCKING: bool = O::NONBLOCKING;

    fn identity(&self) -> [A; LANES] {
        [self.0.identity(); LANES]
    }

    #[inline(always)]
    fn combine(&self, left: [A; LANES], right: [A; LANES]) -> [A; LANES] {
        if const { O::COMPACT } {
            let mut combined = right;
            self.0.combine_each(&left, &mut combined);
            return combined;
        }
        let mut combined = left;
        for n in 0..LANES {
            combined[n] = self.0.combine(left[n], right[n]);
        }
        combined
    }
}

/// What a thread knows of the groups of a strip, and its room for lanes; reused from one strip to
/// the next.
pub(crate) struct Descent<A> {
    groups: Groups<A>,
    levels: Vec<Levels<[A; LANES]>>,
    /// Of rows that are folded and not scanned.
    span: Vec<Span<[A; LANES]>>,
    /// For lanes that are brought together.
    pub(crate) brought: Room,
    /// For values.
    pub(crate) stage: Room,
}

impl<A: Element<Accumulator = A>> Descent<A> {
    pub(crate) fn new() -> Self {
        let (brought, stage) = (Room::new(), Room::new());
        Self { groups: Groups::new(), levels: vec![], span: vec![], brought, stage }
    }

    /// Before the first row of so many groups, whose lines have so many chunks, given their initial
    /// values.
    pub(crate) fn begin<O: Operator<A>>(
        &mut self,
        groups: usize,
        chunks: usize,
        init: impl Fn(usize) -> Option<[A; LANES]>,
    ) {
        self.groups.resize::<O>(groups, chunks);
        self.levels.resize_with(groups, Levels::new);
        for (g, levels) in self.levels.iter_mut().enumerate() {
            levels.restart(init(g));
        }
    }

    /// Before the only row of so many groups, of so many chunks, which nothing precedes, and whose
    /// totals nobody wants.
    pub(crate) fn begin_only<O: Operator<A>>(&mut self, groups: usize, chunks: usize) {
        self.levels.clear();
        self.groups.resize::<O>(groups, chunks);
    }

    /// Scans the next row, of `len` places, and asks for what is `ahead` meanwhile.
    ///
    /// # Safety
    ///
    /// The memory of source and sink must be there for so many places, and be this call's alone.
    pub(crate) unsafe fn scan<T, U, O>(
        &mut self,
        request: &Request<'_, O, A>,
        from: Source<T>,
        to: Sink<U>,
        len: usize,
        ahead: Ahead,
    ) where
        T: Accumulate<A>,
        U: Accumulate<A>,
        O: Operator<A>,
    {
        let preceded = self.levels.first().is_some_and(|levels| levels.before().is_some());
        if preceded {
            let before = |levels: &Levels<_>| levels.before().expect("what precedes all groups");
            self.groups.set_befores(self.levels.iter().map(before));
        }
        // SAFETY: passed on.
        unsafe { self.row::<T, U, O, true>(request, from, to, len, preceded, ahead) };
    }

    /// Folds a row, of `len` places, for [a span](Self::add_to_span): those before it needn't be
    /// known.
    ///
    /// # Safety
    ///
    /// The memory of the source must be there for so many places, and nobody may write it.
    pub(crate) unsafe fn fold<T, O>(
        &mut self,
        request: &Request<'_, O, A>,
        from: Source<T>,
        len: usize,
        ahead: Ahead,
    ) where
        T: Accumulate<A>,
        O: Operator<A>,
    {
        let to = Sink::<A>::NOTHING;
        // SAFETY: passed on; nothing is stored.
        unsafe { self.row::<T, A, O, false>(request, from, to, len, false, ahead) };
    }

    /// Goes through a row, and stores its values if `STORE`.
    ///
    /// # Safety
    ///
    /// As for [`scan`](Self::scan), or without `STORE` for [`fold`](Self::fold).
    unsafe fn row<T, U, O, const STORE: bool>(
        &mut self,
        request: &Request<'_, O, A>,
        from: Source<T>,
        to: Sink<U>,
        len: usize,
        preceded: bool,
        ahead: Ahead,
    ) where
        T: Accumulate<A>,
        U: Accumulate<A>,
        O: Operator<A>,
    {
        let Request { operator, kind, level, .. } = *request;
        let groups = &mut self.groups;
        level.run(Row::<_, _, A, O, STORE> {
            operator,
            kind,
            from,
            to,
            len,
            groups,
            preceded,
            ahead,
        });
    }

    /// Scans the next rows of a table of sixteen lines at most, whose places follow one another, if
    /// the level has vectors for them, and takes them in; asks for places so far `ahead` meanwhile,
    /// to be brought into a cache.
    ///
    /// # Safety
    ///
    /// `from` and `to` must have so many rows of so many lines, and be this call's alone; the rows
    /// be of one segment.
    pub(crate) unsafe fn narrow<O: Operator<A>>(
        &mut self,
        request: &Request<'_, O, A>,
        (from, to, lines): (*const A, *mut A, usize),
        rows: usize,
        stream: bool,
        ahead: (usize, Option<Cache>),
    ) -> bool {
        let Request { operator, kind, level, .. } = *request;
        let mut running = narrow::State::new(self.levels[0].running());
        let done = level.run(Narrow::<A, O, true> {
            operator,
            kind,
            from,
            to,
            lines,
            rows,
            running: &mut running,
            stage: self.stage.of::<u8>(narrow::stage_bytes::<A>(lines)),
            stream,
            ahead: (AHEAD.max(ahead.0 * lines * size_of::<A>()), ahead.1),
        });
        if done {
            self.levels[0].advance(&Across(operator), rows, running.get(lines));
        }
        done
    }

    /// Folds the next rows of such a table, for [a span](Self::add_to_span), and takes them into
    /// it.
    ///
    /// # Safety
    ///
    /// `from` must have so many rows of so many lines, and nobody write them; the rows be of one
    /// segment.
    pub(crate) unsafe fn fold_narrow<O: Operator<A>>(
        &mut self,
        request: &Request<'_, O, A>,
        (from, lines): (*const A, usize),
        rows: usize,
    ) -> bool {
        let Request { operator, kind, level, .. } = *request;
        let span = &mut self.span[0];
        let mut running = narrow::State::new(Running { before: None, segment: span.segment() });
        let done = level.run(Narrow::<A, O, false> {
            operator,
            kind,
            from,
            to: from.cast_mut(),
            lines,
            rows,
            running: &mut running,
            stage: null_mut(),
            stream: false,
            ahead: (AHEAD, Some(Cache::L1)),
        });
        if done {
            span.advance(&Across(operator), rows, running.get(lines).segment);
        }
        done
    }

    /// Takes in the row that was scanned.
    pub(crate) fn take_in<O: Operator<A>>(&mut self, operator: &O) {
        if const { O::EXACT } {
            for (levels, before) in self.levels.iter_mut().zip(self.groups.befores()) {
                levels.go_on(1, before);
            }
            return;
        }
        for (levels, fold) in self.levels.iter_mut().zip(self.groups.folds()) {
            levels.push(&Across(operator), fold);
        }
    }

    /// Takes in the next `rows` rows, a row, a segment or a tile, given the fold of each group in
    /// them.
    pub(crate) fn push_span<O: Operator<A>>(
        &mut self,
        operator: &O,
        rows: usize,
        folds: impl Iterator<Item = [A; LANES]>,
    ) {
        for (levels, fold) in self.levels.iter_mut().zip(folds) {
            levels.push_span(&Across(operator), rows, fold);
        }
    }

    /// Before the rows of a span are folded.
    pub(crate) fn begin_span(&mut self) {
        self.span.clear();
        self.span.resize_with(self.groups.len(), Span::new);
    }

    /// Takes the row that was folded into the span.
    pub(crate) fn add_to_span<O: Operator<A>>(&mut self, operator: &O) {
        for (span, fold) in self.span.iter_mut().zip(self.groups.folds()) {
            span.push(&Across(operator), fold);
        }
    }

    /// The fold of each group in the span.
    pub(crate) fn span<O: Operator<A>>(&self, operator: &O) -> impl Iterator<Item = [A; LANES]> {
        self.span.iter().map(|span| span.total(&Across(operator)).expect("a row"))
    }

    /// Rows taken in.
    pub(crate) fn rows(&self) -> usize {
        self.levels[0].rows()
    }

    /// The folds of the initial values and all rows of a group.
    pub(crate) fn totals<O: Operator<A>>(&mut self, operator: &O, g: usize) -> Option<[A; LANES]> {
        self.levels[g].total(&Across(operator))
    }
}
