//! A chunk of lines side by side whose lanes fill lines of the cache, by vectors.
//!
//! What a [strip](super::strip) does for lanes of any kind, for elements that are their own accumulators
//! and whole vectors: sixteen of them are one line of the cache or a few, which don't depend on each
//! other. A line of values is stored at once. So it may go past the caches to where it belongs, line by
//! line, and rows of memory need not be put together first.

use super::abreast::Abreast;
use super::free::{combine, splat};
use super::strip::{Group, LANES, LEVELS, Lanes, fills};
use crate::arch::stream::{Cache, LINE};
use crate::arch::{Vectors, WideOf, Words, Work};
use crate::array::array;
use kogge_core::{Accumulate, Element, Operator, Order};
use std::marker::PhantomData;

/// Places of a chunk at most, where lanes fill lines.
const PLACES: usize = 4;

/// The vectors of a line of the cache.
type Line<P, const N: usize> = [<P as Vectors>::Vector; N];

/// Whether the lanes of a group are whole lines of the cache, and those whole vectors of `A`.
pub(super) const fn fills_lines<P: Vectors, T: Accumulate<A>, U: Accumulate<A>, A: Element>() -> bool
{
    T::SAME.holds()
        && U::SAME.holds()
        && fills::<P, A>()
        && (LANES * size_of::<A>()).is_multiple_of(LINE)
}

/// Vectors of a line of the cache; 0 at a level without.
const fn vectors<P: Vectors>() -> usize {
    match LINE.checked_div(P::BYTES) {
        Some(vectors) => vectors,
        None => 0,
    }
}

/// The question how many vectors the lanes of a group are at a level where [`fills_lines`] holds, so that
/// values of whole chunks are stored in no other way than by whole lines; 0 where it doesn't.
pub(crate) struct ByLines<T, U, A, O>(PhantomData<(T, U, A, O)>);

impl<T, U, A, O> ByLines<T, U, A, O> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T: Accumulate<A>, U: Accumulate<A>, A: Element, O: Operator<A>> Work for ByLines<T, U, A, O> {
    type Output = usize;
    const COMPACT: bool = O::COMPACT;

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) -> usize {
        let by_lines = const { !O::COMPACT && fills_lines::<WideOf<W32>, T, U, A>() };
        let vectors = const { vectors::<WideOf<W32>>() * (LANES * size_of::<A>() / LINE) };
        if by_lines { vectors } else { 0 }
    }
}

/// A chunk of lines side by side, and what its groups have in common.
#[derive(Clone, Copy)]
pub(super) struct Chunk {
    /// The lanes of the first place, and bytes from a place to the next.
    from: *const u8,
    stride: isize,
    /// Bytes to the places that are asked for meanwhile, and what those are brought into.
    ahead: (isize, Cache),
    /// Where the values of the first place go, and bytes from a place to the next.
    to: *mut u8,
    pitch: isize,
    /// Whether they go past the caches; they are whole lines then.
    stream: bool,
    exclusive: bool,
    /// Whether anything precedes the row.
    preceded: bool,
    /// Its number in the row, and how many chunks there are from it on.
    number: usize,
    left: usize,
    /// Where each level of a group has what this chunk is combined with, and leaves its own.
    slots: [usize; LEVELS],
}

impl Chunk {
    /// Chunk `number` of a row of lines that has `left` of them from it on, given where each line's elements are and
    /// values go, and how many elements `ahead` memory is asked for, and into which cache.
    #[inline(always)]
    pub(super) fn new<A>(
        (number, left): (usize, usize),
        from: Abreast<A>,
        ahead: (isize, Cache),
        to: (*mut A, isize),
        (stream, exclusive, preceded): (bool, bool, bool),
    ) -> Self {
        let bytes = |elements: isize| elements.wrapping_mul(size_of::<A>() as isize);
        Self {
            from: from.first.cast(),
            stride: bytes(from.stride),
            ahead: (bytes(ahead.0), ahead.1),
            to: to.0.cast(),
            pitch: bytes(to.1),
            stream,
            exclusive,
            preceded,
            number,
            left,
            slots: array(|k| ((1 << k) - 1 + number % (1 << k)) * size_of::<Lanes<A>>()),
        }
    }

