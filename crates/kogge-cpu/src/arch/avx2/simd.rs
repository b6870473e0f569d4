//! What doesn't depend on the width of words: comparing, flags, lists of places.

use super::memory::load;
use crate::arch::simd::SET;
use crate::array::{array, for_each};
use core::arch::x86_64::*;

/// What AVX2 has for words of any width.
#[derive(Clone, Copy)]
pub(crate) struct Simd;

// SAFETY: the methods do what the trait says.
unsafe impl crate::arch::Simd for Simd {
    type Masked = crate::arch::ordered::avx2::V;
    type Wide = crate::arch::ordered::avx2::V;

    #[inline(always)]
    unsafe fn stream_line(from: *const u8, to: *mut u8) {
        // SAFETY: readable, writable and aligned by contract; the caller vouches for AVX2.
        unsafe {
            for_each!(0..2, |i| {
                _mm256_stream_si256(to.cast::<__m256i>().add(i), load(from, i));
            });
        }
    }

    #[inline(always)]
    unsafe fn changes(words: &[u32; 65]) -> u64 {
        // SAFETY: the caller vouches for AVX2.
        unsafe { changes(words) }
    }

    #[inline(always)]
    unsafe fn flagged(flags: &[u8; 64]) -> u64 {
        // SAFETY: readable; the caller vouches for AVX2.
        unsafe {
            let [low, high] = array(|i| {
                // The top bit of a byte is what is asked for.
                let flags = _mm256_slli_epi16::<7>(load(flags.as_ptr(), i));
                u64::from(_mm256_movemask_epi8(flags) as u32)
            });
            low | high << 32
        }
    }

    #[inline(always)]
    unsafe fn list(places: u64, first: u32, scale: u32, to: *mut u32) -> usize {
        // SAFETY: the caller vouches for AVX2 and POPCNT, and for the room.
        unsafe { list(places, first, scale, to) }
    }

    #[inline(always)]
    unsafe fn compress(bits: u64, of: u64) -> u64 {
        // SAFETY: the caller vouches for BMI2.
        unsafe { _pext_u64(bits, of) }
    }
}

/// Compares words, as [`Simd::changes`](crate::arch::Simd::changes) does.
#[target_feature(enable = "avx2")]
#[inline]
fn changes(words: &[u32; 65]) -> u64 {
    let half = |half: usize| {
        let [a, b, c, d] = array(|i| {
            let i = 4 * half + i;
            // SAFETY: vectors of the array, and as many of those a word before.
            unsafe { _mm256_cmpeq_epi32(load(words[1..].as_ptr(), i), load(words.as_ptr(), i)) }
        });
        // Packing works within the 16-byte lanes, so that words of four bytes change places.
        let bytes = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
        let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
        !_mm256_movemask_epi8(_mm256_permutevar8x32_epi32(bytes, order)) as u32
    };
    u64::from(half(0)) | u64::from(half(1)) << 32
}

/// Lists places, as [`Simd::list`](crate::arch::Simd::list) does.
///
/// # Safety
///
/// As there.
#[target_feature(enable = "avx2,popcnt")]
#[inline]
unsafe fn list(places: u64, first: u32, scale: u32, mut to: *mut u32) -> usize {
    let scale = _mm_cvtsi32_si128(scale as i32);
    let eight = _mm256_sll_epi32(_mm256_set1_epi32(8), scale);
    let mut first = _mm256_sll_epi32(_mm256_set1_epi32(first as i32), scale);
    for byte in places.to_le_bytes() {
        let set = _mm_cvtsi64_si128(i64::from_le_bytes(SET[usize::from(byte)]));
        let set = _mm256_sll_epi32(_mm256_cvtepu8_epi32(set), scale);
        // SAFETY: room for eight by contract.
        unsafe {
            _mm256_storeu_si256(to.cast(), _mm256_add_epi32(first, set));
            to = to.add(byte.count_ones() as usize);
        }
        first = _mm256_add_epi32(first, eight);
    }
    places.count_ones() as usize
}
