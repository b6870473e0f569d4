//! 8-byte words, 4 to a vector.

use super::memory::{load, load_chunks, store, store_chunks, stream};
use super::transpose::{halve_split, transpose2};
use super::turn::Turn;
use super::{Simd, opaque};
use crate::arch::{CHUNKS, Words};
use crate::array::{array, for_each, map};
use core::arch::x86_64::*;

/// 8-byte words, 4 to a vector.
#[derive(Clone, Copy)]
pub(crate) struct W64;

// SAFETY: `__m256i` is 4 plain words; 8 make a column of 32, 2 columns a row.
unsafe impl Words for W64 {
    type Word = u64;
    type Vector = __m256i;
    type Column = [__m256i; 8];
    type Simd = Simd;
    type Row = [[__m256i; 8]; 2];
    type Turn = Turn;
    type Group = [__m256i; 2];

    const LANES: usize = 4;
    const TURNS: bool = true;

    #[inline(always)]
    unsafe fn split(row: *const u64) -> Self::Row {
        // SAFETY: the caller vouches for 512 readable bytes, which is 8 groups, and for AVX2.
        unsafe {
            let mut columns = [[_mm256_setzero_si256(); 8]; 2];
            for_each!(0..8, |g| {
                let [first, second] = Self::split_group(row.add(8 * g));
                columns[0][g] = first;
                columns[1][g] = second;
            });
            columns
        }
    }

    #[inline(always)]
    unsafe fn join(columns: Self::Row, row: *mut u64) {
        // SAFETY: the caller vouches for 512 writable bytes, which is 8 groups, and for AVX2.
        unsafe {
            for_each!(0..8, |g| {
                Self::join_group([columns[0][g], columns[1][g]], row.add(8 * g));
            });
        }
    }

    #[inline(always)]
    unsafe fn split_group(group: *const u64) -> Self::Group {
        // SAFETY: the caller vouches for 2 readable vectors, and for AVX2.
        unsafe { transpose2([load(group, 0), load(group, 1)]) }
    }

    #[inline(always)]
    unsafe fn join_group(group: Self::Group, to: *mut u64) {
        // SAFETY: the caller vouches for 2 writable vectors, and for AVX2.
        unsafe {
            let [first, second] = transpose2(group);
            store(to, 0, first);
            store(to, 1, second);
        }
    }

    #[inline(always)]
    unsafe fn join_stream(columns: Self::Row, row: *mut u64) {
        // SAFETY: the caller vouches for 512 writable, aligned bytes, which is 16 vectors, and for
        // AVX2.
        unsafe {
            for_each!(0..8, |g| {
                let [first, second] = transpose2([columns[0][g], columns[1][g]]);
                stream(row, 2 * g, first);
                stream(row, 2 * g + 1, second);
            });
        }
    }

    #[inline(always)]
    unsafe fn in_memory(group: Self::Group) -> Self::Group {
        // SAFETY: the caller vouches for AVX2.
        unsafe { transpose2(group) }
    }

    #[inline(always)]
    unsafe fn stream(vector: __m256i, to: *mut u8) {
        // SAFETY: the caller vouches for an aligned, writable vector, and for AVX2.
        unsafe { stream(to, 0, vector) }
    }

    #[inline(always)]
    unsafe fn to_natural(vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { _mm256_permute4x64_epi64::<0b11_01_10_00>(vector) }
    }

    #[inline(always)]
    unsafe fn from_natural(vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { _mm256_permute4x64_epi64::<0b11_01_10_00>(vector) }
    }

    #[inline(always)]
    unsafe fn slide<const S: usize>(low: __m256i, high: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let middle = _mm256_permute2x128_si256::<0x21>(low, high);
            match S {
                1 => _mm256_alignr_epi8::<8>(high, middle),
                2 => middle,
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn earlier<const S: usize>(low: __m256i, high: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            // Lane 2h + p is chunk 2p + h.
            let before = _mm256_alignr_epi8::<8>(high, low);
            match S {
                1 => _mm256_permute2x128_si256::<0x21>(before, high),
                2 => before,
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn blend<const S: usize>(low: __m256i, high: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            match S {
                1 => _mm256_blend_epi32::<0b1111_1100>(low, high),
                2 => _mm256_blend_epi32::<0b1100_1100>(low, high),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn halve(low: __m256i, high: __m256i) -> (__m256i, __m256i) {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let [even, odd] = transpose2([low, high]);
            (
                _mm256_permute4x64_epi64::<0b11_01_10_00>(even),
                _mm256_permute4x64_epi64::<0b11_01_10_00>(odd),
            )
        }
    }

    #[inline(always)]
    unsafe fn halve_split(low: __m256i, high: __m256i) -> (__m256i, __m256i) {
        // SAFETY: the caller vouches for AVX2.
        unsafe { halve_split(low, high) }
    }

    #[inline(always)]
    unsafe fn splat(word: u64) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { _mm256_set1_epi64x(word as i64) }
    }

    #[inline(always)]
    unsafe fn gather(from: *const u8, places: &[u32; CHUNKS]) -> Self::Row {
        // SAFETY: the caller vouches for 16 readable bytes at each place, and for AVX2.
        unsafe {
            let chunk = |i: usize| from.add(places[i] as usize);
            let mut columns = [[_mm256_setzero_si256(); 8]; 2];
            for_each!(0..8, |g| {
                let loaded = array(|i| {
                    let i = 4 * g + 2 * i;
                    load_chunks(chunk(i), chunk(i + 1))
                });
                let group = transpose2(loaded);
                for_each!(0..group.len(), |c| {
                    columns[c][g] = group[c];
                });
            });
            columns
        }
    }

    #[inline(always)]
    unsafe fn scatter(columns: Self::Row, to: *mut u8, places: &[u32; CHUNKS]) {
        // SAFETY: the caller vouches for 16 writable bytes at each place, and for AVX2.
        unsafe {
            let chunk = |i: usize| to.add(places[i] as usize);
            for_each!(0..8, |g| {
                let vectors = transpose2(map(columns, |column| column[g]));
                for_each!(0..vectors.len(), |i| {
                    let first = 4 * g + 2 * i;
                    store_chunks(vectors[i], chunk(first), chunk(first + 1));
                });
            });
        }
    }

    #[inline(always)]
    unsafe fn mask(bits: u32, g: usize) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let up = _mm256_setr_epi64x(63, 62, 61, 60);
            let up = _mm256_sub_epi64(up, _mm256_set1_epi64x(4 * g as i64));
            _mm256_sllv_epi64(_mm256_set1_epi64x(bits.into()), up)
        }
    }

    #[inline(always)]
    unsafe fn select(mask: __m256i, ones: __m256i, zeros: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let cast = |vector| _mm256_castsi256_pd(vector);
            _mm256_castpd_si256(_mm256_blendv_pd(cast(zeros), cast(ones), cast(mask)))
        }
    }

    #[inline(always)]
    unsafe fn opaque(vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { opaque(vector) }
    }
}
