//! Rows of 512 bytes by vector: what a full row costs when elements are whole words.
//!
//! Elements of 4, 8 or 16 bytes make chunks of 4 words (or 2 longer ones), so a row splits into
//! columns with a lane per chunk, and each step of the order is one operation on whole registers:
//! chunk folds go down the columns, Kogge–Stone goes along the lanes, and the last fold goes down
//! the columns again.
//!
//! Rows are taken four at a time, in two stages. Up to the Kogge–Stone values rows know nothing of
//! each other, so their long dependency chains overlap; only then are they stitched to what
//! precedes them. (One row at a time, an f32 sum was slower on a Zen 4: the reorder buffer holds
//! about two rows, too few to hide the latency of one.)

use super::lanes::{Columns, Vectors, combine, get, last, set_vectors, splat, vectors};
use super::tile::join;
use crate::arch::Words;
use crate::arch::stream::{self, Memory};
use kogge_core::{Element, Kind, Operator};
use std::mem::MaybeUninit;

/// Bytes of a row.
pub(super) const ROW_BYTES: usize = 512;

/// Rows whose dependency chains overlap.
const BATCH: usize = 4;

/// Scans full rows. `to` may be `from`. Gives the fold of the rows, and the same with `before`:
/// what precedes a next row.
///
/// # Safety
///
/// `A` must be `W` words of `H` and at most 16 bytes in size; `rows` rows must be readable at
/// `from` and writable at `to`; the two may be equal, else
/// must not overlap; `rows` is not 0; the CPU features of `H` must be present.
#[inline(always)]
pub(super) unsafe fn scan<H: Words, A: Element, O: Operator<A>, const W: usize>(
    operator: &O,
    kind: Kind,
    from: *const A,
    to: *mut A,
    rows: usize,
    mut before: Option<A>,
    memory: Memory,
) -> (A, A) {
    let (from, to) = (from.cast::<H::Word>(), to.cast::<H::Word>());
    let words = ROW_BYTES / size_of::<H::Word>();
    let mut columns = [const { MaybeUninit::<H::Row>::uninit() }; BATCH];
    let mut totals = [const { MaybeUninit::<Columns<H, W>>::uninit() }; BATCH];
    let mut staged = MaybeUninit::<[u8; BATCH * ROW_BYTES]>::uninit();
    let mut fold = None;
    for first in (0..rows).step_by(BATCH) {
        let batch = BATCH.min(rows - first);
        // SAFETY: rows `first..first + batch` are in bounds by contract. Each row is read before
        // it is written, and the slots of a batch are written before they are read.
        unsafe {
            for i in 0..batch {
                memory.prefetch((first + i) * ROW_BYTES);
                let row = H::split(from.add((first + i) * words));
                totals[i].write(chunks::<H, A, O, W>(operator, &row, 32 / H::LANES));
                columns[i].write(row);
            }
            for i in 0..batch {
                let row = columns[i].assume_init();
                let chunks = totals[i].assume_init_ref();
                let values =
                    finish::<H, A, O, W>(operator, kind, row, chunks, 32 / H::LANES, before);
                if memory.stream {
                    H::join(values, staged.as_mut_ptr().cast::<H::Word>().add(i * words));
                } else {
                    H::join(values, to.add((first + i) * words));
                }
                let total = last::<H, A, W>(chunks);
                before = Some(join(operator, before, total));
                fold = Some(join(operator, fold, total));
            }
            if memory.stream {
                let to = to.add(first * words).cast();
                stream::copy::<H>(staged.as_ptr().cast(), to, batch * ROW_BYTES);
            }
        }
    }
    (fold.expect("there is a row"), before.expect("a row precedes"))
}

/// The fold of full rows.
///
/// # Safety
///
/// As for [`scan`], without the writing.
#[inline(always)]
pub(super) unsafe fn reduce<H: Words, A: Element, O: Operator<A>, const W: usize>(
    operator: &O,
    from: *const A,
    rows: usize,
) -> A {
    let from = from.cast::<H::Word>();
    let words = ROW_BYTES / size_of::<H::Word>();
    let mut fold = None;
    for first in (0..rows).step_by(BATCH) {
        // SAFETY: the row index is clamped to the last row, so all reads are in bounds.
        let totals = unsafe {
            row_totals::<H, A, O, W>(operator, |i| from.add((first + i).min(rows - 1) * words))
        };
        for total in totals.into_iter().take(rows - first) {
            fold = Some(join(operator, fold, total));
        }
    }
    fold.expect("there is a row")
}

