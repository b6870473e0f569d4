//! 4-byte words, 16 to a vector, and halves that are widened to them.

use super::align::{align8, align32};
use super::memory::{load, load_chunks, store, stream};
use super::transpose::transpose4;
use super::turn::Turn;
use super::{Simd, opaque, opaque_mask};
use crate::arch::{CHUNKS, Words};
use crate::array::{array, for_each, map};
use core::arch::x86_64::*;

/// 4-byte words, 16 to a vector.
#[derive(Clone, Copy)]
pub(crate) struct W32;

/// The bits of values `f32`, rounded to `f16`, as words.
#[target_feature(enable = "avx512f")]
#[inline]
fn half_bits(values: __m512i) -> __m512i {
    let halves = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm512_castsi512_ps(values));
    _mm512_cvtepu16_epi32(halves)
}

// SAFETY: `__m512i` is 16 plain words; 2 make a column of 32, 4 columns a row.
unsafe impl Words for W32 {
    type Word = u32;
    type Vector = __m512i;
    type Column = [__m512i; 2];
    type Simd = Simd;
    type Row = [[__m512i; 2]; 4];
    type Turn = Turn;
    type Group = [__m512i; 4];

    const LANES: usize = 16;
    const TURNS: bool = true;

    #[inline(always)]
    unsafe fn split(row: *const u32) -> Self::Row {
        // SAFETY: the caller vouches for 512 readable bytes, which is 2 groups, and for AVX-512.
        unsafe {
            let mut columns = [[_mm512_setzero_si512(); 2]; 4];
            for_each!(0..2, |g| {
                let group = Self::split_group(row.add(64 * g));
                for_each!(0..group.len(), |c| {
                    columns[c][g] = group[c];
                });
            });
            columns
        }
    }

    #[inline(always)]
    unsafe fn join(columns: Self::Row, row: *mut u32) {
        // SAFETY: the caller vouches for 512 writable bytes, which is 2 groups, and for AVX-512.
        unsafe {
            for_each!(0..2, |g| {
                Self::join_group(map(columns, |column| column[g]), row.add(64 * g));
            });
        }
    }

    #[inline(always)]
    unsafe fn split_group(group: *const u32) -> Self::Group {
        // SAFETY: the caller vouches for 4 readable vectors, and for AVX-512.
        unsafe { transpose4(array(|i| load(group, i))) }
    }

    #[inline(always)]
    unsafe fn join_group(group: Self::Group, to: *mut u32) {
        // SAFETY: the caller vouches for 4 writable vectors, and for AVX-512.
        unsafe {
            let vectors = transpose4(group);
            for_each!(0..vectors.len(), |i| {
                store(to, i, vectors[i]);
            });
        }
    }

    #[inline(always)]
    unsafe fn join_stream(columns: Self::Row, row: *mut u32) {
        // SAFETY: the caller vouches for 512 writable, aligned bytes, which is 8 vectors, and for
        // AVX-512.
        unsafe {
            for_each!(0..2, |g| {
                let vectors = transpose4(map(columns, |column| column[g]));
                for_each!(0..vectors.len(), |i| {
                    stream(row, 4 * g + i, vectors[i]);
                });
            });
        }
    }

    #[inline(always)]
    unsafe fn in_memory(group: Self::Group) -> Self::Group {
        // SAFETY: the caller vouches for AVX-512.
        unsafe { transpose4(group) }
    }

    #[inline(always)]
    unsafe fn stream(vector: __m512i, to: *mut u8) {
        // SAFETY: the caller vouches for an aligned, writable vector, and for AVX-512.
        unsafe { stream(to, 0, vector) }
    }

