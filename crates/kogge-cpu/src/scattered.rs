//! Short lines wherever they lie, sixteen at a time: a register lane for each.
//!
//! A short line with a stride has too few chunks to fill registers alone, and may have too few neighbours
//! at its side to go as a strip. But any sixteen lines of one length can go down their axis together;
//! what it costs is a load and a store per element instead of vectors.

use crate::algorithm::strip::{Group, LANES, Lanes, Place, Tile};
use crate::columns::Across;
use crate::engine::Request;
use crate::parts::Parts;
use kogge_core::{Accumulate, Element, Operator};
use std::marker::PhantomData;
use std::slice;

/// Sixteen lines, or fewer.
pub(crate) struct Scattered<T, U> {
    /// Where each begins.
    pub(crate) from: [*const T; LANES],
    /// Where its values begin.
    pub(crate) to: [*mut U; LANES],
    /// Its number.
    pub(crate) numbers: [usize; LANES],
    /// How many there are.
    pub(crate) count: usize,
    /// From one element of a line to the next, in the input and in the output.
    pub(crate) strides: [isize; 2],
    /// Elements of each line: a tile of the order at most.
    pub(crate) len: usize,
}

impl<T, U> Place<T, U> for &Scattered<T, U> {
    #[inline(always)]
    fn count_of(&self, _: usize) -> usize {
        self.count
    }

    /// Lines lie anywhere; the hardware sees by itself which follow each other.
    #[inline(always)]
    fn ask(&self, _: usize, _: usize, _: usize) {}

    #[inline(always)]
    fn stream(&self) -> bool {
        false
    }

    #[inline(always)]
    unsafe fn from(&self, _: usize, i: usize, n: usize) -> *const T {
        // SAFETY: passed on.
        unsafe { self.from[n].offset(i as isize * self.strides[0]) }
    }

    #[inline(always)]
    unsafe fn to(&self, _: usize, i: usize, n: usize) -> *mut U {
        // SAFETY: passed on.
        unsafe { self.to[n].offset(i as isize * self.strides[1]) }
    }
}

impl<T, U> Scattered<T, U> {
    /// Scans the lines. `group` is room, of whatever contents.
    ///
    /// # Safety
    ///
    /// The lines must exist, and be this call's alone, and so their totals.
    pub(crate) unsafe fn scan<A, O>(
        &self,
        request: &Request<'_, O, A>,
        parts: &Parts<'_, A>,
        group: &mut Group<A>,
    ) where
        T: Accumulate<A>,
        U: Accumulate<A>,
        A: Element<Accumulator = A>,
        O: Operator<A>,
    {
        let Request { operator, kind, level, .. } = *request;
        let init = self.init(parts);
        group.before = init.map_or(Lanes::zeroed(), Lanes);
        level.run(Tile::<T, U, A, O, _, true> {
            operator,
            kind,
            lines: self,
            types: PhantomData,
            places: 0..self.len,
            groups: slice::from_mut(group),
            preceded: init.is_some(),
        });
        if !parts.totals_wanted() {
            return;
        }
        let folds = group.tile.0;
        let totals = init.map_or(folds, |init| Across(operator).combine(init, folds));
        for (&number, total) in self.numbers.iter().zip(totals).take(self.count) {
            // SAFETY: passed on.
            unsafe { parts.put_total(operator, number, Some(total)) };
        }
    }

    /// The initial values; those of missing lines don't matter.
    fn init<A: Copy>(&self, parts: &Parts<'_, A>) -> Option<[A; LANES]> {
        let mut inits = [parts.init(self.numbers[0])?; LANES];
        for (init, &number) in inits.iter_mut().zip(&self.numbers).take(self.count).skip(1) {
            *init = parts.init(number).unwrap_or(*init);
        }
        Some(inits)
    }
}
