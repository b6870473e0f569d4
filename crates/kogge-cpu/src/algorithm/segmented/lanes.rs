//! A span of places in lanes: an element takes in the place before it, chunk totals those of chunks
//! before, as far as masks let them.

use super::SPAN;
use super::places::{Bits, Places, STEPS};
use crate::algorithm::lanes::{combine, combine_some, splat};
use crate::algorithm::outlet::Outlet;
use crate::arch::Words;
use crate::arch::stream::LINE;
use crate::array::array;
use kogge_core::{Element, Operator, Order};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Where a span's values belong.
#[derive(Clone, Copy)]
pub(super) struct Target {
    /// Its first lanes that are of no segment.
    pub(super) lead: usize,
    /// The place of its first lane.
    pub(super) place: usize,
    /// The place where the segments end.
    pub(super) end: usize,
}

/// A span, and a vector of it.
type At = (usize, usize);

/// Vectors of a span that are worked at together, to hide what operations take.
type Group<H, const N: usize> = [<H as Words>::Vector; N];

/// A span of places in lanes, and what of the span before goes into it.
pub(super) struct Lanes<'a, H: Words, A, O, const EXCLUSIVE: bool, const INIT: bool> {
    operator: &'a O,
    /// The initial value or the identity, throughout.
    first: H::Vector,
    /// The last vector before, and its values.
    element: H::Vector,
    value: H::Vector,
    /// What Kogge–Stone made of the last [`REACH`](Self::REACH) vectors before after so many steps.
    totals: [MaybeUninit<[H::Column; 2]>; STEPS],
    /// Whether any segment has more than one chunk, and how many steps are made then; those after
    /// would change nothing.
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
    const CHUNK: usize = Order::of::<A>().chunk();

    /// Vectors that the longest step goes back.
    const REACH: usize = (Self::CHUNK << (STEPS - 1)) / H::LANES;

    /// # Safety
    ///
    /// `A` must be a word of `H`, and the CPU features of `H` be present.
    #[inline(always)]
    pub(super) unsafe fn new(operator: &'a O, first: A, places: &Places) -> Self {
        // SAFETY: by contract; vectors are plain words.
        let [first] = unsafe { splat::<H, A, 1>(first) };
        // Before the first vectors there is nothing, but lanes are combined all the same.
        let mut totals = [const { MaybeUninit::<[H::Column; 2]>::uninit() }; STEPS];
        for kept in &mut totals {
            let kept = kept.as_mut_ptr().cast::<H::Vector>();
            for i in 0..Self::REACH {
                // SAFETY: so many vectors are kept, for which there is room.
                unsafe { kept.add(i).write(first) };
            }
        }
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
    /// [`SPAN`] elements must be readable at `from`, and places be those of the outlet's next
    /// values; the CPU features of `H` be present.
    #[inline(always)]
    pub(super) unsafe fn span<const N: usize>(
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
        // Of all of them, since a line is more than one.
        let vectors = (&raw const values).cast::<H::Vector>();
        for i in (0..N).step_by(line) {
            // SAFETY: by contract; vectors that are a line.
            unsafe { out.pass::<H>(vectors.add(i).cast(), (place + i * H::LANES) * size) };
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

    /// The total of the chunk before in each lane that starts one, as if all chunks were full: no
    /// others are followed by one of their segment.
    ///
    /// # Safety
    ///
    /// As for [`span`](Self::span).
    #[inline(always)]
    unsafe fn chunks_before<const N: usize>(&mut self, elements: Group<H, N>) -> Group<H, N> {
        macro_rules! fold {
            ($first:literal $($next:literal)+) => {{
                // SAFETY: by contract. A step for all vectors: longer loops the compiler leaves as
                // they are.
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

/// The lanes that a span has bits for in the `g`-th vector: from memory, where CPUs take masks from
/// at once.
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
