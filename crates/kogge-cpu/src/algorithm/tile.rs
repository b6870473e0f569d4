//! Tiles and segments: rows by vector where elements are whole words, by array elsewhere.
//!
//! The segment is where code is compiled for a SIMD level: long enough to hide the call, and all
//! the code around it exists once.

use super::io::Io;
use super::{arrays, exact, rows};
use crate::arch::stream::Memory;
use crate::arch::{Level, Words, Work};
use kogge_core::{Element, Kind, Ladder, Operator, Order};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

/// A scan as all threads see it.
pub(crate) struct Scan<'a, I, A, O> {
    pub(crate) level: Level,
    pub(crate) operator: &'a O,
    pub(crate) kind: Kind,
    pub(crate) io: I,
    pub(crate) len: usize,
    pub(crate) init: Option<A>,
}

impl<I: Io<A>, A: Element, O: Operator<A>> Scan<'_, I, A, O> {
    pub(crate) const ORDER: Order = Order::of::<I::Element>();

    /// The places of a tile.
    pub(super) fn tile(&self, tile: usize) -> Range<usize> {
        let start = tile * Self::ORDER.tile();
        start..self.len.min(start + Self::ORDER.tile())
    }

    /// How many tiles there are.
    pub(crate) fn tiles(&self) -> usize {
        self.len.div_ceil(Self::ORDER.tile())
    }

    /// Accumulators for the stage of one thread; none where elements are used where they lie.
    pub(super) fn stage(&self) -> Vec<MaybeUninit<A>> {
        let len = if I::STAGED { self.len.min(Self::ORDER.segment()) } else { 0 };
        let mut stage = Vec::with_capacity(len);
        stage.resize_with(len, MaybeUninit::uninit);
        stage
    }

    /// Scans the places of a tile and gives their fold; prefetches the places from `ahead` on.
    ///
    /// # Safety
    ///
    /// No other thread may read or write these places of the output meanwhile, nor write those of
    /// the input.
    pub(super) unsafe fn scan_tile(
        &self,
        places: Range<usize>,
        mut before: Option<A>,
        ahead: usize,
        stage: &mut [MaybeUninit<A>],
    ) -> A {
        let stage = stage.as_mut_ptr().cast::<A>();
        let mut fold = None;
        for start in places.clone().step_by(Self::ORDER.segment()) {
            let len = Self::ORDER.segment().min(places.end - start);
            let ahead = self.address(ahead + (start - places.start), len);
            let memory = Memory { ahead, stream: I::STREAM };
            // SAFETY: the places exist, the stage holds a segment if it is used at all, and the
            // memory is this thread's by contract.
            let total = unsafe {
                let from = self.io.load(start, len, stage);
                let to = self.io.target(start, stage);
                let segment = ScanSegment::<I::Element, _, _> {
                    operator: self.operator,
                    kind: self.kind,
                    from,
                    to,
                    len,
                    before,
                    memory,
                    element: PhantomData,
                };
                let total = self.level.run(segment);
                self.io.store(start, len, stage);
                total
            };
            before = Some(join(self.operator, before, total));
            fold = Some(join(self.operator, fold, total));
        }
        fold.expect("a tile has a segment")
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
        let stage = stage.as_mut_ptr().cast::<A>();
        let mut fold = None;
        for start in places.clone().step_by(Self::ORDER.segment()) {
            let len = Self::ORDER.segment().min(places.end - start);
            // SAFETY: as in `scan_tile`.
            let total = unsafe {
                let from = self.io.load(start, len, stage);
                let segment = ReduceSegment::<I::Element, _, _> {
                    operator: self.operator,
                    from,
                    len,
                    element: PhantomData,
                };
                self.level.run(segment)
            };
            fold = Some(join(self.operator, fold, total));
        }
        fold.expect("a tile has a segment")
    }

    /// Where these places lie, if they exist and are worth prefetching.
    fn address(&self, start: usize, len: usize) -> Option<*const u8> {
        if start + len <= self.len { self.io.address(start, len) } else { None }
    }
}

