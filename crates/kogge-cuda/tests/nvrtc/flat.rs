//! Every built-in operator on every element.
//!
//! Kind, direction and kernel (cluster or segments, tiles, rounds) rotate from entry to entry. Each
//! entry is compiled for sm_90, every sixteenth for each other architecture; integers without a
//! sign for those operators alone that tell them from those with one, and `Min` and `ArgMin`, whose
//! code is that of `Max` and `ArgMax`, of those integers, `Min` of `f32` too.

use crate::bounds::{DEVICES, Resources, flag, skipped};
use crate::compiler::compile;
use kogge_core::{Direction, Kind};
use kogge_cuda::catalogue::{self, Entry};
use kogge_cuda::{Arch, Capability, Error, Kernel, Specification, Tuning, compiler_version};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const WAYS: [(Kind, Direction); 4] = [
    (Kind::Inclusive, Direction::Forward),
    (Kind::Exclusive, Direction::Forward),
    (Kind::Inclusive, Direction::Reverse),
    (Kind::Exclusive, Direction::Reverse),
];

/// Bytes of scans by a cluster whose blocks have one segment, or two, or by segments where there is
/// none; of one by tiles, and of one in rounds.
const BYTES: [u64; 4] = [4 << 10, 128 << 10, 4 << 20, 1 << 30];

/// Local memory that a thread may use, in bytes. What comes near it are 8-bit elements that must be
/// combined one by one, with their indices above all (720), and matrices of 32 bytes.
const MOST_STACK: u32 = 736;

/// Local memory that a thread of the kernel of rounds may use for this entry: none for sums in the
/// element's own accumulator, and for affine maps of `f32`, whose speed is the memory's.
fn most_stack(entry: &Entry, kernel: Kernel) -> u32 {
    let name = &*entry.name;
    let lean = name.starts_with("Sum ") && !name.contains(" in ") || name == "Compose Affine<f32>";
    if lean && kernel != Kernel::Segments { 0 } else { MOST_STACK }
}

/// One kernel to compile.
struct Job<'e> {
    entry: &'e Entry,
    device: Capability,
    specification: Specification,
    bytes: u64,
}

impl Job<'_> {
    /// What it takes and the bytes of its cubin; `None` if the device has no such kernel.
    fn run(&self) -> Result<Option<(Resources, usize, Kernel)>, String> {
        let Self { entry, device, specification, bytes } = self;
        let Ok(plan) = entry.plan(*bytes, *specification, *device, &Tuning::default()) else {
            return Ok(None);
        };
        let fail = |error: Error| format!("{self}: {error}");
        let text = entry.text(*specification, &plan).map_err(fail)?;
        let (major, minor) = device.compute;
        let compiled = compile(&text, Arch(major * 10 + minor)).map_err(fail)?;
        let resources = Resources::of(&compiled);
        if resources.registers == 0 {
            return Err(format!("{self}: no registers in the log:\n{}", compiled.log));
        }
        let most_stack = most_stack(entry, plan.kernel);
        if resources.registers * plan.threads > 65_536 || resources.stack > most_stack {
            return Err(format!("{self}: {resources}"));
        }
        Ok(Some((resources, compiled.cubin.len(), plan.kernel)))
    }
}

impl fmt::Display for Job<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entry, device, specification: Specification { kind, direction }, bytes } = self;
        let (major, minor) = device.compute;
        write!(f, "sm_{major}{minor} {} {kind:?} {direction:?} {bytes} bytes", entry.name)
    }
}

/// Whether the entry's code is that of integers of the same size with a sign.
fn like_signed(entry: &Entry) -> bool {
    let (operator, element) = entry.name.split_once(' ').expect("an operator and an element");
    let tells = ["Min", "Max", "ArgMin", "ArgMax"].contains(&operator);
    !tells && ["u8", "u16", "u32", "u64"].iter().any(|unsigned| element.contains(unsigned))
}

