//! Operators of users, as the CUDA engine compiles them: the worked examples by NVRTC, each in both
//! kernels for sm_90 and in one of them for one other architecture, the ways in turn;
//! KOGGE_FULL_MATRIX=1: in both kernels, every way, for every architecture.
//!
//! Skipped where there is no NVRTC (KOGGE_NVRTC names it), unless KOGGE_REQUIRE_NVRTC=1.

#[path = "../../kogge-cuda/tests/nvrtc/compiler.rs"]
mod compiler;

use compiler::compile;
use kogge::{Direction, Kind};
use kogge_cuda::catalogue::Entry;
use kogge_cuda::{Arch, Capability, Specification, Tuning, compiler_version};
use kogge_device_tests::cases::worked::*;
use kogge_device_tests::skip;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn examples() -> Vec<Entry> {
    use maximum_subarray::Stretch;
    use parentheses::Nesting;
    use polynomial_hash::Hash;
    use recurrence::Step;
    use rotations::Rotation;
    use saturating_counter::Count;
    use welford::Moments;
    vec![
        Entry::new::<u8, u8, _>("csv_quotes", csv_quotes::Read),
        Entry::new::<Stretch, Stretch, _>("maximum_subarray", maximum_subarray::Join),
        Entry::new::<Nesting, Nesting, _>("parentheses", parentheses::Nest),
        Entry::new::<Hash, Hash, _>("polynomial_hash", polynomial_hash::Concatenate),
        Entry::new::<Step, Step, _>("recurrence", recurrence::Then),
        Entry::new::<Rotation, Rotation, _>("rotations", rotations::Turn),
        Entry::new::<Count, Count, _>("saturating_counter", saturating_counter::Advance),
        Entry::new::<Moments, Moments, _>("welford", welford::Merge),
    ]
}

const fn device(major: u32, shared_bytes: u32) -> Capability {
    Capability {
        compute: (major, 0),
        multiprocessors: 128,
        shared_bytes,
        memory_bytes_per_cycle: 0,
    }
}

const HOPPER: Capability = device(9, 232_448);
const DEVICES: [Capability; 4] =
    [device(8, 166_912), HOPPER, device(10, 232_448), device(12, 101_376)];

const WAYS: [(Kind, Direction); 4] = [
    (Kind::Inclusive, Direction::Forward),
    (Kind::Exclusive, Direction::Reverse),
    (Kind::Exclusive, Direction::Forward),
    (Kind::Inclusive, Direction::Reverse),
];

/// An example, a device, the bytes of the sequence (which choose the kernel), and the way.
type Job<'a> = (&'a Entry, Capability, u64, (Kind, Direction));

fn jobs(examples: &[Entry]) -> Vec<Job<'_>> {
    let all = std::env::var_os("KOGGE_FULL_MATRIX").is_some();
    let mut jobs = Vec::new();
    for (i, example) in examples.iter().enumerate() {
        for (d, device) in DEVICES.into_iter().enumerate() {
            for (s, bytes) in [4 << 10, 1 << 30].into_iter().enumerate() {
                for (w, way) in WAYS.into_iter().enumerate() {
                    // Six turns for the three other architectures by two kernels.
                    let turn = device == HOPPER || i % 6 == 2 * (d - usize::from(d > 1)) + s;
                    if all || turn && w == (i + d + s) % 4 {
                        jobs.push((example, device, bytes, way));
                    }
                }
            }
        }
    }
    jobs
}

#[test]
fn the_engine_compiles_the_worked_examples() {
    if compiler_version().is_err() {
        return skip("KOGGE_REQUIRE_NVRTC", "NVRTC is not to be found");
    }
    let examples = examples();
    let jobs = jobs(&examples);
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(&(example, device, bytes, (kind, direction))) =
            jobs.get(next.fetch_add(1, Ordering::Relaxed))
        {
            let specification = Specification { kind, direction };
            let compiled = example
                .plan(bytes, specification, device, &Tuning::default())
                .and_then(|plan| example.text(specification, &plan))
                .and_then(|text| compile(&text, Arch(device.compute.0 * 10)));
            if let Err(error) = compiled {
                let failure = format!("{} on {device:?}: {error}", example.name);
                failures.lock().expect("no panic beside").push(failure);
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
    let failures = failures.into_inner().expect("no panic");
    println!("{} kernels of {} examples", jobs.len(), examples.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
