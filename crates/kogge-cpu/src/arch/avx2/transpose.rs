//! Transposition within 16-byte lanes, which makes columns of the words of chunks.

use core::arch::x86_64::*;

/// Transposes the 4×4 words of each 16-byte lane; its own inverse.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn transpose4(v: [__m256i; 4]) -> [__m256i; 4] {
    let (a, b) = (_mm256_unpacklo_epi32(v[0], v[1]), _mm256_unpackhi_epi32(v[0], v[1]));
    let (c, d) = (_mm256_unpacklo_epi32(v[2], v[3]), _mm256_unpackhi_epi32(v[2], v[3]));
    [
        _mm256_unpacklo_epi64(a, c),
        _mm256_unpackhi_epi64(a, c),
        _mm256_unpacklo_epi64(b, d),
        _mm256_unpackhi_epi64(b, d),
    ]
}

/// Transposes the 2×2 words of each 16-byte lane; its own inverse.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn transpose2(v: [__m256i; 2]) -> [__m256i; 2] {
    [_mm256_unpacklo_epi64(v[0], v[1]), _mm256_unpackhi_epi64(v[0], v[1])]
}

/// The low halves of two vectors, which hold the even chunks of a column, and the high ones.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn halve_split(low: __m256i, high: __m256i) -> (__m256i, __m256i) {
    let even = _mm256_permute2x128_si256::<0x20>(low, high);
    (even, _mm256_permute2x128_si256::<0x31>(low, high))
}
