//! From a problem to a plan, without touching data or machine: how many threads, how much at a
//! time, and whether stores go past the caches.

use crate::{Cpu, pool, tuning};
use kogge_core::Problem;
use std::fmt;

/// What the machine offers a scan.
///
/// ```
/// use kogge_cpu::{Cpu, Machine};
///
/// let machine = Machine { threads: 2, cpu: Cpu::Common, awake: true, apart: false };
/// assert_eq!(Machine { threads: 8, ..machine }.cpu, Cpu::Common);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Threads of the current pool.
    pub threads: usize,
    /// The kind of its CPU.
    pub cpu: Cpu,
    /// Whether another thread than the caller is awake, as the last call was moments ago.
    pub awake: bool,
    /// Whether the two have no cache in common, as far as is known.
    pub apart: bool,
}

impl Machine {
    /// This machine, with so many threads.
    ///
    /// ```
    /// use kogge_cpu::Machine;
    ///
    /// let machine = Machine::here(4);
    /// assert_eq!((machine.threads, machine.awake), (4, false));
    /// ```
    pub fn here(threads: usize) -> Self {
        Self { threads, cpu: Cpu::detect(), awake: false, apart: pool::apart() }
    }
}

/// How a scan will be done. Nothing in it changes the result.
///
/// ```
/// use kogge_core::ops::Sum;
/// use kogge_cpu::{Plan, Request, scan_in_place};
///
/// let mut data = [1, 2, 3];
/// let plan = Plan { threads: 2, tiles_per_piece: 1, stream: false };
/// scan_in_place(&Request::<_, i32> { plan: Some(plan), ..Request::new(&Sum) }, &mut data);
/// assert_eq!(data, [1, 3, 6]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Threads that take part; 1 is the calling thread alone.
    pub threads: usize,
    /// Tiles that a thread takes at a time. If that is all, the second of two threads has the
    /// middle.
    pub tiles_per_piece: usize,
    /// Whether values are stored past the caches.
    pub stream: bool,
}

