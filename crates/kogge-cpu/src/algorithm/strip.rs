//! Lines side by side, scanned across memory order: a register lane for each line.
//!
//! Sixteen lines make a [group](super::group), some groups a strip. A strip goes down the axis a
//! chunk or some at a time, all its groups in turn, so that each page and each line of the cache is
//! visited once; what lies between the chunks of a row stays near. The operator is vectorised
//! without any move of lanes.
//!
//! Here is what is compiled for each operator and SIMD level, a row of the order:
//! [`abreast`](super::abreast) says where its lanes come from and where its values go,
//! [`levels`](super::levels) what precedes it, and [`line`](mod@line) goes through chunks where
//! lanes are whole lines of the cache, or [place by place](line::in_turn).

use super::abreast::{Abreast, Sending, Sink, Source};
use super::group::{Groups, LANES, Lanes};
use super::line::in_turn::InTurn;
use super::line::{self, Visit, fills_lines};
use crate::arch::stream::{Cache, PAGE};
use crate::arch::{Vectors, WideOf, Words, Work};
use crate::{Cpu, tuning};
use kogge_core::{Accumulate, Element, Kind, Operator, Order};
use std::ops::Range;

/// Lines of the cache that a set of an L1 has room for at least.
const WAYS: usize = 8;

/// A row of the order of each line of a strip, scanned at some SIMD level, or folded only if
/// `STORE` is not set. Made where the strip's memory is known to be this thread's.
pub(crate) struct Row<'a, T, U, A, O, const STORE: bool> {
    pub(crate) operator: &'a O,
    pub(crate) kind: Kind,
    pub(crate) from: Source<T>,
    pub(crate) to: Sink<U>,
    /// Places of the row.
    pub(crate) len: usize,
    pub(crate) groups: &'a mut Groups<A>,
    /// Whether anything precedes the row.
    pub(crate) preceded: bool,
    /// What is asked for meanwhile.
    pub(crate) ahead: Ahead,
}

/// Memory asked for while a row of a strip is scanned or folded: so many places further on, and
/// where the strip ends before that, in the one beside it, which comes next.
#[derive(Clone, Copy)]
pub(crate) struct Ahead {
    pub(crate) places: usize,
    /// Places from the start of the row to the end of the strip.
    pub(crate) end: usize,
    /// Elements from behind the strip's last place to the first place of the next strip.
    pub(crate) beyond: isize,
    /// What it is brought into, if it is asked for at all.
    pub(crate) cache: Option<Cache>,
}

impl Ahead {
    /// So many places further on, wherever that is, if at all.
    pub(crate) fn by(places: usize, cache: Option<Cache>) -> Self {
        Self { places, end: usize::MAX, beyond: 0, cache }
    }

    /// The same from a place on.
    fn on(self, place: usize) -> Self {
        Self { end: self.end.saturating_sub(place), ..self }
    }

    /// Elements from a place to what is asked for with it.
    #[inline(always)]
    pub(super) fn elements(&self, place: usize, stride: isize) -> isize {
        let beyond = if place + self.places < self.end { 0 } else { self.beyond };
        stride.wrapping_mul(self.places as isize).wrapping_add(beyond)
    }
}

impl<T, U, A, O, const STORE: bool> Work for Row<'_, T, U, A, O, STORE>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    type Output = ();
    const COMPACT: bool = O::COMPACT;

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(mut self) {
        // What is folded alone is told apart no further.
        let far = !STORE || self.to.stream || self.ahead.cache.is_some();
        let direct = self.by_lines::<WideOf<W32>>() && self.from.lie() && self.to.target.is_none();
        // SAFETY: passed on by whoever made the value.
        unsafe {
            if !direct {
                return self.staged::<WideOf<W32>, W32>();
            }
            if STORE && self.goes_in_turn(far) {
                let (places, past, ahead) = (0..self.len, self.to.stream, self.ahead);
                let mut lines = self.in_turn(&places, self.to.stage);
                if const { O::EXACT } && !far {
                    return lines.scan::<WideOf<W32>>(places.len());
                }
                return lines.scan_far::<WideOf<W32>>(places.len(), past, &ahead);
            }
            let rest = if const { STORE } && !far {
                self.direct::<WideOf<W32>, false>()
            } else {
                self.direct::<WideOf<W32>, true>()
            };
            let chunk = const { Order::of::<T>().chunk() };
            for start in rest.clone().step_by(chunk) {
                let places = start..rest.end.min(start + chunk);
                self.visit_groups::<WideOf<W32>, { line::PART }, true>(places);
            }
        }
    }
}

