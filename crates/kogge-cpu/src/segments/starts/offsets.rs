//! Starts that are written down, as in the CSR format of sparse matrices.

use super::sealed::Sealed;
use super::{Segments, Starts, word_by_word};
use crate::arch::{Level, Simd, Words, Work};
use crate::pool;
use kogge_core::Error;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Offsets that a thread looks at in turn.
const LOOKED_AT: usize = 1 << 15;

/// Offsets of which one question is asked after the other, from the first cache.
const AT_ONCE: usize = 512;

/// Places that offsets are made flags for at a time.
pub(super) const FLAGS: usize = 1024;

/// Words of a mask that are found bit by bit: for fewer, flags take longer to make and to look at.
pub(super) const FEW: usize = 4;

/// An integer that offsets are given in. Sealed.
///
/// ```
/// use kogge_cpu::Offset;
///
/// assert_eq!([Offset::index(7u32), Offset::index(-1i64)], [7, usize::MAX]);
/// ```
pub trait Offset: Sealed + Copy + Ord + Sync + std::fmt::Display {
    /// As an index; saturates, and what is negative becomes the largest.
    fn index(self) -> usize;
}

macro_rules! offset {
    ($($type:ty),+) => {$(
        impl Offset for $type {
            #[inline(always)]
            fn index(self) -> usize {
                usize::try_from(self).unwrap_or(usize::MAX)
            }
        }
    )+};
}
offset!(u32, u64, usize, i32, i64);

impl<I: Offset> Sealed for Offsets<'_, I> {}

/// Segment `j` holds the elements `offsets[j]..offsets[j + 1]`, as in the CSR format of sparse
/// matrices; some may be empty.
///
/// ```
/// use kogge_cpu::{Offsets, Segments, by_offsets};
///
/// fn segments_before(rows: Offsets<'_, u64>, element: usize) -> Option<usize> {
///     rows.before(element)
/// }
/// assert_eq!(segments_before(by_offsets(&[0, 2, 2, 5]), 2), Some(1));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Offsets<'a, I>(&'a [I]);

/// Segments by offsets, one more than there are segments: the first is 0, the last the number of
/// elements, and none is below the one before.
///
/// ```
/// use kogge_cpu::{Segments, by_offsets};
///
/// let rows = by_offsets(&[0u32, 2, 2, 5]);
/// assert_eq!((rows.elements(), rows.before(5)), (5, Some(3)));
/// ```
pub fn by_offsets<I: Offset>(offsets: &[I]) -> Offsets<'_, I> {
    Offsets(offsets)
}

impl<I: Offset> Segments for Offsets<'_, I> {
    type Starts<'a>
        = Listed<'a, I>
    where
        Self: 'a;

    fn elements(&self) -> usize {
        self.0.last().map_or(0, |last| last.index())
    }

    fn starts(&self, from: usize) -> Listed<'_, I> {
        let starts = self.0.split_last().map_or(&[][..], |(_, starts)| starts);
        Listed { rest: &starts[starts.partition_point(|start| start.index() < from)..] }
    }

    fn before(&self, place: usize) -> Option<usize> {
        let starts = self.0.len().saturating_sub(1);
        if place > self.elements() {
            // All of them, even where offsets fall, which is found when they are scanned.
            return Some(starts);
        }
        Some(self.0[..starts].partition_point(|start| start.index() < place))
    }

    fn check(&self) -> Result<Option<usize>, Error> {
        match self.0.first() {
            None => return Err(Error::NoOffsets),
            Some(first) if first.index() != 0 => {
                return Err(Error::FirstOffset { offset: first.to_string() });
            }
            Some(_) => {}
        }
        let len = self.0.get(1).map_or(0, |second| second.index());
        let seen = look(self.0, len);
        if !seen.rise {
            let at = self.0.windows(2).position(|pair| pair[1] < pair[0]).expect("found before");
            return Err(Error::OffsetOrder {
                index: at + 1,
                offset: self.0[at + 1].to_string(),
                before: self.0[at].to_string(),
            });
        }
        let last = self.0.last_chunk().map_or(0, |[start, end]| end.index() - start.index());
        Ok((seen.alike && (1..=len).contains(&last)).then_some(len))
    }
}

