//! Short lines of a small table, a warp for each row of the order.

use super::{ContiguousKernel, ContiguousPlan, are_whole};
use crate::lines::shape::Lines;
use crate::plan::{LANES, WORKSPACE_HEAD};
use crate::{Capability, Tuning};
use kogge_core::{Order, Problem};

/// The plan, if the table is small and its lines are short enough.
pub(super) fn short(
    lines: &Lines,
    problem: &Problem,
    device: Capability,
    tuning: &Tuning,
) -> Option<ContiguousPlan> {
    let order = problem.order();
    let bytes = lines
        .count
        .saturating_mul(problem.len)
        .saturating_mul(problem.element_bytes.max(problem.output_bytes) as u64);
    let most_bytes = match are_whole(lines, problem) {
        // Narrow elements take more instructions a byte, which a ring of stages hides.
        true if problem.element_bytes < 4 => tuning.short_line_bytes / 4,
        true => tuning.short_line_bytes,
        false => tuning.ragged_line_bytes,
    };
    if problem.len == 0 || problem.len > order.segment() as u64 || bytes > most_bytes {
        return None;
    }
    // As `ShortLineShare` of kernels/short_lines.cuh has it.
    let chunks = problem.len.div_ceil(order.chunk() as u64) as u32;
    let rows = chunks.div_ceil(LANES);
    let beside = if rows == 1 { LANES / chunks } else { 1 };
    let teams = lines.count.div_ceil(beside.into());
    // Each multiprocessor has a block before one has a large one.
    let most = Order::ROWS_PER_SEGMENT as u32 / rows;
    let bunch = teams.div_ceil(device.multiprocessors.into()).clamp(1, most.into()) as u32;
    let grid = i32::try_from(teams.div_ceil(bunch.into()).max(1)).ok()?;
    let accumulator = problem.accumulator_bytes.max(4) as u32;
    Some(ContiguousPlan {
        kernel: ContiguousKernel::Short { bunch },
        even: lines.outer.len() <= 1,
        grid: grid as u32,
        threads: LANES * rows * bunch,
        shared_bytes: Order::ROWS_PER_SEGMENT as u32 * accumulator,
        cooperative: false,
        workspace_bytes: WORKSPACE_HEAD,
    })
}
