//! Vectors as arrays of bytes: for tests of kernels at either width, and for Miri, which doesn't
//! interpret intrinsics.

use super::{Crosswise, Items, LONGEST, Masked, Ordered};
use crate::arch::vectors::Vectors;
use crate::array::array;

/// Vectors of `N` bytes: a lane, two or four. Two are scanned apart if `APART`.
#[derive(Clone, Copy)]
pub(crate) struct Bytes<const N: usize, const APART: bool>;

/// The same, as AVX2 has them.
pub(crate) type V<const N: usize> = Bytes<N, true>;

/// Bytes of a lane.
const LANE: usize = 16;

// SAFETY: the vector is the array.
unsafe impl<const N: usize, const APART: bool> Vectors for Bytes<N, APART> {
    type Vector = [u8; N];
    const BYTES: usize = N;

    unsafe fn load(from: *const u8) -> [u8; N] {
        // SAFETY: readable by contract; bytes have no alignment.
        unsafe { from.cast::<[u8; N]>().read() }
    }

    unsafe fn store(vector: [u8; N], to: *mut u8) {
        // SAFETY: writable by contract; bytes have no alignment.
        unsafe { to.cast::<[u8; N]>().write(vector) }
    }

    unsafe fn stream(vector: [u8; N], to: *mut u8) {
        assert!(to.addr().is_multiple_of(N), "a stream off its alignment");
        // SAFETY: passed on.
        unsafe { Self::store(vector, to) }
    }

    unsafe fn opaque(vector: [u8; N]) -> [u8; N] {
        vector
    }
}

// SAFETY: as above.
unsafe impl<const N: usize, const APART: bool> Ordered for Bytes<N, APART> {
    const APART: bool = APART && N == 2 * LANE;

    unsafe fn up<const S: usize>(fill: [u8; N], vector: [u8; N]) -> [u8; N] {
        array(|i| if i % LANE < S { fill[i + LANE - S] } else { vector[i - S] })
    }

    unsafe fn across<const S: usize>(fill: [u8; N], vector: [u8; N]) -> [u8; N] {
        array(|i| match i / LANE {
            lane if lane % 2 == 0 => fill[i],
            lane => vector[lane * LANE - S + i % S],
        })
    }

    unsafe fn halfway<const S: usize>(fill: [u8; N], vector: [u8; N]) -> [u8; N] {
        array(|i| if i < N / 2 { fill[i] } else { vector[N / 2 - S + i % S] })
    }

    unsafe fn lasts<const S: usize>(vector: [u8; N]) -> [u8; N] {
        array(|i| vector[i / LANE * LANE + LANE - S + i % S])
    }

    unsafe fn between(vector: [u8; N], next: [u8; N]) -> [u8; N] {
        array(|i| if i < N / 2 { vector[i + N / 2] } else { next[i - N / 2] })
    }

    unsafe fn last<const S: usize>(vector: [u8; N]) -> [u8; N] {
        array(|i| vector[N - S + i % S])
    }

    unsafe fn pick(mask: [u8; N], ones: [u8; N], zeros: [u8; N]) -> [u8; N] {
        array(|i| if mask[i] == 0xff { ones[i] } else { zeros[i] })
    }
}

// SAFETY: as above.
unsafe impl<const N: usize, const APART: bool> Masked for Bytes<N, APART> {
    unsafe fn shift<const S: usize>(before: [u8; N], vector: [u8; N]) -> [u8; N] {
        array(|i| if i < S { before[i + N - S] } else { vector[i - S] })
    }

    unsafe fn mask<const S: usize>(bits: &[u32; 2], g: usize) -> [u8; N] {
        let bits = u64::from(bits[0]) | u64::from(bits[1]) << 32;
        array(|i| if bits >> (g * (N / S) + i / S) & 1 == 1 { 0xff } else { 0 })
    }

    unsafe fn mask_last<const S: usize>(bits: &[u32; 2], g: usize) -> [u8; N] {
        let bits = u64::from(bits[0]) | u64::from(bits[1]) << 32;
        if bits >> (g * (N / S) + N / S - 1) & 1 == 1 { [0xff; N] } else { [0; N] }
    }
}

// SAFETY: as above.
unsafe impl<const N: usize, const APART: bool> Crosswise for Bytes<N, APART> {
    const CROSSWISE: bool = <Self as Ordered>::APART;
}

// SAFETY: as above.
unsafe impl<const N: usize, const APART: bool> Items for Bytes<N, APART> {
    unsafe fn split<const I: usize>(low: [u8; N], high: [u8; N]) -> [[u8; N]; 2] {
        [0, 1].map(|odd| {
            array(|i| {
                let from = (2 * (i / I) + odd) * I + i % I;
                if from < N { low[from] } else { high[from - N] }
            })
        })
    }

    unsafe fn merge<const I: usize>(even: [u8; N], odd: [u8; N]) -> [[u8; N]; 2] {
        [0, N].map(|first| {
            array(|i| {
                let item = (first + i) / I;
                [even, odd][item % 2][item / 2 * I + i % I]
            })
        })
    }

    unsafe fn later<const I: usize>(before: [u8; N], vector: [u8; N], n: usize) -> [u8; N] {
        array(|i| if i < n * I { before[i + N - n * I] } else { vector[i - n * I] })
    }

    unsafe fn words(vector: [u8; N], places: &[u32; LONGEST / 4]) -> [u8; N] {
        array(|i| vector[4 * places[i / 4] as usize % N + i % 4])
    }

    unsafe fn words_of_two(low: [u8; N], high: [u8; N], places: &[u32; LONGEST / 4]) -> [u8; N] {
        array(|i| {
            let byte = 4 * places[i / 4] as usize + i % 4;
            if byte < N { low[byte] } else { high[byte - N] }
        })
    }
}