impl<T, U, A, O, const STORE: bool> Row<'_, T, U, A, O, STORE>
where
    T: Accumulate<A>,
    U: Accumulate<A>,
    A: Element,
    O: Operator<A>,
{
    /// Scans the row where values are put where they belong, by lines of the cache. Gives the
    /// places that are left, too few for a visit of whole chunks.
    ///
    /// # Safety
    ///
    /// The row must exist, and be this call's alone, and [`by_lines`](Self::by_lines) hold; the CPU
    /// features of `P` must be present.
    #[inline(always)]
    unsafe fn direct<P: Vectors, const FAR: bool>(&mut self) -> Range<usize> {
        let chunk = const { Order::of::<T>().chunk() };
        let (many, few) = (line::MANY, chunk.max(line::FEW));
        let mut rest = 0..self.len;
        // SAFETY: passed on; so many places are so many chunks.
        unsafe {
            // If more meet, a line's neighbours are gone before they are wanted. (A Zen 4 in cache:
            // twice as slow where rows of memory are a multiple of a page apart, else up to 1.6
            // times as fast.)
            if self.meeting() <= WAYS {
                while rest.len() >= many {
                    let places = rest.start..rest.start + many;
                    rest.start = places.end;
                    match chunk {
                        4 => self.visit_groups::<P, 4, FAR>(places),
                        2 => self.visit_groups::<P, 8, FAR>(places),
                        _ => self.visit_groups::<P, 16, FAR>(places),
                    }
                }
            }
            if const { STORE && FAR } && line::pairs::<T>(self.to.stream) {
                let two = 2 * chunk;
                while rest.len() >= two {
                    let places = rest.start..rest.start + two;
                    rest.start = places.end;
                    self.visit_groups::<P, 2, FAR>(places);
                }
            }
            while rest.len() >= few {
                let places = rest.start..rest.start + few;
                rest.start = places.end;
                match chunk {
                    1 => self.visit_groups::<P, 2, FAR>(places),
                    _ => self.visit_groups::<P, 1, FAR>(places),
                }
            }
        }
        rest
    }

    /// Scans the places of `C` chunks of each group, or of [a part](line::PART) of one.
    ///
    /// # Safety
    ///
    /// As for [`direct`](Self::direct).
    #[inline(always)]
    unsafe fn visit_groups<P: Vectors, const C: usize, const FAR: bool>(
        &mut self,
        places: Range<usize>,
    ) {
        let visit = self.visit(&places, self.to.at(0, 0, places.start));
        let (count, descends) = (self.groups.len(), !FAR && self.descends());
        let mut known = self.groups.known();
        for n in 0..count {
            let g = if descends { count - 1 - n } else { n };
            let (mut group, line) = (known.group(g), self.from.line(g));
            // SAFETY: passed on.
            unsafe { visit.scan::<P, A, O, C, STORE, FAR>(self.operator, &mut group, line) };
        }
    }

    /// Scans the row any other way. Values come to one stage and leave from the other, if there is
    /// a target.
    ///
    /// # Safety
    ///
    /// The row must exist, and be this call's alone; the CPU features of `P` and `H` must be
    /// present.
    #[inline(always)]
    unsafe fn staged<P: Vectors, H: Words>(&mut self) {
        let lines = const { STORE && !O::COMPACT && fills_lines::<P, T, U, A>() };
        let past = self.to.target.is_some_and(|target| target.stream);
        let far = past || self.to.target.is_some() && self.ahead.cache.is_some();
        let in_turn = lines && far && self.from.lie() && self.goes_in_turn(true);
        let step = if in_turn { self.to.room } else { const { Order::of::<T>().chunk() } };
        let (mut stage, mut sent, mut sending) = (0, 0, Sending::NOTHING);
        for start in (0..self.len).step_by(step) {
            let end = self.len.min(start + step);
            let to = self.to.at(stage, 0, start - sent);
            // SAFETY: passed on.
            unsafe {
                if const { STORE && !O::COMPACT && fills_lines::<P, T, U, A>() } && in_turn {
                    let ahead = self.ahead.on(start);
                    let mut lines = self.in_turn(&(start..end), to);
                    lines.scan_far::<P>(end - start, false, &ahead);
                } else {
                    self.chunk::<P, H>(start..end, to, &mut sending);
                }
                if STORE
                    && self.to.target.is_some()
                    && (end == self.len || end - sent == self.to.room)
                {
                    sending.all::<H>();
                    sending = self.to.send(stage, sent..end);
                    (stage, sent) = (1 - stage, end);
                }
            }
        }
        // SAFETY: as above.
        unsafe { sending.all::<H>() };
    }

    /// Whether groups go from the last to the first: else what is read of one would wait for what
    /// was stored of those before it, whose addresses are the same but for whole pages. (A Zen 4 in
    /// cache, rows of memory a page apart and values 64 bytes behind elements: 29 to 35 GB/s, in
    /// the other order 39 to 59.)
    fn descends(&self) -> bool {
        let behind = self.to.stage.addr().wrapping_sub(self.from.lines.first.addr()) % PAGE;
        (1..PAGE / 2).contains(&behind)
    }

    /// Lines of the cache that meet in a set of it when [many](line::MANY) places of a group are
    /// visited at once, with those of their values.
    fn meeting(&self) -> usize {
        let bytes = |elements: isize| elements.unsigned_abs() * size_of::<T>();
        let apart = bytes(self.from.lines.stride) | bytes(self.to.pitch) | PAGE;
        2 * line::MANY.div_ceil(PAGE >> apart.trailing_zeros())
    }

    /// Whether all lines at a place go before the next place: from memory if it is gone through from
    /// end to end so; in a cache under an exact operator, if too many places of a group
    /// [meet](Self::meeting) and the strip is wide enough, where no element is overwritten that is
    /// still wanted.
    fn goes_in_turn(&self, far: bool) -> bool {
        let bytes = self.to.lines * size_of::<U>();
        let Some(least) = tuning::in_turn(Cpu::detect()) else { return false };
        if far {
            let pitch = self.to.target.map_or(self.to.pitch, |target| target.stride);
            let strides = [self.from.lines.stride, pitch].map(isize::unsigned_abs);
            return strides.iter().all(|&stride| stride < self.to.lines + LANES) && bytes <= PAGE;
        }
        let apart = self.from.lines.first.addr() != self.to.stage.addr();
        let overwrites = self.kind == Kind::Exclusive && !apart;
        let exact = const { O::EXACT };
        exact && bytes >= least && self.meeting() >= WAYS && !overwrites
    }

    /// Such places, given where the values of the first one go.
    fn in_turn(&mut self, places: &Range<usize>, to: *mut U) -> InTurn<'_, A, O> {
        let Source { lines, whole, last_line, .. } = self.from;
        let last = (self.groups.len() > whole).then_some(last_line);
        InTurn {
            operator: self.operator,
            exclusive: self.kind == Kind::Exclusive,
            // What is the same as `A` may be said to be.
            from: lines.on(places.start).cast(),
            to: Abreast { first: to.cast_const(), stride: self.to.pitch }.cast(),
            whole,
            last,
            known: self.groups.known(),
            preceded: self.preceded || const { O::EXACT } && places.start > 0,
            number: places.start / const { Order::of::<T>().chunk() },
        }
    }

    /// Whether chunks go by [lines of the cache](mod@line): a row that isn't full is folded by
    /// other steps.
    #[inline(always)]
    fn by_lines<P: Vectors>(&self) -> bool {
        let by_lines = const { !O::COMPACT && fills_lines::<P, T, U, A>() };
        by_lines && (STORE || self.len == const { Order::of::<T>().row() })
    }

    /// The chunks at these places, given where their values go.
    #[inline(always)]
    fn visit(&self, places: &Range<usize>, to: *mut U) -> Visit {
        // What is the same as `A` may be said to be.
        let chunk = const { Order::of::<T>().chunk() };
        Visit::new::<A>(
            (places.start / chunk, (self.len - places.start).div_ceil(chunk), places.len()),
            self.from.lines.on(places.start).cast(),
            (self.ahead.elements(places.start, self.from.lines.stride), self.ahead.cache),
            (to.cast(), self.to.pitch),
            (self.to.stream, self.kind == Kind::Exclusive, self.preceded),
        )
    }

    /// Scans the chunk at these places, and puts its values at `to`. Meanwhile others leave.
    ///
    /// # Safety
    ///
    /// The places must exist, and be this call's alone, and there be room at `to`; the CPU features
    /// of `P` and `H` must be present.
    #[inline(always)]
    unsafe fn chunk<P: Vectors, H: Words>(
        &mut self,
        places: Range<usize>,
        to: *mut U,
        sending: &mut Sending,
    ) {
        let by_lines = self.by_lines::<P>();
        let visit = self.visit(&places, to);
        // What the last group has too many lanes of, the first one overwrites.
        for g in 0..self.groups.len() {
            let g = g.checked_sub(1).unwrap_or(self.groups.len() - 1);
            // SAFETY: passed on.
            unsafe {
                let line = self.from.line(g);
                if by_lines && self.from.lie() {
                    visit.scan::<P, A, O, { line::PART }, STORE, true>(
                        self.operator,
                        &mut self.groups.known().group(g),
                        line,
                    );
                } else {
                    let to = to.wrapping_add(line);
                    let c = places.start / const { Order::of::<T>().chunk() };
                    self.by_lanes::<P>(c, g, places.clone(), to);
                }
                if self.to.target.is_some() {
                    sending.some::<H>(LANES * places.len() * size_of::<U>());
                }
            }
        }
    }

    /// [`chunk`](Self::chunk) for a group, lane by lane, of any elements.
    ///
    /// # Safety
    ///
    /// As for it.
    #[inline(always)]
    unsafe fn by_lanes<P: Vectors>(
        &mut self,
        c: usize,
        g: usize,
        places: Range<usize>,
        to: *mut U,
    ) {
        let (operator, preceded) = (self.operator, self.preceded);
        let (lanes, len) = (self.from.lanes(g), places.len());
        let mut known = self.groups.known();
        let mut group = known.group(g);
        // Group by group: a burst for all of them would fill the CPU's miss buffers.
        if let Some(cache) = self.ahead.cache {
            let ahead = self.ahead.elements(places.start, lanes.stride);
            lanes.on(places.start).ask(ahead, len, cache);
        }
        // SAFETY: places of the row, and of the stage; features by contract.
        unsafe {
            let chunk = Chunk {
                from: lanes.at(places.start),
                stride: lanes.stride,
                before: group.before::<P, O>(operator, c, preceded),
                preceded: preceded || c > 0,
                to,
                pitch: self.to.pitch,
                exclusive: self.kind == Kind::Exclusive,
            };
            let whole = const { Order::of::<T>().chunk() };
            let total = if len == whole {
                chunk.scan::<P, O, STORE>(operator, whole)
            } else {
                chunk.scan::<P, O, STORE>(operator, len)
            };
            if const { STORE && O::EXACT } {
                *group.before = total;
            } else if !STORE && self.len == const { Order::of::<T>().row() } {
                group.fold::<P, O>(operator, c, total);
            } else {
                group.push::<P, O>(operator, c, total);
            }
        }
    }
}

