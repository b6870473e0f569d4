//! Segments of up to a row, scanned where they lie.
//!
//! Chunks start where segments do, so a vector holds chunks that begin anywhere in it. Lanes are still
//! all that the order needs: an element takes in the place before it unless it starts a chunk, and the
//! chunk totals of Kogge–Stone, kept in the lane that starts the next chunk, take in the lane that is
//! 1, 2, 4, … chunks before, unless the segment has fewer. Which lanes do is one [mask](places) a step.
//! So nothing depends on where segments start but masks, no room is lost in chunks that aren't full, and
//! what is read and written is whole vectors, one after another. Steps that no segment at hand is long
//! enough for are left out; that is decided once for all of them, since a CPU foresees no such branch
//! where lengths are random.
//!
//! Where values go past the caches, vectors begin with lines of the output: so they leave from registers in
//! whole lines, wherever segments begin. Only the first and the last line go through the [`Outlet`]'s stage.

mod places;

use super::cut::{PLACES, WORDS};
use super::format::Whole;
use super::lanes::{combine, combine_some, splat};
use super::outlet::Outlet;
use super::tile::{Shape, by_shape, shape};
use crate::arch::stream::{LINE, prefetch_part};
use crate::arch::{Simd, Words, Work};
use crate::array::array;
use kogge_core::{Element, Kind, Operator, Order};
use places::{Bits, Places, STEPS};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Places that are scanned together.
const SPAN: usize = 128;

/// Bytes from where elements are read to where memory is asked for.
const AHEAD: usize = 4 << 10;

/// Places of segments that can be scanned at once: with what their first line has before, they are a mask's.
pub(crate) const MOST: usize = PLACES - LINE / 4;

/// Elements of the longest segment that goes like this, if such elements do.
pub(crate) const fn longest<T, A: Element, O: Operator<A>>() -> Option<usize> {
    match shape::<Whole, T, A, O>() {
        Shape::Narrow(1) | Shape::Wide(1) => Some(Order::of::<T>().row()),
        _ => None,
    }
}

/// Segments to be scanned at some SIMD level. Made where they are known to be this thread's, and of up
/// to [`longest`] elements; `T` is the element as it lies in memory. Says whether the level scans them like
/// this; else nothing was done.
pub(crate) struct Segmented<'a, T, A, O> {
    pub(crate) operator: &'a O,
    pub(crate) kind: Kind,
    pub(crate) init: Option<A>,
    /// The element at place 0.
    pub(crate) from: *const A,
    /// One bit for each place where a segment starts, behind a word of others.
    pub(crate) heads: &'a [u64; WORDS + 2],
    /// The bit of the first segment in the second word.
    pub(crate) bit: usize,
    /// The places of the segments, [`MOST`] at most, of which there is one.
    pub(crate) places: Range<usize>,
    /// The places that are readable, these among them, and not written by others meanwhile.
    pub(crate) readable: Range<usize>,
    /// What values leave through, to place 0 and on; place 0 of the input may be there too.
    pub(crate) out: &'a mut Outlet,
    pub(crate) element: PhantomData<T>,
}

impl<T: Element, A: Element, O: Operator<A>> Work for Segmented<'_, T, A, O> {
    type Output = bool;
    const COMPACT: bool = O::COMPACT;

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) -> bool {
        // Elements that aren't aligned to their size have no vector begin a line.
        let size = size_of::<A>();
        let lies = if self.out.stream() { self.out.lies(0) } else { 0 };
        if const { !W32::Simd::WHERE_THEY_LIE } || !lies.is_multiple_of(size) {
            return false;
        }
        // SAFETY: passed on; the size of `A` is what the arm says.
        unsafe {
            by_shape! { shape::<Whole, T, A, O>();
                Shape::Narrow(1) => self.any::<W32, 4>(),
                Shape::Wide(1) => self.any::<W64, 2>(),
            }
        }
        true
    }
}

