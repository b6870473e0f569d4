//! The end of all progress: whether nothing can change any more, and who waits
//! for what.

use super::Grid;
use crate::lang::Pos;
use crate::machine::findings::{Told, who};
use crate::machine::warp::{Wait, lanes};
use crate::report::{Access, AccessKind, FindingKind};

/// Accesses told of a deadlock.
const MAX_WAITERS: usize = 8;

impl Grid<'_, '_> {
    /// Whether every warp waits or is known to run in circles.
    pub(super) fn is_stuck(&self) -> bool {
        let version = self.machine.version;
        self.resident
            .iter()
            .flat_map(|b| &b.warps)
            .all(|w| w.runnable() == 0 || w.spin.proven == Some(version))
    }

    /// Tells who waits for what when nothing can change any more.
    pub(super) fn tell_stuck(&mut self) {
        let mut waiters: Vec<(Access, String, String)> = Vec::new();
        let mut seen = Vec::new();
        let mut spins = false;
        for i in 0..self.resident.len() {
            for w in 0..self.resident[i].warps.len() {
                let live = self.resident[i].warps[w].live;
                for lane in lanes(live) {
                    let warp = &self.resident[i].warps[w];
                    let wait = warp.wait(lane);
                    let (address, polled) = warp.polled[lane];
                    let spinning = wait == Wait::No;
                    spins |= spinning;
                    let pc = if spinning && polled != 0 { polled } else { warp.pc[lane] };
                    let info = &self.resident[i].info;
                    if waiters.len() >= MAX_WAITERS || seen.contains(&(info.id, pc, wait as u8)) {
                        continue;
                    }
                    seen.push((info.id, pc, wait as u8));
                    let side = self.machine.side(info, warp.rank(lane), pc, AccessKind::Wait);
                    let at = match wait {
                        Wait::Block => "at a block barrier".to_owned(),
                        Wait::Lanes => "for lanes of its warp".to_owned(),
                        Wait::Grid => "at a grid barrier".to_owned(),
                        Wait::No if polled != 0 => {
                            format!("for {}", self.machine.element_name(address))
                        }
                        Wait::No => "in a loop that changes nothing".to_owned(),
                    };
                    waiters.push((side, at, self.machine.spot(pc)));
                }
            }
        }
        // Who spins is the cause; who waits at barriers waits for those.
        waiters.sort_by_key(|(side, at, _)| (!at.starts_with("for "), side.block));
        let pending = self.queue.len();
        let kind =
            if spins && pending == 0 { FindingKind::Livelock } else { FindingKind::Deadlock };
        let Some((first, at, spot)) = waiters.first() else { return };
        let mut message =
            format!("{} waits {at} for ever ({spot})", who(first.block, first.thread));
        if pending > 0 {
            message.push_str(&format!(
                ", and {pending} block{} cannot start before a resident one ends",
                if pending == 1 { "" } else { "s" }
            ));
        }
        let pos = Pos { line: first.line, column: first.column };
        let accesses = waiters.into_iter().map(|w| w.0).collect();
        self.machine.findings.add(kind, pos, pos, "", || Told {
            message,
            accesses,
            location: None,
        });
    }
}
