//! Segments under operators that round nothing: vectors scanned where they lie, whatever the
//! segments.
//!
//! A mask has a bit for each place where a segment starts. In each step of a vector's scan a lane
//! takes in another one unless a segment starts between them; which lanes do is found for 64 places
//! at a time by shifts. What precedes a vector is taken in by the lanes before its first head.
//! Where any order is as good, this gives the bits of each segment's own scan, in one pass without
//! a branch on its length. (Where a step takes many instructions, words go
//! [otherwise](mod@crosswise).)
//!
//! An exclusive value is the inclusive one of elements moved up by one; a segment's first is its
//! initial value, or the identity, which nothing may take in.

mod crosswise;

use super::asking::{Ask, Wanted};
use super::format::Whole;
use super::free::{combine, free, splat};
use super::tile::{Beside, ScanSegment};
use crate::arch::stream::LINE;
use crate::arch::{Crosswise, Level, Masked, MaskedOf, Words, Work};
use crate::array::for_each;
pub(crate) use crosswise::crosswise;
use crosswise::goes;
use kogge_core::{Element, Kind, Operator};
use std::marker::PhantomData;

/// Places of a word of a mask.
pub(crate) const WORD: usize = 64;

/// Bytes from where elements are read to where memory is asked for.
const AHEAD: usize = 2 << 10;

/// Places from those that are scanned to those of which what is looked at is asked for: more than
/// are looked at at once.
const LOOKED_AT: usize = WORDS * WORD / 2 * 3;

/// Whether segments of such elements are scanned like this.
pub(crate) const fn headed<A: Element, O: Operator<A>>() -> bool {
    // Vectors of what is no number by itself would have to be taken apart.
    let numbers = size_of::<A>() == align_of::<A>() || O::COMMUTATIVE;
    O::EXACT && !O::COMPACT && numbers && matches!(size_of::<A>(), 1 | 2 | 4 | 8)
}

/// Places to be scanned at some SIMD level. Made where they are known to be this thread's.
pub(crate) struct Headed<'a, A, O> {
    pub(crate) operator: &'a O,
    pub(crate) kind: Kind,
    pub(crate) init: Option<A>,
    /// The first element.
    pub(crate) from: *const A,
    /// Its value; may be `from`.
    pub(crate) to: *mut A,
    /// One bit for each place where a segment starts.
    pub(crate) heads: &'a [u64],
    /// Places, not 0: whole words up to [`WORDS`], or less than one.
    pub(crate) len: usize,
    /// The fold of what precedes of the segment that is begun, its initial value included; anything
    /// if the first place is a head.
    pub(crate) through: A,
    /// Whether values go past the caches.
    pub(crate) stream: bool,
    /// From the first place on.
    pub(crate) wanted: Wanted,
}

/// Places without a head that are worth a call of a scan without segments.
const PLAIN: usize = 4 * WORD;

impl<A: Element, O: Operator<A>> Headed<'_, A, O> {
    /// Scans the places, and gives the fold of the last segment so far.
    pub(crate) fn scan(self, level: Level) -> A {
        let words = &self.heads[..self.len / WORD];
        let plain = self.len >= PLAIN && words.iter().fold(0, |heads, word| heads | word) == 0;
        // What is looked at is asked for on the way.
        let plain = plain && self.wanted.looked_at.is_none();
        if const { !free::<Whole, A, O>() } || !plain {
            return level.run(self);
        }
        let Self { operator, kind, from, to, len, through, stream, .. } = self;
        let (before, after, types) = (Some(through), None, PhantomData);
        let beside = Beside::Ask(Ask::Along(self.wanted.cache));
        // What is streamed must not be in place there.
        let stream = stream && from.addr() != to.addr();
        level
            .run(ScanSegment::<Whole, A, A, O> {
                operator,
                kind,
                from,
                to,
                len,
                before,
                prefix: None,
                beside,
                stream,
                after,
                types,
            })
            .0
    }
}

/// A `match` on the size of a type, of which each type compiles its own arm alone.
macro_rules! by_size {
    ($type:ty; $($size:literal => $arm:expr,)+) => {
        $(if const { size_of::<$type>() == $size } { $arm } else)+ { unreachable!() }
    };
}

