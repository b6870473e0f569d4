//! Lines side by side, all of them at one place, and then at the next.
//!
//! Under an exact operator a value is the one before it in the line, combined with an element, and
//! nothing else need be known. So a row of memory follows from the one before, as in a loop over
//! rows: memory is gone through as it lies, and what is read again was stored last. Values that go
//! past the caches can't be read again; what precedes the next place is kept beside them then.
//!
//! [In the fixed order](in_order) more is known of a chunk, but memory can be gone through so, too.

mod in_order;

use super::vectors::{Line, join, load, store, stream, vectors};
use crate::algorithm::abreast::Abreast;
use crate::algorithm::free::splat;
use crate::algorithm::group::{Known, LANES};
use crate::algorithm::strip::Ahead;
use crate::arch::Vectors;
use crate::arch::stream::{Cache, LINE};
use crate::array::for_each;
use kogge_core::{Element, Operator};

/// Where the lanes of a strip are at a place: those of its whole groups, side by side, and those of
/// its last sixteen lines, if more are left.
#[derive(Clone, Copy)]
struct Strip {
    whole: *mut u8,
    last: *mut u8,
}

/// Lines side by side.
pub(in crate::algorithm) struct InTurn<'a, A, O> {
    pub(in crate::algorithm) operator: &'a O,
    pub(in crate::algorithm) exclusive: bool,
    /// The first whole group's elements, and its values.
    pub(in crate::algorithm) from: Abreast<A>,
    pub(in crate::algorithm) to: Abreast<A>,
    /// Whole groups, and the line that the group after them begins with, if there is one.
    pub(in crate::algorithm) whole: usize,
    pub(in crate::algorithm) last: Option<usize>,
    /// What is known of the groups: in any order what precedes the first place, if anything does,
    /// and in the end what precedes the place after the last.
    pub(in crate::algorithm) known: Known<'a, A>,
    pub(in crate::algorithm) preceded: bool,
    /// The number, in the row of the order, of the chunk that begins with the first place.
    pub(in crate::algorithm) number: usize,
}

/// What the lanes of a place have in common, on the way from memory.
struct Row {
    /// Whether anything precedes the place.
    preceded: bool,
    /// Whether values go past the caches.
    past: bool,
    /// Bytes to what is asked for meanwhile, and what that is brought into, if it is.
    ask: isize,
    cache: Option<Cache>,
}