/// The plan for a problem on a machine.
///
/// ```
/// use kogge_core::{Direction, Kind, Problem};
/// use kogge_cpu::{Cpu, Machine, plan};
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
/// let plan = plan(&problem, machine);
/// assert_eq!(plan.to_string(), "8 threads, pieces of 4 tiles, stores past the caches");
/// ```
pub fn plan(problem: &Problem, machine: Machine) -> Plan {
    let bytes = problem.len.saturating_mul(problem.element_bytes as u64);
    let written = problem.len.saturating_mul(problem.output_bytes as u64);
    // Whoever says that one is awake knows the operator.
    let least = tuning::awake_bytes(machine.cpu, problem.in_place, true, machine.apart);
    let two_awake = machine.awake && bytes >= least;
    let worth = (bytes / tuning::bytes_per_thread(machine.cpu, problem.in_place, false))
        .max(1 + u64::from(two_awake));
    let threads = machine.threads.min(usize::try_from(worth).unwrap_or(usize::MAX)).max(1);
    let past = match threads {
        2 if two_awake => tuning::awake_stream_bytes(machine.cpu),
        _ => tuning::stream_bytes(machine.cpu),
    };
    let stream = !problem.in_place && written >= past;
    let tile_bytes = (problem.order().tile() * problem.element_bytes.max(1)) as u64;
    let touched = bytes.saturating_add(if problem.in_place { 0 } else { written });
    let piece = if two_awake
        && threads == 2
        && !stream
        && touched <= tuning::middle_bytes(machine.cpu, problem.in_place)
    {
        // One that both are at.
        bytes.next_multiple_of(tile_bytes)
    } else if two_awake && touched <= threads as u64 * tuning::part_bytes(machine.cpu) {
        bytes.div_ceil(threads as u64).next_multiple_of(tile_bytes)
    } else if two_awake && !problem.in_place && !stream {
        // So that there are many. (Of 4 MiB floats gain 12 %, integers lose 1 to 2.)
        tuning::PIECE_BYTES
    } else {
        tuning::flat_piece_bytes(machine.cpu, problem.in_place, threads, machine.apart, bytes)
    };
    Plan { threads, tiles_per_piece: (piece / tile_bytes).max(1) as usize, stream }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.threads {
            1 => write!(f, "the calling thread")?,
            n => write!(f, "{n} threads, pieces of {} tiles", self.tiles_per_piece)?,
        }
        if self.stream { write!(f, ", stores past the caches") } else { Ok(()) }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use kogge_core::{Direction, Kind};

    /// So many elements of four bytes into another buffer.
    pub(crate) fn problem(len: u64) -> Problem {
        Problem {
            len,
            element_bytes: 4,
            output_bytes: 4,
            accumulator_bytes: 4,
            kind: Kind::Inclusive,
            direction: Direction::Forward,
            in_place: false,
        }
    }

    fn plan_of(cpu: Cpu, bytes: u64, in_place: bool, awake: bool) -> Plan {
        let problem = Problem { in_place, ..problem(bytes / 4) };
        plan(&problem, Machine { threads: 2, cpu, awake, apart: false })
    }

    #[test]
    fn a_mesh_has_two_threads_and_its_caches_for_longer() {
        let text = |cpu, mib: u64, in_place| plan_of(cpu, mib << 20, in_place, false).to_string();
        assert_eq!(text(Cpu::Common, 8, false), "the calling thread, stores past the caches");
        assert_eq!(text(Cpu::Mesh, 3, false), "the calling thread");
        assert_eq!(text(Cpu::Mesh, 4, false), "2 threads, pieces of 8 tiles");
        assert_eq!(text(Cpu::Mesh, 15, true), "the calling thread");
        assert_eq!(
            text(Cpu::Mesh, 16, false),
            "2 threads, pieces of 8 tiles, stores past the caches"
        );
        assert_eq!(text(Cpu::Common, 16, true), "2 threads, pieces of 4 tiles");
    }

    #[test]
    fn threads_that_are_apart_go_to_and_fro_less() {
        let text = |kib: u64, in_place| {
            let problem = Problem { in_place, ..problem((kib << 10) / 4) };
            plan(&problem, Machine { threads: 2, cpu: Cpu::Zen4, awake: true, apart: true })
                .to_string()
        };
        assert_eq!(text(256, false), "2 threads, pieces of 8 tiles", "all of them");
        assert_eq!(text(511, true), "the calling thread");
        assert_eq!(text(512, true), "2 threads, pieces of 16 tiles", "all of them");
        assert_eq!(text(21 << 10, true), "2 threads, pieces of 32 tiles");
        let past = "2 threads, pieces of 4 tiles, stores past the caches";
        assert_eq!(text(21 << 10, false), past);
    }

    #[test]
    fn a_thread_that_is_awake_has_a_part_or_pieces() {
        let on = |cpu, kib: u64, in_place| plan_of(cpu, kib << 10, in_place, true).to_string();
        let text = |kib: u64, in_place| on(Cpu::Mesh, kib, in_place);
        assert_eq!(text(255, false), "the calling thread");
        assert_eq!(text(256, false), "2 threads, pieces of 8 tiles", "all of them");
        assert_eq!(text(1024, false), "2 threads, pieces of 32 tiles", "all");
        assert_eq!(text(1025, false), "2 threads, pieces of 17 tiles");
        assert_eq!(text(511, true), "the calling thread");
        assert_eq!(text(512, true), "2 threads, pieces of 8 tiles");
        assert_eq!(text(1024, true), "2 threads, pieces of 16 tiles");
        assert_eq!(text(1500, false), "2 threads, pieces of 24 tiles", "two of them");
        assert_eq!(text(2048, false), "2 threads, pieces of 32 tiles");
        assert_eq!(text(2049, false), "2 threads, pieces of 4 tiles");
        assert_eq!(text(4096, true), "2 threads, pieces of 64 tiles");
        assert_eq!(text(4097, true), "2 threads, pieces of 8 tiles");
        let past = ", stores past the caches";
        assert_eq!(text(16 << 10, false), format!("2 threads, pieces of 8 tiles{past}"));
        let text = |kib: u64, in_place| on(Cpu::Zen4, kib, in_place);
        assert_eq!(text(255, false), "the calling thread");
        assert_eq!(text(256, false), "2 threads, pieces of 8 tiles", "all of them");
        assert_eq!(text(8 << 10, false), "2 threads, pieces of 256 tiles", "all");
        assert_eq!(text(10 << 10, false), format!("2 threads, pieces of 4 tiles{past}"));
        assert_eq!(text(255, true), "the calling thread");
        assert_eq!(text(256, true), "2 threads, pieces of 8 tiles", "all of them");
        assert_eq!(text(20 << 10, true), "2 threads, pieces of 640 tiles", "all");
        assert_eq!(text(21 << 10, true), "2 threads, pieces of 8 tiles");
        assert_eq!(text((128 << 10) - 1, true), "2 threads, pieces of 8 tiles");
        assert_eq!(text(128 << 10, true), "2 threads, pieces of 32 tiles", "apart or not");
        let machine = Machine { threads: 3, cpu: Cpu::Zen4, awake: true, apart: true };
        let by_three = plan(&Problem { in_place: true, ..problem(16 << 20) }, machine);
        assert_eq!(by_three.to_string(), "3 threads, pieces of 8 tiles");
    }

    #[test]
    fn two_threads_of_a_zen_3_that_are_awake_have_the_middle_of_what_lies_in_its_caches() {
        let text = |kib: u64, in_place| plan_of(Cpu::Zen3, kib << 10, in_place, true).to_string();
        let past = ", stores past the caches";
        for in_place in [false, true] {
            assert_eq!(text(511, in_place), "the calling thread");
            assert_eq!(text(512, in_place), "2 threads, pieces of 16 tiles", "all of them");
        }
        assert_eq!(text((8 << 10) - 1, false), "2 threads, pieces of 256 tiles", "all");
        assert_eq!(text(8 << 10, false), format!("2 threads, pieces of 4 tiles{past}"));
        assert_eq!(text(8 << 10, true), "2 threads, pieces of 256 tiles", "all");
        assert_eq!(text((8 << 10) + 1, true), "2 threads, pieces of 4 tiles");
        let rests = Machine { threads: 2, cpu: Cpu::Zen3, awake: false, apart: false };
        assert_eq!(plan(&problem(1 << 20), rests).threads, 1);
    }

    #[test]
    fn a_zen_5_goes_past_its_caches_later_and_by_longer_pieces() {
        let text = |kib: u64, in_place| plan_of(Cpu::Zen5, kib << 10, in_place, true).to_string();
        for in_place in [false, true] {
            assert_eq!(text(511, in_place), "the calling thread");
            assert_eq!(text(512, in_place), "2 threads, pieces of 16 tiles", "all of them");
        }
        assert_eq!(text((12 << 10) - 1, false), "2 threads, pieces of 384 tiles", "all");
        let past = ", stores past the caches";
        assert_eq!(text(12 << 10, false), format!("2 threads, pieces of 8 tiles{past}"));
        assert_eq!(text(20 << 10, true), "2 threads, pieces of 640 tiles", "all");
        assert_eq!(text((128 << 10) - 1, true), "2 threads, pieces of 8 tiles");
        assert_eq!(text(128 << 10, true), "2 threads, pieces of 16 tiles");
        assert_eq!(text(128 << 10, false), format!("2 threads, pieces of 16 tiles{past}"));
        let machine = Machine { threads: 2, cpu: Cpu::Zen5, awake: true, apart: true };
        let apart = |kib: u64| plan(&problem(kib << 8), machine).threads;
        assert_eq!([apart(1023), apart(1024)], [1, 2]);
    }
}
