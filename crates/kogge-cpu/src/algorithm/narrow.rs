//! Some rows of the order of a table so narrow that its lines are sixteen at most, and nothing else
//! lies between their elements.
//!
//! A place is then a vector or a few, whose lanes are lines; or [a part of a vector](items), which
//! has several. Vectors are loaded where places lie, so the last one of a place may hold lanes of
//! the next place too, and what is stored of those is stored over with the next place. The levels
//! of the order are gone through one after the other, chunk totals first, then Kogge–Stone over all
//! of them: so steps are loops of independent operations. (Chunk by chunk, as wide
//! [strips](super::strip) go, sixteen lanes at a time, 8 columns of floats were scanned at a third
//! of the speed.)
//!
//! Under an exact operator none of that need be known: places of whole vectors are combined with
//! what precedes them, one after the other.

mod items;
mod leaving;

use super::free::{combine, splat};
use super::group::{LANES, Lanes, fills};
use super::levels::Running;
use crate::arch::stream::{Cache, LINE};
use crate::arch::{CHUNKS, LONGEST, MaskedOf, Vectors, WideOf, Words, Work};
use kogge_core::{Element, Kind, Operator, Order};
use leaving::Leaving;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Bytes of a stage: a row of so many lines, where it lies in its first line of the cache, and
/// lanes behind it.
pub(crate) const fn stage_bytes<A: Element>(lines: usize) -> usize {
    Order::of::<A>().row() * lines * size_of::<A>() + 2 * LINE
}

/// Rows of the order of some lines, all of one segment, scanned at some SIMD level, or folded only
/// if `STORE` is not set. Made where the rows are known to be this thread's. Says whether the level
/// has such vectors; else nothing was done.
pub(crate) struct Narrow<'a, A, O, const STORE: bool> {
    pub(crate) operator: &'a O,
    pub(crate) kind: Kind,
    /// The first place.
    pub(crate) from: *const A,
    /// Its values.
    pub(crate) to: *mut A,
    /// Lines, sixteen at most.
    pub(crate) lines: usize,
    /// Rows.
    pub(crate) rows: usize,
    /// What they go on from; and then, what the next would: under an exact operator, if `STORE`, no
    /// more than what precedes them.
    pub(crate) running: &'a mut State<A>,
    /// Room for [`stage_bytes`], from a line of the cache on.
    pub(crate) stage: *mut u8,
    /// Whether values go past the caches.
    pub(crate) stream: bool,
    /// Bytes to the places that are asked for meanwhile, and what those are brought into.
    pub(crate) ahead: (usize, Option<Cache>),
}

impl<A: Element, O: Operator<A>, const STORE: bool> Work for Narrow<'_, A, O, STORE> {
    type Output = bool;
    const COMPACT: bool = O::COMPACT;

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) -> bool {
        // SAFETY: passed on by whoever made the value.
        unsafe {
            if const { items::are_of::<A>() && fills::<WideOf<W32>, A>() } {
                self.by_items::<WideOf<W32>, W32>();
            } else if const { !items::are_of::<A>() && fills::<MaskedOf<W32>, A>() } {
                self.by_vectors::<MaskedOf<W32>, W32>();
            } else {
                return false;
            }
        }
        true
    }
}

