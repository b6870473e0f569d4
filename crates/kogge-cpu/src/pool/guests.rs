//! A thread outside of the pool does a task itself, beside threads of the pool that come in time.
//!
//! `rayon::scope` would hand the whole task to the pool and put the caller to sleep. To wake it again
//! takes longer than to scan what fits in a cache. Here the caller begins at once, and what it is done
//! with before a thread of the pool wakes up is done by the caller alone: guests go through a gate, which
//! it closes when it is done.

use crate::algorithm::handover::Gate;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};

/// Calls `task` here, and on up to so many threads of the global pool meanwhile.
pub(super) fn with(guests: usize, task: &(dyn Fn() + Sync)) {
    let house = Arc::new(House { gate: Gate::new(), task: forever(task), panic: Mutex::new(None) });
    for _ in 0..guests {
        let house = Arc::clone(&house);
        rayon::spawn(move || house.visit());
    }
    let host = Host(&house.gate);
    task();
    drop(host);
    let panic = house.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
}

/// The task as a pointer that may outlive it.
fn forever<'a>(task: &'a (dyn Fn() + Sync + 'a)) -> *const (dyn Fn() + Sync + 'static) {
    let task: *const (dyn Fn() + Sync + 'a) = task;
    // SAFETY: pointers that differ in a lifetime alone; who calls it sees to the lifetime.
    unsafe { std::mem::transmute(task) }
}

/// What a guest needs to know. Guests that come late find it when the task is gone.
struct House {
    gate: Gate,
    /// Exists while somebody is inside the gate.
    task: *const (dyn Fn() + Sync + 'static),
    /// What a guest panicked with.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: the task is `Sync`, and only called.
unsafe impl Send for House {}
// SAFETY: as above.
unsafe impl Sync for House {}

impl House {
    /// Calls the task, unless it is done.
    fn visit(&self) {
        if let Some(_inside) = self.gate.enter() {
            // SAFETY: the host neither returns nor unwinds before everybody inside the gate has left.
            let task = AssertUnwindSafe(|| unsafe { (*self.task)() });
            if let Err(panic) = catch_unwind(task) {
                *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
            }
        }
    }
}

/// The caller's part. When it is dropped, a panic included, nobody comes in, and all guests have left.
struct Host<'a>(&'a Gate);

impl Drop for Host<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::thread::{self, yield_now};

    #[test]
    fn host_and_guests_work_at_once() {
        let inside = AtomicUsize::new(0);
        with(1, &|| {
            inside.fetch_add(1, Ordering::Relaxed);
            while inside.load(Ordering::Relaxed) < 2 {
                yield_now();
            }
        });
        assert_eq!(inside.into_inner(), 2);
    }

    /// Has all threads of the pool meet, each from a job of its own, and go on when they are told.
    fn meet() -> Arc<AtomicBool> {
        let here = Arc::new(AtomicUsize::new(0));
        let leave = Arc::new(AtomicBool::new(false));
        let threads = rayon::current_num_threads();
        for _ in 0..threads {
            let (here, leave) = (Arc::clone(&here), Arc::clone(&leave));
            rayon::spawn(move || {
                here.fetch_add(1, Ordering::Relaxed);
                while !leave.load(Ordering::Relaxed) {
                    yield_now();
                }
            });
        }
        while here.load(Ordering::Relaxed) < threads {
            yield_now();
        }
        leave
    }

    #[test]
    fn who_comes_late_is_not_let_in() {
        let calls = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&calls);
        let leave = meet();
        with(3, &|| _ = count.fetch_add(1, Ordering::Relaxed));
        leave.store(true, Ordering::Relaxed);
        // After that all guests have come.
        meet().store(true, Ordering::Relaxed);
        assert_eq!(calls.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn panics_of_host_and_guest_reach_the_caller() {
        let caller = thread::current().id();
        for by_host in [true, false] {
            let inside = AtomicUsize::new(0);
            let result = catch_unwind(AssertUnwindSafe(|| {
                with(1, &|| {
                    inside.fetch_add(1, Ordering::Relaxed);
                    while inside.load(Ordering::Relaxed) < 2 {
                        yield_now();
                    }
                    assert!((thread::current().id() == caller) != by_host, "planted");
                });
            }));
            let panic = result.expect_err("a panic");
            assert_eq!(panic.downcast_ref(), Some(&"planted"));
        }
    }
}
