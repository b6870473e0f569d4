//! Many lines side by side in memory, scanned across it.
//!
//! Lines are cut into strips of a few groups of sixteen, and threads share out the strips. Where
//! there are too few of them, threads scan each [together](crate::together), cut along the lines.

use crate::algorithm::abreast::{Abreast, Sink, Source, Target};
use crate::algorithm::group::LANES;
use crate::algorithm::line::{self, ByLines};
use crate::algorithm::strip::Ahead;
use crate::arch::stream::{Cache, Fence, LINE};
use crate::arch::{Cpu, Level};
use crate::descent::Descent;
use crate::engine::{Request, same};
use crate::parts::Parts;
use crate::plan::Machine;
use crate::tuning::{self, Table};
use kogge_core::{Accumulate, Element, Operator, Order};
use std::ops::Range;

/// Groups of a strip at most, and of a scan in any order, which knows less of each: their state
/// must stay near.
const GROUPS: [usize; 2] = [80, 256];

/// Strips that a thread should find, before they are made wider than that.
const STRIPS_PER_THREAD: usize = 2;

/// Groups of a strip from which its ends go by themselves, where they share lines of the cache.
const WITH_ENDS: usize = 4;

/// Sections of a strip at most: whole lines of the cache, and an end on either side.
pub(crate) const SECTIONS: usize = 3;

/// Bytes that memory is asked for ahead, and chunks at most, where it isn't in a cache.
const AHEAD: (usize, usize) = (16 << 10, 32);

/// Lines side by side.
#[derive(Clone, Copy)]
pub(crate) struct Lines<T, U> {
    /// The first element of the first line.
    pub(crate) from: *const T,
    /// The first value of the first line; may be `from` if the strides are equal too.
    pub(crate) to: *mut U,
    /// From one element of a line to the next, in the input and in the output.
    pub(crate) strides: [isize; 2],
    /// Elements of each.
    pub(crate) len: usize,
    /// Lines side by side.
    pub(crate) count: usize,
    /// The number of the first.
    pub(crate) number: isize,
    /// From the number of a line to that of the line beside it.
    pub(crate) beside: isize,
    /// Whether values are stored past the caches.
    pub(crate) stream: bool,
}

// SAFETY: lines say where; whoever reads and writes vouches for the memory.
unsafe impl<T: Element, U: Element> Sync for Lines<T, U> {}

impl<T: Element, U: Element> Lines<T, U> {
    /// Some of the lines.
    pub(crate) fn part(&self, lines: Range<usize>) -> Self {
        let (from, to) = (self.from.wrapping_add(lines.start), self.to.wrapping_add(lines.start));
        let number = self.number + lines.start as isize * self.beside;
        Self { from, to, number, count: lines.len(), ..*self }
    }

    pub(crate) fn groups(&self) -> usize {
        self.count.div_ceil(LANES)
    }

    fn chunks(&self) -> usize {
        self.len.div_ceil(const { Order::of::<T>().chunk() })
    }

    /// Rows of the order.
    pub(crate) fn rows(&self) -> usize {
        self.len.div_ceil(const { Order::of::<T>().row() })
    }

    /// The places of a row.
    fn places(&self, row: usize) -> Range<usize> {
        let len = const { Order::of::<T>().row() };
        row * len..self.len.min((row + 1) * len)
    }

    /// Places from those being scanned to those asked for meanwhile.
    fn ahead(&self) -> usize {
        let chunk = const { Order::of::<T>().chunk() };
        let (bytes, most) = AHEAD;
        let chunks = bytes / (chunk * self.count * size_of::<T>().max(1));
        let least = if line::pairs::<T>(self.stream) { 2 } else { 1 };
        chunk * chunks.clamp(least, most)
    }

    /// What is asked for while a row is scanned by the thread that has these lines alone, and next
    /// those beside them.
    fn asking(&self, row: usize) -> Ahead {
        let chunk = const { Order::of::<T>().chunk() };
        let places = self.ahead().min(self.len.next_multiple_of(chunk));
        let end = self.len - self.places(row).start;
        let beyond =
            (self.count as isize).wrapping_sub(self.strides[0].wrapping_mul(self.len as isize));
        // The stride of a single place may be any.
        let table =
            self.strides[0].unsigned_abs().saturating_mul(self.len).saturating_mul(size_of::<T>());
        Ahead { places, end, beyond, cache: Cache::for_strips(table) }
    }

