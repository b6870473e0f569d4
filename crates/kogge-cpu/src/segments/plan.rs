//! From the shape of a segmented problem to a plan, without touching data or machine.

use crate::plan::{Machine, Plan};
use crate::tuning;
use kogge_core::Problem;
use std::fmt;

/// Pieces a thread should find at least, so that all end at about the same time.
const PIECES_PER_THREAD: usize = 8;

/// How segments will be scanned. Nothing in it changes the result.
///
/// ```
/// use kogge_cpu::SegmentPlan;
///
/// let plan = SegmentPlan { threads: 2, piece: 4096, alone: 9000, stream: false };
/// let text = "2 threads, pieces of 4096 elements, segments over 9000 by all threads";
/// assert_eq!(plan.to_string(), text);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentPlan {
    /// Threads that take part; 1 is the calling thread alone.
    pub threads: usize,
    /// Elements in a piece; its segments are those that start there.
    pub piece: usize,
    /// Elements behind its piece that a thread scans of a segment; longer ones are scanned by all
    /// threads.
    pub alone: usize,
    /// Whether values of long segments are stored past the caches.
    pub stream: bool,
}

/// The plan for the segments of a problem, whatever their lengths.
///
/// ```
/// use kogge_core::{Direction, Kind, Problem};
/// use kogge_cpu::{Cpu, Machine, plan_segments};
///
/// let problem = Problem {
///     len: 1 << 26,
///     element_bytes: 4,
///     output_bytes: 4,
///     accumulator_bytes: 4,
///     kind: Kind::Inclusive,
///     direction: Direction::Forward,
///     in_place: false,
/// };
/// let machine = Machine { threads: 8, cpu: Cpu::Common, awake: false, apart: false };
/// assert_eq!(
///     plan_segments(&problem, machine).to_string(),
///     "8 threads, pieces of 32768 elements, segments over 1048576 by all threads, \
///      long ones stored past the caches",
/// );
/// ```
pub fn plan_segments(problem: &Problem, machine: Machine) -> SegmentPlan {
    let len = usize::try_from(problem.len).unwrap_or(usize::MAX);
    let bytes = problem.len.saturating_mul(problem.element_bytes.max(1) as u64);
    let written = problem.len.saturating_mul(problem.output_bytes as u64);
    let stream = !problem.in_place && written >= tuning::STREAM_BYTES;
    let two_awake = machine.awake && bytes >= tuning::awake_shared_bytes(machine.cpu);
    let worth = (bytes / tuning::BYTES_PER_THREAD).max(1 + u64::from(two_awake));
    let threads = machine.threads.min(usize::try_from(worth).unwrap_or(usize::MAX)).max(1);
    if threads == 1 {
        return SegmentPlan { threads, piece: len.max(1), alone: len, stream };
    }
    let shares = bytes / (PIECES_PER_THREAD * threads) as u64;
    let piece = tuning::piece_bytes(machine.cpu).min(shares) as usize;
    let piece = (piece / problem.element_bytes.max(1)).max(1);
    let alone = (len / (PIECES_PER_THREAD * threads)).max(piece);
    SegmentPlan { threads, piece, alone, stream }
}

impl SegmentPlan {
    /// As a plan for a flat scan has it.
    pub(super) fn from_plan(plan: Plan, problem: &Problem) -> Self {
        let len = usize::try_from(problem.len).unwrap_or(usize::MAX);
        // Rows for tiles under Miri, so that short segments are shared out.
        let order = problem.order();
        let tile = if cfg!(miri) { 2 * order.row() } else { order.tile() };
        let piece = plan.tiles_per_piece.saturating_mul(tile).max(1);
        match plan.threads {
            0 | 1 => Self { threads: 1, piece: len.max(1), alone: len, stream: plan.stream },
            threads => Self { threads, piece, alone: piece, stream: plan.stream },
        }
    }
}

impl fmt::Display for SegmentPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.threads {
            1 => write!(f, "the calling thread")?,
            n => write!(
                f,
                "{n} threads, pieces of {} elements, segments over {} by all threads",
                self.piece, self.alone
            )?,
        }
        if self.stream { write!(f, ", long ones stored past the caches") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cpu;
    use crate::plan::tests::problem;

    #[test]
    fn two_threads_of_a_zen_that_are_awake_share_out_what_fits_in_their_caches() {
        let text = |cpu, kib: u64, awake| {
            let machine = Machine { threads: 2, cpu, awake, apart: false };
            plan_segments(&problem(kib << 8), machine).to_string()
        };
        let two = "2 threads, pieces of 4096 elements, segments over 4096 by all threads";
        assert_eq!([text(Cpu::Zen3, 256, true), text(Cpu::Zen4, 256, true)], [two, two]);
        assert_eq!(text(Cpu::Zen5, 511, true), "the calling thread");
        assert_ne!(text(Cpu::Zen5, 512, true), "the calling thread");
        let alone = [
            (Cpu::Zen3, 255, true),
            (Cpu::Zen3, 4096, false),
            (Cpu::Zen4, 255, true),
            (Cpu::Zen4, 4096, false),
            (Cpu::Mesh, 4096, true),
        ];
        for (cpu, kib, awake) in alone {
            assert_eq!(text(cpu, kib, awake), "the calling thread");
        }
    }

    #[test]
    fn pieces_are_twice_as_long_on_a_mesh() {
        let problem = problem(1 << 26);
        let piece = |cpu| {
            plan_segments(&problem, Machine { threads: 2, cpu, awake: false, apart: false }).piece
        };
        assert_eq!([piece(Cpu::Common), piece(Cpu::Mesh)], [1 << 15, 1 << 16]);
    }
}
