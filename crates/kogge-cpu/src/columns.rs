//! Many lines side by side in memory, scanned across it.
//!
//! Lines are cut into strips of a few groups of sixteen, and threads share out the strips. Where
//! there are too few of them, each is cut along the lines: in each round every thread folds some
//! tiles, and scans them while they are in its cache, once the folds before them are known.

use crate::algorithm::strip::{Group, LANES, Lanes, Place, Strip, Tile};
use crate::arch::stream;
use crate::array::array;
use crate::engine::Request;
use crate::parts::Parts;
use crate::pool;
use kogge_core::{Accumulate, Element, Operator, Order, Prefix};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Groups of a strip at most: wider ones visit fewer pages, but their state must stay near.
const GROUPS: usize = 32;

/// Bytes of a strip's width at least, where there are so many: narrower ones waste pages.
const WIDTH: usize = 512;

/// Strips that a thread should find, before they are made wider than `WIDTH`.
const STRIPS_PER_THREAD: usize = 4;

/// Tiles of a strip's group that a thread folds before it scans them.
const TILES: usize = 2;

/// An operator on the lines of a group at once.
pub(crate) struct Across<'a, O>(pub(crate) &'a O);

impl<A: Element<Accumulator = A>, O: Operator<A>> Operator<[A; LANES]> for Across<'_, O> {
    const EXACT: bool = O::EXACT;
    const NONBLOCKING: bool = O::NONBLOCKING;

    fn identity(&self) -> [A; LANES] {
        [self.0.identity(); LANES]
    }

    #[inline(always)]
    fn combine(&self, left: [A; LANES], right: [A; LANES]) -> [A; LANES] {
        let mut combined = left;
        for n in 0..LANES {
            combined[n] = self.0.combine(left[n], right[n]);
        }
        combined
    }
}

/// Lines side by side.
#[derive(Clone, Copy)]
pub(crate) struct Lines<T, U> {
    /// Where they lie.
    pub(crate) strip: Strip<T, U>,
    /// Elements of each.
    pub(crate) len: usize,
    /// The number of the first.
    pub(crate) number: isize,
    /// From the number of a line to that of the line beside it.
    pub(crate) beside: isize,
}

impl<T, U> Lines<T, U> {
    /// Some of the lines, `lead` of them in the first group.
    ///
    /// # Safety
    ///
    /// So many lines must be there.
    unsafe fn part(&self, lines: Range<usize>, lead: usize) -> Self {
        // SAFETY: there is such a line.
        let (from, to) =
            unsafe { (self.strip.from.add(lines.start), self.strip.to.add(lines.start)) };
        let strip = Strip { from, to, lines: lines.len(), lead, ..self.strip };
        Self { strip, number: self.number + lines.start as isize * self.beside, ..*self }
    }

    fn number_of(&self, line: usize) -> usize {
        (self.number + line as isize * self.beside) as usize
    }
}

/// What a thread needs for a strip; reused from one to the next.
pub(crate) struct Room<A> {
    groups: Vec<Group<A>>,
    prefixes: Vec<Prefix<[A; LANES]>>,
}

impl<A> Room<A> {
    pub(crate) fn new() -> Self {
        Self { groups: vec![], prefixes: vec![] }
    }
}

/// How lines side by side are cut into strips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Lines side by side.
    lines: usize,
    /// Lines of the first group, if the others then begin with a cache line; else those of any group.
    lead: usize,
    /// Lines of each strip; the first lacks what its first group does.
    width: usize,
}

impl Cut {
    /// The cut of `lines` lines side by side, `outer` times; values of the first are at `to`.
    pub(crate) fn new<T, U>(lines: usize, outer: usize, threads: usize, to: *const U) -> Self {
        let size = size_of::<U>().max(1);
        let to_line = to.addr().wrapping_neg() % 64;
        // One group more doesn't pay where there is but one.
        let aligns = lines > LANES && to_line.is_multiple_of(size);
        let lead = if aligns { to_line / size % LANES } else { 0 };
        let lead = if lead > 0 { lead } else { LANES };
        let narrow = (WIDTH / (LANES * size_of::<T>().max(1))).clamp(1, GROUPS);
        let groups = (lines + LANES - lead).div_ceil(LANES).saturating_mul(outer);
        // As many strips as divide evenly among the threads.
        let each = (groups / (threads * narrow)).clamp(1, STRIPS_PER_THREAD);
        let width = groups.div_ceil(threads * each).clamp(narrow, GROUPS);
        Self { lines, lead, width: LANES * width }
    }

