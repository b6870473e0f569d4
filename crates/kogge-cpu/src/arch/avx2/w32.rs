//! 4-byte words, 8 to a vector, and halves that are widened to them.

use super::memory::{load, load_chunks, store, store_chunks, stream};
use super::transpose::{halve_split, transpose4};
use super::turn::Turn;
use super::{Simd, opaque};
use crate::arch::{CHUNKS, Words};
use crate::array::{array, for_each, map};
use core::arch::x86_64::*;

/// 4-byte words, 8 to a vector.
#[derive(Clone, Copy)]
pub(crate) struct W32;

// SAFETY: `__m256i` is 8 plain words; 4 make a column of 32, 4 columns a row.
unsafe impl Words for W32 {
    type Word = u32;
    type Vector = __m256i;
    type Column = [__m256i; 4];
    type Simd = Simd;
    type Row = [[__m256i; 4]; 4];
    type Turn = Turn;
    type Group = [__m256i; 4];

    const LANES: usize = 8;
    const TURNS: bool = true;

    #[inline(always)]
    unsafe fn split(row: *const u32) -> Self::Row {
        // SAFETY: the caller vouches for 512 readable bytes, which is 4 groups, and for AVX2.
        unsafe {
            let mut columns = [[_mm256_setzero_si256(); 4]; 4];
            for_each!(0..4, |g| {
                let group = Self::split_group(row.add(32 * g));
                for_each!(0..group.len(), |c| {
                    columns[c][g] = group[c];
                });
            });
            columns
        }
    }

    #[inline(always)]
    unsafe fn join(columns: Self::Row, row: *mut u32) {
        // SAFETY: the caller vouches for 512 writable bytes, which is 4 groups, and for AVX2.
        unsafe {
            for_each!(0..4, |g| {
                Self::join_group(map(columns, |column| column[g]), row.add(32 * g));
            });
        }
    }

    #[inline(always)]
    unsafe fn split_group(group: *const u32) -> Self::Group {
        // SAFETY: the caller vouches for 4 readable vectors, and for AVX2.
        unsafe { transpose4(array(|i| load(group, i))) }
    }

    #[inline(always)]
    unsafe fn join_group(group: Self::Group, to: *mut u32) {
        // SAFETY: the caller vouches for 4 writable vectors, and for AVX2.
        unsafe {
            let vectors = transpose4(group);
            for_each!(0..vectors.len(), |i| {
                store(to, i, vectors[i]);
            });
        }
    }

    #[inline(always)]
    unsafe fn join_stream(columns: Self::Row, row: *mut u32) {
        // SAFETY: the caller vouches for 512 writable, aligned bytes, which is 16 vectors, and for
        // AVX2.
        unsafe {
            for_each!(0..4, |g| {
                let vectors = transpose4(map(columns, |column| column[g]));
                for_each!(0..vectors.len(), |i| {
                    stream(row, 4 * g + i, vectors[i]);
                });
            });
        }
    }

    #[inline(always)]
    unsafe fn in_memory(group: Self::Group) -> Self::Group {
        // SAFETY: the caller vouches for AVX2.
        unsafe { transpose4(group) }
    }

    #[inline(always)]
    unsafe fn stream(vector: __m256i, to: *mut u8) {
        // SAFETY: the caller vouches for an aligned, writable vector, and for AVX2.
        unsafe { stream(to, 0, vector) }
    }

