//! Whether a short scan is worth a second thread: if the threads of the pool are awake.
//!
//! To wake one takes some 20 µs, in which a core scans a mebibyte or two. But threads of rayon's look for
//! work for a while before they sleep, so where scans follow one another within moments, all but the
//! first few meet a thread that is awake. Unless others have the CPUs: then nobody comes, and scans go
//! alone until it is tried again.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// For how long after a scan a thread is thought to be awake. (On a Zen 5 a second thread gained as much
/// after 20 µs as at once, and half as much after 40.)
const MOMENT: Duration = Duration::from_micros(20);

/// Guests are asked in so many scans, the first of which may have to wake them,
const TRIES: u32 = 4;
/// of so many in a row to which nobody comes.
const ROUND: u32 = 64;

thread_local! {
    static BEFORE: Cell<Succession> = const { Cell::new(Succession { over: None, missed: 0 }) };
}

/// What a thread knows of the scans before.
#[derive(Clone, Copy)]
struct Succession {
    /// When the last one was over.
    over: Option<Instant>,
    /// How many there were, each within a moment, since a guest came.
    missed: u32,
}

impl Succession {
    /// Whether guests are likely to come to a scan that begins now.
    fn begin(&mut self, now: Instant) -> bool {
        if self.over.is_none_or(|over| now.saturating_duration_since(over) > MOMENT) {
            self.missed = 0;
            return false;
        }
        self.missed = self.missed.wrapping_add(1);
        (self.missed - 1) % ROUND < TRIES
    }
}

/// A scan that guests may come to. Over when it is dropped.
pub(crate) struct Turn(());

impl Drop for Turn {
    fn drop(&mut self) {
        change(|before| before.over = Some(Instant::now()));
    }
}

/// Begins a scan, and says whether it should ask for guests. Threads of the pool don't: their
/// fellows have work of their own, as a rule.
pub(crate) fn begin() -> (Turn, bool) {
    let likely = change(|before| before.begin(Instant::now()));
    (Turn(()), likely && rayon::current_thread_index().is_none())
}

/// Takes note that a guest came.
pub(super) fn guest_came() {
    change(|before| before.missed = 0);
}

fn change<R>(how: impl FnOnce(&mut Succession) -> R) -> R {
    let mut before = BEFORE.get();
    let result = how(&mut before);
    BEFORE.set(before);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guests_are_asked_while_scans_follow_one_another() {
        let mut before = Succession { over: None, missed: 0 };
        let mut now = Instant::now();
        assert!(!before.begin(now), "the first one");
        for i in 0..3 * ROUND {
            before.over = Some(now);
            now += MOMENT;
            assert_eq!(before.begin(now), i % ROUND < TRIES, "{i}: nobody came");
        }
        before.missed = 0;
        before.over = Some(now);
        assert!(before.begin(now), "somebody came");
        assert!(!before.begin(now + MOMENT + Duration::from_nanos(1)), "too late");
    }
}
