//! Rows of 512 bytes by vector: what a full row costs when elements are whole words.
//!
//! Elements of 4, 8 or 16 bytes make chunks of 4 words (or 2 longer ones), and halves make chunks of
//! 8 once they are widened, so a row splits into columns with a lane per chunk, and each step of the
//! order is one operation on whole registers: chunk folds go down the columns, Kogge–Stone goes along
//! the lanes, and the last fold goes down the columns again.
//!
//! A scan is two stages a row. Up to the Kogge–Stone values rows know nothing of each other; only the
//! second stage stitches a row to what precedes it. The first stage of a row goes before the second
//! of the one before, so that their long dependency chains overlap: on a Zen 4 the reorder buffer
//! holds about two rows.
//!
//! All is inlined, into one function for each SIMD level; but not in debug builds, where every value
//! of an inlined function has a place of its own on the stack, megabytes in all.
//!
//! Row by row with the scan another run of rows can be folded, those that will be scanned next, or
//! the rows themselves be prefetched: so memory is read evenly while stores drain. (Bursts of more
//! than 1 KiB, of loads, prefetches or stores, cost a fifth of the bandwidth and more.)

pub(super) mod medium;
pub(super) mod window;

use super::format::Format;
use super::lanes::{Columns, Vectors, combine, get, last, set_vectors, splat, vectors};
use super::tile::{Beside, Folds};
use crate::arch::Words;
use crate::arch::stream::{LINE, ROW, Stream, prefetch_part, translate_ahead};
use crate::array::{array, map};
use kogge_core::{Element, Kind, Operator};
use std::marker::PhantomData;

/// Bytes of a row.
pub(super) const ROW_BYTES: usize = ROW;

/// Bytes from where rows are read to where they are prefetched.
pub(super) const PREFETCH: usize = 8 * ROW;

/// Full rows to be scanned.
#[derive(Clone, Copy)]
pub(super) struct Rows<A> {
    /// The first element, in its format.
    pub from: *const A,
    /// The first value; `from`, or not overlapping it.
    pub to: *mut A,
    /// How many rows, from the start of a segment: up to a segment, or whole segments.
    pub count: usize,
    /// What precedes them.
    pub before: Option<A>,
    /// What is done beside; where others are folded, as many rows.
    pub beside: Beside<*const A>,
    /// Whether values go past the caches.
    pub stream: bool,
}

/// Scans full rows. Gives their folds, and the fold of those folded beside.
///
/// # Safety
///
/// `A` must be `W` words of `H` and at most 16 bytes in size; the rows must be readable at `from`,
/// and where others are folded, and writable at `to`; `count` is not 0, and even if others are
/// folded; the CPU features of `H` must be present.
#[inline(always)]
pub(super) unsafe fn scan<F: Format, H: Words, A: Element, O: Operator<A>, const W: usize>(
    operator: &O,
    kind: Kind,
    rows: Rows<A>,
) -> (Folds<A>, Option<A>) {
    // SAFETY: passed on.
    unsafe {
        match kind {
            Kind::Inclusive => Scanning::<F, H, A, O, W, false>::new(operator, rows).run(),
            Kind::Exclusive => Scanning::<F, H, A, O, W, true>::new(operator, rows).run(),
        }
    }
}

/// Rows being scanned.
struct Scanning<'a, F, H: Words, A, O, const W: usize, const EXCLUSIVE: bool> {
    operator: &'a O,
    /// The next row to be prepared.
    from: *const H::Word,
    /// Rows to be prepared.
    left: usize,
    folds: Folds<A>,
    out: Out<H>,
    asking: Asking,
    ahead: Ahead<H, A, W>,
    format: PhantomData<F>,
}