impl<A: Element, O: Operator<A>, const STORE: bool> Narrow<'_, A, O, STORE> {
    /// Goes through the rows by vectors of `P`, each of which has lanes of one place.
    ///
    /// # Safety
    ///
    /// As for whoever makes the value; the CPU features of `P` and `H` must be present.
    #[inline(always)]
    unsafe fn by_vectors<P: Vectors, H: Words>(mut self) {
        let vectors = self.pitch().div_ceil(P::BYTES);
        let way = self.way::<P>(self.pitch().is_multiple_of(P::BYTES));
        let mut leaving = Leaving::new(self.stage, self.to.cast());
        for _ in 0..self.rows {
            // The last vector first: its lanes of the next place are stored over with the first
            // vector's.
            for v in (0..vectors).rev() {
                // SAFETY: passed on; the lanes of `v` begin with one of a line.
                unsafe {
                    match const { (O::EXACT, STORE) } {
                        (true, true) => self.vector_in_turn::<P>(v, way),
                        (true, false) => self.fold_in_turn::<P>(v),
                        (false, _) => self.vector::<P>(v, way),
                    }
                }
            }
            // SAFETY: passed on; the row is there.
            unsafe { self.next::<H>(way, &mut leaving) };
        }
        // SAFETY: as above.
        unsafe { self.end(way, &leaving) };
    }

    /// Goes on to the next row.
    ///
    /// # Safety
    ///
    /// All values of the row must be there.
    #[inline(always)]
    unsafe fn next<H: Words>(&mut self, way: Way, leaving: &mut Leaving) {
        // SAFETY: as for whoever makes the value.
        unsafe {
            match way {
                Way::Stage if STORE && self.stream => leaving.send::<H>(self.bytes()),
                Way::Stage if STORE => {
                    self.to.cast::<u8>().copy_from_nonoverlapping(self.target(way), self.bytes())
                }
                _ => {}
            }
        }
        let elements = const { Order::of::<A>().row() } * self.lines;
        self.from = self.from.wrapping_add(elements);
        self.to = self.to.wrapping_add(elements);
        self.running.preceded = true;
        self.running.begun = const { !(STORE && O::EXACT) };
    }

    /// Ends the last row.
    ///
    /// # Safety
    ///
    /// As for [`next`](Self::next).
    #[inline(always)]
    unsafe fn end(&self, way: Way, leaving: &Leaving) {
        if STORE && way == Way::Stage && self.stream {
            // SAFETY: passed on.
            unsafe { leaving.end() };
        }
    }

    /// Bytes from a place to the next.
    #[inline(always)]
    fn pitch(&self) -> usize {
        self.lines * size_of::<A>()
    }

    /// Bytes of the row.
    #[inline(always)]
    fn bytes(&self) -> usize {
        self.pitch() * const { Order::of::<A>().row() }
    }

    /// Where vectors are stored, which are `whole` if they hold nothing but values of their places.
    #[inline(always)]
    fn way<P: Vectors>(&self, whole: bool) -> Way {
        match (whole, self.stream) {
            (true, false) => Way::There,
            (true, true) if self.to.addr().is_multiple_of(P::BYTES) => Way::Past,
            _ => Way::Stage,
        }
    }

    /// Where the value of the first place is put.
    #[inline(always)]
    fn target(&self, way: Way) -> *mut u8 {
        match way {
            // In its line as in that of the target, as `Leaving` has it.
            Way::Stage => self.stage.wrapping_add(self.to.addr() % LINE),
            Way::There | Way::Past => self.to.cast(),
        }
    }

    /// The vector at this address of the row, and the first elements for what would lie behind it:
    /// an operator sees no values but such as there are.
    ///
    /// # Safety
    ///
    /// The address must be the row's; the CPU features of `P` be present.
    #[inline(always)]
    unsafe fn within<P: Vectors>(&self, from: *const u8) -> P::Vector {
        let there = self.from.addr() + self.bytes() - from.addr();
        // SAFETY: bytes of the row, or of the room.
        unsafe {
            if there >= P::BYTES {
                return P::load(from);
            }
            let mut room = [0u8; LONGEST];
            room.as_mut_ptr().copy_from_nonoverlapping(from, there);
            let behind = room.as_mut_ptr().add(there);
            behind.copy_from_nonoverlapping(self.from.cast(), P::BYTES - there);
            P::load(room.as_ptr())
        }
    }

    /// Asks for these bytes of the row, so far ahead of them: a few at a time, whenever the row
    /// is gone through.
    #[inline(always)]
    fn ask(&self, bytes: Range<usize>) {
        let (ahead, cache) = self.ahead;
        let Some(cache) = cache else { return };
        for byte in bytes.step_by(LINE) {
            cache.ask::<LINE>(self.from.cast::<u8>().wrapping_add(ahead + byte));
        }
    }

    /// Goes through the lanes of vector `v` of each place.
    ///
    /// # Safety
    ///
    /// As for whoever makes the value; the CPU features of `P` must be present.
    #[inline(always)]
    unsafe fn vector<P: Vectors>(&mut self, v: usize, way: Way) {
        let operator = self.operator;
        let first = self.from.cast::<u8>().wrapping_add(v * P::BYTES);
        let chunk = const { Order::of::<A>().chunk() } * self.pitch();
        let asked = self.share::<P>(2 * v);
        // SAFETY: places of the row; features by contract.
        unsafe {
            let mut chunks = MaybeUninit::<[P::Vector; CHUNKS]>::uninit();
            let chunks = chunks.as_mut_ptr().cast::<P::Vector>();
            for c in 0..CHUNKS {
                let from = first.wrapping_add(c * chunk);
                self.ask(c * chunk + asked.start..c * chunk + asked.end);
                chunks.add(c).write(if c + 1 < CHUNKS {
                    self.total::<P>(from, |from| P::load(from))
                } else {
                    self.total::<P>(from, |from| self.within::<P>(from))
                });
            }
            let chunks = std::slice::from_raw_parts_mut(chunks, CHUNKS);
            let fold = if STORE {
                kogge_stone::<P, A, O>(operator, chunks);
                self.finish::<P>(v, chunks, way);
                chunks[CHUNKS - 1]
            } else {
                tree::<P, A, O>(operator, chunks)
            };
            self.running.take_in::<P, O>(operator, v, fold, STORE);
        }
    }

    /// Goes through the lanes of vector `v` of each place, one after the other, in any order.
    ///
    /// # Safety
    ///
    /// As for [`vector`](Self::vector).
    #[inline(always)]
    unsafe fn vector_in_turn<P: Vectors>(&mut self, v: usize, way: Way) {
        let chunk = const { Order::of::<A>().chunk() } * self.pitch();
        let vectors = self.pitch().div_ceil(P::BYTES);
        let asked = chunk * v / vectors..chunk * (v + 1) / vectors;
        // SAFETY: lanes of the row, and of the stage or the target; features by contract.
        unsafe {
            let mut through = self.running.before::<P>(v);
            for c in 0..CHUNKS {
                self.ask(c * chunk + asked.start..c * chunk + asked.end);
                let at = c * chunk + v * P::BYTES;
                let from = self.from.cast::<u8>().wrapping_add(at);
                let to = self.target(way).wrapping_add(at);
                through = Some(if c + 1 < CHUNKS {
                    self.values::<P>(through, from, to, way, |from| P::load(from))
                } else {
                    self.values::<P>(through, from, to, way, |from| self.within::<P>(from))
                });
            }
            if let Some(through) = through {
                self.running.go_on::<P>(v, through);
            }
        }
    }

    /// Folds the lanes of vector `v` of each place, in any order.
    ///
    /// # Safety
    ///
    /// As for [`vector`](Self::vector).
    #[inline(always)]
    unsafe fn fold_in_turn<P: Vectors>(&mut self, v: usize) {
        let chunk = const { Order::of::<A>().chunk() } * self.pitch();
        let first = self.from.cast::<u8>().wrapping_add(v * P::BYTES);
        let asked = self.share::<P>(2 * v);
        // SAFETY: lanes of the row; features by contract.
        unsafe {
            let last = (CHUNKS - 1) * chunk;
            self.ask(asked.clone());
            let mut fold = self.total::<P>(first, |from| P::load(from));
            for c in 1..CHUNKS - 1 {
                self.ask(c * chunk + asked.start..c * chunk + asked.end);
                let total = self.total::<P>(first.wrapping_add(c * chunk), |from| P::load(from));
                fold = combine::<P, A, O>(self.operator, fold, total);
            }
            self.ask(last + asked.start..last + asked.end);
            let total = self.total::<P>(first.wrapping_add(last), |from| self.within::<P>(from));
            fold = combine::<P, A, O>(self.operator, fold, total);
            self.running.take_in::<P, O>(self.operator, v, fold, false);
        }
    }

    /// The bytes of a chunk that are asked for when it is gone through for the `n`-th time: twice
    /// for each vector of a place, or once.
    #[inline(always)]
    fn share<P: Vectors>(&self, n: usize) -> Range<usize> {
        let (n, times) = if STORE { (n, 2) } else { (n / 2, 1) };
        let times = times * self.pitch().div_ceil(P::BYTES);
        let chunk = const { Order::of::<A>().chunk() } * self.pitch();
        chunk * n / times..chunk * (n + 1) / times
    }

    /// The total of the chunk that begins here.
    ///
    /// # Safety
    ///
    /// As for [`vector`](Self::vector).
    #[inline(always)]
    unsafe fn total<P: Vectors>(
        &self,
        from: *const u8,
        load: impl Fn(*const u8) -> P::Vector,
    ) -> P::Vector {
        let mut total = load(from);
        for place in 1..const { Order::of::<A>().chunk() } {
            let element = load(from.wrapping_add(place * self.pitch()));
            // SAFETY: features by contract.
            total = unsafe { combine::<P, A, O>(self.operator, total, element) };
        }
        total
    }

    /// Stores the values, given the chunks' Kogge–Stone values.
    ///
    /// # Safety
    ///
    /// As for [`vector`](Self::vector).
    #[inline(always)]
    unsafe fn finish<P: Vectors>(&self, v: usize, chunks: &[P::Vector], way: Way) {
        let chunk = const { Order::of::<A>().chunk() } * self.pitch();
        let asked = self.share::<P>(2 * v + 1);
        // SAFETY: lanes of the row, and of the stage or the target; features by contract.
        unsafe {
            let before = self.running.before::<P>(v);
            for c in 0..CHUNKS {
                self.ask(c * chunk + asked.start..c * chunk + asked.end);
                let value = match (before, c.checked_sub(1)) {
                    (Some(before), Some(c)) => {
                        Some(combine::<P, A, O>(self.operator, before, chunks[c]))
                    }
                    (None, Some(c)) => Some(chunks[c]),
                    (before, None) => before,
                };
                let at = c * chunk + v * P::BYTES;
                let from = self.from.cast::<u8>().wrapping_add(at);
                let to = self.target(way).wrapping_add(at);
                if c + 1 < CHUNKS {
                    self.values::<P>(value, from, to, way, |from| P::load(from));
                } else {
                    self.values::<P>(value, from, to, way, |from| self.within::<P>(from));
                }
            }
        }
    }

    /// Stores the values of the chunk that begins here, given what precedes it; gives what precedes
    /// the next.
    ///
    /// # Safety
    ///
    /// As for [`vector`](Self::vector).
    #[inline(always)]
    unsafe fn values<P: Vectors>(
        &self,
        mut value: Option<P::Vector>,
        mut from: *const u8,
        mut to: *mut u8,
        way: Way,
        load: impl Fn(*const u8) -> P::Vector,
    ) -> P::Vector {
        let operator = self.operator;
        for _ in 0..const { Order::of::<A>().chunk() } {
            let element = load(from);
            // SAFETY: a place of the row, and its own of the stage or the target; features by
            // contract.
            unsafe {
                let through = match value {
                    Some(value) => combine::<P, A, O>(operator, value, element),
                    None => element,
                };
                let out = match self.kind {
                    Kind::Inclusive => through,
                    Kind::Exclusive => value.unwrap_or_else(|| splat::<P, A>(operator.identity())),
                };
                // What of the lanes are another vector's or place's is overwritten with that.
                way.store::<P>(out, to);
                value = Some(through);
            }
            (from, to) = (from.wrapping_add(self.pitch()), to.wrapping_add(self.pitch()));
        }
        value.expect("a chunk has places")
    }
}

