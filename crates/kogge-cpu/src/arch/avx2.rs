//! AVX2: 32-byte vectors of two 16-byte lanes.
//!
//! A vector loads two chunks. Unpacking works within the 16-byte lanes, so after the transposition
//! a column's even chunks lie in the low halves and its odd ones in the high halves.

use super::{Words, Work};
use crate::array::{array, map};
use core::arch::asm;
use core::arch::x86_64::*;

/// Whether this CPU has what the level needs.
pub(super) fn present() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("f16c")
}

/// Does the work, compiled for AVX2.
#[target_feature(enable = "avx2,fma,bmi2,f16c")]
pub(super) fn run<W: Work>(work: W) -> W::Output {
    // SAFETY: this function is compiled for, and only reached with, the features of both types.
    unsafe { work.run::<W32, W64>() }
}

/// 4-byte words, 8 to a vector.
#[derive(Clone, Copy)]
pub(crate) struct W32;

/// 8-byte words, 4 to a vector.
#[derive(Clone, Copy)]
pub(crate) struct W64;

/// The bits of values `f32`, rounded to `f16`, as words.
#[target_feature(enable = "avx2,f16c")]
#[inline]
fn half_bits(values: __m256i) -> __m256i {
    let halves = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_castsi256_ps(values));
    _mm256_cvtepu16_epi32(halves)
}

/// Transposes the 4×4 words of each 16-byte lane; its own inverse.
#[target_feature(enable = "avx2")]
#[inline]
fn transpose4(v: [__m256i; 4]) -> [__m256i; 4] {
    let (a, b) = (_mm256_unpacklo_epi32(v[0], v[1]), _mm256_unpackhi_epi32(v[0], v[1]));
    let (c, d) = (_mm256_unpacklo_epi32(v[2], v[3]), _mm256_unpackhi_epi32(v[2], v[3]));
    [
        _mm256_unpacklo_epi64(a, c),
        _mm256_unpackhi_epi64(a, c),
        _mm256_unpacklo_epi64(b, d),
        _mm256_unpackhi_epi64(b, d),
    ]
}

/// Transposes the 2×2 words of each 16-byte lane; its own inverse.
#[target_feature(enable = "avx2")]
#[inline]
fn transpose2(v: [__m256i; 2]) -> [__m256i; 2] {
    [_mm256_unpacklo_epi64(v[0], v[1]), _mm256_unpackhi_epi64(v[0], v[1])]
}

/// # Safety
///
/// 32 bytes must be readable at the `i`-th vector.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn load<T>(row: *const T, i: usize) -> __m256i {
    // SAFETY: readable by contract; `loadu` asks for no alignment.
    unsafe { _mm256_loadu_si256(row.cast::<__m256i>().add(i)) }
}

/// # Safety
///
/// 32 bytes must be writable at the `i`-th vector.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn store<T>(row: *mut T, i: usize, vector: __m256i) {
    // SAFETY: writable by contract; `storeu` asks for no alignment.
    unsafe { _mm256_storeu_si256(row.cast::<__m256i>().add(i), vector) }
}

/// # Safety
///
/// 32 bytes must be writable at the `i`-th vector, which is aligned to as many.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn stream<T>(row: *mut T, i: usize, vector: __m256i) {
    // SAFETY: writable and aligned by contract.
    unsafe { _mm256_stream_si256(row.cast::<__m256i>().add(i), vector) }
}

#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn opaque(mut vector: __m256i) -> __m256i {
    // SAFETY: no instruction at all; the register comes back as it was.
    unsafe {
        asm!("/* {0} */", inout(ymm_reg) vector, options(pure, nomem, nostack, preserves_flags))
    }
    vector
}

// SAFETY: `__m256i` is 8 plain words; 4 make a column of 32, 4 columns a row.
unsafe impl Words for W32 {
    type Word = u32;
    type Vector = __m256i;
    type Column = [__m256i; 4];
    type Ordered = super::ordered::avx2::V;
    type Row = [[__m256i; 4]; 4];

    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn split(row: *const u32) -> Self::Row {
        // SAFETY: the caller vouches for 512 readable bytes, which is 16 vectors, and for AVX2.
        unsafe {
            let mut columns = [[_mm256_setzero_si256(); 4]; 4];
            for g in 0..4 {
                let loaded = array(|i| load(row, 4 * g + i));
                for (column, vector) in columns.iter_mut().zip(transpose4(loaded)) {
                    column[g] = vector;
                }
            }
            columns
        }
    }

