//! Transposition within 16-byte lanes, which makes columns of the words of chunks.

use core::arch::x86_64::*;

/// Transposes the 4×4 words of each 16-byte lane; its own inverse.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn transpose4(v: [__m512i; 4]) -> [__m512i; 4] {
    let (a, b) = (_mm512_unpacklo_epi32(v[0], v[1]), _mm512_unpackhi_epi32(v[0], v[1]));
    let (c, d) = (_mm512_unpacklo_epi32(v[2], v[3]), _mm512_unpackhi_epi32(v[2], v[3]));
    [
        _mm512_unpacklo_epi64(a, c),
        _mm512_unpackhi_epi64(a, c),
        _mm512_unpacklo_epi64(b, d),
        _mm512_unpackhi_epi64(b, d),
    ]
}

/// Transposes the 2×2 words of each 16-byte lane; its own inverse.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn transpose2(v: [__m512i; 2]) -> [__m512i; 2] {
    [_mm512_unpacklo_epi64(v[0], v[1]), _mm512_unpackhi_epi64(v[0], v[1])]
}
