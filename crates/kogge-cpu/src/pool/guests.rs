//! A thread outside of the pool does a task itself, beside threads of the pool that come in time.
//!
//! `rayon::scope` would hand the whole task to the pool and put the caller to sleep. To wake it
//! again takes longer than to scan what fits in a cache. Here the caller begins at once, and what
//! it is done with before a thread of the pool wakes up is done by the caller alone: guests go
//! through a gate, which it closes when it is done. Guests that linger from a call before
//! ([`lobby`]) come at once.
//!
//! One more is asked than may come. The pool wakes no thread while one looks around for work, and
//! that one may have no CPU but the caller's: where the caller has just waited for the pool, as
//! after a `join`, it runs where the thread does that woke it. (Two CPUs, Linux 6.18: in four calls
//! of ten after a `scope` of some milliseconds the guest came 1.6 to 5 ms late, by which time a
//! quarter to two thirds of 128 MiB were scanned; so never.)
//!
//! A pool that is busy with other things isn't asked again and again: nobody waits for invitations
//! that nobody takes.

use super::{distance, lobby, succession};
use crate::algorithm::handover::Gate;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Jobs of the pool that are invitations and haven't begun.
static ASKED: AtomicUsize = AtomicUsize::new(0);

/// Asks for so many threads of the pool and one more, but for no more in all than it has.
fn ask(house: &Arc<House>, guests: usize) {
    let free = rayon::current_num_threads().saturating_sub(ASKED.load(Ordering::Relaxed));
    for _ in 0..(guests + 1).min(free) {
        let house = Arc::clone(house);
        ASKED.fetch_add(1, Ordering::Relaxed);
        rayon::spawn(move || {
            ASKED.fetch_sub(1, Ordering::Relaxed);
            lobby::visit(house);
        });
    }
}

