//! Every contender has the CPUs to itself. Threads of the one before go on for a while when they
//! are done: they ask for more work all the time before they sleep (those of OpenMP for
//! milliseconds), and a second thread of the next one wouldn't have a CPU. So do those of a child
//! that runs contenders.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// Waited at most.
const LIMIT: Duration = Duration::from_millis(50);
/// Waited where the system doesn't say which threads run.
const BLIND: Duration = Duration::from_millis(5);
/// So many looks in succession have to find nobody; each takes some microseconds a thread.
const LOOKS: u32 = 3;

/// The turns of contenders, each of which is to begin when all others rest.
#[derive(Default)]
pub struct Turns {
    all: u32,
    restless: u32,
}

impl Turns {
    /// Begins a turn, with a [`rest`].
    pub fn begin(&mut self) {
        self.all += 1;
        self.restless += u32::from(!rest());
    }

    /// Says on standard error how many turns others disturbed, if any. Where nobody reads it, it is
    /// not said; `eprintln!` would panic.
    pub fn tell(&self) {
        if self.restless > 0 {
            let Self { all, restless } = self;
            let line = format!("{restless} of {all} turns began while other threads ran");
            let _ = writeln!(io::stderr(), "{line}");
        }
    }
}

/// Waits until no other thread of this process or its children runs or would like to; `false` if
/// that took too long.
pub fn rest() -> bool {
    rest_within(LIMIT)
}

fn rest_within(limit: Duration) -> bool {
    let start = Instant::now();
    let mut looks = 0;
    while looks < LOOKS {
        looks = match others_run() {
            Ok(false) => looks + 1,
            Ok(true) if start.elapsed() >= limit => return false,
            Ok(true) => 0,
            Err(_) => {
                thread::sleep(BLIND);
                return true;
            }
        };
    }
    true
}

/// Whether the system has another thread of this process, or one of its children, on a CPU or
/// waiting for one. Only Linux says so.
fn others_run() -> io::Result<bool> {
    let own = fs::read_link("/proc/thread-self")?;
    for task in tasks(Path::new("/proc/self"))? {
        let runs = task.file_name() != own.file_name() && runs(&task);
        // A child that has ended meanwhile has no threads.
        if runs || children(&task).any(|child| tasks(&child).is_ok_and(|all| any_runs(&all))) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The threads of a process.
fn tasks(process: &Path) -> io::Result<Vec<PathBuf>> {
    fs::read_dir(process.join("task"))?.map(|task| Ok(task?.path())).collect()
}

/// The processes that a thread has started; none where the system doesn't say.
fn children(task: &Path) -> impl Iterator<Item = PathBuf> {
    let numbers = fs::read_to_string(task.join("children")).unwrap_or_default();
    let paths = numbers.split_whitespace().map(|number| Path::new("/proc").join(number));
    paths.collect::<Vec<_>>().into_iter()
}

fn any_runs(tasks: &[PathBuf]) -> bool {
    tasks.iter().any(|task| runs(task))
}

/// Whether a thread runs; one that has ended meanwhile doesn't.
fn runs(task: &Path) -> bool {
    // The state stands behind the name, which may hold anything, parentheses too.
    let stat = fs::read_to_string(task.join("stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with('R'))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn a_child_that_runs_is_seen() {
        let this = Path::new("/proc/thread-self");
        if !this.join("children").exists() {
            eprintln!("skipped: this system doesn't say which children a thread has");
            return;
        }
        let spin = ["-c", "while :; do :; done"];
        let mut child = std::process::Command::new("sh").args(spin).spawn().unwrap();
        let its = Path::new("/proc").join(child.id().to_string());
        let known = children(this).any(|child| child == its);
        let runs = || tasks(&its).is_ok_and(|tasks| any_runs(&tasks));
        // At last: it may be brought from a disk first.
        let start = Instant::now();
        let mut seen = false;
        while !seen && start.elapsed() < Duration::from_secs(60) {
            seen = runs() && !rest_within(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(known && seen && !runs(), "{known} {seen}");
    }

    /// Other tests may run beside this one, so only what a thread of its own does is looked at.
    #[test]
    fn a_thread_that_runs_is_seen_and_one_that_sleeps_is_not() {
        let spin = AtomicBool::new(true);
        thread::scope(|scope| {
            let (send, receive) = std::sync::mpsc::channel();
            let spins = &spin;
            let other = scope.spawn(move || {
                send.send(fs::read_link("/proc/thread-self").unwrap()).unwrap();
                while spins.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
                thread::park();
            });
            let task = Path::new("/proc").join(receive.recv().unwrap());
            // Asserted once it has stopped, or a failure would wait for it.
            let (seen, rested) = (runs(&task), rest_within(Duration::from_millis(1)));
            spin.store(false, Ordering::Relaxed);
            let start = Instant::now();
            while runs(&task) && start.elapsed() < Duration::from_secs(60) {
                thread::yield_now();
            }
            let asleep = !runs(&task);
            other.thread().unpark();
            assert!(seen && asleep);
            assert!(!rested, "nobody rests while it runs");
        });
    }
}