/// The totals of tiles as they come, turned into what precedes the next tile.
pub(crate) struct Prefix<A> {
    blocks: Option<A>,
    tiles: Ladder<A>,
    /// Tiles taken in.
    pub(super) next: usize,
}

impl<A: Element> Prefix<A> {
    pub(crate) fn new(init: Option<A>) -> Self {
        Self { blocks: init, tiles: Ladder::new(), next: 0 }
    }

    /// What precedes the next tile.
    pub(crate) fn before<O: Operator<A>>(&self, operator: &O) -> Option<A> {
        match self.tiles.last() {
            Some(tiles) => Some(join(operator, self.blocks, tiles)),
            None => self.blocks,
        }
    }

    /// Takes in the next tile's total.
    pub(crate) fn push<O: Operator<A>>(&mut self, operator: &O, total: A) {
        self.next += 1;
        let tiles = self.tiles.push(operator, total);
        if self.next.is_multiple_of(Order::TILES_PER_BLOCK) {
            self.blocks = Some(join(operator, self.blocks, tiles));
            self.tiles.clear();
        }
    }
}

/// A segment to be scanned at some SIMD level. Made where `from` and `to` are known to be valid.
struct ScanSegment<'a, T, A, O> {
    operator: &'a O,
    kind: Kind,
    from: *const A,
    to: *mut A,
    len: usize,
    before: Option<A>,
    memory: Memory,
    element: PhantomData<T>,
}

impl<T: Element, A: Element, O: Operator<A>> Work for ScanSegment<'_, T, A, O> {
    type Output = A;

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) -> A {
        let Self { operator, kind, from, to, len, before, memory, .. } = self;
        // SAFETY: memory by whoever made the value, features by contract.
        unsafe { scan_segment::<W32, W64, T, A, O>(operator, kind, from, to, len, before, memory) }
    }
}

/// A segment to be folded at some SIMD level. Made where `from` is known to be readable.
struct ReduceSegment<'a, T, A, O> {
    operator: &'a O,
    from: *const A,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Element, A: Element, O: Operator<A>> Work for ReduceSegment<'_, T, A, O> {
    type Output = A;

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) -> A {
        // SAFETY: memory by whoever made the value, features by contract.
        unsafe { reduce_segment::<W32, W64, T, A, O>(self.operator, self.from, self.len) }
    }
}

/// Which kernels a scan uses; a constant of its types.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Elements of so many words of 4 bytes.
    Narrow(usize),
    /// Elements of so many words of 8 bytes.
    Wide(usize),
    /// Short elements in any order.
    Exact,
    /// Anything else.
    Array,
}

/// The kernels for elements `T` accumulated in `A` by `O`.
pub(super) const fn shape<T, A: Element, O: Operator<A>>() -> Shape {
    let size = size_of::<A>();
    if size <= 2 && O::EXACT {
        return Shape::Exact;
    }
    if size * Order::of::<T>().chunk() != Order::CHUNK_BYTES {
        return Shape::Array;
    }
    match (size, align_of::<A>()) {
        (8, 8) => Shape::Wide(1),
        (16, 8) => Shape::Wide(2),
        (4, _) => Shape::Narrow(1),
        (8, _) => Shape::Narrow(2),
        (16, _) => Shape::Narrow(4),
        _ => Shape::Array,
    }
}

impl Shape {
    /// How many of `len` elements the kernels take; the rest goes by array.
    const fn whole(self, len: usize, order: Order) -> usize {
        match self {
            Self::Narrow(_) | Self::Wide(_) => len - len % order.row(),
            Self::Exact => len - len % exact::BLOCK,
            Self::Array => 0,
        }
    }
}