impl<T: Element, A: Element, O: Operator<A>> Segmented<'_, T, A, O> {
    /// # Safety
    ///
    /// The segments as whoever made the value vouches; `A` must be a word of `H`, and the CPU features
    /// of `H` be present.
    #[inline(always)]
    unsafe fn any<H: Words, const CHUNK: usize>(self) {
        // SAFETY: passed on.
        unsafe {
            match (self.kind, self.init) {
                (Kind::Inclusive, None) => self.all::<H, CHUNK, false, false>(),
                (Kind::Inclusive, Some(_)) => self.all::<H, CHUNK, false, true>(),
                (Kind::Exclusive, None) => self.all::<H, CHUNK, true, false>(),
                (Kind::Exclusive, Some(_)) => self.all::<H, CHUNK, true, true>(),
            }
        }
    }

    /// # Safety
    ///
    /// As for [`any`](Self::any).
    #[inline(always)]
    unsafe fn all<H: Words, const CHUNK: usize, const EXCLUSIVE: bool, const INIT: bool>(self) {
        let Range { start, end } = self.places;
        let size = size_of::<A>();
        // Lanes of the first line before the first segment, and places that are scanned.
        let stream = self.out.stream();
        let lead = if stream { self.out.lies(start * size) / size } else { 0 };
        let len = lead + end - start;
        let places = Places::of::<CHUNK>(&moved(self.heads, self.bit, lead, len));
        let first = self.init.unwrap_or_else(|| self.operator.identity());
        let mut room = MaybeUninit::<[A; SPAN]>::uninit();
        // SAFETY: by contract.
        unsafe {
            if stream {
                self.out.open(start * size);
            }
            let operator = self.operator;
            let mut lanes = Lanes::<H, A, O, EXCLUSIVE, INIT>::new(operator, first, &places);
            for span in 0..len.div_ceil(SPAN) {
                let done = span * SPAN;
                // May lie before place 0.
                let place = (start + done).wrapping_sub(lead);
                let mut from = self.from.wrapping_add(place);
                for line in (0..SPAN * size).step_by(LINE) {
                    prefetch_part::<LINE>(from.cast::<u8>().wrapping_add(AHEAD + line));
                }
                let behind = (place as isize) < self.readable.start as isize;
                if behind || place.wrapping_add(SPAN) > self.readable.end {
                    let copied = room.as_mut_ptr().cast::<A>();
                    copied.cast::<u8>().write_bytes(0, SPAN * size);
                    let skip = if span == 0 { lead } else { 0 };
                    let count = SPAN.min(len - done) - skip;
                    copied.add(skip).copy_from_nonoverlapping(from.wrapping_add(skip), count);
                    from = copied;
                }
                let to = Target { lead: if span == 0 { lead } else { 0 }, place, end };
                if const { size_of::<H::Vector>() == 64 } {
                    lanes.span::<8>(&places, span, from.cast(), to, self.out);
                } else {
                    lanes.span::<4>(&places, span, from.cast(), to, self.out);
                }
            }
            if stream {
                self.out.close::<H>(end * size);
            }
        }
    }
}

/// The heads from the `bit` of the second word on, `lead` places up. All places before them and from `len` on
/// are heads too: nothing has to be done for those.
#[inline(always)]
fn moved(heads: &[u64; WORDS + 2], bit: usize, lead: usize, len: usize) -> [u64; WORDS] {
    let down = 64 + bit - lead;
    let (from, by) = (&heads[down / 64..], down % 64);
    let from: &[u64; WORDS + 1] = from.first_chunk().expect("a word before and one behind");
    let mut moved = [0; WORDS];
    for w in 0..WORDS {
        let left = len as i64 - 64 * w as i64;
        let behind = if left < 64 { !0 << left.max(0) } else { 0 };
        moved[w] = from[w] >> by | from[w + 1] << 1 << (63 - by) | behind;
    }
    moved[0] |= !(!0 << lead);
    moved
}

/// Where a span's values belong.
#[derive(Clone, Copy)]
struct Target {
    /// Its first lanes that are of no segment.
    lead: usize,
    /// The place of its first lane.
    place: usize,
    /// The place where the segments end.
    end: usize,
}

/// A span, and a vector of it.
type At = (usize, usize);

/// Vectors of a span that are worked at together, to hide what operations take.
type Group<H, const N: usize> = [<H as Words>::Vector; N];

/// A span of places in lanes, and what of the span before goes into it.
struct Lanes<'a, H: Words, A, O, const EXCLUSIVE: bool, const INIT: bool> {
    operator: &'a O,
    /// The initial value or the identity, throughout.
    first: H::Vector,
    /// The last vector before, and its values.
    element: H::Vector,
    value: H::Vector,
    /// What Kogge–Stone made of the last [`REACH`](Self::REACH) vectors before after so many steps.
    totals: [MaybeUninit<[H::Column; 2]>; STEPS],
    /// Whether any segment has more than one chunk, and how many steps are made then; those after would
    /// change nothing.
    later: bool,
    steps: usize,
    /// Elements that follow another in a chunk, at most.
    follow: usize,
    accumulator: PhantomData<A>,
}

