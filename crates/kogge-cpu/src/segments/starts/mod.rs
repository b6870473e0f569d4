//! Where segments start: given by [offsets], by [flags](heads), where a key [changes](keys), or at
//! [equal steps](even).
//!
//! The engine asks one thing only, where the next segment starts, so that nothing need be counted
//! or written down before the scan. Flags and keys are [looked at 64 at a time](marked) and kept as
//! a bit mask: neither short segments nor long ones cost a branch an element.

mod even;
mod heads;
mod keys;
mod marked;
mod offsets;

pub(crate) use even::Even;
pub use heads::{Heads, by_heads};
pub use keys::{Key, Keys, by_key};
pub use marked::{Flags, Marked};
pub use offsets::{Listed, Offset, Offsets, by_offsets};

use crate::arch::{Words, Work};
use kogge_core::Error;
use std::ops::Range;

/// Kept to this crate: unsafe code relies on starts that rise, lie in the sequence, and are the
/// same whenever they are asked for.
mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// A sequence cut into segments that lie one after another. Sealed: made by [`by_offsets`],
/// [`by_heads`] and [`by_key`].
///
/// ```
/// use kogge_cpu::{Segments, by_heads, by_key, by_offsets};
///
/// fn count(segments: impl Segments) -> usize {
///     segments.count(0..segments.elements())
/// }
/// assert_eq!(count(by_heads(&[true, false, true])), 2);
/// assert_eq!(count(by_key(&["a", "a", "b"])), 2);
/// assert_eq!(count(by_offsets(&[0u32, 2, 3])), 2);
/// ```
pub trait Segments: Sync + Sealed {
    /// What walks along the starts.
    type Starts<'a>: Starts
    where
        Self: 'a;

    /// Elements in all segments together.
    fn elements(&self) -> usize;

    /// The starts from a place on.
    fn starts(&self, from: usize) -> Self::Starts<'_>;

    /// How many segments start before a place, if that can be told without counting them.
    fn before(&self, place: usize) -> Option<usize>;

    /// Whether the segments are well formed; asked before anything else. Gives the length of all of
    /// them, if that is one length that isn't 0, but for the last, which may have fewer.
    ///
    /// # Errors
    ///
    /// What is wrong with them.
    fn check(&self) -> Result<Option<usize>, Error>;

    /// What is looked at of each place to find where segments start, if that is as much as elements
    /// have: where that of the first place lies, and bytes of each.
    #[doc(hidden)]
    fn looked_at(&self) -> Option<(*const u8, usize)> {
        None
    }

    /// How many segments start in these places.
    fn count(&self, places: Range<usize>) -> usize {
        let mut starts = self.starts(places.start);
        std::iter::from_fn(|| starts.next_below(places.end)).count()
    }
}

/// The starts of segments, in order.
///
/// ```
/// use kogge_cpu::{Segments, Starts, by_key};
///
/// let keys = by_key(&["a", "a", "b", "c"]);
/// let mut starts = keys.starts(0);
/// let all: Vec<usize> = std::iter::from_fn(|| starts.next_below(4)).collect();
/// assert_eq!(all, [0, 2, 3]);
/// ```
pub trait Starts {
    /// Moves past the next start if that is below `limit`, and gives it. Limits never fall.
    fn next_below(&mut self, limit: usize) -> Option<usize>;

    /// Puts one bit for each of these places where a segment starts, 64 of them to a word, and
    /// moves past them. Starts that were passed before may be missing.
    ///
    /// # Safety
    ///
    /// The CPU features of `H` must be present.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn masks<H: Words<Word = u32>>(&mut self, places: Range<usize>, masks: &mut [u64]) {
        // SAFETY: passed on.
        unsafe { word_by_word::<H, Self>(self, places, masks) }
    }

    /// One bit for each of these places, at most 64 of them, where a segment starts; moves past
    /// them. Starts that were passed before may be missing.
    ///
    /// # Safety
    ///
    /// The CPU features of `H` must be present.
    #[doc(hidden)]
    unsafe fn mask<H: Words<Word = u32>>(&mut self, places: Range<usize>) -> u64;
}

/// Looks where segments start, at some SIMD level: a bit for each of the places.
pub(super) struct See<'a, S> {
    pub(super) starts: &'a mut S,
    pub(super) places: Range<usize>,
    pub(super) heads: &'a mut [u64],
}

impl<S: Starts> Work for See<'_, S> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) {
        // SAFETY: features by contract.
        unsafe { self.starts.masks::<W32>(self.places, self.heads) };
    }
}

/// Puts [masks](Starts::masks) word by word.
///
/// # Safety
///
/// As for [`Starts::masks`].
#[inline(always)]
unsafe fn word_by_word<H: Words<Word = u32>, S: Starts + ?Sized>(
    starts: &mut S,
    Range { mut start, end }: Range<usize>,
    masks: &mut [u64],
) {
    for mask in masks {
        if start >= end {
            break;
        }
        // SAFETY: passed on.
        *mask = unsafe { starts.mask::<H>(start..end.min(start + 64)) };
        start += 64;
    }
}

#[cfg(test)]
mod tests;