/// Whether the entry's code is that of a greatest element, but for the comparison. `Min` of `f32`
/// has an instruction of its own.
fn like_greatest(entry: &Entry) -> bool {
    let (operator, element) = entry.name.split_once(' ').expect("an operator and an element");
    ["Min", "ArgMin"].contains(&operator) && !element.contains('u') && element != "f32"
}

fn jobs(entries: &[Entry], full: bool) -> Vec<Job<'_>> {
    let mut jobs = Vec::new();
    let wanted =
        entries.iter().filter(|entry| full || !(like_signed(entry) || like_greatest(entry)));
    for (i, entry) in wanted.enumerate() {
        for (d, device) in DEVICES.into_iter().enumerate() {
            if !full && d != 1 && i % 16 != 5 * d {
                continue;
            }
            for (b, bytes) in BYTES.into_iter().enumerate() {
                if !full && i / 4 % BYTES.len() != b {
                    continue;
                }
                for (w, (kind, direction)) in WAYS.into_iter().enumerate() {
                    if full || w == (i / 3 + b) % WAYS.len() {
                        let specification = Specification { kind, direction };
                        jobs.push(Job { entry, device, specification, bytes });
                    }
                }
            }
        }
    }
    jobs
}

#[test]
fn every_kernel_compiles_within_bounds() {
    if skipped() {
        return;
    }
    let entries = catalogue::built_in();
    let (full, table) = (flag("KOGGE_FULL_MATRIX"), flag("KOGGE_KERNEL_TABLE"));
    let jobs = jobs(&entries, full);
    let (next, start) = (AtomicUsize::new(0), std::time::Instant::now());
    let (failures, most) = (Mutex::new(Vec::new()), Mutex::new(BTreeMap::new()));
    let work = || {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            match job.run() {
                Ok(None) => {}
                Ok(Some((resources, bytes, kernel))) => {
                    if table {
                        println!("{job}: {resources}, cubin {bytes}");
                    }
                    let kernel = match kernel {
                        Kernel::Cluster(_) => "cluster",
                        Kernel::Segments => "segments",
                        Kernel::Tiles(_) => "tiles",
                        Kernel::Rounds(_) => "rounds",
                    };
                    let mut most = most.lock().expect("no panic beside");
                    let (count, size, of): &mut (u32, usize, Resources) =
                        most.entry((job.device.compute, kernel)).or_default();
                    *count += 1;
                    *size = (*size).max(bytes);
                    of.registers = of.registers.max(resources.registers);
                    of.stack = of.stack.max(resources.stack);
                    of.spilled = of.spilled.max(resources.spilled);
                }
                Err(failure) => failures.lock().expect("no panic beside").push(failure),
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
    let covered = if full { "all" } else { "each for sm_90, every sixteenth for the others" };
    println!("{} kernels ({covered}) in {:.0?}; the most of each:", jobs.len(), start.elapsed());
    for (((major, minor), kernel), (count, size, resources)) in most.into_inner().expect("no panic")
    {
        println!("sm_{major}{minor} {kernel:8} {count:4}: {resources}, cubin {size}");
    }
    let failures = failures.into_inner().expect("no panic");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_text_that_is_wrong_is_an_error_with_the_messages() {
    if skipped() {
        return;
    }
    for compile in [kogge_cuda::compile, compile] {
        match compile("nonsense", Arch(90)) {
            Err(Error::Compile { arch, log }) => {
                assert!(arch == "sm_90" && log.contains("nonsense"), "{arch}: {log}");
            }
            other => panic!("{other:?}"),
        }
    }
    let compile = kogge_cuda::compile;
    // A target that this NVRTC doesn't know is no fault of the text.
    match compile("", Arch(999)) {
        Err(error @ Error::Nvrtc(_)) => {
            let (said, (major, minor)) = (error.to_string(), compiler_version().expect("NVRTC"));
            assert!(said.contains("arch") && said.contains(&format!("{major}.{minor}")), "{said}");
            assert!(said.contains("KOGGE_NVRTC"), "{said}");
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(compile("\0", Arch(90)), Err(Error::Unsupported(_))));
}
