//! Vectors of elements in the order of memory.
//!
//! Where nothing binds the order of operands, a vector is scanned where it lies: moved up by one
//! element, two, four, … within its 16-byte lanes, then from lane to lane. Moves are by bytes, so
//! elements of 1, 2, 4 and 8 bytes have them in common. Lines side by side and the rows of narrow
//! tables, whose neighbours don't depend on each other, lie in such vectors whatever the order.
//!
//! Where the CPU has vectors of 64 bytes, those are [what is scanned](super::Simd::Wide): a Zen 5
//! does one of them in the time of one of 32. (A Zen 4 does them in halves; in the caches it has
//! vectors of 32 bytes.) Under masks 32 bytes are [what serves](super::Simd::Masked).

#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(crate) mod avx2;
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(crate) mod avx512;
#[cfg(test)]
pub(crate) mod bytes;
mod crosswise;
#[cfg(all(target_arch = "aarch64", not(miri)))]
pub(crate) mod neon;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod permute;
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(crate) mod wide;

use super::Vectors;
pub(crate) use crosswise::{Crosswise, EIGHT};

/// Vectors, of one 16-byte lane, two or four, and how elements move up in them. `S` is the size of
/// an element, 1, 2, 4 or 8 bytes, unless said otherwise.
///
/// # Safety
///
/// The methods must read and write what they say and nothing else.
pub(crate) unsafe trait Ordered: Vectors {
    /// Whether two lanes are scanned apart: where a move from one to the other takes two
    /// instructions. (By AVX-512 it is one, under a mask.)
    const APART: bool = false;

    /// Each lane moved up by `S` bytes, the last `S` bytes of that lane of `fill` coming in.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    unsafe fn up<const S: usize>(fill: Self::Vector, vector: Self::Vector) -> Self::Vector;

    /// The last element of each even lane throughout the next; even lanes are those of `fill`.
    /// Where there are two lanes or more.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    unsafe fn across<const S: usize>(fill: Self::Vector, vector: Self::Vector) -> Self::Vector;

    /// The last element of the first half throughout the second; the first half is that of `fill`.
    /// Where there are four lanes.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    #[inline(always)]
    unsafe fn halfway<const S: usize>(_fill: Self::Vector, _vector: Self::Vector) -> Self::Vector {
        unreachable!("four lanes")
    }

    /// The last element of each lane throughout it. Where lanes are [apart](Self::APART).
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    #[inline(always)]
    unsafe fn lasts<const S: usize>(_vector: Self::Vector) -> Self::Vector {
        unreachable!("lanes apart")
    }

    /// The second lane of one vector, and the first of the next. Where lanes are
    /// [apart](Self::APART).
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    #[inline(always)]
    unsafe fn between(_vector: Self::Vector, _next: Self::Vector) -> Self::Vector {
        unreachable!("lanes apart")
    }

    /// The last element throughout the vector.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    unsafe fn last<const S: usize>(vector: Self::Vector) -> Self::Vector;

    /// The last `count` bytes of `vector`, and before them those of `fill`.
    ///
    /// # Safety
    ///
    /// A vector must have so many; the level's CPU features be present.
    #[inline(always)]
    unsafe fn with_end(fill: Self::Vector, vector: Self::Vector, count: usize) -> Self::Vector {
        // SAFETY: zeros and ones are as long as the longest vector each; features by contract.
        unsafe {
            let mask = Self::load(ENDS.as_ptr().add(LONGEST - Self::BYTES + count));
            Self::pick(mask, vector, fill)
        }
    }

    /// The bytes of `ones` where those of the mask are 0xff, of `zeros` where they are 0.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    unsafe fn pick(mask: Self::Vector, ones: Self::Vector, zeros: Self::Vector) -> Self::Vector;
}

/// Bytes of the longest vectors.
pub(crate) const LONGEST: usize = 64;

/// Masks of the last bytes of a vector: so many before the middle are none.
static ENDS: [u8; 2 * LONGEST] = {
    let mut ends = [0; 2 * LONGEST];
    let mut i = LONGEST;
    while i < 2 * LONGEST {
        ends[i] = 0xff;
        i += 1;
    }
    ends
};

/// Such vectors, and lanes of them under masks.
///
/// # Safety
///
/// As for [`Ordered`].
pub(crate) unsafe trait Masked: Ordered {
    /// As [`last`](Ordered::last), where other moves of elements keep the CPU busy and nothing
    /// waits for it.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    #[inline(always)]
    unsafe fn last_aside<const S: usize>(vector: Self::Vector) -> Self::Vector {
        // SAFETY: passed on.
        unsafe { Self::last::<S>(vector) }
    }

    /// All elements moved up by one, the last one of `before` coming in.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    unsafe fn shift<const S: usize>(before: Self::Vector, vector: Self::Vector) -> Self::Vector;