/// The totals of four rows: only the last Kogge–Stone value of each is needed, which is a balanced
/// tree over 32 lanes, so neighbours are combined until 4 · 32 lanes have become 4.
///
/// # Safety
///
/// As for [`reduce`]; the rows at `row(0)` to `row(3)` must be readable.
#[inline(always)]
unsafe fn row_totals<H: Words, A: Element, O: Operator<A>, const W: usize>(
    operator: &O,
    row: impl Fn(usize) -> *const H::Word,
) -> [A; BATCH] {
    // At most 4 columns of 16 registers (2 lanes each); fewer are used where registers are wider.
    let mut tree = [const { MaybeUninit::<Vectors<H, W>>::uninit() }; BATCH * 16];
    let per_column = 32 / H::LANES;
    let mut count = BATCH * per_column;
    // SAFETY: rows are readable and features present by contract; entries below `count` are
    // written, here and then by each level before the next reads them.
    unsafe {
        for i in 0..BATCH {
            let chunks = chunk_totals::<H, A, O, W>(operator, &H::split(row(i)), per_column);
            for g in 0..per_column {
                tree[i * per_column + g].write(vectors::<H, W>(&chunks, g));
            }
        }
        for _ in 0..5 {
            let half = (count / 2).max(1);
            for g in 0..half {
                let low = tree[2 * g % count].assume_init();
                let high = tree[(2 * g + 1) % count].assume_init();
                let pairs: [_; W] = std::array::from_fn(|w| H::halve(low[w], high[w]));
                let (even, odd) = (pairs.map(|pair| pair.0), pairs.map(|pair| pair.1));
                tree[g].write(combine::<H, A, O, W>(operator, even, odd));
            }
            count = half;
        }
        std::array::from_fn(|i| get::<H, A, W>(tree[i / H::LANES].assume_init_ref(), i % H::LANES))
    }
}

/// Scans the beginning of a row: the chunks in the first `groups` registers of each column. The
/// others take nothing in, and what they give means nothing.
///
/// # Safety
///
/// As for [`scan`] of one row; `groups` is at least 1, and not more than a column has registers.
#[inline(always)]
pub(super) unsafe fn scan_beginning<H: Words, A: Element, O: Operator<A>, const W: usize>(
    operator: &O,
    kind: Kind,
    from: *const A,
    to: *mut A,
    groups: usize,
    before: Option<A>,
) {
    // SAFETY: a row is readable and writable, and the features present, by contract.
    unsafe {
        let row = H::split(from.cast());
        let chunks = chunks::<H, A, O, W>(operator, &row, groups);
        let values = finish::<H, A, O, W>(operator, kind, row, &chunks, groups, before);
        H::join(values, to.cast());
    }
}

/// The Kogge–Stone values of the chunks in the first `groups` registers of each column.
///
/// # Safety
///
/// `A` must be `W` words of `H` in size, and the CPU features of `H` present.
#[inline(always)]
unsafe fn chunks<H: Words, A: Element, O: Operator<A>, const W: usize>(
    operator: &O,
    row: &H::Row,
    groups: usize,
) -> Columns<H, W> {
    // SAFETY: size and features by contract.
    unsafe {
        let totals = chunk_totals::<H, A, O, W>(operator, row, groups);
        kogge_stone::<H, A, O, W>(operator, totals, groups)
    }
}

/// The fold of each chunk, in the order of the chunks.
///
/// # Safety
///
/// `A` must be `W` words of `H` in size, and the CPU features of `H` present.
#[inline(always)]
unsafe fn chunk_totals<H: Words, A: Element, O: Operator<A>, const W: usize>(
    operator: &O,
    row: &H::Row,
    groups: usize,
) -> Columns<H, W> {
    let mut totals = element::<H, W>(row, 0);
    for g in 0..groups {
        let mut total = vectors::<H, W>(&totals, g);
        for e in 1..row.as_ref().len() / W {
            let next = vectors::<H, W>(&element::<H, W>(row, e), g);
            // SAFETY: size and features by contract.
            total = unsafe { combine::<H, A, O, W>(operator, total, next) };
        }
        // SAFETY: features by contract.
        set_vectors::<H, W>(&mut totals, g, total.map(|v| unsafe { H::to_natural(v) }));
    }
    totals
}

/// The columns that hold element `e` of each chunk.
#[inline(always)]
fn element<H: Words, const W: usize>(row: &H::Row, e: usize) -> Columns<H, W> {
    std::array::from_fn(|w| row.as_ref()[e * W + w])
}

/// The Kogge–Stone values of 32 chunk totals.
///
/// # Safety
///
/// `A` must be `W` words of `H` in size, and the CPU features of `H` present.
#[inline(always)]
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
#[inline(always)]
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
                let left = std::array::from_fn(|w| H::slide::<S>(low[w], here[w]));
                let value = combine::<H, A, O, W>(operator, left, here);
                if g == 0 {
                    std::array::from_fn(|w| H::blend::<S>(here[w], value[w]))
                } else {
                    value
                }
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
#[inline(always)]
unsafe fn finish<H: Words, A: Element, O: Operator<A>, const W: usize>(
    operator: &O,
    kind: Kind,
    mut row: H::Row,
    chunks: &Columns<H, W>,
    groups: usize,
    before: Option<A>,
) -> H::Row {
    for g in 0..groups {
        // SAFETY: size and features by contract. Lane 0 is chunk 0 in either order of lanes.
        unsafe {
            let here = vectors::<H, W>(chunks, g);
            let low = vectors::<H, W>(chunks, g.saturating_sub(1));
            let left: Vectors<H, W> = std::array::from_fn(|w| H::slide::<1>(low[w], here[w]));
            let mut value = match before {
                Some(before) => {
                    let before = splat::<H, A, W>(before);
                    let value = combine::<H, A, O, W>(operator, before, left);
                    if g == 0 { blend_first::<H, W>(before, value) } else { value }
                }
                None => left,
            }
            .map(|v| H::from_natural(v));
            for e in 0..row.as_ref().len() / W {
                let here: Vectors<H, W> =
                    std::array::from_fn(|w| row.as_ref()[e * W + w].as_ref()[g]);
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
    std::array::from_fn(|w| unsafe { H::blend::<1>(first[w], others[w]) })
}
