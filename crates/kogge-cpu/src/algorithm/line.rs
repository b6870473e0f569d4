//! Chunks of lines side by side whose lanes fill lines of the cache, by vectors.
//!
//! What a [strip](super::strip) does for lanes of any kind, for elements that are their own
//! accumulators and whole vectors: sixteen of them are one line of the cache or a few, which don't
//! depend on each other. A line of values is stored at once. So it may go past the caches to where
//! it belongs, line by line, and rows of memory need not be put together first.

pub(super) mod in_turn;
mod state;
mod vectors;

use super::abreast::Abreast;
use super::free::splat;
use super::group::{Group, LANES, fills};
use super::pages::RowsOfPages;
use crate::arch::stream::{Cache, LINE};
use crate::arch::{Vectors, WideOf, Words, Work};
use crate::array::for_each;
use crate::{Cpu, tuning};
use kogge_core::{Accumulate, Element, Operator, Order};
use state::State;
use std::marker::PhantomData;
use vectors::{Line, join, load, store, stream, vectors};

/// Places of a chunk at most, where lanes fill lines.
const PLACES: usize = 4;

/// Whether the lanes of a group are whole lines of the cache, and those whole vectors of `A`.
pub(super) const fn fills_lines<P: Vectors, T: Accumulate<A>, U: Accumulate<A>, A: Element>() -> bool
{
    T::SAME.holds()
        && U::SAME.holds()
        && fills::<P, A>()
        && (LANES * size_of::<A>()).is_multiple_of(LINE)
}

/// The question whether [`fills_lines`] holds at a level, so that values are stored in no other way
/// than by whole lines.
pub(crate) struct ByLines<T, U, A, O>(PhantomData<(T, U, A, O)>);

impl<T, U, A, O> ByLines<T, U, A, O> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T: Accumulate<A>, U: Accumulate<A>, A: Element, O: Operator<A>> Work for ByLines<T, U, A, O> {
    type Output = bool;
    const COMPACT: bool = O::COMPACT;

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) -> bool {
        const { !O::COMPACT && fills_lines::<WideOf<W32>, T, U, A>() }
    }
}

/// Places that a visit of a group goes through, or a chunk: the more, the fewer loads and stores of
/// what lies between chunks.
pub(super) const MANY: usize = 16;
pub(super) const FEW: usize = 2;

/// Whether a visit goes through two chunks where [many](MANY) places would meet in a set of a
/// cache, and values go past the caches. Tests have such visits on any CPU.
#[inline(always)]
pub(crate) fn pairs<T: Element>(stream: bool) -> bool {
    let fits = const { Order::of::<T>().chunk() == PLACES };
    fits && stream && (cfg!(test) || tuning::pairs_of_chunks(Cpu::detect()))
}

/// Chunks that those are at most, and values of the lowest levels that stay in registers meanwhile.
const MOST: usize = MANY;
const HELD: usize = MOST - 1;

/// For a visit of a chunk that isn't whole.
pub(super) const PART: usize = 0;

/// Chunks of lines side by side that follow one another, or [`PART`] of one, and what their groups
/// have in common.
#[derive(Clone, Copy)]
pub(super) struct Visit {
    /// The lanes of the first place, and bytes from a place to the next.
    from: *const u8,
    stride: isize,
    /// Bytes to the places that are asked for meanwhile, and what those are brought into; if they
    /// are.
    ahead: (isize, Option<Cache>),
    turn: RowsOfPages,
    /// Where the values of the first place go, and bytes from a place to the next.
    to: *mut u8,
    pitch: isize,
    /// Whether they go past the caches; they are whole lines then.
    stream: bool,
    exclusive: bool,
    /// Whether anything precedes the row.
    preceded: bool,
    /// The first chunk's number in the row, and how many chunks there are from it on.
    number: usize,
    left: usize,
    /// Places of a chunk that isn't whole.
    len: usize,
}

impl Visit {
    /// Chunks from `number` on of a row of lines that has `left` of them, the first of `len`
    /// places, given where each line's elements are and values go, and how many elements `ahead`
    /// memory is asked for, and into which cache, if it is.
    #[inline(always)]
    pub(super) fn new<A>(
        (number, left, len): (usize, usize, usize),
        from: Abreast<A>,
        ahead: (isize, Option<Cache>),
        to: (*mut A, isize),
        (stream, exclusive, preceded): (bool, bool, bool),
    ) -> Self {
        let bytes = |elements: isize| elements.wrapping_mul(size_of::<A>() as isize);
        Self {
            from: from.first.cast(),
            stride: bytes(from.stride),
            ahead: (bytes(ahead.0), ahead.1),
            turn: RowsOfPages::new(ahead.1.is_some_and(Cache::goes_on), bytes(from.stride)),
            to: to.0.cast(),
            pitch: bytes(to.1),
            stream,
            exclusive,
            preceded,
            number,
            left,
            len,
        }
    }