/// What rows of a segment go on from, as vectors take it.
#[derive(Clone, Copy)]
pub(crate) struct State<A> {
    /// What precedes the row, if anything does.
    before: Lanes<A>,
    preceded: bool,
    /// The fold of the segment's rows before it, if there are any.
    segment: Lanes<A>,
    begun: bool,
}

impl<A: Element> State<A> {
    pub(crate) fn new(Running { before, segment }: Running<[A; LANES]>) -> Self {
        let lanes = |lanes: Option<[A; LANES]>| lanes.map_or(Lanes::zeroed(), Lanes);
        let (preceded, begun) = (before.is_some(), segment.is_some());
        Self { before: lanes(before), preceded, segment: lanes(segment), begun }
    }

    /// That of so many lines. Lanes to spare, which no vector may have had, are the first one
    /// again: an operator sees no values but such as there are.
    pub(crate) fn get(&self, lines: usize) -> Running<[A; LANES]> {
        let filled = |mut lanes: [A; LANES]| {
            let first = lanes[0];
            lanes[lines..].fill(first);
            lanes
        };
        let before = self.preceded.then(|| filled(self.before.0));
        Running { before, segment: self.begun.then(|| filled(self.segment.0)) }
    }

    /// What precedes the lanes of vector `v`.
    ///
    /// # Safety
    ///
    /// There must be such a vector; the CPU features of `P` be present.
    #[inline(always)]
    unsafe fn before<P: Vectors>(&self, v: usize) -> Option<P::Vector> {
        // SAFETY: by contract.
        self.preceded
            .then(|| unsafe { P::load((&raw const self.before).cast::<u8>().add(v * P::BYTES)) })
    }

