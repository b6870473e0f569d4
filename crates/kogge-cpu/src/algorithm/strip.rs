//! Lines side by side, scanned across memory order: a register lane for each line.
//!
//! Sixteen lines make a group, some groups a strip. A strip goes down the axis a chunk at a time,
//! all its groups in turn, so that each page and each line of the cache is visited once; what lies
//! between the chunks of a row, the Kogge–Stone levels of each group, stays in L1. Lanes never meet,
//! so each line has the order of a line alone, and the operator is vectorised without any move of
//! lanes.

use crate::arch::stream::prefetch;
use crate::arch::{Words, Work};
use crate::array::map;
use kogge_core::{Accumulate, Element, Kind, Operator, Order};
use std::marker::PhantomData;
use std::ops::Range;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Lines of a group.
pub(crate) const LANES: usize = 16;

/// Kogge–Stone steps of a row.
const LEVELS: usize = Order::CHUNKS_PER_ROW.ilog2() as usize;

/// Chunks that the memory of a strip is asked for ahead.
const AHEAD: usize = 4;

/// An accumulator of each line of a group.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Lanes<A>(pub(crate) [A; LANES]);

impl<A: Element> Lanes<A> {
    pub(crate) fn zeroed() -> Self {
        Self([A::zeroed(); LANES])
    }

    #[inline(always)]
    fn combine<O: Operator<A>>(operator: &O, left: &Self, right: &Self) -> Self {
        let mut combined = *left;
        for n in 0..LANES {
            combined.0[n] = operator.combine(left.0[n], right.0[n]);
        }
        combined
    }

    /// `left ∘ right`, or `right` alone.
    #[inline(always)]
    fn join<O: Operator<A>>(operator: &O, left: Option<&Self>, right: &Self) -> Self {
        left.map_or(*right, |left| Self::combine(operator, left, right))
    }
}

/// Where the lines of some groups lie.
pub(crate) trait Place<T, U>: Copy {
    /// How many lines a group has.
    fn count_of(&self, group: usize) -> usize;

    /// Asks for `len` elements of each line of a group from `start` on to be brought nearer.
    fn ask(&self, group: usize, start: usize, len: usize);

    /// Whether the values of full groups are stored past the caches; they are whole cache lines then.
    fn stream(&self) -> bool;

    /// Element `i` of line `n` of a group.
    ///
    /// # Safety
    ///
    /// There must be such an element.
    unsafe fn from(&self, group: usize, i: usize, n: usize) -> *const T;

    /// The place of its value.
    ///
    /// # Safety
    ///
    /// As for [`from`](Self::from).
    unsafe fn to(&self, group: usize, i: usize, n: usize) -> *mut U;
}

/// Where the lines of a strip lie: side by side.
#[derive(Clone, Copy)]
pub(crate) struct Strip<T, U> {
    /// The first element of the first line.
    pub(crate) from: *const T,
    /// The first value of the first line; may be `from` if the strides are equal too.
    pub(crate) to: *mut U,
    /// From one element of a line to the next, in the input and in the output.
    pub(crate) strides: [isize; 2],
    /// Lines side by side.
    pub(crate) lines: usize,
    /// Lines of the first group, so that the others can begin with a cache line.
    pub(crate) lead: usize,
    /// Whether values are stored past the caches: [`streams`](Strip::streams) must say that they
    /// can be.
    pub(crate) stream: bool,
}

// SAFETY: a strip says where; whoever reads and writes vouches for the memory.
unsafe impl<T, U> Send for Strip<T, U> {}
// SAFETY: as above.
unsafe impl<T, U> Sync for Strip<T, U> {}

impl<T, U> Strip<T, U> {
    /// Whether the values of each full group at each place are whole cache lines.
    pub(crate) fn streams(&self) -> bool {
        let stride = self.strides[1].unsigned_abs().wrapping_mul(size_of::<U>());
        let whole = |bytes: usize| bytes.is_multiple_of(LINE);
        let full = if self.lead < LANES { self.to.wrapping_add(self.lead) } else { self.to };
        whole(LANES * size_of::<U>()) && whole(full.addr()) && whole(stride)
    }

    /// How many groups there are; the first and the last may have fewer lines.
    pub(crate) fn groups(&self) -> usize {
        1 + self.lines.saturating_sub(self.lead).div_ceil(LANES)
    }

    /// The first line of a group.
    #[inline(always)]
    pub(crate) fn first_of(&self, group: usize) -> usize {
        if group == 0 { 0 } else { self.lead + (group - 1) * LANES }
    }
}

impl<T: Copy, U: Copy> Place<T, U> for Strip<T, U> {
    #[inline(always)]
    fn count_of(&self, group: usize) -> usize {
        let most = if group == 0 { self.lead } else { LANES };
        most.min(self.lines - self.first_of(group))
    }