    /// How many of these rows go together, and where their first place is and its value goes, if
    /// the table is a narrow one, and elements are their own accumulators: full rows of one
    /// segment.
    fn narrow<A: Element>(&self, rows: &Range<usize>) -> Option<(usize, *const A, *mut A)>
    where
        T: Accumulate<A>,
        U: Accumulate<A>,
    {
        let narrow = self.count <= LANES && self.strides == [self.count as isize; 2];
        if !narrow || !same::<T, U, A>() {
            return None;
        }
        let (row, segment) = (const { Order::of::<T>().row() }, Order::ROWS_PER_SEGMENT);
        let end = rows.end.min(self.len / row).min((rows.start / segment + 1) * segment);
        (rows.start < end).then(|| {
            let first = rows.start * row * self.count;
            let (from, to) = (self.from.wrapping_add(first), self.to.wrapping_add(first));
            (end - rows.start, from.cast(), to.cast())
        })
    }

    /// The lines of a strip in sections, so that all but its ends are whole lines of the cache
    /// where values go past it; or all in one, where they are anyway, or can't be. (Large vectors
    /// from the heap begin 16 bytes behind a page. Two threads of a Zen 4 so, in sections and in
    /// one: `f32` of 1,024 columns 38 and 29 GB/s, of 4,096 38 and 32, of 65,536, where most strips
    /// had whole lines before, 38 and 36.)
    fn sections<A: Element<Accumulator = A>, O: Operator<A>>(
        &self,
        level: Level,
    ) -> [Range<usize>; SECTIONS]
    where
        T: Accumulate<A>,
        U: Accumulate<A>,
    {
        let one = [0..self.count, self.count..self.count, self.count..self.count];
        let (to_line, size) = (self.to.addr().wrapping_neg() % LINE, size_of::<U>().max(1));
        if !self.stream || self.groups() < WITH_ENDS || !to_line.is_multiple_of(size) {
            return one;
        }
        let start = to_line / size;
        if start >= self.count {
            return one;
        }
        let end = start + (self.count - start) / LANES * LANES;
        let inner = self.part(start..end);
        let cut = (start, end) != (0, self.count) && inner.by_lines::<A, O>(level, inner.to);
        if cut { [0..start, start..end, end..self.count] } else { one }
    }

    fn number_of(&self, line: usize) -> usize {
        (self.number + line as isize * self.beside) as usize
    }

    /// The line that a group begins with: the last one has the last sixteen, where there are so
    /// many.
    fn line(&self, group: usize) -> usize {
        (group * LANES).min(self.count.saturating_sub(LANES))
    }

    /// Where some places are read: fewer than sixteen lines are brought together first.
    ///
    /// # Safety
    ///
    /// The places must exist.
    unsafe fn source<A: Element<Accumulator = A>>(
        &self,
        places: &Range<usize>,
        descent: &mut Descent<A>,
    ) -> Source<T> {
        let [stride, _] = self.strides;
        let first = self.from.wrapping_offset(places.start as isize * stride);
        let (lines, whole) = (Abreast { first, stride }, self.count / LANES);
        if whole > 0 {
            let last_line = self.line(whole);
            let last = Abreast { first: first.wrapping_add(last_line), stride };
            return Source { lines, whole, last, last_line };
        }
        let room = descent.brought.of::<T>(const { Order::of::<T>().row() } * LANES);
        for i in 0..places.len() {
            // SAFETY: there are so many lines; the room is for sixteen at each place of a row.
            unsafe { bring(lines.at(i), self.count, room.add(i * LANES)) };
        }
        let last = Abreast { first: room.cast_const(), stride: LANES as isize };
        Source { lines, whole, last, last_line: 0 }
    }

