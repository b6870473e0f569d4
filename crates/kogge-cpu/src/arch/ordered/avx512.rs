//! AVX-512: the two lanes of AVX2, with moves between them in one instruction.
//!
//! Masked permutes are written as assembly: the compiler would make each a permute and a blend.

use super::Ordered;
use super::avx2::V as Narrower;
use core::arch::asm;
use core::arch::x86_64::*;

/// Vectors of AVX-512.
#[derive(Clone, Copy)]
pub(crate) struct V;

/// `$name(fill, mask, …, vector)`: the vector permuted where the mask is set, `fill` elsewhere.
macro_rules! masked {
    ($name:ident, $instruction:literal $(, $indices:ident)?) => {
        #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
        #[inline]
        fn $name(fill: __m256i, mask: u32, $($indices: __m256i,)? vector: __m256i) -> __m256i {
            let mut permuted = fill;
            // SAFETY: an instruction on registers alone, of AVX-512 for vectors of 32 bytes.
            unsafe {
                asm!(
                    $instruction,
                    permuted = inout(ymm_reg) permuted,
                    mask = in(kreg) mask,
                    vector = in(ymm_reg) vector,
                    $($indices = in(ymm_reg) $indices,)?
                    options(pure, nomem, nostack, preserves_flags)
                )
            }
            permuted
        }
    };
}

masked!(masked16, "vpermw {permuted}{{{mask}}}, {indices}, {vector}", indices);
masked!(masked32, "vpermd {permuted}{{{mask}}}, {indices}, {vector}", indices);
masked!(masked64, "vpermq {permuted}{{{mask}}}, {vector}, 0x55");

// SAFETY: `__m256i` is 32 plain bytes.
unsafe impl Ordered for V {
    type Vector = __m256i;
    const BYTES: usize = 32;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> __m256i {
        // SAFETY: passed on.
        unsafe { Narrower::load(from) }
    }

    #[inline(always)]
    unsafe fn store(vector: __m256i, to: *mut u8) {
        // SAFETY: passed on.
        unsafe { Narrower::store(vector, to) }
    }

    #[inline(always)]
    unsafe fn stream(vector: __m256i, to: *mut u8) {
        // SAFETY: passed on.
        unsafe { Narrower::stream(vector, to) }
    }

    #[inline(always)]
    unsafe fn up<const S: usize>(fill: __m256i, vector: __m256i) -> __m256i {
        // SAFETY: passed on.
        unsafe { Narrower::up::<S>(fill, vector) }
    }

    #[inline(always)]
    unsafe fn across<const S: usize>(fill: __m256i, vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            match S {
                2 => masked16(fill, 0xff00, _mm256_set1_epi16(7), vector),
                4 => masked32(fill, 0xf0, _mm256_set1_epi32(3), vector),
                8 => masked64(fill, 0b1100, vector),
                _ => Narrower::across::<S>(fill, vector),
            }
        }
    }

    #[inline(always)]
    unsafe fn last<const S: usize>(vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            match S {
                2 => _mm256_permutexvar_epi16(_mm256_set1_epi16(15), vector),
                4 => _mm256_permutexvar_epi32(_mm256_set1_epi32(7), vector),
                _ => Narrower::last::<S>(vector),
            }
        }
    }

    #[inline(always)]
    unsafe fn after<const S: usize>(before: __m256i, vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            match S {
                4 => _mm256_alignr_epi32::<7>(vector, before),
                8 => _mm256_alignr_epi64::<3>(vector, before),
                _ => Narrower::after::<S>(before, vector),
            }
        }
    }

    #[inline(always)]
    unsafe fn opaque(vector: __m256i) -> __m256i {
        // SAFETY: passed on.
        unsafe { Narrower::opaque(vector) }
    }
}
