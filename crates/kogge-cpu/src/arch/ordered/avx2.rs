//! AVX2: two lanes of 16 bytes.

use super::Ordered;
use crate::arch::avx2::opaque;
use core::arch::x86_64::*;

/// Vectors of AVX2.
#[derive(Clone, Copy)]
pub(crate) struct V;

/// The last element of each lane throughout the lane.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn last_of_lanes<const S: usize>(vector: __m256i) -> __m256i {
    match S {
        1 => _mm256_shuffle_epi8(vector, _mm256_set1_epi8(15)),
        2 => _mm256_shuffle_epi8(vector, _mm256_set1_epi16(0x0f0e)),
        4 => _mm256_shuffle_epi32::<0b11_11_11_11>(vector),
        8 => _mm256_shuffle_epi32::<0b11_10_11_10>(vector),
        _ => unreachable!(),
    }
}

// SAFETY: `__m256i` is 32 plain bytes.
unsafe impl Ordered for V {
    type Vector = __m256i;
    const BYTES: usize = 32;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> __m256i {
        // SAFETY: readable by contract; `loadu` asks for no alignment.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(vector: __m256i, to: *mut u8) {
        // SAFETY: writable by contract; `storeu` asks for no alignment.
        unsafe { _mm256_storeu_si256(to.cast(), vector) }
    }

    #[inline(always)]
    unsafe fn stream(vector: __m256i, to: *mut u8) {
        // SAFETY: writable and aligned by contract.
        unsafe { _mm256_stream_si256(to.cast(), vector) }
    }

    #[inline(always)]
    unsafe fn up<const S: usize>(fill: __m256i, vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            match S {
                1 => _mm256_alignr_epi8::<15>(vector, fill),
                2 => _mm256_alignr_epi8::<14>(vector, fill),
                4 => _mm256_alignr_epi8::<12>(vector, fill),
                8 => _mm256_alignr_epi8::<8>(vector, fill),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn across<const S: usize>(fill: __m256i, vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { _mm256_permute2x128_si256::<0x20>(fill, last_of_lanes::<S>(vector)) }
    }

    #[inline(always)]
    unsafe fn last<const S: usize>(vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            match S {
                8 => _mm256_permute4x64_epi64::<0b11_11_11_11>(vector),
                _ => _mm256_permute4x64_epi64::<0b11_11_11_11>(last_of_lanes::<S>(vector)),
            }
        }
    }

    #[inline(always)]
    unsafe fn opaque(vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { opaque(vector) }
    }
}
