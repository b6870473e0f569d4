//! Shuffles, votes and barriers of lanes: all lanes of the mask arrive, then
//! all go on.

use super::exec::{Context, Machine};
use super::ins::{Ins, Op, shuffle, vote};
use super::warp::{LANES, lanes};
use crate::report::{AccessKind, FindingKind};
use crate::trace::Place;

impl Machine<'_> {
    /// Lanes arrive; true if all of them may go on at once.
    pub(super) fn arrive(&mut self, c: &mut Context<'_>, ins: Ins, pc: u32, mask: u32) -> bool {
        if ins.op == Op::Vote && ins.x == vote::ACTIVE {
            c.warp.registers[usize::from(ins.d)] = std::array::from_fn(|lane| {
                if mask >> lane & 1 != 0 {
                    u64::from(mask)
                } else {
                    c.warp.registers[usize::from(ins.d)][lane]
                }
            });
            return true;
        }
        if let Some(lane) = lanes(mask).find(|&l| self.mask_of(c, l) >> l & 1 == 0) {
            let what = "is not in the mask that it gives";
            self.told(c, FindingKind::InactiveLane, pc, lane, AccessKind::Wait, what);
        }
        let waited = c.warp.at_lanes;
        c.warp.at_lanes |= mask;
        self.complete(c, pc);
        // Lanes that waited and were let go must join the group.
        waited == 0 && c.warp.at_lanes == 0 && lanes(mask).all(|l| c.warp.pc[l] == pc + 1)
    }

    /// Lets go whoever waits for lanes that have exited since.
    pub(super) fn release_lanes(&mut self, c: &mut Context<'_>) -> bool {
        let before = c.warp.at_lanes;
        let mut done = 0u32;
        for lane in lanes(before) {
            if done >> lane & 1 == 0 && c.warp.at_lanes >> lane & 1 != 0 {
                let pc = c.warp.pc[lane];
                done |= lanes(before).filter(|&l| c.warp.pc[l] == pc).fold(0, |m, l| m | 1 << l);
                self.complete(c, pc);
            }
        }
        c.warp.at_lanes != before
    }

    /// The instruction at which a lane waits.
    fn waits_at(&self, c: &Context<'_>, lane: usize) -> Ins {
        let pc = c.warp.pc[lane] as usize;
        self.kernel.code.get(pc).copied().unwrap_or(Ins::new(Op::Nop))
    }

    fn mask_of(&self, c: &Context<'_>, lane: usize) -> u32 {
        let ins = self.waits_at(c, lane);
        let register = if ins.op == Op::Shuffle { ins.b } else { ins.a };
        c.warp.registers[usize::from(register)][lane] as u32
    }

    /// Completes every collective like that at `pc` whose lanes have all arrived. Lanes may come
    /// from different places: the same intrinsic with the same mask is what PTX asks for.
    fn complete(&mut self, c: &mut Context<'_>, pc: u32) {
        let Some(&ins) = self.kernel.code.get(pc as usize) else {
            return;
        };
        let alike = |l: &usize| {
            let other = self.waits_at(c, *l);
            (other.op, other.x, other.k & !FLAGGED) == (ins.op, ins.x, ins.k & !FLAGGED)
        };
        let here = lanes(c.warp.at_lanes).filter(alike).fold(0u32, |m, l| m | 1 << l);
        let mut rest = here;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            let mask = self.mask_of(c, lane);
            let together =
                lanes(rest).filter(|&l| self.mask_of(c, l) == mask).fold(0u32, |m, l| m | 1 << l);
            rest &= !together;
            // Lanes that give another mask are no partners.
            if mask & c.warp.live & !together != 0 {
                continue;
            }
            self.check_mask(c, mask, together);
            self.perform(c, ins.op, together);
            c.warp.at_lanes &= !together;
            for l in lanes(together) {
                c.warp.pc[l] += 1;
            }
            let orders = ins.op == Op::SyncWarp;
            if orders {
                c.warp.synchronise(together, c.info);
            } else if ins.k & LEAF == 0 || ins.op == Op::Vote {
                let level = lanes(together).map(|l| c.warp.time[l].level).max().unwrap_or(0);
                for l in lanes(together) {
                    c.warp.time[l].level = level + 1;
                }
            }
        }
    }

    /// Tells of lanes that the mask names though the block has none such; those that have exited
    /// may be named.
    fn check_mask(&mut self, c: &Context<'_>, mask: u32, together: u32) {
        let lane = together.trailing_zeros() as usize;
        let count = c.info.threads.saturating_sub(c.warp.index * 32).min(32);
        let missing = u64::from(mask) >> count;
        if missing != 0 {
            let gone = count + missing.trailing_zeros();
            let what = format!(
                "names lane {gone} in its mask, but the warp has only {count} threads of the block"
            );
            let pc = c.warp.pc[lane];
            self.told(c, FindingKind::InactiveLane, pc, lane, AccessKind::Wait, &what);
        }
    }

    fn perform(&mut self, c: &mut Context<'_>, op: Op, together: u32) {
        match op {
            Op::Shuffle => self.shuffle(c, together),
            Op::Vote => self.vote(c, together),
            _ => {}
        }
    }

    fn vote(&mut self, c: &mut Context<'_>, together: u32) {
        let mut values = [0; LANES];
        for lane in lanes(together) {
            values[lane] = c.warp.registers[usize::from(self.waits_at(c, lane).b)][lane];
        }
        let first = self.waits_at(c, together.trailing_zeros() as usize & 31);
        let all = vote_of(first, &values, together);
        for lane in lanes(together) {
            let d = usize::from(self.waits_at(c, lane).d);
            c.warp.registers[d][lane] = if first.x == vote::MATCH_ANY {
                let equal = lanes(together).filter(|&l| values[l] == values[lane]);
                u64::from(equal.fold(0u32, |m, l| m | 1 << l))
            } else {
                all
            };
        }
    }

    /// Tells of a lane that takes another one's variable, or its own, which that never wrote.
    fn check_source(&mut self, c: &Context<'_>, (lane, pc): (usize, u32), from: usize) {
        let ins = self.waits_at(c, from);
        let operand = |i: usize| c.warp.registers[usize::from(ins.b) + i][from];
        if ins.k & FLAGGED == 0 || operand(3) != 0 {
            return;
        }
        let name = self.kernel.names.get(operand(4) as usize);
        let name = name.map_or("a variable", |n| n.as_str());
        let what = match from == lane {
            true => format!("reads `{name}`, which it never wrote"),
            false => format!("takes `{name}` from lane {from}, which never wrote it"),
        };
        self.told(c, FindingKind::Uninitialised, pc, lane, AccessKind::Read, &what);
    }

    fn shuffle(&mut self, c: &mut Context<'_>, together: u32) {
        let mut values = [0; LANES];
        let mut labels = [0; LANES];
        for lane in lanes(together) {
            let a = self.waits_at(c, lane).a;
            values[lane] = c.warp.registers[usize::from(a)][lane];
            labels[lane] = c.warp.label(a, lane);
        }
        for lane in lanes(together) {
            let (ins, pc) = (self.waits_at(c, lane), c.warp.pc[lane]);
            let operand = |i: usize| c.warp.registers[usize::from(ins.b) + i][lane] as u32;
            let width = operand(2);
            if !(width.is_power_of_two() && width <= 32) && ins.k & LEAF == 0 {
                let what =
                    format!("gives a width of {width}, which is no power of two from 1 to 32");
                self.told(c, FindingKind::InactiveLane, pc, lane, AccessKind::Read, &what);
            }
            let source = source(ins.x, lane as u32, operand(1), width.clamp(1, 32)) as usize;
            let takes_part = together >> source & 1 != 0;
            if !takes_part {
                let what = format!("reads from lane {source}, which takes no part");
                self.told(c, FindingKind::InactiveLane, pc, lane, AccessKind::Read, &what);
            }
            let from = if takes_part { source } else { lane };
            self.check_source(c, (lane, pc), from);
            c.warp.registers[usize::from(ins.d)][lane] = values[from];
            if let Some(recorder) = self.recorder.as_mut() {
                let place = Place::Register { block: c.info.id, thread: c.warp.rank(from) };
                let label =
                    if from == lane { labels[from] } else { recorder.at(labels[from], place) };
                c.warp.labels[usize::from(ins.d)][lane] = label;
            }
        }
    }
}

