//! NEON: 16-byte vectors, one chunk to each, so transposed lanes are already in chunk order.

use super::{Words, Work};
use crate::array::{array, for_each, map};
use core::arch::aarch64::*;
use core::arch::asm;

/// Whether this CPU has what the level needs.
pub(super) fn present() -> bool {
    std::arch::is_aarch64_feature_detected!("neon")
}

/// Does the work, compiled for NEON.
#[target_feature(enable = "neon")]
pub(super) fn run<W: Work>(work: W) -> W::Output {
    // SAFETY: this function is compiled for, and only reached with, the features of both types.
    unsafe { work.run::<W32, W64>() }
}

/// 4-byte words, 4 to a vector.
#[derive(Clone, Copy)]
pub(crate) struct W32;

/// 8-byte words, 2 to a vector.
#[derive(Clone, Copy)]
pub(crate) struct W64;

/// Transposes 4×4 words; its own inverse.
#[target_feature(enable = "neon")]
#[inline]
fn transpose4(v: [uint32x4_t; 4]) -> [uint32x4_t; 4] {
    let wide = |v| vreinterpretq_u64_u32(v);
    let narrow = |v| vreinterpretq_u32_u64(v);
    let (a, b) = (wide(vtrn1q_u32(v[0], v[1])), wide(vtrn2q_u32(v[0], v[1])));
    let (c, d) = (wide(vtrn1q_u32(v[2], v[3])), wide(vtrn2q_u32(v[2], v[3])));
    [
        narrow(vtrn1q_u64(a, c)),
        narrow(vtrn1q_u64(b, d)),
        narrow(vtrn2q_u64(a, c)),
        narrow(vtrn2q_u64(b, d)),
    ]
}

/// What turns such vectors.
macro_rules! turn {
    ($name:ident, $vector:ty, $bytes:ident, $words:ident) => {
        /// From which byte each comes, and a mask of those that come from the vector before.
        #[derive(Clone, Copy)]
        pub(crate) struct $name {
            from: uint8x16_t,
            first: uint8x16_t,
        }

        impl super::Turn for $name {
            type Vector = $vector;

            #[inline(always)]
            unsafe fn new(behind: usize) -> Self {
                let lanes: [u8; 16] = array(|i| i as u8);
                // SAFETY: the caller vouches for NEON.
                unsafe {
                    let (lanes, behind) = (vld1q_u8(lanes.as_ptr()), vdupq_n_u8(behind as u8));
                    let from = vandq_u8(vsubq_u8(lanes, behind), vdupq_n_u8(15));
                    Self { from, first: vcltq_u8(lanes, behind) }
                }
            }

            #[inline(always)]
            unsafe fn turned(self, vector: $vector) -> $vector {
                // SAFETY: the caller vouches for NEON.
                unsafe { $words(vqtbl1q_u8($bytes(vector), self.from)) }
            }

            #[inline(always)]
            unsafe fn joined(self, first: $vector, next: $vector) -> $vector {
                // SAFETY: the caller vouches for NEON.
                unsafe { $words(vbslq_u8(self.first, $bytes(first), $bytes(next))) }
            }
        }
    };
}

turn!(Turn32, uint32x4_t, vreinterpretq_u8_u32, vreinterpretq_u32_u8);
turn!(Turn64, uint64x2_t, vreinterpretq_u8_u64, vreinterpretq_u64_u8);

/// What NEON has for words of any width.
#[derive(Clone, Copy)]
pub(crate) struct Simd;

// SAFETY: the methods do what the trait says.
unsafe impl super::Simd for Simd {
    type Masked = super::ordered::neon::V;
    type Wide = super::ordered::neon::V;

    #[inline(always)]
    unsafe fn stream_line(from: *const u8, to: *mut u8) {
        // SAFETY: passed on.
        unsafe { super::stream::line(from, to) }
    }
}

