//! Volatile reads that a loop waits for: on what they bring depends whether it ends.
//!
//! Who waits for a value takes part in a protocol of the kernel's own, so what is volatile there is
//! a flag. Where nobody waits, `volatile` only looks like synchronisation. Found in the code and not
//! in a run, as in one schedule the value may be there the first time. Loops are backward jumps.

use super::ins::{Ins, Op, flag};
use std::collections::HashSet;

/// Instructions up to which loops are looked at; in longer kernels every volatile read may wait.
const MOST: usize = 1 << 12;

/// For each instruction whether it is such a read.
pub(crate) fn waiting(code: &[Ins]) -> Vec<bool> {
    let is_volatile = |ins: &Ins| ins.op == Op::Load && ins.b & flag::VOLATILE != 0;
    let mut found = vec![false; code.len()];
    if !code.iter().any(is_volatile) {
        return found;
    }
    if code.len() > MOST {
        return vec![true; code.len()];
    }
    for (end, jump) in code.iter().enumerate() {
        let start = jump.k as usize;
        if is_jump(jump) && start <= end {
            Loop::new(code, start, end).mark(&mut found);
        }
    }
    found
}

/// The instructions from `start` to the backward jump `end`.
struct Loop<'a> {
    code: &'a [Ins],
    start: usize,
    end: usize,
    /// For each of them how many of those up to it leave the loop.
    leaving: Vec<u32>,
}

impl<'a> Loop<'a> {
    fn new(code: &'a [Ins], start: usize, end: usize) -> Self {
        let leaves = |ins: &Ins| {
            ins.op == Op::Exit || is_jump(ins) && !(start..=end).contains(&(ins.k as usize))
        };
        let count = code[start..=end].iter().scan(0, |count, ins| {
            *count += u32::from(leaves(ins));
            Some(*count)
        });
        Self { code, start, end, leaving: count.collect() }
    }

    fn mark(&self, found: &mut [bool]) {
        let mut seen = HashSet::new();
        // Where a register's value is needed.
        let mut needed = self.conditions(|p| self.leads_out(p));
        while let Some((use_at, register)) = needed.pop() {
            for at in self.definitions(use_at, register) {
                if !seen.insert(at) {
                    continue;
                }
                let ins = &self.code[at];
                if ins.op == Op::Load {
                    found[at] |= ins.b & flag::VOLATILE != 0;
                } else {
                    needed.extend(sources(ins).map(|register| (at, register)));
                }
                // Whether it is reached at all, conditions before it decide.
                needed.extend(self.conditions(|p| p < at && at < self.code[p].k as usize));
            }
        }
    }

    /// What conditional jumps go by, of those of the loop that are such ones.
    fn conditions(&self, which: impl Fn(usize) -> bool) -> Vec<(usize, u16)> {
        let conditional = |p: &usize| matches!(self.code[*p].op, Op::JumpZero | Op::JumpNonZero);
        let all = (self.start..=self.end).filter(conditional);
        all.filter(|&p| which(p)).map(|p| (p, self.code[p].a)).collect()
    }

    /// Where a register's value may come from, in this turn of the loop or the one before:
    /// temporaries have one register after another.
    fn definitions(&self, use_at: usize, register: u16) -> Vec<usize> {
        let mut all = Vec::new();
        let turn = (self.start..use_at).rev().map(|at| (at, use_at));
        let before = (use_at..=self.end).rev().map(|at| (at, self.end));
        for (at, until) in turn.chain(before) {
            let ins = &self.code[at];
            if !ins.writes() || ins.d != register {
                continue;
            }
            all.push(at);
            if !self.is_skipped(at, until) {
                break;
            }
        }
        all
    }

    /// Whether a jump leads past an instruction, to one up to `until`.
    fn is_skipped(&self, at: usize, until: usize) -> bool {
        (self.start..at).any(|p| {
            let target = self.code[p].k as usize;
            is_jump(&self.code[p]) && at < target && target <= until
        })
    }

    /// Whether a conditional jump leaves the loop or ends it, or skips what does.
    fn leads_out(&self, jump: usize) -> bool {
        let target = self.code[jump].k as usize;
        let up_to = |at: usize| self.leaving[at - self.start];
        let skips = jump < target && target <= self.end && up_to(target - 1) > up_to(jump);
        jump == self.end || !(self.start..=self.end).contains(&target) || skips
    }
}

const fn is_jump(ins: &Ins) -> bool {
    matches!(ins.op, Op::Jump | Op::JumpZero | Op::JumpNonZero)
}

/// The registers that an instruction's result depends on.
fn sources(ins: &Ins) -> impl Iterator<Item = u16> {
    let third = matches!(ins.op, Op::Select | Op::Math).then_some(ins.k as u16);
    let unary = matches!(ins.op, Op::Mov | Op::Convert | Op::Offset | Op::SyncThreads);
    let second = (!unary).then_some(ins.b);
    [Some(ins.a), second, third].into_iter().flatten()
}
