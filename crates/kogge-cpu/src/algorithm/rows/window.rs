//! A window: 32 chunks of whole short segments, scanned together as if they were a row.
//!
//! A segment of up to a row takes in only its own chunks, so the steps of a row do for many of them
//! at once if the lanes of a segment's first chunks leave out what lies before: step `S` is for
//! chunks that have `S` chunks of their segment before them. Chunks are gathered from where
//! segments start, so the last one of a segment may hold elements of the next; these never move
//! towards the beginning, and the next chunk's values are stored over theirs.

use super::steps::{chunk_totals, closed, element};
use crate::algorithm::lanes::{Columns, Vectors, combine, set_vectors, splat, vectors};
use crate::arch::{CHUNKS, Words};
use crate::array::{array, for_each};
use kogge_core::{Element, Kind, Operator};

/// Scans 32 chunks that start at these bytes from `from`, and puts their values as far from `to`.
/// `heads` has a bit for each that starts a segment, among them the first.
///
/// # Safety
///
/// `A` must be `W` words of `H` and at most 16 bytes in size; 16 bytes be readable and writable at
/// each place, by this call alone; places rise by at most 16 bytes; the CPU features of `H` must be
/// present.
#[inline(always)]
pub(in crate::algorithm) unsafe fn scan<H: Words, A: Element, O: Operator<A>, const W: usize>(
    operator: &O,
    kind: Kind,
    init: Option<A>,
    from: *const u8,
    to: *mut u8,
    places: &[u32; CHUNKS],
    heads: u32,
) {
    let first = places[0] as usize;
    let dense = places[CHUNKS - 1] as usize - first == (CHUNKS - 1) * 16;
    // SAFETY: by contract; dense chunks are a row of memory.
    unsafe {
        let row = if dense { H::split(from.add(first).cast()) } else { H::gather(from, places) };
        let row = closed::<H, _>(row);
        let totals = chunk_totals::<H, A, O, W, _>(operator, &row, H::GROUPS);
        let totals = natural::<H, W>(totals);
        let chunks = kogge_stone::<H, A, O, W>(operator, totals, heads);
        let identity = || operator.identity();
        let values = match (init, kind) {
            (None, Kind::Inclusive) => {
                finish::<H, A, O, W, false, false>(operator, identity(), row, &chunks, heads)
            }
            (None, Kind::Exclusive) => {
                finish::<H, A, O, W, false, true>(operator, identity(), row, &chunks, heads)
            }
            (Some(init), Kind::Inclusive) => {
                finish::<H, A, O, W, true, false>(operator, init, row, &chunks, heads)
            }
            (Some(init), Kind::Exclusive) => {
                finish::<H, A, O, W, true, true>(operator, init, row, &chunks, heads)
            }
        };
        if dense {
            H::join(values, to.add(first).cast());
        } else {
            H::scatter(values, to, places);
        }
    }
}

/// Columns with their lanes in the order of the chunks, as those of masks are.
///
/// # Safety
///
/// The CPU features of `H` must be present.
#[inline(always)]
unsafe fn natural<H: Words, const W: usize>(mut columns: Columns<H, W>) -> Columns<H, W> {
    for_each!(0..W, |w| {
        for_each!(0..H::GROUPS, |g| {
            let vector = &mut columns[w].as_mut()[g];
            // SAFETY: features by contract.
            *vector = unsafe { H::to_natural(*vector) };
        });
    });
    columns
}

/// The Kogge–Stone values of the chunks of each segment. Steps that no segment is long enough for
/// are left out.
///
/// # Safety
///
/// `A` must be `W` words of `H` in size, and the CPU features of `H` present.
#[inline(always)]
unsafe fn kogge_stone<H: Words, A: Element, O: Operator<A>, const W: usize>(
    operator: &O,
    mut totals: Columns<H, W>,
    heads: u32,
) -> Columns<H, W> {
    // SAFETY: size and features by contract.
    unsafe {
        let far = !heads;
        if far != 0 {
            totals = stride::<H, A, O, W, 1>(operator, totals, far);
            let far = far & far << 1;
            if far != 0 {
                totals = stride::<H, A, O, W, 2>(operator, totals, far);
                let far = far & far << 2;
                if far != 0 {
                    totals = stride::<H, A, O, W, 4>(operator, totals, far);
                    let far = far & far << 4;
                    totals = stride::<H, A, O, W, 8>(operator, totals, far);
                    totals = stride::<H, A, O, W, 16>(operator, totals, far & far << 8);
                }
            }
        }
    }
    totals
}

