//! Timing of anything that can say how long a call took, in turn, round after round.

use crate::contender::Role;
use crate::measure::{AWAKE, Budget, CACHED, CALLS_BEFORE, Series, quantile};
use crate::rest::Turns;
use std::io;
use std::time::{Duration, Instant};

/// A timed stretch is at least this long where calls are repeated, so that the clock doesn't count.
const STRETCH_NS: f64 = 100_000.0;
/// Contenders this many times slower than kogge sit out three rounds in four.
const SLOW: f64 = 8.0;

/// A contender, wherever it runs.
pub(super) trait Entry {
    /// The name in records and tables.
    fn name(&self) -> &str;
    /// What it is there for.
    fn role(&self) -> Role;
    /// Threads that it may use; 1 on a GPU.
    fn threads(&self) -> usize;
    /// Whether short calls are repeated in a stretch; not where the caches are emptied before each.
    fn repeats(&self) -> bool;
    /// Does `calls` calls and gives the nanoseconds they took together.
    fn run(&mut self, calls: u32) -> io::Result<f64>;
}

/// Times contenders round after round.
pub(super) fn in_turn(
    entries: &mut [Box<dyn Entry + '_>],
    budget: Budget,
) -> io::Result<Vec<Series>> {
    let mut calls = Vec::new();
    let mut once = Vec::new();
    for one in entries.iter_mut() {
        let (n, ns) = enough(one.as_mut())?;
        calls.push(n);
        once.push(ns);
    }
    let kogge = entries.iter().position(|one| one.role() == Role::Kogge);
    let slow = kogge.map_or(f64::MAX, |kogge| SLOW * once[kogge]);
    let mut times = vec![Vec::new(); entries.len()];
    let mut turns = Turns::default();
    let start = Instant::now();
    for round in 0..budget.most {
        if round >= budget.least && start.elapsed() >= budget.total {
            break;
        }
        for (i, one) in entries.iter_mut().enumerate() {
            if once[i] > slow && round % 4 != 0 {
                continue;
            }
            if one.repeats() {
                turns.begin();
                if once[i] < CACHED.as_nanos() as f64 {
                    wake(one.as_mut())?;
                }
            }
            times[i].push(one.run(calls[i])? / f64::from(calls[i]));
        }
    }
    turns.tell();
    Ok(entries
        .iter()
        .zip(times)
        .zip(calls)
        .map(|((one, t), n)| series(one.as_ref(), t, n))
        .collect())
}

/// Calls one some times before it is timed: what fits in the caches is measured there, not where
/// the one before left it, and its threads are awake.
fn wake(one: &mut (dyn Entry + '_)) -> io::Result<()> {
    let begin = Instant::now();
    one.run(CALLS_BEFORE)?;
    while begin.elapsed() < AWAKE {
        one.run(CALLS_BEFORE)?;
    }
    Ok(())
}

/// Calls that fill a stretch, and the nanoseconds of one.
fn enough(one: &mut (dyn Entry + '_)) -> io::Result<(u32, f64)> {
    let mut calls = 1_u32;
    if one.repeats() {
        one.run(1)?;
    }
    loop {
        let took = one.run(calls)?.max(1.0);
        let each = took / f64::from(calls);
        if !one.repeats() || took >= STRETCH_NS || calls >= 100_000 {
            return Ok((calls, each));
        }
        let wanted = (STRETCH_NS / each).ceil() as u32;
        calls = wanted.clamp(2 * calls, 10 * calls).min(100_000);
    }
}

fn series(one: &dyn Entry, mut times: Vec<f64>, calls: u32) -> Series {
    times.sort_by(f64::total_cmp);
    Series {
        name: one.name().to_owned(),
        role: one.role(),
        threads: one.threads(),
        runs: times.len(),
        calls_per_run: calls,
        median_ns: quantile(&times, 0.5),
        min_ns: times[0],
        p25_ns: quantile(&times, 0.25),
        p75_ns: quantile(&times, 0.75),
        scratch_bytes: None,
    }
}

/// The nanoseconds of `calls` calls by the clock.
pub(super) fn clocked(calls: u32, mut call: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        call();
    }
    nanoseconds(start.elapsed())
}

fn nanoseconds(time: Duration) -> f64 {
    time.as_nanos() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(Role, f64, u32);

    impl Entry for Fixed {
        fn name(&self) -> &str {
            "fixed"
        }
        fn role(&self) -> Role {
            self.0
        }
        fn threads(&self) -> usize {
            1
        }
        fn repeats(&self) -> bool {
            true
        }
        fn run(&mut self, calls: u32) -> io::Result<f64> {
            self.2 += calls;
            Ok(self.1 * f64::from(calls))
        }
    }

    #[test]
    fn short_calls_are_repeated_and_slow_ones_sit_out() {
        let fixed = |role, ns| Box::new(Fixed(role, ns, 0)) as Box<dyn Entry>;
        let mut entries =
            [fixed(Role::Kogge, 10.0), fixed(Role::Peer, 1e6), fixed(Role::Peer, 70.0)];
        let budget = Budget { total: Duration::ZERO, least: 8, most: 8 };
        let series = in_turn(&mut entries, budget).unwrap();
        let runs: Vec<_> = series.iter().map(|s| (s.runs, s.median_ns)).collect();
        assert_eq!(runs, [(8, 10.0), (2, 1e6), (8, 70.0)]);
        assert!(series[0].calls_per_run >= 10_000 && series[1].calls_per_run == 1);
    }
}
