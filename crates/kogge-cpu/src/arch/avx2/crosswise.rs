//! Lanes that run along memory, by AVX2.

use super::transpose::{halve_split, transpose2, transpose4};
use crate::arch::ordered::avx2::V;
use crate::arch::ordered::{Crosswise, EIGHT};
use crate::arch::vectors::Vectors;
use crate::array::{array, for_each};
use core::arch::x86_64::*;

/// 16 bytes at `from`, and as many `apart` bytes behind.
///
/// # Safety
///
/// They must be readable.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn two(from: *const u8, apart: usize) -> __m256i {
    // SAFETY: by contract; `loadu` asks for no alignment.
    unsafe {
        let low = _mm_loadu_si128(from.cast());
        _mm256_inserti128_si256::<1>(
            _mm256_castsi128_si256(low),
            _mm_loadu_si128(from.add(apart).cast()),
        )
    }
}

// SAFETY: `__m256i` is 32 plain bytes.
unsafe impl Crosswise for V {
    const CROSSWISE: bool = true;

    #[inline(always)]
    unsafe fn eight<const S: usize>(from: *const u8, apart: usize) -> [__m256i; EIGHT] {
        // SAFETY: the caller vouches for the elements and for AVX2.
        unsafe {
            match S {
                4 => {
                    let first = transpose4(array(|i| two(from.add(i * apart), 4 * apart)));
                    let next = transpose4(array(|i| two(from.add(i * apart + 16), 4 * apart)));
                    array(|k| if k < 4 { first[k] } else { next[k - 4] })
                }
                8 => {
                    let pairs: [[__m256i; 2]; 4] = array(|pair| {
                        let from = from.add(16 * pair);
                        transpose2([two(from, 2 * apart), two(from.add(apart), 2 * apart)])
                    });
                    array(|k| pairs[k / 2][k % 2])
                }
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn put_eight<const S: usize>(vectors: [__m256i; EIGHT], to: *mut u8, apart: usize) {
        let [a, b, c, d, e, f, g, h] = vectors;
        // SAFETY: the caller vouches for room for the elements and for AVX2.
        unsafe {
            match S {
                4 => {
                    let (first, next) = (transpose4([a, b, c, d]), transpose4([e, f, g, h]));
                    for_each!(0..4, |lane| {
                        let (low, high) = halve_split(first[lane], next[lane]);
                        V::store(low, to.add(lane * apart));
                        V::store(high, to.add((lane + 4) * apart));
                    });
                }
                8 => {
                    let [ab, cd] = [transpose2([a, b]), transpose2([c, d])];
                    let [ef, gh] = [transpose2([e, f]), transpose2([g, h])];
                    for_each!(0..2, |lane| {
                        let first = halve_split(ab[lane], cd[lane]);
                        let next = halve_split(ef[lane], gh[lane]);
                        let (low, high) = (to.add(lane * apart), to.add((lane + 2) * apart));
                        V::store(first.0, low);
                        V::store(next.0, low.add(32));
                        V::store(first.1, high);
                        V::store(next.1, high.add(32));
                    });
                }
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn bit<const S: usize>(bits: __m256i, k: usize) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            match S {
                4 => _mm256_sll_epi32(bits, _mm_cvtsi32_si128(31 - k as i32)),
                8 => _mm256_sll_epi64(bits, _mm_cvtsi32_si128(63 - k as i32)),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn after_eight<const S: usize>(bits: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            match S {
                4 => _mm256_srli_epi32::<{ EIGHT as i32 }>(bits),
                8 => _mm256_srli_epi64::<{ EIGHT as i32 }>(bits),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn begun<const S: usize>(bits: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            match S {
                4 => _mm256_or_si256(bits, _mm256_set1_epi32(1)),
                8 => _mm256_or_si256(bits, _mm256_set1_epi64x(1)),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn below<const S: usize>(bits: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let ones = _mm256_set1_epi32(-1);
            let less = match S {
                4 => _mm256_add_epi32(bits, ones),
                8 => _mm256_add_epi64(bits, ones),
                _ => unreachable!(),
            };
            _mm256_andnot_si256(bits, less)
        }
    }

    #[inline(always)]
    unsafe fn any<const S: usize>(bits: __m256i) -> u32 {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let none = _mm256_setzero_si256();
            let none = match S {
                4 => _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(bits, none))) ^ 0xff,
                8 => _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(bits, none))) ^ 0xf,
                _ => unreachable!(),
            };
            none as u32
        }
    }
}
