//! Vectors of values turned to where vectors of memory begin.

use core::arch::x86_64::*;

/// From which lane each word comes, and which words come from the vector before.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    from: __m512i,
    first: __mmask16,
}

impl crate::arch::Turn for Turn {
    type Vector = __m512i;

    #[inline(always)]
    unsafe fn new(behind: usize) -> Self {
        let words = (behind / 4) as i32;
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            // Of an index the permute takes the lowest four bits.
            let from = _mm512_sub_epi32(lanes, _mm512_set1_epi32(words));
            Self { from, first: ((1u32 << words) - 1) as __mmask16 }
        }
    }

    #[inline(always)]
    unsafe fn turned(self, vector: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe { _mm512_permutexvar_epi32(self.from, vector) }
    }

    #[inline(always)]
    unsafe fn joined(self, first: __m512i, next: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe { _mm512_mask_mov_epi32(next, self.first, first) }
    }
}
