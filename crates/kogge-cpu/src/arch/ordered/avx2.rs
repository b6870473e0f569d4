//! AVX2: two lanes of 16 bytes.

use super::{Items, LONGEST, Masked, Ordered};
use crate::arch::avx2::opaque;
use crate::arch::vectors::Vectors;
use core::arch::asm;
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

/// The last element throughout the vector, by way of memory: moves between lanes take the one port
/// that masks are made on.
#[target_feature(enable = "avx2")]
#[inline]
fn last_from_memory<const S: usize>(vector: __m256i) -> __m256i {
    let room = [vector];
    let from = room.as_ptr();
    let last: __m256i;
    // SAFETY: the last bytes of the room are read.
    unsafe {
        match S {
            4 => asm!(
                "vpbroadcastd {}, [{} + 28]", out(ymm_reg) last, in(reg) from,
                options(pure, readonly, nostack, preserves_flags)
            ),
            8 => asm!(
                "vpbroadcastq {}, [{} + 24]", out(ymm_reg) last, in(reg) from,
                options(pure, readonly, nostack, preserves_flags)
            ),
            _ => return V::last::<S>(vector),
        }
    }
    last
}

/// The bits of the `g`-th vector's elements, where [`lanes`] looks for them. As an instruction: the
/// compiler would take them through registers, and the same port.
///
/// # Safety
///
/// There must be bits for such a vector.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn spread<const S: usize>(bits: &[u32; 2], g: usize) -> __m256i {
    let spread: __m256i;
    // SAFETY: words, or halves of them, within the bits by contract.
    unsafe {
        match S {
            2 => {
                let from = bits.as_ptr().cast::<u16>().add(g);
                asm!(
                    "vpbroadcastw {}, [{}]", out(ymm_reg) spread, in(reg) from,
                    options(pure, readonly, nostack, preserves_flags)
                )
            }
            _ => {
                let from = bits.as_ptr().add(g / S);
                asm!(
                    "vpbroadcastd {}, [{}]", out(ymm_reg) spread, in(reg) from,
                    options(pure, readonly, nostack, preserves_flags)
                )
            }
        }
    }
    spread
}

/// A mask of lanes from spread bits.
#[target_feature(enable = "avx2")]
#[inline]
fn lanes<const S: usize>(bits: __m256i, g: usize) -> __m256i {
    match S {
        1 => {
            let eighth =
                _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
            let one = _mm256_set1_epi64x(0x8040201008040201u64 as i64);
            _mm256_cmpeq_epi8(_mm256_and_si256(_mm256_shuffle_epi8(bits, eighth), one), one)
        }
        2 => {
            let (low, high) = (0x0008000400020001, 0x0080004000200010);
            let one = _mm256_setr_epi64x(low, high, low << 8, high << 8);
            _mm256_cmpeq_epi16(_mm256_and_si256(bits, one), one)
        }
        4 => {
            let up = _mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24);
            _mm256_sllv_epi32(bits, _mm256_sub_epi32(up, _mm256_set1_epi32(8 * (g % 4) as i32)))
        }
        8 => {
            let up = _mm256_setr_epi64x(31, 30, 29, 28);
            _mm256_sllv_epi64(bits, _mm256_sub_epi64(up, _mm256_set1_epi64x(4 * (g % 8) as i64)))
        }
        _ => unreachable!(),
    }
}

/// A mask of all lanes or none from spread bits: by that of the last lane.
#[target_feature(enable = "avx2")]
#[inline]
fn last_lane<const S: usize>(bits: __m256i, g: usize) -> __m256i {
    match S {
        1 => _mm256_srai_epi32::<31>(bits),
        2 => _mm256_srai_epi16::<15>(bits),
        4 => _mm256_sll_epi32(bits, _mm_cvtsi32_si128(24 - 8 * (g % 4) as i32)),
        8 => _mm256_sll_epi64(bits, _mm_cvtsi32_si128(28 - 4 * (g % 8) as i32)),
        _ => unreachable!(),
    }
}

// SAFETY: `__m256i` is 32 plain bytes.
unsafe impl Vectors for V {
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
    unsafe fn opaque(vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { opaque(vector) }
    }
}

