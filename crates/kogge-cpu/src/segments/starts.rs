//! Where segments start: given by offsets, by flags, or where a key changes.
//!
//! The engine asks one thing only, where the next segment starts, so that nothing need be counted
//! or written down before the scan. Flags and keys are looked at 64 at a time and kept as a bit
//! mask: neither short segments nor long ones cost a branch an element.

use crate::arch::stream::{LINE, prefetch_part};
use crate::arch::{Level, Simd, Words, Work};
use crate::pool;
use kogge_core::{Error, bf16, f16};
use std::hint::black_box;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Offsets that a thread looks at in turn.
const LOOKED_AT: usize = 1 << 15;

/// Offsets of which one question is asked after the other, from the first cache.
const AT_ONCE: usize = 512;

/// Places that offsets are made flags for at a time.
const FLAGS: usize = 1024;

/// Words of a mask that are found bit by bit: for fewer, flags take longer to make and to look at.
const FEW: usize = 4;

/// Bytes from the keys that are looked at to those that are asked for.
const AHEAD: usize = 2 << 10;

/// Kept to this crate: unsafe code relies on starts that rise, lie in the sequence, and are the same
/// whenever they are asked for.
mod sealed {
    pub trait Sealed {}
}
use sealed::Sealed;

/// A sequence cut into segments that lie one after another. Sealed: made by [`by_offsets`],
/// [`by_heads`] and [`by_key`].
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

    /// Whether the segments are well formed; asked before anything else. Gives the length of all of them, if
    /// that is one length that isn't 0, but for the last, which may have fewer.
    ///
    /// # Errors
    ///
    /// What is wrong with them.
    fn check(&self) -> Result<Option<usize>, Error>;

    /// How many segments start in these places.
    fn count(&self, places: Range<usize>) -> usize {
        let mut starts = self.starts(places.start);
        std::iter::from_fn(|| starts.next_below(places.end)).count()
    }
}

/// The starts of segments, in order.
pub trait Starts {
    /// Moves past the next start if that is below `limit`, and gives it. Limits never fall.
    fn next_below(&mut self, limit: usize) -> Option<usize>;

    /// Puts one bit for each of these places where a segment starts, 64 of them to a word, and moves past
    /// them. Starts that were passed before may be missing.
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

    /// One bit for each of these places, at most 64 of them, where a segment starts; moves past them.
    /// Starts that were passed before may be missing.
    ///
    /// # Safety
    ///
    /// The CPU features of `H` must be present.
    #[doc(hidden)]
    unsafe fn mask<H: Words<Word = u32>>(&mut self, places: Range<usize>) -> u64;
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

/// An integer that offsets are given in. Sealed.
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

/// What keys are made of: numbers, `bool`, `char` and strings, or arrays of them. Sealed, since a
/// comparison of the caller's own might answer differently the second time; for other keys, compare
/// them into flags for [`by_heads`].
pub trait Key: PartialEq + Sync + Sealed {
    /// The keys as words, if they are equal where their bits are.
    #[doc(hidden)]
    fn words(_keys: &[Self]) -> Option<&[u32]>
    where
        Self: Sized,
    {
        None
    }
}

macro_rules! key {
    ($($type:ty),+) => {$(
        impl Sealed for $type {}
        impl Key for $type {}
    )+};
}
key!(i8, i16, i64, i128, isize, u8, u16, u64, u128, usize);
key!(f16, bf16, f32, f64, bool, char, &str, String);

macro_rules! word {
    ($($type:ty),+) => {$(
        impl Sealed for $type {}
        impl Key for $type {
            #[inline(always)]
            fn words(keys: &[Self]) -> Option<&[u32]> {
                Some(bytemuck::cast_slice(keys))
            }
        }
    )+};
}
word!(u32, i32);

impl<K: Key, const N: usize> Sealed for [K; N] {}
impl<K: Key, const N: usize> Key for [K; N] {}

impl<I: Offset> Sealed for Offsets<'_, I> {}
impl Sealed for Even {}
impl Sealed for Heads<'_> {}
impl<K: Key> Sealed for Keys<'_, K> {}

/// Segment `j` holds the elements `offsets[j]..offsets[j + 1]`, as in the CSR format of sparse
/// matrices; some may be empty.
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
        parts => pool::each(parts, 1, &part),
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

/// Whether something holds of all neighbours; without a branch, for the compiler to make vectors of.
#[inline(always)]
fn pairs<I: Offset>(offsets: &[I], holds: impl Fn(I, I) -> bool) -> bool {
    let later = &offsets[1.min(offsets.len())..];
    offsets.iter().zip(later).fold(true, |all, (&before, &offset)| all & holds(before, offset))
}

/// Starts that are written down.
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

