//! A launch: which blocks are resident, and who runs next.

use super::exec::{Context, Machine, Slice, Stop};
use super::memory::Region;
use super::warp::{ALL, BlockInfo, Warp};
use crate::options::Order;
use crate::random::Random;

mod barrier;
mod stuck;

/// Warp-instructions of a slice, unless the schedule is random.
const SLICE: u64 = 50_000;
/// Those of a random slice.
const RANDOM_SLICE: u64 = 48;

/// A resident block.
pub(super) struct Block {
    info: BlockInfo,
    warps: Vec<Warp>,
    shared: Region,
    barriers: u64,
}

impl Block {
    fn is_done(&self) -> bool {
        self.warps.iter().all(|w| w.live == 0)
    }
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
            // Blocks are all of one size.
            let patience = 64 + 16 * self.resident.len() * self.resident[0].warps.len();
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
        self.machine.notes = self.machine.notes.saturating_sub(shared.shadow.extra);
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
        let reverse = self.machine.options.schedule.order == Order::Reverse;
        // By id, whatever the order in which they started.
        let mut turns: Vec<usize> = (0..self.resident.len()).collect();
        turns.sort_unstable_by_key(|&i| self.resident[i].info.id);
        if reverse {
            turns.reverse();
        }
        for i in turns {
            loop {
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
        for block in std::mem::take(&mut self.resident) {
            if block.is_done() {
                self.retire(block);
            } else {
                self.resident.push(block);
            }
        }
        Stop::Blocked
    }

    fn is_done(&self, i: usize) -> bool {
        self.resident[i].is_done()
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
}