impl<'a, F, H, A, O, const W: usize, const EXCLUSIVE: bool> Scanning<'a, F, H, A, O, W, EXCLUSIVE>
where
    F: Format,
    H: Words,
    A: Element,
    O: Operator<A>,
{
    #[inline(always)]
    fn new(operator: &'a O, rows: Rows<A>) -> Self {
        Self {
            operator,
            from: rows.from.cast(),
            left: rows.count,
            folds: Folds::new(rows.before),
            out: Out { to: rows.to.cast(), stream: rows.stream, sent: Stream::new() },
            asking: Asking::of(&rows),
            ahead: Ahead {
                next: rows.beside.folded().map(|ahead| ahead.cast()),
                pending: None,
                folds: Folds::new(None),
            },
            format: PhantomData,
        }
    }

    /// Scans all rows.
    ///
    /// Two rows a turn of the loop, so that none is moved from register to register.
    ///
    /// # Safety
    ///
    /// As for [`scan`].
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn run(mut self) -> (Folds<A>, Option<A>) {
        // SAFETY: rows are prepared while there are any. `first` goes before every `next`.
        unsafe {
            let mut row = self.prepare();
            if self.left == 0 {
                self.first(&row);
            } else {
                let behind = self.prepare();
                self.first(&row);
                self.ahead.row::<F, O>(self.operator);
                row = behind;
                while self.left >= 2 {
                    let behind = self.prepare();
                    self.next(&row);
                    self.ahead.row::<F, O>(self.operator);
                    row = self.prepare();
                    self.next(&behind);
                    self.ahead.row::<F, O>(self.operator);
                }
                if self.left == 1 {
                    let behind = self.prepare();
                    self.next(&row);
                    self.ahead.row::<F, O>(self.operator);
                    row = behind;
                }
                self.next(&row);
            }
            self.ahead.row::<F, O>(self.operator);
            self.out.finish();
        }
        (self.folds, self.ahead.folds.fold())
    }

    /// The next row, as far as it doesn't depend on what precedes it.
    ///
    /// # Safety
    ///
    /// There must be a row left, and all be as [`scan`] asks for.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn prepare(&mut self) -> Prepared<F::Row<H>, H, W> {
        let from = self.from;
        self.from = from.wrapping_add(ROW / size_of::<H::Word>());
        self.left -= 1;
        self.asking.some();
        // SAFETY: by contract.
        unsafe {
            let row = F::split::<H>(from);
            let chunks = chunks::<H, A, O, W, _>(self.operator, &row, 32 / H::LANES);
            self.asking.some();
            Prepared { row, chunks }
        }
    }

    /// Finishes the first row, which nothing may precede.
    ///
    /// # Safety
    ///
    /// As for [`prepare`](Self::prepare).
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn first(&mut self, row: &Prepared<F::Row<H>, H, W>) {
        // SAFETY: by contract.
        unsafe {
            let values = self.values(row, self.folds.before());
            self.asking.some();
            self.out.first::<F>(values);
            self.asking.some();
            self.folds.push(self.operator, last::<H, A, W>(&row.chunks));
        }
    }

    /// Finishes a row after the first.
    ///
    /// # Safety
    ///
    /// As for [`prepare`](Self::prepare), and there must have been a first row.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn next(&mut self, row: &Prepared<F::Row<H>, H, W>) {
        // SAFETY: by contract; the first row precedes.
        unsafe {
            let values = self.values(row, Some(self.folds.before().unwrap_unchecked()));
            self.asking.some();
            self.out.next::<F>(values);
            self.asking.some();
            self.folds.push(self.operator, last::<H, A, W>(&row.chunks));
        }
    }

    /// # Safety
    ///
    /// As for [`prepare`](Self::prepare).
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn values(&self, row: &Prepared<F::Row<H>, H, W>, before: Option<A>) -> F::Row<H> {
        let kind = if EXCLUSIVE { Kind::Exclusive } else { Kind::Inclusive };
        let Prepared { row, chunks } = row;
        // SAFETY: by contract.
        unsafe { finish::<H, A, O, W, _>(self.operator, kind, *row, chunks, 32 / H::LANES, before) }
    }
}

