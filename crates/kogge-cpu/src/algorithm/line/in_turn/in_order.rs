//! The same in the fixed order.
//!
//! Beside the fold through the last place that of the chunk's places is known, and where a chunk
//! ends the groups take that in, one by one. It is more to load and to store than in [visits of
//! groups](super::super::Visit), so it pays where memory is what is waited for.

use super::InTurn;
use crate::algorithm::group::LANES;
use crate::algorithm::line::vectors::{join, load, store, stream};
use crate::algorithm::strip::Ahead;
use crate::arch::Vectors;
use crate::arch::stream::{Cache, LINE};
use crate::array::for_each;
use kogge_core::{Element, Operator, Order};

/// What the lanes of a place have in common.
struct Row {
    /// Whether the place is its chunk's first.
    begins: bool,
    /// Whether anything precedes the row of the order, and whether chunks of it precede this one.
    preceded: bool,
    follows: bool,
    /// Whether values go past the caches.
    past: bool,
    /// Bytes to what is asked for meanwhile, and what that is brought into, if it is.
    ask: isize,
    cache: Option<Cache>,
}

/// Where some lanes are: of a place, and what is known of them.
#[derive(Clone, Copy)]
struct At {
    elements: *const u8,
    values: *mut u8,
    befores: *const u8,
    chunks: *const u8,
    totals: *mut u8,
    throughs: *mut u8,
}

impl At {
    /// So many bytes further on in the place, and in what is known.
    #[inline(always)]
    fn on(self, lanes: usize, known: usize) -> Self {
        Self {
            elements: self.elements.wrapping_add(lanes),
            values: self.values.wrapping_add(lanes),
            befores: self.befores.wrapping_add(known),
            chunks: self.chunks.wrapping_add(known),
            totals: self.totals.wrapping_add(known),
            throughs: self.throughs.wrapping_add(known),
        }
    }
}

impl<A: Element, O: Operator<A>> InTurn<'_, A, O> {
    /// Scans some chunks of a row of the order, the last of which may have fewer places. What
    /// precedes the row is given, not the first place.
    ///
    /// # Safety
    ///
    /// As for [`scan_far`](Self::scan_far); a line of the cache must have `N` vectors of `P`.
    #[inline(always)]
    pub(super) unsafe fn in_order<P: Vectors, const N: usize>(
        &mut self,
        places: usize,
        past: bool,
        ahead: &Ahead,
    ) {
        let chunk = const { Order::of::<A>().chunk() };
        for place in 0..places {
            let (c, p) = (self.number + place / chunk, place % chunk);
            let row = Row {
                begins: p == 0,
                preceded: self.preceded,
                follows: c > 0,
                past,
                ask: ahead.elements(place, self.from.stride) * size_of::<A>() as isize,
                cache: ahead.cache,
            };
            let whole = self.at(place);
            // SAFETY: lanes of that place, and what is known of them; features by contract.
            unsafe {
                self.place::<P, N>(&row, whole, self.whole);
                if let Some(last) = self.last {
                    let known = self.whole * const { LANES * size_of::<A>() };
                    self.place::<P, N>(&row, whole.on(last * size_of::<A>(), known), 1);
                }
                if p == chunk - 1 || place == places - 1 {
                    for g in 0..self.known.totals.len() {
                        let total = self.known.totals[g];
                        self.known.group(g).push::<P, O>(self.operator, c, total);
                    }
                }
            }
        }
    }

    /// The first group at a place.
    #[inline(always)]
    fn at(&mut self, place: usize) -> At {
        At {
            elements: self.from.at(place).cast(),
            values: self.to.at(place).cast_mut().cast(),
            befores: self.known.befores.as_ptr().cast(),
            chunks: self.known.chunks.as_ptr().cast(),
            totals: self.known.totals.as_mut_ptr().cast(),
            throughs: self.known.throughs.as_mut_ptr().cast(),
        }
    }

    /// Puts the values of some groups side by side, and what is known then.
    ///
    /// # Safety
    ///
    /// As for [`in_order`](Self::in_order), for all of these lanes.
    #[inline(always)]
    unsafe fn place<P: Vectors, const N: usize>(&self, row: &Row, first: At, groups: usize) {
        let operator = self.operator;
        for_each!((0..groups * const { LANES * size_of::<A>() }).step_by(LINE), |at| {
            let at = first.on(at, at);
            if let Some(cache) = row.cache {
                cache.ask::<LINE>(at.elements.wrapping_offset(row.ask));
            }
            // SAFETY: passed on.
            unsafe {
                let elements = load::<P, N>(at.elements);
                let (mut total, mut through, mut before) = (elements, elements, elements);
                let mut known = true;
                if row.begins {
                    match (row.preceded, row.follows) {
                        (true, true) => {
                            let [row, chunks] = [load::<P, N>(at.befores), load::<P, N>(at.chunks)];
                            before = join::<P, A, O, N>(operator, &row, &chunks);
                        }
                        (true, false) => before = load::<P, N>(at.befores),
                        (false, true) => before = load::<P, N>(at.chunks),
                        (false, false) => known = false,
                    }
                } else {
                    before = load::<P, N>(at.throughs);
                    total = join::<P, A, O, N>(operator, &load::<P, N>(at.totals), &elements);
                }
                if known {
                    through = join::<P, A, O, N>(operator, &before, &elements);
                } else if self.exclusive {
                    before = self.identity::<P, N>();
                }
                store::<P, N>(total, at.totals);
                store::<P, N>(through, at.throughs);
                let values = if self.exclusive { before } else { through };
                if row.past {
                    stream::<P, N>(values, at.values);
                } else {
                    store::<P, N>(values, at.values);
                }
            }
        });
    }
}
