//! Tiles and segments: rows by vector where elements are whole words, by array elsewhere.
//!
//! The segment is where code is compiled for a SIMD level: long enough to hide the call, and all
//! the code around it exists once. Where nobody need know of a tile by itself many go in one call.
//! (On a Zen 5, one thread in L2 and L3, calls of 32 KiB cost sums of integers up to 14 %, of
//! floats up to 8.)

use super::asking::Ask;
use super::folds::Folds;
use super::format::Format;
use super::free::{self, Run, free};
use super::io::Io;
use super::rows::{self, Rows};
use super::shape::{Shape, by_shape, shape};
use super::{arrays, compact, exact, staged};
use crate::arch::{Level, MaskedOf, WideOf, Words, Work};
use kogge_core::{Element, Kind, Operator, Order, Prefix};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::slice;

/// A scan as all threads see it.
pub(crate) struct Scan<'a, I, A, O> {
    pub(crate) level: Level,
    pub(crate) operator: &'a O,
    pub(crate) kind: Kind,
    pub(crate) io: I,
    pub(crate) len: usize,
    /// Places of a tile: the order's, or more where [any number](Self::ANY_TILE) will do.
    pub(crate) tile: usize,
    pub(crate) accumulator: PhantomData<A>,
}

impl<I: Io<A>, A: Element, O: Operator<A>> Scan<'_, I, A, O> {
    pub(crate) const ORDER: Order = Order::of::<I::Element>();

    /// Whether operands are taken in [any order](free).
    pub(crate) const FREE: bool = free::<I::Format, A, O>();

    /// Whether any number of places may be scanned at once, and be a tile.
    pub(crate) const ANY_TILE: bool = Self::FREE && !I::STAGED;

    /// Whether whole tiles are scanned at once, row by row.
    const BY_ROWS: bool = !I::STAGED && shape::<I::Format, I::Element, A, O>().by_rows();

    /// The places of a tile.
    pub(super) fn tile(&self, tile: usize) -> Range<usize> {
        let start = tile * self.tile;
        start..self.len.min(start + self.tile)
    }

    /// How many tiles there are.
    pub(crate) fn tiles(&self) -> usize {
        self.len.div_ceil(self.tile)
    }

    /// Bytes of a tile's elements.
    pub(super) fn tile_bytes(&self) -> usize {
        self.tile * size_of::<I::Element>()
    }

    /// Accumulators for the stage of one thread; none where elements are used where they lie.
    pub(super) fn stage(&self) -> Vec<MaybeUninit<A>> {
        let len = if I::STAGED { self.len.min(Self::ORDER.segment()) } else { 0 };
        let mut stage = Vec::with_capacity(len);
        stage.resize_with(len, MaybeUninit::uninit);
        stage
    }

    /// Scans the tile after a prefix, which takes it in, and gives the fold of another tile, if
    /// that was asked for, as [`scan_tile`](Self::scan_tile) does.
    ///
    /// # Safety
    ///
    /// As for [`scan_tile`](Self::scan_tile).
    pub(super) unsafe fn scan_next(
        &self,
        prefix: &mut Prefix<A>,
        places: Range<usize>,
        beside: Beside<Range<usize>>,
        stage: &mut [MaybeUninit<A>],
    ) -> Option<A> {
        // SAFETY: passed on.
        let (fold, ahead) =
            unsafe { self.scan_tile(places, prefix.before(self.operator), beside, stage) };
        self.take_in(prefix, fold);
        ahead
    }

    /// Has a prefix take in what [`scan_tile`](Self::scan_tile) gave of the next tile.
    pub(super) fn take_in(&self, prefix: &mut Prefix<A>, fold: A) {
        if const { through::<I::Format, A, O>() } {
            prefix.replace(1, fold);
        } else {
            prefix.push(self.operator, fold);
        }
    }

    /// The fold of a tile and what precedes it, given what [`scan_tile`](Self::scan_tile) gave.
    pub(super) fn through(&self, before: Option<A>, fold: A) -> A {
        if const { through::<I::Format, A, O>() } {
            fold
        } else {
            join(self.operator, before, fold)
        }
    }

    /// Scans tiles after a prefix, which takes them in: at once where that can be, as each call
    /// waits for what precedes it. Nothing is folded beside.
    ///
    /// # Safety
    ///
    /// As for [`scan_tile`](Self::scan_tile).
    pub(super) unsafe fn scan_tiles(
        &self,
        prefix: &mut Prefix<A>,
        mut tiles: Range<usize>,
        ask: Option<Ask>,
        stage: &mut [MaybeUninit<A>],
    ) {
        // Pages are asked for a tile at a time.
        let apart = matches!(ask, Some(Ask::Pages { .. }));
        if !apart && !tiles.is_empty() && const { Self::ANY_TILE || Self::BY_ROWS } {
            let last = self.tile(tiles.end - 1);
            let mut places = self.tile(tiles.start).start..last.end;
            if const { Self::ANY_TILE } {
                // SAFETY: passed on.
                unsafe { self.scan_next(prefix, places, Beside::ask(ask), stage) };
                return;
            }
            if last.len() < Self::ORDER.tile() {
                places.end = last.start;
            }
            tiles.start = tiles.end - usize::from(places.end < last.end);
            if !places.is_empty() {
                let (before, beside) = (prefix.before(self.operator), Beside::ask(ask));
                // SAFETY: passed on.
                let (fold, _) =
                    unsafe { self.scan_segment(places, before, Some(&mut *prefix), beside, stage) };
                prefix.push(self.operator, fold);
            }
        }
        for tile in tiles {
            // SAFETY: passed on.
            unsafe { self.scan_next(prefix, self.tile(tile), Beside::ask(ask), stage) };
        }
    }

    /// Scans the places of a tile and gives their fold, or that of [all before](through) them too.
    /// The second value is the fold of another tile, if that was asked for.
    ///
    /// # Safety
    ///
    /// No other thread may read or write these places of the output meanwhile, nor write those of
    /// the input, nor those folded beside.
    pub(super) unsafe fn scan_tile(
        &self,
        places: Range<usize>,
        mut before: Option<A>,
        beside: Beside<Range<usize>>,
        stage: &mut [MaybeUninit<A>],
    ) -> (A, Option<A>) {
        let len = places.len();
        if const { Self::ANY_TILE }
            || (const { Self::BY_ROWS } && len == const { Self::ORDER.tile() })
        {
            let (beside, after) = match beside {
                Beside::Fold(ahead, ask) if ahead.len() == len => {
                    (Beside::Fold(ahead.start, ask), None)
                }
                Beside::Fold(ahead, _) => (Beside::Nothing, Some(ahead)),
                Beside::Ask(ask) => (Beside::Ask(ask), None),
                Beside::Nothing => (Beside::Nothing, None),
            };
            // SAFETY: passed on.
            let (fold, folded) = unsafe { self.scan_segment(places, before, None, beside, stage) };
            // SAFETY: passed on.
            let after = after.map(|ahead| unsafe { self.reduce_tile(ahead, stage) });
            return (fold, folded.or(after));
        }
        let (mut fold, mut ahead_fold) = (None, None);
        let mut ahead = self.segments(beside.folded().unwrap_or(0..0));
        for segment in self.segments(places) {
            // SAFETY: passed on.
            unsafe {
                let (total, _) = self.scan_segment(segment, before, None, Beside::Nothing, stage);
                if const { through::<I::Format, A, O>() } {
                    (before, fold) = (Some(total), Some(total));
                } else {
                    before = Some(join(self.operator, before, total));
                    fold = Some(join(self.operator, fold, total));
                }
                if let Some(next) = ahead.next() {
                    let total = self.reduce_segment(next, stage);
                    ahead_fold = Some(join(self.operator, ahead_fold, total));
                }
            }
        }
        for segment in ahead {
            // SAFETY: passed on.
            let total = unsafe { self.reduce_segment(segment, stage) };
            ahead_fold = Some(join(self.operator, ahead_fold, total));
        }
        (fold.expect("a tile has a segment"), ahead_fold)
    }

    /// The fold of the places of a tile.
    ///
    /// # Safety
    ///
    /// No other thread may write these places of the input meanwhile.
    pub(super) unsafe fn reduce_tile(
        &self,
        places: Range<usize>,
        stage: &mut [MaybeUninit<A>],
    ) -> A {
        if const { Self::ANY_TILE } {
            // SAFETY: passed on.
            return unsafe { self.reduce_segment(places, stage) };
        }
        let mut fold = None;
        for segment in self.segments(places) {
            // SAFETY: passed on.
            let total = unsafe { self.reduce_segment(segment, stage) };
            fold = Some(join(self.operator, fold, total));
        }
        fold.expect("a tile has a segment")
    }

    /// The same where another thread writes what lies behind: the last segment before the one
    /// before it, since a prefetcher that follows the reads goes on into what another core would
    /// write then. (On a Zen 4 by some 200 lines for `f32`: 256 KiB in place 64 to 70 GB/s, 512
    /// KiB 73 to 78, `f64` and `i32` 0 to 1 % slower.)
    ///
    /// # Safety
    ///
    /// As for [`reduce_tile`](Self::reduce_tile).
    pub(super) unsafe fn reduce_tile_at_end(
        &self,
        places: Range<usize>,
        stage: &mut [MaybeUninit<A>],
    ) -> A {
        if const { Self::ANY_TILE } {
            let segment = Self::ORDER.segment();
            let [before, last] =
                [2, 1].map(|n| places.start.max(places.end.saturating_sub(n * segment)));
            let parts = [places.start..before, last..places.end, before..last];
            let parts = parts.into_iter().filter(|part| !part.is_empty());
            // SAFETY: passed on.
            let totals = parts.map(|part| unsafe { self.reduce_segment(part, stage) });
            let fold = totals.reduce(|left, right| self.operator.combine(left, right));
            return fold.expect("a tile has a place");
        }
        let mut totals = [None; Order::SEGMENTS_PER_TILE];
        // SAFETY: passed on.
        let mut reduce = |(segment, total): (_, &mut _)| unsafe {
            *total = Some(self.reduce_segment(segment, stage));
        };
        let mut segments = self.segments(places).zip(&mut totals);
        let before = segments.len().saturating_sub(2);
        segments.by_ref().take(before).for_each(&mut reduce);
        segments.rev().for_each(reduce);
        let fold = |left, right| self.operator.combine(left, right);
        totals.into_iter().flatten().reduce(fold).expect("a tile has a segment")
    }

    /// The segments of a tile.
    fn segments(
        &self,
        places: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = Range<usize>> + ExactSizeIterator + Clone {
        let end = places.end;
        let starts = places.step_by(Self::ORDER.segment());
        starts.map(move |start| start..end.min(start + Self::ORDER.segment()))
    }

    /// Scans a segment, or a whole tile where rows go by vector or it may be [any](Self::ANY_TILE),
    /// and gives its fold; and that of as many places from another one on. With a prefix whole
    /// tiles where rows go by vector: it takes in all but the last, whose fold that is.
    ///
    /// # Safety
    ///
    /// As for [`scan_tile`](Self::scan_tile).
    unsafe fn scan_segment(
        &self,
        Range { start, end }: Range<usize>,
        before: Option<A>,
        prefix: Option<&mut Prefix<A>>,
        beside: Beside<usize>,
        stage: &mut [MaybeUninit<A>],
    ) -> (A, Option<A>) {
        let (stage, len) = (stage.as_mut_ptr().cast::<A>(), end - start);
        // SAFETY: the places exist, the stage holds a segment if it is used at all, and the memory
        // is this thread's by contract.
        unsafe {
            let segment = ScanSegment::<I::Format, I::Element, _, _> {
                operator: self.operator,
                kind: self.kind,
                from: self.io.load(start, len, stage),
                to: self.io.target(start, stage),
                len,
                before,
                prefix,
                beside: beside.map(|ahead| self.io.load(ahead, len, stage)),
                stream: I::STREAM,
                after: None,
                types: PhantomData,
            };
            let folds = self.level.run(segment);
            self.io.store(start, len, stage);
            folds
        }
    }

    /// The fold of a segment, or of [any](Self::ANY_TILE) number of places.
    ///
    /// # Safety
    ///
    /// As for [`reduce_tile`](Self::reduce_tile).
    unsafe fn reduce_segment(
        &self,
        Range { start, end }: Range<usize>,
        stage: &mut [MaybeUninit<A>],
    ) -> A {
        let (stage, len) = (stage.as_mut_ptr().cast::<A>(), end - start);
        // SAFETY: as in `scan_segment`.
        unsafe {
            let from = self.io.load(start, len, stage);
            let (operator, types) = (self.operator, PhantomData);
            self.level.run(ReduceSegment::<I::Format, I::Element, _, _> {
                operator,
                from,
                len,
                types,
            })
        }
    }
}

