//! AVX-512: the two lanes of AVX2, with moves between them in one instruction.

use super::avx2::V as Narrower;
use super::permute::two::{masked16, masked32, masked64, permuted16, permuted32, permuted64};
use super::{Crosswise, Masked, Ordered};
use crate::arch::vectors::Vectors;
use core::arch::x86_64::*;

/// Vectors of AVX-512.
#[derive(Clone, Copy)]
pub(crate) struct V;

// SAFETY: `__m256i` is 32 plain bytes.
unsafe impl Vectors for V {
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
    unsafe fn opaque(vector: __m256i) -> __m256i {
        // SAFETY: passed on.
        unsafe { Narrower::opaque(vector) }
    }
}

// SAFETY: as above.
unsafe impl Ordered for V {
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
                8 => masked64(fill, 0b1100, _mm256_set1_epi64x(1), vector),
                _ => Narrower::across::<S>(fill, vector),
            }
        }
    }

    #[inline(always)]
    unsafe fn last<const S: usize>(vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            match S {
                2 => permuted16(_mm256_set1_epi16(15), vector),
                4 => permuted32(_mm256_set1_epi32(7), vector),
                8 => permuted64(_mm256_set1_epi64x(3), vector),
                _ => Narrower::last::<S>(vector),
            }
        }
    }

    #[inline(always)]
    unsafe fn pick(mask: __m256i, ones: __m256i, zeros: __m256i) -> __m256i {
        // SAFETY: passed on.
        unsafe { Narrower::pick(mask, ones, zeros) }
    }
}

// SAFETY: as above.
unsafe impl Masked for V {
    #[inline(always)]
    unsafe fn shift<const S: usize>(before: __m256i, vector: __m256i) -> __m256i {
        // SAFETY: passed on.
        unsafe { Narrower::shift::<S>(before, vector) }
    }

    #[inline(always)]
    unsafe fn mask<const S: usize>(bits: &[u32; 2], g: usize) -> __m256i {
        // SAFETY: passed on.
        unsafe { Narrower::mask::<S>(bits, g) }
    }

    #[inline(always)]
    unsafe fn mask_last<const S: usize>(bits: &[u32; 2], g: usize) -> __m256i {
        // SAFETY: passed on.
        unsafe { Narrower::mask_last::<S>(bits, g) }
    }

    #[inline(always)]
    unsafe fn last_aside<const S: usize>(vector: __m256i) -> __m256i {
        // SAFETY: passed on.
        unsafe { Narrower::last_aside::<S>(vector) }
    }

    #[inline(always)]
    unsafe fn select<const S: usize>(mask: __m256i, ones: __m256i, zeros: __m256i) -> __m256i {
        // SAFETY: passed on.
        unsafe { Narrower::select::<S>(mask, ones, zeros) }
    }
}

// SAFETY: as above.
unsafe impl Crosswise for V {}
