//! How long one waits for a first result.

use crate::check::WAYS;
use crate::devices::CAPTURE;
use kogge_core::ops::Sum;
use kogge_cuda::Device;
use kogge_cuda::archive::Archive;

#[kogge_core::operator(identity = 0.0)]
fn Decay(left: f32, right: f32) -> f32 {
    left * 0.5 + right
}

/// How long a first call takes: compiled, from disk, and from an archive (`KOGGE_TEST_ARCHIVE`
/// names a file; else the library's own, if it has one).
#[test]
fn first_calls_are_quick() {
    let _alone = CAPTURE.write();
    let folder = std::env::temp_dir().join(format!("kogge-first-calls-{}", std::process::id()));
    let time = |what: &str, device: Device, user: bool| {
        let mut longest = 0.0f64;
        for len in [1000, 1 << 20, 1 << 28] {
            let start = std::time::Instant::now();
            let (kind, direction) = WAYS[0];
            let scan = match user {
                true => device.prepare::<f32, f32, f32, _>(&Decay, kind, direction, len),
                false => device.prepare::<f32, f32, f32, _>(&Sum, kind, direction, len),
            };
            let kernel = scan.expect("a kernel").plan().kernel;
            let milliseconds = start.elapsed().as_secs_f64() * 1e3;
            longest = longest.max(milliseconds);
            println!("first call {what}, {kernel:?}: {milliseconds:.1} ms");
        }
        longest
    };
    let open = || Device::open(0).expect("a GPU").with_cache(Some(folder.clone()));
    time("compiled", open(), true);
    assert!(time("from disk", open(), true) < 100.0);
    let _ = std::fs::remove_dir_all(&folder);
    let archive = match std::env::var_os("KOGGE_TEST_ARCHIVE") {
        Some(path) => Archive::read(std::fs::read(path).expect("an archive").leak()),
        None => Some(Archive::embedded()),
    };
    let archive = archive.expect("an archive");
    println!("{} kernels in the archive", archive.len());
    if !archive.is_empty() {
        let device = open().with_cache(None).with_archive(archive);
        assert!(time("from the archive", device, false) < 100.0);
    }
}