    /// By way of a flag for each place, if there are many: nothing is read of what was just written, and no
    /// branch depends on where segments start but the last.
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

/// Segments of one length that isn't 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Even {
    pub(crate) len: usize,
    pub(crate) count: usize,
}

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

/// A segment starts at each set flag, and at the first element in any case.
#[derive(Clone, Copy, Debug)]
pub struct Heads<'a>(&'a [bool]);

/// Segments by head flags, one an element: a segment starts where the flag is set, and at the first
/// element in any case.
pub fn by_heads(flags: &[bool]) -> Heads<'_> {
    Heads(flags)
}

/// A segment is a run of equal keys.
#[derive(Clone, Copy, Debug)]
pub struct Keys<'a, K>(&'a [K]);

/// Segments by key, one an element: a segment is a run of equal keys. A key that isn't equal to
/// itself, as NaN, is a segment by itself.
pub fn by_key<K: Key>(keys: &[K]) -> Keys<'_, K> {
    Keys(keys)
}

/// Flags that are looked at 64 at a time.
pub trait Flags: Sealed {
    /// How many there are.
    fn places(&self) -> usize;

    /// One bit for each set flag of `places`, at most 64 of them.
    fn look(&self, places: Range<usize>) -> u64;

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
}

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

impl<K: Key> Flags for Keys<'_, K> {
    #[inline(always)]
    fn places(&self) -> usize {
        self.0.len()
    }

    #[inline(always)]
    fn look(&self, places: Range<usize>) -> u64 {
        let first = usize::from(places.start == 0);
        let (before, keys) = (&self.0[places.start + first - 1..], &self.0[places]);
        match (<&[K; 64]>::try_from(keys), before.first_chunk::<64>()) {
            // Lengths that the compiler knows, so that it compares by vector.
            (Ok(keys), Some(before)) if first == 0 => {
                let differ = |i| keys[i] != before[i];
                match (0..64).fold(false, |any, i| any | differ(i)) {
                    true => mask(&std::array::from_fn(|i| differ(i).into())),
                    false => 0,
                }
            }
            _ => {
                let later = keys[first..].iter().zip(before).map(|(key, left)| key != left);
                first as u64 | bits(later) << first
            }
        }
    }

    #[inline(always)]
    unsafe fn look_at<H: Words<Word = u32>>(&self, places: Range<usize>) -> u64 {
        if let Some(words) = K::words(self.0)
            && places.start > 0
            && let (Ok(keys), Some(before)) = (
                <&[u32; 64]>::try_from(&words[places.clone()]),
                words[places.start - 1..].first_chunk::<64>(),
            )
        {
            for line in keys.chunks_exact(LINE / size_of::<u32>()) {
                prefetch_part::<LINE>(line.as_ptr().cast::<u8>().wrapping_add(AHEAD));
            }
            // SAFETY: passed on.
            return unsafe { H::Simd::differ(keys, before) };
        }
        self.look(places)
    }
}

/// One bit for each of at most 64 flags.
fn bits(flags: impl Iterator<Item = bool>) -> u64 {
    flags.enumerate().fold(0, |mask, (i, flag)| mask | u64::from(flag) << i)
}

macro_rules! flagged {
    ($($type:ty, $($parameter:ident)?;)+) => {$(
        impl<$($parameter: Key)?> Segments for $type {
            type Starts<'a>
                = Marked<'a, Self>
            where
                Self: 'a;

            fn elements(&self) -> usize {
                self.0.len()
            }

            fn starts(&self, from: usize) -> Marked<'_, Self> {
                Marked { flags: self, block: from..from, mask: 0 }
            }

            fn before(&self, _place: usize) -> Option<usize> {
                None
            }

            fn check(&self) -> Result<Option<usize>, Error> {
                Ok(None)
            }
        }
    )+};
}

flagged! {
    Heads<'_>,;
    Keys<'_, K>, K;
}

/// Starts that are found by looking at flags.
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
    unsafe fn mask<H: Words<Word = u32>>(&mut self, places: Range<usize>) -> u64 {
        (self.block, self.mask) = (places.end..places.end, 0);
        // SAFETY: passed on.
        unsafe { self.flags.look_at::<H>(places) }
    }
}

