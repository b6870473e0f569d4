//! Two vectors as one, moved down.
//!
//! `valignd` and `valignq` are written as assembly: the compiler would turn the shuffles they mean
//! into two-source permutes, which take an index register and, on Zen 4, twice the time. So is
//! `vpalignr`, which it would dissolve together with the operation on what was moved.

use core::arch::asm;
use core::arch::x86_64::__m512i;

/// Functions `$name::<N>(high, low)`: both as one, `low` first, moved down by `N` lanes.
macro_rules! align {
    ($name:ident, $instruction:literal, $($lanes:literal),+) => {
        #[target_feature(enable = "avx512f")]
        #[inline]
        pub(super) fn $name<const N: usize>(high: __m512i, low: __m512i) -> __m512i {
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