/// Whether what a tile or a segment comes to is given with all that precedes it.
pub(super) const fn through<F: Format, A: Element, O: Operator<A>>() -> bool {
    free::<F, A, O>() || compact::runs::<A, O>()
}

/// What is done beside a scan, row by row, so that memory is read while stores drain.
#[derive(Clone, Copy)]
pub(super) enum Beside<T> {
    /// Nothing: what is scanned lies in cache, or is left to the hardware's prefetcher.
    Nothing,
    /// What is scanned is asked for.
    Ask(Ask),
    /// As much from another place is asked for and folded.
    Fold(T, Ask),
}

impl<T> Beside<T> {
    /// The same at a place given otherwise.
    fn map<U>(self, place: impl FnOnce(T) -> U) -> Beside<U> {
        match self {
            Self::Nothing => Beside::Nothing,
            Self::Ask(ask) => Beside::Ask(ask),
            Self::Fold(ahead, ask) => Beside::Fold(place(ahead), ask),
        }
    }

    /// Nothing, or what is scanned asked for.
    fn ask(ask: Option<Ask>) -> Self {
        ask.map_or(Self::Nothing, Self::Ask)
    }

    /// What is folded, if anything is.
    pub(super) fn folded(self) -> Option<T> {
        if let Self::Fold(ahead, _) = self { Some(ahead) } else { None }
    }
}

