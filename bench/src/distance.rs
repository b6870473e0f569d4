//! How far two CPUs are from each other at the moment: how long a word takes from one thread to
//! another and back.
//!
//! What one core has just written comes to another from an L3 that they have in common, or by way
//! of what connects two of those, which takes three times as long. Under a hypervisor CPUs move,
//! from one minute to the next, and what two threads do is faster or slower by half; so a record
//! says of each cell what it met.

use crate::measure::quantile;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Stretches, whose median counts,
const STRETCHES: usize = 11;
/// and words in each.
const WORDS: u32 = 100;
/// How long all of them may take: there may be but one CPU, or somebody else on the other.
const LIMIT: Duration = Duration::from_millis(20);
/// So many looks between two at the clock.
const LOOKS: u32 = 1 << 10;

/// What goes to and fro, in lines of the cache that hold nothing else.
#[derive(Default)]
#[repr(align(128))]
struct Word {
    /// Odd when it was sent, even when it was sent back.
    value: AtomicU32,
    done: AtomicBool,
}

/// Nanoseconds that a word takes to another thread and back; `None` if it didn't come back soon.
pub fn word_ns() -> Option<f64> {
    let word = Word::default();
    thread::scope(|scope| {
        scope.spawn(|| word.answer());
        let ns = word.ask(LIMIT);
        word.done.store(true, Ordering::Release);
        ns
    })
}

/// What is measured, with the nanoseconds that a word took before and after.
pub(crate) fn beside<R>(measure: impl FnOnce() -> R) -> (R, Option<[f64; 2]>) {
    let before = word_ns();
    let measured = measure();
    (measured, before.zip(word_ns()).map(|(before, after)| [before, after]))
}

impl Word {
    /// Sends it back whenever it comes.
    fn answer(&self) {
        while !self.done.load(Ordering::Acquire) {
            let value = self.value.load(Ordering::Acquire);
            if value % 2 == 1 {
                self.value.store(value.wrapping_add(1), Ordering::Release);
            }
        }
    }

    /// Sends it time and again, for so long at most.
    fn ask(&self, limit: Duration) -> Option<f64> {
        let end = Instant::now() + limit;
        // The other thread has to begin first.
        self.send(end)?;
        let mut times = Vec::with_capacity(STRETCHES);
        for _ in 0..STRETCHES {
            let start = Instant::now();
            for _ in 0..WORDS {
                self.send(end)?;
            }
            times.push(start.elapsed().as_nanos() as f64 / f64::from(WORDS));
        }
        times.sort_by(f64::total_cmp);
        Some(quantile(&times, 0.5))
    }

    /// Sends it, and waits until it is back, or the end has come.
    fn send(&self, end: Instant) -> Option<()> {
        let back = self.value.load(Ordering::Relaxed).wrapping_add(2);
        self.value.store(back.wrapping_sub(1), Ordering::Release);
        loop {
            for _ in 0..LOOKS {
                if self.value.load(Ordering::Acquire) == back {
                    return Some(());
                }
            }
            if Instant::now() >= end {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_comes_back() {
        let word = Word::default();
        let ns = thread::scope(|scope| {
            scope.spawn(|| word.answer());
            let ns = word.ask(Duration::from_secs(60));
            word.done.store(true, Ordering::Release);
            ns
        });
        assert!(ns.is_some_and(|ns| ns > 0.0), "{ns:?}");
        let sent = 1 + STRETCHES as u32 * WORDS;
        assert_eq!(word.value.load(Ordering::Relaxed), 2 * sent);
    }

    #[test]
    fn who_does_not_answer_is_given_up() {
        assert_eq!(Word::default().ask(Duration::from_millis(1)), None);
    }
}
