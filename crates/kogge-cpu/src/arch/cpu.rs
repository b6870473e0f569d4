//! What a CPU says of its caches, as far as speed depends on it; no result does.

use std::sync::OnceLock;

/// Kinds of CPUs whose caches ask for different numbers.
///
/// ```
/// use kogge_cpu::{Cpu, Machine};
///
/// let machine = Machine { cpu: Cpu::Mesh, ..Machine::here(8) };
/// assert_eq!(machine, Machine { threads: 8, cpu: Cpu::Mesh, awake: false });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cpu {
    /// Most: a few cores share an L3 that is near them.
    #[default]
    Common,
    /// Intel's servers since Sapphire Rapids: each core has 2 MiB of L2 or more, and all share an L3 that is
    /// large but far away: one core gets little from it, since it waits for few lines at a time.
    Mesh,
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

/// Told by caches and vectors, not by the model, which a virtual machine may hide: Intel's other CPUs with as much
/// L2 have no AVX-512.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn detect() -> Cpu {
    use core::arch::x86_64::{__cpuid, __cpuid_count};
    let (leaf, of_caches) = (__cpuid(0), 4);
    let vendor = [leaf.ebx, leaf.edx, leaf.ecx].map(u32::to_le_bytes);
    if vendor.as_flattened() != b"GenuineIntel" || leaf.eax < of_caches {
        return Cpu::Common;
    }
    let caches =
        (0..8).map(|i| __cpuid_count(of_caches, i)).take_while(|cache| cache.eax & 31 != 0);
    let l2 = caches
        .filter(|cache| cache.eax >> 5 & 7 == 2)
        .map(|cache| bytes(cache.ebx, cache.ecx))
        .max();
    if is_x86_feature_detected!("avx512f") && l2.is_some_and(|l2| l2 >= MESH_L2) {
        Cpu::Mesh
    } else {
        Cpu::Common
    }
}

/// Bytes of L2 that each core of a [mesh](Cpu::Mesh) has at least.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const MESH_L2: u64 = 2 << 20;

/// Bytes of a cache, as two registers of CPUID have them: ways, partitions and bytes of a line, each less one; sets
/// less one.
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
    fn bytes_of_caches() {
        assert_eq!(bytes(0x03c0_003f, 0x7ff), 2 << 20, "L2 of an Intel Xeon");
        assert_eq!(bytes(0x01c0_003f, 0x3ff), 512 << 10, "8 ways of 1,024 lines");
        assert_eq!(bytes(0x03c0_003f, 0x7_7fff), 480 << 20, "its L3");
    }
}
