//! AVX-512: 64-byte vectors of four 16-byte lanes.
//!
//! A vector loads four chunks. Unpacking works within the 16-byte lanes, so after the transposition
//! lane L of a column holds the chunks that are L modulo 4.
//!
//! `valignd` and `valignq` are written as assembly: the compiler would turn the shuffles they mean
//! into two-source permutes, which take an index register and, on Zen 4, twice the time. So is `vpalignr`,
//! which it would dissolve together with the operation on what was moved.

use super::avx2::Simd as Narrower;
use super::{CHUNKS, Words, Work};
use crate::array::{array, map};
use core::arch::asm;
use core::arch::x86_64::*;

/// Whether this CPU has what the level needs, beyond AVX2's.
pub(super) fn present() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

/// Does the work, compiled for AVX-512.
#[target_feature(
    enable = "avx2,fma,bmi1,bmi2,f16c,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl"
)]
pub(super) fn run<W: Work>(work: W) -> W::Output {
    // SAFETY: this function is compiled for, and only reached with, the features of both types.
    unsafe { work.run::<W32, W64>() }
}

/// 4-byte words, 16 to a vector.
#[derive(Clone, Copy)]
pub(crate) struct W32;

/// 8-byte words, 8 to a vector.
#[derive(Clone, Copy)]
pub(crate) struct W64;

/// Transposes the 4×4 words of each 16-byte lane; its own inverse.
#[target_feature(enable = "avx512f")]
#[inline]
fn transpose4(v: [__m512i; 4]) -> [__m512i; 4] {
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
fn transpose2(v: [__m512i; 2]) -> [__m512i; 2] {
    [_mm512_unpacklo_epi64(v[0], v[1]), _mm512_unpackhi_epi64(v[0], v[1])]
}

/// The bits of values `f32`, rounded to `f16`, as words.
#[target_feature(enable = "avx512f")]
#[inline]
fn half_bits(values: __m512i) -> __m512i {
    let halves = _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm512_castsi512_ps(values));
    _mm512_cvtepu16_epi32(halves)
}

/// # Safety
///
/// 64 bytes must be readable at the `i`-th vector.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn load<T>(row: *const T, i: usize) -> __m512i {
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
unsafe fn load_chunks(chunks: [*const u8; 4]) -> __m512i {
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
unsafe fn store<T>(row: *mut T, i: usize, vector: __m512i) {
    // SAFETY: writable by contract; `storeu` asks for no alignment.
    unsafe { _mm512_storeu_si512(row.cast::<__m512i>().add(i), vector) }
}

/// # Safety
///
/// 64 bytes must be writable at the `i`-th vector, which is aligned to as many.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn stream<T>(row: *mut T, i: usize, vector: __m512i) {
    // SAFETY: writable and aligned by contract.
    unsafe { _mm512_stream_si512(row.cast::<__m512i>().add(i), vector) }
}

/// A mask as something that the optimiser can't look into: it makes shuffles of a blend by a mask that it
/// knows, which take two or three times as long.
#[target_feature(enable = "avx512f")]
#[inline]
fn opaque_mask(mut mask: __mmask16) -> __mmask16 {
    // SAFETY: no instruction at all; the register comes back as it was.
    unsafe { asm!("/* {0} */", inout(kreg) mask, options(pure, nomem, nostack, preserves_flags)) }
    mask
}

#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn opaque(mut vector: __m512i) -> __m512i {
    // SAFETY: no instruction at all; the register comes back as it was.
    unsafe {
        asm!("/* {0} */", inout(zmm_reg) vector, options(pure, nomem, nostack, preserves_flags))
    }
    vector
}

/// Functions `$name::<N>(high, low)`: both as one, `low` first, moved down by `N` lanes.
macro_rules! align {
    ($name:ident, $instruction:literal, $($lanes:literal),+) => {
        #[target_feature(enable = "avx512f")]
        #[inline]
        fn $name<const N: usize>(high: __m512i, low: __m512i) -> __m512i {
            let aligned: __m512i;
            match N {
                $($lanes => {
                    // SAFETY: an instruction on registers alone, of AVX-512F.
                    unsafe {
                        asm!(
                            concat!($instruction, " {0}, {1}, {2}, ", $lanes),
                            out(zmm_reg) aligned,
                            in(zmm_reg) high,
                            in(zmm_reg) low,
                            options(pure, nomem, nostack, preserves_flags)
                        )
                    }
                })+
                _ => unreachable!(),
            }
            aligned
        }
    };
}

align!(align32, "valignd", 8, 12, 13, 14, 15);
align!(align64, "valignq", 4, 6, 7);
align!(align8, "vpalignr", 8, 12);

/// What AVX-512 has for words of any width.
#[derive(Clone, Copy)]
pub(crate) struct Simd;

