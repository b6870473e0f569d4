//! Places in lanes that run along memory.
//!
//! A vector that lies as memory has it takes a step for each doubling of its lanes, each under a
//! mask. Here a lane has as many places, one after another, as an element has bits, and goes from
//! one to the next: a value is the one before it with the element, unless a segment starts there,
//! and one shift of the lanes' bits says in which. What precedes each lane comes from a scan of
//! their folds, of which a block has one vector; the places before a lane's first head take it in
//! on a second pass, over what the first one left in L1.
//!
//! Eight places of each lane are transposed at a time, and back.

use super::{AHEAD, Headed, LOOKED_AT, WORD, WORDS, lane};
use crate::algorithm::free::{combine, combine_opaque, splat};
use crate::arch::stream::LINE;
use crate::arch::{Crosswise, EIGHT, Level, MaskedOf, Words, Work};
use crate::array::{array, for_each};
use kogge_core::{Element, Kind, Operator};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Whether elements of `S` bytes go like this in such vectors.
pub(super) const fn goes<P: Crosswise, const S: usize>() -> bool {
    P::CROSSWISE && P::BYTES == 32 && matches!(S, 4 | 8)
}

/// Whether those of this type do at a level.
pub(crate) fn crosswise<A: Element>(level: Level) -> bool {
    level.run(Goes::<A>(PhantomData))
}

struct Goes<A>(PhantomData<A>);

impl<A: Element> Work for Goes<A> {
    type Output = bool;

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) -> bool {
        match size_of::<A>() {
            4 => const { goes::<MaskedOf<W32>, 4>() },
            8 => const { goes::<MaskedOf<W32>, 8>() },
            _ => false,
        }
    }
}

/// Blocks that go side by side: in each a lane waits for one operation after another.
const BESIDE: usize = 2;

/// Places of a lane at most.
const DEPTH: usize = 64;

/// Room for what one pass leaves for the next, of each block that goes beside others, and for a
/// block of elements or values; on a line of the cache.
#[repr(align(64))]
struct Staged<V>(MaybeUninit<[[V; DEPTH]; BESIDE + 1]>);

/// What goes on from block to block.
struct Blocks<'a, P: Crosswise, O, const S: usize, const EXCLUSIVE: bool, const INIT: bool> {
    operator: &'a O,
    /// The initial value or the identity, throughout.
    first: P::Vector,
    /// The value of the last place, throughout.
    through: P::Vector,
    /// Room for what is [staged](Staged).
    staged: *mut P::Vector,
}

