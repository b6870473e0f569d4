//! Random scans against the scalar reference, bit for bit, for as long as you like: random lengths,
//! element types, operators, requests, plans, SIMD levels and thread pools.
//!
//! ```text
//! cargo run --release -p kogge-cpu --features soak --example soak -- [--minutes 10] [--seed 1]
//! ```
//!
//! Ends with status 0 and a summary when the time is up, or with the first difference. A case is
//! repeated by `--seed` with the number that is printed, which makes it the first.

#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../tests/common/mod.rs"]
mod common;

use common::{Case, Random, bracket};
use kogge_core::ops::{
    Affine, ArgMin, BitXor, Compose, Flagged, Indexed, LastValid, LogAddExp, MatMul, Matrix2, Max,
    Min, Product, Segmented, Sum,
};
use kogge_core::{Accumulate, Direction, Element, Kind, Operator, bf16, f16, from_fn};
use kogge_cpu::{Level, Plan, Request};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::fmt::Debug;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The longest input: some blocks of the widest elements, a dozen of `f32`.
const LONGEST: f64 = 3e6;

fn main() -> ExitCode {
    let (minutes, seed) = match arguments(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("{message}\nusage: soak [--minutes M] [--seed S]");
            return ExitCode::from(2);
        }
    };
    let pools: Vec<ThreadPool> = (1..=8)
        .map(|threads| ThreadPoolBuilder::new().num_threads(threads).build().expect("threads"))
        .collect();
    let names: Vec<_> = Level::available().into_iter().map(Level::name).collect();
    println!("levels: {}", names.join(", "));

    let (start, limit) = (Instant::now(), Duration::from_secs_f64(minutes * 60.0));
    let (mut cases, mut elements, mut reported) = (0u64, 0u64, start);
    while start.elapsed() < limit {
        let mut soak = Soak::new(seed.wrapping_add(cases));
        let pool = &pools[soak.random.next() as usize % pools.len()];
        pool.install(|| soak.case());
        cases += 1;
        elements += soak.len as u64;
        if reported.elapsed() >= Duration::from_secs(30) {
            reported = Instant::now();
            println!("{:.0?}: {cases} cases, {elements} elements", start.elapsed());
        }
    }
    println!("all as the reference: {cases} cases from seed {seed}, {elements} elements");
    ExitCode::SUCCESS
}

/// The minutes and the first seed.
fn arguments(mut arguments: impl Iterator<Item = String>) -> Result<(f64, u64), String> {
    let (mut minutes, mut seed) = (10.0, 1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        let bad = |_| format!("{name} can't be {value:?}");
        match name.as_str() {
            "--minutes" => minutes = value.parse::<f64>().map_err(|e| bad(e.to_string()))?,
            "--seed" => {
                seed = value.parse().map_err(|e: std::num::ParseIntError| bad(e.to_string()))?
            }
            _ => return Err(format!("unknown option {name}")),
        }
    }
    match minutes.is_finite() && minutes >= 0.0 {
        true => Ok((minutes, seed)),
        false => Err("--minutes must be a number from 0".into()),
    }
}

/// One case, all of it drawn from its seed.
struct Soak {
    seed: u64,
    random: Random,
    len: usize,
}

impl Soak {
    fn new(seed: u64) -> Self {
        // Seeds are consecutive; the generator's first step spreads them.
        let mut random = Random(seed);
        let mut random = Random(random.next());
        let unit = (random.next() >> 11) as f64 / (1u64 << 53) as f64;
        Self { seed, random, len: LONGEST.powf(unit) as usize - 1 }
    }