/// One step: every lane of `far` takes in the one `S` before it.
///
/// # Safety
///
/// `A` must be `W` words of `H` in size, and the CPU features of `H` present.
#[inline(always)]
unsafe fn stride<H: Words, A: Element, O: Operator<A>, const W: usize, const S: usize>(
    operator: &O,
    totals: Columns<H, W>,
    far: u32,
) -> Columns<H, W> {
    let mut next = totals;
    for_each!(S / H::LANES..H::GROUPS, |g| {
        let here = vectors::<H, W>(&totals, g);
        // SAFETY: size and features by contract; `S < LANES` wherever lanes move.
        let value = unsafe {
            let left = if S >= H::LANES {
                vectors::<H, W>(&totals, g - S / H::LANES)
            } else {
                let low = vectors::<H, W>(&totals, g.saturating_sub(1));
                array(|w| H::slide::<S>(low[w], here[w]))
            };
            let value = combine::<H, A, O, W>(operator, left, here);
            select::<H, W>(H::mask(far, g), value, here)
        };
        set_vectors::<H, W>(&mut next, g, value);
    });
    next
}

/// The values of the chunks' elements, given the chunks' Kogge–Stone values and what precedes each
/// segment.
///
/// # Safety
///
/// `A` must be `W` words of `H` in size, and the CPU features of `H` present.
#[inline(always)]
unsafe fn finish<H, A, O, const W: usize, const INIT: bool, const EXCLUSIVE: bool>(
    operator: &O,
    init: A,
    mut row: H::Row,
    chunks: &Columns<H, W>,
    heads: u32,
) -> H::Row
where
    H: Words,
    A: Element,
    O: Operator<A>,
{
    // The compiler leaves a loop of such length as it is, and all registers in memory. What isn't
    // there is known before it is compiled.
    macro_rules! groups {
        ($($g:literal)+) => {
            $(if const { $g < H::GROUPS } {
                // SAFETY: passed on.
                unsafe {
                    group::<H, A, O, W, INIT, EXCLUSIVE, $g>(
                        operator, init, &mut row, chunks, heads,
                    );
                }
            })+
        };
    }
    groups!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
    row
}

/// The values in the `G`-th register of each column.
///
/// # Safety
///
/// As for [`finish`].
#[inline(always)]
unsafe fn group<H, A, O, const W: usize, const INIT: bool, const EXCLUSIVE: bool, const G: usize>(
    operator: &O,
    init: A,
    row: &mut H::Row,
    chunks: &Columns<H, W>,
    heads: u32,
) where
    H: Words,
    A: Element,
    O: Operator<A>,
{
    let here = vectors::<H, W>(chunks, G);
    let low = vectors::<H, W>(chunks, G.saturating_sub(1));
    // SAFETY: size and features by contract.
    unsafe {
        let left: Vectors<H, W> = array(|w| H::slide::<1>(low[w], here[w]));
        let first = H::mask(heads, G);
        let before = if INIT {
            let init = splat::<H, A, W>(init);
            select::<H, W>(first, init, combine::<H, A, O, W>(operator, init, left))
        } else {
            left
        };
        let mut value: Vectors<H, W> = array(|w| H::from_natural(before[w]));
        for_each!(0..row.as_ref().len() / W, |e| {
            let here = vectors::<H, W>(&element::<H, W, _>(row, e), G);
            let mut through = combine::<H, A, O, W>(operator, value, here);
            if !INIT && e == 0 {
                // Nothing precedes the first element of a segment.
                let first = H::from_natural(first);
                through = select::<H, W>(first, here, through);
                if EXCLUSIVE {
                    value = select::<H, W>(first, splat::<H, A, W>(init), value);
                }
            }
            let out = if EXCLUSIVE { value } else { through };
            for_each!(0..W, |w| {
                row.as_mut()[e * W + w].as_mut()[G] = out[w];
            });
            value = through;
        });
    }
}

/// The lanes of `ones` where the mask has them, of `zeros` elsewhere.
///
/// # Safety
///
/// The CPU features of `H` must be present.
#[inline(always)]
unsafe fn select<H: Words, const W: usize>(
    mask: H::Vector,
    ones: Vectors<H, W>,
    zeros: Vectors<H, W>,
) -> Vectors<H, W> {
    // SAFETY: features by contract.
    array(|w| unsafe { H::select(mask, ones[w], zeros[w]) })
}
