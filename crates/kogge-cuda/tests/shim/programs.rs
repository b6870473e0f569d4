//! The programs under the shim, each built once. The first test to ask for one has all of them
//! built, its own first: elsewise tests that wait for one compiler would leave the other cores
//! idle.

use crate::common::shim::Build;
use std::collections::VecDeque;
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, OnceLock};
use std::thread;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Program {
    Flat,
    Lines,
    Columns,
    Segments,
    Exact,
    Stretches,
    Keyed,
}

type Built = Result<PathBuf, String>;

impl Program {
    const ALL: [Self; 7] = [
        Self::Flat,
        Self::Segments,
        Self::Lines,
        Self::Exact,
        Self::Columns,
        Self::Stretches,
        Self::Keyed,
    ];

    fn main(self) -> &'static str {
        match self {
            Self::Flat => "main.cpp",
            Self::Lines => "lines.cpp",
            Self::Columns => "columns.cpp",
            Self::Segments => "segmented.cpp",
            Self::Exact => "exact.cpp",
            Self::Stretches => "stretches.cpp",
            Self::Keyed => "keyed.cpp",
        }
    }

    fn build(self) -> Built {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(self.main());
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let sources = Path::new(env!("CARGO_MANIFEST_DIR"));
        Build::Every.program_of(self.main(), sources, &folder)
    }

    /// The program's path, once it is there.
    pub fn path(self) -> &'static Path {
        static BUILT: [OnceLock<Built>; 7] = [const { OnceLock::new() }; 7];
        static START: Once = Once::new();
        START.call_once(|| {
            let mut queue = VecDeque::from(Self::ALL);
            queue.retain(|&other| other != self);
            queue.push_front(self);
            let queue: &Mutex<_> = Box::leak(Box::new(Mutex::new(queue)));
            let next = || queue.lock().ok()?.pop_front();
            let workers = thread::available_parallelism().map_or(1, usize::from);
            for _ in 0..workers {
                thread::spawn(move || {
                    while let Some(program) = next() {
                        let built = panic::catch_unwind(|| program.build());
                        let built = built.unwrap_or_else(|_| Err("its build panicked".into()));
                        let _ = BUILT[program as usize].set(built);
                    }
                });
            }
        });
        BUILT[self as usize].wait().as_ref().expect("the shim compiles")
    }
}
