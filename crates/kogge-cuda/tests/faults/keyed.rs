//! Faults of the kernels of segments by keys in one launch.

use crate::common::Random;
use crate::common::faults::Trial;
use crate::common::segmented::{Case, Numbered};
use crate::common::segments::{Source, lengths};
use crate::common::shim::{BracketsI32, BracketsI64, Build, Shim};
use kogge_core::Order;

const KEYED: Trial =
    Trial { faults: "faults/keyed", program: "keyed.cpp", specimen: "brackets_i32", run: trials };

/// Segments of all kinds in a few windows; in plain builds also of more windows than a warp looks
/// back to at once.
fn trials(build: Build, shim: &mut Shim) -> Result<(), String> {
    let mut random = Random(41);
    let (narrow, wide) = (Order::of::<i32>(), Order::of::<i64>());
    let numbers = Case {
        name: "brackets_i32",
        operator: BracketsI32,
        offset_bytes: 0,
        inits: [41i32, -3, 1 << 25],
    };
    let long = Case {
        name: "brackets_i64",
        operator: BracketsI64,
        offset_bytes: 0,
        inits: [41i64, -3, 1 << 35],
    };
    let (numbered, source) = (Numbered::Neither, Source::Keys32);
    let turns = if build == Build::Sanitized { 4 } else { 16 };
    for turn in 0..turns {
        let n = random.below(narrow.tile() * 3);
        let parts = match turn % 4 {
            0 => vec![1 + random.below(narrow.row()), narrow.tile() + n],
            _ => lengths(&mut random, narrow, n),
        };
        let input: Vec<i32> = (0..parts.iter().sum()).map(|_| random.next() as i32).collect();
        numbers.check_by::<i32, i32>(shim, &mut random, &parts, &input, numbered, source)?;
        let n = random.below(wide.tile() * 2);
        let parts = match turn % 3 {
            0 => lengths(&mut random, wide, n),
            1 => vec![1 + n / 2; 3],
            // A window of many segments, of which the last is long.
            _ => (0..200 + random.below(400))
                .map(|_| 1 + random.below(9))
                .chain([wide.tile() / 2])
                .collect(),
        };
        let input: Vec<i64> = (0..parts.iter().sum()).map(|_| random.next() as i64).collect();
        long.check_by::<i64, i64>(shim, &mut random, &parts, &input, numbered, source)?;
    }
    if build == Build::Few {
        for _ in 0..3 {
            let parts = [1 + random.below(wide.row()), 77, wide.block() + random.below(500), 9];
            let input: Vec<i64> = (0..parts.iter().sum()).map(|_| random.next() as i64).collect();
            long.check_by::<i64, i64>(shim, &mut random, &parts, &input, numbered, source)?;
        }
        // A run for every window, which starts halfway: each looks back to the one before, and has
        // to wait for it, or another run's start is found.
        let window = 16 * wide.row();
        for windows in 3..9 {
            let parts = [vec![window / 2], vec![window; windows]].concat();
            let input: Vec<i64> = (0..parts.iter().sum()).map(|_| random.next() as i64).collect();
            long.check_by::<i64, i64>(shim, &mut random, &parts, &input, numbered, source)?;
        }
    }
    Ok(())
}

#[test]
fn every_planted_fault_is_caught() {
    KEYED.catches_all(7);
}

#[test]
fn the_kernels_pass_the_trials() {
    KEYED.passes(Build::Few);
}

#[test]
fn the_kernels_pass_the_trials_under_thread_sanitizer() {
    KEYED.passes(Build::Sanitized);
}