    /// Scans `C` chunks of the group that begins with a line, and takes them in; without `STORE`
    /// folds them. Nothing is asked for, and nothing stored past the caches, unless they are `FAR`.
    ///
    /// # Safety
    ///
    /// [`fills_lines`] must hold; `C` be a power of two up to [`MOST`], and the first chunk's
    /// number a multiple of it, or [`PART`] of a chunk; the places must exist, and be this call's
    /// alone; the CPU features of `P` must be present.
    #[inline(always)]
    pub(super) unsafe fn scan<P, A, O, const C: usize, const STORE: bool, const FAR: bool>(
        &self,
        operator: &O,
        group: &mut Group<'_, A>,
        line: usize,
    ) where
        P: Vectors,
        A: Element,
        O: Operator<A>,
    {
        for_each!((0..const { LANES * size_of::<A>() }).step_by(LINE), |first| {
            let at = line * size_of::<A>() + first;
            // SAFETY: passed on; a line has as many vectors as the arm says.
            unsafe {
                match const { vectors::<P>() } {
                    1 => self.line::<P, A, O, 1, C, STORE, FAR>(operator, group, first, at),
                    2 => self.line::<P, A, O, 2, C, STORE, FAR>(operator, group, first, at),
                    _ => self.line::<P, A, O, 4, C, STORE, FAR>(operator, group, first, at),
                }
            }
        });
    }

    /// Scans the lanes of a line, which begins `first` bytes into the group, `at` into the lines.
    ///
    /// # Safety
    ///
    /// As for [`scan`](Self::scan); a line must have `N` vectors of `P`.
    #[inline(always)]
    unsafe fn line<
        P: Vectors,
        A: Element,
        O: Operator<A>,
        const N: usize,
        const C: usize,
        const STORE: bool,
        const FAR: bool,
    >(
        &self,
        operator: &O,
        group: &mut Group<'_, A>,
        first: usize,
        at: usize,
    ) {
        const { assert!(C == PART || C.is_power_of_two() && C <= MOST) };
        let slots = (self.number + self.left).next_power_of_two() - 1;
        debug_assert!(O::EXACT || group.slots.len() >= slots, "{} slots", group.slots.len());
        // SAFETY: lanes of a group; features by contract.
        unsafe {
            let mut state = State::<P, N>::of::<A>(group, first, const { STORE && O::EXACT });
            let held = const { C > 1 && STORE && !O::EXACT };
            if held {
                state.hold::<A, C>(self.number);
            }
            let mut totals = [state.last; MOST];
            // Not in a loop, which LLVM wouldn't unroll, nor by a closure, which it wouldn't
            // inline.
            macro_rules! chunks {
                ($($c:literal)*) => {
                    $(totals[$c] = self.chunk::<P, A, O, N, C, STORE, FAR>(operator, &mut state, at, $c);)*
                };
            }
            chunks!(0);
            if const { C > 1 } {
                chunks!(1);
            }
            if const { C > 2 } {
                chunks!(2 3);
            }
            if const { C > 4 } {
                chunks!(4 5 6 7);
            }
            if const { C > 8 } {
                chunks!(8 9 10 11 12 13 14 15);
            }
            if held {
                state.leave::<A, C>(self.left - (C - 1));
            }
            if const { !STORE && !O::EXACT } {
                state.fold::<A, O, C>(operator, self.number, totals);
            }
            store::<P, N>(state.last, state.last_goes);
        }
    }

    /// Scans chunk `c` of the visit, and takes it in where more than its fold is wanted. Gives
    /// that.
    ///
    /// # Safety
    ///
    /// As for [`line`](Self::line).
    #[inline(always)]
    unsafe fn chunk<
        P: Vectors,
        A: Element,
        O: Operator<A>,
        const N: usize,
        const C: usize,
        const STORE: bool,
        const FAR: bool,
    >(
        &self,
        operator: &O,
        state: &mut State<P, N>,
        at: usize,
        c: usize,
    ) -> Line<P, N> {
        let (number, left) = (self.number + c, self.left - c);
        let places = (c * const { Order::of::<A>().chunk() }) as isize;
        let from = self.from.wrapping_add(at).wrapping_offset(places * self.stride);
        let to = self.to.wrapping_add(at).wrapping_offset(places * self.pitch);
        // SAFETY: passed on.
        unsafe {
            let before = if const { STORE && !O::EXACT } {
                self.before::<P, A, O, N>(operator, state, number)
            } else {
                state.last
            };
            let preceded = self.preceded || number > 0;
            let total =
                self.places::<P, A, O, N, C, STORE, FAR>(operator, from, to, before, preceded);
            if const { STORE && O::EXACT } {
                state.last = total;
            } else if const { O::EXACT } {
                state.take_in_exact::<A, O>(operator, number, total);
            } else if STORE {
                state.take_in::<A, O, C>(operator, (c, number), left, total);
            }
            total
        }
    }