// SAFETY: as above.
unsafe impl Ordered for V {
    const APART: bool = true;

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
    unsafe fn lasts<const S: usize>(vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        // Opaque, or the compiler moves lanes before their last elements, and again after.
        unsafe { opaque(last_of_lanes::<S>(vector)) }
    }

    #[inline(always)]
    unsafe fn between(vector: __m256i, next: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { _mm256_permute2x128_si256::<0x21>(vector, next) }
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
    unsafe fn pick(mask: __m256i, ones: __m256i, zeros: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { _mm256_blendv_epi8(zeros, ones, mask) }
    }
}

// SAFETY: as above.
unsafe impl Masked for V {
    #[inline(always)]
    unsafe fn shift<const S: usize>(before: __m256i, vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { Self::up::<S>(Self::between(before, vector), vector) }
    }

    #[inline(always)]
    unsafe fn mask<const S: usize>(bits: &[u32; 2], g: usize) -> __m256i {
        // SAFETY: the caller vouches for AVX2 and the bits.
        unsafe { lanes::<S>(spread::<S>(bits, g), g) }
    }

    #[inline(always)]
    unsafe fn mask_last<const S: usize>(bits: &[u32; 2], g: usize) -> __m256i {
        // SAFETY: the caller vouches for AVX2 and the bits.
        unsafe { last_lane::<S>(spread::<S>(bits, g), g) }
    }

    #[inline(always)]
    unsafe fn last_aside<const S: usize>(vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { last_from_memory::<S>(vector) }
    }

    #[inline(always)]
    unsafe fn select<const S: usize>(mask: __m256i, ones: __m256i, zeros: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            match S {
                4 => _mm256_castps_si256(_mm256_blendv_ps(
                    _mm256_castsi256_ps(zeros),
                    _mm256_castsi256_ps(ones),
                    _mm256_castsi256_ps(mask),
                )),
                8 => _mm256_castpd_si256(_mm256_blendv_pd(
                    _mm256_castsi256_pd(zeros),
                    _mm256_castsi256_pd(ones),
                    _mm256_castsi256_pd(mask),
                )),
                _ => _mm256_blendv_epi8(zeros, ones, mask),
            }
        }
    }
}

// SAFETY: as above.
unsafe impl Items for V {
    #[inline(always)]
    unsafe fn split<const I: usize>(low: __m256i, high: __m256i) -> [__m256i; 2] {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            match I {
                8 => {
                    let even = _mm256_unpacklo_epi64(low, high);
                    let odd = _mm256_unpackhi_epi64(low, high);
                    // From items of both in turn to those of one after those of the other.
                    [even, odd].map(|turns| _mm256_permute4x64_epi64::<0b11_01_10_00>(turns))
                }
                16 => [
                    _mm256_permute2x128_si256::<0x20>(low, high),
                    _mm256_permute2x128_si256::<0x31>(low, high),
                ],
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn merge<const I: usize>(even: __m256i, odd: __m256i) -> [__m256i; 2] {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            match I {
                8 => {
                    // Items 0 and 1 by items 2 and 3.
                    let lanes = _mm256_unpacklo_epi64(even, odd);
                    Self::split::<16>(lanes, _mm256_unpackhi_epi64(even, odd))
                }
                16 => Self::split::<16>(even, odd),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn later<const I: usize>(before: __m256i, vector: __m256i, n: usize) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let between = Self::between(before, vector);
            match n * I {
                8 => _mm256_alignr_epi8::<8>(vector, between),
                16 => between,
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn words(vector: __m256i, places: &[u32; LONGEST / 4]) -> __m256i {
        // SAFETY: the places are a vector at least; the caller vouches for AVX2.
        unsafe { _mm256_permutevar8x32_epi32(vector, _mm256_loadu_si256(places.as_ptr().cast())) }
    }

    #[inline(always)]
    unsafe fn words_of_two(low: __m256i, high: __m256i, places: &[u32; LONGEST / 4]) -> __m256i {
        // SAFETY: the places are a vector at least; the caller vouches for AVX2.
        unsafe {
            let places = _mm256_loadu_si256(places.as_ptr().cast());
            let of_high = _mm256_cmpgt_epi32(places, _mm256_set1_epi32(7));
            let low = _mm256_permutevar8x32_epi32(low, places);
            let high = _mm256_permutevar8x32_epi32(high, places);
            _mm256_blendv_epi8(low, high, of_high)
        }
    }
}