impl<A: Element, O: Operator<A>> Work for Headed<'_, A, O> {
    /// The fold of the last segment so far.
    type Output = A;
    const COMPACT: bool = O::COMPACT;

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) -> A {
        if const { headed::<A, O>() } {
            // SAFETY: memory by whoever made the value, features by contract; `S` is what the arm
            // says.
            unsafe {
                by_size! { A;
                    1 => self.all::<MaskedOf<W32>, 1>(),
                    2 => self.all::<MaskedOf<W32>, 2>(),
                    4 => self.all::<MaskedOf<W32>, 4>(),
                    8 => self.all::<MaskedOf<W32>, 8>(),
                }
            }
        } else {
            unreachable!("asked before")
        }
    }
}

impl<A: Element, O: Operator<A>> Headed<'_, A, O> {
    /// # Safety
    ///
    /// As whoever made the value vouches; `S` must be the size of `A`, and the CPU features of `P`
    /// be present.
    #[inline(always)]
    unsafe fn all<P: Crosswise, const S: usize>(self) -> A {
        // SAFETY: passed on.
        unsafe {
            if const { goes::<P, S>() } && self.len.is_multiple_of(WORD) {
                return self.crosswise::<P, S>();
            }
            if const { P::BYTES > 0 } && self.len.is_multiple_of(WORD) {
                return self.vectors::<P, S>();
            }
            self.one_by_one()
        }
    }

    /// # Safety
    ///
    /// As for [`all`](Self::all), and there must be whole words, and vectors.
    #[inline(always)]
    unsafe fn vectors<P: Masked, const S: usize>(self) -> A {
        let stream = self.stream && self.to.addr().is_multiple_of(LINE);
        // SAFETY: passed on; streams begin on a line.
        unsafe {
            match (self.kind, self.init, stream) {
                (Kind::Inclusive, None, false) => self.words::<P, S, false, false, false>(),
                (Kind::Inclusive, None, true) => self.words::<P, S, false, false, true>(),
                (Kind::Inclusive, Some(_), false) => self.words::<P, S, false, true, false>(),
                (Kind::Inclusive, Some(_), true) => self.words::<P, S, false, true, true>(),
                (Kind::Exclusive, None, false) => self.words::<P, S, true, false, false>(),
                (Kind::Exclusive, None, true) => self.words::<P, S, true, false, true>(),
                (Kind::Exclusive, Some(_), false) => self.words::<P, S, true, true, false>(),
                (Kind::Exclusive, Some(_), true) => self.words::<P, S, true, true, true>(),
            }
        }
    }

    /// What is less than a word, or all where there are no vectors.
    ///
    /// # Safety
    ///
    /// As for [`all`](Self::all).
    #[inline(always)]
    unsafe fn one_by_one(self) -> A {
        let Self { operator, mut through, .. } = self;
        for i in 0..self.len {
            let head = self.heads[i / WORD] >> (i % WORD) & 1 == 1;
            // SAFETY: element `i` is read before value `i` is written.
            unsafe {
                let element = *self.from.add(i);
                let before = if head { self.init } else { Some(through) };
                through = before.map_or(element, |before| operator.combine(before, element));
                *self.to.add(i) = match self.kind {
                    Kind::Inclusive => through,
                    Kind::Exclusive => before.unwrap_or_else(|| operator.identity()),
                };
            }
        }
        through
    }

    /// # Safety
    ///
    /// As for [`all`](Self::all), and there must be whole words; `to` be on a line if `STREAM`.
    #[inline(always)]
    unsafe fn words<
        P,
        const S: usize,
        const EXCLUSIVE: bool,
        const INIT: bool,
        const STREAM: bool,
    >(
        self,
    ) -> A
    where
        P: Masked,
    {
        let operator = self.operator;
        let first = splat::<P, A>(self.init.unwrap_or_else(|| operator.identity()));
        // What precedes an exclusive value comes in as an element would, and nothing before it.
        let through = splat::<P, A>(self.through);
        let (mut state, mut begun) = (State { through, element: through }, 1);
        let words = self.len / WORD;
        let mut near = Near::new();
        for (w, &heads) in self.heads[..words].iter().enumerate() {
            let apart = match (EXCLUSIVE, INIT) {
                (false, _) => heads,
                (true, true) => heads | begun,
                (true, false) => heads << 1 | begun,
            };
            begun = if EXCLUSIVE && !INIT { heads >> (WORD - 1) } else { 0 };
            near.set::<P, S>(w, apart);
        }
        let sight = Sight::<P, O> { operator, first, heads: self.heads, near: &near };
        for w in 0..words {
            let place = w * WORD;
            for_each!((0..WORD * S).step_by(LINE), |line| {
                let line = self.from.wrapping_add(place).cast::<u8>().wrapping_add(line);
                self.wanted.elements::<LINE>(line, AHEAD);
            });
            self.wanted.looked_at(place + LOOKED_AT, WORD);
            // SAFETY: the word's places exist.
            unsafe {
                let (from, to) = (self.from.add(place), self.to.add(place));
                state = sight.scan::<A, S, EXCLUSIVE, INIT, STREAM>(w, from, to, state);
            }
        }
        // SAFETY: a vector holds an accumulator.
        let (through, element) =
            unsafe { (lane::<P, A>(state.through), lane::<P, A>(state.element)) };
        if !EXCLUSIVE {
            return through;
        }
        let head = self.heads[self.len / WORD - 1] >> (WORD - 1) == 1;
        if head && !INIT { element } else { operator.combine(through, element) }
    }
}

