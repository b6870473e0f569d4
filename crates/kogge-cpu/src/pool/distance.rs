//! Whether the caller and its guests have a cache in common.
//!
//! What another core has just written comes from a common L3, or from the other core's own, by way
//! of what connects the two, which takes three times as long. A guest finds such a line in any
//! case, that of the house which its host has built; so it looks at the clock before and after.
//! Threads move, and under a hypervisor CPUs do, so the last guests count, and none for ever.
//!
//! (Two CPUs of a Zen 4, 7,500 guests: 40 to 50 ns where a word goes to the other one and back in
//! 50 to 80, and 140 to 150, a tenth of them 20 to 50, where it does in 300 to 370.)

use crate::tuning;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// What guests found, as [`after`] counts it.
static FOUND: AtomicU32 = AtomicU32::new(0);

/// Calls that did without a guest on that account.
static ALONE: AtomicU32 = AtomicU32::new(0);

/// So much of it says that they are apart.
const APART: u32 = 2;

/// As much as is remembered.
const MOST: u32 = 3;

/// Whether guests were far away the last times.
pub(crate) fn apart() -> bool {
    FOUND.load(Ordering::Relaxed) >= APART
}

/// Says that a call does without a guest as that would be far away. After many it is forgotten.
pub(crate) fn alone() {
    if is_last(ALONE.fetch_add(1, Ordering::Relaxed)) {
        FOUND.store(0, Ordering::Relaxed);
    }
}

/// Whether all is forgotten with this call alone, after so many.
const fn is_last(before: u32) -> bool {
    before % tuning::REMEMBERED == tuning::REMEMBERED - 1
}

/// Says how long a guest took for what its host has just written. (One for whom there is no room
/// doesn't: another guest has written it since.)
pub(super) fn took(took: Duration) {
    let found = FOUND.load(Ordering::Relaxed);
    let next = after(found, took);
    if next != found {
        FOUND.store(next, Ordering::Relaxed);
    }
}

/// What is remembered after one more guest.
fn after(found: u32, took: Duration) -> u32 {
    if took >= tuning::FAR { (found + 1).min(MOST) } else { found.saturating_sub(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEAR: Duration = Duration::from_nanos(50);
    const FAR: Duration = Duration::from_nanos(140);

    fn all(found: u32, took: &[Duration]) -> u32 {
        took.iter().fold(found, |found, &took| after(found, took))
    }

    #[test]
    fn the_last_guests_count() {
        assert_eq!(all(0, &[FAR; 2]), APART);
        assert_eq!(all(0, &[FAR; 9]), MOST);
        assert!(all(MOST, &[NEAR]) >= APART, "one may be wrong");
        assert!(all(MOST, &[NEAR; 2]) < APART);
        assert!(all(0, &[FAR]) < APART);
        assert_eq!(all(MOST, &[NEAR; 9]), 0);
    }

    #[test]
    fn what_nobody_found_again_is_forgotten() {
        let all = 0..2 * tuning::REMEMBERED;
        let last: Vec<u32> = all.filter(|&before| is_last(before)).collect();
        assert_eq!(last, [tuning::REMEMBERED - 1, 2 * tuning::REMEMBERED - 1]);
    }
}