    /// Scans the chunk of the group that begins with a line, and takes it in; without `STORE` folds it.
    ///
    /// # Safety
    ///
    /// [`fills_lines`] must hold; the places must exist, and be this call's alone; the CPU features of
    /// `P` must be present.
    #[inline(always)]
    pub(super) unsafe fn scan<P: Vectors, A: Element, O: Operator<A>, const STORE: bool>(
        &self,
        operator: &O,
        group: &mut Group<A>,
        line: usize,
    ) {
        for first in (0..const { LANES * size_of::<A>() }).step_by(LINE) {
            let at = line * size_of::<A>() + first;
            // SAFETY: passed on; a line has as many vectors as the arm says.
            unsafe {
                match const { vectors::<P>() } {
                    1 => self.line::<P, A, O, 1, STORE>(operator, group, first, at),
                    2 => self.line::<P, A, O, 2, STORE>(operator, group, first, at),
                    _ => self.line::<P, A, O, 4, STORE>(operator, group, first, at),
                }
            }
        }
    }

    /// Scans the lanes of a line, which begins `first` bytes into the group, `at` into the lines.
    ///
    /// # Safety
    ///
    /// As for [`scan`](Self::scan); a line must have `N` vectors of `P`.
    #[inline(always)]
    unsafe fn line<P: Vectors, A: Element, O: Operator<A>, const N: usize, const STORE: bool>(
        &self,
        operator: &O,
        group: &mut Group<A>,
        first: usize,
        at: usize,
    ) {
        let places = const { Order::of::<A>().chunk() };
        let (mut from, mut to) = (self.from.wrapping_add(at), self.to.wrapping_add(at));
        let (ahead, cache) = self.ahead;
        let mut ask = from.wrapping_offset(ahead);
        // SAFETY: lanes of places, and of a group; features by contract.
        unsafe {
            // All are read before the first is stored: a load waits for an earlier store to an address that is the same
            // but for whole pages. (A Zen 4, lines a page apart in buffers that both begin a page: a fifth faster.)
            let mut elements = [load::<P, N>(from); PLACES];
            for p in 1..places {
                from = from.wrapping_offset(self.stride);
                elements[p] = load::<P, N>(from);
            }
            let mut total = elements[0];
            let mut through = total;
            cache.ask::<LINE>(ask);
            if STORE {
                let before = self.before::<P, A, O, N>(operator, group, first);
                if let Some(before) = &before {
                    through = join::<P, A, O, N>(operator, before, &total);
                }
                let identity = || [splat::<P, A>(operator.identity()); N];
                let value = if self.exclusive { before.unwrap_or_else(identity) } else { through };
                self.put::<P, N>(value, to);
            }
            for p in 1..places {
                ask = ask.wrapping_offset(self.stride);
                cache.ask::<LINE>(ask);
                total = join::<P, A, O, N>(operator, &total, &elements[p]);
                if STORE {
                    to = to.wrapping_offset(self.pitch);
                    let next = join::<P, A, O, N>(operator, &through, &elements[p]);
                    self.put::<P, N>(if self.exclusive { through } else { next }, to);
                    through = next;
                }
            }
            self.take_in::<P, A, O, N, STORE>(operator, group, first, total);
        }
    }

    /// What precedes the chunk, if anything does.
    ///
    /// # Safety
    ///
    /// As for [`line`](Self::line).
    #[inline(always)]
    unsafe fn before<P: Vectors, A: Element, O: Operator<A>, const N: usize>(
        &self,
        operator: &O,
        group: &Group<A>,
        first: usize,
    ) -> Option<Line<P, N>> {
        // SAFETY: lanes of a group; features by contract.
        unsafe {
            let row = || load::<P, N>((&raw const group.before).cast::<u8>().wrapping_add(first));
            let chunks =
                || load::<P, N>((&raw const group.chunks).cast::<u8>().wrapping_add(first));
            match (self.number, self.preceded) {
                (0, false) => None,
                (0, true) => Some(row()),
                (_, true) => Some(join::<P, A, O, N>(operator, &row(), &chunks())),
                (_, false) => Some(chunks()),
            }
        }
    }

