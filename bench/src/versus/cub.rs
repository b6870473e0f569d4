//! CUB's scans: a library made of `cub.cu`, found or compiled.

use crate::Shape;
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

/// What is scanned, which type, scratch memory, its bytes, input, output, elements, keys or
/// offsets, segments, stream.
type Call = unsafe extern "C" fn(i32, i32, u64, *mut u64, u64, u64, u64, u64, u64, u64) -> i32;

/// A scan that CUB has.
pub(super) struct Job {
    /// CUB's name of it.
    pub name: &'static str,
    what: i32,
    dtype: i32,
    len: u64,
    beside: u64,
    segments: u64,
}

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
        format!("CUB from {}", self.from)
    }

    fn call(&self) -> io::Result<libloading::Symbol<'_, Call>> {
        // SAFETY: the symbol of `cub.cu`, with its signature.
        unsafe { self.library.get(b"cub_scan_of") }.map_err(io::Error::other)
    }

    /// The scan of a shape; `beside` is the address of its keys or offsets. None if CUB has none.
    pub(super) fn job(&self, dtype: &str, shape: Shape, beside: u64) -> Option<Job> {
        let at = TYPES.iter().position(|known| *known == dtype)?;
        let (what, name, segments) = match shape {
            Shape::Flat(_) => (0, "CUB InclusiveSum", 0),
            Shape::Runs { .. } => (1, "CUB InclusiveSumByKey", 0),
            Shape::Zipf { segments, .. } => (2, "CUB DeviceSegmentedScan", segments as u64),
            Shape::Table { rows, axis: 1, .. } => (3, "CUB DeviceSegmentedScan", rows as u64),
            Shape::Table { .. } => return None,
        };
        let (dtype, len) = (i32::try_from(at).ok()?, shape.len() as u64);
        Some(Job { name, what, dtype, len, beside, segments })
    }

    /// Bytes of scratch memory that a scan needs; none if this CUB hasn't got it.
    pub(super) fn scratch_bytes(&self, job: &Job) -> Option<usize> {
        let (call, mut bytes) = (self.call().ok()?, 0);
        let Job { what, dtype, len, beside, segments, .. } = *job;
        // SAFETY: without memory it only says how much it needs.
        let status = unsafe { call(what, dtype, 0, &mut bytes, 0, 0, len, beside, segments, 0) };
        (status == 0).then_some(bytes as usize)
    }

    /// Starts a scan.
    ///
    /// # Safety
    ///
    /// `bytes` bytes at `memory`, the shape's elements at `from` and `to`, and its keys or offsets
    /// must be the stream's alone until it has done them.
    pub(super) unsafe fn scan(
        &self,
        job: &Job,
        (memory, bytes): (u64, usize),
        (from, to): (u64, u64),
        stream: &Arc<CudaStream>,
    ) -> io::Result<()> {
        let (call, mut bytes) = (self.call()?, bytes as u64);
        let Job { what, dtype, len, beside, segments, .. } = *job;
        let stream = stream.cu_stream() as u64;
        // SAFETY: the caller's promise.
        let status = unsafe {
            call(what, dtype, memory, &mut bytes, from, to, len, beside, segments, stream)
        };
        if status == 0 {
            Ok(())
        } else {
            Err(io::Error::other(format!("CUB failed: error {status}")))
        }
    }
}
