//! Volatile accesses of different threads that nothing orders, one of them a write.
//!
//! `volatile` keeps the compiler from leaving accesses out; it synchronises nobody. A kernel's own
//! flags are such accesses all the same, and wait for each other by design. So these are a race
//! where no loop waits for a value of that array (`waiting.rs`), and are told when the launch is
//! over.

use std::collections::{BTreeMap, BTreeSet};

use super::access::{Target, What};
use super::exec::{Context, Machine};
use super::findings::Told;
use super::race::Conflict;
use crate::report::{FindingKind, Space};

/// An array, or a shared object of any block.
type Place = (bool, usize);

/// What a launch has shown of volatile accesses.
#[derive(Default)]
pub(super) struct Unordered {
    /// Where a read was that a loop waits for.
    flags: BTreeSet<Place>,
    /// The first of those between two instructions on one array, and how many there were.
    races: BTreeMap<(Place, u32, u32), (Told, u64)>,
}

impl Machine<'_> {
    /// Notes a volatile access, and what it conflicts with.
    pub(super) fn volatile_access(
        &mut self,
        c: &Context<'_>,
        (lane, what): (usize, What),
        t: Target,
        conflict: Option<Conflict>,
    ) {
        let place = (t.space == Space::Shared, t.object);
        if self.kernel.waiting.get(what.pc as usize).is_some_and(|&waits| waits) {
            self.volatile.flags.insert(place);
        }
        let Some(conflict) = conflict.filter(|_| !self.volatile.flags.contains(&place)) else {
            return;
        };
        let key = (place, what.pc, conflict.other.pc);
        if let Some((_, count)) = self.volatile.races.get_mut(&key) {
            *count += 1;
            return;
        }
        let mut told = self.race_of(c, lane, what, t, conflict);
        told.message.push_str(": `volatile` does not");
        self.volatile.races.insert(key, (told, 1));
    }

    /// Tells of those on arrays that nobody waits for.
    pub(super) fn tell_volatile(&mut self) {
        let flags = std::mem::take(&mut self.volatile.flags);
        for ((place, pc, other), (told, count)) in std::mem::take(&mut self.volatile.races) {
            if flags.contains(&place) {
                continue;
            }
            let at = (self.place(pc), self.place(other));
            let array = told.location.as_ref().map_or_else(String::new, |l| l.array.clone());
            self.findings.add_many(FindingKind::Race, at, &array, count, || told);
        }
    }
}
