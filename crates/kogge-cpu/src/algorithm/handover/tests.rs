//! Every interleaving of the hand-over, tried by loom.
//!
//! The input is a loom cell, so a helper that reads while the owner overwrites is seen as a race
//! even where the value happens to be right.

use super::*;
use loom::sync::Arc;
use loom::thread;

/// Tries all interleavings; three threads with at most `preemptions` forced switches.
fn model(preemptions: usize, check: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(check);
}

#[test]
fn one_of_two_publishers_wins_and_readers_see_it_whole() {
    model(3, || {
        let slot = Arc::new(Slot::new());
        let publishers: Vec<_> = [[1u64, 10], [2, 20]]
            .into_iter()
            .map(|value| {
                let slot = slot.clone();
                thread::spawn(move || slot.publish(value))
            })
            .collect();
        let early = slot.get();
        for publisher in publishers {
            publisher.join().unwrap();
        }
        let late = slot.get().expect("both publishers are done");
        assert!(late == [1, 10] || late == [2, 20]);
        assert!(early.is_none_or(|early| early == late), "a slot never changes");
    });
}

/// A tile, whose input its owner overwrites.
struct Shared {
    input: UnsafeCell<u32>,
    slot: Slot<u32>,
    gate: Gate,
}

impl Shared {
    fn with(slot: Slot<u32>) -> Arc<Self> {
        Arc::new(Self { input: UnsafeCell::new(7), slot, gate: Gate::new() })
    }

    fn read(&self) -> u32 {
        // SAFETY: loom reports any write that isn't ordered with this read.
        self.input.with(|input| unsafe { *input })
    }

    fn overwrite(&self) {
        // SAFETY: loom reports any access that isn't ordered with this write.
        self.input.with_mut(|input| unsafe { *input = 1_000 });
    }

    /// What the thread does that took the tile: folds it, publishes, overwrites it.
    fn own(&self) {
        if self.slot.get().is_none() {
            self.slot.publish(self.read());
        }
        self.gate.close_folded(&self.slot);
        self.overwrite();
    }

    /// The same of a slot that is the thread's alone.
    fn own_alone(&self) {
        // SAFETY: the owner's thread calls this, once.
        unsafe { self.slot.put(self.read()) };
        self.gate.close_folded(&self.slot);
        self.overwrite();
    }

    /// What the leader does: learns the total while it overwrites the tile.
    fn lead(&self) {
        self.gate.close();
        let owed = Owed(&self.slot);
        let total = self.read();
        self.overwrite();
        owed.pay(total);
    }

    /// The same of a slot that is the leader's alone.
    fn lead_alone(&self) {
        self.gate.close();
        let owed = Owed(&self.slot);
        let total = self.read();
        self.overwrite();
        // SAFETY: the owner's thread calls this, once.
        unsafe { owed.put(total) };
    }

    /// What a thread does that misses the total.
    fn help(&self) {
        let total = late(&self.slot, Some(&self.gate), || self.read());
        assert_eq!(total, Some(7), "computed from an overwritten input");
    }
}

/// An owner beside so many helpers.
fn beside_helpers(helpers: usize, preemptions: usize, slot: fn() -> Slot<u32>, own: fn(&Shared)) {
    model(preemptions, move || {
        let shared = Shared::with(slot());
        let helpers: Vec<_> = (0..helpers)
            .map(|_| {
                let shared = shared.clone();
                thread::spawn(move || shared.help())
            })
            .collect();
        own(&shared);
        for helper in helpers {
            helper.join().unwrap();
        }
        assert_eq!(shared.slot.get(), Some(7));
        assert_eq!(shared.read(), 1_000);
    });
}

#[test]
fn an_owner_never_overwrites_what_a_helper_reads() {
    beside_helpers(1, 4, Slot::new, Shared::own);
    beside_helpers(1, 4, Slot::owned, Shared::own_alone);
}

/// With one helper: two threads that spin, the leader and a helper outside, are more than loom ends
/// with.
#[test]
fn a_leader_never_overwrites_what_a_helper_reads() {
    beside_helpers(1, 4, Slot::new, Shared::lead);
    beside_helpers(1, 4, Slot::owned, Shared::lead_alone);
}

/// One helper may hold the claim of the slot while the owner closes and another helper comes late;
/// of an owned slot none does, and each works the total out.
#[test]
fn helpers_that_come_late_get_the_total_of_another_helper() {
    beside_helpers(2, 3, Slot::new, Shared::own);
    beside_helpers(2, 3, Slot::owned, Shared::own_alone);
}

/// A leader whose operator panics closes the tile and publishes nothing.
#[test]
fn nobody_waits_for_a_total_that_never_comes() {
    for slot in [Slot::new, Slot::owned] {
        abandoned(slot);
    }
}

fn abandoned(slot: fn() -> Slot<u32>) {
    model(4, move || {
        let shared = Shared::with(slot());
        let helper = {
            let shared = shared.clone();
            thread::spawn(move || late(&shared.slot, Some(&shared.gate), || shared.read()))
        };
        shared.gate.close();
        let owed = Owed(&shared.slot);
        shared.overwrite();
        drop(owed);
        let total = helper.join().unwrap();
        assert!(total.is_none_or(|total| total == 7), "computed from an overwritten input");
    });
}

#[test]
fn out_of_place_nothing_is_closed() {
    model(3, || {
        let slot = Arc::new(Slot::new());
        let helpers: Vec<_> = (0..2)
            .map(|_| {
                let slot = slot.clone();
                thread::spawn(move || assert_eq!(late(&slot, None, || 7), Some(7)))
            })
            .collect();
        for helper in helpers {
            helper.join().unwrap();
        }
        assert_eq!(slot.get(), Some(7));
    });
}
