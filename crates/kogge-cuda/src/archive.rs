//! Kernels compiled ahead, in the library itself, so that built-in operators need a driver and
//! nothing else.
//!
//! A cubin is found by a hash of the very text that it was compiled from, its target and the
//! compiler's options: an archive that is older than the kernels finds nothing, and NVRTC is asked.
//! What there is, [`selection`] says; `cargo run --release -p kogge-cuda --example embed` makes it
//! anew. Cubins that are alike lie in one group, compressed together (Zstandard, RFC 8878); a
//! lookup unpacks one group.

use crate::cache::key;
use crate::catalogue::{self, Entry};
use crate::{Arch, Capability, Error, Specification, Tuning};
use kogge_core::{Direction, Kind};
use std::io::Read;

const MAGIC: &[u8; 16] = b"kogge cubins 1\n\0";
const GROUP_BYTES: usize = 16;
const ENTRY_BYTES: usize = 24;

/// Cubins in memory.
#[derive(Clone, Copy, Debug)]
pub struct Archive<'a> {
    /// Offset, packed and unpacked length of each group.
    groups: &'a [u8],
    /// Key, group, offset and length in the group of each cubin, by rising keys.
    entries: &'a [u8],
    data: &'a [u8],
}

impl Archive<'static> {
    /// The one that this library carries; empty without the feature `cubins`.
    pub fn embedded() -> Self {
        #[cfg(feature = "cubins")]
        const BYTES: &[u8] = include_bytes!("../cubins.bin");
        #[cfg(not(feature = "cubins"))]
        const BYTES: &[u8] = &[];
        Self::read(BYTES).unwrap_or(Archive { groups: &[], entries: &[], data: &[] })
    }
}

impl<'a> Archive<'a> {
    /// The archive in these bytes; `None` if they are none.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let bytes = bytes.strip_prefix(MAGIC)?;
        let (counts, rest) = bytes.split_at_checked(8)?;
        let (groups, rest) = rest.split_at_checked(word(counts, 0)? as usize * GROUP_BYTES)?;
        let (entries, data) = rest.split_at_checked(word(counts, 4)? as usize * ENTRY_BYTES)?;
        Some(Self { groups, entries, data })
    }

    /// How many cubins there are.
    pub fn len(&self) -> usize {
        self.entries.len() / ENTRY_BYTES
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether there is a cubin of this text for this target.
    pub fn contains(&self, source: &str, arch: Arch) -> bool {
        self.find(key(source, arch)).is_some()
    }

    /// The cubin of this text for this target. O(log n), and one group to unpack.
    pub fn get(&self, source: &str, arch: Arch) -> Option<Vec<u8>> {
        let entry = self.find(key(source, arch))?;
        let [group, offset, bytes] = [8, 12, 16].map(|at| word(entry, at));
        let group = self.groups.get(group? as usize * GROUP_BYTES..)?;
        let (start, packed, unpacked) = (long(group, 0)?, word(group, 8)?, word(group, 12)?);
        let packed = self.data.get(start as usize..)?.get(..packed as usize)?;
        let mut cubins = Vec::with_capacity(unpacked as usize);
        let reader = ruzstd::decoding::StreamingDecoder::new(packed).ok()?;
        reader.take(unpacked.into()).read_to_end(&mut cubins).ok()?;
        Some(cubins.get(offset? as usize..)?.get(..bytes? as usize)?.to_vec())
    }

    fn find(&self, key: u64) -> Option<&'a [u8]> {
        let entry = |i: usize| &self.entries[i * ENTRY_BYTES..][..ENTRY_BYTES];
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match long(entry(middle), 0)?.cmp(&key) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(entry(middle)),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// A kernel of an archive.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// What it does, for people.
    pub name: String,
    /// Its text.
    pub source: String,
    /// Its target.
    pub arch: Arch,
}

/// Packs groups of kernels and their cubins; `compress` makes a Zstandard frame.
pub fn pack(groups: &[Vec<(Kernel, Vec<u8>)>], compress: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let (mut heads, mut data, mut entries) = (Vec::new(), Vec::new(), Vec::new());
    for (group, kernels) in (0u32..).zip(groups) {
        let mut cubins: Vec<u8> = Vec::new();
        for (kernel, cubin) in kernels {
            let place = [group, cubins.len() as u32, cubin.len() as u32, 0];
            entries.push((key(&kernel.source, kernel.arch), place));
            cubins.extend(cubin);
        }
        let packed = compress(&cubins);
        heads.extend((data.len() as u64).to_le_bytes());
        heads.extend((packed.len() as u32).to_le_bytes());
        heads.extend((cubins.len() as u32).to_le_bytes());
        data.extend(packed);
    }
    entries.sort_unstable();
    entries.dedup_by_key(|&mut (key, _)| key);
    let mut bytes = MAGIC.to_vec();
    bytes.extend((groups.len() as u32).to_le_bytes());
    bytes.extend((entries.len() as u32).to_le_bytes());
    bytes.extend(heads);
    for (key, place) in entries {
        bytes.extend(key.to_le_bytes());
        bytes.extend(place.into_iter().flat_map(u32::to_le_bytes));
    }
    bytes.extend(data);
    bytes
}

const fn device(major: u32, minor: u32, shared_bytes: u32) -> Capability {
    Capability {
        compute: (major, minor),
        multiprocessors: 128,
        shared_bytes,
        memory_bytes_per_cycle: 0,
    }
}

/// One device of each kind that kernels differ for: by target, and by the ring that its shared
/// memory holds. (A100; A40, RTX 30 and 40; H100; B200; RTX 50.)
const DEVICES: [Capability; 5] = [
    device(8, 0, 166_912),
    device(8, 6, 101_376),
    device(9, 0, 232_448),
    device(10, 0, 232_448),
    device(12, 0, 101_376),
];

