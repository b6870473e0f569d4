//! What a CPU says of its caches, as far as speed depends on it; no result does.

use std::sync::OnceLock;

/// Kinds of CPUs whose caches ask for different numbers.
///
/// ```
/// use kogge_cpu::{Cpu, Machine};
///
/// let machine = Machine { cpu: Cpu::Mesh, ..Machine::here(8) };
/// assert_eq!(machine, Machine { threads: 8, cpu: Cpu::Mesh, awake: false, apart: false });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cpu {
    /// Most: a few cores share an L3 that is near them.
    #[default]
    Common,
    /// Intel's servers since Sapphire Rapids: each core has 2 MiB of L2 or more, and all share an
    /// L3 that is large but far away: one core gets little from it, since it waits for few lines at
    /// a time.
    Mesh,
    /// AMD's Zen 3: as most, but two threads are worth it for what fits in the caches, too. (That
    /// holds for others, likely; it was measured here.)
    Zen3,
    /// AMD's Zen 4: as a Zen 3, but its L2 can wait for more lines from memory at a time than its
    /// L1.
    Zen4,
    /// AMD's Zen 5: as a Zen 3, but its vectors are twice as wide, so that two threads are worth it
    /// for more of what fits in the caches, and pieces are better long.
    Zen5,
}

impl Cpu {
    /// The one that this runs on.
    ///
    /// ```
    /// use kogge_cpu::{Cpu, Machine};
    ///
    /// assert_eq!(Machine::here(1).cpu, Cpu::detect());
    /// ```
    pub fn detect() -> Self {
        static CPU: OnceLock<Cpu> = OnceLock::new();
        *CPU.get_or_init(detect)
    }
}

#[cfg(any(not(target_arch = "x86_64"), miri))]
fn detect() -> Cpu {
    Cpu::Common
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn detect() -> Cpu {
    use core::arch::x86_64::__cpuid;
    let leaf = __cpuid(0);
    let vendor = [leaf.ebx, leaf.edx, leaf.ecx].map(u32::to_le_bytes);
    let avx512 = is_x86_feature_detected!("avx512f");
    match vendor.as_flattened() {
        b"GenuineIntel" if avx512 && has_much_l2(leaf.eax) => Cpu::Mesh,
        b"AuthenticAMD" => amd(family(__cpuid(1).eax), avx512),
        _ => Cpu::Common,
    }
}

/// AMD's kinds, by family and by whether they have AVX-512.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const fn amd(family: u32, avx512: bool) -> Cpu {
    match (family, avx512) {
        (ZEN_3_AND_4, false) => Cpu::Zen3,
        (ZEN_3_AND_4, true) => Cpu::Zen4,
        (ZEN_5, true) => Cpu::Zen5,
        _ => Cpu::Common,
    }
}

/// The family of Zen 3 and Zen 4, the latter of which alone has AVX-512.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const ZEN_3_AND_4: u32 = 0x19;

/// The family of Zen 5.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const ZEN_5: u32 = 0x1a;

/// The family of a CPU, as a register of CPUID has it: extended where the first field is full.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn family(signature: u32) -> u32 {
    let (family, extended) = (signature >> 8 & 0xf, signature >> 20 & 0xff);
    if family == 0xf { family + extended } else { family }
}

/// Told by caches and vectors, not by the model, which a virtual machine may hide: Intel's other
/// CPUs with as much L2 have no AVX-512.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn has_much_l2(leaves: u32) -> bool {
    use core::arch::x86_64::__cpuid_count;
    const OF_CACHES: u32 = 4;
    let caches =
        (0..8).map(|i| __cpuid_count(OF_CACHES, i)).take_while(|cache| cache.eax & 31 != 0);
    let mut l2 =
        caches.filter(|cache| cache.eax >> 5 & 7 == 2).map(|cache| bytes(cache.ebx, cache.ecx));
    leaves >= OF_CACHES && l2.any(|l2| l2 >= MESH_L2)
}

/// Bytes of L2 that each core of a [mesh](Cpu::Mesh) has at least.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const MESH_L2: u64 = 2 << 20;

/// Bytes of a cache, as two registers of CPUID have them: ways, partitions and bytes of a line,
/// each less one; sets less one.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn bytes(ebx: u32, sets: u32) -> u64 {
    let [ways, partitions, line] =
        [ebx >> 22, ebx >> 12 & 0x3ff, ebx & 0xfff].map(|less_one| u64::from(less_one) + 1);
    ways * partitions * line * (u64::from(sets) + 1)
}

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn families() {
        assert_eq!(family(0x00a0_0f11), ZEN_3_AND_4, "a Zen 3");
        assert_eq!(family(0x00a1_0f11), ZEN_3_AND_4, "a Zen 4");
        assert_eq!(family(0x00b0_0f21), ZEN_5, "a Zen 5");
        assert_eq!(family(0x000a_06d1), 6, "an Intel Xeon");
    }

    #[test]
    fn a_zen_4_is_a_family_with_wider_vectors() {
        let zen3 = family(0x00a0_0f11);
        assert_eq!([amd(zen3, false), amd(zen3, true)], [Cpu::Zen3, Cpu::Zen4]);
        assert_eq!([amd(ZEN_5, true), amd(ZEN_5, false)], [Cpu::Zen5, Cpu::Common]);
        assert_eq!(amd(family(0x0083_0f10), false), Cpu::Common, "a Zen 2");
    }

    #[test]
    fn bytes_of_caches() {
        assert_eq!(bytes(0x03c0_003f, 0x7ff), 2 << 20, "L2 of an Intel Xeon");
        assert_eq!(bytes(0x01c0_003f, 0x3ff), 512 << 10, "8 ways of 1,024 lines");
        assert_eq!(bytes(0x03c0_003f, 0x7_7fff), 480 << 20, "its L3");
    }
}
