//! The interpreter: runs lanes of one warp that share a program counter.
//!
//! Lanes with the smallest counter run first, so that lanes that went
//! different ways meet again where the ways do (Collange, *Stack-less SIMT
//! reconvergence at low cost*, 2011). A group that polls or runs long yields
//! at a backward jump to the lanes that wait for it.

use super::alu::alu;
use super::findings::{Findings, Told, who};
use super::ins::{Compiled, Ins, Object, Op, decode};
use super::math::{self, Function};
use super::memory::Region;
use super::provenance::Recorder;
use super::warp::{ALL, BlockInfo, LANES, Warp, lanes, me};
use crate::lang::Pos;
use crate::options::{Options, Order};
use crate::report::{Access, AccessKind, Counts, FindingKind};
use crate::trace::{Moment, Place};
use crate::value::ScalarType;

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
    pub launch: u32,
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

/// The group that runs.
struct Group {
    pc: u32,
    mask: u32,
    /// Lanes that could run but wait for their turn.
    others: u32,
    /// The next counter at which others wait.
    limit: u32,
}

fn binary(r: &mut [[u64; LANES]], ins: Ins, mask: u32, f: impl Fn(u64, u64) -> u64) {
    let a = r[usize::from(ins.a)];
    let b = r[usize::from(ins.b)];
    let d = &mut r[usize::from(ins.d)];
    if mask == ALL {
        for ((d, a), b) in d.iter_mut().zip(a).zip(b) {
            *d = f(a, b);
        }
    } else {
        for lane in lanes(mask) {
            d[lane] = f(a[lane], b[lane]);
        }
    }
}

