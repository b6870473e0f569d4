//! Faults of the kernels of lines.

use crate::common::Random;
use crate::common::faults::Trial;
use crate::common::lines::{Layout, Way, batch, check};
use crate::common::shim::{BracketsI32, BracketsI64, Build, Shim};
use kogge_core::{Accumulate, Element, Operator, Order};

const LINES: Trial =
    Trial { faults: "faults/lines", program: "lines.cpp", specimen: "brackets_i64", run: trials };

/// A few batches of short lines and of teams' lines, and lines in rounds. Says what the first that
/// is wrong did.
fn trials(build: Build, shim: &mut Shim) -> Result<(), String> {
    let mut random = Random(13);
    let turns = if build == Build::Sanitized { 2 } else { 6 };
    for turn in 0..turns {
        tries("brackets_i64", BracketsI64, turn, shim, &mut random, |r| r.next() as i64)?;
        tries("brackets_i32_old", BracketsI32, turn, shim, &mut random, |r| r.next() as i32)?;
    }
    Ok(())
}

fn tries<A, O>(
    name: &str,
    operator: O,
    turn: usize,
    shim: &mut Shim,
    random: &mut Random,
    make: impl Fn(&mut Random) -> A,
) -> Result<(), String>
where
    A: Element + Accumulate<A>,
    O: Operator<A>,
{
    let order = Order::of::<A>();
    let data: Vec<A> = (0..order.tile() * 24).map(|_| make(random)).collect();
    let inits: Vec<A> = (0..1024).map(|_| make(random)).collect();
    let mut scan = |len: usize, lines: usize, way: Way| {
        let layout = Layout::random::<A>(random, len, lines);
        check::<A, A, A, O>(name, &operator, shim, random, way, &layout, &data, &inits)
    };
    // More batches than the ring has stages: lines side by side, lines of rows, lines of teams.
    let blocks = 1 + turn as u32 % 2;
    for len in [order.chunk() * 3 + turn % 2, order.row() * 3 - turn % 3 * 4] {
        scan(len, (batch(order, len) * 9).min(1000), Way::Lots(blocks))?;
    }
    for len in [order.segment() * 3 - turn % 2, order.segment() * 2 + 8] {
        scan(len, batch(order, len) * 8 - 1, Way::Lots(blocks))?;
    }
    for len in [order.chunk() * 5 + turn % 2, order.row() * 2 + turn] {
        scan(len, batch(order, len) / 2 + turn, Way::Rows(1 + turn as u32))?;
    }
    scan(order.tile() * 2 + turn % 2, 5, Way::Rounds(3))?;
    scan(order.tile() + order.segment() * (turn % 3) + 1, 8, Way::Rounds(1 + turn as u32))
}

#[test]
fn every_planted_fault_is_caught() {
    LINES.catches_all(28);
}

#[test]
fn the_kernels_pass_the_trials() {
    LINES.passes(Build::Few);
}

#[test]
fn the_kernels_pass_the_trials_under_thread_sanitizer() {
    LINES.passes(Build::Sanitized);
}