/// A row and its chunks' Kogge–Stone values.
struct Prepared<R, H: Words, const W: usize> {
    row: R,
    chunks: Columns<H, W>,
}

/// Memory asked for ahead, of the rows being scanned or folded: a quarter of a row at each of four
/// places between the loads and the stores of a row. (Two threads of a Zen 5 scan lines of floats at 93 % of
/// a copy's speed so, at 89 % with a row at once.)
struct Asking {
    /// What is next, if anything is asked for.
    next: Option<*const u8>,
}

impl Asking {
    #[inline(always)]
    fn of<A>(rows: &Rows<A>) -> Self {
        let from = match rows.beside {
            Beside::Nothing => None,
            Beside::Prefetch => Some(rows.from),
            Beside::Fold(ahead) => Some(ahead),
        };
        Self { next: from.map(|from| from.cast::<u8>().wrapping_add(PREFETCH)) }
    }

    /// Asks for the next quarter of a row.
    #[inline(always)]
    fn some(&mut self) {
        if let Some(next) = self.next {
            prefetch_part::<{ ROW / 4 }>(next);
            self.next = Some(next.wrapping_add(ROW / 4));
        }
    }
}

/// Rows being folded beside the scan.
struct Ahead<H: Words, A, const W: usize> {
    /// The next row, if there are any.
    next: Option<*const H::Word>,
    /// The chunk totals of a row that is folded with the next one.
    pending: Option<Columns<H, W>>,
    folds: Folds<A>,
}

impl<H: Words, A: Element, const W: usize> Ahead<H, A, W> {
    /// Takes in the next row, if there are rows ahead at all.
    ///
    /// # Safety
    ///
    /// The row must be readable, `A` be `W` words of `H` in size, the CPU features of `H` present.
    #[cfg_attr(not(debug_assertions), inline(always))]
    unsafe fn row<F: Format, O: Operator<A>>(&mut self, operator: &O) {
        let Some(next) = self.next else { return };
        self.next = Some(next.wrapping_add(ROW / size_of::<H::Word>()));
        // SAFETY: by contract.
        unsafe {
            let row = F::split::<H>(next);
            let chunks = chunk_totals::<H, A, O, W, _>(operator, &row, 32 / H::LANES);
            match self.pending.take() {
                None => self.pending = Some(chunks),
                Some(first) => {
                    for total in row_totals::<H, A, O, W>(operator, first, chunks) {
                        self.folds.push(operator, total);
                    }
                }
            }
        }
    }
}

/// Where rows of values go.
struct Out<H: Words> {
    /// The next row.
    to: *mut H::Word,
    /// Whether they go past the caches.
    stream: bool,
    sent: Stream,
}

impl<H: Words> Out<H> {
    const WORDS: usize = ROW / size_of::<H::Word>();

    /// Stores the first row.
    ///
    /// # Safety
    ///
    /// A row must be writable, the CPU features of `H` present.
    #[inline(always)]
    unsafe fn first<F: Format>(&mut self, values: F::Row<H>) {
        // SAFETY: by contract.
        unsafe {
            if self.stream && !self.aligned() {
                F::join::<H>(values, self.sent.row(self.to.cast()).cast());
                self.sent.begin::<H>(self.to.cast());
                self.to = self.to.add(Self::WORDS);
            } else {
                self.next::<F>(values);
            }
        }
    }

    /// Stores the next row.
    ///
    /// # Safety
    ///
    /// As for [`first`](Self::first).
    #[inline(always)]
    unsafe fn next<F: Format>(&mut self, values: F::Row<H>) {
        // SAFETY: by contract; where rows begin on lines, so do their vectors.
        unsafe {
            if self.stream {
                translate_ahead(self.to.cast());
            }
            if !self.stream {
                F::join::<H>(values, self.to);
            } else if self.aligned() {
                F::join_stream::<H>(values, self.to);
            } else {
                F::join::<H>(values, self.sent.row(self.to.cast()).cast());
                self.sent.send::<H>(self.to.cast());
            }
            self.to = self.to.add(Self::WORDS);
        }
    }

