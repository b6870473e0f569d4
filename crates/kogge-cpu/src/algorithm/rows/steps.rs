//! The steps of the order on the columns of a row: the fold of each chunk, Kogge–Stone over 32 of
//! them, the values of a row from these; and a row's total alone, which takes a tree of half as
//! many operations.
//!
//! Lanes stay in the order in which a row was split: by AVX-512 two of the four moves along them
//! then keep within 16 bytes, which takes two cycles of a Zen 5 and not five, and none is needed to
//! sort them.
//!
//! Vectors are opaque to the compiler from where they are made: a row is [closed] once it is split,
//! and what a step moves once it is moved. So operations need not copy what they take in.

use super::super::lanes::{Columns, Vectors, combine_closed, get, set_vectors, splat, vectors};
use crate::arch::Words;
use crate::array::{array, for_each, map};
use kogge_core::{Element, Kind, Operator};

/// A row as something that the optimiser can't look into, which the steps ask for.
///
/// # Safety
///
/// The CPU features of `H` must be present.
#[inline(always)]
pub(super) unsafe fn closed<H: Words, R: AsRef<[H::Column]> + AsMut<[H::Column]>>(mut row: R) -> R {
    for_each!(0..row.as_ref().len(), |c| {
        for_each!(0..H::GROUPS, |g| {
            let vector = &mut row.as_mut()[c].as_mut()[g];
            // SAFETY: features by contract.
            *vector = unsafe { H::opaque(*vector) };
        });
    });
    row
}

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

/// The fold of each chunk.
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
    for_each!(0..groups, |g| {
        let mut total = vectors::<H, W>(&totals, g);
        for_each!(1..row.as_ref().len() / W, |e| {
            let next = vectors::<H, W>(&element::<H, W, R>(row, e), g);
            // SAFETY: size and features by contract.
            total = unsafe { combine_closed::<H, A, O, W>(operator, total, next) };
        });
        set_vectors::<H, W>(&mut totals, g, total);
    });
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
    for_each!(S / H::LANES..groups, |g| {
        let here = vectors::<H, W>(&totals, g);
        // SAFETY: size and features by contract; `S < LANES` wherever lanes move.
        let value = unsafe {
            if S >= H::LANES {
                let left = vectors::<H, W>(&totals, g - S / H::LANES);
                combine_closed::<H, A, O, W>(operator, left, here)
            } else {
                let low = vectors::<H, W>(&totals, g.saturating_sub(1));
                let left = earlier::<H, W, S>(low, here);
                let value = combine_closed::<H, A, O, W>(operator, left, here);
                if g == 0 { blend_first::<H, W, S>(here, value) } else { value }
            }
        };
        set_vectors::<H, W>(&mut next, g, value);
    });
    next
}

/// The values of a row, given its chunks' Kogge–Stone values and what precedes it, in every lane.
///
/// What precedes the row is taken in before values move up by a chunk, so that it moves in itself
/// for the first chunk, and no blend is needed: vectors of 64 bytes have but two ports on an Intel
/// CPU, and moves, blends and arithmetic meet there. By narrower vectors it is taken in afterwards:
/// LLVM makes more of that (maps of two `f64` by AVX2: 36 ns a row, the other way 50).
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
    before: Option<Vectors<H, W>>,
) -> R
where
    H: Words,
    A: Element,
    O: Operator<A>,
    R: AsRef<[H::Column]> + AsMut<[H::Column]>,
{
    // SAFETY: features by contract.
    let before = before.map(|before| map(before, |v| unsafe { H::opaque(v) }));
    let mut low = before.unwrap_or_else(|| vectors::<H, W>(chunks, 0));
    for_each!(0..groups, |g| {
        // SAFETY: size and features by contract.
        unsafe {
            let mut value = if const { H::GROUPS == 2 } {
                let here = taking_in::<H, A, O, W>(operator, before, vectors::<H, W>(chunks, g));
                let value = earlier::<H, W, 1>(low, here);
                low = here;
                value
            } else {
                let (low, here) = (g.saturating_sub(1), g);
                let [low, here] = map([low, here], |g| vectors::<H, W>(chunks, g));
                let left = earlier::<H, W, 1>(low, here);
                let value = taking_in::<H, A, O, W>(operator, before, left);
                match before {
                    Some(before) if g == 0 => blend_first::<H, W, 1>(before, value),
                    _ => value,
                }
            };
            for_each!(0..row.as_ref().len() / W, |e| {
                let here: Vectors<H, W> = array(|w| row.as_ref()[e * W + w].as_ref()[g]);
                let mut through = combine_closed::<H, A, O, W>(operator, value, here);
                if before.is_none() && g == 0 && e == 0 {
                    // Nothing precedes the very first element.
                    through = blend_first::<H, W, 1>(here, through);
                    value = blend_first::<H, W, 1>(splat::<H, A, W>(operator.identity()), value);
                }
                let out = match kind {
                    Kind::Inclusive => through,
                    Kind::Exclusive => value,
                };
                for_each!(0..W, |w| {
                    row.as_mut()[e * W + w].as_mut()[g] = out[w];
                });
                value = through;
            });
        }
    });
    row
}

