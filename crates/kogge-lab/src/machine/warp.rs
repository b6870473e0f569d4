//! A warp: registers, program counters, local memory and clocks of 32 threads.

use std::rc::Rc;

use super::clock::Time;
use super::ins::{Compiled, Special};
use super::memory::Region;

pub(super) const LANES: usize = 32;
pub(super) const ALL: u32 = u32::MAX;

/// A block's place and size, shared by its warps.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockInfo {
    /// Linear id.
    pub id: u32,
    pub index: [u32; 3],
    /// First thread id in the grid, and threads per block padded to warps.
    pub first: u32,
    pub padded: u32,
    pub dim: [u32; 3],
    pub grid: [u32; 3],
    pub threads: u32,
    /// Barrier clock: accesses of the block's threads below it are ordered.
    pub base: u32,
    /// Accesses below it are of earlier launches.
    pub start: u32,
}

impl BlockInfo {
    /// `threadIdx` of a thread's linear id.
    pub(super) fn thread_index(&self, rank: u32) -> [u32; 3] {
        let [x, y, _] = self.dim.map(|d| d.max(1));
        [rank % x, rank / x % y, rank / x / y]
    }
}

/// Why a lane does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// It runs.
    No,
    /// At a block barrier.
    Block,
    /// At a barrier, shuffle or vote of lanes.
    Lanes,
    /// At a grid barrier.
    Grid,
}

#[derive(Clone, Debug)]
pub(super) struct Warp {
    pub index: u32,
    pub registers: Vec<[u64; LANES]>,
    /// Labels of registers, while a trace is recorded.
    pub labels: Vec<[u64; LANES]>,
    /// Operands' labels of the operator calls under way, by nesting.
    pub work: Vec<[(u64, u64); LANES]>,
    pub pc: [u32; LANES],
    /// Lanes that have not exited.
    pub live: u32,
    pub at_block: u32,
    pub at_lanes: u32,
    pub at_grid: u32,
    pub time: Vec<Time>,
    /// Local memory of all lanes, one after the other.
    pub local: Region,
    pub local_bytes: usize,
    /// The group that yielded: the next one runs first.
    pub avoid: Option<u32>,
    pub spin: Spin,
    /// Flags read, by lane, at the last poll: what a spinning lane waits for.
    pub polled: [(u64, u32); LANES],
}

/// Whether a warp runs in circles: its state at the end of slices, compared
/// while no memory changes (Brent's cycle detection).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spin {
    version: u64,
    state: u64,
    steps: u32,
    limit: u32,
    /// Version of memory under which the warp is known to spin.
    pub proven: Option<u64>,
}

impl Spin {
    /// Notes the state at the end of a slice; `state` is asked for only while
    /// memory has not changed since the last one.
    pub(super) fn observe(&mut self, version: u64, state: impl FnOnce() -> u64) {
        if self.version != version {
            *self = Self { version, ..Self::default() };
            return;
        }
        let state = state();
        if self.limit > 0 && self.state == state {
            self.proven = Some(version);
            return;
        }
        self.steps += 1;
        if self.steps >= self.limit {
            self.state = state;
            self.steps = 0;
            self.limit = (2 * self.limit).max(1);
        }
    }
}

impl Warp {
    /// A warp at the kernel's first instruction.
    pub(super) fn start(
        kernel: &Compiled,
        info: &BlockInfo,
        index: u32,
        params: &[(u16, u64)],
        traced: bool,
    ) -> Self {
        let n = kernel.registers.max(1);
        let mut registers = vec![[0u64; LANES]; n];
        for &(r, value) in kernel.constants.iter().chain(params) {
            registers[usize::from(r)] = [value; LANES];
        }
        for &(r, special) in &kernel.specials {
            for (lane, value) in registers[usize::from(r)].iter_mut().enumerate() {
                *value = u64::from(special_value(special, info, index, lane as u32));
            }
        }
        let lanes = info.threads.saturating_sub(index * 32).min(32);
        let live = if lanes == 32 { ALL } else { (1u32 << lanes) - 1 };
        let local_bytes = kernel.local_bytes as usize;
        Self {
            index,
            labels: if traced { vec![[0; LANES]; n] } else { Vec::new() },
            work: Vec::new(),
            registers,
            pc: [0; LANES],
            live,
            at_block: 0,
            at_lanes: 0,
            at_grid: 0,
            time: vec![Time::new(info.start); LANES],
            local: Region::new(vec![0; local_bytes * LANES], false),
            local_bytes,
            avoid: None,
            spin: Spin::default(),
            polled: [(0, 0); LANES],
        }
    }

