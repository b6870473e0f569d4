//! The tests of the kernels can fail: every planted fault of `faults/` is caught, and the kernels as they
//! are pass the very same trials.
//!
//! A fault is a patch: what it does, a line `Caught by: shim` (wrong bits, a byte out of place, a deadlock)
//! or `Caught by: ThreadSanitizer`, and a unified diff of the kernels. A patch that no longer applies fails.
#![cfg(target_arch = "x86_64")]

mod common;

use common::Random;
use common::shim::{BracketsI32, BracketsI64, Build, Case, Shim, skipped};
use kogge_core::{Accumulate, Element, Operator, Order};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

/// Scans of a few tiles by few blocks, and in plain builds by many; twice on each workspace at least.
/// Says what the first that is wrong did.
fn trials(build: Build, program: &Path) -> Result<(), String> {
    let mut shim = Shim::start_impatient(program);
    let mut random = Random(7);
    let bulk = Case { name: "brackets_i64", operator: BracketsI64, init: 41i64 };
    let old = Case { name: "brackets_i32_old", operator: BracketsI32, init: -9i32 };
    let turns = if build == Build::Sanitized { 2 } else { 6 };
    for turn in 0..turns {
        tries(build, turn, &bulk, &mut shim, &mut random, |r| r.next() as i64)?;
        tries(build, turn, &old, &mut shim, &mut random, |r| r.next() as i32)?;
    }
    Ok(())
}

fn tries<A, O>(
    build: Build,
    turn: usize,
    case: &Case<'_, O, A>,
    shim: &mut Shim,
    random: &mut Random,
    make: impl Fn(&mut Random) -> A,
) -> Result<(), String>
where
    A: Element + Accumulate<A>,
    O: Operator<A>,
{
    let order = Order::of::<A>();
    let data =
        |len: usize, random: &mut Random| -> Vec<A> { (0..len).map(|_| make(random)).collect() };
    // More tiles than a ring has stages, with a part of one at the end.
    let tiles = 9 + random.below(6);
    let input = data(order.tile() * tiles - random.below(order.tile()), random);
    case.check::<A, A>(shim, random, Some(1 + turn as u32 % 3), &input)?;
    // Segments, the last one short; a few rows only, one chunk of which is short.
    let input = data(order.segment() * 4 - random.below(order.segment()), random);
    case.check::<A, A>(shim, random, None, &input)?;
    let input = data(order.row() * 3 - 1 - random.below(order.chunk()), random);
    case.check::<A, A>(shim, random, None, &input)?;
    if build == Build::Few && turn.is_multiple_of(3) {
        let input = data(order.tile() * 80 - 5, random);
        case.check::<A, A>(shim, random, Some(5 + 65 * (turn as u32 % 2)), &input)?;
    }
    Ok(())
}

/// A planted fault, read from its patch.
struct Fault {
    name: String,
    by: Build,
    patch: String,
}

fn faults() -> Vec<Fault> {
    let folder = Path::new(CRATE).join("faults");
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).expect("faults/").map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let patch = fs::read_to_string(path).expect("a patch");
        let by = match patch.lines().find_map(|line| line.strip_prefix("Caught by: ")) {
            Some("shim") => Build::Few,
            Some("ThreadSanitizer") => Build::Sanitized,
            other => panic!("{}: caught by {other:?}", path.display()),
        };
        Fault { name: path.file_stem().expect("a name").to_string_lossy().into(), by, patch }
    };
    paths.iter().map(read).collect()
}

/// Applies a unified diff under `root`. Each hunk's old lines must stand in the file exactly once.
fn apply(patch: &str, root: &Path) {
    for part in patch.split("--- a/").skip(1) {
        let (name, rest) = part.split_once('\n').expect("a file's name");
        let path = root.join(name.trim_end());
        let mut text = fs::read_to_string(&path).expect("a file to patch");
        for hunk in rest.split("@@ -").skip(1) {
            let lines = hunk.lines().skip(1).filter(|line| !line.starts_with("\\ "));
            let (mut old, mut new) = (String::new(), String::new());
            for line in lines {
                let (sign, line) = (&line[..1], &line[1..]);
                for side in match sign {
                    " " => vec![&mut old, &mut new],
                    "-" => vec![&mut old],
                    "+" => vec![&mut new],
                    _ => panic!("{name}: a line of a patch begins with {sign:?}"),
                } {
                    side.push_str(line);
                    side.push('\n');
                }
            }
            assert_eq!(text.matches(&old).count(), 1, "{name}: a hunk doesn't apply:\n{hunk}");
            text = text.replacen(&old, &new, 1);
        }
        fs::write(path, text).expect("a patched file");
    }
}

/// A copy of the kernels and the shim.
fn copy() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a folder");
    for folder in ["kernels", "shim"] {
        fs::create_dir(root.path().join(folder)).expect("a folder");
        for entry in fs::read_dir(Path::new(CRATE).join(folder)).expect("a folder") {
            let path = entry.expect("a file").path();
            let to = root.path().join(folder).join(path.file_name().expect("a name"));
            fs::copy(&path, to).expect("a copy");
        }
    }
    root
}

/// What catches the fault, or an error.
fn caught(fault: &Fault) -> Result<String, String> {
    let root = copy();
    apply(&fault.patch, root.path());
    let program = fault.by.program(root.path(), root.path())?;
    match trials(fault.by, &program) {
        Err(what) => Ok(what),
        Ok(()) => Err(format!("{} is not caught by {:?}", fault.name, fault.by)),
    }
}

#[test]
fn every_planted_fault_is_caught() {
    if skipped() {
        return;
    }
    let faults = faults();
    assert!(faults.len() >= 10, "the faults are there");
    let next = AtomicUsize::new(0);
    let work = || {
        let mut missed = Vec::new();
        while let Some(fault) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
            match caught(fault) {
                Ok(what) => println!("{}: {what}\n", fault.name),
                Err(what) => missed.push(what),
            }
        }
        missed
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let missed: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no patch fails")).collect()
    });
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

fn unpatched_kernels_pass(build: Build) {
    if skipped() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let program = build.program(Path::new(CRATE), folder.path()).expect("it compiles");
    trials(build, &program).unwrap();
}

#[test]
fn the_kernels_pass_the_trials() {
    unpatched_kernels_pass(Build::Few);
}

#[test]
fn the_kernels_pass_the_trials_under_thread_sanitizer() {
    unpatched_kernels_pass(Build::Sanitized);
}
