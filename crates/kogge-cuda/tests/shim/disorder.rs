//! Offsets that aren't in order, which nobody checks: what is written is anything, but within the output and the totals,
//! and the scan ends.

use crate::common::Random;
use crate::common::depth::thorough;
use crate::common::shim::{Shim, skipped};
use crate::programs::Program;
use kogge_core::bytemuck;

/// Offsets of a sequence of so many elements, wrong in some way.
fn offsets(random: &mut Random, len: usize, segments: usize) -> Vec<u64> {
    let mut rising: Vec<u64> = (0..=segments).map(|_| random.below(len + 1) as u64).collect();
    rising.sort_unstable();
    match random.below(8) {
        // Anything, and anything within the sequence.
        0 => (0..=segments).map(|_| random.next()).collect(),
        1 => (0..=segments).map(|_| random.below(len + 1) as u64).collect(),
        // The first isn't 0, nor the last the length.
        2 => rising,
        3 => rising.into_iter().map(|offset| offset * 3).collect(),
        4 => rising.into_iter().rev().collect(),
        5 => vec![random.below(len + 2) as u64; segments + 1],
        // In order, but for a few.
        6 => {
            (rising[0], rising[segments]) = (0, len as u64);
            for _ in 0..1 + random.below(3) {
                rising[random.below(segments + 1)] = random.below(2 * len + 1) as u64;
            }
            rising
        }
        _ => {
            (rising[0], rising[segments]) = (0, len as u64);
            let [i, j] = [0; 2].map(|_| random.below(segments + 1));
            rising.swap(i, j);
            rising
        }
    }
}

/// Scans of sequences of up to so many elements, of these bytes each as elements and accumulators, by such offsets.
fn scan(
    program: Program,
    name: &str,
    [element, accumulator, offset]: [usize; 3],
    most: usize,
    numbered: bool,
) {
    if skipped() {
        return;
    }
    let (mut random, mut shim) = (Random(5), Shim::start(program.path()));
    for _ in 0..if thorough() { 600 } else { 60 } {
        let len = 1 + random.below(most);
        let most_segments = [2, 40, len / 50 + 2, len + 2][random.below(4)];
        let segments = 1 + random.below(most_segments);
        let offsets = offsets(&mut random, len, segments);
        let bytes = match offset {
            4 => bytemuck::cast_slice(&offsets.iter().map(|&x| x as u32).collect::<Vec<_>>())
                .to_vec(),
            _ => bytemuck::cast_slice(&offsets).to_vec(),
        };
        let inits = if numbered { [0, 1, 3][random.below(3)] } else { random.below(2) };
        let totals = usize::from(numbered && random.below(2) == 0);
        let header = format!(
            "{name} {} {} {} {len} {segments} {inits} {totals} {} 0 0 0 {}",
            [0, 3][random.below(2)],
            offset / 8,
            random.below(1 << 30),
            random.below(2),
            bytes.len(),
        );
        let init = vec![1u8; accumulator * if inits == 3 { segments } else { 1 }];
        let input = vec![1u8; len * element];
        let answer = len * accumulator + totals * segments * accumulator;
        shim.run(&header, &[&init, &bytes, &input], answer).unwrap();
    }
}

#[test]
fn by_windows_of_i64() {
    scan(Program::Segments, "brackets_i64_offsets", [8, 8, 8], 40_000, true);
}

#[test]
fn by_narrow_windows() {
    scan(Program::Segments, "brackets_i32_narrow", [4, 4, 4], 30_000, true);
}

#[test]
fn by_windows_and_rounds() {
    scan(Program::Segments, "rounds_i32", [4, 4, 4], 100_000, true);
}

#[test]
fn by_stretches_along_offsets() {
    scan(Program::Stretches, "brackets_i32", [4, 4, 8], 100_000, false);
}

#[test]
fn by_stretches_and_a_mask() {
    scan(Program::Stretches, "brackets_i32", [4, 4, 4], 100_000, false);
}

#[test]
fn by_stretches_of_i64() {
    scan(Program::Stretches, "brackets_i64", [8, 8, 4], 50_000, false);
}

#[test]
fn under_an_exact_operator() {
    for offset in [4, 8] {
        scan(Program::Exact, "packed_u32", [4, 4, offset], 60_000, false);
    }
}
