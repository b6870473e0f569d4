//! Collecting findings: the same hazard at the same lines is one finding.

use std::collections::HashMap;

use crate::lang::Pos;
use crate::options::Schedule;
use crate::report::{Access, AccessKind, Finding, FindingKind, Location};

#[derive(Debug)]
pub(super) struct Findings {
    list: Vec<Finding>,
    index: HashMap<(FindingKind, Pos, Pos, String), usize>,
    left_out: u64,
    most: usize,
    schedule: Schedule,
    pub launch: u32,
}

/// What is told once only.
pub(super) struct Told {
    pub message: String,
    pub accesses: Vec<Access>,
    pub location: Option<Location>,
}

impl Findings {
    pub(super) fn new(most: usize, schedule: Schedule) -> Self {
        Self { list: Vec::new(), index: HashMap::new(), left_out: 0, most, schedule, launch: 0 }
    }

    /// Adds a finding at `pos`; `other` and `array` tell it from others there.
    pub(super) fn add(
        &mut self,
        kind: FindingKind,
        pos: Pos,
        other: Pos,
        array: &str,
        told: impl FnOnce() -> Told,
    ) {
        self.add_many(kind, (pos, other), array, 1, told);
    }

    /// Counts a finding that is there already; false if it isn't.
    pub(super) fn again(&mut self, kind: FindingKind, at: (Pos, Pos), array: &str) -> bool {
        let known = self.index.get(&(kind, at.0, at.1, array.to_owned()));
        let finding = known.map(|&i| &mut self.list[i]);
        finding.map(|finding| finding.count += 1).is_some()
    }

    /// The same, so many times.
    pub(super) fn add_many(
        &mut self,
        kind: FindingKind,
        (pos, other): (Pos, Pos),
        array: &str,
        count: u64,
        told: impl FnOnce() -> Told,
    ) {
        let key = (kind, pos, other, array.to_owned());
        if let Some(&i) = self.index.get(&key) {
            self.list[i].count += count;
            return;
        }
        if self.list.len() >= self.most {
            self.left_out += count;
            return;
        }
        let told = told();
        self.index.insert(key, self.list.len());
        self.list.push(Finding {
            kind,
            line: pos.line,
            column: pos.column,
            message: told.message,
            launch: self.launch,
            accesses: told.accesses,
            location: told.location,
            count,
            schedule: self.schedule,
        });
    }

    /// A finding that concerns no access.
    pub(super) fn plain(&mut self, kind: FindingKind, pos: Pos, message: String) {
        self.add(kind, pos, pos, "", || Told { message, accesses: Vec::new(), location: None });
    }

    pub(super) fn into_parts(self) -> (Vec<Finding>, u64) {
        (self.list, self.left_out)
    }
}

pub(super) const fn verb(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "reads",
        AccessKind::Write => "writes",
        AccessKind::Atomic => "updates",
        AccessKind::Wait => "waits",
    }
}

/// `thread 3 of block 0`, with all axes where there is more than one.
pub(super) fn who(block: [u32; 3], thread: [u32; 3]) -> String {
    format!("thread {} of block {}", triple(thread), triple(block))
}

fn triple(id: [u32; 3]) -> String {
    match id {
        [x, 0, 0] => x.to_string(),
        [x, y, 0] => format!("({x}, {y})"),
        [x, y, z] => format!("({x}, {y}, {z})"),
    }
}
