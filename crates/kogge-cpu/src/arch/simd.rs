//! What a SIMD level does whatever the width of words.

use super::{Crosswise, Items, Words};

/// The places of the set bits of a byte, and zeros.
pub(super) static SET: [[u8; 8]; 256] = {
    let mut places = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut count) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                places[byte][count] = bit;
                count += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    places
};

/// What both kinds of words of a level have in common.
///
/// # Safety
///
/// The methods must do what they say: places are written where their results say so.
pub(crate) unsafe trait Simd: Copy {
    /// The level's widest vectors of elements in the order of memory.
    type Wide: Items;

    /// Those that serve best under masks.
    type Masked: Crosswise;

    /// Whether short segments are scanned where they lie, and not by windows. (By vectors of 32
    /// bytes those of more than a chunk are slower so. The portable level has it for unit tests and
    /// Miri alone: it takes as long to compile as all the rest that the level has for segments.)
    const WHERE_THEY_LIE: bool = false;

    /// Copies a line of 64 bytes past the caches, where the CPU can.
    ///
    /// # Safety
    ///
    /// 64 bytes must be readable at `from` and writable at `to`, which is aligned to 64 bytes; the
    /// level's CPU features must be present.
    unsafe fn stream_line(from: *const u8, to: *mut u8);

    /// One bit for each of 64 words of 4 bytes that differs from the one before, which the first
    /// word is for.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    #[inline(always)]
    unsafe fn changes(words: &[u32; 65]) -> u64 {
        let pairs = words.windows(2).enumerate();
        pairs.fold(0, |bits, (i, pair)| bits | u64::from(pair[0] != pair[1]) << i)
    }

    /// One bit for each of 64 bytes that isn't 0; they are 0 or 1.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    #[inline(always)]
    unsafe fn flagged(flags: &[u8; 64]) -> u64 {
        let mut mask = 0;
        for (i, eight) in flags.chunks_exact(8).enumerate() {
            let eight = u64::from_le_bytes(eight.try_into().expect("eight bytes"));
            // Byte k moves bit k to bit 56 + k; no two products meet.
            mask |= (eight.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i);
        }
        mask
    }

    /// Lists the places of the set bits, each on top of `first`, times 2^`scale`, and says how
    /// many.
    ///
    /// # Safety
    ///
    /// There must be room for so many and seven more; the level's CPU features be present.
    #[inline(always)]
    unsafe fn list(places: u64, first: u32, scale: u32, mut to: *mut u32) -> usize {
        for (byte, first) in places.to_le_bytes().into_iter().zip((first..).step_by(8)) {
            for (i, &place) in SET[usize::from(byte)].iter().enumerate() {
                // SAFETY: room for eight by contract.
                unsafe { to.add(i).write((first + u32::from(place)) << scale) };
            }
            // SAFETY: so many were written.
            to = unsafe { to.add(byte.count_ones() as usize) };
        }
        places.count_ones() as usize
    }

    /// The bits of `bits` where `of` has one, side by side from bit 0 on.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    #[inline(always)]
    unsafe fn compress(bits: u64, mut of: u64) -> u64 {
        let (mut compressed, mut place) = (0, 0);
        while of != 0 {
            compressed |= (bits >> of.trailing_zeros() & 1) << place;
            of &= of - 1;
            place += 1;
        }
        compressed
    }
}

/// Copies a line of 64 bytes, past the caches or, to any address, through them.
///
/// # Safety
///
/// 64 bytes must be readable at `from` and writable at `to`, which is aligned to 64 bytes if they
/// go past the caches; the level's CPU features must be present.
#[inline(always)]
pub(crate) unsafe fn put_line<S: Simd>(from: *const u8, to: *mut u8, stream: bool) {
    // SAFETY: by contract.
    unsafe {
        if stream {
            S::stream_line(from, to);
        } else {
            to.cast::<[u64; 8]>().write_unaligned(from.cast::<[u64; 8]>().read_unaligned());
        }
    }
}

/// The widest vectors of the level of some words.
pub(crate) type WideOf<W> = <<W as Words>::Simd as Simd>::Wide;

/// Those that serve best under masks.
pub(crate) type MaskedOf<W> = <<W as Words>::Simd as Simd>::Masked;
