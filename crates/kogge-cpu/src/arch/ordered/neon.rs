//! NEON: one lane of 16 bytes.

use super::{Crosswise, Items, LONGEST, Masked, Ordered};
use crate::arch::vectors::Vectors;
use crate::array::array;
use core::arch::aarch64::*;
use core::arch::asm;

/// Vectors of NEON.
#[derive(Clone, Copy)]
pub(crate) struct V;

// SAFETY: `uint8x16_t` is 16 plain bytes.
unsafe impl Vectors for V {
    type Vector = uint8x16_t;
    const BYTES: usize = 16;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> uint8x16_t {
        // SAFETY: readable by contract, at any alignment; the caller vouches for NEON.
        unsafe { vld1q_u8(from) }
    }

    #[inline(always)]
    unsafe fn store(vector: uint8x16_t, to: *mut u8) {
        // SAFETY: writable by contract, at any alignment; the caller vouches for NEON.
        unsafe { vst1q_u8(to, vector) }
    }

    #[inline(always)]
    unsafe fn stream(vector: uint8x16_t, to: *mut u8) {
        // SAFETY: passed on; stable Rust has no non-temporal stores for this one.
        unsafe { Self::store(vector, to) }
    }

    #[inline(always)]
    unsafe fn opaque(mut vector: uint8x16_t) -> uint8x16_t {
        // SAFETY: no instruction at all; the register comes back as it was.
        unsafe {
            asm!("/* {0:v} */", inout(vreg) vector, options(pure, nomem, nostack, preserves_flags))
        }
        vector
    }
}

// SAFETY: as above.
unsafe impl Ordered for V {
    #[inline(always)]
    unsafe fn up<const S: usize>(fill: uint8x16_t, vector: uint8x16_t) -> uint8x16_t {
        // SAFETY: the caller vouches for NEON.
        unsafe {
            match S {
                1 => vextq_u8::<15>(fill, vector),
                2 => vextq_u8::<14>(fill, vector),
                4 => vextq_u8::<12>(fill, vector),
                8 => vextq_u8::<8>(fill, vector),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn across<const S: usize>(_fill: uint8x16_t, vector: uint8x16_t) -> uint8x16_t {
        vector
    }

    #[inline(always)]
    unsafe fn last<const S: usize>(vector: uint8x16_t) -> uint8x16_t {
        // SAFETY: the caller vouches for NEON.
        unsafe {
            match S {
                1 => vdupq_laneq_u8::<15>(vector),
                2 => vreinterpretq_u8_u16(vdupq_laneq_u16::<7>(vreinterpretq_u16_u8(vector))),
                4 => vreinterpretq_u8_u32(vdupq_laneq_u32::<3>(vreinterpretq_u32_u8(vector))),
                8 => vreinterpretq_u8_u64(vdupq_laneq_u64::<1>(vreinterpretq_u64_u8(vector))),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn pick(mask: uint8x16_t, ones: uint8x16_t, zeros: uint8x16_t) -> uint8x16_t {
        // SAFETY: the caller vouches for NEON.
        unsafe { vbslq_u8(mask, ones, zeros) }
    }
}

// SAFETY: as above.
unsafe impl Masked for V {
    #[inline(always)]
    unsafe fn shift<const S: usize>(before: uint8x16_t, vector: uint8x16_t) -> uint8x16_t {
        // SAFETY: passed on; there is one lane.
        unsafe { Self::up::<S>(before, vector) }
    }

    #[inline(always)]
    unsafe fn mask<const S: usize>(bits: &[u32; 2], g: usize) -> uint8x16_t {
        let bits = (u64::from(bits[0]) | u64::from(bits[1]) << 32) >> (g * (16 / S));
        // SAFETY: the caller vouches for NEON; arrays are as long as vectors.
        unsafe {
            match S {
                1 => {
                    let bits = vcombine_u8(vdup_n_u8(bits as u8), vdup_n_u8((bits >> 8) as u8));
                    let lanes: [u8; 16] = array(|i| 1 << (i % 8));
                    vtstq_u8(bits, vld1q_u8(lanes.as_ptr()))
                }
                2 => {
                    let lanes: [u16; 8] = array(|i| 1 << i);
                    let bits = vdupq_n_u16(bits as u16);
                    vreinterpretq_u8_u16(vtstq_u16(bits, vld1q_u16(lanes.as_ptr())))
                }
                4 => {
                    let lanes: [u32; 4] = array(|i| 1 << i);
                    let bits = vdupq_n_u32(bits as u32);
                    vreinterpretq_u8_u32(vtstq_u32(bits, vld1q_u32(lanes.as_ptr())))
                }
                8 => {
                    let lanes = [1, 2];
                    vreinterpretq_u8_u64(vtstq_u64(vdupq_n_u64(bits), vld1q_u64(lanes.as_ptr())))
                }
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn mask_last<const S: usize>(bits: &[u32; 2], g: usize) -> uint8x16_t {
        let bits = u64::from(bits[0]) | u64::from(bits[1]) << 32;
        let last = bits >> (g * (16 / S) + 16 / S - 1) & 1;
        // SAFETY: the caller vouches for NEON.
        unsafe { vdupq_n_u8(0u8.wrapping_sub(last as u8)) }
    }
}

// SAFETY: as above.
unsafe impl Crosswise for V {}

// SAFETY: as above. Items are halves.
unsafe impl Items for V {
    #[inline(always)]
    unsafe fn split<const I: usize>(low: uint8x16_t, high: uint8x16_t) -> [uint8x16_t; 2] {
        // SAFETY: the caller vouches for NEON.
        unsafe {
            let [low, high] = [vreinterpretq_u64_u8(low), vreinterpretq_u64_u8(high)];
            [
                vreinterpretq_u8_u64(vtrn1q_u64(low, high)),
                vreinterpretq_u8_u64(vtrn2q_u64(low, high)),
            ]
        }
    }

    #[inline(always)]
    unsafe fn merge<const I: usize>(even: uint8x16_t, odd: uint8x16_t) -> [uint8x16_t; 2] {
        // SAFETY: passed on; of halves it is the same.
        unsafe { Self::split::<I>(even, odd) }
    }

    #[inline(always)]
    unsafe fn later<const I: usize>(
        before: uint8x16_t,
        vector: uint8x16_t,
        _: usize,
    ) -> uint8x16_t {
        // SAFETY: the caller vouches for NEON.
        unsafe { vextq_u8::<8>(before, vector) }
    }

    #[inline(always)]
    unsafe fn words(vector: uint8x16_t, places: &[u32; LONGEST / 4]) -> uint8x16_t {
        // SAFETY: four places; the caller vouches for NEON.
        unsafe {
            let places = vandq_u32(vld1q_u32(places.as_ptr()), vdupq_n_u32(3));
            vqtbl1q_u8(vector, bytes_of(places))
        }
    }

    #[inline(always)]
    unsafe fn words_of_two(
        low: uint8x16_t,
        high: uint8x16_t,
        places: &[u32; LONGEST / 4],
    ) -> uint8x16_t {
        // SAFETY: four places; the caller vouches for NEON.
        unsafe { vqtbl2q_u8(uint8x16x2_t(low, high), bytes_of(vld1q_u32(places.as_ptr()))) }
    }
}

/// The places of the bytes of words.
#[target_feature(enable = "neon")]
#[inline]
fn bytes_of(words: uint32x4_t) -> uint8x16_t {
    let first = vmulq_u32(words, vdupq_n_u32(0x0404_0404));
    vreinterpretq_u8_u32(vaddq_u32(first, vdupq_n_u32(0x0302_0100)))
}