// SAFETY: the methods do what the trait says.
unsafe impl super::Simd for Simd {
    type Masked = super::ordered::avx512::V;
    type Wide = super::ordered::wide::V;
    const WHERE_THEY_LIE: bool = true;

    #[inline(always)]
    unsafe fn stream_line(from: *const u8, to: *mut u8) {
        // SAFETY: readable, writable and aligned by contract; the caller vouches for AVX-512.
        unsafe { _mm512_stream_si512(to.cast::<__m512i>(), load(from, 0)) }
    }

    #[inline(always)]
    unsafe fn differ(words: &[u32; 64], others: &[u32; 64]) -> u64 {
        let mut differ = 0;
        for i in 0..4 {
            // SAFETY: vectors of the arrays; the caller vouches for AVX-512.
            let here = unsafe {
                _mm512_cmpneq_epi32_mask(load(words.as_ptr(), i), load(others.as_ptr(), i))
            };
            differ |= u64::from(here) << (16 * i);
        }
        differ
    }

    #[inline(always)]
    unsafe fn flagged(flags: &[u8; 64]) -> u64 {
        // SAFETY: readable; the caller vouches for AVX-512.
        unsafe {
            let flags = load(flags.as_ptr(), 0);
            _mm512_test_epi8_mask(flags, flags)
        }
    }

    #[inline(always)]
    unsafe fn list(places: u64, first: u32, scale: u32, to: *mut u32) -> usize {
        // SAFETY: the caller vouches for AVX2, which comes with AVX-512, and for the room.
        unsafe { Narrower::list(places, first, scale, to) }
    }

    #[inline(always)]
    unsafe fn compress(bits: u64, of: u64) -> u64 {
        // SAFETY: the caller vouches for BMI2.
        unsafe { _pext_u64(bits, of) }
    }
}

// SAFETY: `__m512i` is 16 plain words; 2 make a column of 32, 4 columns a row.
unsafe impl Words for W32 {
    type Word = u32;
    type Vector = __m512i;
    type Column = [__m512i; 2];
    type Simd = Simd;
    type Row = [[__m512i; 2]; 4];
    type Group = [__m512i; 4];

    const LANES: usize = 16;

    #[inline(always)]
    unsafe fn split(row: *const u32) -> Self::Row {
        // SAFETY: the caller vouches for 512 readable bytes, which is 2 groups, and for AVX-512.
        unsafe {
            let mut columns = [[_mm512_setzero_si512(); 2]; 4];
            for g in 0..2 {
                for (column, vector) in columns.iter_mut().zip(Self::split_group(row.add(64 * g))) {
                    column[g] = vector;
                }
            }
            columns
        }
    }

    #[inline(always)]
    unsafe fn join(columns: Self::Row, row: *mut u32) {
        // SAFETY: the caller vouches for 512 writable bytes, which is 2 groups, and for AVX-512.
        unsafe {
            for g in 0..2 {
                Self::join_group(map(columns, |column| column[g]), row.add(64 * g));
            }
        }
    }

    #[inline(always)]
    unsafe fn split_group(group: *const u32) -> Self::Group {
        // SAFETY: the caller vouches for 4 readable vectors, and for AVX-512.
        unsafe { transpose4(array(|i| load(group, i))) }
    }

    #[inline(always)]
    unsafe fn join_group(group: Self::Group, to: *mut u32) {
        // SAFETY: the caller vouches for 4 writable vectors, and for AVX-512.
        unsafe {
            for (i, vector) in transpose4(group).into_iter().enumerate() {
                store(to, i, vector);
            }
        }
    }

