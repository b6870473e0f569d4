//! AVX2: 32-byte vectors of two 16-byte lanes.
//!
//! A vector loads two chunks. Unpacking works within the 16-byte lanes, so after the transposition
//! a column's even chunks lie in the low halves and its odd ones in the high halves.

mod crosswise;
mod memory;
mod simd;
mod transpose;
mod turn;
mod w32;
mod w64;

use super::Work;
use core::arch::asm;
use core::arch::x86_64::__m256i;
pub(super) use simd::Simd;
use w32::W32;
use w64::W64;

/// Whether this CPU has what the level needs.
pub(super) fn present() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("f16c")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

/// Does the work, compiled for AVX2.
#[target_feature(enable = "avx2,fma,bmi1,bmi2,f16c,lzcnt,popcnt")]
pub(super) fn run<W: Work>(work: W) -> W::Output {
    // SAFETY: this function is compiled for, and only reached with, the features of both types.
    unsafe { work.run::<W32, W64>() }
}

#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn opaque(mut vector: __m256i) -> __m256i {
    // SAFETY: no instruction at all; the register comes back as it was.
    unsafe {
        asm!("/* {0} */", inout(ymm_reg) vector, options(pure, nomem, nostack, preserves_flags))
    }
    vector
}
