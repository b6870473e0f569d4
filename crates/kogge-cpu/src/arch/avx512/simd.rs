//! What doesn't depend on the width of words: comparing, flags, lists of places.

use super::memory::load;
use crate::arch::avx2::Simd as Narrower;
use crate::array::for_each;
use core::arch::x86_64::*;

/// What AVX-512 has for words of any width.
#[derive(Clone, Copy)]
pub(crate) struct Simd;

// SAFETY: the methods do what the trait says.
unsafe impl crate::arch::Simd for Simd {
    type Masked = crate::arch::ordered::avx512::V;
    type Wide = crate::arch::ordered::wide::V;
    const WHERE_THEY_LIE: bool = true;

    #[inline(always)]
    unsafe fn stream_line(from: *const u8, to: *mut u8) {
        // SAFETY: readable, writable and aligned by contract; the caller vouches for AVX-512.
        unsafe { _mm512_stream_si512(to.cast::<__m512i>(), load(from, 0)) }
    }

    #[inline(always)]
    unsafe fn changes(words: &[u32; 65]) -> u64 {
        // Words are moved up and not loaded again: a vector of which they are a word ahead lies in
        // two lines of the cache.
        let mut changes = 0;
        // SAFETY: vectors of the array; the caller vouches for AVX-512.
        unsafe {
            let mut before = _mm512_set1_epi32(words[0] as i32);
            for_each!(0..4, |i| {
                let here = load(words[1..].as_ptr(), i);
                let left = _mm512_alignr_epi32::<15>(here, before);
                changes |= u64::from(_mm512_cmpneq_epi32_mask(here, left)) << (16 * i);
                before = here;
            });
        }
        changes
    }

    #[inline(always)]
    unsafe fn flagged(flags: &[u8; 64]) -> u64 {
        // SAFETY: readable; the caller vouches for AVX-512.
        unsafe {
            let flags = load(flags.as_ptr(), 0);
            _mm512_test_epi8_mask(flags, flags)
        }
    }

    #[inline(always)]
    unsafe fn list(places: u64, first: u32, scale: u32, to: *mut u32) -> usize {
        // SAFETY: the caller vouches for AVX2, which comes with AVX-512, and for the room.
        unsafe { Narrower::list(places, first, scale, to) }
    }

    #[inline(always)]
    unsafe fn compress(bits: u64, of: u64) -> u64 {
        // SAFETY: the caller vouches for BMI2.
        unsafe { _pext_u64(bits, of) }
    }
}