    /// Stores what no row completes.
    ///
    /// # Safety
    ///
    /// There must have been a row.
    #[inline(always)]
    unsafe fn finish(self) {
        if self.stream && !self.aligned() {
            // SAFETY: the rows were sent.
            unsafe { self.sent.finish(self.to.cast()) }
        }
    }

    #[inline(always)]
    fn aligned(&self) -> bool {
        self.to.addr().is_multiple_of(LINE)
    }
}

/// The fold of full rows, from the start of a segment.
///
/// # Safety
///
/// As for [`scan`], without the writing.
#[inline(always)]
pub(super) unsafe fn reduce<F: Format, H: Words, A: Element, O: Operator<A>, const W: usize>(
    operator: &O,
    from: *const A,
    rows: usize,
) -> A {
    let (from, words) = (from.cast::<H::Word>(), ROW / size_of::<H::Word>());
    let mut folds = Folds::new(None);
    for row in (0..rows).step_by(2) {
        // SAFETY: in bounds by contract, as are size and features.
        let [first, second] = unsafe {
            let (first, second) =
                (from.add(row * words), from.add((row + 1).min(rows - 1) * words));
            let [first, second] = map([first, second], |row| {
                chunk_totals::<H, A, O, W, _>(operator, &F::split::<H>(row), 32 / H::LANES)
            });
            row_totals::<H, A, O, W>(operator, first, second)
        };
        folds.push(operator, first);
        if row + 1 < rows {
            folds.push(operator, second);
        }
    }
    folds.fold().expect("there is a row")
}

/// The totals of two rows, given their chunk totals. Only the last Kogge–Stone value of each is
/// needed, which is a balanced tree over 32 lanes, so neighbours are combined until 2 · 32 lanes have
/// become 2.
///
/// # Safety
///
/// `A` must be `W` words of `H` in size, and the CPU features of `H` present.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn row_totals<H: Words, A: Element, O: Operator<A>, const W: usize>(
    operator: &O,
    first: Columns<H, W>,
    second: Columns<H, W>,
) -> [A; 2] {
    // SAFETY: by contract.
    unsafe {
        let rows = [first, second];
        let rows = halved::<H, A, O, W, 0>(operator, rows);
        let rows = halved::<H, A, O, W, 1>(operator, rows);
        let rows = halved::<H, A, O, W, 2>(operator, rows);
        let rows = halved::<H, A, O, W, 3>(operator, rows);
        let rows = halved::<H, A, O, W, 4>(operator, rows);
        let lane = |i| get::<H, A, W>(&register::<H, W>(&rows, i / H::LANES), i % H::LANES);
        [lane(0), lane(1)]
    }
}

/// Each pair of neighbours as one, after `DONE` such steps; the lanes in use stay the first ones.
///
/// A function for each step, since LLVM keeps what a loop of them works on in memory.
///
/// # Safety
///
/// As for [`row_totals`].
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn halved<H: Words, A: Element, O: Operator<A>, const W: usize, const DONE: usize>(
    operator: &O,
    mut rows: [Columns<H, W>; 2],
) -> [Columns<H, W>; 2] {
    let groups = 32 / H::LANES;
    let count = ((2 * groups) >> DONE).max(1);
    for g in 0..(count / 2).max(1) {
        let (low, high) = (2 * g % count, (2 * g + 1) % count);
        let (low, high) = (register::<H, W>(&rows, low), register::<H, W>(&rows, high));
        // SAFETY: by contract.
        let pair = unsafe {
            let pairs: [_; W] = array(|w| H::halve(low[w], high[w]));
            let (even, odd) = (map(pairs, |pair| pair.0), map(pairs, |pair| pair.1));
            combine::<H, A, O, W>(operator, even, odd)
        };
        set_vectors::<H, W>(&mut rows[g / groups], g % groups, pair);
    }
    rows
}