    #[inline(always)]
    fn ask(&self, group: usize, start: usize, len: usize) {
        let first = self.from.wrapping_add(self.first_of(group));
        for i in start..start + len {
            let lines = first.wrapping_offset(i as isize * self.strides[0]).cast::<u8>();
            for offset in (0..LANES * size_of::<T>()).step_by(LINE) {
                prefetch(lines.wrapping_add(offset));
            }
        }
    }

    #[inline(always)]
    fn stream(&self) -> bool {
        self.stream
    }

    #[inline(always)]
    unsafe fn from(&self, group: usize, i: usize, n: usize) -> *const T {
        // SAFETY: passed on.
        unsafe { self.from.offset(i as isize * self.strides[0]).add(self.first_of(group) + n) }
    }

    #[inline(always)]
    unsafe fn to(&self, group: usize, i: usize, n: usize) -> *mut U {
        // SAFETY: passed on.
        unsafe { self.to.offset(i as isize * self.strides[1]).add(self.first_of(group) + n) }
    }
}

/// What is known of a group between two chunks.
#[derive(Clone)]
pub(crate) struct Group<A> {
    /// What precedes the tile, if anything does; given.
    pub(crate) before: Lanes<A>,
    /// The fold of the tile; the result.
    pub(crate) tile: Lanes<A>,
    /// What precedes the row.
    before_row: Lanes<A>,
    /// The fold of the rows of the segment so far.
    segment: Lanes<A>,
    /// The Kogge–Stone value of the last chunk.
    chunks: Lanes<A>,
    /// Before step k, the values of the last 2ᵏ chunks: that of chunk `c` at `2ᵏ - 1 + c % 2ᵏ`.
    levels: [Lanes<A>; (1 << LEVELS) - 1],
}

impl<A: Element> Group<A> {
    pub(crate) fn new() -> Self {
        let zeroed = Lanes::zeroed();
        Self {
            before: zeroed,
            tile: zeroed,
            before_row: zeroed,
            segment: zeroed,
            chunks: zeroed,
            levels: [zeroed; (1 << LEVELS) - 1],
        }
    }

    /// Takes in the total of chunk `c`, whose Kogge–Stone value is then in `chunks`.
    #[inline(always)]
    fn push<O: Operator<A>>(&mut self, operator: &O, c: usize, total: Lanes<A>) {
        let mut value = total;
        for k in 0..LEVELS {
            let distance = 1 << k;
            let place = &mut self.levels[distance - 1 + c % distance];
            let left = std::mem::replace(place, value);
            if c >= distance {
                value = Lanes::combine(operator, &left, &value);
            }
        }
        self.chunks = value;
    }
}

/// A tile of a strip, scanned at some SIMD level, or folded only if `STORE` is not set. Made where
/// the strip's memory is known to be this thread's.
pub(crate) struct Tile<'a, T, U, A, O, P, const STORE: bool> {
    pub(crate) operator: &'a O,
    pub(crate) kind: Kind,
    pub(crate) lines: P,
    pub(crate) types: PhantomData<fn(T) -> U>,
    /// The places along the lines.
    pub(crate) places: Range<usize>,
    /// One for each group of the strip.
    pub(crate) groups: &'a mut [Group<A>],
    /// Whether anything precedes the tile.
    pub(crate) preceded: bool,
}

impl<T, U, A, O, P, const STORE: bool> Work for Tile<'_, T, U, A, O, P, STORE>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
    P: Place<T, U>,
{
    type Output = ();
    const COMPACT: bool = O::COMPACT;

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(mut self) {
        let order = const { Order::of::<T>() };
        let Range { start, end } = self.places;
        for segment in (start..end).step_by(order.segment()) {
            let first = segment == start;
            let preceded = self.preceded || !first;
            let rest = segment..end.min(segment + order.segment());
            // SAFETY: passed on by whoever made the value.
            unsafe { self.segment::<W32>(rest, preceded) };
            for group in &mut *self.groups {
                let (operator, segment) = (self.operator, &group.segment);
                let tile = (!first).then_some(&group.tile);
                group.tile = Lanes::join(operator, tile, segment);
                group.before = Lanes::join(operator, preceded.then_some(&group.before), segment);
            }
        }
    }
}