/// Calls `task` here, and on up to so many threads of the global pool meanwhile.
pub(super) fn with(guests: usize, task: &(dyn Fn() + Sync)) {
    let start = Instant::now();
    // SAFETY: the host, which is dropped before this returns or unwinds, closes the gate.
    let house = Arc::new(unsafe { House::of(task, guests) });
    let host = Host(&house.gate);
    let there = lobby::invite(&house, guests);
    if there < guests {
        ask(&house, guests - there);
    }
    task();
    let worked = start.elapsed();
    drop(host);
    // A guest with a CPU of its own is done about when the host is.
    let came = house.visited.load(Ordering::Relaxed);
    succession::helped(came && start.elapsed() < worked + worked / 2);
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
pub(super) struct House {
    gate: Gate,
    /// How many more guests may come.
    room: AtomicUsize,
    /// Exists while somebody is inside the gate.
    task: *const (dyn Fn() + Sync + 'static),
    /// Whether a guest was inside.
    visited: AtomicBool,
    /// What a guest panicked with.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: the task is `Sync`, and only called.
unsafe impl Send for House {}
// SAFETY: as above.
unsafe impl Sync for House {}

impl House {
    /// A house for so many guests.
    ///
    /// # Safety
    ///
    /// The task must exist while the gate is open or somebody inside, or until nobody visits.
    pub(super) unsafe fn of(task: &(dyn Fn() + Sync), guests: usize) -> Self {
        let (gate, room, task) = (Gate::new(), AtomicUsize::new(guests), forever(task));
        Self { gate, room, task, visited: AtomicBool::new(false), panic: Mutex::new(None) }
    }

    /// Calls the task, unless it is done; then `before_leaving`, which doesn't panic. Neither if
    /// there is no room, which it says.
    pub(super) fn visit(&self, before_leaving: impl FnOnce()) -> bool {
        let start = Instant::now();
        if !self.has_room() {
            return false;
        }
        distance::took(start.elapsed());
        let inside = self.gate.enter();
        if inside.is_some() {
            self.visited.store(true, Ordering::Relaxed);
            // SAFETY: the host neither returns nor unwinds before everybody inside the gate has
            // left.
            let task = AssertUnwindSafe(|| unsafe { (*self.task)() });
            if let Err(panic) = catch_unwind(task) {
                *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
            }
        }
        before_leaving();
        drop(inside);
        true
    }

    /// Whether one more may come, who counts from then on.
    fn has_room(&self) -> bool {
        let less = |room: usize| room.checked_sub(1);
        self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }
}

/// The caller's part. When it is dropped, a panic included, nobody comes in, and all guests have
/// left.
struct Host<'a>(&'a Gate);

impl Drop for Host<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::MutexGuard;
    use std::thread::{self, yield_now};
    use std::time::Duration;

    /// Calls `task` here and on a guest, at once. A call may be without guests, as the invitations
    /// of other tests are enough for the pool: then its host goes after a while, and the next call
    /// asks again.
    fn at_once(task: &(dyn Fn() + Sync)) {
        const GONE: usize = 3;
        let start = Instant::now();
        loop {
            let inside = AtomicUsize::new(0);
            with(1, &|| {
                if inside.fetch_add(1, Ordering::Relaxed) == GONE {
                    return;
                }
                let came = Instant::now();
                while inside.load(Ordering::Relaxed) < 2 {
                    let late = came.elapsed() > Duration::from_millis(20);
                    if late && replace(&inside, 1, GONE) {
                        return;
                    }
                    yield_now();
                }
                task();
            });
            if inside.into_inner() == 2 {
                return;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "no guest comes");
        }
    }

    fn replace(number: &AtomicUsize, this: usize, by: usize) -> bool {
        number.compare_exchange(this, by, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    #[test]
    fn host_and_guests_work_at_once() {
        let calls = AtomicUsize::new(0);
        at_once(&|| _ = calls.fetch_add(1, Ordering::Relaxed));
        assert_eq!(calls.into_inner(), 2);
    }

    /// Whoever of those that were asked comes first.
    #[test]
    fn no_more_come_than_there_is_room_for() {
        for guests in [1, 2] {
            let calls = AtomicUsize::new(0);
            let task = || _ = calls.fetch_add(1, Ordering::Relaxed);
            // SAFETY: the task outlives it.
            let house = unsafe { House::of(&task, guests) };
            let left = AtomicUsize::new(0);
            let came = (0..5).filter(|_| house.visit(|| _ = left.fetch_add(1, Ordering::Relaxed)));
            assert_eq!(came.count(), guests);
            let (calls, left) = (calls.load(Ordering::Relaxed), left.into_inner());
            assert_eq!((calls, left), (guests, guests));
        }
        let (inside, start) = (AtomicUsize::new(0), Instant::now());
        let mut most = 0;
        while most < 2 && start.elapsed() < Duration::from_secs(60) {
            with(1, &|| {
                inside.fetch_add(1, Ordering::Relaxed);
                thread::sleep(Duration::from_millis(10));
            });
            most = inside.swap(0, Ordering::Relaxed);
        }
        assert_eq!(most, 2, "the host and one guest");
    }

    /// While it exists, no thread of the pool is free: each does a job of its own. One at a time,
    /// as two would have half of the threads each, and wait for the others.
    struct Meeting(Arc<AtomicBool>, #[expect(dead_code)] MutexGuard<'static, ()>);

    impl Meeting {
        fn new() -> Self {
            static ALONE: Mutex<()> = Mutex::new(());
            let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
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
            Self(leave, alone)
        }
    }

    impl Drop for Meeting {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    #[test]
    fn who_comes_late_is_not_let_in() {
        let calls = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&calls);
        let meeting = Meeting::new();
        with(3, &|| _ = count.fetch_add(1, Ordering::Relaxed));
        drop(meeting);
        // After that all guests have come.
        drop(Meeting::new());
        assert_eq!(calls.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_busy_pool_is_not_asked_again_and_again() {
        let meeting = Meeting::new();
        let mut most = 0;
        for _ in 0..100 {
            with(3, &|| ());
            most = most.max(ASKED.load(Ordering::Relaxed));
        }
        drop(meeting);
        // Calls of other tests may have found room at the same moment.
        assert!(most < 2 * rayon::current_num_threads() + 3, "{most} invitations wait");
    }

    #[test]
    fn one_more_is_asked_than_may_come() {
        let start = Instant::now();
        let mut asked = 0;
        while asked < 2.min(rayon::current_num_threads()) {
            // Calls of other tests may have asked before.
            assert!(start.elapsed() < Duration::from_secs(60), "{asked} are asked");
            let _meeting = Meeting::new();
            // SAFETY: the task is a constant.
            let house = Arc::new(unsafe { House::of(&|| (), 1) });
            ask(&house, 1);
            asked = Arc::strong_count(&house) - 1;
        }
    }

    /// What each call's task borrows is gone after it, and the next one's guests may linger from
    /// before.
    #[test]
    fn calls_one_after_another_have_guests_of_their_own() {
        for n in 0..if cfg!(miri) { 12 } else { 1_000 } {
            let (borrowed, calls) = (Box::new(n), AtomicUsize::new(0));
            with(2, &|| {
                assert_eq!(*borrowed, n);
                calls.fetch_add(1, Ordering::Relaxed);
                yield_now();
            });
            assert!((1..=3).contains(&calls.into_inner()));
        }
    }

    #[test]
    fn panics_of_host_and_guest_reach_the_caller() {
        let caller = thread::current().id();
        for by_host in [true, false] {
            let result = catch_unwind(|| {
                at_once(&|| assert!((thread::current().id() == caller) != by_host, "planted"));
            });
            let panic = result.expect_err("a panic");
            assert_eq!(panic.downcast_ref(), Some(&"planted"));
        }
    }
}