/// The `i`-th register of each column of both rows.
#[inline(always)]
fn register<H: Words, const W: usize>(rows: &[Columns<H, W>; 2], i: usize) -> Vectors<H, W> {
    let groups = 32 / H::LANES;
    vectors::<H, W>(&rows[i / groups], i % groups)
}

/// Scans the beginning of a row: the chunks in the first `groups` registers of each column. The
/// others take nothing in, and what they give means nothing.
///
/// # Safety
///
/// As for [`scan`] of one row; `groups` is at least 1, and not more than a column has registers.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) unsafe fn scan_beginning<H: Words, A: Element, O: Operator<A>, const W: usize>(
    operator: &O,
    kind: Kind,
    from: *const A,
    to: *mut A,
    groups: usize,
    before: Option<A>,
) -> A {
    // SAFETY: a row is readable and writable, and the features present, by contract.
    unsafe {
        let row = H::split(from.cast());
        let chunks = chunks::<H, A, O, W, _>(operator, &row, groups);
        let values = finish::<H, A, O, W, _>(operator, kind, row, &chunks, groups, before);
        H::join(values, to.cast());
        last::<H, A, W>(&chunks)
    }
}

/// The Kogge–Stone values of the chunks in the first `groups` registers of each column.
///
/// # Safety
///
/// `A` must be `W` words of `H` in size, and the CPU features of `H` present.
#[inline(always)]
unsafe fn chunks<H: Words, A: Element, O: Operator<A>, const W: usize, R: AsRef<[H::Column]>>(
    operator: &O,
    row: &R,
    groups: usize,
) -> Columns<H, W> {
    // SAFETY: size and features by contract.
    unsafe {
        let totals = chunk_totals::<H, A, O, W, R>(operator, row, groups);
        kogge_stone::<H, A, O, W>(operator, totals, groups)
    }
}

/// The fold of each chunk, in the order of the chunks.
///
/// # Safety
///
/// `A` must be `W` words of `H` in size, and the CPU features of `H` present.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn chunk_totals<H, A, O, const W: usize, R>(
    operator: &O,
    row: &R,
    groups: usize,
) -> Columns<H, W>
where
    H: Words,
    A: Element,
    O: Operator<A>,
    R: AsRef<[H::Column]>,
{
    let mut totals = element::<H, W, R>(row, 0);
    for g in 0..groups {
        let mut total = vectors::<H, W>(&totals, g);
        for e in 1..row.as_ref().len() / W {
            let next = vectors::<H, W>(&element::<H, W, R>(row, e), g);
            // SAFETY: size and features by contract.
            total = unsafe { combine::<H, A, O, W>(operator, total, next) };
        }
        // SAFETY: features by contract.
        set_vectors::<H, W>(&mut totals, g, map(total, |v| unsafe { H::to_natural(v) }));
    }
    totals
}

/// The columns that hold element `e` of each chunk.
#[inline(always)]
fn element<H: Words, const W: usize, R: AsRef<[H::Column]>>(row: &R, e: usize) -> Columns<H, W> {
    array(|w| row.as_ref()[e * W + w])
}

/// The Kogge–Stone values of 32 chunk totals.
///
/// # Safety
///
/// `A` must be `W` words of `H` in size, and the CPU features of `H` present.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn kogge_stone<H: Words, A: Element, O: Operator<A>, const W: usize>(
    operator: &O,
    totals: Columns<H, W>,
    groups: usize,
) -> Columns<H, W> {
    // SAFETY: size and features by contract.
    unsafe {
        let totals = stride::<H, A, O, W, 1>(operator, totals, groups);
        let totals = stride::<H, A, O, W, 2>(operator, totals, groups);
        let totals = stride::<H, A, O, W, 4>(operator, totals, groups);
        let totals = stride::<H, A, O, W, 8>(operator, totals, groups);
        stride::<H, A, O, W, 16>(operator, totals, groups)
    }
}

