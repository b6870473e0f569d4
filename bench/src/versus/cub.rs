//! CUB's scans: a library made of `cub.cu`, found or compiled.

use kogge_cuda::cudarc::driver::CudaStream;
use libloading::Library;
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// The source, which the engine's own measurements share.
const SOURCE: &str = include_str!("../../../crates/kogge-cuda/examples/cub.cu");
/// Types in the order of the source; empty where it has another.
const TYPES: [&str; 8] = ["i8", "i16", "f16", "", "i32", "f32", "i64", "f64"];

type Call = unsafe extern "C" fn(i32, u64, u64, u64, *mut u64, u64, u64) -> i32;

/// The library.
pub(super) struct Cub {
    library: Library,
    from: String,
}

impl Cub {
    /// Loads the library of a path, or compiles one for this GPU.
    ///
    /// # Errors
    ///
    /// A library that can't be loaded; no path and no compiler.
    pub(super) fn find(path: Option<&Path>) -> io::Result<Self> {
        match path {
            Some(path) => Self::load(path, "a library made before".to_owned()),
            None => Self::compile(),
        }
    }

    fn load(path: &Path, from: String) -> io::Result<Self> {
        // SAFETY: the library of `cub.cu` has no initialisers but the CUDA runtime's.
        let library = unsafe { Library::new(path) }.map_err(io::Error::other)?;
        let cub = Self { library, from };
        cub.call().map(drop)?;
        Ok(cub)
    }

    fn compile() -> io::Result<Self> {
        let version = Command::new("nvcc").arg("--version").output();
        let version = version.map_err(|error| {
            io::Error::other(format!(
                "nvcc is not to be found ({error}), and --cub names no library"
            ))
        })?;
        let folder = tempfile::tempdir()?;
        let (source, library) = (folder.path().join("cub.cu"), folder.path().join("libcub.so"));
        std::fs::write(&source, SOURCE)?;
        let flags = "-O3 -std=c++17 -arch=native -shared -Xcompiler -fPIC -o";
        let output =
            Command::new("nvcc").args(flags.split(' ')).arg(&library).arg(&source).output()?;
        if !output.status.success() {
            let words = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!("nvcc failed: {}", words.trim())));
        }
        let version = String::from_utf8_lossy(&version.stdout);
        let release = version.lines().find(|line| line.contains("release")).unwrap_or_default();
        // A library stays loaded when its file is gone.
        Self::load(&library, format!("nvcc, {}", release.trim()))
    }

    /// What a record says of it.
    pub(super) fn version(&self) -> String {
        format!("CUB InclusiveSum from {}", self.from)
    }

    fn call(&self) -> io::Result<libloading::Symbol<'_, Call>> {
        // SAFETY: the symbol of `cub.cu`, with its signature.
        unsafe { self.library.get(b"cub_scan") }.map_err(io::Error::other)
    }

    fn index(dtype: &str) -> Option<i32> {
        TYPES.iter().position(|known| *known == dtype).and_then(|at| i32::try_from(at).ok())
    }

    /// Bytes of scratch memory that a sum needs; none for a type that it does not have.
    pub(super) fn scratch_bytes(&self, dtype: &str, len: u64) -> Option<usize> {
        let (call, mut bytes) = (self.call().ok()?, 0);
        // SAFETY: without memory it only says how much it needs.
        let status = unsafe { call(Self::index(dtype)?, 0, 0, 0, &mut bytes, len, 0) };
        (status == 0).then_some(bytes as usize)
    }

    /// Starts a sum.
    ///
    /// # Safety
    ///
    /// `bytes` bytes at `memory` and `len` elements at `from` and `to` must be the stream's alone
    /// until it has done them.
    pub(super) unsafe fn scan(
        &self,
        dtype: &str,
        (memory, bytes): (u64, usize),
        (from, to): (u64, u64),
        len: u64,
        stream: &Arc<CudaStream>,
    ) -> io::Result<()> {
        let which = Self::index(dtype).unwrap_or(-1);
        let (call, mut bytes) = (self.call()?, bytes as u64);
        // SAFETY: the caller's promise.
        let status =
            unsafe { call(which, memory, from, to, &mut bytes, len, stream.cu_stream() as u64) };
        if status == 0 {
            Ok(())
        } else {
            Err(io::Error::other(format!("CUB failed: error {status}")))
        }
    }
}
