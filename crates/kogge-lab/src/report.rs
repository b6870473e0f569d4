//! What a run showed: contents, findings, counts.

use std::collections::BTreeMap;
use std::fmt;

use crate::options::Schedule;
use crate::trace::Trace;
use crate::value::Values;

/// What kind of hazard a [`Finding`] is. Serialises in kebab case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum FindingKind {
    /// Two accesses to one location, one of them a write, not both atomic, and
    /// not ordered by a barrier, a fence with a flag, or the end of a kernel.
    /// Two volatile ones are none in an array whose values a loop waits for.
    Race,
    /// An access outside the array that its pointer was derived from.
    OutOfBounds,
    /// An access whose address is no multiple of its size.
    Misaligned,
    /// A read of memory or of a variable that was never written, or the use of the value of a
    /// function that ended without one.
    Uninitialised,
    /// A barrier not reached by all threads that it is for.
    DivergentBarrier,
    /// A shuffle or vote that names, or reads from, a lane that takes no part, or a shuffle whose
    /// width is no power of two from 1 to 32.
    InactiveLane,
    /// Threads that wait for each other, or for a block that cannot start.
    Deadlock,
    /// Threads that repeat the same state for ever.
    Livelock,
    /// Results that differ from one schedule to another.
    ScheduleDependent,
    /// A launch beyond what the device holds.
    Limit,
    /// A failed `assert`, a `__trap()`, or a division of integers by zero.
    Trap,
    /// The run was stopped by its budget of instructions or memory.
    Budget,
}

impl FindingKind {
    /// The kind's name, as serialised.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Race => "race",
            Self::OutOfBounds => "out-of-bounds",
            Self::Misaligned => "misaligned",
            Self::Uninitialised => "uninitialised",
            Self::DivergentBarrier => "divergent-barrier",
            Self::InactiveLane => "inactive-lane",
            Self::Deadlock => "deadlock",
            Self::Livelock => "livelock",
            Self::ScheduleDependent => "schedule-dependent",
            Self::Limit => "limit",
            Self::Trap => "trap",
            Self::Budget => "budget",
        }
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How a location was touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum AccessKind {
    /// A read: plain, volatile, or an atomic one that only reads.
    Read,
    /// A write: plain, volatile, or an atomic one that only writes.
    Write,
    /// An atomic read-modify-write.
    Atomic,
    /// Waiting: at a barrier, for a lane, in a loop.
    Wait,
}

/// One side of a finding: who did what, at which line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Access {
    /// What was done.
    pub kind: AccessKind,
    /// `blockIdx` in x, y, z.
    pub block: [u32; 3],
    /// `threadIdx` in x, y, z.
    pub thread: [u32; 3],
    /// Line in the source.
    pub line: u32,
    /// Column in the source.
    pub column: u32,
}

/// A location in simulated memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Location {
    /// Name of the array or variable.
    pub array: String,
    /// Index of the element; negative when before the array.
    pub index: i64,
    /// Whether the array is in shared memory (or local to a thread) rather than global.
    pub space: Space,
}

/// Where an array lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Space {
    /// Global memory, visible to the whole grid.
    Global,
    /// Shared memory of one block.
    Shared,
    /// Local memory of one thread.
    Local,
}

/// A hazard, with the place in the source and the accesses concerned.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Finding {
    /// The kind.
    pub kind: FindingKind,
    /// Line in the source, from 1; 0 when no line is concerned.
    pub line: u32,
    /// Column, from 1; 0 when no line is concerned.
    pub column: u32,
    /// One sentence: what happened, between whom.
    pub message: String,
    /// Index of the launch within the script, from 0.
    pub launch: u32,
    /// The accesses concerned, the earlier one first: two for a race, one for
    /// the others, those who wait for a deadlock.
    pub accesses: Vec<Access>,
    /// The location concerned, if there is one.
    pub location: Option<Location>,
    /// How often it happened (same kind, same lines).
    pub count: u64,
    /// The schedule that shows it.
    pub schedule: Schedule,
}