/// A chunk of each line of a group.
struct Chunk<T, U, A> {
    /// The lanes of the first place, and from a place to the next.
    from: *const T,
    stride: isize,
    /// What precedes the chunk, if anything does.
    before: Lanes<A>,
    preceded: bool,
    /// Where the values of the first place are put, and from a place to the next. There is room for
    /// one place more.
    to: *mut U,
    pitch: isize,
    exclusive: bool,
}

impl<T: Accumulate<A>, U: Accumulate<A>, A: Element> Chunk<T, U, A> {
    /// Scans it, and gives its total; of a scan in any order the fold through its last place.
    ///
    /// # Safety
    ///
    /// The places must exist, and be this call's alone; the CPU features of `P` must be present.
    #[inline(always)]
    unsafe fn scan<P: Vectors, O: Operator<A>, const STORE: bool>(
        self,
        operator: &O,
        len: usize,
    ) -> Lanes<A> {
        let Self { mut from, mut to, .. } = self;
        // SAFETY: `len` places, and one more to write; features by contract.
        unsafe {
            let mut total = Lanes::read(from);
            let mut through = total;
            if STORE && self.preceded {
                through = Lanes::combine::<P, O>(operator, &self.before, &total);
            }
            if STORE {
                if self.exclusive {
                    let identity = || Lanes([operator.identity(); LANES]);
                    let first = if self.preceded { self.before } else { identity() };
                    first.write(to);
                    // An exclusive scan is an inclusive one, a place further on.
                    to = to.wrapping_offset(self.pitch);
                }
                through.write(to);
            }
            for _ in 1..len {
                from = from.wrapping_offset(self.stride);
                to = to.wrapping_offset(self.pitch);
                let element = Lanes::read(from);
                total = Lanes::combine::<P, O>(operator, &total, &element);
                if STORE {
                    through = Lanes::combine::<P, O>(operator, &through, &element);
                    through.write(to);
                }
            }
            if const { STORE && O::EXACT } { through } else { total }
        }
    }
}
