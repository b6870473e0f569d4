//! Places of eight bytes to half a vector: as items, of which a vector has several.
//!
//! Of whole vectors, whose places follow one another, moves make vectors of the same place of
//! several chunks, the next chunk in the next item: so a step combines as many chunks as there are
//! items. What precedes an item by a Kogge–Stone step is an item of the same vector or of the one
//! before. Values go back by the same moves.
//!
//! A place whose bytes are no power of two is brought to the next one, and back.

use super::super::free::{combine, splat};
use super::leaving::Leaving;
use super::{Narrow, Way, tree};
use crate::arch::{CHUNKS, Items, LONGEST, Vectors, Words};
use crate::array::array;
use kogge_core::{Element, Kind, Operator, Order};

/// Bytes of a word, which moves of a place are made of.
const WORD: usize = 4;

/// Places of a chunk at most.
const PLACES: usize = 4;

/// Whether places may be items: accumulators are words, and a chunk's places fit into registers.
pub(super) const fn are_of<A>() -> bool {
    size_of::<A>() == WORD || size_of::<A>() == 2 * WORD
}

/// Bytes of an item that has room for a place of so many.
const fn item_bytes(pitch: usize) -> usize {
    let bytes = pitch.next_power_of_two();
    if bytes < 8 { 8 } else { bytes }
}

/// Items of a vector.
const fn items_of<P: Vectors, const I: usize>() -> usize {
    if P::BYTES > I { P::BYTES / I } else { 1 }
}

/// Words of a vector, moved.
type Moves = [u32; LONGEST / WORD];

/// For places of so many words: from where they follow one another to one an item, and what is left
/// over is some other element; and back.
static SPREAD: [[Moves; 2]; 9] = {
    let mut moves = [[[0; LONGEST / WORD]; 2]; 9];
    let mut words = 1;
    while words < moves.len() {
        let item = item_bytes(words * WORD) / WORD;
        let mut i = 0;
        while i < LONGEST / WORD {
            let lane = i % item;
            let lane = if lane < words { lane } else { lane - item / 2 };
            let (apart, back) = (i / item * words + lane, i / words * item + i % words);
            moves[words][0][i] = apart as u32;
            moves[words][1][i] = if back < LONGEST / WORD { back as u32 } else { 0 };
            i += 1;
        }
        words += 1;
    }
    moves
};

/// Whether places fill three quarters of their items, four to a chunk: then what four vectors of
/// items have are three whole vectors.
const fn three_for_four<A: Element, const I: usize, const PITCH: usize>() -> bool {
    Order::of::<A>().chunk() == 4 && 4 * PITCH == 3 * I
}

/// From three vectors of so many words to the `n`-th of four, given the one that it begins in and
/// the next.
const fn to_four<const I: usize>(n: usize, words: usize) -> Moves {
    let (mut moves, item, place) = ([0; LONGEST / WORD], I / WORD, 3 * I / 4 / WORD);
    let mut i = 0;
    while i < words {
        // What is left over is some other element.
        let lane = if i % item < place { i % item } else { i % item - item / 2 };
        let word = n * (3 * words / 4) + i / item * place + lane;
        moves[i] = (word - begins_in(n) * words) as u32;
        i += 1;
    }
    moves
}

/// The vector of three that the `n`-th of four begins in.
const fn begins_in(n: usize) -> usize {
    3 * n / 4
}

/// From four vectors to the `n`-th of three, given the `n`-th and the next.
const fn to_three<const I: usize>(n: usize, words: usize) -> Moves {
    let (mut moves, item, place) = ([0; LONGEST / WORD], I / WORD, 3 * I / 4 / WORD);
    let mut i = 0;
    while i < words {
        let (of, word) = ((n * words + i) / (3 * words / 4), (n * words + i) % (3 * words / 4));
        moves[i] = ((of - n) * words + word / place * item + word % place) as u32;
        i += 1;
    }
    moves
}

/// For items of so many bytes, a power of two: the first one throughout, and the last one.
static FIRST: [Moves; 7] = throughout(false);
static LAST: [Moves; 7] = throughout(true);

const fn throughout(last: bool) -> [Moves; 7] {
    let mut moves = [[0; LONGEST / WORD]; 7];
    let mut power = 3;
    while power < moves.len() {
        let item = (1 << power) / WORD;
        let mut i = 0;
        while i < LONGEST / WORD {
            moves[power][i] = (i % item + if last { LONGEST / WORD - item } else { 0 }) as u32;
            i += 1;
        }
        power += 1;
    }
    moves
}