impl<A: Element, O: Operator<A>> InTurn<'_, A, O> {
    /// Scans so many places in any order, one at least, whose values stay in the caches: not where
    /// their elements are, if the scan is exclusive.
    ///
    /// # Safety
    ///
    /// [`fills_lines`](super::fills_lines) must hold; the places must exist, and be this call's
    /// alone; the CPU features of `P` must be present.
    #[inline(always)]
    pub(in crate::algorithm) unsafe fn scan<P: Vectors>(&mut self, places: usize) {
        // SAFETY: passed on; a line has as many vectors as the arm says.
        unsafe {
            match const { vectors::<P>() } {
                1 => self.near::<P, 1>(places),
                2 => self.near::<P, 2>(places),
                _ => self.near::<P, 4>(places),
            }
        }
    }

    /// Scans so many places, wherever their values go, past the caches if `past`, and asks for what
    /// is `ahead` of them.
    ///
    /// # Safety
    ///
    /// As for [`scan`](Self::scan); what goes past the caches must be whole lines of theirs.
    #[inline(always)]
    pub(in crate::algorithm) unsafe fn scan_far<P: Vectors>(
        &mut self,
        places: usize,
        past: bool,
        ahead: &Ahead,
    ) {
        // SAFETY: as above.
        unsafe {
            match const { (vectors::<P>(), O::EXACT) } {
                (1, true) => self.far::<P, 1>(places, past, ahead),
                (2, true) => self.far::<P, 2>(places, past, ahead),
                (_, true) => self.far::<P, 4>(places, past, ahead),
                (1, false) => self.in_order::<P, 1>(places, past, ahead),
                (2, false) => self.in_order::<P, 2>(places, past, ahead),
                (_, false) => self.in_order::<P, 4>(places, past, ahead),
            }
        }
    }

    /// # Safety
    ///
    /// As for [`scan`](Self::scan); a line of the cache must have `N` vectors of `P`.
    #[inline(always)]
    unsafe fn near<P: Vectors, const N: usize>(&mut self, places: usize) {
        let known = self.befores();
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
            let whole = |strip: Strip| strip.whole.cast_const();
            let last = |strip: Strip| strip.last.cast_const();
            // SAFETY: lanes of those places, or of what is known of them; features by contract.
            unsafe {
                self.lanes::<P, N>(before.map(whole), elements.map(whole), to.whole, self.whole);
                if self.last.is_some() {
                    self.lanes::<P, N>(before.map(last), elements.map(last), to.last, 1);
                }
            }
        }
    }

    /// Puts the values of some groups side by side: what is before them, combined with elements, or
    /// whichever there is.
    ///
    /// # Safety
    ///
    /// As for [`near`](Self::near), for all of these lanes.
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
                        store::<P, N>(self.identity::<P, N>(), to.wrapping_add(at));
                    }
                }
            }
        }
    }

    /// # Safety
    ///
    /// As for [`scan_far`](Self::scan_far); a line of the cache must have `N` vectors of `P`.
    #[inline(always)]
    unsafe fn far<P: Vectors, const N: usize>(&mut self, places: usize, past: bool, ahead: &Ahead) {
        let known = self.befores();
        for place in 0..places {
            let (elements, to) = (self.strip(&self.from, place), self.strip(&self.to, place));
            let row = Row {
                preceded: self.preceded || place > 0,
                past,
                ask: ahead.elements(place, self.from.stride) * size_of::<A>() as isize,
                cache: ahead.cache,
            };
            // SAFETY: lanes of that place, and what is known of them; features by contract.
            unsafe {
                self.go_on::<P, N>(&row, known.whole, elements.whole, to.whole, self.whole);
                if self.last.is_some() {
                    self.go_on::<P, N>(&row, known.last, elements.last, to.last, 1);
                }
            }
        }
    }

    /// Puts the values of some groups side by side, and makes known what precedes the next ones.
    ///
    /// # Safety
    ///
    /// As for [`far`](Self::far), for all of these lanes.
    #[inline(always)]
    unsafe fn go_on<P: Vectors, const N: usize>(
        &self,
        row: &Row,
        known: *mut u8,
        elements: *const u8,
        to: *mut u8,
        groups: usize,
    ) {
        for_each!((0..groups * const { LANES * size_of::<A>() }).step_by(LINE), |at| {
            let [known, to] = [known, to].map(|lanes| lanes.wrapping_add(at));
            let from = elements.wrapping_add(at);
            if let Some(cache) = row.cache {
                cache.ask::<LINE>(from.wrapping_offset(row.ask));
            }
            // SAFETY: passed on.
            unsafe {
                let mut through = load::<P, N>(from);
                let mut values = through;
                if row.preceded {
                    let before = load::<P, N>(known);
                    through = join::<P, A, O, N>(self.operator, &before, &through);
                    values = if self.exclusive { before } else { through };
                } else if self.exclusive {
                    values = self.identity::<P, N>();
                }
                store::<P, N>(through, known);
                if row.past {
                    stream::<P, N>(values, to);
                } else {
                    store::<P, N>(values, to);
                }
            }
        });
    }

    #[inline(always)]
    fn identity<P: Vectors, const N: usize>(&self) -> Line<P, N> {
        [splat::<P, A>(self.operator.identity()); N]
    }

    /// What precedes the lanes.
    #[inline(always)]
    fn befores(&mut self) -> Strip {
        let first = self.known.befores.as_mut_ptr();
        Strip { whole: first.cast(), last: first.wrapping_add(self.whole).cast() }
    }

    /// The lanes at a place.
    #[inline(always)]
    fn strip(&self, lanes: &Abreast<A>, place: usize) -> Strip {
        let first = lanes.at(place).cast_mut();
        Strip { whole: first.cast(), last: first.wrapping_add(self.last.unwrap_or(0)).cast() }
    }
}

#[cfg(test)]
mod tests;