    /// What precedes the next row, in the lanes of vector `v`. (Whether anything precedes a row is
    /// known of all vectors at once, once the row is done.)
    ///
    /// # Safety
    ///
    /// As for [`before`](Self::before).
    #[inline(always)]
    unsafe fn go_on<P: Vectors>(&mut self, v: usize, through: P::Vector) {
        // SAFETY: lanes of the vector; features by contract.
        unsafe { P::store(through, (&raw mut self.before).cast::<u8>().add(v * P::BYTES)) };
    }

    /// Takes in the fold of a row, in the lanes of vector `v`; what precedes the next row if it is
    /// wanted.
    ///
    /// # Safety
    ///
    /// As for [`before`](Self::before).
    #[inline(always)]
    unsafe fn take_in<P: Vectors, O: Operator<A>>(
        &mut self,
        operator: &O,
        v: usize,
        fold: P::Vector,
        before_wanted: bool,
    ) {
        let join = |lanes: &mut Lanes<A>, there: bool| {
            let lanes = (&raw mut *lanes).cast::<u8>();
            // SAFETY: lanes of the vector; features by contract.
            unsafe {
                let lanes = lanes.add(v * P::BYTES);
                let joined = match there {
                    true => combine::<P, A, O>(operator, P::load(lanes), fold),
                    false => fold,
                };
                P::store(joined, lanes);
            }
        };
        if const { !O::EXACT } || !before_wanted {
            join(&mut self.segment, self.begun);
        }
        if before_wanted {
            join(&mut self.before, self.preceded);
        }
    }
}

