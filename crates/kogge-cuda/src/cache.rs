//! Compiled kernels on disk, one file each: the target, options and text that they came from, then
//! the cubin's length and hash, and the cubin.
//!
//! A file counts only if its text is the one asked for and its cubin is whole, so a collision of
//! names, an older version or a torn file is a miss. Files are written beside and renamed; a cache
//! that can't be written is done without.

use crate::Arch;
use crate::compile::OPTIONS;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, fs};

/// Where kernels are kept: `KOGGE_CACHE_DIR`, else `kogge` in the user's cache folder.
pub(crate) fn folder() -> Option<PathBuf> {
    let named = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("KOGGE_CACHE_DIR")
        .or_else(|| named("XDG_CACHE_HOME").map(|path| path.join("kogge")))
        .or_else(|| named("HOME").map(|path| path.join(".cache/kogge")))
        .or_else(|| named("LOCALAPPDATA").map(|path| path.join("kogge")))
}

/// What a cubin is known by: a hash of its text, its target and the compiler's options.
pub(crate) fn key(source: &str, arch: Arch) -> u64 {
    let arch = arch.to_string();
    let parts = [source, &arch].into_iter().chain(OPTIONS);
    hash(parts.flat_map(str::bytes))
}

/// FNV-1a (Fowler, Noll, Vo), 64 bits.
fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    bytes.fold(0xcbf2_9ce4_8422_2325, step)
}

fn head(source: &str, arch: Arch) -> String {
    format!("kogge {arch} {OPTIONS:?} {}\n{source}\0", source.len())
}

fn file(folder: &Path, source: &str, arch: Arch) -> PathBuf {
    folder.join(format!("{:016x}.cubin", key(source, arch)))
}

/// What stands before a cubin: its length and its hash.
fn seal(cubin: &[u8]) -> [u8; 16] {
    let mut seal = [0; 16];
    seal[..8].copy_from_slice(&(cubin.len() as u64).to_le_bytes());
    seal[8..].copy_from_slice(&hash(cubin.iter().copied()).to_le_bytes());
    seal
}

/// The cubin of this text, if it was kept.
pub(crate) fn get(folder: &Path, source: &str, arch: Arch) -> Option<Vec<u8>> {
    let mut bytes = fs::read(file(folder, source, arch)).ok()?;
    let rest = bytes.strip_prefix(head(source, arch).as_bytes())?;
    let (sealed, cubin) = rest.split_at_checked(16)?;
    // The driver is told no length, so that it would read on behind a cubin that is cut short.
    let whole = sealed == seal(cubin);
    let start = bytes.len() - cubin.len();
    whole.then(|| bytes.split_off(start))
}

/// Keeps a cubin.
pub(crate) fn put(folder: &Path, source: &str, arch: Arch, cubin: &[u8]) {
    let path = file(folder, source, arch);
    let beside = path.with_extension(part());
    let write = || {
        fs::create_dir_all(folder)?;
        let mut file = fs::File::create_new(&beside)?;
        let written = [head(source, arch).as_bytes(), &seal(cubin), cubin].concat();
        let done = file.write_all(&written).and_then(|()| fs::rename(&beside, &path));
        if done.is_err() {
            let _ = fs::remove_file(&beside);
        }
        done
    };
    // Without it the next process compiles again.
    let _: std::io::Result<()> = write();
}

/// An extension that no other thread or process uses, nor one of another machine that shares the
/// folder.
fn part() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = since.map_or(0, |since| since.as_nanos());
    format!("{}-{count}-{now}.part", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_back_what_was_kept_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let cubin = b"\x7fELF and more";
        assert_eq!(get(folder.path(), "text", Arch(90)), None);
        put(folder.path(), "text", Arch(90), cubin);
        assert_eq!(get(folder.path(), "text", Arch(90)).as_deref(), Some(&cubin[..]));
        assert_eq!(get(folder.path(), "text", Arch(80)), None);
        assert_eq!(get(folder.path(), "other", Arch(90)), None);
        // Another text under this name, and a torn file.
        let path = file(folder.path(), "text", Arch(90));
        fs::write(&path, fs::read(&path).unwrap().replace_first(b"text", b"next")).unwrap();
        assert_eq!(get(folder.path(), "text", Arch(90)), None);
        fs::write(&path, b"kogge").unwrap();
        assert_eq!(get(folder.path(), "text", Arch(90)), None);
    }

    #[test]
    fn a_cubin_that_is_cut_short_or_changed_is_none() {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), "text", Arch(90), b"\x7fELF and more");
        let path = file(folder.path(), "text", Arch(90));
        let whole = fs::read(&path).unwrap();
        for len in 0..whole.len() {
            fs::write(&path, &whole[..len]).unwrap();
            assert_eq!(get(folder.path(), "text", Arch(90)), None, "{len} bytes");
            let mut changed = whole.clone();
            changed[len] ^= 1;
            fs::write(&path, &changed).unwrap();
            assert_eq!(get(folder.path(), "text", Arch(90)), None, "byte {len}");
        }
        put(folder.path(), "text", Arch(90), b"\x7fELF");
        assert_eq!(get(folder.path(), "text", Arch(90)).as_deref(), Some(&b"\x7fELF"[..]));
    }

    #[test]
    fn whoever_reads_sees_a_whole_cubin_while_several_threads_write() {
        let folder = tempfile::tempdir().unwrap();
        let cubin = [&b"\x7fELF"[..], &[7; 1 << 20]].concat();
        put(folder.path(), "text", Arch(90), &cubin);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..10).for_each(|_| put(folder.path(), "text", Arch(90), &cubin)));
            }
            for _ in 0..40 {
                assert!(get(folder.path(), "text", Arch(90)).is_some_and(|got| got == cubin));
            }
        });
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside");
    }

    trait ReplaceFirst {
        fn replace_first(self, from: &[u8], to: &[u8]) -> Self;
    }
    impl ReplaceFirst for Vec<u8> {
        fn replace_first(mut self, from: &[u8], to: &[u8]) -> Self {
            let at = self.windows(from.len()).position(|w| w == from).unwrap();
            self[at..at + from.len()].copy_from_slice(to);
            self
        }
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_done_without() {
        let file = tempfile::NamedTempFile::new().unwrap();
        put(&file.path().join("below"), "text", Arch(90), b"\x7fELF");
        assert_eq!(get(&file.path().join("below"), "text", Arch(90)), None);
    }
}
