//! No intrinsics: vectors are arrays of four words. Runs everywhere, Miri included.

use super::{Words, Work, turn};
use crate::array::{array, for_each};

/// Does the work with what the target guarantees. Never inlined: each codegen unit would compile it
/// again.
#[inline(never)]
pub(super) fn run<W: Work>(work: W) -> W::Output {
    // SAFETY: the types need no CPU feature.
    unsafe { work.run::<W32, W64>() }
}

/// 4-byte words.
#[derive(Clone, Copy)]
pub(crate) struct W32;

/// 8-byte words.
#[derive(Clone, Copy)]
pub(crate) struct W64;

/// What the target guarantees, for words of any width.
#[derive(Clone, Copy)]
pub(crate) struct Simd;

// SAFETY: the methods do what the trait says.
unsafe impl super::Simd for Simd {
    type Masked = super::ordered::None;
    type Wide = super::ordered::None;
    const WHERE_THEY_LIE: bool = cfg!(any(test, miri));

    #[inline(always)]
    unsafe fn stream_line(from: *const u8, to: *mut u8) {
        // SAFETY: passed on.
        unsafe { super::stream::line(from, to) }
    }
}

macro_rules! words {
    ($name:ident, $word:ty, $per_chunk:literal) => {
        // SAFETY: all types are plain arrays: 4 words a vector, 8 vectors a column.
        unsafe impl Words for $name {
            type Word = $word;
            type Vector = [$word; 4];
            type Column = [[$word; 4]; 8];
            type Simd = Simd;
            type Row = [[[$word; 4]; 8]; $per_chunk];
            type Group = [[$word; 4]; $per_chunk];
            type Turn = turn::Bytes<[$word; 4]>;

            const LANES: usize = 4;

            #[inline(always)]
            unsafe fn split(row: *const $word) -> Self::Row {
                // SAFETY: the caller vouches for 512 readable bytes; no alignment is asked for.
                let words = unsafe { row.cast::<[[$word; $per_chunk]; 32]>().read_unaligned() };
                let mut columns = [[[0; 4]; 8]; $per_chunk];
                for_each!(0..32, |chunk| {
                    for_each!(0..$per_chunk, |c| {
                        columns[c][chunk / 4][chunk % 4] = words[chunk][c];
                    });
                });
                columns
            }

            #[inline(always)]
            unsafe fn join(columns: Self::Row, row: *mut $word) {
                let mut words = [[0; $per_chunk]; 32];
                for_each!(0..32, |chunk| {
                    for_each!(0..$per_chunk, |c| {
                        words[chunk][c] = columns[c][chunk / 4][chunk % 4];
                    });
                });
                // SAFETY: the caller vouches for 512 writable bytes; no alignment is asked for.
                unsafe { row.cast::<[[$word; $per_chunk]; 32]>().write_unaligned(words) }
            }

            #[inline(always)]
            unsafe fn join_stream(columns: Self::Row, row: *mut $word) {
                // SAFETY: passed on; stable Rust has no non-temporal stores for all targets.
                unsafe { Self::join(columns, row) }
            }

            #[inline(always)]
            unsafe fn split_group(group: *const $word) -> Self::Group {
                // SAFETY: the caller vouches for four readable chunks; no alignment is asked for.
                let chunks = unsafe { group.cast::<[[$word; $per_chunk]; 4]>().read_unaligned() };
                array(|w| array(|chunk| chunks[chunk][w]))
            }

            #[inline(always)]
            unsafe fn join_group(group: Self::Group, to: *mut $word) {
                let chunks: [[$word; $per_chunk]; 4] = array(|chunk| array(|w| group[w][chunk]));
                // SAFETY: the caller vouches for four writable chunks; no alignment is asked for.
                unsafe { to.cast::<[[$word; $per_chunk]; 4]>().write_unaligned(chunks) }
            }

            #[inline(always)]
            unsafe fn in_memory(group: Self::Group) -> Self::Group {
                array(|i| {
                    array(|lane| group[(4 * i + lane) % $per_chunk][(4 * i + lane) / $per_chunk])
                })
            }

            #[inline(always)]
            unsafe fn stream(vector: Self::Vector, to: *mut u8) {
                // SAFETY: writable by contract; stable Rust has no non-temporal stores for all
                // targets.
                unsafe { to.cast::<Self::Vector>().write_unaligned(vector) }
            }

            #[inline(always)]
            unsafe fn to_natural(vector: Self::Vector) -> Self::Vector {
                vector
            }

            #[inline(always)]
            unsafe fn from_natural(vector: Self::Vector) -> Self::Vector {
                vector
            }

            #[inline(always)]
            unsafe fn slide<const S: usize>(low: Self::Vector, high: Self::Vector) -> Self::Vector {
                array(|i| if i < S { low[i + 4 - S] } else { high[i - S] })
            }

            #[inline(always)]
            unsafe fn blend<const S: usize>(low: Self::Vector, high: Self::Vector) -> Self::Vector {
                array(|i| if i < S { low[i] } else { high[i] })
            }

            #[inline(always)]
            unsafe fn halve(low: Self::Vector, high: Self::Vector) -> (Self::Vector, Self::Vector) {
                ([low[0], low[2], high[0], high[2]], [low[1], low[3], high[1], high[3]])
            }

            #[inline(always)]
            unsafe fn splat(word: $word) -> Self::Vector {
                [word; 4]
            }

            #[inline(always)]
            unsafe fn opaque(vector: Self::Vector) -> Self::Vector {
                vector
            }
        }
    };
}

words!(W32, u32, 4);
words!(W64, u64, 2);
