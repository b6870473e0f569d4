//! Runs of equal keys.

use super::Segments;
use super::marked::{Flags, Marked, bits, mask, segments};
use super::sealed::Sealed;
use crate::arch::stream::{Cache, LINE};
use crate::arch::{Simd, Words};
use kogge_core::{Error, bf16, f16};
use std::ops::Range;

/// Bytes from the keys that are looked at to those that are asked for. (2 KiB are 0.83 to 0.94
/// times as fast, 8 KiB 0.85 to 0.99 times, by two threads of a Zen 5.)
const AHEAD: usize = 4 << 10;

/// A segment is a run of equal keys.
///
/// ```
/// use kogge_cpu::{Keys, Segments, by_key};
///
/// fn runs(keys: Keys<'_, char>) -> usize {
///     keys.count(0..keys.elements())
/// }
/// assert_eq!(runs(by_key(&['a', 'a', 'b', 'a'])), 3);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Keys<'a, K>(&'a [K]);

/// Segments by key, one an element: a segment is a run of equal keys. A key that isn't equal to
/// itself, as NaN, is a segment by itself.
///
/// ```
/// use kogge_cpu::{Segments, by_key};
///
/// let runs = by_key(&["a", "a", "b", "a"]);
/// assert_eq!((runs.elements(), runs.count(0..4)), (4, 3));
/// assert_eq!(by_key(&[f64::NAN, f64::NAN]).count(0..2), 2);
/// ```
pub fn by_key<K: Key>(keys: &[K]) -> Keys<'_, K> {
    Keys(keys)
}

impl<K: Key> Sealed for Keys<'_, K> {}

segments!(Keys<'_, K>, K);

/// What keys are made of: numbers, `bool`, `char` and strings, or arrays of them. Sealed, since a
/// comparison of the caller's own might answer differently the second time; for other keys, compare
/// them into flags for [`by_heads`](super::by_heads).
///
/// ```
/// use kogge_cpu::{Key, Segments, by_heads, by_key};
///
/// fn runs<K: Key>(keys: &[K]) -> usize {
///     by_key(keys).count(0..keys.len())
/// }
/// assert_eq!((runs(&[7, 7, 8]), runs(&[[0.0, 1.0], [0.0, 2.0]])), (2, 2));
///
/// let pairs = [(1, "a"), (1, "a"), (1, "b")];
/// let differ = |i: usize| i == 0 || pairs[i] != pairs[i - 1];
/// assert_eq!(by_heads(&[0, 1, 2].map(differ)).count(0..3), 2);
/// ```
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

impl<K: Key> Flags for Keys<'_, K> {
    #[inline(always)]
    fn places(&self) -> usize {
        self.0.len()
    }

    fn looked_at(&self) -> Option<(*const u8, usize)> {
        Some((self.0.as_ptr().cast(), size_of::<K>()))
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
                let Some(keys) = keys.get(first..) else { return 0 };
                let later = keys.iter().zip(before).map(|(key, left)| key != left);
                first as u64 | bits(later) << first
            }
        }
    }

    #[inline(always)]
    unsafe fn look_along<H: Words<Word = u32>>(&self, places: Range<usize>, masks: &mut [u64]) {
        let words = K::words(self.0);
        let (mut at, mut done) = (places.start, 0);
        if let Some(words) = words
            && at > 0
        {
            let (cache, whole) = (Cache::for_keys(size_of_val(words)), places.len() / 64);
            let words = words[at - 1..].windows(65).step_by(64);
            for (words, mask) in words.zip(&mut masks[..whole]) {
                if let Some(cache) = cache {
                    cache.ask::<{ 4 * LINE }>(words[1..].as_ptr().cast::<u8>().wrapping_add(AHEAD));
                }
                let words = words.first_chunk().expect("windows of as many");
                // SAFETY: passed on.
                *mask = unsafe { H::Simd::changes(words) };
            }
            (at, done) = (at + 64 * whole, whole);
        }
        for mask in &mut masks[done..] {
            if at >= places.end {
                break;
            }
            *mask = self.look(at..places.end.min(at + 64));
            at += 64;
        }
    }
}