/// The oldest target of a generation, whose cubins its newer devices run.
pub(crate) fn generation(compute: (u32, u32)) -> Arch {
    Arch(compute.0 * 10)
}

/// In every kind and direction.
const IN_EVERY_WAY: [&str; 6] = ["Sum i32", "Sum u32", "Sum i64", "Sum u64", "Sum f32", "Sum f64"];
/// Forwards.
const FORWARDS: [&str; 10] = [
    "Sum i8",
    "Sum u8",
    "Sum i16",
    "Sum u16",
    "Sum f16",
    "Sum bf16",
    "Sum f32 in f64",
    "Compose Affine<f32>",
    "Compose Affine<f64>",
    "Product f32",
];
/// Forwards and inclusive.
const INCLUSIVE: [&str; 10] = [
    "Min i32",
    "Max i32",
    "Min i64",
    "Max i64",
    "Min f32",
    "Max f32",
    "Min f64",
    "Max f64",
    "LastValid f32",
    "LastValid f64",
];

/// What is compiled ahead, in groups of kernels that are alike. The rest is left to NVRTC, so that
/// the library stays small.
///
/// # Errors
///
/// As [`source()`](crate::source()).
pub fn selection() -> Result<Vec<Vec<Kernel>>, Error> {
    use {
        Direction::{Forward, Reverse},
        Kind::{Exclusive, Inclusive},
    };
    let ways =
        [(Inclusive, Forward), (Exclusive, Forward), (Inclusive, Reverse), (Exclusive, Reverse)];
    let mut groups = Vec::new();
    for entry in catalogue::built_in() {
        let chosen = |names: &[&str]| names.contains(&&*entry.name);
        let ways = match () {
            () if chosen(&IN_EVERY_WAY) => &ways[..],
            () if chosen(&FORWARDS) => &ways[..2],
            () if chosen(&INCLUSIVE) => &ways[..1],
            () => continue,
        };
        for arch in [80, 90, 100, 120].map(Arch) {
            let mut group = Vec::new();
            for device in DEVICES.into_iter().filter(|device| generation(device.compute) == arch) {
                for &(kind, direction) in ways {
                    kernels(&entry, Specification { kind, direction }, device, &mut group)?;
                }
            }
            groups.push(group);
        }
    }
    Ok(groups)
}

/// Adds an entry's kernels for every length, unless they are there: by a cluster, by segments where
/// there is none, by tiles, and in rounds, in turn and drawn.
fn kernels(
    entry: &Entry,
    specification: Specification,
    device: Capability,
    group: &mut Vec<Kernel>,
) -> Result<(), Error> {
    for bytes in [4 << 10, 64 << 10, 128 << 10, 4 << 20, 64 << 20, 1 << 30] {
        let plan = entry.plan(bytes, specification, device, &Tuning::default())?;
        let Specification { kind, direction } = specification;
        let kernel = Kernel {
            name: format!("{} {kind:?} {direction:?} {bytes}", entry.name),
            source: entry.text(specification, &plan)?,
            arch: generation(device.compute),
        };
        if group.iter().all(|other| other.source != kernel.source) {
            group.push(kernel);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(source: &str, arch: u32) -> Kernel {
        Kernel { name: source.into(), source: source.into(), arch: Arch(arch) }
    }

    fn compress(bytes: &[u8]) -> Vec<u8> {
        use ruzstd::encoding::{CompressionLevel, compress_to_vec};
        compress_to_vec(bytes, CompressionLevel::Fastest)
    }

    #[test]
    fn gives_back_what_was_packed_and_nothing_else() {
        let long = vec![7u8; 100_000];
        let groups = [
            vec![(kernel("one", 80), b"first".to_vec()), (kernel("two", 80), long.clone())],
            vec![(kernel("one", 90), b"third".to_vec())],
        ];
        let bytes = pack(&groups, compress);
        let archive = Archive::read(&bytes).expect("an archive");
        assert_eq!(archive.len(), 3);
        assert_eq!(archive.get("one", Arch(80)).as_deref(), Some(&b"first"[..]));
        assert_eq!(archive.get("two", Arch(80)), Some(long));
        assert_eq!(archive.get("one", Arch(90)).as_deref(), Some(&b"third"[..]));
        assert_eq!(archive.get("two", Arch(90)), None);
        assert_eq!(archive.get("three", Arch(80)), None);
    }

    #[test]
    fn what_is_torn_is_no_archive_or_gives_nothing() {
        let groups = [vec![(kernel("one", 80), vec![9; 5000])]];
        let bytes = pack(&groups, compress);
        for len in 0..bytes.len() {
            let got = Archive::read(&bytes[..len]).and_then(|archive| archive.get("one", Arch(80)));
            assert_eq!(got, None, "{len} of {} bytes", bytes.len());
        }
        assert!(Archive::read(b"another file").is_none());
    }

    /// Or `cargo run --release -p kogge-cuda --example embed` makes it anew.
    #[test]
    #[cfg(feature = "cubins")]
    fn the_embedded_archive_is_that_of_the_kernels() {
        let (archive, mut stale, mut count) = (Archive::embedded(), Vec::new(), 0);
        for kernel in selection().expect("texts").into_iter().flatten() {
            count += 1;
            if !archive.contains(&kernel.source, kernel.arch) {
                stale.push(format!("{} {}", kernel.arch, kernel.name));
            }
        }
        assert!(
            stale.is_empty() && archive.len() == count,
            "{} of {count} kernels aren't in the archive of {} ({} and more); \
             run `cargo run --release -p kogge-cuda --example embed`",
            stale.len(),
            archive.len(),
            stale.first().map_or("", |name| name),
        );
    }
}
