//! From the shape of an array to the way its lines go, without touching data or machine.

use super::{Axis, FEW, Outer, TASK, WIDEST, follow_one_another, numbered};
use crate::algorithm::group::LANES;
use crate::columns::Cut;
use crate::plan::{Machine, Plan, plan};
use crate::segments::{SegmentPlan, plan_segments};
use crate::tuning;
use kogge_core::Problem;
use std::fmt;

/// The lines of an array along an axis.
///
/// ```
/// use kogge_cpu::{Axis, LineShape};
///
/// // A table of 100 rows and 3 columns, along the first axis.
/// let (down, across) = (Axis { len: 100, strides: [3; 2] }, Axis { len: 3, strides: [1; 2] });
/// let (outer, [own, compact, exact]) = (&[across], [false; 3]);
/// let shape = LineShape { line: down, outer, own, compact, exact };
/// assert_eq!(shape.lines(), 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineShape<'a> {
    /// The axis that is scanned along.
    pub line: Axis,
    /// The others; the last one counts lines fastest.
    pub outer: &'a [Axis],
    /// Whether lines have initial values or totals of their own.
    pub own: bool,
    /// Whether the operator asks for [compact code](kogge_core::Operator::COMPACT).
    pub compact: bool,
    /// Whether it is [as good in any order](kogge_core::Operator::EXACT).
    pub exact: bool,
}

impl LineShape<'_> {
    /// How many lines there are; `usize::MAX` if they are more.
    ///
    /// ```
    /// use kogge_cpu::{Axis, LineShape};
    ///
    /// let axis = |len| Axis { len, strides: [1; 2] };
    /// let outer = [axis(7), axis(0)];
    /// let [own, compact, exact] = [false; 3];
    /// assert_eq!(LineShape { line: axis(5), outer: &outer, own, compact, exact }.lines(), 0);
    /// ```
    pub fn lines(&self) -> usize {
        match self.outer.iter().any(|axis| axis.len == 0) {
            true => 0,
            false => self.outer.iter().fold(1, |lines: usize, axis| lines.saturating_mul(axis.len)),
        }
    }
}

/// How lines will be scanned. Nothing in it changes the result.
///
/// ```
/// use kogge_cpu::LinePlan;
///
/// let plan = LinePlan::Scattered { threads: 2 };
/// assert_eq!(plan.to_string(), "2 threads, sixteen lines at a time from wherever they lie");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinePlan {
    /// There is no element.
    Nothing,
    /// Lines that follow one another, as segments of equal length.
    OnEnd(SegmentPlan),
    /// Sixteen at a time, from wherever they lie.
    Scattered {
        /// Threads that share them out.
        threads: usize,
    },
    /// Lines side by side, down the axis.
    Strips {
        /// Threads that take part.
        threads: usize,
        /// Strips that lines are cut into, for all indices of the other axes.
        strips: usize,
        /// Lines of a strip at most.
        width: usize,
        /// Whether all threads scan a strip together, one strip after another.
        together: bool,
        /// Whether values are stored past the caches.
        stream: bool,
    },
    /// Each line by itself.
    Singly {
        /// Threads that share lines out.
        threads: usize,
        /// How each is scanned.
        each: Plan,
    },
}

/// Which way lines go.
pub(super) enum Way {
    OnEnd,
    Scattered,
    /// By strips of lines along that one of the other axes.
    Strips(usize),
    Singly,
}

