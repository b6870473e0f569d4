//! Compiled kernels on disk, one file each: the target, options and text that they came from, then the
//! cubin.
//!
//! A file counts only if its text is the one asked for, so a collision of names, an older version or a
//! torn file is a miss. Files are written beside and renamed; a cache that can't be written is done
//! without.

use crate::Arch;
use crate::compile::OPTIONS;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Where kernels are kept: `KOGGE_CACHE_DIR`, else `kogge` in the user's cache folder.
pub(crate) fn folder() -> Option<PathBuf> {
    let named = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("KOGGE_CACHE_DIR")
        .or_else(|| named("XDG_CACHE_HOME").map(|path| path.join("kogge")))
        .or_else(|| named("HOME").map(|path| path.join(".cache/kogge")))
        .or_else(|| named("LOCALAPPDATA").map(|path| path.join("kogge")))
}

/// What a cubin is known by: a hash of its text, its target and the compiler's options. FNV-1a (Fowler,
/// Noll, Vo), 64 bits.
pub(crate) fn key(source: &str, arch: Arch) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    let arch = arch.to_string();
    let parts = [source, &arch].into_iter().chain(OPTIONS);
    parts.flat_map(str::bytes).fold(0xcbf2_9ce4_8422_2325, step)
}

fn head(source: &str, arch: Arch) -> String {
    format!("kogge {arch} {OPTIONS:?} {}\n{source}\0", source.len())
}

fn file(folder: &Path, source: &str, arch: Arch) -> PathBuf {
    folder.join(format!("{:016x}.cubin", key(source, arch)))
}

/// The cubin of this text, if it was kept.
pub(crate) fn get(folder: &Path, source: &str, arch: Arch) -> Option<Vec<u8>> {
    let mut bytes = fs::read(file(folder, source, arch)).ok()?;
    let head = head(source, arch);
    // The cubin's length is that of the rest; ELF's magic tells that it is there.
    let whole = bytes.starts_with(head.as_bytes()) && bytes[head.len()..].starts_with(b"\x7fELF");
    whole.then(|| bytes.split_off(head.len()))
}

/// Keeps a cubin.
pub(crate) fn put(folder: &Path, source: &str, arch: Arch, cubin: &[u8]) {
    let path = file(folder, source, arch);
    let beside = path.with_extension(format!("{}.part", std::process::id()));
    let mut bytes = head(source, arch).into_bytes();
    bytes.extend_from_slice(cubin);
    let written = fs::create_dir_all(folder)
        .and_then(|()| fs::write(&beside, bytes))
        .and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        // The next process compiles again.
        let _ = fs::remove_file(&beside);
    }
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
