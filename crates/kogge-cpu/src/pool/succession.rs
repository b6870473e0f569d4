//! Calls in quick succession. The first of them is done by its thread alone if it is short; those
//! that follow within the time that guests linger have one awake, or wake one for all that follow.
//!
//! Unless another thread of the program calls meanwhile, or guests turned out to be no help: who
//! has no CPU of its own takes half of the work and is waited for.

use super::distance;
use crate::{Cpu, tuning};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Calls at work.
static CALLS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// When this thread's last call ended.
    static LAST: Cell<Option<Instant>> = const { Cell::new(None) };
    /// Calls without help, one after another, and when the first of them ended.
    static FAILURES: Cell<Option<(u32, Instant)>> = const { Cell::new(None) };
    /// Until when this thread does short calls alone,
    static ALONE: Cell<Option<Instant>> = const { Cell::new(None) };
    /// and for how long it will the next time.
    static PAUSE: Cell<Duration> = const { Cell::new(tuning::SHORT_PAUSE) };
}

/// A call that could do with a second thread if that is awake, from outside of the pool.
pub(crate) struct Call {
    /// Whether one is awake, or worth being woken for what follows.
    pub(crate) awake: bool,
}

impl Call {
    /// Begins a call that reads so many bytes; `None` if nobody need be awake for it.
    pub(crate) fn begin(bytes: u64, in_place: bool, exact: bool) -> Option<Self> {
        // Short calls go on at once.
        if bytes < tuning::AWAKE_BYTES {
            return None;
        }
        let least = |apart| tuning::awake_bytes(Cpu::detect(), in_place, exact, apart);
        if bytes < least(false) {
            return None;
        }
        if bytes < least(true) && distance::apart() {
            distance::alone();
            return None;
        }
        Self::begin_on(Cpu::detect())
    }

    /// The same if it reads `least` bytes.
    pub(crate) fn begin_from(bytes: u64, least: u64) -> Option<Self> {
        if bytes < least { None } else { Self::begin_on(Cpu::detect()) }
    }

    fn begin_on(cpu: Cpu) -> Option<Self> {
        if tuning::linger(cpu).is_zero() || rayon::current_thread_index().is_some() {
            return None;
        }
        let others = CALLS.fetch_add(1, Ordering::Relaxed);
        let soon = LAST.get().is_some_and(|last| last.elapsed() < tuning::linger(cpu));
        let helped = ALONE.get().is_none_or(|end| Instant::now() >= end);
        Some(Self { awake: others == 0 && soon && helped })
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        CALLS.fetch_sub(1, Ordering::Relaxed);
        LAST.set(Some(Instant::now()));
    }
}

/// Says whether guests were a help.
pub(super) fn helped(well: bool) {
    if well {
        PAUSE.set(tuning::SHORT_PAUSE);
        return FAILURES.set(None);
    }
    let now = Instant::now();
    let (failures, first) = FAILURES.get().unwrap_or((0, now));
    if failures + 1 >= tuning::FAILURES && now - first >= tuning::WAKING {
        let pause = PAUSE.get();
        ALONE.set(Some(now + pause));
        PAUSE.set((2 * pause).min(tuning::LONG_PAUSE));
        FAILURES.set(None);
    } else {
        FAILURES.set(Some((failures + 1, first)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::thread::{self, sleep};

    /// One of these tests at a time: they count each other's calls.
    fn alone() -> MutexGuard<'static, ()> {
        static TESTS: Mutex<()> = Mutex::new(());
        TESTS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn call() -> Call {
        Call::begin_on(Cpu::Mesh).expect("guests linger there")
    }

    /// Whether any of many calls one after another finds a thread awake.
    fn awake() -> bool {
        (0..1_000).any(|_| call().awake)
    }

    /// The same, for as long as other tests may call, or this thread be away.
    fn awake_at_last() -> bool {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(60) {
            if awake() {
                return true;
            }
        }
        false
    }

    #[test]
    fn a_call_right_after_another_finds_a_thread_awake() {
        let _alone = alone();
        let new = thread::spawn(|| call().awake);
        assert!(!new.join().unwrap(), "a thread's first call");
        assert!(awake_at_last());
        sleep(tuning::linger(Cpu::Mesh));
        assert!(!call().awake, "too late");
        assert!(Call::begin_on(Cpu::Common).is_none());
        assert!(Call::begin(tuning::AWAKE_BYTES - 1, false, true).is_none());
    }

    #[test]
    fn calls_beside_others_find_nobody() {
        let _alone = alone();
        let other = thread::spawn(call).join().unwrap();
        assert!(!awake());
        drop(other);
        assert!(awake_at_last());
    }

    #[test]
    fn who_wakes_is_waited_for() {
        let _alone = alone();
        let start = Instant::now();
        (0..2 * tuning::FAILURES).for_each(|_| helped(false));
        assert!(ALONE.get().is_none() || start.elapsed() >= tuning::WAKING);
        helped(true);
        ALONE.set(None);
    }

    #[test]
    fn who_was_not_helped_is_alone_for_a_while() {
        let _alone = alone();
        let mut start = Instant::now();
        for last in [true, false] {
            (1..tuning::FAILURES).for_each(|_| helped(false));
            sleep(tuning::WAKING);
            assert!(awake_at_last(), "that happens");
            // Before: this thread may be away right behind.
            start = Instant::now();
            PAUSE.set(tuning::LONG_PAUSE);
            helped(last);
        }
        // All thousand of them, unless this thread was away for so long.
        assert!(!awake() || start.elapsed() >= tuning::LONG_PAUSE);
        sleep(tuning::LONG_PAUSE);
        assert!(awake_at_last(), "not for ever");
    }

    #[test]
    fn pauses_grow_until_somebody_helps() {
        let _alone = alone();
        helped(true);
        let mut pause = tuning::SHORT_PAUSE;
        while pause < tuning::LONG_PAUSE {
            assert_eq!(PAUSE.get(), pause);
            (1..tuning::FAILURES).for_each(|_| helped(false));
            sleep(tuning::WAKING);
            helped(false);
            pause = (2 * pause).min(tuning::LONG_PAUSE);
        }
        assert_eq!(PAUSE.get(), tuning::LONG_PAUSE);
        helped(true);
        assert_eq!(PAUSE.get(), tuning::SHORT_PAUSE);
        ALONE.set(None);
    }
}