/// Whether this format is for any level; see [`Level::packs`].
const fn packs_nothing<F: Format>() -> bool {
    F::PACKED == 0 || cfg!(miri)
}

/// A segment, or more, to be scanned at some SIMD level. Made where `from` and `to` are known to be
/// valid.
pub(super) struct ScanSegment<'a, F, T, A, O> {
    pub(super) operator: &'a O,
    pub(super) kind: Kind,
    pub(super) from: *const A,
    pub(super) to: *mut A,
    pub(super) len: usize,
    pub(super) before: Option<A>,
    /// Where whole tiles are scanned, what takes in all but the last; nothing is folded then.
    pub(super) prefix: Option<&'a mut Prefix<A>>,
    pub(super) beside: Beside<*const A>,
    pub(super) stream: bool,
    /// Where what precedes the next row goes, if that is asked for; compact code doesn't say.
    pub(super) after: Option<&'a mut Option<A>>,
    pub(super) types: PhantomData<(F, T)>,
}

impl<F, T, A, O> Work for ScanSegment<'_, F, T, A, O>
where
    F: Format,
    T: Element,
    A: Element,
    O: Operator<A>,
{
    /// Its fold, or that of [all before](through) it too; and the fold of what was folded beside.
    type Output = (A, Option<A>);
    const COMPACT: bool = O::COMPACT;
    const PORTABLE: bool = packs_nothing::<F>();

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) -> Self::Output {
        // SAFETY: memory by whoever made the value, features by contract.
        unsafe { scan_segment::<W32, W64, F, T, A, O>(self) }
    }
}

