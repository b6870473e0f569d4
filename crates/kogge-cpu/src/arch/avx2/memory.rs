//! Loads and stores: vectors that lie together, past the caches too, and chunks that lie apart.

use core::arch::x86_64::*;

/// # Safety
///
/// 32 bytes must be readable at the `i`-th vector.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) unsafe fn load<T>(row: *const T, i: usize) -> __m256i {
    // SAFETY: readable by contract; `loadu` asks for no alignment.
    unsafe { _mm256_loadu_si256(row.cast::<__m256i>().add(i)) }
}

/// # Safety
///
/// 32 bytes must be writable at the `i`-th vector.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) unsafe fn store<T>(row: *mut T, i: usize, vector: __m256i) {
    // SAFETY: writable by contract; `storeu` asks for no alignment.
    unsafe { _mm256_storeu_si256(row.cast::<__m256i>().add(i), vector) }
}

/// # Safety
///
/// 32 bytes must be writable at the `i`-th vector, which is aligned to as many.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) unsafe fn stream<T>(row: *mut T, i: usize, vector: __m256i) {
    // SAFETY: writable and aligned by contract.
    unsafe { _mm256_stream_si256(row.cast::<__m256i>().add(i), vector) }
}

/// Two chunks that lie apart.
///
/// # Safety
///
/// 16 bytes must be readable at each.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) unsafe fn load_chunks(low: *const u8, high: *const u8) -> __m256i {
    // SAFETY: readable by contract; `loadu` asks for no alignment.
    unsafe {
        let low = _mm256_castsi128_si256(_mm_loadu_si128(low.cast()));
        _mm256_inserti128_si256::<1>(low, _mm_loadu_si128(high.cast()))
    }
}

/// # Safety
///
/// 16 bytes must be writable at each place.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) unsafe fn store_chunks(vector: __m256i, low: *mut u8, high: *mut u8) {
    // SAFETY: writable by contract; `storeu` asks for no alignment.
    unsafe {
        _mm_storeu_si128(low.cast(), _mm256_castsi256_si128(vector));
        _mm_storeu_si128(high.cast(), _mm256_extracti128_si256::<1>(vector));
    }
}