    pub(super) const fn runnable(&self) -> u32 {
        self.live & !(self.at_block | self.at_lanes | self.at_grid)
    }

    pub(super) const fn wait(&self, lane: usize) -> Wait {
        let bit = 1 << lane;
        if self.at_block & bit != 0 {
            Wait::Block
        } else if self.at_lanes & bit != 0 {
            Wait::Lanes
        } else if self.at_grid & bit != 0 {
            Wait::Grid
        } else {
            Wait::No
        }
    }

    /// Rank of a lane's thread in the block.
    pub(super) const fn rank(&self, lane: usize) -> u32 {
        self.index * 32 + lane as u32
    }

    /// A number that stands for everything that decides what the live lanes do
    /// next, memory left out.
    pub(super) fn state(&self) -> u64 {
        let mut hash = Hash(0);
        hash.add(u64::from(self.live));
        hash.add(u64::from(self.avoid.unwrap_or(u32::MAX)));
        for pc in self.pc {
            hash.add(u64::from(pc));
        }
        for r in &self.registers {
            for &x in r {
                hash.add(x);
            }
        }
        for chunk in self.local.bytes.chunks(8) {
            let mut word = [0u8; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            hash.add(u64::from_le_bytes(word));
        }
        hash.0
    }

    /// A label's row, for an optional trace.
    pub(super) fn label(&self, register: u16, lane: usize) -> u64 {
        self.labels.get(usize::from(register)).map_or(0, |r| r[lane])
    }

    /// All lanes know the same from here on.
    pub(super) fn synchronise(&mut self, mask: u32, info: &BlockInfo) {
        let lanes = || lanes(mask);
        let mut known = super::clock::Clock::default();
        let (mut clock, mut level) = (0, 0);
        for lane in lanes() {
            let me = me(info, self.rank(lane));
            known.join(&self.time[lane].snapshot(&me));
            clock = clock.max(self.time[lane].clock);
            level = level.max(self.time[lane].level);
        }
        let known = Rc::new(known);
        for lane in lanes() {
            self.time[lane].pass(&known, clock + 1, level + 1);
        }
    }
}

/// A thread as [`Time`] needs it.
pub(super) const fn me(info: &BlockInfo, rank: u32) -> super::clock::Me {
    super::clock::Me {
        thread: info.first + rank,
        block: info.id,
        first: info.first,
        count: info.padded,
        base: info.base,
        start: info.start,
    }
}

/// The lanes of a mask.
pub(super) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let lane = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        Some(lane)
    })
}

fn special_value(special: Special, info: &BlockInfo, warp: u32, lane: u32) -> u32 {
    let rank = warp * 32 + lane;
    match special {
        Special::Thread(axis) => info.thread_index(rank)[usize::from(axis)],
        Special::Block(axis) => info.index[usize::from(axis)],
        Special::BlockDim(axis) => info.dim[usize::from(axis)],
        Special::GridDim(axis) => info.grid[usize::from(axis)],
        Special::Rank => rank,
        Special::Lane => lane,
    }
}

/// A fast hash of words; a collision would at worst take a spinning warp's
/// proof for another's, over one unchanged memory.
struct Hash(u64);

impl Hash {
    const fn add(&mut self, x: u64) {
        self.0 = (self.0.rotate_left(23) ^ x).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}