impl<'a, H, A, O, const EXCLUSIVE: bool, const INIT: bool> Lanes<'a, H, A, O, EXCLUSIVE, INIT>
where
    H: Words,
    A: Element,
    O: Operator<A>,
{
    /// Elements of a chunk.
    const CHUNK: usize = 16 / size_of::<A>();

    /// Vectors that the longest step goes back.
    const REACH: usize = (Self::CHUNK << (STEPS - 1)) / H::LANES;

    /// # Safety
    ///
    /// `A` must be a word of `H`, and the CPU features of `H` be present.
    #[inline(always)]
    unsafe fn new(operator: &'a O, first: A, places: &Places) -> Self {
        // SAFETY: by contract; vectors are plain words.
        let [first] = unsafe { splat::<H, A, 1>(first) };
        let totals = [const { MaybeUninit::zeroed() }; STEPS];
        let (element, value, accumulator) = (first, first, PhantomData);
        let later = INIT || places.later.any();
        let steps = places.far.iter().take_while(|far| far.any()).count();
        let follow = places.follow.iter().take_while(|follow| follow.any()).count();
        Self { operator, first, element, value, totals, later, steps, follow, accumulator }
    }

    /// Scans a span, `N` vectors at a time.
    ///
    /// # Safety
    ///
    /// [`SPAN`] elements must be readable at `from`, and places be those of the outlet's next values; the
    /// CPU features of `H` be present.
    #[inline(always)]
    unsafe fn span<const N: usize>(
        &mut self,
        places: &Places,
        span: usize,
        from: *const H::Vector,
        to: Target,
        out: &mut Outlet,
    ) {
        for g in (0..SPAN / H::LANES).step_by(N) {
            // SAFETY: within the span, by contract.
            unsafe {
                let elements = array(|i| from.add(g + i).read_unaligned());
                let values: Group<H, N> = if self.later {
                    self.chunks(places, (span, g), elements)
                } else {
                    self.alone(places, (span, g), elements)
                };
                let place = to.place.wrapping_add(g * H::LANES);
                let lead = if g == 0 { to.lead } else { 0 };
                if lead == 0 && place + N * H::LANES <= to.end {
                    Self::pass(values, place, out);
                } else if !out.stream() {
                    let left = to.end.saturating_sub(place) * size_of::<A>();
                    out.pass_some((&raw const values).cast(), place * size_of::<A>(), left);
                } else {
                    Self::put(values, Target { lead, place, ..to }, out);
                }
            }
        }
    }

    /// Sends values of whole lines, or as many.
    ///
    /// # Safety
    ///
    /// Places must be those of the outlet's next values, and the CPU features of `H` be present.
    #[inline(always)]
    unsafe fn pass<const N: usize>(values: Group<H, N>, place: usize, out: &mut Outlet) {
        let (size, line) = (size_of::<A>(), LINE / size_of::<H::Vector>());
        for i in (0..N).step_by(line) {
            // SAFETY: by contract; vectors that are a line.
            unsafe { out.pass::<H>((&raw const values[i]).cast(), (place + i * H::LANES) * size) };
        }
        if out.stream() {
            out.passed((place + N * H::LANES) * size);
        }
    }

    /// Puts values in the stage, but for those that are of no segment.
    ///
    /// # Safety
    ///
    /// As for [`pass`](Self::pass).
    #[inline(always)]
    unsafe fn put<const N: usize>(values: Group<H, N>, to: Target, out: &mut Outlet) {
        let size = size_of::<A>();
        let Target { lead, place, end } = to;
        if place as isize >= end as isize {
            return;
        }
        let begin = place.wrapping_add(lead);
        // SAFETY: by contract; the first line is that of the next value.
        unsafe {
            out.row(begin * size);
            let stage = out.at(begin * size).wrapping_sub(lead * size).cast::<H::Vector>();
            let lines = (end.wrapping_sub(place) * size).div_ceil(LINE) * LINE;
            let line = LINE / size_of::<H::Vector>();
            for i in 0..N.min(lines / size_of::<H::Vector>()) {
                let mut value = values[i];
                if i < line && lead > 0 {
                    value = H::select(H::mask(!0 << lead, i), value, stage.add(i).read());
                }
                stage.add(i).write(value);
            }
            out.send::<H>(end.min(place.wrapping_add(N * H::LANES)) * size);
        }
    }

    /// Vectors of segments of up to a chunk.
    ///
    /// # Safety
    ///
    /// As for [`span`](Self::span).
    #[inline(always)]
    unsafe fn alone<const N: usize>(
        &mut self,
        places: &Places,
        at: At,
        elements: Group<H, N>,
    ) -> Group<H, N> {
        // SAFETY: by contract.
        unsafe {
            let before = self.value;
            let values = self.follow(places, at, before, elements);
            self.value = values[N - 1];
            self.element = elements[N - 1];
            if EXCLUSIVE { self.exclusive(places, at, before, values, values) } else { values }
        }
    }

    /// Vectors of any segments.
    ///
    /// # Safety
    ///
    /// As for [`span`](Self::span).
    #[inline(always)]
    unsafe fn chunks<const N: usize>(
        &mut self,
        places: &Places,
        at: At,
        elements: Group<H, N>,
    ) -> Group<H, N> {
        let operator = self.operator;
        // SAFETY: by contract.
        unsafe {
            let totals = self.chunks_before(elements);
            let mut totals = self.kogge_stone(places, at, totals);
            let begin = if INIT { &places.starts } else { &places.later };
            let mut begun = elements;
            for i in 0..N {
                if INIT {
                    let [through] = combine::<H, A, O, 1>(operator, [self.first], [totals[i]]);
                    totals[i] = H::select(mask::<H>(&places.heads, at, i), self.first, through);
                }
                let mask = mask::<H>(begin, at, i);
                begun[i] = combine_some::<H, A, O>(operator, mask, totals[i], elements[i]);
            }
            let before = self.value;
            let values = self.follow(places, at, before, begun);
            self.value = values[N - 1];
            if EXCLUSIVE { self.exclusive(places, at, before, values, totals) } else { values }
        }
    }

    /// The total of the chunk before in each lane that starts one, as if all chunks were full: no others are
    /// followed by one of their segment.
    ///
    /// # Safety
    ///
    /// As for [`span`](Self::span).
    #[inline(always)]
    unsafe fn chunks_before<const N: usize>(&mut self, elements: Group<H, N>) -> Group<H, N> {
        macro_rules! fold {
            ($first:literal $($next:literal)+) => {{
                // SAFETY: by contract. A step for all vectors: longer loops the compiler leaves as they are.
                unsafe {
                    let mut totals = slid::<H, $first, N>(self.element, elements);
                    $(
                        let next = slid::<H, $next, N>(self.element, elements);
                        for i in 0..N {
                            [totals[i]] =
                                combine::<H, A, O, 1>(self.operator, [totals[i]], [next[i]]);
                        }
                    )+
                    totals
                }
            }};
        }
        let totals = if const { Self::CHUNK == 2 } { fold!(2 1) } else { fold!(4 3 2 1) };
        self.element = elements[N - 1];
        totals
    }

    /// Takes in, in each lane that doesn't start a chunk, the one before.
    ///
    /// # Safety
    ///
    /// As for [`span`](Self::span).
    #[inline(always)]
    unsafe fn follow<const N: usize>(
        &self,
        places: &Places,
        at: At,
        before: H::Vector,
        mut vectors: Group<H, N>,
    ) -> Group<H, N> {
        macro_rules! places {
            ($($k:literal)+) => {
                $(if const { $k + 1 < Self::CHUNK } && self.follow > $k {
                    // SAFETY: by contract.
                    unsafe {
                        let left = slid::<H, 1, N>(before, vectors);
                        for i in 0..N {
                            let mask = mask::<H>(&places.follow[$k], at, i);
                            vectors[i] =
                                combine_some::<H, A, O>(self.operator, mask, left[i], vectors[i]);
                        }
                    }
                })+
            };
        }
        places!(0 1 2);
        vectors
    }

    /// The values before these, given what precedes each chunk in the lane that starts it.
    ///
    /// # Safety
    ///
    /// As for [`span`](Self::span).
    #[inline(always)]
    unsafe fn exclusive<const N: usize>(
        &self,
        places: &Places,
        at: At,
        before: H::Vector,
        values: Group<H, N>,
        totals: Group<H, N>,
    ) -> Group<H, N> {
        // SAFETY: by contract.
        unsafe {
            let mut left = slid::<H, 1, N>(before, values);
            for i in 0..N {
                left[i] = H::select(mask::<H>(&places.later, at, i), totals[i], left[i]);
                left[i] = H::select(mask::<H>(&places.heads, at, i), self.first, left[i]);
            }
            left
        }
    }

    /// The Kogge–Stone values, given the totals of the chunks.
    ///
    /// # Safety
    ///
    /// As for [`span`](Self::span).
    #[inline(always)]
    unsafe fn kogge_stone<const N: usize>(
        &mut self,
        places: &Places,
        at: At,
        mut totals: Group<H, N>,
    ) -> Group<H, N> {
        macro_rules! steps {
            ($($step:literal)+) => {
                $(
                    if self.steps <= $step {
                        return totals;
                    }
                    let before = totals;
                    // SAFETY: passed on.
                    totals = unsafe { self.step::<$step, N>(&places.far[$step], at, totals) };
                    self.keep($step, before);
                )+
            };
        }
        steps!(0 1 2 3 4);
        totals
    }

    /// One step: lanes take in those of 2^`STEP` chunks before.
    ///
    /// # Safety
    ///
    /// As for [`span`](Self::span).
    #[inline(always)]
    unsafe fn step<const STEP: usize, const N: usize>(
        &mut self,
        far: &Bits,
        at: At,
        totals: Group<H, N>,
    ) -> Group<H, N> {
        let (by, before) = (Self::CHUNK << STEP, self.kept(STEP));
        let mut next = totals;
        for i in 0..N {
            // SAFETY: features by contract; as many vectors are kept as any step goes back.
            unsafe {
                let vector = |back: usize| match i.checked_sub(back) {
                    Some(i) => totals[i],
                    None => before.add(Self::REACH + i - back).read(),
                };
                let left = match by {
                    _ if by >= H::LANES => vector(by / H::LANES),
                    2 => H::slide::<2>(vector(1), totals[i]),
                    4 => H::slide::<4>(vector(1), totals[i]),
                    8 => H::slide::<8>(vector(1), totals[i]),
                    _ => unreachable!("chunks of 2 and 4"),
                };
                let mask = mask::<H>(far, at, i);
                next[i] = combine_some::<H, A, O>(self.operator, mask, left, totals[i]);
            }
        }
        next
    }

    /// The totals after so many steps, of the vectors before.
    #[inline(always)]
    fn kept(&mut self, steps: usize) -> *mut H::Vector {
        self.totals[steps].as_mut_ptr().cast()
    }

    /// Keeps the totals after so many steps for the vectors to come.
    #[inline(always)]
    fn keep<const N: usize>(&mut self, steps: usize, totals: Group<H, N>) {
        let (kept, older) = (self.kept(steps), Self::REACH.saturating_sub(N));
        // SAFETY: `REACH` vectors are kept, for which there is room.
        unsafe {
            kept.copy_from(kept.add(Self::REACH - older), older);
            for i in older..Self::REACH {
                kept.add(i).write(totals[N + i - Self::REACH]);
            }
        }
    }
}