/// Where vectors of values are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Where they belong.
    There,
    /// The same, past the caches.
    Past,
    /// In the stage, from which all leave together.
    Stage,
}

impl Way {
    /// # Safety
    ///
    /// The vector must be writable, and lie on its alignment if it goes past the caches; the CPU
    /// features of `P` be present.
    #[inline(always)]
    unsafe fn store<P: Vectors>(self, vector: P::Vector, to: *mut u8) {
        // SAFETY: by contract.
        unsafe {
            match self {
                Self::Past => P::stream(vector, to),
                Self::There | Self::Stage => P::store(vector, to),
            }
        }
    }
}

/// The Kogge–Stone values of chunk totals.
///
/// # Safety
///
/// The CPU features of `P` must be present.
#[inline(always)]
unsafe fn kogge_stone<P: Vectors, A: Element, O: Operator<A>>(
    operator: &O,
    chunks: &mut [P::Vector],
) {
    // Any tree has the same bits where the operator is exact.
    let strides: &[usize] = if const { O::EXACT } { &[1] } else { &[1, 2, 4, 8, 16] };
    for &stride in strides {
        let mut c = if const { O::EXACT } { stride } else { CHUNKS - 1 };
        for _ in stride..CHUNKS {
            // SAFETY: features by contract.
            chunks[c] = unsafe { combine::<P, A, O>(operator, chunks[c - stride], chunks[c]) };
            c = if const { O::EXACT } { c + 1 } else { c - 1 };
        }
    }
}

/// The last of the Kogge–Stone values, of a power of two of totals: neighbours are combined until
/// one is left.
///
/// # Safety
///
/// The CPU features of `P` must be present.
#[inline(always)]
unsafe fn tree<P: Vectors, A: Element, O: Operator<A>>(
    operator: &O,
    chunks: &mut [P::Vector],
) -> P::Vector {
    let mut count = chunks.len();
    while count > 1 {
        count /= 2;
        for c in 0..count {
            // SAFETY: features by contract.
            chunks[c] = unsafe { combine::<P, A, O>(operator, chunks[2 * c], chunks[2 * c + 1]) };
        }
    }
    chunks[0]
}

#[cfg(all(test, not(loom)))]
mod tests;
