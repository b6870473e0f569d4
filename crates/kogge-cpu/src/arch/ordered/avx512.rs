//! AVX-512: the two lanes of AVX2, with moves between them in one instruction.
//!
//! Permutes are written as assembly: the compiler would make a masked one a permute and a blend, and
//! of one whose indices it knows two shuffles.

use super::Ordered;
use super::avx2::V as Narrower;
use crate::arch::avx512::opaque;
use crate::arch::vectors::Vectors;
use core::arch::asm;
use core::arch::x86_64::*;

/// Vectors of AVX-512.
#[derive(Clone, Copy)]
pub(crate) struct V;

/// The widest vectors, for what moves no elements.
#[derive(Clone, Copy)]
pub(crate) struct Wide;

// SAFETY: `__m512i` is 64 plain bytes.
unsafe impl Vectors for Wide {
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
masked!(masked64, "vpermq {permuted}{{{mask}}}, {indices}, {vector}", indices);

/// `$name(indices, vector)`: the vector permuted.
macro_rules! permuted {
    ($name:ident, $instruction:literal) => {
        #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
        #[inline]
        fn $name(indices: __m256i, vector: __m256i) -> __m256i {
            let permuted: __m256i;
            // SAFETY: an instruction on registers alone, of AVX-512 for vectors of 32 bytes.
            unsafe {
                asm!(
                    concat!($instruction, " {0}, {1}, {2}"),
                    out(ymm_reg) permuted,
                    in(ymm_reg) indices,
                    in(ymm_reg) vector,
                    options(pure, nomem, nostack, preserves_flags)
                )
            }
            permuted
        }
    };
}

permuted!(permuted16, "vpermw");
permuted!(permuted32, "vpermd");
permuted!(permuted64, "vpermq");

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
