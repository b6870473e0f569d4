//! Lines side by side in any order: all of them at one place, and then at the next.
//!
//! Under an exact operator a value is the one before it in the line, combined with an element, and
//! nothing else need be known. So a row of memory follows from the one before, as in a loop over
//! rows: memory is gone through as it lies, and what is read again was stored last.

use super::vectors::{join, load, store, vectors};
use crate::algorithm::abreast::Abreast;
use crate::algorithm::free::splat;
use crate::algorithm::group::{LANES, Lanes};
use crate::arch::Vectors;
use crate::arch::stream::LINE;
use kogge_core::{Element, Operator};

/// Where the lanes of a strip are at a place: those of its whole groups, side by side, and those of
/// its last sixteen lines, if more are left.
#[derive(Clone, Copy)]
struct Strip {
    whole: *mut u8,
    last: *mut u8,
}

/// Lines side by side, whose values stay in the caches.
pub(in crate::algorithm) struct InTurn<'a, A, O> {
    pub(in crate::algorithm) operator: &'a O,
    pub(in crate::algorithm) exclusive: bool,
    /// The first whole group's elements, and its values: not the same places if the scan is
    /// exclusive.
    pub(in crate::algorithm) from: Abreast<A>,
    pub(in crate::algorithm) to: Abreast<A>,
    /// Whole groups, and the line that the group after them begins with, if there is one.
    pub(in crate::algorithm) whole: usize,
    pub(in crate::algorithm) last: Option<usize>,
    /// What precedes the first place, group by group, if anything does; in the end what precedes
    /// the place after the last.
    pub(in crate::algorithm) before: *mut Lanes<A>,
    pub(in crate::algorithm) preceded: bool,
}

impl<A: Element, O: Operator<A>> InTurn<'_, A, O> {
    /// Scans so many places, one at least.
    ///
    /// # Safety
    ///
    /// [`fills_lines`](super::fills_lines) must hold; the places must exist, and be this call's
    /// alone; the CPU features of `P` must be present.
    #[inline(always)]
    pub(in crate::algorithm) unsafe fn scan<P: Vectors>(&self, places: usize) {
        // SAFETY: passed on; a line has as many vectors as the arm says.
        unsafe {
            match const { vectors::<P>() } {
                1 => self.places::<P, 1>(places),
                2 => self.places::<P, 2>(places),
                _ => self.places::<P, 4>(places),
            }
        }
    }

    /// # Safety
    ///
    /// As for [`scan`](Self::scan); a line of the cache must have `N` vectors of `P`.
    #[inline(always)]
    unsafe fn places<P: Vectors, const N: usize>(&self, places: usize) {
        let groups = self.before;
        let known = Strip { whole: groups.cast(), last: groups.wrapping_add(self.whole).cast() };
        // An exclusive scan is an inclusive one, a place further on.
        let behind = usize::from(self.exclusive);
        for place in 0..places + 1 {
            let before = match place {
                0 => self.preceded.then_some(known),
                _ => Some(self.strip(&self.to, place - 1)),
            };
            let elements = (behind..places + behind).contains(&place);
            let elements = elements.then(|| self.strip(&self.from, place - behind));
            let to = if place < places { self.strip(&self.to, place) } else { known };
            // SAFETY: lanes of those places, or of what is known of them; features by contract.
            unsafe { self.row::<P, N>(before, elements, to) };
        }
    }

    /// The lanes at a place.
    #[inline(always)]
    fn strip(&self, lanes: &Abreast<A>, place: usize) -> Strip {
        let first = lanes.at(place).cast_mut();
        Strip { whole: first.cast(), last: first.wrapping_add(self.last.unwrap_or(0)).cast() }
    }

    /// Puts the values of a place.
    ///
    /// # Safety
    ///
    /// As for [`places`](Self::places), for all of these lanes.
    #[inline(always)]
    unsafe fn row<P: Vectors, const N: usize>(
        &self,
        before: Option<Strip>,
        elements: Option<Strip>,
        to: Strip,
    ) {
        let whole = |strip: Strip| strip.whole.cast_const();
        let last = |strip: Strip| strip.last.cast_const();
        let groups = self.whole;
        // SAFETY: passed on.
        unsafe {
            self.lanes::<P, N>(before.map(whole), elements.map(whole), to.whole, groups);
            if self.last.is_some() {
                self.lanes::<P, N>(before.map(last), elements.map(last), to.last, 1);
            }
        }
    }

    /// Puts the values of some groups side by side: what is before them, combined with elements, or
    /// whichever there is.
    ///
    /// # Safety
    ///
    /// As for [`row`](Self::row).
    #[inline(always)]
    unsafe fn lanes<P: Vectors, const N: usize>(
        &self,
        before: Option<*const u8>,
        elements: Option<*const u8>,
        to: *mut u8,
        groups: usize,
    ) {
        let lines = (0..groups * const { LANES * size_of::<A>() }).step_by(LINE);
        // SAFETY: passed on.
        unsafe {
            match (before, elements) {
                (Some(before), Some(elements)) => {
                    for at in lines {
                        let left = load::<P, N>(before.wrapping_add(at));
                        let right = load::<P, N>(elements.wrapping_add(at));
                        let values = join::<P, A, O, N>(self.operator, &left, &right);
                        store::<P, N>(values, to.wrapping_add(at));
                    }
                }
                (Some(only), None) | (None, Some(only)) => {
                    for at in lines {
                        store::<P, N>(load::<P, N>(only.wrapping_add(at)), to.wrapping_add(at));
                    }
                }
                (None, None) => {
                    for at in lines {
                        let identity = [splat::<P, A>(self.operator.identity()); N];
                        store::<P, N>(identity, to.wrapping_add(at));
                    }
                }
            }
        }
    }
}