/// The plan for lines on a machine, whose output begins on a line of the cache. The problem's
/// length is a line's.
///
/// ```
/// use kogge_core::{Direction, Kind, Problem};
/// use kogge_cpu::{Axis, Cpu, LineShape, Machine, plan_lines};
///
/// let problem = Problem {
///     len: 1 << 20,
///     element_bytes: 4,
///     output_bytes: 4,
///     accumulator_bytes: 4,
///     kind: Kind::Inclusive,
///     direction: Direction::Forward,
///     in_place: false,
/// };
/// let machine = Machine { threads: 2, cpu: Cpu::Common, awake: false, apart: false };
/// let (down, across) = (Axis { len: 1 << 20, strides: [3; 2] }, Axis { len: 3, strides: [1; 2] });
/// let (outer, [own, compact, exact]) = (&[across], [false; 3]);
/// let shape = LineShape { line: down, outer, own, compact, exact };
/// let text = "2 threads, 1 strip of 3 lines side by side, by all threads together, stored past the caches";
/// assert_eq!(plan_lines(&problem, &shape, machine).to_string(), text);
/// ```
pub fn plan_lines(problem: &Problem, shape: &LineShape<'_>, machine: Machine) -> LinePlan {
    let machine = Machine { threads: machine.threads.max(1), ..machine };
    let (lines, len) = (shape.lines(), shape.line.len);
    if lines == 0 || len == 0 {
        return LinePlan::Nothing;
    }
    let outer = numbered(shape.outer);
    match way(problem, shape, &outer) {
        Way::OnEnd => {
            let all = Problem { len: problem.len.saturating_mul(lines as u64), ..*problem };
            LinePlan::OnEnd(plan_segments(&all, machine))
        }
        Way::Scattered => {
            let tasks = lines.div_ceil(LANES);
            LinePlan::Scattered { threads: shared(tasks, LANES * len, machine.threads).0 }
        }
        Way::Strips(at) => {
            let beside = outer[at].len;
            Strips::new(problem, shape, beside, lines / beside, machine, 0).plan()
        }
        Way::Singly => {
            let (threads, each) = singly(lines, len, machine.threads);
            let each = plan_single(problem, shape, Machine { threads: each, ..machine });
            LinePlan::Singly { threads, each }
        }
    }
}

/// Which way the lines of a shape go, given its other axes with their numbers. There must be
/// elements.
pub(super) fn way(problem: &Problem, shape: &LineShape<'_>, outer: &[Outer]) -> Way {
    let (line, lines) = (shape.line, shape.lines());
    let beside = outer.iter().position(|axis| axis.strides[..2] == [1, 1] && axis.len > 1);
    let contiguous = line.strides == [1, 1];
    let fits = problem.accumulator_bytes <= WIDEST;
    let short = !contiguous && line.len <= problem.order().tile();
    let fills_lanes = beside.is_some_and(|at| outer[at].len >= LANES);
    if lines >= LANES && short && !fills_lanes && fits {
        return Way::Scattered;
    }
    if !shape.compact && lines > 1 && follow_one_another(line, outer, shape.own) {
        return Way::OnEnd;
    }
    match beside {
        Some(at) if !contiguous && fits && !(shape.compact && lines < FEW) => Way::Strips(at),
        _ => Way::Singly,
    }
}

/// How many threads share out so many tasks of so many elements each, and the tasks that each takes
/// at least.
pub(super) fn shared(tasks: usize, elements: usize, threads: usize) -> (usize, usize) {
    let at_least = (TASK / elements.max(1)).max(1);
    (threads.min(tasks.div_ceil(at_least)).max(1), at_least)
}

/// How many threads share out lines, and how many scan each.
pub(super) fn singly(lines: usize, len: usize, threads: usize) -> (usize, usize) {
    if lines >= 2 * threads || len.saturating_mul(lines) <= TASK {
        (shared(lines, len, threads).0, 1)
    } else {
        (1, threads)
    }
}

/// How a line is scanned by itself: past the caches where all lines together don't fit in them, and
/// each has whole tiles.
pub(super) fn plan_single(problem: &Problem, shape: &LineShape<'_>, machine: Machine) -> Plan {
    let len = shape.line.len;
    let written = shape.lines().saturating_mul(len).saturating_mul(problem.output_bytes) as u64;
    let far = written >= tuning::stream_bytes(machine.cpu) && len >= problem.order().tile();
    let stream = !problem.in_place && far && shape.line.strides == [1, 1];
    Plan { stream, ..plan(problem, machine) }
}

/// Whether a thread scans a table of so many bytes of values by itself, as the other is far away.
pub(super) fn alone(written: u64, machine: Machine) -> bool {
    let near = written < tuning::STREAM_BYTES;
    near && machine.threads > 1 && machine.apart && tuning::tables_are_for_one(machine.cpu)
}