/// What is seen of offsets at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    /// Whether none is below the one before.
    rise: bool,
    /// Whether each is one length behind the one before; nothing is said of the last.
    alike: bool,
}

/// Looks at offsets by all threads, since that is all that keeps them from the scan.
fn look<I: Offset>(offsets: &[I], len: usize) -> Seen {
    let parts = offsets.len().div_ceil(LOOKED_AT);
    let (rise, alike) = (AtomicBool::new(true), AtomicBool::new(true));
    let part = |part: usize| {
        let start = part * LOOKED_AT;
        let end = offsets.len().min(start + LOOKED_AT + 1);
        // The last one of all is by itself.
        let last = usize::from(end == offsets.len());
        let seen = Level::detect().run(Look { offsets: &offsets[start..end], len, last });
        if !seen.rise {
            rise.store(false, Ordering::Relaxed);
        }
        if !seen.alike {
            alike.store(false, Ordering::Relaxed);
        }
    };
    match parts {
        1 => part(0),
        parts => pool::each(parts, 1, rayon::current_num_threads(), &part),
    }
    Seen { rise: rise.into_inner(), alike: alike.into_inner() }
}

/// Looks at offsets at some SIMD level.
struct Look<'a, I> {
    offsets: &'a [I],
    len: usize,
    /// The last offsets of which it isn't asked whether they are alike.
    last: usize,
}

impl<I: Offset> Work for Look<'_, I> {
    type Output = Seen;

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) -> Seen {
        let Self { offsets, len, last } = self;
        let known = offsets.len() - last;
        let mut seen = Seen { rise: true, alike: true };
        for at in (0..known).step_by(AT_ONCE) {
            let here = &offsets[at..offsets.len().min(at + AT_ONCE + 1)];
            seen.rise &= pairs(here, |before, offset| before <= offset);
            let here = &offsets[at..known.min(at + AT_ONCE + 1)];
            seen.alike = seen.alike
                && pairs(here, |before, offset| offset.index().wrapping_sub(before.index()) == len);
        }
        seen
    }
}

/// Whether something holds of all neighbours; without a branch, for the compiler to make vectors
/// of.
#[inline(always)]
fn pairs<I: Offset>(offsets: &[I], holds: impl Fn(I, I) -> bool) -> bool {
    let later = &offsets[1.min(offsets.len())..];
    offsets.iter().zip(later).fold(true, |all, (&before, &offset)| all & holds(before, offset))
}

/// Starts that are written down.
///
/// ```
/// use kogge_cpu::{Listed, Segments, Starts, by_offsets};
///
/// let rows = by_offsets(&[0u32, 2, 2, 5]);
/// let mut starts: Listed<'_, u32> = rows.starts(1);
/// assert_eq!([(); 3].map(|()| starts.next_below(5)), [Some(2), Some(2), None]);
/// ```
#[derive(Clone, Debug)]
pub struct Listed<'a, I> {
    rest: &'a [I],
}

