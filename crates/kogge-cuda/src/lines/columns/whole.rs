//! A lane a line, from its first element to the last.

use super::{ColumnKernel, ColumnPlan};
use crate::plan::{LANES, WORKSPACE_HEAD};
use crate::{Capability, Error, Tuning};
use kogge_core::Problem;

/// What a thread block of lines, a lane each, has in shared memory: `ColumnRing` of
/// kernels/column_scan.cuh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneRing {
    /// Stages,
    pub stages: u32,
    /// each with an octet (eight chunks) of every line, or with the half (2) or quarter (4) that
    /// lines have at most.
    pub share: u32,
    /// Whether lines have no more than an octet.
    pub short: bool,
    /// Blocks that a multiprocessor must have registers for, where accumulators have four bytes at
    /// most.
    pub blocks: u32,
}

impl LaneRing {
    /// Its part of what templates are given, for so many lines.
    pub(super) fn constants(self, columns: u32) -> String {
        let Self { stages, share, short, blocks } = self;
        let short = u32::from(short);
        format!(
            "COLUMNS = {columns}, STAGES = {stages}, SHARE = {share}, SHORT = {short}, BLOCKS = {blocks}"
        )
    }
}

/// The plan for so many lines of `problem.len` elements, whatever their number.
pub(super) fn whole(
    lines: u64,
    problem: &Problem,
    device: Capability,
    tuning: &Tuning,
) -> Result<ColumnPlan, Error> {
    let octet = 8 * problem.order().chunk() as u64;
    let short = problem.len <= octet;
    // Smaller stages leave room for more of them.
    let share = [4, 2].into_iter().find(|share| problem.len <= octet / share).unwrap_or(1);
    let most_stages = u64::from(tuning.column_stages) * share;
    let enough = if short { 2 } else { most_stages };
    // Chunks of sixteen elements need too many registers for more blocks.
    let most_blocks = match short && problem.element_bytes > 1 {
        true => tuning.short_column_blocks.max(tuning.column_blocks),
        false => tuning.column_blocks,
    };
    let stages_of = |threads: u32, blocks: u32| {
        let elements = octet / share * u64::from(threads);
        let stage = (elements * problem.element_bytes as u64).next_multiple_of(128);
        // Beside its bytes a stage has a barrier and, with a few more, a strip's number.
        let room = u64::from(device.shared_bytes / blocks).saturating_sub(256);
        let stages = (room / (stage + 16)).min(most_stages);
        (stages >= enough).then_some((stages, stages * (stage + 16) + 256))
    };
    let found = [8, 4, 2, 1]
        .map(|warps| warps * LANES)
        .into_iter()
        .filter(|&threads| threads <= tuning.column_lines)
        .flat_map(|threads| {
            (tuning.column_blocks..=most_blocks).rev().map(move |blocks| (threads, blocks))
        })
        .find_map(|(threads, blocks)| Some((threads, blocks, stages_of(threads, blocks)?)));
    let Some((threads, blocks, (stages, shared_bytes))) = found else {
        let problem =
            format!("elements of {} bytes are more than kernels take", problem.element_bytes);
        return Err(Error::Unsupported(problem));
    };
    let resident = u64::from(device.multiprocessors * blocks);
    Ok(ColumnPlan {
        kernel: ColumnKernel::Whole(LaneRing {
            stages: stages as u32,
            share: share as u32,
            short,
            blocks,
        }),
        grid: lines.div_ceil(threads.into()).clamp(1, resident) as u32,
        threads,
        shared_bytes: shared_bytes as u32,
        cooperative: false,
        workspace_bytes: WORKSPACE_HEAD,
    })
}