    #[inline(always)]
    unsafe fn to_natural(vector: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
            _mm512_permutexvar_epi32(order, vector)
        }
    }

    #[inline(always)]
    unsafe fn from_natural(vector: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
            _mm512_permutexvar_epi32(order, vector)
        }
    }

    #[inline(always)]
    unsafe fn slide<const S: usize>(low: __m512i, high: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            match S {
                1 => align32::<15>(high, low),
                2 => align32::<14>(high, low),
                3 => align32::<13>(high, low),
                4 => align32::<12>(high, low),
                8 => align32::<8>(high, low),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn earlier<const S: usize>(low: __m512i, high: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            // Lane 4q + p is chunk 4p + q. Places in `low` are those from 16 on.
            let one = _mm512_setr_epi32(31, 12, 13, 14, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
            let two = _mm512_setr_epi32(27, 8, 9, 10, 31, 12, 13, 14, 0, 1, 2, 3, 4, 5, 6, 7);
            match S {
                1 => _mm512_permutex2var_epi32(high, one, low),
                2 => _mm512_permutex2var_epi32(high, two, low),
                4 => align8::<12>(high, low),
                8 => align8::<8>(high, low),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn blend<const S: usize>(low: __m512i, high: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            let first = match S {
                1 => 0x0001,
                2 => 0x0011,
                4 => 0x1111,
                8 => 0x3333,
                _ => unreachable!(),
            };
            _mm512_mask_mov_epi32(high, opaque_mask(first), low)
        }
    }

    #[inline(always)]
    unsafe fn widen_f16(pairs: __m512i) -> [__m512i; 2] {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            let even = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(pairs));
            let odd = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_srli_epi32::<16>(pairs)));
            [_mm512_castps_si512(even), _mm512_castps_si512(odd)]
        }
    }

    #[inline(always)]
    unsafe fn narrow_f16(values: [__m512i; 2]) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            let even = half_bits(values[0]);
            let odd = half_bits(values[1]);
            _mm512_or_si512(even, _mm512_slli_epi32::<16>(odd))
        }
    }

    #[inline(always)]
    unsafe fn halve(low: __m512i, high: __m512i) -> (__m512i, __m512i) {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
            let odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
            (_mm512_permutex2var_epi32(low, even, high), _mm512_permutex2var_epi32(low, odd, high))
        }
    }

    #[inline(always)]
    unsafe fn halve_split(low: __m512i, high: __m512i) -> (__m512i, __m512i) {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            let even = _mm512_setr_epi32(0, 8, 1, 9, 2, 10, 3, 11, 16, 24, 17, 25, 18, 26, 19, 27);
            let odd = _mm512_setr_epi32(4, 12, 5, 13, 6, 14, 7, 15, 20, 28, 21, 29, 22, 30, 23, 31);
            (_mm512_permutex2var_epi32(low, even, high), _mm512_permutex2var_epi32(low, odd, high))
        }
    }

    #[inline(always)]
    unsafe fn splat(word: u32) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe { _mm512_set1_epi32(word as i32) }
    }

    #[inline(always)]
    unsafe fn gather(from: *const u8, places: &[u32; CHUNKS]) -> Self::Row {
        // SAFETY: the caller vouches for 16 readable bytes at each place, and for AVX-512.
        unsafe {
            let mut columns = [[_mm512_setzero_si512(); 2]; 4];
            for_each!(0..2, |g| {
                let loaded = array(|i| {
                    let first = 16 * g + 4 * i;
                    load_chunks(array(|i| from.add(places[first + i] as usize)))
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
    unsafe fn mask(bits: u32, g: usize) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe { _mm512_movm_epi32((bits >> (16 * g)) as __mmask16) }
    }

    #[inline(always)]
    unsafe fn select(mask: __m512i, ones: __m512i, zeros: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512. As numbers: so the compiler makes one instruction
        // of it and the sum of floats that is selected.
        unsafe {
            let [zeros, ones] = map([zeros, ones], |vector| _mm512_castsi512_ps(vector));
            _mm512_castps_si512(_mm512_mask_mov_ps(zeros, _mm512_movepi32_mask(mask), ones))
        }
    }

    #[inline(always)]
    unsafe fn opaque(vector: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe { opaque(vector) }
    }
}
