//! Lines of few elements that lie side by side: a thread takes as many neighbours as 16 bytes have
//! elements.

use super::{ColumnKernel, ColumnPlan};
use crate::lines::shape::{Lines, Outer};
use crate::plan::{LANES, WORKSPACE_HEAD};
use crate::{Capability, Tuning};
use kogge_core::Problem;

/// Threads of a block where there are enough of them, and blocks of a launch, at most.
const THREADS: u32 = 4 * LANES;
const MOST_BLOCKS: u64 = i32::MAX as u64;
/// Elements of a line of a small table, at most: all of them have registers.
const MOST_ELEMENTS: u32 = 16;
/// Chunks that the delay lines of kernels/short_columns.cuh reach over, and bytes of a thread's
/// accumulators.
const MOST_CHUNKS: u64 = 8;
const MOST_ACCUMULATORS: usize = 128;

/// The plan, for addresses that are multiples of 16, if the lines are short enough and lie so.
pub(super) fn short(
    lines: &Lines,
    problem: &Problem,
    device: Capability,
    tuning: &Tuning,
) -> Option<ColumnPlan> {
    let chunk = problem.order().chunk() as u64;
    let bytes =
        lines.count.saturating_mul(problem.len).saturating_mul(problem.element_bytes as u64);
    let large = bytes >= tuning.large_column_bytes;
    let elements = tuning.short_column_elements.min(MOST_ELEMENTS) << u32::from(large);
    let most = u64::from(elements).min(MOST_CHUNKS * chunk);
    let fits = chunk as usize * problem.accumulator_bytes <= MOST_ACCUMULATORS;
    if problem.len < 2 || problem.len > most || !fits || !are_vectors(lines, problem) {
        return None;
    }
    let groups = lines.count / chunk;
    let many = groups / u64::from(THREADS) >= device.multiprocessors.into();
    let threads = if many { THREADS } else { LANES };
    let grid = groups.div_ceil(threads.into()).max(1);
    (grid <= MOST_BLOCKS).then_some(ColumnPlan {
        kernel: ColumnKernel::Short { elements: (problem.len as u32).next_power_of_two() },
        grid: grid as u32,
        threads,
        shared_bytes: 0,
        cooperative: false,
        workspace_bytes: WORKSPACE_HEAD,
    })
}

/// Whether 16 bytes are elements of neighbouring lines everywhere, if the first are, and as many
/// values are whole 16 bytes.
fn are_vectors(lines: &Lines, problem: &Problem) -> bool {
    let Some((beside, slower)) = lines.outer.split_last() else { return false };
    let (element, output) = (problem.element_bytes, problem.output_bytes);
    let chunk = problem.order().chunk();
    let even = |stride: i64, bytes: usize| stride.wrapping_mul(bytes as i64) % 16 == 0;
    let all_even = |input: i64, written: i64| even(input, element) && even(written, output);
    chunk * element == 16
        && (chunk * output).is_multiple_of(16)
        && beside.len.is_multiple_of(chunk as u64)
        && [beside.input_stride, beside.output_stride] == [1; 2]
        && all_even(lines.line.input_stride, lines.line.output_stride)
        && slower
            .iter()
            .all(|&Outer { input_stride, output_stride, .. }| all_even(input_stride, output_stride))
}
