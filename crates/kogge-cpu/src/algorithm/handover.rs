//! How threads learn each other's tile totals, and keep out of each other's way in place.
//!
//! Every tile has a slot that some thread fills with the tile's total. Every thread reads all of
//! them, in order, so there is no chain in which one thread waits for the result of another's
//! waiting. A total that is late is computed by whoever needs it: the input is still there.
//!
//! In place it might be gone: the thread that owns a tile overwrites it. So helpers go through the
//! tile's gate before they read it, and its owner closes the gate and waits for those inside before
//! it writes. Who finds the gate closed finds the total too; or waits for it, where the owner
//! learns it from the scan itself, which waits for nobody.
//!
//! Who computes a total fills its slot too, unless that is the owner's alone. Then the owner needs
//! no locked instruction, which would wait for all stores before it, those past the caches too.

use crate::sync::{AtomicU32, Ordering, UnsafeCell, spin};
use std::mem::{self, MaybeUninit};
use std::time::{Duration, Instant};

/// How often a late total is looked for before it is computed, or waited for otherwise: some tens
/// of microseconds, a few times what folding a tile takes.
const PATIENCE: usize = 1 << 10;

/// So many slots or gates, or whatever else. By a function that knows nothing of operators: else a
/// dozen of the standard library's would be compiled anew for each of them.
pub(crate) fn many<T>(count: usize, new: fn() -> T) -> Vec<T> {
    (0..count).map(|_| new()).collect()
}

const EMPTY: u32 = 0;
const FILLING: u32 = 1;
const READY: u32 = 2;
const ABANDONED: u32 = 3;
const OWNED: u32 = 4;

/// A value written once, read by any thread afterwards.
pub(crate) struct Slot<A> {
    state: AtomicU32,
    value: UnsafeCell<MaybeUninit<A>>,
}

// SAFETY: the value is written by the one thread that moved the state from EMPTY to FILLING, or by
// the owner of a slot that never was EMPTY, and read only after READY was seen; the release/acquire
// pair orders the two.
unsafe impl<A: Send + Sync> Sync for Slot<A> {}

impl<A: Copy> Slot<A> {
    /// A slot with nothing in it.
    pub(crate) fn new() -> Self {
        Self { state: AtomicU32::new(EMPTY), value: UnsafeCell::new(MaybeUninit::uninit()) }
    }

    /// A slot with nothing in it, which its owner alone fills.
    pub(crate) fn owned() -> Self {
        Self { state: AtomicU32::new(OWNED), value: UnsafeCell::new(MaybeUninit::uninit()) }
    }

    /// Puts the value into an [owned](Self::owned) slot.
    ///
    /// # Safety
    ///
    /// The slot must be the caller's own, and be filled this once.
    #[inline]
    pub(super) unsafe fn put(&self, value: A) {
        debug_assert_eq!(self.state.load(Ordering::Relaxed), OWNED);
        // SAFETY: nobody else writes, by contract, and nobody reads before READY.
        self.value.with_mut(|slot| unsafe { (*slot).write(value) });
        self.state.store(READY, Ordering::Release);
    }

    /// Puts the value in, unless another thread did or does, or the slot is its owner's.
    pub(crate) fn publish(&self, value: A) {
        let claim =
            self.state.compare_exchange(EMPTY, FILLING, Ordering::Relaxed, Ordering::Relaxed);
        if claim.is_ok() {
            // SAFETY: only the thread that claimed the slot writes, and nobody reads before READY.
            self.value.with_mut(|slot| unsafe { (*slot).write(value) });
            self.state.store(READY, Ordering::Release);
        }
    }

    /// The value, if it is there.
    pub(crate) fn get(&self) -> Option<A> {
        if self.state.load(Ordering::Acquire) != READY {
            return None;
        }
        // SAFETY: READY was stored after the value, and nobody writes it again.
        Some(self.value.with(|slot| unsafe { (*slot).assume_init() }))
    }

    /// Says that the value will never come, unless another thread is putting it in.
    fn abandon(&self) {
        // Otherwise the value is there, or about to be.
        for nothing in [EMPTY, OWNED] {
            let (order, abandoned) = (Ordering::Relaxed, ABANDONED);
            let _ = self.state.compare_exchange(nothing, abandoned, order, order);
        }
    }