/// A shuffle of a struct's further leaf.
pub(crate) const LEAF: u32 = 1;

/// A shuffle of a variable that may not have been written: behind its three operands follow whether
/// it was, and the index of its name. Lanes that nobody reads from need not have written it.
pub(crate) const FLAGGED: u32 = 2;

/// The lane that a shuffle reads; its own where the other lies outside.
fn source(mode: u8, lane: u32, argument: u32, width: u32) -> u32 {
    let width = if width.is_power_of_two() { width } else { 32 };
    let first = lane & !(width - 1);
    let (other, inside) = match mode {
        shuffle::UP => {
            let other = lane.wrapping_sub(argument);
            (other, argument <= lane - first)
        }
        shuffle::DOWN => {
            let other = lane.wrapping_add(argument);
            (other, argument < width && other < first + width)
        }
        shuffle::XOR => {
            let other = lane ^ argument;
            (other, other < first + width)
        }
        _ => (first + argument % width, true),
    };
    if inside { other & 31 } else { lane }
}

/// The result of a vote, the same for all its lanes.
fn vote_of(ins: Ins, values: &[u64; LANES], together: u32) -> u64 {
    let set = lanes(together).filter(|&l| values[l] != 0).fold(0u32, |m, l| m | 1 << l);
    let fold = |f: fn(u64, u64) -> u64| {
        let result = lanes(together).map(|l| values[l]).reduce(f).unwrap_or(0);
        super::alu::canonical(super::ins::decode(ins.k as u8), result)
    };
    match ins.x {
        vote::BALLOT => u64::from(set),
        vote::ANY => u64::from(set != 0),
        vote::ALL => u64::from(set == together),
        vote::ADD => fold(u64::wrapping_add),
        vote::MIN_U => fold(u64::min),
        vote::MAX_U => fold(u64::max),
        vote::MIN_S => fold(|a, b| (a as i64).min(b as i64) as u64),
        vote::MAX_S => fold(|a, b| (a as i64).max(b as i64) as u64),
        vote::AND => fold(|a, b| a & b),
        vote::OR => fold(|a, b| a | b),
        vote::XOR => fold(|a, b| a ^ b),
        _ => 0,
    }
}
