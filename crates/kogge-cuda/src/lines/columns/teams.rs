//! Strips of neighbouring lines, each with a team of thread blocks.

use super::{ColumnKernel, ColumnPlan};
use crate::plan::WORKSPACE_HEAD;
use crate::{Capability, Tuning};
use kogge_core::{Order, Problem};

/// The strips of lines: `TeamRing` of kernels/column_teams.cuh.
#[derive(Clone, Copy)]
pub(super) struct Team {
    columns: u32,
    /// Blocks of a cluster.
    cluster: u32,
    stages: u32,
    shared_bytes: u32,
    /// Blocks of a strip.
    blocks: u64,
}

impl Team {
    /// Named barriers that a block has for the workers of its stages.
    const MOST_STAGES: u64 = 15;
    /// Segments that the look-ahead takes in at once, at most.
    const MOST_SEGMENTS: u64 = 6;

    /// Threads of a block, that each has the registers which so large accumulators need.
    fn most_threads(accumulator: u64) -> u64 {
        if accumulator <= 4 { 512 } else { 384 }
    }

    /// Strips of the wanted width, or half of it where that doesn't fit, in the largest clusters
    /// that fill the machine; or none.
    pub(super) fn new(
        lines: u64,
        problem: &Problem,
        device: Capability,
        tuning: &Tuning,
    ) -> Option<Self> {
        // Less than 128 bytes side by side are too narrow for the memory.
        let wanted = if problem.element_bytes < 4 { 128 } else { 64 };
        let most = if device.compute.0 >= 9 { tuning.strip_cluster } else { 1 };
        let clusters = [8, 4, 2, 1].into_iter().filter(|&cluster| cluster <= most.max(1));
        [wanted, wanted / 2]
            .into_iter()
            .flat_map(|columns| clusters.clone().map(move |cluster| (columns, cluster)))
            .filter_map(|(columns, cluster)| {
                Self::of(columns, cluster, lines, problem, device, tuning)
            })
            .find(|team| team.blocks <= tuning.strip_blocks.into())
    }

    /// Strips of so many lines, in clusters of so many blocks, if shared memory holds their stages.
    fn of(
        columns: u32,
        cluster: u32,
        lines: u64,
        problem: &Problem,
        device: Capability,
        tuning: &Tuning,
    ) -> Option<Self> {
        let strips = lines.div_ceil(columns.into());
        let rows = problem.len.div_ceil(problem.order().row() as u64);
        let machine = u64::from(device.multiprocessors);
        let blocks = match cluster {
            1 => (machine / strips).clamp(1, rows),
            _ => {
                (in_clusters(device, cluster) / strips).min(rows) / u64::from(cluster)
                    * u64::from(cluster)
            }
        };
        let at_least = |part: u64, of: u64, percent: u32| {
            u128::from(part) * 100 >= u128::from(of) * u128::from(percent)
        };
        let (width, turns) = (u64::from(columns), strips.div_ceil(machine));
        let enough = match cluster {
            // Lanes that have a line, of all that the machine has while it goes from strip to
            // strip.
            1 => at_least(
                lines.saturating_mul(blocks),
                turns.saturating_mul(machine * width),
                tuning.strip_use,
            ),
            _ => {
                at_least(lines, strips * width, tuning.strip_use)
                    && at_least(strips * blocks, machine, tuning.strip_cluster_use)
            }
        };
        if blocks == 0 || !enough {
            return None;
        }
        // Of strips that blocks have to themselves: what is on its way beyond this only queues up.
        let most = match (blocks, rows < Order::ROWS_PER_SEGMENT as u64) {
            (1, true) => tuning.short_strip_stages.into(),
            (1, false) => tuning.lone_strip_stages.into(),
            _ => Self::MOST_STAGES,
        };
        let (stages, shared_bytes) = Self::stages(columns, cluster, most, problem, device, tuning)?;
        Some(Self { columns, cluster, stages, shared_bytes, blocks })
    }

    /// Stages of a block's ring, `most` at most, if they are enough, and the bytes of shared memory
    /// that it takes.
    fn stages(
        columns: u32,
        cluster: u32,
        most: u64,
        problem: &Problem,
        device: Capability,
        tuning: &Tuning,
    ) -> Option<(u32, u32)> {
        const LEVELS: u64 = (Order::TILES_PER_BLOCK - 1) as u64;
        let row = (problem.order().row() as u64)
            .checked_mul(u64::from(columns) * problem.element_bytes as u64)?
            .next_multiple_of(128);
        let accumulator = problem.accumulator_bytes.max(4) as u64;
        let across = accumulator.next_multiple_of(4) * u64::from(columns);
        // Barriers, a row's total and what precedes it, and a flag; in a cluster, totals of the
        // rows before.
        let told =
            if cluster > 1 { 2 * 8 + (Order::ROWS_PER_SEGMENT - 1) as u64 * across } else { 0 };
        let stage = row + 3 * 8 + 2 * across + 1 + told;
        // Beside the stages, totals of segments, and the delay lines of tiles.
        let others = (Self::MOST_SEGMENTS + LEVELS) * across + 256;
        let most = (u64::from(device.shared_bytes).saturating_sub(others) / stage)
            .min(most)
            .min(Self::most_threads(accumulator) / u64::from(columns) - 1);
        // In a cluster a stage keeps its place in the segment.
        let places =
            if cluster > 1 { Order::ROWS_PER_SEGMENT as u64 / u64::from(cluster) } else { 1 };
        let stages = most - most % places;
        let shared_bytes = (stages * stage + others).next_multiple_of(128) as u32;
        (stages >= tuning.strip_stages.into()).then_some((stages as u32, shared_bytes))
    }

    pub(super) fn plan(self, lines: u64, problem: &Problem, device: Capability) -> ColumnPlan {
        let Self { columns, cluster, stages, shared_bytes, blocks } = self;
        let strips = lines.div_ceil(columns.into());
        let grid = (strips * blocks).min(device.multiprocessors.into());
        let parts = |elements: usize| problem.len.div_ceil(elements as u64);
        // In clusters the totals of rows take no slots.
        let rows = if cluster > 1 { 0 } else { parts(problem.order().row()) };
        // Lines share a slot if two totals fit into it.
        let (slot, shared) = match problem.accumulator_bytes as u64 {
            0..=4 => (16, 2),
            bytes => (bytes.div_ceil(8) * 16, 1),
        };
        let across = strips * u64::from(columns / shared);
        let slots =
            across.saturating_mul(rows + parts(problem.order().segment())).saturating_add(grid);
        let cooperative = blocks > 1;
        ColumnPlan {
            kernel: ColumnKernel::Teams { columns, stages, cluster },
            grid: grid as u32,
            threads: (stages + 1) * columns,
            shared_bytes,
            cooperative,
            workspace_bytes: match cooperative {
                true => slots.saturating_mul(slot).saturating_add(WORKSPACE_HEAD),
                false => WORKSPACE_HEAD,
            },
        }
    }
}

/// Thread blocks, one a multiprocessor, that clusters of so many leave room for. Multiprocessors
/// lie together in some eight groups, of which a cluster needs one; where they have an odd number
/// of pairs, some are left over.
fn in_clusters(device: Capability, cluster: u32) -> u64 {
    let all = device.multiprocessors;
    let left = if cluster > 2 { all - all / 11 } else { all };
    u64::from(left - left % cluster)
}
