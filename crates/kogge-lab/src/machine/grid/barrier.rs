//! Barriers of a block and of the grid: when they let threads go, what these
//! know behind them, and who was missing.

use std::rc::Rc;

use super::{Block, Grid};
use crate::machine::clock::{Clock, join};
use crate::machine::findings::{Told, who};
use crate::machine::ins::{Op, barrier};
use crate::machine::warp::{lanes, me};
use crate::report::{AccessKind, FindingKind};
use crate::trace::Event;

impl Grid<'_, '_> {
    /// Lets a block go on if all of its live threads wait at a barrier.
    pub(super) fn release_block(&mut self, i: usize) -> bool {
        let block = &self.resident[i];
        let waiting = block.warps.iter().any(|w| w.at_block != 0);
        if !waiting || block.warps.iter().any(|w| w.live != w.at_block) {
            return false;
        }
        self.check_barrier(i);
        self.reduce(i);
        let block = &mut self.resident[i];
        let level = pass(block);
        for w in &mut block.warps {
            for lane in lanes(w.at_block) {
                w.pc[lane] += 1;
            }
            w.at_block = 0;
        }
        block.barriers += 1;
        self.machine.version += 1;
        self.record_barrier(Some(i), level);
        true
    }

    /// `__syncthreads_count` and its like: by the instruction, over the block.
    fn reduce(&mut self, i: usize) {
        let code = &self.machine.kernel.code;
        let block = &mut self.resident[i];
        let (mut count, mut all, mut any) = (0u64, true, false);
        let mut reduces = false;
        for w in &block.warps {
            for lane in lanes(w.at_block) {
                let Some(ins) = code.get(w.pc[lane] as usize) else { continue };
                if ins.op == Op::SyncThreads && ins.x != barrier::PLAIN {
                    reduces = true;
                    let set = w.registers[usize::from(ins.a)][lane] != 0;
                    count += u64::from(set);
                    all &= set;
                    any |= set;
                }
            }
        }
        if !reduces {
            return;
        }
        for w in &mut block.warps {
            for lane in lanes(w.at_block) {
                let Some(ins) = code.get(w.pc[lane] as usize) else { continue };
                w.registers[usize::from(ins.d)][lane] = match ins.x {
                    barrier::COUNT => count,
                    barrier::AND => u64::from(all),
                    barrier::OR => u64::from(any),
                    _ => continue,
                };
            }
        }
    }

    /// Tells of threads that are not at this barrier.
    fn check_barrier(&mut self, i: usize) {
        let block = &self.resident[i];
        let mut first = None;
        let mut elsewhere = None;
        let mut gone = None;
        let mut missing = 0;
        for w in &block.warps {
            let present = block.info.threads.saturating_sub(w.index * 32).min(32);
            for lane in 0..present as usize {
                let here = (w.rank(lane), w.pc[lane]);
                if w.live >> lane & 1 == 0 {
                    missing += 1;
                    gone.get_or_insert(here);
                } else if first.get_or_insert(here).1 != here.1 {
                    elsewhere.get_or_insert(here);
                }
            }
        }
        let Some((rank, pc)) = first else { return };
        let info = block.info.clone();
        let m = &mut *self.machine;
        let waiting = m.side(&info, rank, pc, AccessKind::Wait);
        if let Some((other, other_pc)) = elsewhere {
            let second = m.side(&info, other, other_pc, AccessKind::Wait);
            let message = format!(
                "{} waits at the barrier of line {} while {} waits at that of line {}",
                who(waiting.block, waiting.thread),
                waiting.line,
                who(second.block, second.thread),
                second.line
            );
            let pos = m.place(pc);
            let other_pos = m.place(other_pc);
            let accesses = vec![waiting.clone(), second];
            m.findings.add(FindingKind::DivergentBarrier, pos, other_pos, "", || Told {
                message,
                accesses,
                location: None,
            });
        }
        if let Some((other, other_pc)) = gone {
            let second = m.side(&info, other, other_pc, AccessKind::Wait);
            let message = format!(
                "the barrier of line {} is not reached by all threads of block {}: {missing} of {} had \
                 left the kernel, {} among them (line {}); before sm_70 it may wait for them",
                waiting.line,
                info.id,
                info.threads,
                who(second.block, second.thread),
                second.line
            );
            let pos = m.place(pc);
            let accesses = vec![waiting, second];
            m.findings.add(FindingKind::DivergentBarrier, pos, pos, "exited", || Told {
                message,
                accesses,
                location: None,
            });
        }
    }

