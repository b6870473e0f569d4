//! AVX2: 32-byte vectors of two 16-byte lanes.
//!
//! A vector loads two chunks. Unpacking works within the 16-byte lanes, so after the transposition
//! a column's even chunks lie in the low halves and its odd ones in the high halves.

use super::simd::SET;
use super::{CHUNKS, Words, Work};
use crate::array::{array, map};
use core::arch::asm;
use core::arch::x86_64::*;

/// Whether this CPU has what the level needs.
pub(super) fn present() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("f16c")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}

/// Does the work, compiled for AVX2.
#[target_feature(enable = "avx2,fma,bmi1,bmi2,f16c,lzcnt,popcnt")]
pub(super) fn run<W: Work>(work: W) -> W::Output {
    // SAFETY: this function is compiled for, and only reached with, the features of both types.
    unsafe { work.run::<W32, W64>() }
}

/// 4-byte words, 8 to a vector.
#[derive(Clone, Copy)]
pub(crate) struct W32;

/// 8-byte words, 4 to a vector.
#[derive(Clone, Copy)]
pub(crate) struct W64;

/// The bits of values `f32`, rounded to `f16`, as words.
#[target_feature(enable = "avx2,f16c")]
#[inline]
fn half_bits(values: __m256i) -> __m256i {
    let halves = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm256_castsi256_ps(values));
    _mm256_cvtepu16_epi32(halves)
}

/// Transposes the 4×4 words of each 16-byte lane; its own inverse.
#[target_feature(enable = "avx2")]
#[inline]
fn transpose4(v: [__m256i; 4]) -> [__m256i; 4] {
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
fn transpose2(v: [__m256i; 2]) -> [__m256i; 2] {
    [_mm256_unpacklo_epi64(v[0], v[1]), _mm256_unpackhi_epi64(v[0], v[1])]
}

/// The low halves of two vectors, which hold the even chunks of a column, and the high ones.
#[target_feature(enable = "avx2")]
#[inline]
fn halve_split(low: __m256i, high: __m256i) -> (__m256i, __m256i) {
    let even = _mm256_permute2x128_si256::<0x20>(low, high);
    (even, _mm256_permute2x128_si256::<0x31>(low, high))
}

/// # Safety
///
/// 32 bytes must be readable at the `i`-th vector.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn load<T>(row: *const T, i: usize) -> __m256i {
    // SAFETY: readable by contract; `loadu` asks for no alignment.
    unsafe { _mm256_loadu_si256(row.cast::<__m256i>().add(i)) }
}

/// Two chunks that lie apart.
///
/// # Safety
///
/// 16 bytes must be readable at each.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn load_chunks(low: *const u8, high: *const u8) -> __m256i {
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
unsafe fn store_chunks(vector: __m256i, low: *mut u8, high: *mut u8) {
    // SAFETY: writable by contract; `storeu` asks for no alignment.
    unsafe {
        _mm_storeu_si128(low.cast(), _mm256_castsi256_si128(vector));
        _mm_storeu_si128(high.cast(), _mm256_extracti128_si256::<1>(vector));
    }
}

/// # Safety
///
/// 32 bytes must be writable at the `i`-th vector.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn store<T>(row: *mut T, i: usize, vector: __m256i) {
    // SAFETY: writable by contract; `storeu` asks for no alignment.
    unsafe { _mm256_storeu_si256(row.cast::<__m256i>().add(i), vector) }
}

/// # Safety
///
/// 32 bytes must be writable at the `i`-th vector, which is aligned to as many.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn stream<T>(row: *mut T, i: usize, vector: __m256i) {
    // SAFETY: writable and aligned by contract.
    unsafe { _mm256_stream_si256(row.cast::<__m256i>().add(i), vector) }
}

