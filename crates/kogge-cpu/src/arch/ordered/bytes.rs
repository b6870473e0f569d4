//! Vectors as arrays of bytes: for tests of kernels at either width, and for Miri, which doesn't
//! interpret intrinsics.

use super::Ordered;
use crate::array::array;

/// Vectors of `N` bytes: a lane or two.
#[derive(Clone, Copy)]
pub(crate) struct V<const N: usize>;

/// Bytes of a lane.
const LANE: usize = 16;

// SAFETY: the vector is the array.
unsafe impl<const N: usize> Ordered for V<N> {
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

    unsafe fn up<const S: usize>(fill: [u8; N], vector: [u8; N]) -> [u8; N] {
        array(|i| if i % LANE < S { fill[i + LANE - S] } else { vector[i - S] })
    }

    unsafe fn across<const S: usize>(fill: [u8; N], vector: [u8; N]) -> [u8; N] {
        array(|i| if i < LANE { fill[i] } else { vector[LANE - S + i % S] })
    }

    unsafe fn last<const S: usize>(vector: [u8; N]) -> [u8; N] {
        array(|i| vector[N - S + i % S])
    }

    unsafe fn opaque(vector: [u8; N]) -> [u8; N] {
        vector
    }
}
