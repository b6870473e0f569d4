//! Faults planted in the kernels, to see that the trials catch them.
//!
//! A fault is a patch: what it does, a line `Caught by: shim` (wrong bits, a byte out of place, a
//! deadlock) or `Caught by: ThreadSanitizer`, and a unified diff of the kernels. A patch that no
//! longer applies fails.
//!
//! Trials and compilers take half of the time each, so a fault is tried on one specimen: the
//! trial's own, or the one named in `Caught by: shim on twins`. One that gets past it there, as a
//! race may, is tried on all of them.

use super::shim::{Build, Shim, skipped};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

/// Kernels under trial: where their faults are, their program in `shim`, and scans by it, which say
/// what the first that is wrong did.
#[derive(Clone, Copy)]
pub struct Trial {
    pub faults: &'static str,
    pub program: &'static str,
    /// On which faults are tried first.
    pub specimen: &'static str,
    pub run: fn(Build, &mut Shim) -> Result<(), String>,
}

/// A planted fault, read from its patch.
struct Fault {
    name: String,
    by: Build,
    specimen: String,
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
            let caught = patch.lines().find_map(|line| line.strip_prefix("Caught by: "));
            let caught = caught.unwrap_or_else(|| panic!("{}: caught by?", path.display()));
            let (by, specimen) = caught.split_once(" on ").unwrap_or((caught, self.specimen));
            let by = match by {
                "shim" => Build::Few,
                "ThreadSanitizer" => Build::Sanitized,
                other => panic!("{}: caught by {other}", path.display()),
            };
            let name = path.file_stem().expect("a name").to_string_lossy().into();
            Fault { name, by, specimen: specimen.into(), patch }
        };
        paths.iter().map(read).collect()
    }

    /// What catches the fault, or an error.
    fn caught(self, fault: &Fault) -> Result<String, String> {
        let root = copy();
        apply(&fault.patch, root.path());
        for specimen in [Some(&*fault.specimen), None] {
            match self.try_on(specimen, fault.by, root.path(), root.path())? {
                Err(what) => return Ok(what),
                Ok(()) => println!("{} gets past {specimen:?}", fault.name),
            }
        }
        Err(format!("{} is not caught by {:?}", fault.name, fault.by))
    }

    /// Compiles the sources and runs the trial, on one specimen or on all; an error outside is the
    /// compiler's.
    fn try_on(
        self,
        specimen: Option<&str>,
        build: Build,
        sources: &Path,
        folder: &Path,
    ) -> Result<Result<(), String>, String> {
        let program = build.program_of_one(specimen, self.program, sources, folder)?;
        Ok((self.run)(build, &mut Shim::start_few(&program, specimen)))
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
        let tried = self.try_on(None, build, Path::new(CRATE), folder.path());
        tried.expect("it compiles").unwrap();
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
