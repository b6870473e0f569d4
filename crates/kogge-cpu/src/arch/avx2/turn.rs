//! Vectors of values turned to where vectors of memory begin.

use core::arch::x86_64::*;

/// From which lane each word comes, and a mask of the words that come from the vector before.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    from: __m256i,
    first: __m256i,
}

impl crate::arch::Turn for Turn {
    type Vector = __m256i;

    #[inline(always)]
    unsafe fn new(behind: usize) -> Self {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let words = _mm256_set1_epi32((behind / 4) as i32);
            let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            // Of an index the permute takes the lowest three bits.
            Self { from: _mm256_sub_epi32(lanes, words), first: _mm256_cmpgt_epi32(words, lanes) }
        }
    }

    #[inline(always)]
    unsafe fn turned(self, vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { _mm256_permutevar8x32_epi32(vector, self.from) }
    }

    #[inline(always)]
    unsafe fn joined(self, first: __m256i, next: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { _mm256_blendv_epi8(next, first, self.first) }
    }
}
