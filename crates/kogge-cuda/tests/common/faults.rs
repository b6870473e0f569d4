//! Faults planted in the kernels, to see that the trials catch them.
//!
//! A fault is a patch: what it does, a line `Caught by: shim` (wrong bits, a byte out of place, a deadlock)
//! or `Caught by: ThreadSanitizer`, and a unified diff of the kernels. A patch that no longer applies fails.

use super::shim::{Build, skipped};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

/// Kernels under trial: where their faults are, their program in `shim`, and scans by it, which say what
/// the first that is wrong did.
#[derive(Clone, Copy)]
pub struct Trial {
    pub faults: &'static str,
    pub program: &'static str,
    pub run: fn(Build, &Path) -> Result<(), String>,
}

/// A planted fault, read from its patch.
struct Fault {
    name: String,
    by: Build,
    patch: String,
}

impl Trial {
    fn faults(self) -> Vec<Fault> {
        let folder = Path::new(CRATE).join(self.faults);
        let entries = fs::read_dir(folder).expect("a folder of faults");
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "patch"));
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

    /// What catches the fault, or an error.
    fn caught(self, fault: &Fault) -> Result<String, String> {
        let root = copy();
        apply(&fault.patch, root.path());
        let program = fault.by.program_of(self.program, root.path(), root.path())?;
        match (self.run)(fault.by, &program) {
            Err(what) => Ok(what),
            Ok(()) => Err(format!("{} is not caught by {:?}", fault.name, fault.by)),
        }
    }

    /// Every fault is caught, and there are so many at least.
    pub fn catches_all(self, least: usize) {
        if skipped() {
            return;
        }
        let faults = self.faults();
        assert!(faults.len() >= least, "the faults are there");
        let next = AtomicUsize::new(0);
        let work = || {
            let mut missed = Vec::new();
            while let Some(fault) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
                match self.caught(fault) {
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

    /// The kernels as they are pass.
    pub fn passes(self, build: Build) {
        if skipped() {
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let program = build.program_of(self.program, Path::new(CRATE), folder.path());
        (self.run)(build, &program.expect("it compiles")).unwrap();
    }
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