/// What goes from one vector to the next.
#[derive(Clone, Copy)]
struct State<V> {
    /// The value of the last place, throughout.
    through: V,
    /// The elements of the vector; the last one is that of the last place.
    element: V,
}

/// A word's places, as seen by a vector's scan.
struct Sight<'a, P: Masked, O> {
    operator: &'a O,
    /// The initial value or the identity, throughout.
    first: P::Vector,
    heads: &'a [u64],
    near: &'a Near,
}

impl<P: Masked, O> Sight<'_, P, O> {
    /// Scans the `w`-th word.
    ///
    /// # Safety
    ///
    /// [`WORD`] elements must be readable at `from` and writable at `to`, which is on a line if
    /// `STREAM`; `S` be the size of `A`, and the CPU features of `P` present.
    #[inline(always)]
    unsafe fn scan<A, const S: usize, const EXCLUSIVE: bool, const INIT: bool, const STREAM: bool>(
        &self,
        w: usize,
        from: *const A,
        to: *mut A,
        mut state: State<P::Vector>,
    ) -> State<P::Vector>
    where
        A: Element,
        O: Operator<A>,
    {
        // Bits go to lanes by constants where the compiler knows which vectors they are.
        macro_rules! vectors {
            ($together:literal: $($g:literal)+) => {
                $(if const { $g * P::BYTES < WORD * S } {
                    // SAFETY: within the word, by contract.
                    unsafe {
                        let (lanes, at) = (P::BYTES / S, $g * (P::BYTES / S));
                        let mut elements = [P::load(from.add(at).cast()); $together];
                        for i in 1..$together {
                            elements[i] = P::load(from.add(at + i * lanes).cast());
                        }
                        let values;
                        (values, state) =
                            self.vectors::<A, S, $together, EXCLUSIVE, INIT>(w, $g, elements, state);
                        for i in 0..$together {
                            if STREAM {
                                P::stream(values[i], to.add(at + i * lanes).cast());
                            } else {
                                P::store(values[i], to.add(at + i * lanes).cast());
                            }
                        }
                    }
                })+
            };
        }
        if const { 4 * P::BYTES <= WORD * S } {
            vectors!(4: 0 4 8 12 16 20 24 28);
        } else {
            vectors!(2: 0 2);
        }
        state
    }

    /// The values of `N` vectors from the `g`-th on.
    ///
    /// Step by step for all of them: one by one, a CPU sees too few of them at a time.
    ///
    /// # Safety
    ///
    /// `S` must be the size of `A`, and the CPU features of `P` present.
    #[inline(always)]
    unsafe fn vectors<A, const S: usize, const N: usize, const EXCLUSIVE: bool, const INIT: bool>(
        &self,
        w: usize,
        g: usize,
        elements: [P::Vector; N],
        mut state: State<P::Vector>,
    ) -> ([P::Vector; N], State<P::Vector>)
    where
        A: Element,
        O: Operator<A>,
    {
        let (operator, heads, inside) =
            (self.operator, &halves(self.heads[w]), &self.near.vector[w]);
        let mut vectors = elements;
        for_each!(0..N, |i| {
            // SAFETY: by contract.
            unsafe {
                if EXCLUSIVE {
                    let before = if i == 0 { state.element } else { elements[i - 1] };
                    vectors[i] = P::shift::<S>(before, elements[i]);
                }
                if INIT {
                    let begun = match EXCLUSIVE {
                        true => self.first,
                        false => combine::<P, A, O>(operator, self.first, vectors[i]),
                    };
                    vectors[i] = P::select::<S>(P::mask::<S>(heads, g + i), begun, vectors[i]);
                }
            }
        });
        // SAFETY: by contract.
        unsafe {
            vectors = self.lanes::<A, S, N>(w, g, vectors);
            let mut lasts = vectors;
            for_each!(0..N, |i| lasts[i] = P::last_aside::<S>(lasts[i]));
            for_each!(0..N, |i| {
                let value = combine::<P, A, O>(operator, state.through, vectors[i]);
                vectors[i] = P::select::<S>(P::mask::<S>(inside, g + i), value, vectors[i]);
                if EXCLUSIVE && !INIT {
                    vectors[i] = P::select::<S>(P::mask::<S>(heads, g + i), self.first, vectors[i]);
                }
                // Not by way of the values: vectors wait for each other here alone.
                let after = combine::<P, A, O>(operator, state.through, lasts[i]);
                state.through = P::select::<S>(P::mask_last::<S>(inside, g + i), after, lasts[i]);
            });
        }
        state.element = elements[N - 1];
        (vectors, state)
    }

    /// Each lane with all lanes before it that are of its segment.
    ///
    /// # Safety
    ///
    /// As for [`vectors`](Self::vectors).
    #[inline(always)]
    unsafe fn lanes<A: Element, const S: usize, const N: usize>(
        &self,
        w: usize,
        g: usize,
        mut vectors: [P::Vector; N],
    ) -> [P::Vector; N]
    where
        O: Operator<A>,
    {
        macro_rules! step {
            ($near:expr, $vector:ident => $left:expr) => {{
                for_each!(0..N, |i| {
                    let $vector = vectors[i];
                    // SAFETY: by contract.
                    unsafe {
                        let taken = combine::<P, A, O>(self.operator, $left, $vector);
                        vectors[i] = P::select::<S>(P::mask::<S>(&$near[w], g + i), taken, $vector);
                    }
                });
            }};
        }
        if S <= 1 {
            step!(self.near.steps[0], vector => P::up::<1>(vector, vector));
        }
        if S <= 2 {
            step!(self.near.steps[1], vector => P::up::<2>(vector, vector));
        }
        if S <= 4 {
            step!(self.near.steps[2], vector => P::up::<4>(vector, vector));
        }
        step!(self.near.steps[3], vector => P::up::<8>(vector, vector));
        if P::BYTES > 16 {
            step!(self.near.across, vector => P::across::<S>(vector, vector));
        }
        vectors
    }
}