impl<A: Element, O: Operator<A>> Headed<'_, A, O> {
    /// # Safety
    ///
    /// As for [`all`](Self::all), there must be whole words, and lanes be [crosswise](Crosswise).
    #[inline(always)]
    pub(super) unsafe fn crosswise<P: Crosswise, const S: usize>(self) -> A {
        // SAFETY: passed on.
        unsafe {
            match (self.kind, self.init) {
                (Kind::Inclusive, None) => self.blocks::<P, S, false, false>(),
                (Kind::Inclusive, Some(_)) => self.blocks::<P, S, false, true>(),
                (Kind::Exclusive, None) => self.blocks::<P, S, true, false>(),
                (Kind::Exclusive, Some(_)) => self.blocks::<P, S, true, true>(),
            }
        }
    }

    /// # Safety
    ///
    /// As for [`crosswise`](Self::crosswise).
    #[inline(always)]
    unsafe fn blocks<P, const S: usize, const EXCLUSIVE: bool, const INIT: bool>(self) -> A
    where
        P: Crosswise,
    {
        let places = const { 8 * P::BYTES };
        let first = self.init.unwrap_or_else(|| self.operator.identity());
        let mut staged = Staged::<P::Vector>(MaybeUninit::uninit());
        let mut blocks = Blocks::<P, O, S, EXCLUSIVE, INIT> {
            operator: self.operator,
            first: splat::<P, A>(first),
            through: splat::<P, A>(self.through),
            staged: staged.0.as_mut_ptr().cast(),
        };
        let mut place = 0;
        // SAFETY: blocks of places that exist.
        unsafe {
            while self.len - place >= BESIDE * places {
                self.some::<P, S, EXCLUSIVE, INIT, BESIDE>(&mut blocks, place);
                place += BESIDE * places;
            }
            if self.len - place >= places {
                self.some::<P, S, EXCLUSIVE, INIT, 1>(&mut blocks, place);
                place += places;
            }
            let through = lane::<P, A>(blocks.through);
            if place == self.len { through } else { self.rest(blocks, place) }
        }
    }

    /// Scans `N` blocks from this place on.
    ///
    /// # Safety
    ///
    /// As for [`blocks`](Self::blocks).
    #[inline(always)]
    unsafe fn some<P, const S: usize, const EXCLUSIVE: bool, const INIT: bool, const N: usize>(
        &self,
        blocks: &mut Blocks<P, O, S, EXCLUSIVE, INIT>,
        place: usize,
    ) where
        P: Crosswise,
    {
        let (words, places) = const { (P::BYTES / 8, 8 * P::BYTES) };
        let stream = self.stream && self.to.addr().is_multiple_of(LINE);
        // SAFETY: by contract.
        unsafe {
            let heads = self.heads.as_ptr().add(place / WORD);
            let heads: [P::Vector; N] = array(|n| P::load(heads.add(n * words).cast()));
            let wanted = self.wanted.on(place);
            let from = self.from.add(place);
            let mut begun: [P::Vector; N] = array(|n| P::begun::<S>(heads[n]));
            let (mut left, mut folds) = (heads, [blocks.first; N]);
            for part in 0..S {
                let at = part * (N * places / S);
                for_each!((0..N * places).step_by(LINE), |line| {
                    let line = from.wrapping_add(at).cast::<u8>().wrapping_add(line);
                    wanted.elements::<LINE>(line, AHEAD);
                });
                wanted.looked_at(at + LOOKED_AT, N * places / S);
                // Not in a loop, in which folds would go through memory.
                macro_rules! block {
                    ($n:literal) => {
                        if const { $n < N } {
                            let from = from.add($n * places + part * EIGHT);
                            let staged = $n * DEPTH + part * EIGHT;
                            let heads = (begun[$n], left[$n]);
                            folds[$n] = blocks.along(from, heads, folds[$n], staged);
                            begun[$n] = P::after_eight::<S>(begun[$n]);
                            left[$n] = P::after_eight::<S>(left[$n]);
                        }
                    };
                }
                block!(0);
                block!(1);
            }
            for n in 0..N {
                let before = blocks.before(heads[n], folds[n]);
                let to = self.to.add(place + n * places);
                if !stream {
                    blocks.take_in(before, heads[n], n * DEPTH, to);
                    continue;
                }
                // Lanes have half a line at a time, which memory would take as a line each.
                let block = blocks.staged.add(BESIDE * DEPTH).cast::<u8>();
                blocks.take_in(before, heads[n], n * DEPTH, block.cast());
                for_each!((0..places * S).step_by(P::BYTES), |i| {
                    P::stream(P::load(block.add(i)), to.cast::<u8>().add(i));
                });
            }
        }
    }

    /// Scans what is less than a block, as one whose other places are of no concern.
    ///
    /// # Safety
    ///
    /// As for [`blocks`](Self::blocks), and it must be.
    #[inline(always)]
    unsafe fn rest<P, const S: usize, const EXCLUSIVE: bool, const INIT: bool>(
        &self,
        mut blocks: Blocks<P, O, S, EXCLUSIVE, INIT>,
        place: usize,
    ) -> A
    where
        P: Crosswise,
    {
        let (left, places) = (self.len - place, const { 8 * P::BYTES });
        let mut bits = [!0u64; WORDS];
        for (word, &heads) in bits.iter_mut().zip(&self.heads[place / WORD..self.len / WORD]) {
            *word = heads;
        }
        let head = bits[left / WORD - 1] >> (WORD - 1) == 1;
        // SAFETY: all elements are read before values are written, and there is room for a block.
        unsafe {
            let (from, to) = (self.from.add(place), self.to.add(place));
            let block = blocks.staged.add(BESIDE * DEPTH).cast::<A>();
            block.copy_from_nonoverlapping(from, left);
            // An operator sees no values but such as there are.
            let last = *from.add(left - 1);
            for i in left..places {
                block.add(i).write(last);
            }
            let heads = P::load(bits.as_ptr().cast());
            let (mut begun, mut bits, mut folds) = (P::begun::<S>(heads), heads, blocks.first);
            for part in 0..S {
                let from = block.add(part * EIGHT);
                folds = blocks.along(from, (begun, bits), folds, part * EIGHT);
                begun = P::after_eight::<S>(begun);
                bits = P::after_eight::<S>(bits);
            }
            let before = blocks.before(heads, folds);
            blocks.take_in(before, heads, 0, block);
            to.copy_from_nonoverlapping(block, left);
            let value = *block.add(left - 1);
            match EXCLUSIVE {
                false => value,
                true if head && !INIT => last,
                true => self.operator.combine(value, last),
            }
        }
    }
}