    /// Takes in the total of the chunk, as [`Group::push`] does, or [`Group::fold`] without `STORE`.
    ///
    /// # Safety
    ///
    /// As for [`line`](Self::line).
    #[inline(always)]
    unsafe fn take_in<P: Vectors, A: Element, O: Operator<A>, const N: usize, const STORE: bool>(
        &self,
        operator: &O,
        group: &mut Group<A>,
        first: usize,
        mut value: Line<P, N>,
    ) {
        let levels = (&raw mut group.levels).cast::<u8>().wrapping_add(first);
        let chunks = (&raw mut group.chunks).cast::<u8>().wrapping_add(first);
        // SAFETY: lanes of a group; features by contract.
        unsafe {
            if const { O::EXACT } {
                if self.number > 0 {
                    value = join::<P, A, O, N>(operator, &load::<P, N>(chunks), &value);
                }
            } else if !STORE {
                let mut k = 0;
                while (self.number >> k) & 1 == 1 {
                    let left = levels.wrapping_add(((1 << k) - 1) * size_of::<Lanes<A>>());
                    value = join::<P, A, O, N>(operator, &load::<P, N>(left), &value);
                    k += 1;
                }
                if k < LEVELS {
                    let place = levels.wrapping_add(((1 << k) - 1) * size_of::<Lanes<A>>());
                    store::<P, N>(value, place);
                }
            } else {
                for k in 0..LEVELS {
                    let place = levels.wrapping_add(self.slots[k]);
                    let left = (self.number >= 1 << k).then(|| load::<P, N>(place));
                    if self.left > 1 << k {
                        store::<P, N>(value, place);
                    }
                    if let Some(left) = left {
                        value = join::<P, A, O, N>(operator, &left, &value);
                    }
                }
            }
            store::<P, N>(value, chunks);
        }
    }

    /// Stores a line of values.
    ///
    /// # Safety
    ///
    /// As for [`line`](Self::line).
    #[inline(always)]
    unsafe fn put<P: Vectors, const N: usize>(&self, values: Line<P, N>, to: *mut u8) {
        // SAFETY: by contract; whole lines begin where vectors do.
        unsafe {
            if self.stream {
                for v in 0..N {
                    P::stream(values[v], to.wrapping_add(v * P::BYTES));
                }
            } else {
                store::<P, N>(values, to);
            }
        }
    }
}

/// # Safety
///
/// A line of elements must be readable; the CPU features of `P` be present.
#[inline(always)]
unsafe fn load<P: Vectors, const N: usize>(from: *const u8) -> Line<P, N> {
    // SAFETY: by contract.
    array(|v| unsafe { P::load(from.wrapping_add(v * P::BYTES)) })
}

/// # Safety
///
/// A line must be writable; the CPU features of `P` be present.
#[inline(always)]
unsafe fn store<P: Vectors, const N: usize>(line: Line<P, N>, to: *mut u8) {
    for v in 0..N {
        // SAFETY: by contract.
        unsafe { P::store(line[v], to.wrapping_add(v * P::BYTES)) }
    }
}

/// `left ∘ right`, lane by lane.
///
/// # Safety
///
/// The CPU features of `P` must be present.
#[inline(always)]
unsafe fn join<P: Vectors, A: Element, O: Operator<A>, const N: usize>(
    operator: &O,
    left: &Line<P, N>,
    right: &Line<P, N>,
) -> Line<P, N> {
    // SAFETY: by contract.
    array(|v| unsafe { combine::<P, A, O>(operator, left[v], right[v]) })
}
