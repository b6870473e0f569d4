//! Offsets that aren't in order, under all kernels that take offsets.

use crate::common::Random;
use crate::common::depth::thorough;
use crate::common::disorder;
use crate::common::shim::{Shim, skipped};
use crate::programs::Program;

fn scan(program: Program, name: &str, sizes: [usize; 3], most: usize, numbered: bool) {
    if skipped() {
        return;
    }
    let (mut random, mut shim) = (Random(5), Shim::start(program.path()));
    for _ in 0..if thorough() { 600 } else { 60 } {
        disorder::scan(&mut shim, &mut random, name, sizes, most, numbered).unwrap();
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