    /// Where the values of some places go.
    fn sink<A: Element<Accumulator = A>, O: Operator<A>>(
        &self,
        places: &Range<usize>,
        request: &Request<'_, O, A>,
        descent: &mut Descent<A>,
    ) -> Sink<U>
    where
        T: Accumulate<A>,
        U: Accumulate<A>,
    {
        let order = const { Order::of::<T>() };
        let [_, stride] = self.strides;
        let first = self.to.wrapping_offset(places.start as isize * stride);
        let lines = self.count;
        if self.by_lines::<A, O>(request.level, first) {
            // They are put where they belong.
            let (pitch, room, stream) = (stride, places.len(), self.stream);
            return Sink { stage: first, pitch, stream, lines, room, target: None };
        }
        // Narrow rows of memory leave it in long runs.
        let chunks = tuning::column_stage_bytes(Cpu::detect())
            / (order.chunk() * lines * size_of::<U>().max(1));
        let room = chunks.clamp(1, Order::CHUNKS_PER_ROW) * order.chunk();
        let stage = descent.stage.of::<U>(2 * Sink::<U>::values(room, lines));
        let target = Some(Target { first, stride, stream: self.stream });
        Sink { stage, pitch: lines as isize, stream: false, lines, room, target }
    }

    /// Whether values are stored by lines of the cache, which are the lanes of groups: past the
    /// caches if they lie so in the output. Lanes that two groups have are written twice, so not
    /// over the input.
    fn by_lines<A: Element<Accumulator = A>, O: Operator<A>>(
        &self,
        level: Level,
        first: *const U,
    ) -> bool
    where
        T: Accumulate<A>,
        U: Accumulate<A>,
    {
        let apart = self.strides[1].unsigned_abs() * size_of::<U>();
        let whole = self.count.is_multiple_of(LANES);
        let fits = match self.stream {
            true => whole && (first.addr() | apart).is_multiple_of(LINE),
            false => whole || self.count > LANES && self.from.addr() != self.to.addr(),
        };
        fits && level.run(ByLines::<T, U, A, O>::new())
    }
}

/// Brings fewer than sixteen lanes to where there is room for all. What is left over is the first
/// one again: an operator sees no values but such as there are.
///
/// # Safety
///
/// So many elements, one at least, must be readable at `from`, and sixteen writable at `to`.
#[inline(always)]
unsafe fn bring<T: Element>(from: *const T, count: usize, to: *mut T) {
    const QUAD: usize = 4;
    // SAFETY: by contract.
    unsafe {
        to.cast::<[T; LANES]>().write([from.read(); LANES]);
        let quads = count / QUAD * QUAD;
        for n in (0..quads).step_by(QUAD) {
            let quad = from.add(n).cast::<[T; QUAD]>().read_unaligned();
            to.add(n).cast::<[T; QUAD]>().write(quad);
        }
        for n in quads..count {
            to.add(n).write(from.add(n).read());
        }
    }
}

/// How lines side by side are cut into strips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Lines side by side.
    lines: usize,
    /// Lines of each strip.
    width: usize,
    /// Lines that the first strip lacks, so that the others begin with a cache line.
    missing: usize,
}

impl Cut {
    /// The cut of `lines` lines side by side, `outer` times, of elements and values of so many
    /// bytes, `written` bytes of values in all, which are scanned in any order if the operator is
    /// `exact`; those of the first are at the address `to`.
    pub(crate) fn new(
        lines: usize,
        outer: usize,
        Machine { threads, cpu, .. }: Machine,
        [element, size]: [usize; 2],
        to: usize,
        (written, exact): (u64, bool),
    ) -> Self {
        let size = size.max(1);
        let to_line = to.wrapping_neg() % LINE;
        // Another strip doesn't pay where there is but one group.
        let aligns = lines > LANES && to_line.is_multiple_of(size);
        let missing = if aligns { (LANES - to_line / size % LANES) % LANES } else { 0 };
        let most_groups = GROUPS[usize::from(exact)];
        let groups_of = |bytes: usize| (bytes / (LANES * element.max(1))).clamp(1, most_groups);
        // Lines of the cache that two strips have in common would cost more than another brings.
        let whole = to_line.is_multiple_of(size)
            && [element, size]
                .into_iter()
                .all(|size| lines.wrapping_mul(size).is_multiple_of(LINE));
        let table = Table { written, exact, whole, behind: to_line > 0 };
        let [narrow, wide] = tuning::strip_widths(cpu, table).map(groups_of);
        let each = lines.saturating_add(missing).div_ceil(LANES);
        let groups = each.saturating_mul(outer);
        let (most, least) = (groups / narrow, groups.div_ceil(wide));
        let one_each = tuning::one_strip_bytes(cpu, table)
            .is_some_and(|least| groups / groups_of(least) >= threads);
        let strips = if threads == 1 {
            // A thread alone has nothing to share out: it visits the fewest pages by the widest
            // strips.
            least
        } else if most < threads {
            if one_each { threads } else { least }
        } else {
            // As many for each thread, and all alike.
            let most = (most - most % threads).min(threads * STRIPS_PER_THREAD);
            least.next_multiple_of(threads).max(most)
        };
        let width = each.div_ceil(each.div_ceil(groups.div_ceil(strips)));
        Self { lines, width: LANES * width, missing }
    }