impl<F: Flags> Marked<'_, F> {
    /// Looks at the next block.
    #[inline(always)]
    fn look(&mut self) {
        let end = self.flags.places().min(self.block.end + 64);
        self.block = self.block.end..end;
        self.mask = self.flags.look(self.block.clone());
    }
}

/// One bit for each byte that is 1.
#[inline(always)]
fn mask(flags: &[u8; 64]) -> u64 {
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
    use crate::Level;
    use crate::arch::Work;

    fn all(segments: &impl Segments, from: usize, limits: &[usize]) -> Vec<usize> {
        let mut starts = segments.starts(from);
        let mut found = Vec::new();
        for &limit in limits {
            found.extend(std::iter::from_fn(|| starts.next_below(limit)));
        }
        found
    }

    #[test]
    fn masks_have_a_bit_for_each_byte() {
        for i in 0..64 {
            let mut flags = [0; 64];
            flags[i] = 1;
            assert_eq!(mask(&flags), 1 << i);
            assert_eq!(mask(&flags.map(|flag| 1 - flag)), !(1 << i));
        }
    }

    #[test]
    fn the_three_kinds_agree() {
        let lens = [3usize, 1, 70, 64, 1, 1, 128, 5, 200, 2];
        let starts: Vec<usize> = (0..lens.len()).map(|j| lens[..j].iter().sum()).collect();
        let n: usize = lens.iter().sum();
        let offsets: Vec<u32> = starts.iter().chain([&n]).map(|&start| start as u32).collect();
        let heads: Vec<bool> = (0..n).map(|i| i > 0 && starts.contains(&i)).collect();
        let keys: Vec<u8> =
            lens.iter().enumerate().flat_map(|(j, &len)| vec![j as u8 % 2; len]).collect();
        for from in 0..=n {
            let want: Vec<usize> = starts.iter().copied().filter(|&start| start >= from).collect();
            let limits: Vec<usize> = (from..=n + 1).step_by(1 + from % 90).chain([n]).collect();
            assert_eq!(all(&by_offsets(&offsets), from, &limits), want);
            assert_eq!(all(&by_heads(&heads), from, &limits), want);
            assert_eq!(all(&by_key(&keys), from, &limits), want);
            assert_eq!(by_key(&keys).count(from..n), want.len());
            assert_eq!(by_offsets(&offsets).before(from), Some(starts.len() - want.len()));
        }
    }

    /// The starts that masks tell, from a place on.
    struct Masks<'a, S> {
        starts: S,
        from: usize,
        end: usize,
        found: &'a mut Vec<usize>,
    }

    impl<S: Starts> Work for Masks<'_, S> {
        type Output = ();

        #[inline(always)]
        unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(mut self) {
            // As many words at a time as one goes by one, then more, then more than there are.
            let mut at = self.from;
            for words in [1, FEW, 2 * FLAGS / 64 + 1, 2 * FLAGS / 64 + 1].into_iter().cycle() {
                let end = self.end.min(at + 64 * words);
                let mut masks = vec![0; words];
                // SAFETY: features by contract.
                unsafe { self.starts.masks::<W32>(at..end, &mut masks) };
                let set = (0..64 * words).filter(|bit| masks[bit / 64] >> (bit % 64) & 1 == 1);
                self.found.extend(set.map(|bit| at + bit));
                if end == self.end {
                    return;
                }
                at = end;
            }
        }
    }

    #[test]
    fn masks_tell_what_is_told_one_by_one() {
        fn check(segments: &impl Segments, from: usize) {
            let end = segments.elements();
            let want = all(segments, from, &[end]);
            for level in Level::available() {
                let (mut found, starts) = (vec![], segments.starts(from));
                level.run(Masks { starts, from, end, found: &mut found });
                assert_eq!(found, want, "from {from}, {}", level.name());
            }
        }
        let n = 6_000;
        let keys: Vec<u32> = (0..n as u32).map(|i| i / 7 * (i / 90)).collect();
        let heads: Vec<bool> = (0..n).map(|i| i > 0 && keys[i] != keys[i - 1]).collect();
        let starts = (0..n).filter(|&i| i == 0 || heads[i]);
        let offsets: Vec<usize> = starts.chain([n]).collect();
        for from in [0, 1, 64, 77] {
            check(&by_key(&keys), from);
            check(&by_key(&keys.iter().map(|&key| key as u64).collect::<Vec<_>>()), from);
            check(&by_heads(&heads), from);
            check(&by_offsets(&offsets), from);
            check(&Even { len: 7, count: 857 }, from);
        }
    }

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
