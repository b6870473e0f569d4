//! AVX-512: four lanes of 16 bytes.

use super::permute::four::{masked16, masked32, masked64, permuted16, permuted32, permuted64};
use super::permute::{joined32, joined64};
use super::{Items, LONGEST, Ordered};
use crate::arch::avx512::opaque;
use crate::arch::vectors::Vectors;
use core::arch::x86_64::*;

/// The widest vectors of AVX-512.
#[derive(Clone, Copy)]
pub(crate) struct V;

/// The last byte of each lane throughout the lane.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn last_of_lanes(vector: __m512i) -> __m512i {
    _mm512_shuffle_epi8(vector, _mm512_set1_epi8(15))
}

/// Indices of elements, 64 bits of them at a time: throughout the lower half, and the upper.
#[target_feature(enable = "avx512f")]
#[inline]
fn indices(low: i64, high: i64) -> __m512i {
    _mm512_setr_epi64(low, low, low, low, high, high, high, high)
}

// SAFETY: `__m512i` is 64 plain bytes.
unsafe impl Vectors for V {
    type Vector = __m512i;
    const BYTES: usize = 64;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> __m512i {
        // SAFETY: readable by contract, at any alignment; the caller vouches for AVX-512.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(vector: __m512i, to: *mut u8) {
        // SAFETY: writable by contract, at any alignment; the caller vouches for AVX-512.
        unsafe { _mm512_storeu_si512(to.cast(), vector) }
    }

    #[inline(always)]
    unsafe fn stream(vector: __m512i, to: *mut u8) {
        // SAFETY: writable and aligned by contract; the caller vouches for AVX-512.
        unsafe { _mm512_stream_si512(to.cast(), vector) }
    }

    #[inline(always)]
    unsafe fn opaque(vector: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe { opaque(vector) }
    }
}

// SAFETY: as above.
unsafe impl Ordered for V {
    #[inline(always)]
    unsafe fn up<const S: usize>(fill: __m512i, vector: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            match S {
                1 => _mm512_alignr_epi8::<15>(vector, fill),
                2 => _mm512_alignr_epi8::<14>(vector, fill),
                4 => _mm512_alignr_epi8::<12>(vector, fill),
                8 => _mm512_alignr_epi8::<8>(vector, fill),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn across<const S: usize>(fill: __m512i, vector: __m512i) -> __m512i {
        const ODD: u8 = 0b1100_1100;
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            match S {
                1 => {
                    let last = last_of_lanes(vector);
                    _mm512_mask_shuffle_i64x2::<0b10_10_00_00>(fill, ODD, last, last)
                }
                2 => masked16(
                    fill,
                    0xff00_ff00,
                    indices(0x0007_0007_0007_0007, 0x0017_0017_0017_0017),
                    vector,
                ),
                4 => masked32(fill, 0xf0f0, indices(3 << 32 | 3, 11 << 32 | 11), vector),
                8 => masked64(fill, ODD.into(), indices(1, 5), vector),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn halfway<const S: usize>(fill: __m512i, vector: __m512i) -> __m512i {
        const UPPER: u8 = 0b1111_0000;
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            match S {
                1 => {
                    let last = last_of_lanes(vector);
                    _mm512_mask_shuffle_i64x2::<0b01_01_01_01>(fill, UPPER, last, last)
                }
                2 => masked16(fill, 0xffff_0000, _mm512_set1_epi16(15), vector),
                4 => masked32(fill, 0xff00, _mm512_set1_epi32(7), vector),
                8 => masked64(fill, UPPER.into(), _mm512_set1_epi64(3), vector),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn last<const S: usize>(vector: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            match S {
                1 => {
                    let last = last_of_lanes(vector);
                    _mm512_shuffle_i64x2::<0b11_11_11_11>(last, last)
                }
                2 => permuted16(_mm512_set1_epi16(31), vector),
                4 => permuted32(_mm512_set1_epi32(15), vector),
                8 => permuted64(_mm512_set1_epi64(7), vector),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn pick(mask: __m512i, ones: __m512i, zeros: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe { _mm512_ternarylogic_epi64::<0b1100_1010>(mask, ones, zeros) }
    }
}

// SAFETY: as above.
unsafe impl Items for V {
    #[inline(always)]
    unsafe fn split<const I: usize>(low: __m512i, high: __m512i) -> [__m512i; 2] {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            match I {
                8 => [
                    joined64(low, high, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14)),
                    joined64(low, high, _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15)),
                ],
                16 => [
                    _mm512_shuffle_i64x2::<0b10_00_10_00>(low, high),
                    _mm512_shuffle_i64x2::<0b11_01_11_01>(low, high),
                ],
                32 => [
                    _mm512_shuffle_i64x2::<0b01_00_01_00>(low, high),
                    _mm512_shuffle_i64x2::<0b11_10_11_10>(low, high),
                ],
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn merge<const I: usize>(even: __m512i, odd: __m512i) -> [__m512i; 2] {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            match I {
                8 => [
                    joined64(even, odd, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11)),
                    joined64(even, odd, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15)),
                ],
                16 => [
                    joined64(even, odd, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11)),
                    joined64(even, odd, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15)),
                ],
                32 => Self::split::<32>(even, odd),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn later<const I: usize>(before: __m512i, vector: __m512i, n: usize) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            match n * I {
                8 => _mm512_alignr_epi64::<7>(vector, before),
                16 => _mm512_alignr_epi64::<6>(vector, before),
                32 => _mm512_alignr_epi64::<4>(vector, before),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn words(vector: __m512i, places: &[u32; LONGEST / 4]) -> __m512i {
        // SAFETY: the places are a vector at least; the caller vouches for AVX-512.
        unsafe { permuted32(_mm512_loadu_si512(places.as_ptr().cast()), vector) }
    }

    #[inline(always)]
    unsafe fn words_of_two(low: __m512i, high: __m512i, places: &[u32; LONGEST / 4]) -> __m512i {
        // SAFETY: the places are a vector; the caller vouches for AVX-512.
        unsafe { joined32(low, high, _mm512_loadu_si512(places.as_ptr().cast())) }
    }
}
