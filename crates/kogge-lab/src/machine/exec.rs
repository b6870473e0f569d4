//! The interpreter: runs lanes of one warp that share a program counter.
//!
//! Lanes with the smallest counter run first, so that lanes that went
//! different ways meet again where the ways do (Collange, *Stack-less SIMT
//! reconvergence at low cost*, 2011). A group that polls or runs long yields
//! at a backward jump to the lanes that wait for it.

use super::address::advance;
use super::alu::{alu, convert};
use super::findings::Findings;
use super::ins::{Compiled, Ins, Object, Op, check, decode};
use super::memory::Region;
use super::provenance::Recorder;
use super::volatile::Unordered;
use super::warp::{BlockInfo, Warp, lanes, me};
use crate::options::{Options, Order};
use crate::report::{AccessKind, Counts, FindingKind};
use group::{Group, choose, limit, write_back};
use lanewise::{binary, math_lanes, select, taken, unary};

mod group;
mod label;
mod lanewise;

/// Flags read without success after which a group yields.
const POLLS: u32 = 4;
/// Threads that a warp's instruction is charged for at least.
const MIN_COST: u64 = 8;
/// Levels that are told apart.
const MAX_LEVELS: usize = 1 << 16;

/// An array in global memory.
#[derive(Clone, Debug)]
pub(super) struct ArrayInfo {
    pub name: String,
    pub element: u32,
    /// Index in the trace, while one is recorded.
    pub traced: Option<u32>,
    pub input: bool,
}

/// Everything that is not one block's.
pub(super) struct Machine<'a> {
    pub kernel: &'a Compiled,
    /// Shared objects, dynamic ones at their launched size.
    pub shared: Vec<Object>,
    pub memory: &'a mut [Region],
    pub arrays: &'a [ArrayInfo],
    pub findings: &'a mut Findings,
    pub recorder: Option<&'a mut Recorder>,
    pub options: &'a Options,
    pub counts: Counts,
    /// Operator applications by level.
    pub activity: Vec<u64>,
    /// Rises whenever something happens that another thread could see.
    pub version: u64,
    /// Thread-instructions left.
    pub fuel: u64,
    /// Bytes that are noted of flags, and how many may be.
    pub notes: u64,
    pub room: u64,
    /// Whether they are more.
    pub crowded: bool,
    pub launch: u32,
    /// Volatile accesses that nothing orders.
    pub volatile: Unordered,
}

/// How long and with which lanes a warp runs.
#[derive(Clone, Copy)]
pub(super) struct Slice {
    pub instructions: u64,
    /// Stop at once when they are used up, not at the next backward jump.
    pub preempt: bool,
    pub lanes: u32,
}

/// Why a warp stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// No lane can run.
    Blocked,
    /// It polls, or its slice is over.
    Yielded,
    /// The budget is spent.
    Spent,
}

/// One warp and what it works with.
pub(super) struct Context<'c> {
    pub warp: &'c mut Warp,
    pub shared: &'c mut Region,
    pub info: &'c BlockInfo,
}

/// Where an instruction leaves its group.
enum Step {
    /// All its lanes go on there.
    To(u32),
    /// Its lanes go different ways, or wait.
    Parted,
    /// Its lanes are at their end.
    Exited,
}

/// Dispatch: operations that [`alu`] does, each with its own loop over the lanes, and the others.
macro_rules! arithmetic {
    ($warp:expr, $ins:expr, $mask:expr, [$($op:ident)*], $($rest:tt)*) => {
        match $ins.op {
            $(Op::$op => binary(&mut $warp.registers, $ins, $mask, |a, b| {
                alu(Op::$op, $ins.x, a, b).unwrap_or(0)
            }),)*
            $($rest)*
        }
    };
}