/// Whether one of two threads scans a table of so many bytes of values by itself, as it goes
/// through memory from end to end so.
fn end_to_end(
    problem: &Problem,
    shape: &LineShape<'_>,
    beside: usize,
    written: u64,
    Machine { threads, cpu, .. }: Machine,
) -> bool {
    let near = written < tuning::STREAM_BYTES && !problem.in_place;
    let follow = shape.line.strides == [beside as isize; 2] && shape.lines() == beside;
    let bytes = problem.accumulator_bytes;
    let same = problem.element_bytes == bytes && problem.output_bytes == bytes;
    let row = beside.saturating_mul(bytes);
    shape.exact && near && follow && same && threads == 2 && tuning::rows_are_for_one(cpu, row)
}

/// Lines side by side, cut into strips, for each index of the other axes.
pub(super) struct Strips {
    pub(super) cut: Cut,
    /// Strips, for all indices.
    pub(super) tasks: usize,
    pub(super) threads: usize,
    /// Strips that each thread takes at least.
    pub(super) at_least: usize,
    /// Whether all threads scan a strip together.
    pub(super) together: bool,
    pub(super) stream: bool,
}

impl Strips {
    /// Of `beside` lines each, whose output begins at `to`, `count` times.
    pub(super) fn new(
        problem: &Problem,
        shape: &LineShape<'_>,
        beside: usize,
        count: usize,
        machine: Machine,
        to: usize,
    ) -> Self {
        let values = shape.line.len.saturating_mul(beside).saturating_mul(count);
        let written = values.saturating_mul(problem.output_bytes) as u64;
        // A thread's share of strips, and its part of one.
        let Machine { cpu, awake, .. } = machine;
        let [share, part] =
            [tuning::strip_bytes_per_thread(cpu, awake), tuning::part_of_strip_bytes(awake)]
                .map(|bytes| bytes / problem.element_bytes.max(1));
        // Strips are cut for those threads that have one, or a part.
        let threads = match values >= machine.threads.saturating_mul(part) {
            _ if alone(written, machine) => 1,
            _ if end_to_end(problem, shape, beside, written, machine) => 1,
            true => machine.threads,
            false => (values / share.max(1)).clamp(1, machine.threads),
        };
        let machine = Machine { threads, ..machine };
        let bytes = [problem.element_bytes, problem.output_bytes];
        let len = shape.line.len;
        let stream = !problem.in_place && written >= tuning::STREAM_BYTES;
        let cut = Cut::new(beside, count, machine, bytes, to, (written, shape.exact));
        let strips = cut.strips();
        let tasks = count.saturating_mul(strips);
        let elements = len.saturating_mul(beside.div_ceil(strips));
        let at_least = share.div_ceil(elements.max(1)).max(1);
        let sharing = threads.min(tasks.div_ceil(at_least)).max(1);
        let even = tasks.is_multiple_of(threads) || tasks >= 4 * threads;
        // Threads that scan together have rows of the order each, several lest one waits for
        // another.
        let rows = len / problem.order().row();
        let shares = threads > 1 && elements >= threads * part && rows >= 2 * threads;
        let together = !shape.compact && !even && shares;
        let threads = if together { threads } else { sharing };
        Self { cut, tasks, threads, at_least, together, stream }
    }

    fn plan(&self) -> LinePlan {
        let Self { cut, tasks: strips, threads, together, stream, .. } = *self;
        LinePlan::Strips { threads, strips, width: cut.widest(), together, stream }
    }
}

impl fmt::Display for LinePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = |threads: usize| match threads {
            1 => "the calling thread".to_owned(),
            threads => format!("{threads} threads"),
        };
        match *self {
            Self::Nothing => write!(f, "nothing"),
            Self::OnEnd(plan) => write!(f, "lines on end: {plan}"),
            Self::Scattered { threads } => {
                write!(f, "{}, sixteen lines at a time from wherever they lie", by(threads))
            }
            Self::Strips { threads, strips, width, together, stream } => {
                let s = if strips == 1 { "" } else { "s" };
                write!(f, "{}, {strips} strip{s} of {width} lines side by side", by(threads))?;
                write!(f, "{}", if together { ", by all threads together" } else { "" })?;
                write!(f, "{}", if stream { ", stored past the caches" } else { "" })
            }
            Self::Singly { threads: 1, each } => write!(f, "line by line: {each}"),
            Self::Singly { threads, each } => {
                write!(f, "{} share out lines; each: {each}", by(threads))
            }
        }
    }
}

#[cfg(test)]
mod tests;
