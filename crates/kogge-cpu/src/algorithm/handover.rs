//! How threads learn each other's tile totals, and keep out of each other's way in place.
//!
//! Every tile has a slot that some thread fills with the tile's total. Every thread reads all of
//! them, in order, so there is no chain in which one thread waits for the result of another's
//! waiting. A total that is late is computed by whoever needs it: the input is still there.
//!
//! In place it might be gone: the thread that owns a piece overwrites it. So helpers register with
//! the piece before they read it, and its owner publishes all totals of the piece before it closes
//! the piece to helpers and waits for those inside.

use crate::sync::{AtomicU32, Ordering, UnsafeCell, spin};
use std::mem::MaybeUninit;

const EMPTY: u32 = 0;
const FILLING: u32 = 1;
const READY: u32 = 2;

/// A value written once, read by any thread afterwards.
pub(crate) struct Slot<A> {
    state: AtomicU32,
    value: UnsafeCell<MaybeUninit<A>>,
}

// SAFETY: the value is written by the one thread that moved the state from EMPTY to FILLING, and
// read only after READY was seen; the release/acquire pair orders the two.
unsafe impl<A: Send + Sync> Sync for Slot<A> {}

impl<A: Copy> Slot<A> {
    /// A slot with nothing in it.
    pub(crate) fn new() -> Self {
        Self { state: AtomicU32::new(EMPTY), value: UnsafeCell::new(MaybeUninit::uninit()) }
    }

    /// Puts the value in, unless another thread did or does.
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
}

const CLOSED: u32 = 1 << 31;

/// A piece of the input that its owner will overwrite, and others may want to read before.
pub(crate) struct Piece {
    /// Helpers inside, and CLOSED.
    state: AtomicU32,
}

impl Piece {
    /// An open piece.
    pub(crate) fn new() -> Self {
        Self { state: AtomicU32::new(0) }
    }

    /// Enters as a helper; `None` once the piece is closed, when all its totals are published.
    pub(crate) fn enter(&self) -> Option<Helper<'_>> {
        let helper = Helper(self);
        // On failure the guard takes the registration back.
        (self.state.fetch_add(1, Ordering::Acquire) & CLOSED == 0).then_some(helper)
    }

    /// Closes the piece, whose totals the owner has published or found claimed, and waits until no
    /// helper is inside. Helpers never wait, so this ends.
    pub(crate) fn close<A: Copy>(&self, totals: &[Slot<A>]) {
        // A helper may have claimed a slot and not filled it yet; who finds the piece closed must
        // find its totals.
        while totals.iter().any(|slot| slot.get().is_none()) {
            spin();
        }
        self.state.fetch_or(CLOSED, Ordering::AcqRel);
        while self.state.load(Ordering::Acquire) != CLOSED {
            spin();
        }
    }
}

/// A total that is late: computed from the input, unless the piece it is in is closed by now, when
/// the total is in its slot.
///
/// `piece` is `None` where nobody overwrites the input. `compute` may read the piece's input.
pub(crate) fn late<A: Copy>(
    slot: &Slot<A>,
    piece: Option<&Piece>,
    compute: impl FnOnce() -> A,
) -> A {
    let helper = piece.map(Piece::enter);
    if let Some(None) = helper {
        return slot.get().expect("published before the piece was closed");
    }
    let total = compute();
    slot.publish(total);
    total
}

/// A helper inside a piece; leaves when dropped, a panic included.
pub(crate) struct Helper<'a>(&'a Piece);

impl Drop for Helper<'_> {
    fn drop(&mut self) {
        self.0.state.fetch_sub(1, Ordering::Release);
    }
}

#[cfg(all(test, loom))]
mod tests;
