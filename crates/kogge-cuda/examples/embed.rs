//! Compiles the kernels that the library carries, and packs them into `cubins.bin`.
//!
//! `cargo run --release -p kogge-cuda --example embed [FILE]`; needs NVRTC 12.8 or newer (`KOGGE_NVRTC`)
//! and some minutes of all cores. To be repeated when a kernel, the operator language or the tuning
//! changes: a test says so. Drivers of that NVRTC's major version and newer can load what it makes.

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
    let compiled = compile_all(&groups)?;
    let bytes =
        pack(&compiled, |cubins| zstd::bulk::compress(cubins, 19).expect("memory to compress in"));
    let ours = || Path::new(env!("CARGO_MANIFEST_DIR")).join("cubins.bin");
    let path = std::env::args_os().nth(1).map_or_else(ours, PathBuf::from);
    std::fs::write(&path, &bytes)?;
    check(&bytes, &compiled)?;
    let raw: usize = compiled.iter().flatten().map(|(_, cubin)| cubin.len()).sum();
    println!("{}: {} bytes, unpacked {raw}", path.display(), bytes.len());
    Ok(())
}

/// Every kernel with its cubin, in the same groups.
fn compile_all(groups: &[Vec<Kernel>]) -> Result<Vec<Vec<(Kernel, Vec<u8>)>>, kogge_cuda::Error> {
    let done: Vec<Mutex<Vec<(Kernel, Vec<u8>)>>> =
        groups.iter().map(|_| Mutex::default()).collect();
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(None));
    let work = || loop {
        let i = next.fetch_add(1, Ordering::Relaxed);
        let Some(group) = groups.get(i) else { return };
        for kernel in group {
            match compile(&kernel.source, kernel.arch) {
                Ok(compiled) => {
                    done[i].lock().expect("no panic").push((kernel.clone(), compiled.cubin))
                }
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