    #[inline(always)]
    unsafe fn join_stream(columns: Self::Row, row: *mut u32) {
        // SAFETY: the caller vouches for 512 writable, aligned bytes, which is 8 vectors, and for AVX-512.
        unsafe {
            for g in 0..2 {
                let vectors = transpose4(map(columns, |column| column[g]));
                for (i, vector) in vectors.into_iter().enumerate() {
                    stream(row, 4 * g + i, vector);
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn to_natural(vector: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
            _mm512_permutexvar_epi32(order, vector)
        }
    }

    #[inline(always)]
    unsafe fn from_natural(vector: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
            _mm512_permutexvar_epi32(order, vector)
        }
    }

    #[inline(always)]
    unsafe fn slide<const S: usize>(low: __m512i, high: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            match S {
                1 => align32::<15>(high, low),
                2 => align32::<14>(high, low),
                3 => align32::<13>(high, low),
                4 => align32::<12>(high, low),
                8 => align32::<8>(high, low),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn earlier<const S: usize>(low: __m512i, high: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            // Lane 4q + p is chunk 4p + q. Places in `low` are those from 16 on.
            let one = _mm512_setr_epi32(31, 12, 13, 14, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
            let two = _mm512_setr_epi32(27, 8, 9, 10, 31, 12, 13, 14, 0, 1, 2, 3, 4, 5, 6, 7);
            match S {
                1 => _mm512_permutex2var_epi32(high, one, low),
                2 => _mm512_permutex2var_epi32(high, two, low),
                4 => align8::<12>(high, low),
                8 => align8::<8>(high, low),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn blend<const S: usize>(low: __m512i, high: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            let first = match S {
                1 => 0x0001,
                2 => 0x0011,
                4 => 0x1111,
                8 => 0x3333,
                _ => unreachable!(),
            };
            _mm512_mask_mov_epi32(high, opaque_mask(first), low)
        }
    }

    #[inline(always)]
    unsafe fn widen_f16(pairs: __m512i) -> [__m512i; 2] {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            let even = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(pairs));
            let odd = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_srli_epi32::<16>(pairs)));
            [_mm512_castps_si512(even), _mm512_castps_si512(odd)]
        }
    }

    #[inline(always)]
    unsafe fn narrow_f16(values: [__m512i; 2]) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            let even = half_bits(values[0]);
            let odd = half_bits(values[1]);
            _mm512_or_si512(even, _mm512_slli_epi32::<16>(odd))
        }
    }

    #[inline(always)]
    unsafe fn halve(low: __m512i, high: __m512i) -> (__m512i, __m512i) {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
            let odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
            (_mm512_permutex2var_epi32(low, even, high), _mm512_permutex2var_epi32(low, odd, high))
        }
    }

    #[inline(always)]
    unsafe fn halve_split(low: __m512i, high: __m512i) -> (__m512i, __m512i) {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            let even = _mm512_setr_epi32(0, 8, 1, 9, 2, 10, 3, 11, 16, 24, 17, 25, 18, 26, 19, 27);
            let odd = _mm512_setr_epi32(4, 12, 5, 13, 6, 14, 7, 15, 20, 28, 21, 29, 22, 30, 23, 31);
            (_mm512_permutex2var_epi32(low, even, high), _mm512_permutex2var_epi32(low, odd, high))
        }
    }

    #[inline(always)]
    unsafe fn splat(word: u32) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe { _mm512_set1_epi32(word as i32) }
    }

    #[inline(always)]
    unsafe fn gather(from: *const u8, places: &[u32; CHUNKS]) -> Self::Row {
        // SAFETY: the caller vouches for 16 readable bytes at each place, and for AVX-512.
        unsafe {
            let mut columns = [[_mm512_setzero_si512(); 2]; 4];
            for g in 0..2 {
                let loaded = array(|i| {
                    let first = 16 * g + 4 * i;
                    load_chunks(array(|i| from.add(places[first + i] as usize)))
                });
                for (column, vector) in columns.iter_mut().zip(transpose4(loaded)) {
                    column[g] = vector;
                }
            }
            columns
        }
    }

    #[inline(always)]
    unsafe fn mask(bits: u32, g: usize) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe { _mm512_movm_epi32((bits >> (16 * g)) as __mmask16) }
    }

    #[inline(always)]
    unsafe fn select(mask: __m512i, ones: __m512i, zeros: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        // As numbers: so the compiler makes one instruction of it and the sum of floats that is selected.
        unsafe {
            let [zeros, ones] = map([zeros, ones], |vector| _mm512_castsi512_ps(vector));
            _mm512_castps_si512(_mm512_mask_mov_ps(zeros, _mm512_movepi32_mask(mask), ones))
        }
    }

    #[inline(always)]
    unsafe fn opaque(vector: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe { opaque(vector) }
    }
}

// SAFETY: `__m512i` is 8 plain words; 4 make a column of 32, 2 columns a row.
unsafe impl Words for W64 {
    type Word = u64;
    type Vector = __m512i;
    type Column = [__m512i; 4];
    type Simd = Simd;
    type Row = [[__m512i; 4]; 2];
    type Group = [__m512i; 2];

    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn split(row: *const u64) -> Self::Row {
        // SAFETY: the caller vouches for 512 readable bytes, which is 4 groups, and for AVX-512.
        unsafe {
            let mut columns = [[_mm512_setzero_si512(); 4]; 2];
            for g in 0..4 {
                let [first, second] = Self::split_group(row.add(16 * g));
                columns[0][g] = first;
                columns[1][g] = second;
            }
            columns
        }
    }

    #[inline(always)]
    unsafe fn join(columns: Self::Row, row: *mut u64) {
        // SAFETY: the caller vouches for 512 writable bytes, which is 4 groups, and for AVX-512.
        unsafe {
            for g in 0..4 {
                Self::join_group([columns[0][g], columns[1][g]], row.add(16 * g));
            }
        }
    }