impl<T, U, A, O, P, const STORE: bool> Tile<'_, T, U, A, O, P, STORE>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
    P: Place<T, U>,
{
    /// # Safety
    ///
    /// The places must exist, and be this call's alone; the CPU features of `H` must be present.
    #[inline(always)]
    unsafe fn segment<H: Words>(&mut self, places: Range<usize>, preceded: bool) {
        let order = const { Order::of::<T>() };
        for group in &mut *self.groups {
            group.before_row = group.before;
        }
        let Range { start, end } = places;
        for row in (start..end).step_by(order.row()) {
            let first = row == start;
            let preceded = preceded || !first;
            // SAFETY: passed on.
            unsafe { self.row::<H>(row..end.min(row + order.row()), preceded) };
            for group in &mut *self.groups {
                let (operator, row) = (self.operator, &group.chunks);
                let segment = (!first).then_some(&group.segment);
                group.segment = Lanes::join(operator, segment, row);
                let before = preceded.then_some(&group.before_row);
                group.before_row = Lanes::join(operator, before, row);
            }
        }
    }

    /// # Safety
    ///
    /// As for [`segment`](Self::segment).
    #[inline(always)]
    unsafe fn row<H: Words>(&mut self, places: Range<usize>, preceded: bool) {
        let chunk = const { Order::of::<T>().chunk() };
        let Range { start, end } = places;
        for (c, start) in (start..end).step_by(chunk).enumerate() {
            // SAFETY: passed on; lengths are those of the chunk and of each group.
            unsafe {
                if start + chunk <= end {
                    self.chunk::<H>(c, start, chunk, preceded);
                } else {
                    self.chunk::<H>(c, start, end - start, preceded);
                }
            }
        }
    }

    /// # Safety
    ///
    /// As for [`segment`](Self::segment), for chunk `c` of a row.
    #[inline(always)]
    unsafe fn chunk<H: Words>(&mut self, c: usize, start: usize, len: usize, preceded: bool) {
        for (g, group) in self.groups.iter_mut().enumerate() {
            // Group by group: a burst for all of them would fill the CPU's miss buffers.
            self.lines.ask(g, start + AHEAD * len, len);
            let lines = Chunk { lines: self.lines, group: g, start };
            let base = match (c, preceded) {
                (0, true) => Some(group.before_row),
                (0, false) => None,
                (_, true) => Some(Lanes::combine(self.operator, &group.before_row, &group.chunks)),
                (_, false) => Some(group.chunks),
            };
            // SAFETY: passed on.
            let total = unsafe {
                if self.lines.count_of(g) == LANES {
                    lines.scan::<H, T, U, A, O, STORE, true>(self.operator, self.kind, len, base)
                } else {
                    lines.scan::<H, T, U, A, O, STORE, false>(self.operator, self.kind, len, base)
                }
            };
            group.push(self.operator, c, total);
        }
    }
}

/// A chunk of each line of a group.
struct Chunk<P> {
    lines: P,
    group: usize,
    /// Its first place along the lines.
    start: usize,
}

impl<P> Chunk<P> {
    /// Scans the chunks, and gives their totals. All lanes are lines if `FULL`.
    ///
    /// # Safety
    ///
    /// The places must exist, and be this call's alone; if `stream`, each group's values must be
    /// whole cache lines. The CPU features of `H` must be present.
    #[inline(always)]
    unsafe fn scan<H, T, U, A, O, const STORE: bool, const FULL: bool>(
        &self,
        operator: &O,
        kind: Kind,
        len: usize,
        mut base: Option<Lanes<A>>,
    ) -> Lanes<A>
    where
        P: Place<T, U>,
        H: Words,
        T: Accumulate<A>,
        U: Accumulate<A>,
        A: Element,
        O: Operator<A>,
    {
        let Self { lines, group, start } = *self;
        let count = if FULL { LANES } else { lines.count_of(group) };
        let mut total = Lanes::zeroed();
        for i in start..start + len {
            let mut element = Lanes::zeroed();
            for n in 0..count {
                // SAFETY: element `i` of line `n`.
                element.0[n] = unsafe { lines.from(group, i, n).read() }.widen();
            }
            total = Lanes::join(operator, (i > start).then_some(&total), &element);
            if STORE {
                let through = Lanes::join(operator, base.as_ref(), &element);
                let value = match kind {
                    Kind::Inclusive => through,
                    Kind::Exclusive => base.unwrap_or_else(|| Lanes([operator.identity(); LANES])),
                };
                // SAFETY: passed on; place `i` of each line.
                unsafe {
                    if FULL && lines.stream() {
                        let values: Values<U> = Values(map(value.0, U::narrow));
                        stream_group::<H, U>(&values, lines.to(group, i, 0));
                    } else {
                        for n in 0..count {
                            lines.to(group, i, n).write(U::narrow(value.0[n]));
                        }
                    }
                }
                base = Some(through);
            }
        }
        total
    }
}

/// A value of each line of a group, in whole cache lines if it is streamed.
#[repr(C, align(64))]
struct Values<U>([U; LANES]);

/// Stores the values of a group past the caches.
///
/// # Safety
///
/// The values must be whole cache lines, writable at `to`, which begins one; the CPU features of `H`
/// must be present.
#[inline(always)]
unsafe fn stream_group<H: Words, U>(values: &Values<U>, to: *mut U) {
    let (from, to) = (values.0.as_ptr().cast::<u8>(), to.cast::<u8>());
    for line in (0..size_of::<[U; LANES]>()).step_by(LINE) {
        // SAFETY: passed on.
        unsafe { H::stream_line(from.add(line), to.add(line)) };
    }
}