// SAFETY: `uint32x4_t` is 4 plain words; 8 make a column of 32, 4 columns a row.
unsafe impl Words for W32 {
    type Word = u32;
    type Vector = uint32x4_t;
    type Column = [uint32x4_t; 8];
    type Simd = Simd;
    type Row = [[uint32x4_t; 8]; 4];
    type Group = [uint32x4_t; 4];
    type Turn = Turn32;

    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn split(row: *const u32) -> Self::Row {
        // SAFETY: the caller vouches for 512 readable bytes, which is 32 vectors, and for NEON.
        unsafe {
            let mut columns = [[vdupq_n_u32(0); 8]; 4];
            for_each!(0..8, |g| {
                let group = Self::split_group(row.add(16 * g));
                for_each!(0..group.len(), |c| {
                    columns[c][g] = group[c];
                });
            });
            columns
        }
    }

    #[inline(always)]
    unsafe fn join(columns: Self::Row, row: *mut u32) {
        // SAFETY: the caller vouches for 512 writable bytes, which is 32 vectors, and for NEON.
        unsafe {
            for_each!(0..8, |g| {
                Self::join_group(map(columns, |column| column[g]), row.add(16 * g));
            });
        }
    }

    #[inline(always)]
    unsafe fn split_group(group: *const u32) -> Self::Group {
        // SAFETY: the caller vouches for 4 readable vectors, and for NEON.
        unsafe { transpose4(array(|i| vld1q_u32(group.add(4 * i)))) }
    }

    #[inline(always)]
    unsafe fn join_group(group: Self::Group, to: *mut u32) {
        // SAFETY: the caller vouches for 4 writable vectors, and for NEON.
        unsafe {
            let vectors = transpose4(group);
            for_each!(0..vectors.len(), |i| {
                vst1q_u32(to.add(4 * i), vectors[i]);
            });
        }
    }

    #[inline(always)]
    unsafe fn join_stream(columns: Self::Row, row: *mut u32) {
        // SAFETY: passed on; stable Rust has no non-temporal stores for this one.
        unsafe { Self::join(columns, row) }
    }

    #[inline(always)]
    unsafe fn in_memory(group: Self::Group) -> Self::Group {
        // SAFETY: the caller vouches for NEON.
        unsafe { transpose4(group) }
    }

    #[inline(always)]
    unsafe fn stream(vector: uint32x4_t, to: *mut u8) {
        // SAFETY: writable by contract; stable Rust has no non-temporal stores for this one.
        unsafe { to.cast::<uint32x4_t>().write_unaligned(vector) }
    }

    #[inline(always)]
    unsafe fn to_natural(vector: uint32x4_t) -> uint32x4_t {
        vector
    }

    #[inline(always)]
    unsafe fn from_natural(vector: uint32x4_t) -> uint32x4_t {
        vector
    }