/// Compares words, as [`Simd::differ`](super::Simd::differ) does.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn differ(words: &[u32; 64], others: &[u32; 64]) -> u64 {
    let half = |half: usize| {
        let [a, b, c, d] = array(|i| {
            let i = 4 * half + i;
            // SAFETY: vectors of the arrays.
            unsafe { _mm256_cmpeq_epi32(load(words.as_ptr(), i), load(others.as_ptr(), i)) }
        });
        // Packing works within the 16-byte lanes, so that words of four bytes change places.
        let bytes = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
        let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
        !_mm256_movemask_epi8(_mm256_permutevar8x32_epi32(bytes, order)) as u32
    };
    u64::from(half(0)) | u64::from(half(1)) << 32
}

/// Lists places, as [`Simd::list`](super::Simd::list) does.
///
/// # Safety
///
/// As there.
#[target_feature(enable = "avx2,popcnt")]
#[inline]
pub(super) unsafe fn list(places: u64, first: u32, scale: u32, mut to: *mut u32) -> usize {
    let scale = _mm_cvtsi32_si128(scale as i32);
    let eight = _mm256_sll_epi32(_mm256_set1_epi32(8), scale);
    let mut first = _mm256_sll_epi32(_mm256_set1_epi32(first as i32), scale);
    for byte in places.to_le_bytes() {
        let set = _mm_cvtsi64_si128(i64::from_le_bytes(SET[usize::from(byte)]));
        let set = _mm256_sll_epi32(_mm256_cvtepu8_epi32(set), scale);
        // SAFETY: room for eight by contract.
        unsafe {
            _mm256_storeu_si256(to.cast(), _mm256_add_epi32(first, set));
            to = to.add(byte.count_ones() as usize);
        }
        first = _mm256_add_epi32(first, eight);
    }
    places.count_ones() as usize
}

#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn opaque(mut vector: __m256i) -> __m256i {
    // SAFETY: no instruction at all; the register comes back as it was.
    unsafe {
        asm!("/* {0} */", inout(ymm_reg) vector, options(pure, nomem, nostack, preserves_flags))
    }
    vector
}

/// What AVX2 has for words of any width.
#[derive(Clone, Copy)]
pub(crate) struct Simd;

// SAFETY: the methods do what the trait says.
unsafe impl super::Simd for Simd {
    type Masked = super::ordered::avx2::V;
    type Wide = super::ordered::avx2::V;

    #[inline(always)]
    unsafe fn stream_line(from: *const u8, to: *mut u8) {
        // SAFETY: readable, writable and aligned by contract; the caller vouches for AVX2.
        unsafe {
            for i in 0..2 {
                _mm256_stream_si256(to.cast::<__m256i>().add(i), load(from, i));
            }
        }
    }

    #[inline(always)]
    unsafe fn differ(words: &[u32; 64], others: &[u32; 64]) -> u64 {
        // SAFETY: the caller vouches for AVX2.
        unsafe { differ(words, others) }
    }

    #[inline(always)]
    unsafe fn flagged(flags: &[u8; 64]) -> u64 {
        // SAFETY: readable; the caller vouches for AVX2.
        unsafe {
            let [low, high] = array(|i| {
                // The top bit of a byte is what is asked for.
                let flags = _mm256_slli_epi16::<7>(load(flags.as_ptr(), i));
                u64::from(_mm256_movemask_epi8(flags) as u32)
            });
            low | high << 32
        }
    }

    #[inline(always)]
    unsafe fn list(places: u64, first: u32, scale: u32, to: *mut u32) -> usize {
        // SAFETY: the caller vouches for AVX2 and POPCNT, and for the room.
        unsafe { list(places, first, scale, to) }
    }

    #[inline(always)]
    unsafe fn compress(bits: u64, of: u64) -> u64 {
        // SAFETY: the caller vouches for BMI2.
        unsafe { _pext_u64(bits, of) }
    }
}

