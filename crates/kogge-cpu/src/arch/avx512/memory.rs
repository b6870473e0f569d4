//! Loads and stores: vectors that lie together, past the caches too, and chunks that lie apart.

use crate::array::map;
use core::arch::x86_64::*;

/// # Safety
///
/// 64 bytes must be readable at the `i`-th vector.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) unsafe fn load<T>(row: *const T, i: usize) -> __m512i {
    // SAFETY: readable by contract; `loadu` asks for no alignment.
    unsafe { _mm512_loadu_si512(row.cast::<__m512i>().add(i)) }
}

/// Four chunks that lie apart.
///
/// # Safety
///
/// 16 bytes must be readable at each.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) unsafe fn load_chunks(chunks: [*const u8; 4]) -> __m512i {
    // SAFETY: readable by contract; `loadu` asks for no alignment.
    unsafe {
        let [a, b, c, d] = map(chunks, |chunk| _mm_loadu_si128(chunk.cast()));
        let vector = _mm512_inserti32x4::<1>(_mm512_castsi128_si512(a), b);
        _mm512_inserti32x4::<3>(_mm512_inserti32x4::<2>(vector, c), d)
    }
}

/// # Safety
///
/// 64 bytes must be writable at the `i`-th vector.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) unsafe fn store<T>(row: *mut T, i: usize, vector: __m512i) {
    // SAFETY: writable by contract; `storeu` asks for no alignment.
    unsafe { _mm512_storeu_si512(row.cast::<__m512i>().add(i), vector) }
}

/// # Safety
///
/// 64 bytes must be writable at the `i`-th vector, which is aligned to as many.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) unsafe fn stream<T>(row: *mut T, i: usize, vector: __m512i) {
    // SAFETY: writable and aligned by contract.
    unsafe { _mm512_stream_si512(row.cast::<__m512i>().add(i), vector) }
}
