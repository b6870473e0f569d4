//! Head flags, one an element.

use super::Segments;
use super::marked::{Flags, Marked, bits, mask, segments};
use super::sealed::Sealed;
use crate::arch::stream::{LINE, prefetch_part};
use crate::arch::{Simd, Words};
use kogge_core::Error;
use std::ops::Range;

/// Bytes from the flags that are looked at to those that are asked for.
const AHEAD: usize = 2 << 10;

/// A segment starts at each set flag, and at the first element in any case.
///
/// ```
/// use kogge_cpu::{Heads, Segments};
///
/// fn first_two(heads: Heads<'_>) -> usize {
///     heads.count(0..2)
/// }
/// assert_eq!(first_two(kogge_cpu::by_heads(&[false, true, false])), 2);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Heads<'a>(&'a [bool]);

/// Segments by head flags, one an element: a segment starts where the flag is set, and at the first
/// element in any case.
///
/// ```
/// use kogge_cpu::{Segments, by_heads};
///
/// let heads = by_heads(&[false, false, true, true]);
/// assert_eq!((heads.elements(), heads.count(0..4)), (4, 3));
/// ```
pub fn by_heads(flags: &[bool]) -> Heads<'_> {
    Heads(flags)
}

impl Sealed for Heads<'_> {}

segments!(Heads<'_>,);

impl Flags for Heads<'_> {
    #[inline(always)]
    fn places(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn look(&self, places: Range<usize>) -> u64 {
        let first = u64::from(places.start == 0);
        let heads = &self.0[places];
        match <&[bool; 64]>::try_from(heads) {
            Ok(heads) if heads.iter().any(|&head| head) => first | mask(&heads.map(u8::from)),
            Ok(_) => first,
            Err(_) if heads.is_empty() => 0,
            Err(_) => first | bits(heads.iter().copied()),
        }
    }

    #[inline(always)]
    unsafe fn look_at<H: Words<Word = u32>>(&self, places: Range<usize>) -> u64 {
        let heads = bytemuck::cast_slice::<bool, u8>(&self.0[places.clone()]);
        match heads.first_chunk::<64>() {
            // SAFETY: passed on.
            Some(heads) => unsafe {
                prefetch_part::<LINE>(heads.as_ptr().wrapping_add(AHEAD));
                u64::from(places.start == 0) | H::Simd::flagged(heads)
            },
            None => self.look(places),
        }
    }
}
