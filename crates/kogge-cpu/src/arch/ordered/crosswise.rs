//! Vectors across lanes that run along memory.
//!
//! A lane has as many elements, one after another, as one of them has bits; so a vector has one bit
//! for each element of its lanes. Eight elements of every lane are transposed at a time.

use super::Masked;
use crate::arch::Vectors;
use std::mem::MaybeUninit;

/// Elements of a lane that are transposed at a time.
pub(crate) const EIGHT: usize = 8;

/// Such vectors of elements of `S` bytes, 4 or 8. By themselves the methods go by way of memory.
///
/// # Safety
///
/// As for [`Ordered`](super::Ordered).
pub(crate) unsafe trait Crosswise: Masked {
    /// Whether that is faster than a step for each doubling of a vector's lanes. (By AVX-512 on a
    /// mesh `i32` by keys had 0.94 to 1.17 times the speed up to 2^18, 0.52 and 0.89 times of 2^20;
    /// lines of 3 columns 1.04 and 1.09, of 8 and 64 0.49 to 0.67.)
    const CROSSWISE: bool = false;

    /// Eight elements of each lane, those of lane `i` from `i · apart` bytes on: vector `k` has
    /// the `k`-th ones.
    ///
    /// # Safety
    ///
    /// They must be readable; the level's CPU features be present.
    #[inline(always)]
    unsafe fn eight<const S: usize>(from: *const u8, apart: usize) -> [Self::Vector; EIGHT] {
        let mut vectors = MaybeUninit::<[Self::Vector; EIGHT]>::uninit();
        for (lane, k) in of_lanes::<Self, S>() {
            // SAFETY: an element by contract, and a vector's lane; all lanes are written.
            unsafe {
                let to = vectors.as_mut_ptr().cast::<u8>().add(k * Self::BYTES + lane * S);
                to.copy_from_nonoverlapping(from.add(lane * apart + k * S), S);
            }
        }
        // SAFETY: vectors are plain arrays of bytes, all of which were written.
        unsafe { vectors.assume_init() }
    }

    /// Stores such elements.
    ///
    /// # Safety
    ///
    /// They must be writable; the level's CPU features be present.
    #[inline(always)]
    unsafe fn put_eight<const S: usize>(vectors: [Self::Vector; EIGHT], to: *mut u8, apart: usize) {
        for (lane, k) in of_lanes::<Self, S>() {
            // SAFETY: an element by contract, and a vector's lane.
            unsafe {
                let from = (&raw const vectors).cast::<u8>().add(k * Self::BYTES + lane * S);
                to.add(lane * apart + k * S).copy_from_nonoverlapping(from, S);
            }
        }
    }

    /// The lanes whose `k`-th bit is set, as [`select`](Masked::select) takes them.
    ///
    /// # Safety
    ///
    /// `k` must be less than 8; the level's CPU features be present.
    #[inline(always)]
    unsafe fn bit<const S: usize>(bits: Self::Vector, k: usize) -> Self::Vector {
        by_lane::<Self, S>(bits, |lane| if lane >> k & 1 == 1 { !0 } else { 0 })
    }

    /// The bits of the eighth place of each lane and those after it, from bit 0 on.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    #[inline(always)]
    unsafe fn after_eight<const S: usize>(bits: Self::Vector) -> Self::Vector {
        by_lane::<Self, S>(bits, |lane| lane >> EIGHT)
    }

    /// The bits, and that of the first place of each lane.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    #[inline(always)]
    unsafe fn begun<const S: usize>(bits: Self::Vector) -> Self::Vector {
        by_lane::<Self, S>(bits, |lane| lane | 1)
    }

    /// The bits below each lane's lowest one; all if it has none.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    #[inline(always)]
    unsafe fn below<const S: usize>(bits: Self::Vector) -> Self::Vector {
        by_lane::<Self, S>(bits, |lane| lane.wrapping_sub(1) & !lane)
    }

    /// One bit for each lane that has any.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    #[inline(always)]
    unsafe fn any<const S: usize>(bits: Self::Vector) -> u32 {
        let lane = |i: usize| lane::<Self, S>(&bits, i);
        (0..Self::BYTES / S).fold(0, |any, i| any | u32::from(lane(i) != 0) << i)
    }
}

/// The lanes of a vector, each with the places of eight elements.
#[inline(always)]
fn of_lanes<P: Vectors, const S: usize>() -> impl Iterator<Item = (usize, usize)> {
    (0..P::BYTES / S).flat_map(|lane| (0..EIGHT).map(move |k| (lane, k)))
}

/// The bits of a lane.
#[inline(always)]
fn lane<P: Vectors, const S: usize>(bits: &P::Vector, i: usize) -> u64 {
    assert!(i < P::BYTES / S);
    let mut lane = [0; 8];
    // SAFETY: a vector is a plain array of bytes, which has such a lane.
    unsafe {
        lane.as_mut_ptr().copy_from_nonoverlapping((&raw const *bits).cast::<u8>().add(i * S), S);
    }
    u64::from_le_bytes(lane)
}

/// What is made of the bits of each lane.
#[inline(always)]
fn by_lane<P: Vectors, const S: usize>(bits: P::Vector, make: impl Fn(u64) -> u64) -> P::Vector {
    let mut made = bits;
    for i in 0..P::BYTES / S {
        let lane = make(lane::<P, S>(&bits, i)).to_le_bytes();
        // SAFETY: a vector is a plain array of bytes, which has such a lane.
        unsafe {
            (&raw mut made).cast::<u8>().add(i * S).copy_from_nonoverlapping(lane.as_ptr(), S);
        }
    }
    made
}