/// A word of a mask, its first half first.
type Bits = [u32; 2];

#[inline(always)]
fn halves(word: u64) -> Bits {
    [word as u32, (word >> 32) as u32]
}

/// Words of a mask at most.
pub(crate) const WORDS: usize = 16;

/// Which places take in others, given where no step may come across: one bit for each.
struct Near {
    /// Those that take in the place 1, 2, 4, 8 bytes before, in their 16-byte lane.
    steps: [[Bits; WORDS]; 4],
    /// Those in a second lane that take in the first one's last.
    across: [Bits; WORDS],
    /// Those that take in what precedes their vector.
    vector: [Bits; WORDS],
}

impl Near {
    fn new() -> Self {
        let none = [[0; 2]; WORDS];
        Self { steps: [none; 4], across: none, vector: none }
    }

    #[inline(always)]
    fn set<P: Masked, const S: usize>(&mut self, w: usize, apart: u64) {
        let (lane, vector) = const { (16 / S, P::BYTES / S) };
        let (mut near, mut far) = (!apart, 1);
        for k in 0..4 {
            if S <= 1 << k {
                self.steps[k][w] = halves(near & !first(far, lane));
                near &= near << far;
                far *= 2;
            }
        }
        self.across[w] = halves(beginning(!apart, lane) & !first(lane, 2 * lane));
        self.vector[w] = halves(beginning(!apart, vector));
    }
}

/// The first `count` of each `every` places.
#[inline(always)]
const fn first(count: usize, every: usize) -> u64 {
    let (mut places, mut place) = (0, 0);
    while place < WORD {
        if place % every < count {
            places |= 1 << place;
        }
        place += 1;
    }
    places
}

/// Those of the places before which no place is missing of the `every` that they are among.
#[inline(always)]
fn beginning(mut places: u64, every: usize) -> u64 {
    let mut step = 1;
    while step < every {
        places &= places << step | first(step, every);
        step *= 2;
    }
    places
}

/// The accumulator in the last lane.
///
/// # Safety
///
/// A vector must have room for one.
#[inline(always)]
unsafe fn lane<P: Masked, A: Element>(vector: P::Vector) -> A {
    // SAFETY: by contract; any bits are an `A`.
    unsafe { (&raw const vector).cast::<A>().add(P::BYTES / size_of::<A>() - 1).read_unaligned() }
}

#[cfg(all(test, not(loom)))]
mod tests;
