//! Faults of the kernels of single sequences.

use crate::common::Random;
use crate::common::faults::Trial;
use crate::common::shim::{BracketsI32, BracketsI64, Build, Case, Launch, OfTwins, Shim, Twins};
use kogge_core::ops::Max;
use kogge_core::{Accumulate, Element, Operator, Order};

const FLAT: Trial =
    Trial { faults: "faults", program: "main.cpp", specimen: "brackets_i64", run: trials };
const VALUES: Trial =
    Trial { faults: "faults/values", program: "values.cpp", specimen: "twins", run: values };

/// Scans of a few tiles by few blocks, and in plain builds by many; twice on each workspace at
/// least. Says what the first that is wrong did.
fn trials(build: Build, shim: &mut Shim) -> Result<(), String> {
    let mut random = Random(7);
    let bulk = Case { name: "brackets_i64", operator: BracketsI64, init: 41i64 };
    let old = Case { name: "brackets_i32_old", operator: BracketsI32, init: -9i32 };
    let turns = if build == Build::Sanitized { 2 } else { 6 };
    for turn in 0..turns {
        tries(build, turn, &bulk, shim, &mut random, |r| r.next() as i64)?;
        tries(build, turn, &old, shim, &mut random, |r| r.next() as i32)?;
    }
    Ok(())
}

/// The same of wide values, and of extremes among which there are NaNs.
fn values(build: Build, shim: &mut Shim) -> Result<(), String> {
    let mut random = Random(9);
    let wide = Case { name: "twins", operator: OfTwins, init: Twins { x: 1, y: 2 } };
    let plain = Case { name: "max_f32", operator: Max, init: 0.1f32 };
    let turns = if build == Build::Sanitized { 3 } else { 9 };
    for turn in 0..turns {
        tries(build, turn, &wide, shim, &mut random, |r| Twins {
            x: r.next() as i64,
            y: r.next() as i64,
        })?;
        // A NaN in one of a few tiles.
        tries(build, turn, &plain, shim, &mut random, |r| match r.below(30_000) {
            0 => f32::from_bits(0xffc0_0000 | r.below(1 << 22) as u32),
            _ => r.below(1 << 20) as f32,
        })?;
    }
    Ok(())
}

fn tries<A, O>(
    build: Build,
    turn: usize,
    case: &Case<'_, O, A>,
    shim: &mut Shim,
    random: &mut Random,
    make: impl Fn(&mut Random) -> A,
) -> Result<(), String>
where
    A: Element + Accumulate<A>,
    O: Operator<A>,
{
    let order = Order::of::<A>();
    let data =
        |len: usize, random: &mut Random| -> Vec<A> { (0..len).map(|_| make(random)).collect() };
    // More tiles than a ring has stages, with a part of one at the end.
    let tiles = 9 + random.below(6);
    let input = data(order.tile() * tiles - random.below(order.tile()), random);
    case.check::<A, A>(shim, random, Launch::Rounds(1 + turn as u32 % 3), &input)?;
    // Segments, the last one short; a few rows only, one chunk of which is short.
    let input = data(order.segment() * 4 - random.below(order.segment()), random);
    case.check::<A, A>(shim, random, Launch::Segments, &input)?;
    case.check::<A, A>(shim, random, Launch::Tiles, &input)?;
    let input = data(order.row() * 3 - 1 - random.below(order.chunk()), random);
    case.check::<A, A>(shim, random, Launch::Segments, &input)?;
    case.check::<A, A>(shim, random, Launch::Tiles, &input)?;
    // A cluster that cuts a tile, its last block short, and one of a block.
    let segments = 1 + turn as u32 % 2;
    for blocks in [10 + random.below(6), 1] {
        let most = order.segment() * segments as usize;
        let input = data(most * blocks - random.below(most), random);
        case.check::<A, A>(shim, random, Launch::Cluster(segments), &input)?;
    }
    // More tiles than copies of their totals, the last one short.
    let input = data(order.tile() * 6 - random.below(order.tile()), random);
    case.check::<A, A>(shim, random, Launch::Tiles, &input)?;
    if build == Build::Few && turn.is_multiple_of(3) {
        let input = data(order.tile() * 80 - 5, random);
        case.check::<A, A>(shim, random, Launch::Rounds(5 + 65 * (turn as u32 % 2)), &input)?;
    }
    Ok(())
}

#[test]
fn every_planted_fault_is_caught() {
    FLAT.catches_all(10);
}

#[test]
fn every_planted_fault_of_values_is_caught() {
    VALUES.catches_all(6);
}

#[test]
fn the_kernels_pass_the_trials() {
    FLAT.passes(Build::Few);
    VALUES.passes(Build::Few);
}

#[test]
fn the_kernels_pass_the_trials_under_thread_sanitizer() {
    FLAT.passes(Build::Sanitized);
    VALUES.passes(Build::Sanitized);
}
