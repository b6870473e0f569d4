//! Faults of the kernels of scans by segments.

use crate::common::Random;
use crate::common::disorder;
use crate::common::faults::Trial;
use crate::common::segmented::{Case, Numbered};
use crate::common::segments::lengths;
use crate::common::shim::{BracketsI32, BracketsI64, Build, Shim};
use kogge_core::Order;

const SEGMENTS: Trial = Trial {
    faults: "faults/segments",
    program: "segmented.cpp",
    specimen: "brackets_i64",
    run: trials,
};

/// Segments of all kinds in a few windows, in lists that hold all of a window's chunks and in lists
/// that don't; in plain builds also a segment of more than a block of tiles.
fn trials(build: Build, shim: &mut Shim) -> Result<(), String> {
    let mut random = Random(11);
    let inits = [41i64, -3, 1 << 35];
    let case = |name, offset_bytes| Case { name, operator: BracketsI64, offset_bytes, inits };
    let (parts, whole) = (case("brackets_i64", 0), case("brackets_i64_offsets", 4));
    let order = Order::of::<i64>();
    let turns = if build == Build::Sanitized { 6 } else { 16 };
    for turn in 0..turns {
        for case in [&parts, &whole] {
            let n = order.segment() * (1 + random.below(12)) + random.below(order.segment());
            let lengths = match turn % 4 {
                0 => vec![random.below(order.row()), n],
                _ => lengths(&mut random, order, n),
            };
            let n = lengths.iter().sum();
            let input: Vec<i64> = (0..n).map(|_| random.next() as i64).collect();
            case.check::<i64, i64>(shim, &mut random, &lengths, &input)?;
        }
    }
    // In what is noted of these, threads race for places: any of what they write will do.
    for _ in 0..if build == Build::Sanitized { 0 } else { turns } {
        let sizes = [8, 8, 4];
        disorder::scan(shim, &mut random, "brackets_i64_offsets", sizes, order.tile() * 2, true)?;
    }
    for turn in 0..turns {
        long_runs(shim, &mut random, turn % 2 == 0)?;
    }
    if build == Build::Few {
        let lengths = [random.below(order.tile()), order.block() + order.tile() * 3, 5];
        let input: Vec<i64> = (0..lengths.iter().sum()).map(|_| random.next() as i64).collect();
        parts.check::<i64, i64>(shim, &mut random, &lengths, &input)?;
        // A long one whose chunks lie in two cells each; without totals it is scanned row by row.
        for case in [&parts, &whole, &parts, &whole] {
            let lengths = [random.below(order.row()) | 1, order.tile() * 2];
            let input: Vec<i64> = (0..lengths.iter().sum()).map(|_| random.next() as i64).collect();
            case.check_numbered::<i64, i64>(shim, &mut random, &lengths, &input, Numbered::Inits)?;
        }
        // More than a block that marks by offsets looks at in one turn.
        let lengths: Vec<usize> = (0..5000).map(|_| random.below(2)).collect();
        let input: Vec<i64> = (0..lengths.iter().sum()).map(|_| random.next() as i64).collect();
        whole.check::<i64, i64>(shim, &mut random, &lengths, &input)?;
    }
    Ok(())
}

/// Segments that go in rounds, among short ones, by elements or by offsets.
fn long_runs(shim: &mut Shim, random: &mut Random, by_element: bool) -> Result<(), String> {
    let order = if by_element { Order::of::<i64>() } else { Order::of::<i32>() };
    let mut lengths = vec![random.below(order.row()), order.tile() + random.below(order.segment())];
    lengths.extend((0..random.below(6)).map(|_| random.below(order.row())));
    lengths.push(order.segment() * (1 + random.below(9)) + random.below(order.chunk() * 3));
    let n = lengths.iter().sum();
    let input: Vec<i64> = (0..n).map(|_| random.next() as i64).collect();
    if by_element {
        let inits = [41i64, -3, 1 << 35];
        let case = Case { name: "rounds_i64", operator: BracketsI64, offset_bytes: 0, inits };
        return case.check::<i64, i64>(shim, random, &lengths, &input);
    }
    let input: Vec<i32> = input.into_iter().map(|x| x as i32).collect();
    let inits = [41i32, -3, 1 << 25];
    let case = Case { name: "rounds_i32", operator: BracketsI32, offset_bytes: 4, inits };
    case.check::<i32, i32>(shim, random, &lengths, &input)
}

#[test]
fn every_planted_fault_is_caught() {
    SEGMENTS.catches_all(31);
}

#[test]
fn the_kernels_pass_the_trials() {
    SEGMENTS.passes(Build::Few);
}

#[test]
fn the_kernels_pass_the_trials_under_thread_sanitizer() {
    SEGMENTS.passes(Build::Sanitized);
}