    /// Lines of a strip at most.
    pub(crate) fn widest(&self) -> usize {
        self.width.min(self.lines)
    }

    /// How many strips there are.
    pub(crate) fn strips(&self) -> usize {
        (self.lines + self.missing).div_ceil(self.width)
    }

    /// The lines of a strip.
    pub(crate) fn strip(&self, strip: usize) -> Range<usize> {
        let start = (strip * self.width).saturating_sub(self.missing);
        start..self.lines.min((strip + 1) * self.width - self.missing)
    }
}

/// A scan of lines side by side.
pub(crate) struct Columns<'a, 'b, A, O> {
    pub(crate) request: &'a Request<'b, O, A>,
    pub(crate) parts: &'a Parts<'a, A>,
}

impl<A: Element<Accumulator = A>, O: Operator<A>> Columns<'_, '_, A, O> {
    /// Scans lines: a row of the order of each of their sections in turn, so that lines of the
    /// cache that two have in common are still there.
    ///
    /// # Safety
    ///
    /// The lines must exist, and be this call's alone, and so their totals.
    pub(crate) unsafe fn strip<T: Accumulate<A>, U: Accumulate<A>>(
        &self,
        lines: &Lines<T, U>,
        descents: &mut [Descent<A>; SECTIONS],
    ) {
        let _fence = Fence;
        let sections = lines.sections::<A, O>(self.request.level).map(|range| lines.part(range));
        let rows = lines.rows();
        let there = sections.iter().filter(|section| section.count > 0).count();
        let each = if there == 1 { rows } else { 1 };
        for (section, descent) in sections.iter().zip(&mut *descents) {
            if section.count == 0 {
                continue;
            }
            let only = rows == 1 && section.count > LANES && !self.parts.totals_wanted();
            match only && self.init(section, 0).is_none() {
                true => descent.begin_only::<O>(section.groups(), section.chunks()),
                false => self.begin(section, descent),
            }
        }
        for first in (0..rows).step_by(each) {
            for (section, descent) in sections.iter().zip(&mut *descents) {
                if section.count == 0 {
                    continue;
                }
                let rows = first..rows.min(first + each);
                // SAFETY: passed on.
                unsafe { self.scan_rows(section, rows, |row| section.asking(row), descent) };
            }
        }
        for (section, descent) in sections.iter().zip(descents) {
            // SAFETY: passed on; of no lines there are none.
            unsafe { self.put_totals(section, descent) };
        }
    }

    /// Before the first row.
    pub(crate) fn begin<T: Element, U: Element>(
        &self,
        lines: &Lines<T, U>,
        descent: &mut Descent<A>,
    ) {
        descent.begin::<O>(lines.groups(), lines.chunks(), |g| self.init(lines, g));
    }

    /// Scans the next rows of the lines, asks for what is `ahead` of each meanwhile, and takes them
    /// in.
    ///
    /// # Safety
    ///
    /// As for [`strip`](Self::strip), for the rows.
    pub(crate) unsafe fn scan_rows<T: Accumulate<A>, U: Accumulate<A>>(
        &self,
        lines: &Lines<T, U>,
        mut rows: Range<usize>,
        ahead: impl Fn(usize) -> Ahead,
        descent: &mut Descent<A>,
    ) {
        while !rows.is_empty() {
            // SAFETY: passed on.
            rows.start += unsafe { self.scan_some(lines, rows.clone(), &ahead, descent) };
        }
    }