    /// Lets the grid go on if every thread of it waits at a grid barrier.
    pub(super) fn release_grid(&mut self) -> bool {
        let waiting = self.resident.iter().flat_map(|b| &b.warps).any(|w| w.at_grid != 0);
        let all = self.resident.iter().flat_map(|b| &b.warps).all(|w| w.live == w.at_grid);
        if !waiting || !all || !self.queue.is_empty() {
            return false;
        }
        self.check_grid_barrier();
        let mut known = Rc::<Clock>::default();
        let mut seen = known.clone();
        let (mut clock, mut level) = (0, 0);
        for b in &self.resident {
            for w in &b.warps {
                for lane in lanes(w.live) {
                    clock = clock.max(w.time[lane].clock);
                    level = level.max(w.time[lane].level);
                    if !Rc::ptr_eq(&seen, &w.time[lane].known) {
                        join(&mut known, &w.time[lane].known);
                        seen = w.time[lane].known.clone();
                    }
                }
            }
        }
        let mut everyone = (*known).clone();
        for b in &self.resident {
            everyone.raise_block(b.info.id, clock);
        }
        let known = Rc::new(everyone);
        let nothing = Rc::default();
        for b in &mut self.resident {
            b.info.base = clock + 1;
            for w in &mut b.warps {
                for lane in lanes(w.at_grid) {
                    w.time[lane].pass_block(&known, &nothing, clock + 1, level + 1);
                    w.pc[lane] += 1;
                }
                w.at_grid = 0;
            }
        }
        self.machine.counts.grid_barriers += 1;
        self.machine.version += 1;
        self.record_barrier(None, level);
        true
    }

    fn check_grid_barrier(&mut self) {
        let total = u64::from(self.template.grid.iter().product::<u32>());
        let threads = u64::from(self.template.threads);
        let live: u64 = self
            .resident
            .iter()
            .flat_map(|b| &b.warps)
            .map(|w| u64::from(w.live.count_ones()))
            .sum();
        let missing = (total * threads).saturating_sub(live);
        let found = self.resident.iter().find_map(|b| {
            let w = b.warps.iter().find(|w| w.at_grid != 0)?;
            let lane = w.at_grid.trailing_zeros() as usize;
            Some((b.info.clone(), w.rank(lane), w.pc[lane]))
        });
        if let (true, Some((info, rank, pc))) = (missing > 0, found) {
            let side = self.machine.side(&info, rank, pc, AccessKind::Wait);
            let message = format!(
                "the grid barrier of line {} is not reached by all threads: {missing} had left the kernel",
                side.line
            );
            let pos = self.machine.place(pc);
            self.machine.findings.add(FindingKind::DivergentBarrier, pos, pos, "grid", || Told {
                message,
                accesses: vec![side],
                location: None,
            });
        }
    }

    fn record_barrier(&mut self, i: Option<usize>, level: u32) {
        let launch = self.machine.launch;
        let block = i.map(|i| &self.resident[i]);
        let any = block.or(self.resident.first());
        let pc = any
            .and_then(|b| b.warps.iter().find(|w| w.live != 0))
            .map_or(0, |w| w.pc[w.live.trailing_zeros() as usize & 31].saturating_sub(1));
        let line = self.machine.place(pc).line;
        let id = block.map(|b| b.info.id);
        if let Some(recorder) = self.machine.recorder.as_mut() {
            recorder.push(Event::Barrier { launch, level, block: id, line });
        }
    }
}

/// A block barrier in time: all its threads know what each of them knew.
fn pass(block: &mut Block) -> u32 {
    let info = &mut block.info;
    let mut known = Rc::<Clock>::default();
    let mut fenced = Rc::<Clock>::default();
    let mut seen = known.clone();
    let (mut clock, mut level) = (0, 0);
    for w in &block.warps {
        for lane in lanes(w.at_block) {
            let time = &w.time[lane];
            clock = clock.max(time.clock);
            level = level.max(time.level);
            // Most threads share one clock: comparing it again costs the most.
            if !Rc::ptr_eq(&seen, &time.known) {
                join(&mut known, &time.known);
                seen = time.known.clone();
            }
            if !Rc::ptr_eq(&fenced, time.fenced()) {
                join(&mut fenced, time.fenced());
            }
            if time.has_fence() {
                let me = me(info, w.rank(lane));
                join(&mut fenced, &time.released(&me, false));
            }
        }
    }
    if !known.is_empty() {
        Rc::make_mut(&mut known).forget_threads(info.first, info.padded);
    }
    info.base = clock + 1;
    for w in &mut block.warps {
        for lane in lanes(w.at_block) {
            w.time[lane].pass_block(&known, &fenced, clock + 1, level + 1);
        }
    }
    level
}