/// The lanes moved up by `S`, the last ones of `before` coming in.
///
/// # Safety
///
/// The CPU features of `H` must be present.
#[inline(always)]
unsafe fn slid<H: Words, const S: usize, const N: usize>(
    before: H::Vector,
    vectors: Group<H, N>,
) -> Group<H, N> {
    let mut slid = vectors;
    for i in 0..N {
        let low = if i == 0 { before } else { vectors[i - 1] };
        // SAFETY: by contract; the vector before where there are no more lanes.
        slid[i] = if S == H::LANES { low } else { unsafe { H::slide::<S>(low, vectors[i]) } };
    }
    slid
}

/// The lanes that a span has bits for in the `g`-th vector: from memory, where CPUs take masks from at once.
///
/// # Safety
///
/// The CPU features of `H` must be present.
#[inline(always)]
unsafe fn mask<H: Words>(bits: &Bits, (span, g): At, i: usize) -> H::Vector {
    let place = (g + i) * H::LANES;
    let from = bits.bytes(span).wrapping_add(place / 8);
    // SAFETY: bytes of the span; features by contract.
    unsafe {
        let bits = match H::LANES {
            16 => u32::from(u16::from_le(from.cast::<u16>().read_unaligned())),
            _ => u32::from(from.read()) >> (place % 8),
        };
        H::mask(bits, 0)
    }
}

#[cfg(test)]
mod tests;