    #[inline(always)]
    unsafe fn to_natural(vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { _mm256_permutevar8x32_epi32(vector, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)) }
    }

    #[inline(always)]
    unsafe fn from_natural(vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { _mm256_permutevar8x32_epi32(vector, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7)) }
    }

    #[inline(always)]
    unsafe fn slide<const S: usize>(low: __m256i, high: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let middle = _mm256_permute2x128_si256::<0x21>(low, high);
            match S {
                1 => _mm256_alignr_epi8::<12>(high, middle),
                2 => _mm256_alignr_epi8::<8>(high, middle),
                4 => middle,
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn earlier<const S: usize>(low: __m256i, high: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            // Lane 4h + p is chunk 2p + h.
            match S {
                1 => _mm256_permute2x128_si256::<0x21>(_mm256_alignr_epi8::<12>(high, low), high),
                2 => _mm256_alignr_epi8::<12>(high, low),
                4 => _mm256_alignr_epi8::<8>(high, low),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn blend<const S: usize>(low: __m256i, high: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            match S {
                1 => _mm256_blend_epi32::<0b1111_1110>(low, high),
                2 => _mm256_blend_epi32::<0b1110_1110>(low, high),
                4 => _mm256_blend_epi32::<0b1100_1100>(low, high),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn widen_f16(pairs: __m256i) -> [__m256i; 2] {
        // SAFETY: the caller vouches for AVX2 and F16C.
        unsafe {
            let evens = _mm256_and_si256(pairs, _mm256_set1_epi32(0xffff));
            let packed = _mm256_packus_epi32(evens, _mm256_srli_epi32::<16>(pairs));
            let packed = _mm256_permute4x64_epi64::<0b11_01_10_00>(packed);
            let even = _mm256_cvtph_ps(_mm256_castsi256_si128(packed));
            let odd = _mm256_cvtph_ps(_mm256_extracti128_si256::<1>(packed));
            [_mm256_castps_si256(even), _mm256_castps_si256(odd)]
        }
    }

    #[inline(always)]
    unsafe fn narrow_f16(values: [__m256i; 2]) -> __m256i {
        // SAFETY: the caller vouches for AVX2 and F16C.
        unsafe {
            let even = half_bits(values[0]);
            let odd = half_bits(values[1]);
            _mm256_or_si256(even, _mm256_slli_epi32::<16>(odd))
        }
    }

    #[inline(always)]
    unsafe fn halve(low: __m256i, high: __m256i) -> (__m256i, __m256i) {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
            let even = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(low, high));
            let odd = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(low, high));
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
    unsafe fn splat(word: u32) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { _mm256_set1_epi32(word as i32) }
    }

    #[inline(always)]
    unsafe fn gather(from: *const u8, places: &[u32; CHUNKS]) -> Self::Row {
        // SAFETY: the caller vouches for 16 readable bytes at each place, and for AVX2.
        unsafe {
            let chunk = |i: usize| from.add(places[i] as usize);
            let mut columns = [[_mm256_setzero_si256(); 4]; 4];
            for_each!(0..4, |g| {
                let loaded = array(|i| {
                    let i = 8 * g + 2 * i;
                    load_chunks(chunk(i), chunk(i + 1))
                });
                let group = transpose4(loaded);
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
            for_each!(0..4, |g| {
                let vectors = transpose4(map(columns, |column| column[g]));
                for_each!(0..vectors.len(), |i| {
                    let first = 8 * g + 2 * i;
                    store_chunks(vectors[i], chunk(first), chunk(first + 1));
                });
            });
        }
    }

    #[inline(always)]
    unsafe fn mask(bits: u32, g: usize) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let up = _mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24);
            let up = _mm256_sub_epi32(up, _mm256_set1_epi32(8 * g as i32));
            _mm256_sllv_epi32(_mm256_set1_epi32(bits as i32), up)
        }
    }

    #[inline(always)]
    unsafe fn select(mask: __m256i, ones: __m256i, zeros: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let cast = |vector| _mm256_castsi256_ps(vector);
            _mm256_castps_si256(_mm256_blendv_ps(cast(zeros), cast(ones), cast(mask)))
        }
    }

    #[inline(always)]
    unsafe fn opaque(vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { opaque(vector) }
    }
}

/// The bits of values `f32`, rounded to `f16`, as words.
#[target_feature(enable = "avx2,f16c")]
#[inline]
fn half_bits(values: __m256i) -> __m256i {
    let halves = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_castsi256_ps(values));
    _mm256_cvtepu16_epi32(halves)
}