    #[inline(always)]
    unsafe fn join(columns: Self::Row, row: *mut u32) {
        // SAFETY: the caller vouches for 512 writable bytes, which is 16 vectors, and for AVX2.
        unsafe {
            for g in 0..4 {
                let vectors = transpose4(map(columns, |column| column[g]));
                for (i, vector) in vectors.into_iter().enumerate() {
                    store(row, 4 * g + i, vector);
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn join_stream(columns: Self::Row, row: *mut u32) {
        // SAFETY: the caller vouches for 512 writable, aligned bytes, which is 16 vectors, and for AVX2.
        unsafe {
            for g in 0..4 {
                let vectors = transpose4(map(columns, |column| column[g]));
                for (i, vector) in vectors.into_iter().enumerate() {
                    stream(row, 4 * g + i, vector);
                }
            }
        }
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
    unsafe fn blend<const S: usize>(low: __m256i, high: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            match S {
                1 => _mm256_blend_epi32::<0b1111_1110>(low, high),
                2 => _mm256_blend_epi32::<0b1111_1100>(low, high),
                4 => _mm256_blend_epi32::<0b1111_0000>(low, high),
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
    unsafe fn splat(word: u32) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { _mm256_set1_epi32(word as i32) }
    }

    #[inline(always)]
    unsafe fn stream_line(from: *const u8, to: *mut u8) {
        // SAFETY: readable, writable and aligned by contract; the caller vouches for AVX2.
        unsafe {
            for i in 0..2 {
                _mm256_stream_si256(to.cast::<__m256i>().add(i), load(from, i));
            }
        }
    }

    #[inline(always)]
    unsafe fn opaque(vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { opaque(vector) }
    }
}

// SAFETY: `__m256i` is 4 plain words; 8 make a column of 32, 2 columns a row.
unsafe impl Words for W64 {
    type Word = u64;
    type Vector = __m256i;
    type Column = [__m256i; 8];
    type Ordered = super::ordered::avx2::V;
    type Row = [[__m256i; 8]; 2];

    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn split(row: *const u64) -> Self::Row {
        // SAFETY: the caller vouches for 512 readable bytes, which is 16 vectors, and for AVX2.
        unsafe {
            let mut columns = [[_mm256_setzero_si256(); 8]; 2];
            for g in 0..8 {
                let [first, second] = transpose2([load(row, 2 * g), load(row, 2 * g + 1)]);
                columns[0][g] = first;
                columns[1][g] = second;
            }
            columns
        }
    }

    #[inline(always)]
    unsafe fn join(columns: Self::Row, row: *mut u64) {
        // SAFETY: the caller vouches for 512 writable bytes, which is 16 vectors, and for AVX2.
        unsafe {
            for g in 0..8 {
                let [first, second] = transpose2([columns[0][g], columns[1][g]]);
                store(row, 2 * g, first);
                store(row, 2 * g + 1, second);
            }
        }
    }

    #[inline(always)]
    unsafe fn join_stream(columns: Self::Row, row: *mut u64) {
        // SAFETY: the caller vouches for 512 writable, aligned bytes, which is 16 vectors, and for AVX2.
        unsafe {
            for g in 0..8 {
                let [first, second] = transpose2([columns[0][g], columns[1][g]]);
                stream(row, 2 * g, first);
                stream(row, 2 * g + 1, second);
            }
        }
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
    unsafe fn blend<const S: usize>(low: __m256i, high: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            match S {
                1 => _mm256_blend_epi32::<0b1111_1100>(low, high),
                2 => _mm256_blend_epi32::<0b1111_0000>(low, high),
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
    unsafe fn splat(word: u64) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { _mm256_set1_epi64x(word as i64) }
    }

    #[inline(always)]
    unsafe fn stream_line(from: *const u8, to: *mut u8) {
        // SAFETY: readable, writable and aligned by contract; the caller vouches for AVX2.
        unsafe {
            for i in 0..2 {
                _mm256_stream_si256(to.cast::<__m256i>().add(i), load(from, i));
            }
        }
    }

    #[inline(always)]
    unsafe fn opaque(vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { opaque(vector) }
    }
}