impl Machine<'_> {
    /// Runs a warp until it waits, yields or has used its slice.
    pub(super) fn run(&mut self, c: &mut Context<'_>, slice: Slice) -> Stop {
        let mut used = 0;
        let mut polls = 0;
        loop {
            let runnable = c.warp.runnable() & slice.lanes;
            if runnable == 0 {
                if self.release_lanes(c) {
                    continue;
                }
                return Stop::Blocked;
            }
            let mut group = choose(c.warp, runnable);
            c.warp.avoid = None;
            let stop = if self.recorder.is_some() {
                self.run_group::<true>(c, &mut group, slice, &mut used, &mut polls)
            } else {
                self.run_group::<false>(c, &mut group, slice, &mut used, &mut polls)
            };
            match stop {
                None => {}
                Some(stop) => {
                    if stop == Stop::Yielded && group.others != 0 {
                        c.warp.avoid = Some(group.pc);
                    }
                    return stop;
                }
            }
        }
    }

    /// Runs a group until it splits, merges, waits or must stop. The lanes'
    /// counters are up to date again on return.
    fn run_group<const TRACE: bool>(
        &mut self,
        c: &mut Context<'_>,
        g: &mut Group,
        slice: Slice,
        used: &mut u64,
        polls: &mut u32,
    ) -> Option<Stop> {
        loop {
            let Some(&ins) = self.kernel.code.get(g.pc as usize) else {
                // Every kernel ends with an exit.
                self.exit(c.warp, g);
                return None;
            };
            *used += 1;
            if !self.charge(ins, g.mask) {
                write_back(c.warp, g);
                return Some(Stop::Spent);
            }
            if TRACE {
                self.trace_step(c, ins, g);
            }
            let next = match self.step(c, g, ins, polls) {
                Step::To(next) => next,
                Step::Parted => return self.over(slice, *used),
                Step::Exited => return None,
            };
            let back = next <= g.pc;
            g.pc = next;
            if back {
                if *polls >= POLLS || *used >= slice.instructions {
                    write_back(c.warp, g);
                    return Some(Stop::Yielded);
                }
                if g.others != 0 {
                    g.limit = limit(c.warp, g.others, next);
                }
            }
            if g.pc >= g.limit {
                write_back(c.warp, g);
                return None;
            }
            if slice.preempt && *used >= slice.instructions {
                write_back(c.warp, g);
                return Some(Stop::Yielded);
            }
        }
    }

    /// Counts an instruction and takes its cost from the budget; false if that is spent.
    #[inline(always)]
    fn charge(&mut self, ins: Ins, mask: u32) -> bool {
        let active = u64::from(mask.count_ones());
        self.counts.warp_instructions += 1;
        self.counts.thread_instructions += active;
        let cost = active.max(MIN_COST) * expense(ins.op);
        if self.fuel < cost {
            return false;
        }
        self.fuel -= cost;
        true
    }

    /// One instruction of a group.
    #[inline(always)]
    fn step(&mut self, c: &mut Context<'_>, g: &Group, ins: Ins, polls: &mut u32) -> Step {
        let next = g.pc + 1;
        let w = &mut *c.warp;
        arithmetic!(w, ins, g.mask, [
            AddI32 AddU32 Add64 SubI32 SubU32 Sub64 MulI32 MulU32 Mul64
            AddF32 SubF32 MulF32 DivF32 AddF64 SubF64 MulF64 DivF64
            And Or Xor Shl Shr LtS LeS LtU LeU Eq Ne
            LtF32 LeF32 EqF32 NeF32 LtF64 LeF64 EqF64 NeF64
        ],
            Op::Nop | Op::WorkEnd => {}
            Op::Mov => unary(&mut w.registers, ins, g.mask, |a| a),
            Op::Convert => {
                let (from, to) = (decode(ins.x >> 4), decode(ins.x));
                unary(&mut w.registers, ins, g.mask, |a| convert(from, to, a));
            }
            Op::Index => {
                let scale = i64::from(ins.k as i32);
                binary(&mut w.registers, ins, g.mask, |a, b| {
                    advance(a, (b as i64).saturating_mul(scale))
                });
            }
            Op::Offset => {
                let k = i64::from(ins.k as i32);
                unary(&mut w.registers, ins, g.mask, |a| advance(a, k));
            }
            Op::Select => select(w, ins, g.mask),
            Op::Div | Op::Rem => self.divide(c, ins, g),
            Op::Math => math_lanes(w, ins, g.mask),
            Op::Load => self.load(c, ins, g.pc, g.mask, polls),
            Op::Store => self.store(c, ins, g.pc, g.mask),
            Op::Atomic => self.atomic(c, ins, g.pc, g.mask, polls),
            Op::Jump => return Step::To(ins.k),
            Op::JumpZero | Op::JumpNonZero => return self.branch(w, ins, g),
            Op::Shuffle | Op::Vote | Op::SyncWarp => {
                write_back(w, g);
                if !self.arrive(c, ins, g.pc, g.mask) {
                    return Step::Parted;
                }
            }
            Op::SyncThreads => {
                write_back(w, g);
                w.at_block |= g.mask;
                return Step::Parted;
            }
            Op::GridSync => {
                write_back(w, g);
                w.at_grid |= g.mask;
                return Step::Parted;
            }
            Op::Fence => {
                for lane in lanes(g.mask) {
                    let me = me(c.info, w.rank(lane));
                    w.time[lane].fence(&me, ins.x);
                }
            }
            Op::WorkBegin | Op::Work => self.work(w, g.mask),
            Op::Check => self.check(c, ins, g),
            Op::Assert | Op::Trap => self.assert(c, ins, g),
            Op::Clock => {
                let now = self.counts.warp_instructions;
                unary(&mut w.registers, Ins { a: ins.d, ..ins }, g.mask, |_| now);
            }
            Op::Exit => {
                self.exit(w, g);
                return Step::Exited;
            }
        );
        Step::To(next)
    }

    /// A conditional jump: where all lanes go, or each its way.
    #[inline(always)]
    fn branch(&mut self, w: &mut Warp, ins: Ins, g: &Group) -> Step {
        let taken = taken(w, ins, g.mask);
        let next = g.pc + 1;
        if taken == g.mask {
            return Step::To(ins.k);
        }
        if taken == 0 {
            return Step::To(next);
        }
        self.counts.divergent_branches += 1;
        for lane in lanes(g.mask) {
            w.pc[lane] = if taken >> lane & 1 != 0 { ins.k } else { next };
        }
        Step::Parted
    }

    fn over(&self, slice: Slice, used: u64) -> Option<Stop> {
        (slice.preempt && used >= slice.instructions).then_some(Stop::Yielded)
    }

    fn exit(&mut self, w: &mut Warp, g: &Group) {
        write_back(w, g);
        w.live &= !g.mask;
        self.version += 1;
    }

    /// Counts an application of the operator by each lane.
    fn work(&mut self, w: &Warp, mask: u32) {
        self.counts.work += u64::from(mask.count_ones());
        for lane in lanes(mask) {
            let level = (w.time[lane].level as usize).min(MAX_LEVELS - 1);
            if level >= self.activity.len() {
                self.activity.resize(level + 1, 0);
            }
            self.activity[level] += 1;
        }
    }

    fn divide(&mut self, c: &mut Context<'_>, ins: Ins, g: &Group) {
        let zero = lanes(g.mask).find(|&l| c.warp.registers[usize::from(ins.b)][l] == 0);
        if let Some(lane) = zero {
            self.told(
                c,
                FindingKind::Trap,
                g.pc,
                lane,
                AccessKind::Read,
                "divides an integer by zero",
            );
        }
        binary(&mut c.warp.registers, ins, g.mask, |a, b| alu(ins.op, ins.x, a, b).unwrap_or(0));
    }

    fn check(&mut self, c: &mut Context<'_>, ins: Ins, g: &Group) {
        let flags = c.warp.registers[usize::from(ins.a)];
        if let Some(lane) = lanes(g.mask).find(|&l| flags[l] == 0) {
            let name = self.kernel.names.get(ins.k as usize);
            let name = name.map_or("a variable", |n| n.as_str());
            let what = match ins.x {
                check::RESULT => format!("uses the value of `{name}`, which ended without one"),
                _ => format!("reads `{name}`, which it never wrote"),
            };
            self.told(c, FindingKind::Uninitialised, g.pc, lane, AccessKind::Read, &what);
        }
    }

    fn assert(&mut self, c: &mut Context<'_>, ins: Ins, g: &Group) {
        let holds = c.warp.registers[usize::from(ins.a)];
        let failed = lanes(g.mask).find(|&l| ins.op == Op::Trap || holds[l] == 0);
        if let Some(lane) = failed {
            let what = if ins.op == Op::Trap { "stops at a trap" } else { "fails an assertion" };
            self.told(c, FindingKind::Trap, g.pc, lane, AccessKind::Read, what);
        }
    }

    /// Lanes in the order in which the schedule lets them touch memory.
    pub(super) fn lane_order(&self, mask: u32) -> impl Iterator<Item = usize> + use<> {
        let reverse = self.options.schedule.order == Order::Reverse;
        let mut rest = mask;
        std::iter::from_fn(move || {
            if rest == 0 {
                return None;
            }
            let lane = if reverse { 31 - rest.leading_zeros() } else { rest.trailing_zeros() };
            rest &= !(1 << lane);
            Some(lane as usize)
        })
    }
}

/// How much longer an instruction takes here than an addition.
const fn expense(op: Op) -> u64 {
    match op {
        Op::Atomic | Op::Fence => 32,
        Op::SyncThreads | Op::GridSync | Op::SyncWarp | Op::Shuffle | Op::Vote => 8,
        _ => 1,
    }
}