/// `values` with what precedes the row taken in, if anything does.
///
/// # Safety
///
/// `A` must be `W` words of `H` in size, and the CPU features of `H` present.
#[inline(always)]
unsafe fn taking_in<H: Words, A: Element, O: Operator<A>, const W: usize>(
    operator: &O,
    before: Option<Vectors<H, W>>,
    values: Vectors<H, W>,
) -> Vectors<H, W> {
    match before {
        // SAFETY: passed on.
        Some(before) => unsafe { combine_closed::<H, A, O, W>(operator, before, values) },
        None => values,
    }
}

/// What lies `S` chunks before each lane of `here`, the register after `low`.
///
/// # Safety
///
/// The CPU features of `H` must be present.
#[inline(always)]
unsafe fn earlier<H: Words, const W: usize, const S: usize>(
    low: Vectors<H, W>,
    here: Vectors<H, W>,
) -> Vectors<H, W> {
    // SAFETY: features by contract.
    array(|w| unsafe { H::opaque(H::earlier::<S>(low[w], here[w])) })
}

/// The lanes of the first `S` chunks of `first`, the other lanes of `others`.
///
/// # Safety
///
/// The CPU features of `H` must be present.
#[inline(always)]
unsafe fn blend_first<H: Words, const W: usize, const S: usize>(
    first: Vectors<H, W>,
    others: Vectors<H, W>,
) -> Vectors<H, W> {
    // SAFETY: features by contract.
    array(|w| unsafe { H::opaque(H::blend::<S>(first[w], others[w])) })
}

/// The totals of two rows, given their chunk totals. Only the last Kogge–Stone value of each is
/// needed, which is a balanced tree over 32 lanes, so neighbours are combined until 2 · 32 lanes
/// have become 2.
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

/// Each pair of neighbours as one, after `DONE` such steps; the lanes in use stay the first ones,
/// and are in the order of the chunks after the first step.
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
    let groups = H::GROUPS;
    let count = ((2 * groups) >> DONE).max(1);
    for_each!(0..(count / 2).max(1), |g| {
        let (low, high) = (2 * g % count, (2 * g + 1) % count);
        let (low, high) = (register::<H, W>(&rows, low), register::<H, W>(&rows, high));
        // SAFETY: by contract.
        let pair = unsafe {
            let pairs: [_; W] = array(|w| match DONE {
                0 => H::halve_split(low[w], high[w]),
                _ => H::halve(low[w], high[w]),
            });
            let even = map(pairs, |pair| H::opaque(pair.0));
            let odd = map(pairs, |pair| H::opaque(pair.1));
            combine_closed::<H, A, O, W>(operator, even, odd)
        };
        set_vectors::<H, W>(&mut rows[g / groups], g % groups, pair);
    });
    rows
}

/// The `i`-th register of each column of both rows.
#[inline(always)]
pub(super) fn register<H: Words, const W: usize>(
    rows: &[Columns<H, W>; 2],
    i: usize,
) -> Vectors<H, W> {
    let groups = H::GROUPS;
    vectors::<H, W>(&rows[i / groups], i % groups)
}