    /// Scans the lanes of a line in a chunk, after what precedes it, if it is `preceded`. Gives
    /// their fold; of a scan in any order that through its last place.
    ///
    /// # Safety
    ///
    /// As for [`line`](Self::line).
    #[inline(always)]
    unsafe fn places<
        P: Vectors,
        A: Element,
        O: Operator<A>,
        const N: usize,
        const C: usize,
        const STORE: bool,
        const FAR: bool,
    >(
        &self,
        operator: &O,
        mut from: *const u8,
        to: *mut u8,
        before: Line<P, N>,
        preceded: bool,
    ) -> Line<P, N> {
        let places = const { Order::of::<A>().chunk() };
        let (ahead, cache) = (self.ahead.0, self.ahead.1.filter(|_| FAR));
        let mut ask = from.wrapping_offset(ahead);
        // SAFETY: lanes of places; features by contract.
        unsafe {
            // All are read before the first is stored: a load waits for an earlier store to an
            // address that is the same but for whole pages. (A Zen 4, lines a page apart in buffers
            // that both begin a page: a fifth faster.)
            let mut elements = [load::<P, N>(from); PLACES];
            for p in 1..places {
                if C == PART && p == self.len {
                    break;
                }
                from = from.wrapping_offset(self.stride);
                elements[p] = load::<P, N>(from);
            }
            let mut total = elements[0];
            let mut through = total;
            if let Some(cache) = cache {
                cache.ask::<LINE>(self.turn.in_turn(ask));
            }
            // An exclusive scan is an inclusive one, a place further on.
            let mut through_to = to;
            if STORE {
                if preceded {
                    through = join::<P, A, O, N>(operator, &before, &total);
                }
                if self.exclusive {
                    let identity = || [splat::<P, A>(operator.identity()); N];
                    self.put::<P, N, FAR>(if preceded { before } else { identity() }, to);
                    through_to = to.wrapping_offset(self.pitch);
                }
            }
            for p in 1..places {
                if C == PART && p == self.len {
                    break;
                }
                if let Some(cache) = cache {
                    ask = ask.wrapping_offset(self.stride);
                    cache.ask::<LINE>(self.turn.in_turn(ask));
                }
                total = join::<P, A, O, N>(operator, &total, &elements[p]);
                if STORE {
                    self.put::<P, N, FAR>(through, through_to);
                    through_to = through_to.wrapping_offset(self.pitch);
                    through = join::<P, A, O, N>(operator, &through, &elements[p]);
                }
            }
            if STORE && !self.exclusive {
                self.put::<P, N, FAR>(through, through_to);
            }
            if const { STORE && O::EXACT } { through } else { total }
        }
    }

    /// What precedes a chunk, if anything does, else any value. (Not an `Option`: LLVM leaves that
    /// in memory.)
    ///
    /// # Safety
    ///
    /// As for [`line`](Self::line).
    #[inline(always)]
    unsafe fn before<P: Vectors, A: Element, O: Operator<A>, const N: usize>(
        &self,
        operator: &O,
        state: &State<P, N>,
        number: usize,
    ) -> Line<P, N> {
        if !self.preceded {
            return state.last;
        }
        // SAFETY: passed on; lanes of a group.
        unsafe {
            let row = load::<P, N>(state.row);
            if number > 0 { join::<P, A, O, N>(operator, &row, &state.last) } else { row }
        }
    }

    /// Stores a line of values.
    ///
    /// # Safety
    ///
    /// As for [`line`](Self::line).
    #[inline(always)]
    unsafe fn put<P: Vectors, const N: usize, const FAR: bool>(
        &self,
        values: Line<P, N>,
        to: *mut u8,
    ) {
        // SAFETY: by contract; whole lines begin where vectors do.
        unsafe {
            if FAR && self.stream {
                stream::<P, N>(values, to);
            } else {
                store::<P, N>(values, to);
            }
        }
    }
}