    /// The first of them, or as many as go together. Says how many.
    ///
    /// # Safety
    ///
    /// As for [`scan_rows`](Self::scan_rows).
    unsafe fn scan_some<T: Accumulate<A>, U: Accumulate<A>>(
        &self,
        lines: &Lines<T, U>,
        rows: Range<usize>,
        ahead: impl Fn(usize) -> Ahead,
        descent: &mut Descent<A>,
    ) -> usize {
        let (row, request) = (rows.start, self.request);
        let (places, ahead) = (lines.places(row), ahead(row));
        // SAFETY: passed on.
        unsafe {
            if let Some((rows, from, to)) = lines.narrow::<A>(&rows) {
                let (table, near) = ((from, to, lines.count), (ahead.places, ahead.cache));
                if descent.narrow(request, table, rows, lines.stream, near) {
                    return rows;
                }
            }
            let to = lines.sink(&places, request, descent);
            let from = lines.source(&places, descent);
            descent.scan(request, from, to, places.len(), ahead);
        }
        if row + 1 < lines.rows() || self.parts.totals_wanted() {
            descent.take_in(request.operator);
        }
        1
    }

    /// Folds rows of the lines into a span of the descent.
    ///
    /// # Safety
    ///
    /// The lines must exist, and nobody write the rows.
    pub(crate) unsafe fn fold_rows<T: Accumulate<A>, U: Accumulate<A>>(
        &self,
        lines: &Lines<T, U>,
        mut rows: Range<usize>,
        descent: &mut Descent<A>,
    ) {
        descent.begin_span();
        while !rows.is_empty() {
            // SAFETY: passed on.
            rows.start += unsafe { self.fold_some(lines, rows.clone(), descent) };
        }
    }

    /// The first of them, or as many as go together. Says how many.
    ///
    /// # Safety
    ///
    /// As for [`fold_rows`](Self::fold_rows).
    unsafe fn fold_some<T: Accumulate<A>, U: Accumulate<A>>(
        &self,
        lines: &Lines<T, U>,
        rows: Range<usize>,
        descent: &mut Descent<A>,
    ) -> usize {
        let (places, request) = (lines.places(rows.start), self.request);
        // SAFETY: passed on.
        unsafe {
            if let Some((rows, from, _)) = lines.narrow::<A>(&rows)
                && descent.fold_narrow(request, (from, lines.count), rows)
            {
                return rows;
            }
            let from = lines.source(&places, descent);
            descent.fold(request, from, places.len(), Ahead::by(lines.ahead(), Some(Cache::L1)));
        }
        descent.add_to_span(request.operator);
        1
    }

    /// The initial values of a group's lines.
    fn init<T: Element, U: Element>(&self, lines: &Lines<T, U>, g: usize) -> Option<[A; LANES]> {
        let line = lines.line(g);
        let first = self.parts.init(lines.number_of(line))?;
        let mut inits = [first; LANES];
        let count = LANES.min(lines.count - line);
        for (n, init) in inits.iter_mut().enumerate().take(count).skip(1) {
            *init = self.parts.init(lines.number_of(line + n)).unwrap_or(first);
        }
        Some(inits)
    }

    /// # Safety
    ///
    /// As for [`strip`](Self::strip).
    pub(crate) unsafe fn put_totals<T: Element, U: Element>(
        &self,
        lines: &Lines<T, U>,
        descent: &mut Descent<A>,
    ) {
        if !self.parts.totals_wanted() {
            return;
        }
        let operator = self.request.operator;
        for g in 0..lines.groups() {
            let totals = descent.totals(operator, g);
            for line in g * LANES..lines.count.min((g + 1) * LANES) {
                let total = totals.map(|totals| totals[line - lines.line(g)]);
                // SAFETY: passed on.
                unsafe { self.parts.put_total(operator, lines.number_of(line), total) };
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