    #[inline(always)]
    unsafe fn split_group(group: *const u64) -> Self::Group {
        // SAFETY: the caller vouches for 2 readable vectors, and for AVX-512.
        unsafe { transpose2([load(group, 0), load(group, 1)]) }
    }

    #[inline(always)]
    unsafe fn join_group(group: Self::Group, to: *mut u64) {
        // SAFETY: the caller vouches for 2 writable vectors, and for AVX-512.
        unsafe {
            let [first, second] = transpose2(group);
            store(to, 0, first);
            store(to, 1, second);
        }
    }

    #[inline(always)]
    unsafe fn join_stream(columns: Self::Row, row: *mut u64) {
        // SAFETY: the caller vouches for 512 writable, aligned bytes, which is 8 vectors, and for AVX-512.
        unsafe {
            for g in 0..4 {
                let [first, second] = transpose2([columns[0][g], columns[1][g]]);
                stream(row, 2 * g, first);
                stream(row, 2 * g + 1, second);
            }
        }
    }

    #[inline(always)]
    unsafe fn to_natural(vector: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe { _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), vector) }
    }

    #[inline(always)]
    unsafe fn from_natural(vector: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe { _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7), vector) }
    }

    #[inline(always)]
    unsafe fn slide<const S: usize>(low: __m512i, high: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            match S {
                1 => align64::<7>(high, low),
                2 => align64::<6>(high, low),
                4 => align64::<4>(high, low),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn earlier<const S: usize>(low: __m512i, high: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            // Lane 2q + p is chunk 4p + q. Places in `low` are those from 8 on.
            let one = _mm512_setr_epi64(15, 6, 0, 1, 2, 3, 4, 5);
            let two = _mm512_setr_epi64(13, 4, 15, 6, 0, 1, 2, 3);
            match S {
                1 => _mm512_permutex2var_epi64(high, one, low),
                2 => _mm512_permutex2var_epi64(high, two, low),
                4 => align8::<8>(high, low),
                _ => unreachable!(),
            }
        }
    }

    #[inline(always)]
    unsafe fn blend<const S: usize>(low: __m512i, high: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            let first = match S {
                1 => 0x01,
                2 => 0x05,
                4 => 0x55,
                _ => unreachable!(),
            };
            _mm512_mask_mov_epi64(high, opaque_mask(first) as __mmask8, low)
        }
    }

    #[inline(always)]
    unsafe fn halve(low: __m512i, high: __m512i) -> (__m512i, __m512i) {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            let even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
            let odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
            (_mm512_permutex2var_epi64(low, even, high), _mm512_permutex2var_epi64(low, odd, high))
        }
    }

    #[inline(always)]
    unsafe fn halve_split(low: __m512i, high: __m512i) -> (__m512i, __m512i) {
        // SAFETY: the caller vouches for AVX-512.
        unsafe {
            let even = _mm512_setr_epi64(0, 4, 1, 5, 8, 12, 9, 13);
            let odd = _mm512_setr_epi64(2, 6, 3, 7, 10, 14, 11, 15);
            (_mm512_permutex2var_epi64(low, even, high), _mm512_permutex2var_epi64(low, odd, high))
        }
    }

    #[inline(always)]
    unsafe fn splat(word: u64) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe { _mm512_set1_epi64(word as i64) }
    }

    #[inline(always)]
    unsafe fn gather(from: *const u8, places: &[u32; CHUNKS]) -> Self::Row {
        // SAFETY: the caller vouches for 16 readable bytes at each place, and for AVX-512.
        unsafe {
            let mut columns = [[_mm512_setzero_si512(); 4]; 2];
            for g in 0..4 {
                let loaded = array(|i| {
                    let first = 8 * g + 4 * i;
                    load_chunks(array(|i| from.add(places[first + i] as usize)))
                });
                for (column, vector) in columns.iter_mut().zip(transpose2(loaded)) {
                    column[g] = vector;
                }
            }
            columns
        }
    }

    #[inline(always)]
    unsafe fn mask(bits: u32, g: usize) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe { _mm512_movm_epi64((bits >> (8 * g)) as __mmask8) }
    }

    #[inline(always)]
    unsafe fn select(mask: __m512i, ones: __m512i, zeros: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        // As numbers, as above.
        unsafe {
            let [zeros, ones] = map([zeros, ones], |vector| _mm512_castsi512_pd(vector));
            _mm512_castpd_si512(_mm512_mask_mov_pd(zeros, _mm512_movepi64_mask(mask), ones))
        }
    }

    #[inline(always)]
    unsafe fn opaque(vector: __m512i) -> __m512i {
        // SAFETY: the caller vouches for AVX-512.
        unsafe { opaque(vector) }
    }
}