fn unary(r: &mut [[u64; LANES]], ins: Ins, mask: u32, f: impl Fn(u64) -> u64) {
    let a = r[usize::from(ins.a)];
    let d = &mut r[usize::from(ins.d)];
    if mask == ALL {
        for (d, a) in d.iter_mut().zip(a) {
            *d = f(a);
        }
    } else {
        for lane in lanes(mask) {
            d[lane] = f(a[lane]);
        }
    }
}

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
            let active = u64::from(g.mask.count_ones());
            self.counts.warp_instructions += 1;
            self.counts.thread_instructions += active;
            *used += 1;
            let cost = active.max(MIN_COST) * expense(ins.op);
            if self.fuel < cost {
                write_back(c.warp, g);
                return Some(Stop::Spent);
            }
            self.fuel -= cost;
            if TRACE {
                self.trace_step(c, ins, g);
            }
            let mut next = g.pc + 1;
            let w = &mut *c.warp;
            arithmetic!(w, ins, g.mask, [
                AddI32 AddU32 Add64 SubI32 SubU32 Sub64 MulI32 MulU32 Mul64
                AddF32 SubF32 MulF32 DivF32 AddF64 SubF64 MulF64 DivF64
                And Or Xor Shl Shr LtS LeS LtU LeU Eq Ne
                LtF32 LeF32 EqF32 NeF32 LtF64 LeF64 EqF64 NeF64
            ],
                Op::Nop => {}
                Op::Mov => unary(&mut w.registers, ins, g.mask, |a| a),
                Op::Convert => {
                    let (from, to) = (decode(ins.x >> 4), decode(ins.x));
                    unary(&mut w.registers, ins, g.mask, |a| super::alu::convert(from, to, a));
                }
                Op::Index => {
                    let scale = ins.k as i32 as i64 as u64;
                    binary(&mut w.registers, ins, g.mask, |a, b| {
                        a.wrapping_add(b.wrapping_mul(scale))
                    });
                }
                Op::Offset => {
                    let k = ins.k as i32 as i64 as u64;
                    unary(&mut w.registers, ins, g.mask, |a| a.wrapping_add(k));
                }
                Op::Select => {
                    let no = w.registers[(ins.k & 0xffff) as usize];
                    let c = w.registers[usize::from(ins.a)];
                    let yes = w.registers[usize::from(ins.b)];
                    let d = &mut w.registers[usize::from(ins.d)];
                    for lane in lanes(g.mask) {
                        d[lane] = if c[lane] != 0 { yes[lane] } else { no[lane] };
                    }
                }
                Op::Div | Op::Rem => self.divide(c, ins, g),
                Op::Math => math_lanes(w, ins, g.mask),
                Op::Load => self.load(c, ins, g.pc, g.mask, polls),
                Op::Store => self.store(c, ins, g.pc, g.mask),
                Op::Atomic => self.atomic(c, ins, g.pc, g.mask, polls),
                Op::Jump => next = ins.k,
                Op::JumpZero | Op::JumpNonZero => {
                    let taken = taken(w, ins, g.mask);
                    if taken == g.mask {
                        next = ins.k;
                    } else if taken != 0 {
                        self.counts.divergent_branches += 1;
                        for lane in lanes(g.mask) {
                            w.pc[lane] = if taken >> lane & 1 != 0 { ins.k } else { next };
                        }
                        return self.over(slice, *used);
                    }
                }
                Op::Shuffle | Op::Vote | Op::SyncWarp => {
                    write_back(w, g);
                    if self.arrive(c, ins, g.pc, g.mask) {
                        next = g.pc + 1;
                    } else {
                        return self.over(slice, *used);
                    }
                }
                Op::SyncThreads => {
                    write_back(w, g);
                    w.at_block |= g.mask;
                    return self.over(slice, *used);
                }
                Op::GridSync => {
                    write_back(w, g);
                    w.at_grid |= g.mask;
                    return self.over(slice, *used);
                }
                Op::Fence => {
                    for lane in lanes(g.mask) {
                        let me = me(c.info, w.rank(lane));
                        w.time[lane].fence(&me, ins.x == 1);
                    }
                }
                Op::WorkBegin => self.work(w, g.mask),
                Op::Work => self.work(w, g.mask),
                Op::WorkEnd => {}
                Op::Check => self.check(c, ins, g),
                Op::Assert | Op::Trap => self.assert(c, ins, g),
                Op::Clock => {
                    let now = self.counts.warp_instructions;
                    unary(&mut w.registers, Ins { a: ins.d, ..ins }, g.mask, |_| now);
                }
                Op::Exit => {
                    self.exit(w, g);
                    return None;
                }
            );
            if next <= g.pc {
                g.pc = next;
                if *polls >= POLLS || *used >= slice.instructions {
                    write_back(c.warp, g);
                    return Some(Stop::Yielded);
                }
                if g.others != 0 {
                    g.limit = limit(c.warp, g.others, next);
                }
            } else {
                g.pc = next;
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
            let what = format!("reads `{name}`, which it never wrote");
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

    pub(super) fn place(&self, pc: u32) -> Pos {
        self.kernel.places.get(pc as usize).map_or(self.kernel.pos, |site| site.pos)
    }

    /// `line 5`, or `line 5, called from line 12` within a device function.
    pub(super) fn spot(&self, pc: u32) -> String {
        let line = self.place(pc).line;
        match self.kernel.places.get(pc as usize).and_then(|site| site.caller) {
            Some(caller) if caller.get() != line => {
                format!("line {line}, called from line {caller}")
            }
            _ => format!("line {line}"),
        }
    }

    /// One side of a finding.
    pub(super) fn side(&self, info: &BlockInfo, rank: u32, pc: u32, kind: AccessKind) -> Access {
        let pos = self.place(pc);
        Access {
            kind,
            block: info.index,
            thread: info.thread_index(rank),
            line: pos.line,
            column: pos.column,
        }
    }

    /// A finding about one lane.
    pub(super) fn told(
        &mut self,
        c: &Context<'_>,
        kind: FindingKind,
        pc: u32,
        lane: usize,
        access: AccessKind,
        what: &str,
    ) {
        let pos = self.place(pc);
        let side = self.side(c.info, c.warp.rank(lane), pc, access);
        let message = format!("{} {what} ({})", who(side.block, side.thread), self.spot(pc));
        self.findings.add(kind, pos, pos, "", || Told {
            message,
            accesses: vec![side],
            location: None,
        });
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

    pub(super) fn moment(&self, c: &Context<'_>, lane: usize, pc: u32) -> Moment {
        Moment {
            launch: self.launch,
            level: c.warp.time[lane].level,
            block: c.info.id,
            thread: c.warp.rank(lane),
            line: self.place(pc).line,
        }
    }

    /// Moves labels as an instruction moves values.
    fn trace_step(&mut self, c: &mut Context<'_>, ins: Ins, g: &Group) {
        let d = usize::from(ins.d);
        match ins.op {
            Op::Mov | Op::Convert => {
                for lane in lanes(g.mask) {
                    c.warp.labels[d][lane] = c.warp.label(ins.a, lane);
                }
            }
            Op::Select => {
                for lane in lanes(g.mask) {
                    let yes = c.warp.registers[usize::from(ins.a)][lane] != 0;
                    let from = if yes { ins.b } else { (ins.k & 0xffff) as u16 };
                    c.warp.labels[d][lane] = c.warp.label(from, lane);
                }
            }
            Op::Work if ins.x == 1 => {
                for lane in lanes(g.mask) {
                    let (a, b) = (c.warp.label(ins.a, lane), c.warp.label(ins.b, lane));
                    let at = self.moment(c, lane, g.pc);
                    if let Some(r) = &mut self.recorder {
                        c.warp.labels[d][lane] = r.combine(at, a, b);
                    }
                }
            }
            Op::WorkBegin => {
                let depth = ins.k as usize;
                if c.warp.work.len() <= depth {
                    c.warp.work.resize(depth + 1, [(0, 0); LANES]);
                }
                for lane in lanes(g.mask) {
                    let first = |base: u16, w: &Warp| {
                        let mut labels = (0..u16::from(ins.x)).map(|i| w.label(base + i, lane));
                        labels.find(|&l| l as u32 != 0).unwrap_or(0)
                    };
                    let pair = (first(ins.a, c.warp), first(ins.b, c.warp));
                    c.warp.work[depth][lane] = pair;
                }
            }
            Op::WorkEnd => {
                for lane in lanes(g.mask) {
                    let (a, b) = c.warp.work[ins.k as usize][lane];
                    let at = self.moment(c, lane, g.pc);
                    let Some(r) = &mut self.recorder else { continue };
                    let label = r.combine(at, a, b);
                    for i in 0..usize::from(ins.x) {
                        c.warp.labels[d + i][lane] = label;
                    }
                }
            }
            // These set their labels themselves.
            Op::Load | Op::Store | Op::Shuffle => {}
            _ if ins.writes() => {
                for lane in lanes(g.mask) {
                    c.warp.labels[d][lane] = 0;
                }
            }
            _ => {}
        }
    }

    /// The place in the trace that an element of an array is.
    pub(super) fn element_place(array: u32, block: u32, index: u32) -> Place {
        Place::Element { array, block, index }
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

fn math_lanes(w: &mut Warp, ins: Ins, mask: u32) {
    let (f, ty): (Function, ScalarType) = (Function::decode(ins.x), decode((ins.k >> 16) as u8));
    let a = w.registers[usize::from(ins.a)];
    let b = w.registers[usize::from(ins.b)];
    let third = w.registers[(ins.k & 0xffff) as usize];
    let d = &mut w.registers[usize::from(ins.d)];
    for lane in lanes(mask) {
        d[lane] = math::apply(f, ty, a[lane], b[lane], third[lane]);
    }
}

fn taken(w: &Warp, ins: Ins, mask: u32) -> u32 {
    let r = &w.registers[usize::from(ins.a)];
    let mut set = 0u32;
    for (lane, &x) in r.iter().enumerate() {
        set |= u32::from(x != 0) << lane;
    }
    mask & if ins.op == Op::JumpZero { !set } else { set }
}

/// The lanes to run: those with the smallest counter; behind one that
/// yielded, those with the next larger one.
fn choose(w: &Warp, runnable: u32) -> Group {
    let smallest = |above: u32| lanes(runnable).map(|l| w.pc[l]).filter(|&pc| pc >= above).min();
    let after = w.avoid.and_then(|pc| smallest(pc.saturating_add(1)));
    let pc = after.or(smallest(0)).unwrap_or(0);
    let mask = lanes(runnable).filter(|&l| w.pc[l] == pc).fold(0, |m, l| m | 1 << l);
    let others = runnable & !mask;
    Group { pc, mask, others, limit: limit(w, others, pc) }
}

fn limit(w: &Warp, others: u32, pc: u32) -> u32 {
    let next = lanes(others).map(|l| w.pc[l]).filter(|&p| p >= pc).min();
    // At the very counter, they merge at once.
    next.unwrap_or(u32::MAX)
}

fn write_back(w: &mut Warp, g: &Group) {
    for lane in lanes(g.mask) {
        w.pc[lane] = g.pc;
    }
}
