//! The bytes of a ceiling: the widest stores that the CPU has, past the caches and not.

#[cfg(target_arch = "x86_64")]
use core::arch::x86_64 as x86;

/// Bytes that a store past the caches takes at once.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Copies with non-temporal stores; plain ones where the CPU has none.
///
/// # Panics
///
/// If the lengths differ.
pub fn copy(to: &mut [u8], from: &[u8]) {
    assert_eq!(to.len(), from.len());
    #[cfg(target_arch = "x86_64")]
    {
        let head = to.as_ptr().align_offset(LINE).min(to.len());
        let lines = (to.len() - head) / LINE * LINE;
        let (to_head, to) = to.split_at_mut(head);
        let (to_lines, to_tail) = to.split_at_mut(lines);
        let (from_head, from) = from.split_at(head);
        let (from_lines, from_tail) = from.split_at(lines);
        to_head.copy_from_slice(from_head);
        to_tail.copy_from_slice(from_tail);
        // SAFETY: the lengths are equal and multiples of a line, the target starts on a line, and
        // each function is called where its feature was found.
        unsafe {
            if is_x86_feature_detected!("avx512f") {
                lines_avx512(to_lines, from_lines);
            } else if is_x86_feature_detected!("avx") {
                lines_avx(to_lines, from_lines);
            } else {
                lines_sse2(to_lines, from_lines);
            }
            x86::_mm_sfence();
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    to.copy_from_slice(from);
}

#[cfg(target_arch = "x86_64")]
macro_rules! lines {
    ($($name:ident, $feature:literal, $vector:ty, $load:ident, $store:ident;)+) => {$(
        /// # Safety
        ///
        /// The lengths must be equal and multiples of [`LINE`], `to` on a line, the feature there.
        #[target_feature(enable = $feature)]
        unsafe fn $name(to: &mut [u8], from: &[u8]) {
            for at in (0..to.len()).step_by(size_of::<$vector>()) {
                // SAFETY: `at` and the vector after it are inside both by contract, and aligned.
                unsafe {
                    let value = x86::$load(from.as_ptr().add(at).cast());
                    x86::$store(to.as_mut_ptr().add(at).cast(), value);
                }
            }
        }
    )+};
}

#[cfg(target_arch = "x86_64")]
lines! {
    lines_avx512, "avx512f", x86::__m512i, _mm512_loadu_si512, _mm512_stream_si512;
    lines_avx, "avx", x86::__m256i, _mm256_loadu_si256, _mm256_stream_si256;
    lines_sse2, "sse2", x86::__m128i, _mm_loadu_si128, _mm_stream_si128;
}

/// Adds a number to every byte: reads and writes all of them with next to no work.
pub fn add(bytes: &mut [u8], number: u8) {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512bw") {
            // SAFETY: the feature was found.
            return unsafe { add_avx512(bytes, number) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the feature was found.
            return unsafe { add_avx2(bytes, number) };
        }
    }
    add_each(bytes, number);
}

#[inline(always)]
fn add_each(bytes: &mut [u8], number: u8) {
    for byte in bytes {
        *byte = byte.wrapping_add(number);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
fn add_avx512(bytes: &mut [u8], number: u8) {
    add_each(bytes, number);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_avx2(bytes: &mut [u8], number: u8) {
    add_each(bytes, number);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_copies_wherever_they_start() {
        let from: Vec<u8> = (0..1_000).map(|i| i as u8).collect();
        for start in 0..70 {
            for end in [start, start + 1, start + 64, 999, 1_000] {
                let mut to = vec![0; 1_000];
                copy(&mut to[start..end], &from[start..end]);
                let right = (0..1_000)
                    .all(|i| to[i] == if (start..end).contains(&i) { from[i] } else { 0 });
                assert!(right, "{start}..{end}");
            }
        }
    }

    #[test]
    fn adds_to_every_byte() {
        let mut bytes: Vec<u8> = (0..=255).chain(0..77).collect();
        add(&mut bytes, 3);
        assert!(bytes.iter().enumerate().all(|(i, &byte)| byte == (i as u8).wrapping_add(3)));
    }
}
