//! Faults of the kernels of columns.

use crate::common::Random;
use crate::common::columns::Case;
use crate::common::columns::Kernel::{self, Clusters, Lanes, Rounds, Teams, Vectors};
use crate::common::faults::Trial;
use crate::common::shim::{BracketsI32, BracketsI64, Build, Shim};
use kogge_core::{Accumulate, Element, Operator, Order};

const COLUMNS: Trial = Trial {
    faults: "faults/columns",
    program: "columns.cpp",
    specimen: "brackets_i64",
    run: trials,
};

/// A few lines, whole and cut, of a few chunks and of several tiles; twice on each workspace at
/// least. Says what the first that is wrong did.
fn trials(build: Build, shim: &mut Shim) -> Result<(), String> {
    let mut random = Random(11);
    let wide = Case { name: "brackets_i64", operator: BracketsI64, columns: 16, cluster: 2 };
    let deep = Case { name: "brackets_i32_deep", operator: BracketsI32, columns: 2, cluster: 4 };
    let turns = if build == Build::Sanitized { 3 } else { 5 };
    for turn in 0..turns {
        tries(turn, &wide, shim, &mut random, |r| r.next() as i64)?;
        tries(turn, &deep, shim, &mut random, |r| r.next() as i32)?;
    }
    Ok(())
}

fn tries<A, O>(
    turn: usize,
    case: &Case<'_, O>,
    shim: &mut Shim,
    random: &mut Random,
    make: impl Fn(&mut Random) -> A,
) -> Result<(), String>
where
    A: Element + Accumulate<A>,
    O: Operator<A>,
{
    let order = Order::of::<A>();
    let mut check = |len: usize, lines: usize, kernel: Kernel| {
        case.check::<A, A, A>(shim, random, kernel, len, lines, &make, &make)
    };
    // Every stage more than once, and the end of a line within a row.
    check(order.segment() * 9 - 5 - turn, 20, Rounds(1 + turn as u32 % 3))?;
    check(order.tile() * 3 - turn, 2, Rounds(1 + turn as u32 % 4))?;
    check(order.row() * 70 - turn, 40, Teams(1 + turn as u32 % 4))?;
    // Strips that know nothing of each other, each with blocks of its own.
    for _ in 0..3 {
        check(order.row() * 20 - turn, 40, Rounds(3))?;
        check(order.row() * 20 - turn, 20, Teams(4))?;
    }
    check(order.row() * 70 - turn, 40, Clusters(1 + turn as u32 % 3))?;
    check(order.row() * 2 - 1, 40, Lanes)?;
    check(order.tile() * 2 + 7, 2, Lanes)?;
    check(16 - turn, 300, Vectors)?;
    check(2 + turn % 3, 40, Vectors)?;
    // So many strips that some are drawn.
    check(2 * order.chunk() - turn % 2, 1000, Lanes)?;
    check(order.row() * 2 - turn, 500, Teams(1 + turn as u32 % 2))?;
    Ok(())
}

#[test]
fn every_planted_fault_is_caught() {
    COLUMNS.catches_all(30);
}

#[test]
fn the_kernels_pass_the_trials() {
    COLUMNS.passes(Build::Few);
}

#[test]
fn the_kernels_pass_the_trials_under_thread_sanitizer() {
    COLUMNS.passes(Build::Sanitized);
}