impl<I: Offset> Starts for Listed<'_, I> {
    #[inline(always)]
    fn next_below(&mut self, limit: usize) -> Option<usize> {
        let (first, rest) = self.rest.split_first()?;
        let start = first.index();
        if start >= limit {
            return None;
        }
        self.rest = rest;
        Some(start)
    }

    /// By way of a flag for each place, if there are many: nothing is read of what was just
    /// written, and no branch depends on where segments start but the last.
    #[inline(always)]
    unsafe fn masks<H: Words<Word = u32>>(&mut self, places: Range<usize>, masks: &mut [u64]) {
        if masks.len() <= FEW {
            // SAFETY: passed on.
            return unsafe { word_by_word::<H, Self>(self, places, masks) };
        }
        for (masks, from) in masks.chunks_mut(FLAGS / 64).zip(places.clone().step_by(FLAGS)) {
            let mut flags = [[0; 64]; FLAGS / 64];
            let here = &mut flags.as_flattened_mut()[..FLAGS.min(places.end - from)];
            let passed = self.rest.iter().position(|start| {
                let flag = here.get_mut(start.index().wrapping_sub(from));
                flag.map(|flag| *flag = 1).is_none()
            });
            self.rest = &self.rest[passed.unwrap_or(self.rest.len())..];
            for (mask, flags) in masks.iter_mut().zip(&flags) {
                // SAFETY: passed on.
                *mask = unsafe { H::Simd::flagged(flags) };
            }
        }
    }

    #[inline(always)]
    unsafe fn mask<H: Words<Word = u32>>(&mut self, places: Range<usize>) -> u64 {
        let mut mask = 0;
        while let Some(start) = self.next_below(places.end) {
            mask |= 1 << (start - places.start);
        }
        mask
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::all;
    use super::*;

    #[test]
    fn empty_segments_start_where_the_next_one_does() {
        let offsets = [0i64, 0, 2, 2, 2, 3, 3];
        assert_eq!(all(&by_offsets(&offsets), 0, &[3]), [0, 0, 2, 2, 2]);
        assert_eq!(all(&by_offsets(&offsets), 2, &[4]), [2, 2, 2, 3]);
        assert_eq!(by_offsets(&offsets).elements(), 3);
    }

    #[test]
    fn bad_offsets_are_named() {
        assert_eq!(by_offsets::<u32>(&[]).check(), Err(Error::NoOffsets));
        assert_eq!(by_offsets(&[1, 2]).check(), Err(Error::FirstOffset { offset: "1".into() }));
        assert_eq!(by_offsets(&[-1, 2]).check(), Err(Error::FirstOffset { offset: "-1".into() }));
        let falls = Error::OffsetOrder { index: 2, offset: "2".into(), before: "5".into() };
        assert_eq!(by_offsets(&[0, 5, 2]).check(), Err(falls));
        assert_eq!(by_offsets(&[0]).check(), Ok(None));
        // Wherever threads' parts meet.
        for at in [2, LOOKED_AT - 1, LOOKED_AT, LOOKED_AT + 1, 2 * LOOKED_AT + 3] {
            let mut many: Vec<u32> = (0..2 * LOOKED_AT as u32 + 5).map(|i| 2 * i).collect();
            assert_eq!(by_offsets(&many).check(), Ok(Some(2)));
            many[at] = many[at - 1] - 1;
            let found = by_offsets(&many).check();
            assert!(matches!(found, Err(Error::OffsetOrder { index, .. }) if index == at), "{at}");
        }
    }

    #[test]
    fn offsets_at_equal_steps_are_told() {
        let step = |offsets: &[i32]| by_offsets(offsets).check().expect("offsets that rise");
        assert_eq!(step(&[0, 0]), None);
        assert_eq!(step(&[0, 3]), Some(3));
        assert_eq!(step(&[0, 3, 6, 8]), Some(3), "a last one that is shorter");
        assert_eq!(step(&[0, 3, 6, 6]), None, "a last one that is empty");
        assert_eq!(step(&[0, 3, 6, 10]), None, "a last one that is longer");
        for count in [AT_ONCE, AT_ONCE + 1, LOOKED_AT, LOOKED_AT + 1, LOOKED_AT + 2] {
            let mut many: Vec<i32> = (0..count as i32 + 1).map(|i| 5 * i).collect();
            assert_eq!(step(&many), Some(5), "{count}");
            for at in [1, AT_ONCE - 2, AT_ONCE - 1, count / 2, count - 2, count - 1] {
                many[at] -= 1;
                assert_eq!(step(&many), None, "{count}, {at}");
                many[at] += 1;
            }
            many[count] -= 4;
            assert_eq!(step(&many), Some(5), "{count}");
        }
    }
}
