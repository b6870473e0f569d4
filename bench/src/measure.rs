//! Timing: all contenders in turn, round after round, so that a slow minute of the machine falls on
//! all of them alike.

use crate::contender::{Contender, Role, Run};
use crate::rest::Turns;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// How long and how often.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Time for all rounds of one comparison.
    pub total: Duration,
    /// Rounds at least, whatever they take.
    pub least: usize,
    /// Rounds at most.
    pub most: usize,
}

/// A timed stretch is at least this long, so that the clock doesn't count.
const STRETCH: Duration = Duration::from_micros(40);
/// Who is done sooner may find all in cache, and is called before it is timed: what fits in the
/// caches is measured there, not where the one before left it.
pub(crate) const CACHED: Duration = Duration::from_millis(1);
/// So many calls. (Behind copies past the caches, a loop over 16 MiB has 15, 23 and 27 GB/s after
/// 1, 2 and 4 calls on an Intel Xeon, whose L3 takes what L2 drops only once it has been used
/// again, and no more after 8.)
pub(crate) const CALLS_BEFORE: u32 = 4;
/// And for so long at least: threads that rested take a while to wake.
pub(crate) const AWAKE: Duration = Duration::from_micros(500);
/// Contenders this many times slower than kogge sit out three rounds in four.
const SLOW: u32 = 8;

/// The times of one contender.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Series {
    /// The contender.
    pub name: String,
    /// What it is there for.
    pub role: Role,
    /// Threads that it may use.
    pub threads: usize,
    /// Timed stretches.
    pub runs: usize,
    /// Calls in a stretch.
    pub calls_per_run: u32,
    /// The median time of a call.
    pub median_ns: f64,
    /// The shortest.
    pub min_ns: f64,
    /// A quarter of the runs were faster.
    pub p25_ns: f64,
    /// A quarter of the runs were slower.
    pub p75_ns: f64,
    /// The most memory that a call held beyond its buffers, where that was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scratch_bytes: Option<usize>,
}

/// Times contenders on buffers that have been touched. `scratch` are the bytes that each was seen
/// to allocate.
pub fn interleaved<T>(
    contenders: &[Contender<'_, T>],
    input: &[T],
    output: &mut [T],
    scratch: &[usize],
    budget: Budget,
) -> Vec<Series> {
    let once: Vec<_> = contenders.iter().map(|one| stretch(one, input, output, 2) / 2).collect();
    let calls: Vec<u32> = once
        .iter()
        .map(|&once| (STRETCH.as_nanos() / once.as_nanos().max(1)).clamp(1, 100_000) as u32)
        .collect();
    let kogge = contenders.iter().position(|one| one.role == Role::Kogge);
    let slow = kogge.map_or(Duration::MAX, |kogge| once[kogge] * SLOW);
    let mut times = vec![Vec::new(); contenders.len()];
    let mut turns = Turns::default();
    let start = Instant::now();
    for round in 0..budget.most {
        if round >= budget.least && start.elapsed() >= budget.total {
            break;
        }
        for (i, one) in contenders.iter().enumerate() {
            if once[i] > slow && round % 4 != 0 {
                continue;
            }
            turns.begin();
            if once[i] < CACHED {
                let begin = Instant::now();
                stretch(one, input, output, CALLS_BEFORE);
                while begin.elapsed() < AWAKE {
                    stretch(one, input, output, CALLS_BEFORE);
                }
            }
            let time = stretch(one, input, output, calls[i]);
            times[i].push(time.as_nanos() as f64 / f64::from(calls[i]));
        }
    }
    turns.tell();
    let all = contenders.iter().zip(times).zip(calls).zip(scratch);
    all.map(|(((one, times), calls), &scratch)| series(one, times, calls, scratch)).collect()
}

fn stretch<T>(one: &Contender<'_, T>, input: &[T], output: &mut [T], calls: u32) -> Duration {
    let start = Instant::now();
    for _ in 0..calls {
        match &one.run {
            Run::Into(run) => run(black_box(input), black_box(output)),
            Run::InPlace(run) => run(black_box(output)),
        }
    }
    start.elapsed()
}

fn series<T>(one: &Contender<'_, T>, mut times: Vec<f64>, calls: u32, scratch: usize) -> Series {
    times.sort_by(f64::total_cmp);
    Series {
        name: one.name.clone(),
        role: one.role,
        threads: one.threads,
        runs: times.len(),
        calls_per_run: calls,
        median_ns: quantile(&times, 0.5),
        min_ns: times[0],
        p25_ns: quantile(&times, 0.25),
        p75_ns: quantile(&times, 0.75),
        scratch_bytes: Some(scratch),
    }
}

/// A quantile of sorted times, interpolated between neighbours.
pub(crate) fn quantile(sorted: &[f64], q: f64) -> f64 {
    let place = q * (sorted.len() - 1) as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    low + (high - low) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.5), 2.0);
        assert_eq!(quantile(&[1.0, 2.0, 4.0, 8.0], 0.5), 3.0);
        assert_eq!(quantile(&[1.0, 2.0], 0.25), 1.25);
        assert_eq!(quantile(&[7.0], 0.75), 7.0);
    }
}