    /// How many strips there are.
    pub(crate) fn strips(&self) -> usize {
        (self.lines + LANES - self.lead).div_ceil(self.width)
    }

    /// The lines of a strip, and how many of them its first group has.
    pub(crate) fn strip(&self, strip: usize) -> (Range<usize>, usize) {
        let missing = LANES - self.lead;
        let start = (strip * self.width).saturating_sub(missing);
        let end = self.lines.min((strip + 1) * self.width - missing);
        (start..end, if strip == 0 { self.lead } else { LANES })
    }
}

/// The lock, whoever may have panicked with it.
fn locked<G>(state: &Mutex<G>) -> MutexGuard<'_, G> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A scan of lines side by side.
pub(crate) struct Columns<'a, 'b, A, O> {
    pub(crate) request: &'a Request<'b, O, A>,
    pub(crate) parts: &'a Parts<'a, A>,
}

impl<A: Element<Accumulator = A>, O: Operator<A>> Columns<'_, '_, A, O> {
    /// Scans some of the lines, `lead` of them in the first group.
    ///
    /// # Safety
    ///
    /// The lines must exist, and be this call's alone, and so their totals.
    pub(crate) unsafe fn strip<T: Accumulate<A>, U: Accumulate<A>>(
        &self,
        lines: &Lines<T, U>,
        strip: Range<usize>,
        lead: usize,
        threads: usize,
        room: &mut Room<A>,
    ) {
        // SAFETY: passed on.
        unsafe {
            let mut lines = lines.part(strip, lead);
            lines.strip.stream &= lines.strip.streams();
            let tiles = lines.len.div_ceil(Order::of::<T>().tile());
            if const { !O::COMPACT } && threads > 1 && tiles > 1 {
                self.by_many(&lines, threads);
            } else {
                self.by_one(&lines, room);
            }
            if lines.strip.stream {
                stream::fence();
            }
        }
    }

    /// # Safety
    ///
    /// As for [`strip`](Self::strip).
    unsafe fn by_one<T: Accumulate<A>, U: Accumulate<A>>(
        &self,
        lines: &Lines<T, U>,
        room: &mut Room<A>,
    ) {
        let groups = lines.strip.groups();
        room.groups.resize_with(groups, Group::new);
        let inits: [Option<[A; LANES]>; GROUPS] =
            array(|g| if g < groups { self.init(lines, g) } else { None });
        room.prefixes.clear();
        let order = Order::of::<T>();
        if lines.len > order.tile() {
            room.prefixes.extend(inits[..groups].iter().map(|&init| Prefix::new(init)));
        }
        let operator = &Across(self.request.operator);
        for start in (0..lines.len).step_by(order.tile()) {
            let places = start..lines.len.min(start + order.tile());
            for (g, group) in room.groups.iter_mut().enumerate() {
                let before = match room.prefixes.get(g) {
                    Some(prefix) => prefix.before(operator),
                    None => inits[g],
                };
                group.before = before.map_or(Lanes::zeroed(), Lanes);
            }
            let preceded = start > 0 || inits[0].is_some();
            // SAFETY: passed on.
            unsafe { self.tile::<T, U, true>(lines, places, &mut room.groups, preceded) };
            for (group, prefix) in room.groups.iter().zip(&mut room.prefixes) {
                prefix.push(operator, group.tile.0);
            }
        }
        for (g, group) in room.groups.iter().enumerate() {
            let total = match room.prefixes.get(g) {
                Some(prefix) => prefix.before(operator),
                None => {
                    inits[g].map(|init| operator.combine(init, group.tile.0)).or(Some(group.tile.0))
                }
            };
            // SAFETY: passed on.
            unsafe { self.put_totals(lines, g, total) };
        }
    }

