//! Starts that are found by looking at a flag for each place, 64 of them at a time.

use super::Starts;
use super::sealed::Sealed;
use crate::arch::Words;
use std::hint::black_box;
use std::ops::Range;

/// Flags that are looked at 64 at a time.
///
/// ```
/// use kogge_cpu::{Flags, by_heads, by_key};
///
/// assert_eq!(by_heads(&[false, false, true]).look(0..3), 0b101);
/// let keys = by_key(&["a", "a", "b", "c"]);
/// assert_eq!((keys.places(), keys.look(1..4)), (4, 0b110));
/// ```
pub trait Flags: Sealed {
    /// How many there are.
    fn places(&self) -> usize;

    /// One bit for each set flag of `places`, at most 64 of them.
    fn look(&self, places: Range<usize>) -> u64;

    /// What is said in [`Segments::looked_at`](super::Segments::looked_at).
    #[doc(hidden)]
    fn looked_at(&self) -> Option<(*const u8, usize)> {
        None
    }

    /// [`look`](Self::look) at some SIMD level.
    ///
    /// # Safety
    ///
    /// The CPU features of `H` must be present.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn look_at<H: Words<Word = u32>>(&self, places: Range<usize>) -> u64 {
        self.look(places)
    }

    /// [`look_at`](Self::look_at) for any number of places, a word for 64 of them.
    ///
    /// # Safety
    ///
    /// As there.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn look_along<H: Words<Word = u32>>(&self, places: Range<usize>, masks: &mut [u64]) {
        for (mask, start) in masks.iter_mut().zip(places.clone().step_by(64)) {
            // SAFETY: passed on.
            *mask = unsafe { self.look_at::<H>(start..places.end.min(start + 64)) };
        }
    }
}

/// Segments that are told by [`Flags`], for types with a parameter or without.
macro_rules! segments {
    ($type:ty, $($parameter:ident)?) => {
        impl<$($parameter: Key)?> Segments for $type {
            type Starts<'a>
                = Marked<'a, Self>
            where
                Self: 'a;

            fn elements(&self) -> usize {
                self.0.len()
            }

            fn starts(&self, from: usize) -> Marked<'_, Self> {
                Marked::new(self, from)
            }

            fn before(&self, _place: usize) -> Option<usize> {
                None
            }

            fn check(&self) -> Result<Option<usize>, Error> {
                Ok(None)
            }

            fn looked_at(&self) -> Option<(*const u8, usize)> {
                Flags::looked_at(self)
            }
        }
    };
}
pub(super) use segments;

/// Starts that are found by looking at flags.
///
/// ```
/// use kogge_cpu::{Heads, Marked, Segments, Starts, by_heads};
///
/// let heads = by_heads(&[false, true, false, true]);
/// let mut starts: Marked<'_, Heads<'_>> = heads.starts(1);
/// assert_eq!([starts.next_below(3), starts.next_below(3)], [Some(1), None]);
/// assert_eq!(starts.next_below(4), Some(3));
/// ```
#[derive(Clone, Debug)]
pub struct Marked<'a, F> {
    flags: &'a F,
    /// The places that were looked at last.
    block: Range<usize>,
    /// One bit for each of them that is still to come.
    mask: u64,
}

impl<F: Flags> Starts for Marked<'_, F> {
    #[inline(always)]
    fn next_below(&mut self, limit: usize) -> Option<usize> {
        while self.mask == 0 {
            if self.block.end >= limit.min(self.flags.places()) {
                return None;
            }
            self.look();
        }
        let start = self.block.start + self.mask.trailing_zeros() as usize;
        if start >= limit {
            return None;
        }
        self.mask &= self.mask - 1;
        Some(start)
    }

    #[inline(always)]
    unsafe fn masks<H: Words<Word = u32>>(&mut self, places: Range<usize>, masks: &mut [u64]) {
        (self.block, self.mask) = (places.end..places.end, 0);
        // SAFETY: passed on.
        unsafe { self.flags.look_along::<H>(places, masks) }
    }

    #[inline(always)]
    unsafe fn mask<H: Words<Word = u32>>(&mut self, places: Range<usize>) -> u64 {
        (self.block, self.mask) = (places.end..places.end, 0);
        // SAFETY: passed on.
        unsafe { self.flags.look_at::<H>(places) }
    }
}

impl<'a, F: Flags> Marked<'a, F> {
    /// From a place on.
    pub(super) fn new(flags: &'a F, from: usize) -> Self {
        Self { flags, block: from..from, mask: 0 }
    }

    /// Looks at the next block.
    #[inline(always)]
    fn look(&mut self) {
        let end = self.flags.places().min(self.block.end + 64);
        self.block = self.block.end..end;
        self.mask = self.flags.look(self.block.clone());
    }
}

/// One bit for each of at most 64 flags.
pub(super) fn bits(flags: impl Iterator<Item = bool>) -> u64 {
    flags.enumerate().fold(0, |mask, (i, flag)| mask | u64::from(flag) << i)
}

/// One bit for each byte that is 1.
#[inline(always)]
pub(super) fn mask(flags: &[u8; 64]) -> u64 {
    let mut mask = 0;
    for (i, eight) in flags.chunks_exact(8).enumerate() {
        // Loads that the compiler can't make one vector of: it would wait for stores that are
        // narrower.
        let eight = black_box(u64::from_le_bytes(eight.try_into().expect("eight bytes")));
        // Byte k moves bit k to bit 56 + k; no two products meet.
        mask |= (eight.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i);
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_have_a_bit_for_each_byte() {
        for i in 0..64 {
            let mut flags = [0; 64];
            flags[i] = 1;
            assert_eq!(mask(&flags), 1 << i);
            assert_eq!(mask(&flags.map(|flag| 1 - flag)), !(1 << i));
        }
    }
}
