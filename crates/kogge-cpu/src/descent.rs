//! Going down the axis of lines side by side, a row of the order at a time.

use crate::algorithm::abreast::{Sink, Source};
use crate::algorithm::levels::Levels;
use crate::algorithm::narrow::{self, Narrow};
use crate::algorithm::strip::{Ahead, Group, LANES, Lanes, Row};
use crate::arch::stream::Cache;
use crate::engine::Request;
use bytemuck::Zeroable;
use kogge_core::{Accumulate, Element, Operator};

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
    groups: Vec<Group<A>>,
    levels: Vec<Levels<[A; LANES]>>,
    /// For lanes that are brought together.
    pub(crate) brought: Room,
    /// For values.
    pub(crate) stage: Room,
}

impl<A: Element<Accumulator = A>> Descent<A> {
    pub(crate) fn new() -> Self {
        Self { groups: vec![], levels: vec![], brought: Room::new(), stage: Room::new() }
    }

    /// Before the first row of so many groups, given their initial values.
    pub(crate) fn begin(&mut self, groups: usize, init: impl Fn(usize) -> Option<[A; LANES]>) {
        self.groups.resize_with(groups, Group::new);
        self.levels.clear();
        self.levels.extend((0..groups).map(|g| Levels::new(init(g))));
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
        for (group, levels) in self.groups.iter_mut().zip(&self.levels) {
            group.before = levels.before().map_or(Lanes::zeroed(), Lanes);
        }
        let preceded = self.levels[0].before().is_some();
        // SAFETY: passed on.
        unsafe { self.row::<T, U, O, true>(request, from, to, len, preceded, ahead) };
    }

    /// Folds a row, of `len` places: those before it needn't be known. [`folds`](Self::folds) gives the folds.
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

    /// The fold of each group in the row that was scanned or folded.
    pub(crate) fn folds(&self) -> impl Iterator<Item = [A; LANES]> {
        self.groups.iter().map(|group| group.chunks.0)
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
        let groups = &mut *self.groups;
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

    /// Scans or folds the next row of a table of sixteen lines at most, whose places follow one another,
    /// if the level has vectors for them, and asks for places so far `ahead` meanwhile, to be brought into a cache. [`folds`](Self::folds) has the fold.
    ///
    /// # Safety
    ///
    /// `from` and `to` must have a row of so many lines, and be this call's alone, or without `STORE`
    /// written by nobody; a vector must be readable wherever a place has one.
    pub(crate) unsafe fn narrow<O, const STORE: bool>(
        &mut self,
        request: &Request<'_, O, A>,
        from: *const A,
        to: *mut A,
        lines: usize,
        stream: bool,
        ahead: (usize, Cache),
    ) -> bool
    where
        O: Operator<A>,
    {
        let Request { operator, kind, level, .. } = *request;
        level.run(Narrow::<A, O, STORE> {
            operator,
            kind,
            from,
            to,
            lines,
            before: if STORE { self.levels[0].before() } else { None },
            fold: &mut self.groups[0].chunks.0,
            stage: self.stage.of::<u8>(if STORE { narrow::stage_bytes::<A>(lines) } else { 0 }),
            stream,
            ahead: (AHEAD.max(ahead.0 * lines * size_of::<A>()), ahead.1),
        })
    }

    /// Takes in the row that was scanned.
    pub(crate) fn take_in<O: Operator<A>>(&mut self, operator: &O) {
        for (levels, group) in self.levels.iter_mut().zip(&self.groups) {
            levels.push(&Across(operator), group.chunks.0);
        }
    }

    /// Takes in the next row, given the fold of each group.
    pub(crate) fn push<O: Operator<A>>(
        &mut self,
        operator: &O,
        folds: impl Iterator<Item = [A; LANES]>,
    ) {
        for (levels, fold) in self.levels.iter_mut().zip(folds) {
            levels.push(&Across(operator), fold);
        }
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

/// Room for elements.
pub(crate) struct Room(Vec<Line>);

/// A line of the cache.
#[derive(Clone, Copy, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

impl Room {
    pub(crate) fn new() -> Self {
        Self(vec![])
    }

    /// Room for so many elements, of any value.
    pub(crate) fn of<T: Element>(&mut self, count: usize) -> *mut T {
        let lines = (count * size_of::<T>()).div_ceil(size_of::<Line>());
        if self.0.len() < lines {
            self.0.resize(lines, Line::zeroed());
        }
        self.0.as_mut_ptr().cast()
    }
}
