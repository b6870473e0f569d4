//! 8-byte words, 8 to a vector.

use super::align::{align8, align64};
use super::memory::{load, load_chunks, store, stream};
use super::transpose::transpose2;
use super::turn::Turn;
use super::{Simd, opaque, opaque_mask};
use crate::arch::{CHUNKS, Words};
use crate::array::{array, for_each, map};
use core::arch::x86_64::*;

/// 8-byte words, 8 to a vector.
#[derive(Clone, Copy)]
pub(crate) struct W64;

// SAFETY: `__m512i` is 8 plain words; 4 make a column of 32, 2 columns a row.
unsafe impl Words for W64 {
    type Word = u64;
    type Vector = __m512i;
    type Column = [__m512i; 4];
    type Simd = Simd;
    type Row = [[__m512i; 4]; 2];
    type Turn = Turn;
    type Group = [__m512i; 2];

    const LANES: usize = 8;
    const TURNS: bool = true;

    #[inline(always)]
    unsafe fn split(row: *const u64) -> Self::Row {
        // SAFETY: the caller vouches for 512 readable bytes, which is 4 groups, and for AVX-512.
        unsafe {
            let mut columns = [[_mm512_setzero_si512(); 4]; 2];
            for_each!(0..4, |g| {
                let [first, second] = Self::split_group(row.add(16 * g));
                columns[0][g] = first;
                columns[1][g] = second;
            });
            columns
        }
    }

    #[inline(always)]
    unsafe fn join(columns: Self::Row, row: *mut u64) {
        // SAFETY: the caller vouches for 512 writable bytes, which is 4 groups, and for AVX-512.
        unsafe {
            for_each!(0..4, |g| {
                Self::join_group([columns[0][g], columns[1][g]], row.add(16 * g));
            });
        }
    }

    #[inline(always)]
    unsafe fn split_group(group: *const u64) -> Self::Group {
        // SAFETY: the caller vouches for 2 readable vectors, and for AVX-512.
        unsafe { transpose2([load(group, 0), load(group, 1)]) }
    }

    #[inline(always)]
    unsafe fn join_group(group: Self::Group, to: *mut u64) {
        // SAFETY: the caller vouches for 2 writable vectors, and for AVX-512.
        unsafe {
            let [first, second] = transpose2(group);
            store(to, 0, first);
            store(to, 1, second);
        }
    }

    #[inline(always)]
    unsafe fn join_stream(columns: Self::Row, row: *mut u64) {
        // SAFETY: the caller vouches for 512 writable, aligned bytes, which is 8 vectors, and for
        // AVX-512.
        unsafe {
            for_each!(0..4, |g| {
                let [first, second] = transpose2([columns[0][g], columns[1][g]]);
                stream(row, 2 * g, first);
                stream(row, 2 * g + 1, second);
            });
        }
    }

    #[inline(always)]
    unsafe fn in_memory(group: Self::Group) -> Self::Group {
        // SAFETY: the caller vouches for AVX-512.
        unsafe { transpose2(group) }
    }

    #[inline(always)]
    unsafe fn stream(vector: __m512i, to: *mut u8) {
        // SAFETY: the caller vouches for an aligned, writable vector, and for AVX-512.
        unsafe { stream(to, 0, vector) }
    }

    #[inline(always)]
    unsafe fn to_natural(vector: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe { _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), vector) }
    }

    #[inline(always)]
    unsafe fn from_natural(vector: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe { _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7), vector) }
    }

    #[inline(always)]
    unsafe fn slide<const S: usize>(low: __m512i, high: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            match S {
                1 => align64::<7>(high, low),
                2 => align64::<6>(high, low),
                4 => align64::<4>(high, low),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn earlier<const S: usize>(low: __m512i, high: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            // Lane 2q + p is chunk 4p + q. Places in `low` are those from 8 on.
            let one = _mm512_setr_epi64(15, 6, 0, 1, 2, 3, 4, 5);
            let two = _mm512_setr_epi64(13, 4, 15, 6, 0, 1, 2, 3);
            match S {
                1 => _mm512_permutex2var_epi64(high, one, low),
                2 => _mm512_permutex2var_epi64(high, two, low),
                4 => align8::<8>(high, low),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn blend<const S: usize>(low: __m512i, high: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            let first = match S {
                1 => 0x01,
                2 => 0x05,
                4 => 0x55,
                _ => unreachable!(),
            };
            _mm512_mask_mov_epi64(high, opaque_mask(first) as __mmask8, low)
        }
    }

    #[inline(always)]
    unsafe fn halve(low: __m512i, high: __m512i) -> (__m512i, __m512i) {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            let even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
            let odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
            (_mm512_permutex2var_epi64(low, even, high), _mm512_permutex2var_epi64(low, odd, high))
        }
    }

    #[inline(always)]
    unsafe fn halve_split(low: __m512i, high: __m512i) -> (__m512i, __m512i) {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            let even = _mm512_setr_epi64(0, 4, 1, 5, 8, 12, 9, 13);
            let odd = _mm512_setr_epi64(2, 6, 3, 7, 10, 14, 11, 15);
            (_mm512_permutex2var_epi64(low, even, high), _mm512_permutex2var_epi64(low, odd, high))
        }
    }

    #[inline(always)]
    unsafe fn splat(word: u64) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe { _mm512_set1_epi64(word as i64) }
    }

    #[inline(always)]
    unsafe fn gather(from: *const u8, places: &[u32; CHUNKS]) -> Self::Row {
        // SAFETY: the caller vouches for 16 readable bytes at each place, and for AVX-512.
        unsafe {
            let mut columns = [[_mm512_setzero_si512(); 4]; 2];
            for_each!(0..4, |g| {
                let loaded = array(|i| {
                    let first = 8 * g + 4 * i;
                    load_chunks(array(|i| from.add(places[first + i] as usize)))
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
    unsafe fn mask(bits: u32, g: usize) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe { _mm512_movm_epi64((bits >> (8 * g)) as __mmask8) }
    }

    #[inline(always)]
    unsafe fn select(mask: __m512i, ones: __m512i, zeros: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        // As numbers, as for narrower words.
        unsafe {
            let [zeros, ones] = map([zeros, ones], |vector| _mm512_castsi512_pd(vector));
            _mm512_castpd_si512(_mm512_mask_mov_pd(zeros, _mm512_movepi64_mask(mask), ones))
        }
    }

    #[inline(always)]
    unsafe fn opaque(vector: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe { opaque(vector) }
    }
}