impl<P, O, const S: usize, const EXCLUSIVE: bool, const INIT: bool>
    Blocks<'_, P, O, S, EXCLUSIVE, INIT>
where
    P: Crosswise,
{
    /// Goes along the next eight places of each lane, given their heads and the fold of those
    /// before in each, and stages each place's fold, or for exclusive values the one before it.
    ///
    /// # Safety
    ///
    /// The elements must be readable from those of the first lane on, and eight vectors of room be
    /// from the `staged`-th on; `S` be the size of `A`, and the CPU features of `P` present.
    #[inline(always)]
    unsafe fn along<A: Element>(
        &self,
        from: *const A,
        (begun, heads): (P::Vector, P::Vector),
        mut fold: P::Vector,
        staged: usize,
    ) -> P::Vector
    where
        O: Operator<A>,
    {
        // SAFETY: by contract.
        unsafe {
            let staged = self.staged.add(staged);
            fold = P::opaque(fold);
            let elements = P::eight::<S>(from.cast(), 8 * S * S);
            for_each!(0..EIGHT, |k| {
                let mut element = P::opaque(elements[k]);
                if EXCLUSIVE {
                    staged.add(k).write(fold);
                }
                if INIT {
                    let first = combine_opaque::<P, A, O>(self.operator, self.first, element);
                    element = P::opaque(P::select::<S>(P::bit::<S>(heads, k), first, element));
                }
                let taken = combine_opaque::<P, A, O>(self.operator, fold, element);
                fold = P::opaque(P::select::<S>(P::bit::<S>(begun, k), element, taken));
                if !EXCLUSIVE {
                    staged.add(k).write(fold);
                }
            });
        }
        fold
    }

    /// What precedes each lane, given its heads and fold; goes on behind the last.
    ///
    /// # Safety
    ///
    /// As for [`along`](Self::along).
    #[inline(always)]
    unsafe fn before<A: Element>(&mut self, heads: P::Vector, mut folds: P::Vector) -> P::Vector
    where
        O: Operator<A>,
    {
        let (operator, through) = (self.operator, self.through);
        // SAFETY: by contract.
        unsafe {
            let near = &Near::<S>::OF[P::any::<S>(heads) as usize];
            macro_rules! step {
                ($folds:ident, $step:expr => $left:expr) => {{
                    let taken = combine::<P, A, O>(operator, $left, $folds);
                    P::select::<S>(P::mask::<S>(near, $step), taken, $folds)
                }};
            }
            if S == 4 {
                folds = step!(folds, 0 => P::up::<4>(folds, folds));
                folds = step!(folds, 1 => P::up::<8>(folds, folds));
            } else {
                folds = step!(folds, 0 => P::up::<8>(folds, folds));
            }
            folds = step!(folds, 2 => P::across::<S>(folds, folds));
            let values = step!(folds, 3 => through);
            // Not by way of the values: blocks wait for each other here alone.
            let last = P::last_aside::<S>(folds);
            let after = combine::<P, A, O>(operator, through, last);
            self.through = P::select::<S>(P::mask_last::<S>(near, 3), after, last);
            P::shift::<S>(through, values)
        }
    }

    /// Has the places before each lane's first head take in what precedes the lane, and stores the
    /// values.
    ///
    /// # Safety
    ///
    /// As for [`along`](Self::along); from the `staged`-th vector on there must be a block's, and
    /// room for its values.
    #[inline(always)]
    unsafe fn take_in<A: Element>(
        &self,
        before: P::Vector,
        mut heads: P::Vector,
        staged: usize,
        to: *mut A,
    ) where
        O: Operator<A>,
    {
        // SAFETY: by contract.
        unsafe {
            let (staged, before) = (self.staged.add(staged), P::opaque(before));
            let (mut open, mut part) = (P::below::<S>(heads), 0);
            // Behind the first head of every lane there is nothing to be taken in.
            while part < S && P::any::<S>(open) > 0 {
                let mut values = [before; EIGHT];
                for_each!(0..EIGHT, |k| {
                    let fold = P::opaque(staged.add(part * EIGHT + k).read());
                    let taken = combine_opaque::<P, A, O>(self.operator, before, fold);
                    values[k] = P::select::<S>(P::bit::<S>(open, k), taken, fold);
                });
                if EXCLUSIVE && part == 0 {
                    values[0] = before;
                }
                self.put(values, part, heads, to);
                open = P::after_eight::<S>(open);
                heads = P::after_eight::<S>(heads);
                part += 1;
            }
            while part < S {
                let values = array(|k| staged.add(part * EIGHT + k).read());
                self.put(values, part, heads, to);
                heads = P::after_eight::<S>(heads);
                part += 1;
            }
        }
    }

    /// Stores eight values of each lane; exclusive ones but for those of heads.
    ///
    /// # Safety
    ///
    /// As for [`take_in`](Self::take_in).
    #[inline(always)]
    unsafe fn put<A: Element>(
        &self,
        mut values: [P::Vector; EIGHT],
        part: usize,
        heads: P::Vector,
        to: *mut A,
    ) {
        // SAFETY: by contract.
        unsafe {
            if EXCLUSIVE {
                for_each!(0..EIGHT, |k| {
                    values[k] = P::select::<S>(P::bit::<S>(heads, k), self.first, values[k]);
                });
            }
            P::put_eight::<S>(values, to.add(part * EIGHT).cast(), 8 * S * S);
        }
    }
}

/// Which lanes' folds take in those of others.
struct Near<const S: usize>;

impl<const S: usize> Near<S> {
    /// By the lanes that have a head: one bit for each lane that takes in the lane before, two
    /// lanes before, the last one of the first half; and all before, with what precedes the block.
    const OF: &[[u32; 2]; 256] = &{
        // The compiler looks at other sizes, too.
        let lanes = if S < 4 { 0 } else { 32 / S };
        let mut of = [[0; 2]; 256];
        let mut heads = 0;
        while heads < 1 << lanes {
            let (mut lane, mut near) = (0, 0);
            while lane < lanes {
                // Lanes without a head, this one and those right before it.
                let open = ((heads as u32) << (31 - lane)).leading_zeros() as usize;
                let half = lane % (lanes / 2);
                let across = lane > half && open > half;
                let before = [open >= 1 && half >= 1, open >= 2 && half >= 2, across, open > lane];
                let mut step = 0;
                while step < 4 {
                    near |= (before[step] as u64) << (step * lanes + lane);
                    step += 1;
                }
                lane += 1;
            }
            of[heads] = [near as u32, (near >> 32) as u32];
            heads += 1;
        }
        of
    };
}