    /// The value, if it is there within [`PATIENCE`].
    pub(crate) fn soon(&self) -> Option<A> {
        for _ in 0..PATIENCE {
            if let Some(value) = self.get() {
                return Some(value);
            }
            std::hint::spin_loop();
        }
        None
    }

    /// The value, if it is there within so long.
    pub(super) fn within(&self, patience: Duration) -> Option<A> {
        self.soon().or_else(|| {
            let start = Instant::now();
            while self.awaited() && start.elapsed() < patience {
                spin();
            }
            self.get()
        })
    }

    /// Whether the value isn't there, but may come.
    fn awaited(&self) -> bool {
        matches!(self.state.load(Ordering::Acquire), EMPTY | FILLING | OWNED)
    }

    /// The value, once it is there; `None` if it never comes.
    pub(super) fn wait(&self) -> Option<A> {
        while self.awaited() {
            spin();
        }
        self.get()
    }
}

/// The total of a tile that is being scanned without having been folded. Whoever waits for it goes
/// on if it is dropped without a total, as in a panic of the operator.
pub(crate) struct Owed<'a, A: Copy>(pub(crate) &'a Slot<A>);

impl<A: Copy> Owed<'_, A> {
    /// Publishes the total.
    pub(crate) fn pay(self, total: A) {
        self.0.publish(total);
        mem::forget(self);
    }

    /// Puts the total into an [owned](Slot::owned) slot.
    ///
    /// # Safety
    ///
    /// As for [`Slot::put`].
    pub(super) unsafe fn put(self, total: A) {
        // SAFETY: passed on.
        unsafe { self.0.put(total) };
        mem::forget(self);
    }
}

impl<A: Copy> Drop for Owed<'_, A> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

const CLOSED: u32 = 1 << 31;

/// The gate of a tile that its owner will overwrite, and others may want to read before.
pub(crate) struct Gate {
    /// Helpers inside, and CLOSED.
    state: AtomicU32,
}

impl Gate {
    /// An open gate.
    pub(crate) fn new() -> Self {
        Self { state: AtomicU32::new(0) }
    }

    /// Enters as a helper; `None` once the gate is closed.
    pub(crate) fn enter(&self) -> Option<Helper<'_>> {
        let helper = Helper(self);
        // On failure the guard takes the registration back.
        (self.state.fetch_add(1, Ordering::Acquire) & CLOSED == 0).then_some(helper)
    }

    /// Closes the gate of a tile whose total its owner has published or found claimed: who finds it
    /// closed finds the total too.
    pub(crate) fn close_folded<A: Copy>(&self, total: &Slot<A>) {
        // A helper may have claimed the slot and not filled it yet.
        while total.get().is_none() {
            spin();
        }
        self.close();
    }

    /// Closes the gate to helpers, and waits until none is inside. Those inside wait for nobody who
    /// scans, so this ends when what their operator does ends.
    pub(crate) fn close(&self) {
        self.state.fetch_or(CLOSED, Ordering::AcqRel);
        while self.state.load(Ordering::Acquire) != CLOSED {
            spin();
        }
    }
}

/// A total that is late: computed from the input, unless its gate is closed by now, when its owner
/// publishes it. `None` if the owner panicked. It is published, unless that is its owner's alone to
/// do.
///
/// `gate` is `None` where nobody overwrites the input. `compute` may read the tile's input.
pub(crate) fn late<A: Copy>(
    slot: &Slot<A>,
    gate: Option<&Gate>,
    compute: impl FnOnce() -> A,
) -> Option<A> {
    let helper = gate.map(Gate::enter);
    if let Some(None) = helper {
        return slot.wait();
    }
    let total = compute();
    slot.publish(total);
    Some(total)
}

/// A helper inside a gate; leaves when dropped, a panic included.
pub(crate) struct Helper<'a>(&'a Gate);

impl Drop for Helper<'_> {
    fn drop(&mut self) {
        self.0.state.fetch_sub(1, Ordering::Release);
    }
}

#[cfg(all(test, loom))]
mod tests;
