//! Lines that are cut: parts of some rows of some neighbours, which resident blocks take in turn.

use super::{ColumnKernel, ColumnPlan};
use crate::plan::{LANES, WORKSPACE_HEAD};
use crate::{Capability, Tuning};
use kogge_core::{Order, Problem};

/// Stages of the ring of units.
const STAGES: u64 = 3;

/// The unit in which lines are cut: `ColumnShared` of kernels/column_rounds.cuh.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    columns: u32,
    rows: u32,
    shared_bytes: u32,
}

impl Cut {
    /// The largest unit of which shared memory holds three, or none.
    pub(super) fn new(
        lines: u64,
        problem: &Problem,
        device: Capability,
        tuning: &Tuning,
    ) -> Option<Self> {
        let workers = [128, 64, 32].into_iter().filter(|&workers| workers <= tuning.column_workers);
        let fits = |cut: &Self| cut.shared_bytes <= device.shared_bytes;
        workers.filter_map(|workers| Self::of(workers, lines, problem)).find(fits)
    }

    /// Of so many workers, a row of a line each.
    fn of(workers: u32, lines: u64, problem: &Problem) -> Option<Self> {
        const ROWS_PER_TILE: u32 = (Order::ROWS_PER_SEGMENT * Order::SEGMENTS_PER_TILE) as u32;
        // As many lines side by side as leave few workers without one.
        let idle = |columns: u64| lines.next_multiple_of(columns) - lines;
        let mut columns = lines.next_power_of_two().min(workers.into());
        while columns > LANES.into() && idle(columns) > lines / 8 {
            columns /= 2;
        }
        let columns = columns as u32;
        let rows = (workers / columns).min(ROWS_PER_TILE);
        let element =
            u32::try_from(problem.element_bytes).ok().filter(|&bytes| bytes <= 1 << 10)?;
        let pitch = columns * element;
        let pad = if pitch < 128 { pitch } else { 0 };
        let row = problem.order().row() as u32 * pitch + pad;
        let stage = (rows * row).next_multiple_of(128);
        Some(Self { columns, rows, shared_bytes: STAGES as u32 * (stage + 8) + 128 })
    }

    pub(super) fn plan(self, lines: u64, problem: &Problem, device: Capability) -> ColumnPlan {
        let Self { columns, rows, shared_bytes } = self;
        let order = problem.order();
        let strips = lines.div_ceil(columns.into());
        let parts = |elements: usize| problem.len.div_ceil(elements as u64);
        let units = parts(order.row()).div_ceil(rows.into()).saturating_mul(strips);
        let grid = units.min(device.multiprocessors.into()).max(1);
        let slot = (problem.accumulator_bytes as u64).div_ceil(8) * 16;
        let places = parts(order.row()) + parts(order.segment()) + 2 * parts(order.tile());
        let slots = places.saturating_mul(strips * u64::from(columns)).saturating_add(grid);
        ColumnPlan {
            kernel: ColumnKernel::Rounds { columns, rows },
            grid: grid as u32,
            threads: STAGES as u32 * rows * columns,
            shared_bytes,
            cooperative: grid > 1,
            workspace_bytes: slots.saturating_mul(slot).saturating_add(WORKSPACE_HEAD),
        }
    }
}
