//! A launch: which blocks are resident, who runs next, barriers of blocks and
//! of the grid, and the end of all progress.

use std::rc::Rc;

use super::clock::{Clock, join};
use super::exec::{Context, Machine, Slice, Stop};
use super::findings::{Told, who};
use super::ins::{Op, barrier};
use super::memory::Region;
use super::warp::{ALL, BlockInfo, Wait, Warp, lanes, me};
use crate::options::Order;
use crate::random::Random;
use crate::report::{Access, AccessKind, FindingKind};
use crate::trace::Event;

/// Warp-instructions of a slice, unless the schedule is random.
const SLICE: u64 = 50_000;
/// Those of a random slice.
const RANDOM_SLICE: u64 = 48;
/// Accesses told of a deadlock.
const MAX_WAITERS: usize = 8;

/// A resident block.
pub(super) struct Block {
    info: BlockInfo,
    warps: Vec<Warp>,
    shared: Region,
    barriers: u64,
}

/// A launch under way.
pub(super) struct Grid<'m, 'a> {
    pub machine: &'m mut Machine<'a>,
    pub template: BlockInfo,
    pub params: &'m [(u16, u64)],
    /// Blocks that have not started, the next one last.
    pub queue: Vec<u32>,
    pub resident: Vec<Block>,
    /// Blocks resident at once.
    pub places: usize,
    pub shared_bytes: usize,
    pub spare: Vec<Region>,
    pub random: Random,
    /// The largest clock of any thread so far.
    pub clock: u32,
}

/// How a launch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Done,
    /// Nothing can change any more.
    Stuck,
    Spent,
}

impl Grid<'_, '_> {
    pub(super) fn run(&mut self) -> End {
        let random = self.machine.options.schedule.order == Order::Random;
        let mut version = u64::MAX;
        let mut idle = 0;
        loop {
            self.fill();
            if self.resident.is_empty() {
                return End::Done;
            }
            let patience = 64 + 16 * self.resident.iter().map(|b| b.warps.len()).sum::<usize>();
            let before = self.machine.version;
            if random && idle <= patience {
                if self.random_step() == Stop::Spent {
                    return End::Spent;
                }
            } else if self.round() == Stop::Spent {
                return End::Spent;
            } else if self.machine.version == before && !self.release_grid() && self.is_stuck() {
                self.tell_stuck();
                return End::Stuck;
            }
            if self.machine.version == version {
                idle += 1;
            } else {
                idle = 0;
            }
            version = self.machine.version;
        }
    }

    /// Ends the launch, whatever state its blocks are in; the largest clock.
    pub(super) fn finish(&mut self) -> u32 {
        for block in std::mem::take(&mut self.resident) {
            self.retire(block);
        }
        self.clock
    }

    /// Starts blocks while there is a place.
    fn fill(&mut self) {
        while self.resident.len() < self.places {
            let Some(id) = self.queue.pop() else { return };
            let block = self.start(id);
            self.resident.push(block);
        }
    }

    fn start(&mut self, id: u32) -> Block {
        let grid = self.template.grid;
        let info = BlockInfo {
            id,
            index: [id % grid[0], id / grid[0] % grid[1], id / grid[0] / grid[1]],
            first: id.wrapping_mul(self.template.padded),
            ..self.template.clone()
        };
        let mut shared = self.spare.pop().unwrap_or_else(|| Region::new(Vec::new(), false));
        shared.reset(self.shared_bytes);
        let traced = self.machine.recorder.is_some();
        let count = info.threads.div_ceil(32);
        let warps = (0..count)
            .map(|w| Warp::start(self.machine.kernel, &info, w, self.params, traced))
            .collect();
        self.machine.version += 1;
        Block { info, warps, shared, barriers: 0 }
    }

    /// Every resident block in turn, each as far as it comes.
    fn round(&mut self) -> Stop {
        let n = self.resident.len();
        let reverse = self.machine.options.schedule.order == Order::Reverse;
        for turn in 0..n {
            let i = if reverse { n - 1 - turn } else { turn };
            loop {
                if i >= self.resident.len() {
                    break;
                }
                if self.run_block(i, reverse) == Stop::Spent {
                    return Stop::Spent;
                }
                if !self.is_done(i) {
                    break;
                }
                // The next block takes the place, and its turn.
                let Some(id) = self.queue.pop() else { break };
                let next = self.start(id);
                let old = std::mem::replace(&mut self.resident[i], next);
                self.retire(old);
            }
        }
        let mut i = 0;
        while i < self.resident.len() {
            if self.is_done(i) {
                let old = self.resident.remove(i);
                self.retire(old);
            } else {
                i += 1;
            }
        }
        Stop::Blocked
    }

