//! Faults of the kernels of segments under exact operators.

use crate::common::Random;
use crate::common::faults::Trial;
use crate::common::segmented::{Case, Numbered};
use crate::common::segments::{Source, lengths};
use crate::common::shim::{Build, PackedU32, Shim};
use kogge_core::Order;
use kogge_core::ops::{Affine, Compose};

const EXACT: Trial =
    Trial { faults: "faults/exact", program: "exact.cpp", specimen: "packed_u32", run: trials };

/// Segments of all kinds in up to a dozen tiles; in plain builds also in more than a block of the
/// order has.
fn trials(build: Build, shim: &mut Shim) -> Result<(), String> {
    let mut random = Random(19);
    let turns = if build == Build::Sanitized { 6 } else { 24 };
    for turn in 0..turns {
        let source = [Source::Offsets32, Source::Offsets64][turn % 2];
        let numbered = Numbered::Neither;
        let order = Order::of::<u32>();
        let n = match turn {
            0 if build == Build::Few => order.block() + order.tile() * 2,
            _ => random.below(order.tile() * 12),
        };
        // A race detector has a limit of threads: each of two specimens has every other turn, but
        // more tiles.
        let few = build != Build::Sanitized;
        let (maps, keyed) = (few || turn % 2 == 0, few || turn % 2 == 1);
        let inits = [7, 0x1_0003, 1];
        let mut check = |random: &mut Random, name, source, n| {
            let parts = lengths(random, order, n);
            let input: Vec<u32> = (0..n).map(|_| random.next() as u32 | 1).collect();
            let case = Case { name, operator: PackedU32, offset_bytes: 0, inits };
            case.check_by::<u32, u32>(shim, random, &parts, &input, numbered, source)
        };
        let many = if few { n } else { n + order.tile() * 12 };
        check(&mut random, "packed_u32", source, many)?;
        if keyed {
            check(&mut random, "keyed_u32", Source::Keys32, many)?;
        }
        if !maps {
            continue;
        }
        let order = Order::of::<Affine<i32>>();
        let parts = lengths(&mut random, order, n / 2);
        let map = |a, b| Affine { a, b };
        let inits = [map(3, 4), map(-1, 1 << 30), map(1, 0)];
        let case = Case { name: "compose_i32", operator: Compose, offset_bytes: 0, inits };
        let maps = |_| map(random.next() as i32 | 1, random.next() as i32);
        let input: Vec<Affine<i32>> = (0..n / 2).map(maps).collect();
        case.check_by::<_, Affine<i32>>(shim, &mut random, &parts, &input, numbered, source)?;
    }
    Ok(())
}

#[test]
fn every_planted_fault_is_caught() {
    EXACT.catches_all(21);
}

#[test]
fn the_kernels_pass_the_trials() {
    EXACT.passes(Build::Few);
}

#[test]
fn the_kernels_pass_the_trials_under_thread_sanitizer() {
    EXACT.passes(Build::Sanitized);
}