    /// # Safety
    ///
    /// As for [`strip`](Self::strip).
    unsafe fn by_many<T: Accumulate<A>, U: Accumulate<A>>(
        &self,
        lines: &Lines<T, U>,
        threads: usize,
    ) {
        let operator = &Across(self.request.operator);
        let (groups, order) = (lines.strip.groups(), Order::of::<T>());
        let tiles = lines.len.div_ceil(order.tile());
        let places = |tile: usize| tile * order.tile()..lines.len.min((tile + 1) * order.tile());
        let mut prefixes: Vec<Prefix<[A; LANES]>> =
            (0..groups).map(|g| Prefix::new(self.init(lines, g))).collect();
        let round = threads * TILES;
        // Each has one owner at a time; the locks say so to the compiler.
        let mut states: Vec<_> =
            (0..round.min(tiles)).map(|_| Mutex::new(vec![Group::<A>::new(); groups])).collect();
        for first in (0..tiles).step_by(round) {
            let last = tiles.min(first + round);
            let states = &mut states[..last - first];
            pool::each(states.len(), TILES, &|i| {
                // SAFETY: passed on; nothing is written.
                unsafe {
                    self.tile::<T, U, false>(
                        lines,
                        places(first + i),
                        &mut locked(&states[i]),
                        false,
                    );
                }
            });
            let mut preceded = vec![];
            for state in &mut *states {
                let groups = state.get_mut().unwrap_or_else(PoisonError::into_inner);
                let mut any = false;
                for (group, prefix) in groups.iter_mut().zip(&mut prefixes) {
                    let before = prefix.before(operator);
                    any = before.is_some();
                    prefix.push(operator, group.tile.0);
                    group.before = before.map_or(Lanes::zeroed(), Lanes);
                }
                preceded.push(any);
            }
            pool::each(states.len(), TILES, &|i| {
                // SAFETY: passed on; tiles are distinct places.
                unsafe {
                    let groups = &mut locked(&states[i]);
                    self.tile::<T, U, true>(lines, places(first + i), groups, preceded[i]);
                }
                stream::fence();
            });
        }
        for (g, prefix) in prefixes.iter().enumerate() {
            // SAFETY: passed on.
            unsafe { self.put_totals(lines, g, prefix.before(operator)) };
        }
    }

    /// # Safety
    ///
    /// As for [`strip`](Self::strip), for these places of the lines.
    unsafe fn tile<T: Accumulate<A>, U: Accumulate<A>, const STORE: bool>(
        &self,
        lines: &Lines<T, U>,
        places: Range<usize>,
        groups: &mut [Group<A>],
        preceded: bool,
    ) {
        let Request { operator, kind, level, .. } = *self.request;
        level.run(Tile::<T, U, A, O, _, STORE> {
            operator,
            kind,
            lines: lines.strip,
            types: PhantomData,
            places,
            groups,
            preceded,
        });
    }

    /// The initial values of a group's lines.
    fn init<T: Copy, U: Copy>(&self, lines: &Lines<T, U>, g: usize) -> Option<[A; LANES]> {
        let line = lines.strip.first_of(g);
        let first = self.parts.init(lines.number_of(line))?;
        let mut inits = [first; LANES];
        for (n, init) in inits.iter_mut().enumerate().take(lines.strip.count_of(g)).skip(1) {
            *init = self.parts.init(lines.number_of(line + n)).unwrap_or(first);
        }
        Some(inits)
    }

    /// # Safety
    ///
    /// As for [`strip`](Self::strip).
    unsafe fn put_totals<T: Copy, U: Copy>(
        &self,
        lines: &Lines<T, U>,
        g: usize,
        total: Option<[A; LANES]>,
    ) {
        if !self.parts.totals_wanted() {
            return;
        }
        for n in 0..lines.strip.count_of(g) {
            let number = lines.number_of(lines.strip.first_of(g) + n);
            let total = total.map(|total| total[n]);
            // SAFETY: passed on.
            unsafe { self.parts.put_total(self.request.operator, number, total) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_are_all_lines_once() {
        let room = [0u32; 64];
        for lines in [1, 15, 16, 17, 64, 100, 129, 1_000, 1_024, 4_100] {
            for (outer, threads) in [(1, 1), (1, 2), (3, 8), (1_000, 2)] {
                for offset in 0..17 {
                    let cut = Cut::new::<u32, u32>(lines, outer, threads, &raw const room[offset]);
                    let mut end = 0;
                    for strip in 0..cut.strips() {
                        let (lines, lead) = cut.strip(strip);
                        assert!(lines.start == end && !lines.is_empty(), "{cut:?} {lines:?}");
                        let groups = 1 + lines.len().saturating_sub(lead).div_ceil(LANES);
                        assert!(lead > 0 && groups <= GROUPS, "{cut:?} {lines:?}");
                        end = lines.end;
                    }
                    assert_eq!(end, lines, "{cut:?}");
                }
            }
        }
    }
}