/// Scans up to a segment and gives its fold. `to` may be `from`.
///
/// `T` is the element as it lies in memory, which fixes the order.
///
/// # Safety
///
/// `len` accumulators must be readable at `from` and writable at `to`, equal or not overlapping;
/// `0 < len <= segment`; the CPU features of `W32` and `W64` must be present.
#[inline(always)]
unsafe fn scan_segment<W32, W64, T, A, O>(
    operator: &O,
    kind: Kind,
    from: *const A,
    to: *mut A,
    len: usize,
    before: Option<A>,
    memory: Memory,
) -> A
where
    W32: Words<Word = u32>,
    W64: Words<Word = u64>,
    T: Element,
    A: Element,
    O: Operator<A>,
{
    let order = const { Order::of::<T>() };
    let whole = const { shape::<T, A, O>() }.whole(len, order);
    let (mut fold, mut before) = (None, before);
    if whole > 0 {
        let full = whole / order.row();
        // SAFETY: `whole` elements lie within `len`; the size of `A` is what the arm says.
        let (total, through) = unsafe {
            match const { shape::<T, A, O>() } {
                Shape::Narrow(1) => {
                    rows::scan::<W32, A, O, 1>(operator, kind, from, to, full, before, memory)
                }
                Shape::Narrow(2) => {
                    rows::scan::<W32, A, O, 2>(operator, kind, from, to, full, before, memory)
                }
                Shape::Narrow(_) => {
                    rows::scan::<W32, A, O, 4>(operator, kind, from, to, full, before, memory)
                }
                Shape::Wide(1) => {
                    rows::scan::<W64, A, O, 1>(operator, kind, from, to, full, before, memory)
                }
                Shape::Wide(_) => {
                    rows::scan::<W64, A, O, 2>(operator, kind, from, to, full, before, memory)
                }
                Shape::Exact => {
                    let blocks = whole / exact::BLOCK;
                    exact::scan(operator, kind, from, to, blocks, before, memory)
                }
                Shape::Array => unreachable!(),
            }
        };
        (fold, before) = (Some(total), Some(through));
    }
    let mut done = whole;
    while done < len {
        let row = order.row().min(len - done);
        memory.prefetch(done * size_of::<T>());
        // SAFETY: the row lies within `len`.
        let total = unsafe {
            arrays::scan_row(operator, order, kind, from.add(done), to.add(done), row, before)
        };
        before = Some(join(operator, before, total));
        fold = Some(join(operator, fold, total));
        done += row;
    }
    fold.expect("a segment has a row")
}

/// The fold of up to a segment.
///
/// # Safety
///
/// `len` accumulators must be readable at `from`; `0 < len <= segment`; the CPU features of `W32`
/// and `W64` must be present.
#[inline(always)]
unsafe fn reduce_segment<W32, W64, T, A, O>(operator: &O, from: *const A, len: usize) -> A
where
    W32: Words<Word = u32>,
    W64: Words<Word = u64>,
    T: Element,
    A: Element,
    O: Operator<A>,
{
    let order = const { Order::of::<T>() };
    let whole = const { shape::<T, A, O>() }.whole(len, order);
    let mut fold = None;
    if whole > 0 {
        let full = whole / order.row();
        // SAFETY: `whole` elements lie within `len`; the size of `A` is what the arm says.
        fold = Some(unsafe {
            match const { shape::<T, A, O>() } {
                Shape::Narrow(1) => rows::reduce::<W32, A, O, 1>(operator, from, full),
                Shape::Narrow(2) => rows::reduce::<W32, A, O, 2>(operator, from, full),
                Shape::Narrow(_) => rows::reduce::<W32, A, O, 4>(operator, from, full),
                Shape::Wide(1) => rows::reduce::<W64, A, O, 1>(operator, from, full),
                Shape::Wide(_) => rows::reduce::<W64, A, O, 2>(operator, from, full),
                Shape::Exact => exact::reduce(operator, from, whole / exact::BLOCK),
                Shape::Array => unreachable!(),
            }
        });
    }
    let mut done = whole;
    while done < len {
        let row = order.row().min(len - done);
        // SAFETY: the row lies within `len`.
        let total = unsafe { arrays::reduce_row(operator, order, from.add(done), row) };
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
