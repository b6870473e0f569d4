//! AVX-512: 64-byte vectors of four 16-byte lanes.
//!
//! A vector loads four chunks. Unpacking works within the 16-byte lanes, so after the transposition
//! lane L of a column holds the chunks that are L modulo 4.

mod align;
mod memory;
mod simd;
mod transpose;
mod turn;
mod w32;
mod w64;

use super::Work;
use core::arch::asm;
use core::arch::x86_64::{__m512i, __mmask16};
use simd::Simd;
use w32::W32;
use w64::W64;

/// Whether this CPU has what the level needs, beyond AVX2's.
pub(super) fn present() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

/// Does the work, compiled for AVX-512.
#[target_feature(
    enable = "avx2,fma,bmi1,bmi2,f16c,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl"
)]
pub(super) fn run<W: Work>(work: W) -> W::Output {
    // SAFETY: this function is compiled for, and only reached with, the features of both types.
    unsafe { work.run::<W32, W64>() }
}

/// A mask as something that the optimiser can't look into: it makes shuffles of a blend by a mask
/// that it knows, which take two or three times as long.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn opaque_mask(mut mask: __mmask16) -> __mmask16 {
    // SAFETY: no instruction at all; the register comes back as it was.
    unsafe { asm!("/* {0} */", inout(kreg) mask, options(pure, nomem, nostack, preserves_flags)) }
    mask
}

#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn opaque(mut vector: __m512i) -> __m512i {
    // SAFETY: no instruction at all; the register comes back as it was.
    unsafe {
        asm!("/* {0} */", inout(zmm_reg) vector, options(pure, nomem, nostack, preserves_flags))
    }
    vector
}