// SAFETY: `__m256i` is 8 plain words; 4 make a column of 32, 4 columns a row.
unsafe impl Words for W32 {
    type Word = u32;
    type Vector = __m256i;
    type Column = [__m256i; 4];
    type Simd = Simd;
    type Row = [[__m256i; 4]; 4];

    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn split(row: *const u32) -> Self::Row {
        // SAFETY: the caller vouches for 512 readable bytes, which is 16 vectors, and for AVX2.
        unsafe {
            let mut columns = [[_mm256_setzero_si256(); 4]; 4];
            for g in 0..4 {
                let loaded = array(|i| load(row, 4 * g + i));
                for (column, vector) in columns.iter_mut().zip(transpose4(loaded)) {
                    column[g] = vector;
                }
            }
            columns
        }
    }

    #[inline(always)]
    unsafe fn join(columns: Self::Row, row: *mut u32) {
        // SAFETY: the caller vouches for 512 writable bytes, which is 16 vectors, and for AVX2.
        unsafe {
            for g in 0..4 {
                let vectors = transpose4(map(columns, |column| column[g]));
                for (i, vector) in vectors.into_iter().enumerate() {
                    store(row, 4 * g + i, vector);
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn join_stream(columns: Self::Row, row: *mut u32) {
        // SAFETY: the caller vouches for 512 writable, aligned bytes, which is 16 vectors, and for AVX2.
        unsafe {
            for g in 0..4 {
                let vectors = transpose4(map(columns, |column| column[g]));
                for (i, vector) in vectors.into_iter().enumerate() {
                    stream(row, 4 * g + i, vector);
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn to_natural(vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { _mm256_permutevar8x32_epi32(vector, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)) }
    }

    #[inline(always)]
    unsafe fn from_natural(vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { _mm256_permutevar8x32_epi32(vector, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7)) }
    }

    #[inline(always)]
    unsafe fn slide<const S: usize>(low: __m256i, high: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let middle = _mm256_permute2x128_si256::<0x21>(low, high);
            match S {
                1 => _mm256_alignr_epi8::<12>(high, middle),
                2 => _mm256_alignr_epi8::<8>(high, middle),
                4 => middle,
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn earlier<const S: usize>(low: __m256i, high: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            // Lane 4h + p is chunk 2p + h.
            match S {
                1 => _mm256_permute2x128_si256::<0x21>(_mm256_alignr_epi8::<12>(high, low), high),
                2 => _mm256_alignr_epi8::<12>(high, low),
                4 => _mm256_alignr_epi8::<8>(high, low),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn blend<const S: usize>(low: __m256i, high: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            match S {
                1 => _mm256_blend_epi32::<0b1111_1110>(low, high),
                2 => _mm256_blend_epi32::<0b1110_1110>(low, high),
                4 => _mm256_blend_epi32::<0b1100_1100>(low, high),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn widen_f16(pairs: __m256i) -> [__m256i; 2] {
        // SAFETY: the caller vouches for AVX2 and F16C.
        unsafe {
            let evens = _mm256_and_si256(pairs, _mm256_set1_epi32(0xffff));
            let packed = _mm256_packus_epi32(evens, _mm256_srli_epi32::<16>(pairs));
            let packed = _mm256_permute4x64_epi64::<0b11_01_10_00>(packed);
            let even = _mm256_cvtph_ps(_mm256_castsi256_si128(packed));
            let odd = _mm256_cvtph_ps(_mm256_extracti128_si256::<1>(packed));
            [_mm256_castps_si256(even), _mm256_castps_si256(odd)]
        }
    }

    #[inline(always)]
    unsafe fn narrow_f16(values: [__m256i; 2]) -> __m256i {
        // SAFETY: the caller vouches for AVX2 and F16C.
        unsafe {
            let even = half_bits(values[0]);
            let odd = half_bits(values[1]);
            _mm256_or_si256(even, _mm256_slli_epi32::<16>(odd))
        }
    }

    #[inline(always)]
    unsafe fn halve(low: __m256i, high: __m256i) -> (__m256i, __m256i) {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
            let even = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(low, high));
            let odd = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(low, high));
            (
                _mm256_permute4x64_epi64::<0b11_01_10_00>(even),
                _mm256_permute4x64_epi64::<0b11_01_10_00>(odd),
            )
        }
    }

    #[inline(always)]
    unsafe fn halve_split(low: __m256i, high: __m256i) -> (__m256i, __m256i) {
        // SAFETY: the caller vouches for AVX2.
        unsafe { halve_split(low, high) }
    }

    #[inline(always)]
    unsafe fn splat(word: u32) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { _mm256_set1_epi32(word as i32) }
    }

    #[inline(always)]
    unsafe fn gather(from: *const u8, places: &[u32; CHUNKS]) -> Self::Row {
        // SAFETY: the caller vouches for 16 readable bytes at each place, and for AVX2.
        unsafe {
            let chunk = |i: usize| from.add(places[i] as usize);
            let mut columns = [[_mm256_setzero_si256(); 4]; 4];
            for g in 0..4 {
                let loaded = array(|i| {
                    let i = 8 * g + 2 * i;
                    load_chunks(chunk(i), chunk(i + 1))
                });
                for (column, vector) in columns.iter_mut().zip(transpose4(loaded)) {
                    column[g] = vector;
                }
            }
            columns
        }
    }

    #[inline(always)]
    unsafe fn scatter(columns: Self::Row, to: *mut u8, places: &[u32; CHUNKS]) {
        // SAFETY: the caller vouches for 16 writable bytes at each place, and for AVX2.
        unsafe {
            let chunk = |i: usize| to.add(places[i] as usize);
            for g in 0..4 {
                let vectors = transpose4(map(columns, |column| column[g]));
                for (i, vector) in vectors.into_iter().enumerate() {
                    let i = 8 * g + 2 * i;
                    store_chunks(vector, chunk(i), chunk(i + 1));
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn mask(bits: u32, g: usize) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let up = _mm256_setr_epi32(31, 30, 29, 28, 27, 26, 25, 24);
            let up = _mm256_sub_epi32(up, _mm256_set1_epi32(8 * g as i32));
            _mm256_sllv_epi32(_mm256_set1_epi32(bits as i32), up)
        }
    }

    #[inline(always)]
    unsafe fn select(mask: __m256i, ones: __m256i, zeros: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let cast = |vector| _mm256_castsi256_ps(vector);
            _mm256_castps_si256(_mm256_blendv_ps(cast(zeros), cast(ones), cast(mask)))
        }
    }

    #[inline(always)]
    unsafe fn opaque(vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { opaque(vector) }
    }
}

// SAFETY: `__m256i` is 4 plain words; 8 make a column of 32, 2 columns a row.
unsafe impl Words for W64 {
    type Word = u64;
    type Vector = __m256i;
    type Column = [__m256i; 8];
    type Simd = Simd;
    type Row = [[__m256i; 8]; 2];

    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn split(row: *const u64) -> Self::Row {
        // SAFETY: the caller vouches for 512 readable bytes, which is 16 vectors, and for AVX2.
        unsafe {
            let mut columns = [[_mm256_setzero_si256(); 8]; 2];
            for g in 0..8 {
                let [first, second] = transpose2([load(row, 2 * g), load(row, 2 * g + 1)]);
                columns[0][g] = first;
                columns[1][g] = second;
            }
            columns
        }
    }

    #[inline(always)]
    unsafe fn join(columns: Self::Row, row: *mut u64) {
        // SAFETY: the caller vouches for 512 writable bytes, which is 16 vectors, and for AVX2.
        unsafe {
            for g in 0..8 {
                let [first, second] = transpose2([columns[0][g], columns[1][g]]);
                store(row, 2 * g, first);
                store(row, 2 * g + 1, second);
            }
        }
    }

    #[inline(always)]
    unsafe fn join_stream(columns: Self::Row, row: *mut u64) {
        // SAFETY: the caller vouches for 512 writable, aligned bytes, which is 16 vectors, and for AVX2.
        unsafe {
            for g in 0..8 {
                let [first, second] = transpose2([columns[0][g], columns[1][g]]);
                stream(row, 2 * g, first);
                stream(row, 2 * g + 1, second);
            }
        }
    }

    #[inline(always)]
    unsafe fn to_natural(vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { _mm256_permute4x64_epi64::<0b11_01_10_00>(vector) }
    }

    #[inline(always)]
    unsafe fn from_natural(vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { _mm256_permute4x64_epi64::<0b11_01_10_00>(vector) }
    }

    #[inline(always)]
    unsafe fn slide<const S: usize>(low: __m256i, high: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let middle = _mm256_permute2x128_si256::<0x21>(low, high);
            match S {
                1 => _mm256_alignr_epi8::<8>(high, middle),
                2 => middle,
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn earlier<const S: usize>(low: __m256i, high: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            // Lane 2h + p is chunk 2p + h.
            let before = _mm256_alignr_epi8::<8>(high, low);
            match S {
                1 => _mm256_permute2x128_si256::<0x21>(before, high),
                2 => before,
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn blend<const S: usize>(low: __m256i, high: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            match S {
                1 => _mm256_blend_epi32::<0b1111_1100>(low, high),
                2 => _mm256_blend_epi32::<0b1100_1100>(low, high),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn halve(low: __m256i, high: __m256i) -> (__m256i, __m256i) {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let [even, odd] = transpose2([low, high]);
            (
                _mm256_permute4x64_epi64::<0b11_01_10_00>(even),
                _mm256_permute4x64_epi64::<0b11_01_10_00>(odd),
            )
        }
    }

    #[inline(always)]
    unsafe fn halve_split(low: __m256i, high: __m256i) -> (__m256i, __m256i) {
        // SAFETY: the caller vouches for AVX2.
        unsafe { halve_split(low, high) }
    }

    #[inline(always)]
    unsafe fn splat(word: u64) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { _mm256_set1_epi64x(word as i64) }
    }

    #[inline(always)]
    unsafe fn gather(from: *const u8, places: &[u32; CHUNKS]) -> Self::Row {
        // SAFETY: the caller vouches for 16 readable bytes at each place, and for AVX2.
        unsafe {
            let chunk = |i: usize| from.add(places[i] as usize);
            let mut columns = [[_mm256_setzero_si256(); 8]; 2];
            for g in 0..8 {
                let loaded = array(|i| {
                    let i = 4 * g + 2 * i;
                    load_chunks(chunk(i), chunk(i + 1))
                });
                for (column, vector) in columns.iter_mut().zip(transpose2(loaded)) {
                    column[g] = vector;
                }
            }
            columns
        }
    }

    #[inline(always)]
    unsafe fn scatter(columns: Self::Row, to: *mut u8, places: &[u32; CHUNKS]) {
        // SAFETY: the caller vouches for 16 writable bytes at each place, and for AVX2.
        unsafe {
            let chunk = |i: usize| to.add(places[i] as usize);
            for g in 0..8 {
                let vectors = transpose2(map(columns, |column| column[g]));
                for (i, vector) in vectors.into_iter().enumerate() {
                    let i = 4 * g + 2 * i;
                    store_chunks(vector, chunk(i), chunk(i + 1));
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn mask(bits: u32, g: usize) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let up = _mm256_setr_epi64x(63, 62, 61, 60);
            let up = _mm256_sub_epi64(up, _mm256_set1_epi64x(4 * g as i64));
            _mm256_sllv_epi64(_mm256_set1_epi64x(bits.into()), up)
        }
    }

    #[inline(always)]
    unsafe fn select(mask: __m256i, ones: __m256i, zeros: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe {
            let cast = |vector| _mm256_castsi256_pd(vector);
            _mm256_castpd_si256(_mm256_blendv_pd(cast(zeros), cast(ones), cast(mask)))
        }
    }

    #[inline(always)]
    unsafe fn opaque(vector: __m256i) -> __m256i {
        // SAFETY: the caller vouches for AVX2.
        unsafe { opaque(vector) }
    }
}
