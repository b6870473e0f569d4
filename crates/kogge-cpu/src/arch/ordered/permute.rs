//! Permutes of AVX-512, as assembly: the compiler would make a masked one a permute and a blend,
//! and of one whose indices it knows two shuffles.

use core::arch::asm;
use core::arch::x86_64::__m512i;

/// A permute for each size of elements, masked and not.
macro_rules! permutes {
    ($lanes:ident, $vector:ident, $register:ident) => {
        pub(super) mod $lanes {
            use core::arch::asm;
            use core::arch::x86_64::$vector;

            permutes!(masked16, permuted16, "vpermw", $vector, $register);
            permutes!(masked32, permuted32, "vpermd", $vector, $register);
            permutes!(masked64, permuted64, "vpermq", $vector, $register);
        }
    };
    ($masked:ident, $permuted:ident, $instruction:literal, $vector:ident, $register:ident) => {
        /// The vector permuted where the mask is set, `fill` elsewhere.
        #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
        #[inline]
        pub(crate) fn $masked(fill: $vector, mask: u32, indices: $vector, vector: $vector) -> $vector {
            let mut permuted = fill;
            // SAFETY: an instruction on registers alone, of the CPU features above.
            unsafe {
                asm!(
                    concat!($instruction, " {permuted}{{{mask}}}, {indices}, {vector}"),
                    permuted = inout($register) permuted,
                    mask = in(kreg) mask,
                    indices = in($register) indices,
                    vector = in($register) vector,
                    options(pure, nomem, nostack, preserves_flags)
                )
            }
            permuted
        }

        /// The vector permuted.
        #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
        #[inline]
        pub(crate) fn $permuted(indices: $vector, vector: $vector) -> $vector {
            let permuted: $vector;
            // SAFETY: an instruction on registers alone, of the CPU features above.
            unsafe {
                asm!(
                    concat!($instruction, " {0}, {1}, {2}"),
                    out($register) permuted,
                    in($register) indices,
                    in($register) vector,
                    options(pure, nomem, nostack, preserves_flags)
                )
            }
            permuted
        }
    };
}

/// A permute of two vectors, `low` first.
macro_rules! joins {
    ($joined:ident, $instruction:literal) => {
        /// Words from two vectors, `low` first.
        #[target_feature(enable = "avx512f")]
        #[inline]
        pub(super) fn $joined(low: __m512i, high: __m512i, indices: __m512i) -> __m512i {
            let mut joined = low;
            // SAFETY: an instruction on registers alone, of the CPU features above.
            unsafe {
                asm!(
                    concat!($instruction, " {joined}, {indices}, {high}"),
                    joined = inout(zmm_reg) joined,
                    indices = in(zmm_reg) indices,
                    high = in(zmm_reg) high,
                    options(pure, nomem, nostack, preserves_flags)
                )
            }
            joined
        }
    };
}

joins!(joined32, "vpermt2d");
joins!(joined64, "vpermt2q");

permutes!(two, __m256i, ymm_reg);
permutes!(four, __m512i, zmm_reg);