/// What one level of a launch did. Levels are synchronisation intervals: a
/// thread's level rises by one at each block barrier, `__syncwarp`, shuffle,
/// vote and grid barrier, and a block barrier lifts all of the block to the
/// highest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Level {
    /// Index of the launch, from 0.
    pub launch: u32,
    /// Number of the level within the launch, from 0.
    pub level: u32,
    /// Operator applications, over all blocks.
    pub applications: u64,
}

/// Counts of one launch or of a whole script.
///
/// Those of warps (conflicts, transactions, divergence) are meant for the
/// forward and reverse schedules, which run warps in lock step; a random
/// schedule splits warps on purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Counts {
    /// Operator applications.
    pub work: u64,
    /// Levels with at least one operator application.
    pub steps: u64,
    /// Block barriers passed, by the block that passed most.
    pub barriers: u64,
    /// Grid barriers passed.
    pub grid_barriers: u64,
    /// Warp requests to shared memory, atomics among them.
    pub shared_requests: u64,
    /// Extra turns that bank conflicts cost (32 banks of 4 bytes).
    pub bank_conflicts: u64,
    /// Warp requests to global memory, atomics among them.
    pub global_requests: u64,
    /// 32-byte sectors that these requests touched.
    pub global_transactions: u64,
    /// The fewest sectors that could hold the bytes these requests asked for.
    pub ideal_transactions: u64,
    /// Atomic operations, per thread.
    pub atomics: u64,
    /// Branches at which the active lanes of a warp went both ways.
    pub divergent_branches: u64,
    /// Instructions issued, per warp.
    pub warp_instructions: u64,
    /// Instructions executed, per thread.
    pub thread_instructions: u64,
}

impl Counts {
    /// Adds the counts of a later launch.
    pub(crate) fn add(&mut self, other: &Self) {
        self.work += other.work;
        self.steps += other.steps;
        self.barriers += other.barriers;
        self.grid_barriers += other.grid_barriers;
        self.shared_requests += other.shared_requests;
        self.bank_conflicts += other.bank_conflicts;
        self.global_requests += other.global_requests;
        self.global_transactions += other.global_transactions;
        self.ideal_transactions += other.ideal_transactions;
        self.atomics += other.atomics;
        self.divergent_branches += other.divergent_branches;
        self.warp_instructions += other.warp_instructions;
        self.thread_instructions += other.thread_instructions;
    }
}

/// What one launch did.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LaunchReport {
    /// The kernel.
    pub kernel: String,
    /// Its counts.
    pub counts: Counts,
}

/// What a run showed.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Report {
    /// Final contents of every array of the script and of every device variable
    /// made of one scalar type.
    pub arrays: BTreeMap<String, Values>,
    /// The hazards, in the order in which they were met.
    pub findings: Vec<Finding>,
    /// Findings beyond the budget, which were counted only.
    pub findings_left_out: u64,
    /// Counts over all launches: sums, so the steps of consecutive launches add up.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub counts: Counts,
    /// Counts of each launch.
    pub launches: Vec<LaunchReport>,
    /// Operator applications level by level; levels without any are left out.
    pub activity: Vec<Level>,
    /// The schedule that was run.
    pub schedule: Schedule,
    /// How many schedules were run: 1, or more by [`explore`](crate::explore).
    pub schedules: u32,
    /// The trace, if it was asked for.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub trace: Option<Trace>,
}

impl Report {
    /// Whether no hazard was found.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// Operator applications: calls of the function [`Options::operator`](crate::Options::operator)
    /// where the source has one; else `+ * & | ^ min max` (operators, their
    /// assignment forms, functions and atomics) on two operands that both stem
    /// from array elements, index arithmetic left out.
    pub fn work(&self) -> u64 {
        self.counts.work
    }

    /// Levels with at least one operator application, summed over launches.
    pub fn steps(&self) -> u64 {
        self.counts.steps
    }

    /// Findings of one kind.
    pub fn of_kind(&self, kind: FindingKind) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |f| f.kind == kind)
    }
}