    /// A scan of a random type by a random operator.
    fn case(&mut self) {
        let wide = from_fn([0u64; 3], |x: [u64; 3], y: [u64; 3]| {
            std::array::from_fn(|i| bracket(x[i], y[(i + 1) % 3]))
        });
        let pair = from_fn([0u64; 2], |x: [u64; 2], y: [u64; 2]| {
            [bracket(x[0], y[1]), bracket(x[1], y[0])]
        });
        let word = from_fn(0u32, |x: u32, y: u32| bracket(x as u64, y as u64) as u32);
        let byte = from_fn(0u8, |x: u8, y: u8| bracket(x as u64, y as u64) as u8);
        let single = |random: &mut Random| random.float() as f32;
        match self.random.next() % 20 {
            0 => {
                self.scan::<u8, u8, u8, _>("3x + y", &byte, |r| r.next() as u8, |r| r.next() as u8)
            }
            1 => self.same("3x + y", &word, |r| r.next() as u32),
            2 => self.same("3x + y", &from_fn(0u64, bracket), Random::next),
            3 => self.same("3x + y", &pair, |r| [r.next(), r.next()]),
            4 => self.same("3x + y", &wide, |r| [r.next(), r.next(), r.next()]),
            5 => self.same("sum", &Sum, single),
            6 => self.same("sum", &Sum, Random::float),
            7 => self.same("sum", &Sum, |r| r.next() as i16),
            8 => self.scan::<f16, f32, f32, _>("sum", &Sum, single, |r| f16::from_f64(r.float())),
            9 => {
                self.scan::<bf16, bf16, f32, _>("sum", &Sum, single, |r| bf16::from_f64(r.float()))
            }
            10 => self.scan::<f32, f64, f64, _>("sum", &Sum, Random::float, single),
            11 => {
                self.scan::<i32, i64, i64, _>("sum", &Sum, |r| r.next() as i64, |r| r.next() as i32)
            }
            12 => self.same("product", &Product, |r| 1.0 + single(r) / 4096.0),
            13 => self.same(
                "minimum",
                &Min,
                |r| if r.next() % 99 == 0 { f32::NAN } else { single(r) },
            ),
            14 => self.same("maximum", &Max, |r| r.next() as i64),
            15 => self.same("xor", &BitXor, |r| r.next() as u16),
            16 => self.same("affine", &Compose, |r| Affine { a: single(r), b: single(r) }),
            17 => self.same("matrix", &MatMul, |r| Matrix2 {
                m00: r.next() as u32,
                m01: r.next() as u32,
                m10: r.next() as u32,
                m11: r.next() as u32,
            }),
            18 => self.same("segmented", &Segmented(LogAddExp), |r| {
                Flagged::new(single(r), r.next() % 500 == 0)
            }),
            _ => match self.random.next() % 2 {
                0 => self.same("argmin", &ArgMin, |r| Indexed::new(single(r), r.next() >> 32)),
                _ => self.same("last valid", &LastValid, |r| {
                    if r.next() % 3 == 0 { r.float() } else { f64::NAN }
                }),
            },
        }
    }

    fn same<A: Element<Accumulator = A> + Debug>(
        &mut self,
        name: &str,
        operator: &impl Operator<A>,
        mut make: impl FnMut(&mut Random) -> A,
    ) {
        let init = make(&mut self.random);
        self.scan::<A, A, A, _>(name, operator, |_| init, make);
    }

    fn scan<T, U, A, O>(
        &mut self,
        name: &str,
        operator: &O,
        mut init: impl FnMut(&mut Random) -> A,
        mut make: impl FnMut(&mut Random) -> T,
    ) where
        T: Accumulate<A> + Debug,
        U: Accumulate<A> + Debug,
        A: Element + Debug,
        O: Operator<A>,
    {
        let random = &mut self.random;
        let input: Vec<T> = (0..self.len).map(|_| make(random)).collect();
        let init = init(random);
        let levels = Level::available();
        let plan = Plan {
            threads: 1 + random.next() as usize % 9,
            tiles_per_piece: 1 + random.next() as usize % 40,
            stream: random.next().is_multiple_of(2),
        };
        let request = Request {
            operator,
            kind: [Kind::Inclusive, Kind::Exclusive][random.next() as usize % 2],
            direction: [Direction::Forward, Direction::Reverse][random.next() as usize % 3 / 2],
            init: [None, Some(init)][random.next() as usize % 2],
            level: levels[random.next() as usize % levels.len()],
            plan: [None, Some(plan), Some(plan)][random.next() as usize % 3],
        };
        let name = format!("{name} of {} (--seed {})", std::any::type_name::<T>(), self.seed);
        Case::<T, U, A>::new(&name, &input, &request).check(&request);
    }
}