    #[inline(always)]
    unsafe fn slide<const S: usize>(low: uint32x4_t, high: uint32x4_t) -> uint32x4_t {
        // SAFETY: the caller vouches for NEON.
        unsafe {
            match S {
                1 => vextq_u32::<3>(low, high),
                2 => vextq_u32::<2>(low, high),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn blend<const S: usize>(low: uint32x4_t, high: uint32x4_t) -> uint32x4_t {
        // SAFETY: the caller vouches for NEON.
        unsafe {
            match S {
                1 => vcopyq_laneq_u32::<0, 0>(high, low),
                2 => vcombine_u32(vget_low_u32(low), vget_high_u32(high)),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn halve(low: uint32x4_t, high: uint32x4_t) -> (uint32x4_t, uint32x4_t) {
        // SAFETY: the caller vouches for NEON.
        unsafe { (vuzp1q_u32(low, high), vuzp2q_u32(low, high)) }
    }

    #[inline(always)]
    unsafe fn splat(word: u32) -> uint32x4_t {
        // SAFETY: the caller vouches for NEON.
        unsafe { vdupq_n_u32(word) }
    }

    #[inline(always)]
    unsafe fn opaque(mut vector: uint32x4_t) -> uint32x4_t {
        // SAFETY: no instruction at all; the register comes back as it was.
        unsafe {
            asm!("/* {0:q} */", inout(vreg) vector, options(pure, nomem, nostack, preserves_flags))
        }
        vector
    }
}

// SAFETY: `uint64x2_t` is 2 plain words; 16 make a column of 32, 2 columns a row.
unsafe impl Words for W64 {
    type Word = u64;
    type Vector = uint64x2_t;
    type Column = [uint64x2_t; 16];
    type Simd = Simd;
    type Row = [[uint64x2_t; 16]; 2];
    type Group = [uint64x2_t; 2];
    type Turn = Turn64;

    const LANES: usize = 2;

    #[inline(always)]
    unsafe fn split(row: *const u64) -> Self::Row {
        // SAFETY: the caller vouches for 512 readable bytes, which is 32 vectors, and for NEON.
        unsafe {
            let mut columns = [[vdupq_n_u64(0); 16]; 2];
            for_each!(0..16, |g| {
                let [first, second] = Self::split_group(row.add(4 * g));
                columns[0][g] = first;
                columns[1][g] = second;
            });
            columns
        }
    }

    #[inline(always)]
    unsafe fn join(columns: Self::Row, row: *mut u64) {
        // SAFETY: the caller vouches for 512 writable bytes, which is 32 vectors, and for NEON.
        unsafe {
            for_each!(0..16, |g| {
                Self::join_group([columns[0][g], columns[1][g]], row.add(4 * g));
            });
        }
    }

    #[inline(always)]
    unsafe fn split_group(group: *const u64) -> Self::Group {
        // SAFETY: the caller vouches for 2 readable vectors, and for NEON.
        unsafe {
            let (first, second) = (vld1q_u64(group), vld1q_u64(group.add(2)));
            [vtrn1q_u64(first, second), vtrn2q_u64(first, second)]
        }
    }

    #[inline(always)]
    unsafe fn join_group(group: Self::Group, to: *mut u64) {
        // SAFETY: the caller vouches for 2 writable vectors, and for NEON.
        unsafe {
            vst1q_u64(to, vtrn1q_u64(group[0], group[1]));
            vst1q_u64(to.add(2), vtrn2q_u64(group[0], group[1]));
        }
    }

    #[inline(always)]
    unsafe fn join_stream(columns: Self::Row, row: *mut u64) {
        // SAFETY: passed on; stable Rust has no non-temporal stores for this one.
        unsafe { Self::join(columns, row) }
    }

    #[inline(always)]
    unsafe fn in_memory(group: Self::Group) -> Self::Group {
        // SAFETY: the caller vouches for NEON.
        unsafe { [vtrn1q_u64(group[0], group[1]), vtrn2q_u64(group[0], group[1])] }
    }

    #[inline(always)]
    unsafe fn stream(vector: uint64x2_t, to: *mut u8) {
        // SAFETY: writable by contract; stable Rust has no non-temporal stores for this one.
        unsafe { to.cast::<uint64x2_t>().write_unaligned(vector) }
    }

    #[inline(always)]
    unsafe fn to_natural(vector: uint64x2_t) -> uint64x2_t {
        vector
    }

    #[inline(always)]
    unsafe fn from_natural(vector: uint64x2_t) -> uint64x2_t {
        vector
    }

    #[inline(always)]
    unsafe fn slide<const S: usize>(low: uint64x2_t, high: uint64x2_t) -> uint64x2_t {
        // SAFETY: the caller vouches for NEON; 1 is the only shift below two lanes.
        unsafe { vextq_u64::<1>(low, high) }
    }

    #[inline(always)]
    unsafe fn blend<const S: usize>(low: uint64x2_t, high: uint64x2_t) -> uint64x2_t {
        // SAFETY: the caller vouches for NEON; 1 is the only blend of two lanes.
        unsafe { vcopyq_laneq_u64::<0, 0>(high, low) }
    }

    #[inline(always)]
    unsafe fn halve(low: uint64x2_t, high: uint64x2_t) -> (uint64x2_t, uint64x2_t) {
        // SAFETY: the caller vouches for NEON.
        unsafe { (vtrn1q_u64(low, high), vtrn2q_u64(low, high)) }
    }

    #[inline(always)]
    unsafe fn splat(word: u64) -> uint64x2_t {
        // SAFETY: the caller vouches for NEON.
        unsafe { vdupq_n_u64(word) }
    }

    #[inline(always)]
    unsafe fn opaque(mut vector: uint64x2_t) -> uint64x2_t {
        // SAFETY: no instruction at all; the register comes back as it was.
        unsafe {
            asm!("/* {0:q} */", inout(vreg) vector, options(pure, nomem, nostack, preserves_flags))
        }
        vector
    }
}
