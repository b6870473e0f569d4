//! Compiles the kernels that the library carries, and packs them into `cubins.bin`.
//!
//! `cargo run --release -p kogge-cuda --example embed [--all] [FILE]`; needs NVRTC 12.8 or newer
//! (`KOGGE_NVRTC`) and some minutes. Kernels whose text is that of the archive that is there are
//! taken from it, unless all are wanted anew, as for another NVRTC. To be repeated when a kernel,
//! the operator language or the tuning changes: a test says so. Drivers of that NVRTC's major
//! version and newer can load what it makes.

use kogge_cuda::archive::{Archive, Kernel, pack, selection};
use kogge_cuda::{compile, compiler_version};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn main() -> Result<(), Box<dyn Error>> {
    let (major, minor) = compiler_version()?;
    let groups = selection()?;
    let count: usize = groups.iter().map(Vec::len).sum();
    println!("{count} kernels in {} groups, NVRTC {major}.{minor}", groups.len());
    let (flags, paths): (Vec<_>, Vec<_>) =
        std::env::args_os().skip(1).partition(|argument| argument == "--all");
    let ours = || Path::new(env!("CARGO_MANIFEST_DIR")).join("cubins.bin");
    let path = paths.first().map_or_else(ours, PathBuf::from);
    let old = if flags.is_empty() { std::fs::read(&path).unwrap_or_default() } else { Vec::new() };
    let compiled = compile_all(&groups, Archive::read(&old))?;
    let bytes =
        pack(&compiled, |cubins| zstd::bulk::compress(cubins, 19).expect("memory to compress in"));
    std::fs::write(&path, &bytes)?;
    check(&bytes, &compiled)?;
    let raw: usize = compiled.iter().flatten().map(|(_, cubin)| cubin.len()).sum();
    println!("{}: {} bytes, unpacked {raw}", path.display(), bytes.len());
    Ok(())
}

/// Every kernel with its cubin, in the same groups; from `old` where it has the kernel.
fn compile_all(
    groups: &[Vec<Kernel>],
    old: Option<Archive<'_>>,
) -> Result<Vec<Vec<(Kernel, Vec<u8>)>>, kogge_cuda::Error> {
    let done: Vec<Mutex<Vec<(Kernel, Vec<u8>)>>> =
        groups.iter().map(|_| Mutex::default()).collect();
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(None));
    let work = || loop {
        let i = next.fetch_add(1, Ordering::Relaxed);
        let Some(group) = groups.get(i) else { return };
        for kernel in group {
            let kept = old.and_then(|archive| archive.get(&kernel.source, kernel.arch));
            let made = || compile(&kernel.source, kernel.arch).map(|compiled| compiled.cubin);
            match kept.map_or_else(made, Ok) {
                Ok(cubin) => done[i].lock().expect("no panic").push((kernel.clone(), cubin)),
                Err(error) => {
                    next.store(groups.len(), Ordering::Relaxed);
                    *failed.lock().expect("no panic") = Some(error);
                    return;
                }
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
    match failed.into_inner().expect("no panic") {
        Some(error) => Err(error),
        None => Ok(done.into_iter().map(|group| group.into_inner().expect("no panic")).collect()),
    }
}

/// Whether the archive gives back what went in.
fn check(bytes: &[u8], compiled: &[Vec<(Kernel, Vec<u8>)>]) -> Result<(), Box<dyn Error>> {
    let archive = Archive::read(bytes).ok_or("not an archive")?;
    for (kernel, cubin) in compiled.iter().flatten() {
        let got = archive.get(&kernel.source, kernel.arch);
        if got.as_ref() != Some(cubin) {
            return Err(format!("{} {}: another cubin comes out", kernel.arch, kernel.name).into());
        }
    }
    Ok(())
}
