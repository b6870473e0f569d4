//! Segments of one length.

use super::sealed::Sealed;
use super::{Segments, Starts};
use crate::arch::Words;
use kogge_core::Error;
use std::ops::Range;

/// Segments of one length that isn't 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Even {
    pub(crate) len: usize,
    pub(crate) count: usize,
}

impl Sealed for Even {}

impl Segments for Even {
    type Starts<'a> = Steps;

    fn elements(&self) -> usize {
        self.len * self.count
    }

    fn starts(&self, from: usize) -> Steps {
        let every = (0..64).step_by(self.len).fold(0, |every, place| every | 1 << place);
        let (next, end) = (from.next_multiple_of(self.len), self.elements());
        Steps { next, step: self.len, every, end }
    }

    fn before(&self, place: usize) -> Option<usize> {
        Some(place.div_ceil(self.len).min(self.count))
    }

    fn check(&self) -> Result<Option<usize>, Error> {
        Ok(Some(self.len))
    }
}

/// Starts at equal steps.
#[derive(Clone, Debug)]
pub struct Steps {
    next: usize,
    step: usize,
    /// One bit for each start among 64 places, if one is at the first of them.
    every: u64,
    end: usize,
}

impl Starts for Steps {
    #[inline(always)]
    fn next_below(&mut self, limit: usize) -> Option<usize> {
        if self.next >= limit.min(self.end) {
            return None;
        }
        let start = self.next;
        self.next += self.step;
        Some(start)
    }

    #[inline(always)]
    unsafe fn mask<H: Words<Word = u32>>(&mut self, places: Range<usize>) -> u64 {
        let end = places.end.min(self.end);
        if self.next >= end {
            return 0;
        }
        let starts = self.every << (self.next - places.start);
        let mask = starts & (!0 >> (64 - (end - places.start)));
        self.next = places.start + mask.ilog2() as usize + self.step;
        mask
    }
}