/// One step: every lane from `S` on takes in the one `S` before it.
///
/// # Safety
///
/// `A` must be `W` words of `H` in size, and the CPU features of `H` present.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn stride<H: Words, A: Element, O: Operator<A>, const W: usize, const S: usize>(
    operator: &O,
    totals: Columns<H, W>,
    groups: usize,
) -> Columns<H, W> {
    let mut next = totals;
    for g in S / H::LANES..groups {
        let here = vectors::<H, W>(&totals, g);
        // SAFETY: size and features by contract; `S < LANES` wherever lanes move.
        let value = unsafe {
            if S >= H::LANES {
                let left = vectors::<H, W>(&totals, g - S / H::LANES);
                combine::<H, A, O, W>(operator, left, here)
            } else {
                let low = vectors::<H, W>(&totals, g.saturating_sub(1));
                let left = array(|w| H::slide::<S>(low[w], here[w]));
                let value = combine::<H, A, O, W>(operator, left, here);
                if g == 0 { array(|w| H::blend::<S>(here[w], value[w])) } else { value }
            }
        };
        set_vectors::<H, W>(&mut next, g, value);
    }
    next
}

/// The values of a row, given its chunks' Kogge–Stone values and what precedes it.
///
/// # Safety
///
/// `A` must be `W` words of `H` in size, and the CPU features of `H` present.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn finish<H, A, O, const W: usize, R>(
    operator: &O,
    kind: Kind,
    mut row: R,
    chunks: &Columns<H, W>,
    groups: usize,
    before: Option<A>,
) -> R
where
    H: Words,
    A: Element,
    O: Operator<A>,
    R: AsRef<[H::Column]> + AsMut<[H::Column]>,
{
    for g in 0..groups {
        // SAFETY: size and features by contract. Lane 0 is chunk 0 in either order of lanes.
        unsafe {
            let here = vectors::<H, W>(chunks, g);
            let low = vectors::<H, W>(chunks, g.saturating_sub(1));
            let left: Vectors<H, W> = array(|w| H::slide::<1>(low[w], here[w]));
            let value = match before {
                Some(before) => {
                    let before = splat::<H, A, W>(before);
                    let value = combine::<H, A, O, W>(operator, before, left);
                    if g == 0 { blend_first::<H, W>(before, value) } else { value }
                }
                None => left,
            };
            let mut value = map(value, |v| H::from_natural(v));
            for e in 0..row.as_ref().len() / W {
                let here: Vectors<H, W> = array(|w| row.as_ref()[e * W + w].as_ref()[g]);
                let mut through = combine::<H, A, O, W>(operator, value, here);
                if before.is_none() && g == 0 && e == 0 {
                    // Nothing precedes the very first element.
                    through = blend_first::<H, W>(here, through);
                    value = blend_first::<H, W>(splat::<H, A, W>(operator.identity()), value);
                }
                let out = match kind {
                    Kind::Inclusive => through,
                    Kind::Exclusive => value,
                };
                for w in 0..W {
                    row.as_mut()[e * W + w].as_mut()[g] = out[w];
                }
                value = through;
            }
        }
    }
    row
}

/// Lane 0 of `first`, the other lanes of `others`.
///
/// # Safety
///
/// The CPU features of `H` must be present.
#[inline(always)]
unsafe fn blend_first<H: Words, const W: usize>(
    first: Vectors<H, W>,
    others: Vectors<H, W>,
) -> Vectors<H, W> {
    // SAFETY: features by contract.
    array(|w| unsafe { H::blend::<1>(first[w], others[w]) })
}

#[cfg(test)]
mod tests;