    fn is_done(&self, i: usize) -> bool {
        self.resident[i].warps.iter().all(|w| w.live == 0)
    }

    fn retire(&mut self, block: Block) {
        for w in &block.warps {
            for t in &w.time {
                self.clock = self.clock.max(t.clock);
            }
        }
        self.machine.counts.barriers = self.machine.counts.barriers.max(block.barriers);
        self.spare.push(block.shared);
        self.machine.version += 1;
    }

    /// Runs a block until it is done, waits for others, or only polls.
    fn run_block(&mut self, i: usize, reverse: bool) -> Stop {
        loop {
            let n = self.resident[i].warps.len();
            let mut moved = false;
            for turn in 0..n {
                let w = if reverse { n - 1 - turn } else { turn };
                if self.resident[i].warps[w].runnable() == 0
                    && self.resident[i].warps[w].at_lanes == 0
                {
                    continue;
                }
                let before = self.machine.version;
                let slice = Slice { instructions: SLICE, preempt: false, lanes: ALL };
                match self.run_warp(i, w, slice) {
                    Stop::Spent => return Stop::Spent,
                    Stop::Blocked => moved |= self.machine.version != before,
                    Stop::Yielded => {
                        let version = self.machine.version;
                        moved |= version != before;
                        let warp = &mut self.resident[i].warps[w];
                        let mut spin = warp.spin;
                        spin.observe(version, || warp.state());
                        warp.spin = spin;
                    }
                }
            }
            if self.release_block(i) {
                continue;
            }
            if self.is_done(i) || !moved {
                return Stop::Blocked;
            }
        }
    }

    fn run_warp(&mut self, i: usize, w: usize, slice: Slice) -> Stop {
        let block = &mut self.resident[i];
        let mut context =
            Context { warp: &mut block.warps[w], shared: &mut block.shared, info: &block.info };
        self.machine.run(&mut context, slice)
    }

    /// Some lanes of some warp of some block, for a while.
    fn random_step(&mut self) -> Stop {
        let i = self.random.below(self.resident.len() as u64) as usize;
        let n = self.resident[i].warps.len() as u64;
        let w = self.random.below(n) as usize;
        let draw = self.random.next();
        let runnable = self.resident[i].warps[w].runnable();
        let subset = match draw & 3 {
            0 => ALL,
            1 => (draw >> 8) as u32,
            2 => (draw >> 8) as u32 & (draw >> 24) as u32,
            _ => 1 << (draw >> 8 & 31),
        };
        let slice = Slice {
            instructions: 1 + self.random.below(RANDOM_SLICE),
            preempt: true,
            lanes: if runnable & subset == 0 { ALL } else { subset },
        };
        if self.run_warp(i, w, slice) == Stop::Spent {
            return Stop::Spent;
        }
        self.release_block(i);
        if self.is_done(i) {
            let old = self.resident.swap_remove(i);
            self.retire(old);
        }
        Stop::Yielded
    }

    /// Lets a block go on if all of its live threads wait at a barrier.
    fn release_block(&mut self, i: usize) -> bool {
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
                 left the kernel, {} among them (line {})",
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
    fn release_grid(&mut self) -> bool {
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

    /// Whether every warp waits or is known to run in circles.
    fn is_stuck(&self) -> bool {
        let version = self.machine.version;
        self.resident
            .iter()
            .flat_map(|b| &b.warps)
            .all(|w| w.runnable() == 0 || w.spin.proven == Some(version))
    }

    /// Tells who waits for what when nothing can change any more.
    fn tell_stuck(&mut self) {
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
        let pos = crate::lang::Pos { line: first.line, column: first.column };
        let accesses = waiters.into_iter().map(|w| w.0).collect();
        self.machine.findings.add(kind, pos, pos, "", || Told {
            message,
            accesses,
            location: None,
        });
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
