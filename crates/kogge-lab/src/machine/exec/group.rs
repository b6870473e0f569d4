//! Groups: lanes of a warp that share a program counter, and which of them runs.

use crate::machine::warp::{Warp, lanes};

/// The group that runs.
pub(super) struct Group {
    pub pc: u32,
    pub mask: u32,
    /// Lanes that could run but wait for their turn.
    pub others: u32,
    /// The next counter at which others wait.
    pub limit: u32,
}

/// The lanes to run: those with the smallest counter; behind one that
/// yielded, those with the next larger one.
pub(super) fn choose(w: &Warp, runnable: u32) -> Group {
    let smallest = |above: u32| lanes(runnable).map(|l| w.pc[l]).filter(|&pc| pc >= above).min();
    let after = w.avoid.and_then(|pc| smallest(pc.saturating_add(1)));
    let pc = after.or(smallest(0)).unwrap_or(0);
    let mask = lanes(runnable).filter(|&l| w.pc[l] == pc).fold(0, |m, l| m | 1 << l);
    let others = runnable & !mask;
    Group { pc, mask, others, limit: limit(w, others, pc) }
}

#[inline]
pub(super) fn limit(w: &Warp, others: u32, pc: u32) -> u32 {
    let next = lanes(others).map(|l| w.pc[l]).filter(|&p| p >= pc).min();
    // At the very counter, they merge at once.
    next.unwrap_or(u32::MAX)
}

#[inline]
pub(super) fn write_back(w: &mut Warp, g: &Group) {
    for lane in lanes(g.mask) {
        w.pc[lane] = g.pc;
    }
}
