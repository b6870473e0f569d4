//! The steps of the order on the columns of a row: the fold of each chunk, Kogge–Stone over 32 of them, the
//! values of a row from these; and a row's total alone, which takes a tree of half as many operations.

use super::super::lanes::{Columns, Vectors, combine, get, set_vectors, splat, vectors};
use crate::arch::Words;
use crate::array::{array, map};
use kogge_core::{Element, Kind, Operator};

/// The Kogge–Stone values of the chunks in the first `groups` registers of each column.
///
/// # Safety
///
/// `A` must be `W` words of `H` in size, and the CPU features of `H` present.
#[inline(always)]
pub(super) unsafe fn chunks<
    H: Words,
    A: Element,
    O: Operator<A>,
    const W: usize,
    R: AsRef<[H::Column]>,
>(
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
pub(super) unsafe fn chunk_totals<H, A, O, const W: usize, R>(
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
pub(super) fn element<H: Words, const W: usize, R: AsRef<[H::Column]>>(
    row: &R,
    e: usize,
) -> Columns<H, W> {
    array(|w| row.as_ref()[e * W + w])
}

/// The Kogge–Stone values of 32 chunk totals.
///
/// # Safety
///
/// `A` must be `W` words of `H` in size, and the CPU features of `H` present.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) unsafe fn kogge_stone<H: Words, A: Element, O: Operator<A>, const W: usize>(
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
pub(super) unsafe fn stride<
    H: Words,
    A: Element,
    O: Operator<A>,
    const W: usize,
    const S: usize,
>(
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
pub(super) unsafe fn finish<H, A, O, const W: usize, R>(
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
pub(super) unsafe fn blend_first<H: Words, const W: usize>(
    first: Vectors<H, W>,
    others: Vectors<H, W>,
) -> Vectors<H, W> {
    // SAFETY: features by contract.
    array(|w| unsafe { H::blend::<1>(first[w], others[w]) })
}

/// The totals of two rows, given their chunk totals. Only the last Kogge–Stone value of each is
/// needed, which is a balanced tree over 32 lanes, so neighbours are combined until 2 · 32 lanes have
/// become 2.
///
/// # Safety
///
/// `A` must be `W` words of `H` in size, and the CPU features of `H` present.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(super) unsafe fn row_totals<H: Words, A: Element, O: Operator<A>, const W: usize>(
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
pub(super) unsafe fn halved<
    H: Words,
    A: Element,
    O: Operator<A>,
    const W: usize,
    const DONE: usize,
>(
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
pub(super) fn register<H: Words, const W: usize>(
    rows: &[Columns<H, W>; 2],
    i: usize,
) -> Vectors<H, W> {
    let groups = 32 / H::LANES;
    vectors::<H, W>(&rows[i / groups], i % groups)
}
