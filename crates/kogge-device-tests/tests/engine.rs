//! Operators of users, as the CUDA engine compiles them: the worked examples, each in both kernels, in
//! every kind and direction, by NVRTC for each architecture.
//!
//! Skipped where there is no NVRTC (KOGGE_NVRTC names it), unless KOGGE_REQUIRE_NVRTC=1.

use kogge::{Direction, Kind};
use kogge_cuda::catalogue::Entry;
use kogge_cuda::{Arch, Capability, Specification, Tuning, compile, compiler_version};
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
    Capability { compute: (major, 0), multiprocessors: 128, shared_bytes }
}

const DEVICES: [Capability; 4] =
    [device(8, 166_912), device(9, 232_448), device(10, 232_448), device(12, 101_376)];

const WAYS: [(Kind, Direction); 4] = [
    (Kind::Inclusive, Direction::Forward),
    (Kind::Exclusive, Direction::Reverse),
    (Kind::Exclusive, Direction::Forward),
    (Kind::Inclusive, Direction::Reverse),
];

#[test]
fn the_engine_compiles_the_worked_examples() {
    if compiler_version().is_err() {
        return skip("KOGGE_REQUIRE_NVRTC", "NVRTC is not to be found");
    }
    let examples = examples();
    // Every example for every device by both kernels; the ways in turn.
    let mut jobs = Vec::new();
    for (i, example) in examples.iter().enumerate() {
        for (d, device) in DEVICES.into_iter().enumerate() {
            jobs.extend(
                [4 << 10, 1 << 30].map(|bytes| (example, device, bytes, WAYS[(i + d) % 4])),
            );
        }
    }
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