/// A segment, or more, to be folded at some SIMD level. Made where `from` is known to be readable.
pub(super) struct ReduceSegment<'a, F, T, A, O> {
    pub(super) operator: &'a O,
    pub(super) from: *const A,
    pub(super) len: usize,
    pub(super) types: PhantomData<(F, T)>,
}

impl<F, T, A, O> Work for ReduceSegment<'_, F, T, A, O>
where
    F: Format,
    T: Element,
    A: Element,
    O: Operator<A>,
{
    type Output = A;
    const COMPACT: bool = O::COMPACT;
    const PORTABLE: bool = packs_nothing::<F>();

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) -> A {
        // SAFETY: memory by whoever made the value, features by contract.
        unsafe { reduce_segment::<W32, W64, F, T, A, O>(self.operator, self.from, self.len) }
    }
}

/// Scans up to a segment, or a whole tile by rows, and gives its fold and that of what is folded
/// beside.
///
/// `T` is the element as it lies in memory, which fixes the order, and `F` how.
///
/// # Safety
///
/// The elements must be readable at `from`, and where others are folded, and writable at `to`,
/// where `from` and `to` are equal or don't overlap; `len` is not 0, and unless operands are taken
/// in any [order](free) at most a segment, or where all rows go by vector a tile, or whole tiles if
/// there is a prefix; others are folded only where one of the two holds; the CPU features of `W32`
/// and `W64` must be present.
#[inline(always)]
unsafe fn scan_segment<W32, W64, F, T, A, O>(work: ScanSegment<'_, F, T, A, O>) -> (A, Option<A>)
where
    W32: Words<Word = u32>,
    W64: Words<Word = u64>,
    F: Format,
    T: Element,
    A: Element,
    O: Operator<A>,
{
    let ScanSegment {
        operator, kind, from, to, len, before, prefix, beside, stream, after, ..
    } = work;
    if const { O::COMPACT } {
        debug_assert!(std::ptr::eq(from, to));
        // SAFETY: compact code has its elements in a stage, where they are scanned in place.
        let data = unsafe { slice::from_raw_parts_mut(to, len) };
        let order = const { Order::of::<T>() };
        let fold = compact::scan_segment(operator, order, kind, data, before);
        return (fold, None);
    }
    if const { free::<F, A, O>() } {
        let run = Run { from, to, len, before, beside, stream };
        // SAFETY: passed on.
        let (fold, ahead) =
            unsafe { free::scan::<WideOf<W32>, MaskedOf<W32>, A, O>(operator, kind, run) };
        if let Some(after) = after {
            *after = Some(fold);
        }
        return (fold, ahead);
    }
    let order = const { Order::of::<T>() };
    let whole = const { shape::<F, T, A, O>() }.whole(len, order);
    let (mut folds, mut ahead_fold) = (Folds::new(before), None);
    if whole > 0 {
        let rows = Rows { from, to, count: whole / order.row(), before, prefix, beside, stream };
        // SAFETY: `whole` elements lie within `len`; the size of `A` is what the arm says.
        (folds, ahead_fold) = unsafe {
            by_shape! { shape::<F, T, A, O>();
                Shape::Narrow(1) => rows::scan::<F, W32, A, O, 1>(operator, kind, rows),
                Shape::Narrow(2) => rows::scan::<F, W32, A, O, 2>(operator, kind, rows),
                Shape::Narrow(_) => rows::scan::<F, W32, A, O, 4>(operator, kind, rows),
                Shape::Wide(1) => rows::scan::<F, W64, A, O, 1>(operator, kind, rows),
                Shape::Wide(_) => rows::scan::<F, W64, A, O, 2>(operator, kind, rows),
                Shape::Exact => {
                    let blocks = whole / exact::BLOCK;
                    exact::scan(operator, kind, from, to, blocks, before)
                },
            }
        };
    }
    let mut done = whole;
    while done < len {
        let row = order.row().min(len - done);
        // SAFETY: the row lies within `len`.
        let total = unsafe {
            let (from, to) = (F::at(from, done), F::at(to, done).cast_mut());
            if const { F::PACKED > 0 } {
                staged::scan_row::<F, A, O>(operator, order, kind, from, to, row, folds.before())
            } else {
                arrays::scan_row(operator, order, kind, from, to, row, folds.before())
            }
        };
        folds.push(operator, total);
        done += row;
    }
    if let Some(after) = after {
        *after = folds.before();
    }
    (folds.fold().expect("a segment has a row"), ahead_fold)
}

/// The fold of up to a segment.
///
/// # Safety
///
/// `len` accumulators must be readable at `from`; `0 < len`, and `len <= segment` unless operands
/// are taken in any [order](free); the CPU features of `W32` and `W64` must be present.
#[inline(always)]
unsafe fn reduce_segment<W32, W64, F, T, A, O>(operator: &O, from: *const A, len: usize) -> A
where
    W32: Words<Word = u32>,
    W64: Words<Word = u64>,
    F: Format,
    T: Element,
    A: Element,
    O: Operator<A>,
{
    if const { O::COMPACT } {
        // SAFETY: passed on.
        let elements = unsafe { slice::from_raw_parts(from, len) };
        return compact::reduce_segment(operator, const { Order::of::<T>() }, elements);
    }
    if const { free::<F, A, O>() } {
        // SAFETY: passed on.
        return unsafe { free::reduce::<WideOf<W32>, A, O>(operator, from, len) };
    }
    let order = const { Order::of::<T>() };
    let whole = const { shape::<F, T, A, O>() }.whole(len, order);
    let mut fold = None;
    if whole > 0 {
        let full = whole / order.row();
        // SAFETY: `whole` elements lie within `len`; the size of `A` is what the arm says.
        fold = Some(unsafe {
            by_shape! { shape::<F, T, A, O>();
                Shape::Narrow(1) => rows::reduce::<F, W32, A, O, 1>(operator, from, full),
                Shape::Narrow(2) => rows::reduce::<F, W32, A, O, 2>(operator, from, full),
                Shape::Narrow(_) => rows::reduce::<F, W32, A, O, 4>(operator, from, full),
                Shape::Wide(1) => rows::reduce::<F, W64, A, O, 1>(operator, from, full),
                Shape::Wide(_) => rows::reduce::<F, W64, A, O, 2>(operator, from, full),
                Shape::Exact => exact::reduce(operator, from, whole / exact::BLOCK),
            }
        });
    }
    let mut done = whole;
    while done < len {
        let row = order.row().min(len - done);
        // SAFETY: the row lies within `len`.
        let total = unsafe {
            let from = F::at(from, done);
            if const { F::PACKED > 0 } {
                staged::reduce_row::<F, A, O>(operator, order, from, row)
            } else {
                arrays::reduce_row(operator, order, from, row)
            }
        };
        fold = Some(join(operator, fold, total));
        done += row;
    }
    fold.expect("a segment has a row")
}

/// `left ∘ right`, or `right` alone.
#[inline(always)]
pub(super) fn join<A: Element, O: Operator<A>>(operator: &O, left: Option<A>, right: A) -> A {
    left.map_or(right, |left| operator.combine(left, right))
}
