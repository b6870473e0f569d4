//! Faults of the kernels of segments in stretches.

use crate::common::Random;
use crate::common::faults::Trial;
use crate::common::segmented::{Case, Numbered};
use crate::common::segments::lengths;
use crate::common::shim::{BracketsI32, Build, Shim};
use kogge_core::Order;

const STRETCHES: Trial = Trial {
    faults: "faults/stretches",
    program: "stretches.cpp",
    specimen: "brackets_i32",
    run: trials,
};

/// Segments of all kinds, in stretches enough for several warps.
fn trials(build: Build, shim: &mut Shim) -> Result<(), String> {
    let mut random = Random(37);
    let order = Order::of::<i32>();
    let inits = [41i32, -3, 1 << 25];
    // A race detector has room for some thousand threads, of which one finds where four segments
    // start.
    let (turns, most) = if build == Build::Sanitized { (8, 1) } else { (40, 8) };
    for turn in 0..turns {
        // Now and then so many that warps draw more than they are given.
        let most = if turn % 8 == 7 { 4 * most } else { most };
        let n = random.below(order.tile() * most);
        let parts = match turn % 4 {
            // Blocks whose first windows have no head, and later ones many.
            0 => {
                let (tile, segment) = (order.tile(), order.segment());
                let long = [random.below(order.row()), tile, segment + 1, tile + 1];
                long.into_iter().chain([order.row() / 3; 40]).collect()
            }
            1 => (0..n / 64).map(|_| order.chunk() * (1 + random.below(30))).collect(),
            _ => lengths(&mut random, order, n),
        };
        let input: Vec<i32> = (0..parts.iter().sum()).map(|_| random.next() as i32).collect();
        let (numbered, offset_bytes) = (Numbered::Plain, [8, 0][random.below(2)]);
        let case = Case { name: "brackets_i32", operator: BracketsI32, offset_bytes, inits };
        case.check_numbered::<i32, i32>(shim, &mut random, &parts, &input, numbered)?;
    }
    // Some that leave no head in three windows of the mask, the last of which isn't whole.
    let (window, few) = (order.tile() / 4, if build == Build::Sanitized { 2 } else { 16 });
    for turn in 0..few {
        let before = (1 + turn % 3) * window - 1;
        let parts = [before, 2 * window + 1 + random.below(window - 1)];
        let input: Vec<i32> = (0..parts.iter().sum()).map(|_| random.next() as i32).collect();
        let case = Case { name: "brackets_i32", operator: BracketsI32, offset_bytes: 8, inits };
        case.check_numbered::<i32, i32>(shim, &mut random, &parts, &input, Numbered::Plain)?;
    }
    Ok(())
}

#[test]
fn every_planted_fault_is_caught() {
    STRETCHES.catches_all(33);
}

#[test]
fn the_kernels_pass_the_trials() {
    STRETCHES.passes(Build::Few);
}

#[test]
fn the_kernels_pass_the_trials_under_thread_sanitizer() {
    STRETCHES.passes(Build::Sanitized);
}