impl<A: Element, O: Operator<A>, const STORE: bool> Narrow<'_, A, O, STORE> {
    /// Goes through the rows by vectors of `P`, of several places each if those are short enough.
    ///
    /// # Safety
    ///
    /// As for whoever makes the value; the CPU features of `P` and `H` must be present.
    #[inline(always)]
    pub(super) unsafe fn by_items<P: Items, H: Words>(self) {
        let whole = self.pitch().is_multiple_of(P::BYTES);
        // SAFETY: passed on.
        unsafe {
            match (item_bytes(self.pitch()), self.pitch()) {
                _ if const { O::EXACT } && whole => self.by_vectors::<P, H>(),
                (8, 8) if const { size_of::<A>() == WORD } => self.items::<P, H, 8, 8>(),
                (16, 12) => self.items::<P, H, 16, 12>(),
                (16, 16) => self.items::<P, H, 16, 16>(),
                (32, 24) => self.items::<P, H, 32, 24>(),
                (32, 32) => self.items::<P, H, 32, 32>(),
                (32, _) => self.items::<P, H, 32, 0>(),
                (64, 48) => self.items::<P, H, 64, 48>(),
                (64, 64) => self.items::<P, H, 64, 64>(),
                _ => self.by_vectors::<P, H>(),
            }
        }
    }

    /// The same, where an item has `I` bytes, and a place so many if that isn't 0.
    ///
    /// # Safety
    ///
    /// As for [`by_items`](Self::by_items).
    #[inline(always)]
    unsafe fn items<P: Items, H: Words, const I: usize, const PITCH: usize>(mut self) {
        let whole = const { PITCH == I || three_for_four::<A, I, PITCH>() };
        if P::BYTES < I || P::BYTES == I && !whole {
            // SAFETY: passed on.
            return unsafe { self.by_vectors::<P, H>() };
        }
        let way = self.way::<P>(whole);
        // SAFETY: rows of this thread; lanes of the state are an item at least; features by
        // contract.
        unsafe {
            // What precedes a row is throughout a vector.
            for lanes in [&mut self.running.before, &mut self.running.segment] {
                let lanes = (&raw mut *lanes).cast::<u8>();
                P::store(P::words(P::load(lanes), &FIRST[I.ilog2() as usize]), lanes);
            }
            let mut leaving = Leaving::new(self.stage, self.to.cast());
            for _ in 0..self.rows {
                self.row_of_items::<P, I, PITCH>(way);
                self.next::<H>(way, &mut leaving);
            }
            self.end(way, &leaving);
        }
    }

    /// A row.
    ///
    /// # Safety
    ///
    /// As for [`by_items`](Self::by_items).
    #[inline(always)]
    unsafe fn row_of_items<P: Items, const I: usize, const PITCH: usize>(&mut self, way: Way) {
        let chunk = const { Order::of::<A>().chunk() };
        // Vectors of totals, each of as many chunks.
        let blocks = CHUNKS / items_of::<P, I>();
        let block = self.block::<P, I, PITCH>();
        let asked = if STORE { block / 2 } else { block };
        // SAFETY: places of the row; features by contract.
        unsafe {
            let mut room = [splat::<P, A>(A::zeroed()); CHUNKS];
            let totals = &mut room[..blocks];
            for (b, total) in totals.iter_mut().enumerate() {
                self.ask(b * block..b * block + asked);
                let places = self.places::<P, I, PITCH>(b);
                *total = places[0];
                for &place in &places[1..chunk] {
                    *total = combine::<P, A, O>(self.operator, *total, place);
                }
            }
            let fold = if STORE {
                kogge_stone::<P, A, O, I>(self.operator, totals);
                self.finish_items::<P, I, PITCH>(totals, way);
                totals[blocks - 1]
            } else {
                last_of_tree::<P, A, O, I>(self.operator, totals)
            };
            let fold = P::words(fold, &LAST[I.ilog2() as usize]);
            self.running.take_in::<P, O>(self.operator, 0, fold, STORE);
        }
    }

    /// Bytes of a vector of places.
    #[inline(always)]
    fn vector_bytes<P: Vectors, const I: usize, const PITCH: usize>(&self) -> usize {
        items_of::<P, I>() * if PITCH > 0 { PITCH } else { self.pitch() }
    }

    /// Bytes of a block: of the places of as many chunks as a vector has items.
    #[inline(always)]
    fn block<P: Vectors, const I: usize, const PITCH: usize>(&self) -> usize {
        self.vector_bytes::<P, I, PITCH>() * const { Order::of::<A>().chunk() }
    }

    /// The places of the chunks of block `b`: the first ones, the second, …
    ///
    /// # Safety
    ///
    /// As for [`by_items`](Self::by_items).
    #[inline(always)]
    unsafe fn places<P: Items, const I: usize, const PITCH: usize>(
        &self,
        b: usize,
    ) -> [P::Vector; PLACES] {
        let chunk = const { Order::of::<A>().chunk() };
        let vectors = CHUNKS / items_of::<P, I>() * chunk;
        // SAFETY: vectors of the row; features by contract.
        unsafe {
            let first = self.from.cast::<u8>().wrapping_add(b * self.block::<P, I, PITCH>());
            let follow: [P::Vector; PLACES] = if const { three_for_four::<A, I, PITCH>() } {
                let there: [P::Vector; 3] = array(|n| P::load(first.wrapping_add(n * P::BYTES)));
                let moves = const {
                    let words = P::BYTES / WORD;
                    [
                        to_four::<I>(0, words),
                        to_four::<I>(1, words),
                        to_four::<I>(2, words),
                        to_four::<I>(3, words),
                    ]
                };
                array(|n| {
                    let begins = begins_in(n);
                    P::words_of_two(there[begins], there[(begins + 1).min(2)], &moves[n])
                })
            } else {
                array(|m| {
                    let from = first.wrapping_add(m % chunk * self.vector_bytes::<P, I, PITCH>());
                    if const { PITCH == I } {
                        return P::load(from);
                    }
                    let last = b * chunk + m + 1 >= vectors;
                    let vector = if last { self.within::<P>(from) } else { P::load(from) };
                    P::words(vector, &SPREAD[self.pitch() / WORD][0])
                })
            };
            if items_of::<P, I>() == 1 {
                return follow;
            }
            if chunk == 2 {
                let [first, second] = P::split::<I>(follow[0], follow[1]);
                [first, second, first, second]
            } else {
                let [even, odd] = P::split::<I>(follow[0], follow[1]);
                let [others_even, others_odd] = P::split::<I>(follow[2], follow[3]);
                let [first, third] = P::split::<I>(even, others_even);
                let [second, fourth] = P::split::<I>(odd, others_odd);
                [first, second, third, fourth]
            }
        }
    }

    /// Stores the values of the chunks of block `b`, the first ones, the second, …
    ///
    /// # Safety
    ///
    /// As for [`by_items`](Self::by_items).
    #[inline(always)]
    unsafe fn store_block<P: Items, const I: usize, const PITCH: usize>(
        &self,
        b: usize,
        values: [P::Vector; PLACES],
        way: Way,
    ) {
        let chunk = const { Order::of::<A>().chunk() };
        // SAFETY: vectors of the row; features by contract.
        unsafe {
            let [first, second, third, fourth] = values;
            let follow = if items_of::<P, I>() == 1 {
                values
            } else if chunk == 2 {
                let [low, high] = P::merge::<I>(first, second);
                [low, high, low, high]
            } else {
                let [even, others_even] = P::merge::<I>(first, third);
                let [odd, others_odd] = P::merge::<I>(second, fourth);
                let [a, b] = P::merge::<I>(even, odd);
                let [c, d] = P::merge::<I>(others_even, others_odd);
                [a, b, c, d]
            };
            let first = self.target(way).wrapping_add(b * self.block::<P, I, PITCH>());
            if const { three_for_four::<A, I, PITCH>() } {
                let moves = const {
                    let words = P::BYTES / WORD;
                    [to_three::<I>(0, words), to_three::<I>(1, words), to_three::<I>(2, words)]
                };
                for n in 0..3 {
                    let vector = P::words_of_two(follow[n], follow[n + 1], &moves[n]);
                    way.store::<P>(vector, first.wrapping_add(n * P::BYTES));
                }
                return;
            }
            for (m, &vector) in follow[..chunk].iter().enumerate() {
                let to = first.wrapping_add(m * self.vector_bytes::<P, I, PITCH>());
                if const { PITCH == I } {
                    way.store::<P>(vector, to);
                } else {
                    // What is left over is overwritten with the next ones.
                    P::store(P::words(vector, &SPREAD[self.pitch() / WORD][1]), to);
                }
            }
        }
    }

    /// Stores all values, given the chunks' Kogge–Stone values.
    ///
    /// # Safety
    ///
    /// As for [`by_items`](Self::by_items).
    #[inline(always)]
    unsafe fn finish_items<P: Items, const I: usize, const PITCH: usize>(
        &self,
        totals: &[P::Vector],
        way: Way,
    ) {
        let (operator, others) = (self.operator, P::BYTES - I);
        let block = self.block::<P, I, PITCH>();
        // SAFETY: features by contract.
        unsafe {
            let before = self.running.before::<P>(0);
            for b in 0..totals.len() {
                self.ask(b * block + block / 2..(b + 1) * block);
                let earlier = totals[b.max(1) - 1];
                let mut value = match items_of::<P, I>() {
                    1 => earlier,
                    _ => P::later::<I>(earlier, totals[b], 1),
                };
                if let Some(before) = before {
                    let joined = combine::<P, A, O>(operator, before, value);
                    value = if b > 0 { joined } else { P::with_end(before, joined, others) };
                }
                // Nothing precedes the first item.
                let alone = b == 0 && before.is_none();
                let places = self.places::<P, I, PITCH>(b);
                let mut values = places;
                for e in 0..const { Order::of::<A>().chunk() } {
                    let mut through = combine::<P, A, O>(operator, value, places[e]);
                    if alone && e == 0 {
                        through = P::with_end(places[0], through, others);
                        value = P::with_end(splat::<P, A>(operator.identity()), value, others);
                    }
                    values[e] = match self.kind {
                        Kind::Inclusive => through,
                        Kind::Exclusive => value,
                    };
                    value = through;
                }
                self.store_block::<P, I, PITCH>(b, values, way);
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
unsafe fn kogge_stone<P: Items, A: Element, O: Operator<A>, const I: usize>(
    operator: &O,
    totals: &mut [P::Vector],
) {
    // SAFETY: features by contract.
    unsafe {
        step::<P, A, O, I, 1>(operator, totals);
        step::<P, A, O, I, 2>(operator, totals);
        step::<P, A, O, I, 4>(operator, totals);
        step::<P, A, O, I, 8>(operator, totals);
        step::<P, A, O, I, 16>(operator, totals);
    }
}

/// A step by so many chunks: a loop that is unrolled, so that totals stay in registers.
///
/// # Safety
///
/// The CPU features of `P` must be present.
#[inline(always)]
unsafe fn step<P: Items, A: Element, O: Operator<A>, const I: usize, const STRIDE: usize>(
    operator: &O,
    totals: &mut [P::Vector],
) {
    let items = items_of::<P, I>();
    for b in (0..CHUNKS / items).rev() {
        // SAFETY: features by contract.
        unsafe {
            if STRIDE < items {
                let left = P::later::<I>(totals[b.max(1) - 1], totals[b], STRIDE);
                let value = combine::<P, A, O>(operator, left, totals[b]);
                let there = P::BYTES - STRIDE * I;
                totals[b] = if b > 0 { value } else { P::with_end(totals[0], value, there) };
            } else if b >= STRIDE / items {
                let left = totals[b - STRIDE / items];
                totals[b] = combine::<P, A, O>(operator, left, totals[b]);
            }
        }
    }
}

/// The last of the Kogge–Stone values, in the last item: neighbours are combined until one is left.
///
/// # Safety
///
/// The CPU features of `P` must be present.
#[inline(always)]
unsafe fn last_of_tree<P: Items, A: Element, O: Operator<A>, const I: usize>(
    operator: &O,
    totals: &mut [P::Vector],
) -> P::Vector {
    // SAFETY: features by contract.
    unsafe {
        let mut stride = 1;
        while stride < items_of::<P, I>() {
            // What other items have is not used.
            for total in totals.iter_mut() {
                let left = P::later::<I>(*total, *total, stride);
                *total = combine::<P, A, O>(operator, left, *total);
            }
            stride *= 2;
        }
        tree::<P, A, O>(operator, totals)
    }
}