    /// The lanes of the `g`-th vector whose bit is set, a bit for each element, as
    /// [`select`](Self::select) takes them.
    ///
    /// # Safety
    ///
    /// 64 bits must have such a vector; the level's CPU features be present.
    unsafe fn mask<const S: usize>(bits: &[u32; 2], g: usize) -> Self::Vector;

    /// All lanes if the bit of the last one of the `g`-th vector is set, as a [`mask`](Self::mask).
    ///
    /// # Safety
    ///
    /// As for [`mask`](Self::mask).
    unsafe fn mask_last<const S: usize>(bits: &[u32; 2], g: usize) -> Self::Vector;

    /// The elements of `ones` where those of a [`mask`](Self::mask) are set, of `zeros` elsewhere.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    #[inline(always)]
    unsafe fn select<const S: usize>(
        mask: Self::Vector,
        ones: Self::Vector,
        zeros: Self::Vector,
    ) -> Self::Vector {
        // SAFETY: passed on.
        unsafe { Self::pick(mask, ones, zeros) }
    }
}

/// Such vectors of items: each has `I` bytes, 8, 16 or 32, and a vector more than one where items
/// move.
///
/// # Safety
///
/// As for [`Ordered`].
pub(crate) unsafe trait Items: Ordered {
    /// The items at even places of two vectors, and those at odd ones.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    unsafe fn split<const I: usize>(low: Self::Vector, high: Self::Vector) -> [Self::Vector; 2];

    /// Two vectors from the items at their even places, and those at odd ones.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    unsafe fn merge<const I: usize>(even: Self::Vector, odd: Self::Vector) -> [Self::Vector; 2];

    /// All items moved up by `n`, a power of two; the last ones of `before` come in.
    ///
    /// # Safety
    ///
    /// A vector must have more items; the level's CPU features be present.
    unsafe fn later<const I: usize>(
        before: Self::Vector,
        vector: Self::Vector,
        n: usize,
    ) -> Self::Vector;

    /// Words of four bytes from these places of the vector, modulo its words.
    ///
    /// # Safety
    ///
    /// The level's CPU features must be present.
    unsafe fn words(vector: Self::Vector, places: &[u32; LONGEST / 4]) -> Self::Vector;

    /// Words of four bytes from these places of two vectors, those of `low` first.
    ///
    /// # Safety
    ///
    /// There must be such places; the level's CPU features be present.
    unsafe fn words_of_two(
        low: Self::Vector,
        high: Self::Vector,
        places: &[u32; LONGEST / 4],
    ) -> Self::Vector;
}

/// A level without such vectors.
#[derive(Clone, Copy)]
pub(crate) struct None;

// SAFETY: an array of no bytes.
unsafe impl Vectors for None {
    type Vector = [u8; 0];
    const BYTES: usize = 0;

    unsafe fn load(_: *const u8) -> [u8; 0] {
        []
    }
    unsafe fn store(_: [u8; 0], _: *mut u8) {}
    unsafe fn stream(_: [u8; 0], _: *mut u8) {}
    unsafe fn opaque(_: [u8; 0]) -> [u8; 0] {
        []
    }
}

// SAFETY: as above.
unsafe impl Ordered for None {
    unsafe fn up<const S: usize>(_: [u8; 0], _: [u8; 0]) -> [u8; 0] {
        []
    }
    unsafe fn across<const S: usize>(_: [u8; 0], _: [u8; 0]) -> [u8; 0] {
        []
    }
    unsafe fn last<const S: usize>(_: [u8; 0]) -> [u8; 0] {
        []
    }
    unsafe fn pick(_: [u8; 0], _: [u8; 0], _: [u8; 0]) -> [u8; 0] {
        []
    }
}

// SAFETY: as above.
unsafe impl Items for None {
    unsafe fn split<const I: usize>(_: [u8; 0], _: [u8; 0]) -> [[u8; 0]; 2] {
        [[]; 2]
    }
    unsafe fn merge<const I: usize>(_: [u8; 0], _: [u8; 0]) -> [[u8; 0]; 2] {
        [[]; 2]
    }
    unsafe fn later<const I: usize>(_: [u8; 0], _: [u8; 0], _: usize) -> [u8; 0] {
        []
    }
    unsafe fn words(_: [u8; 0], _: &[u32; LONGEST / 4]) -> [u8; 0] {
        []
    }
    unsafe fn words_of_two(_: [u8; 0], _: [u8; 0], _: &[u32; LONGEST / 4]) -> [u8; 0] {
        []
    }
}

// SAFETY: as above.
unsafe impl Masked for None {
    unsafe fn shift<const S: usize>(_: [u8; 0], _: [u8; 0]) -> [u8; 0] {
        []
    }
    unsafe fn mask<const S: usize>(_: &[u32; 2], _: usize) -> [u8; 0] {
        []
    }
    unsafe fn mask_last<const S: usize>(_: &[u32; 2], _: usize) -> [u8; 0] {
        []
    }
}

// SAFETY: as above.
unsafe impl Crosswise for None {}
