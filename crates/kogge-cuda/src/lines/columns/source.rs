//! The texts of the kernels of lines that aren't consecutive elements.

use super::{ColumnKernel, ColumnPlan};
use crate::kernels;
use crate::source::Program;
use crate::{Error, Specification};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::{Accumulate, Direction, Element};

/// The CUDA C++ text of a plan's kernel. Strides have the direction in them, so the text hasn't.
///
/// # Errors
///
/// As [`source()`](crate::source()).
pub(crate) fn source<T, U, A, O>(
    operator: &O,
    specification: Specification,
    plan: &ColumnPlan,
) -> Result<String, Error>
where
    T: DeviceElement + Accumulate<A>,
    U: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let specification = Specification { direction: Direction::Forward, ..specification };
    let constants = match plan.kernel {
        ColumnKernel::Short { elements } => {
            format!("ELEMENTS = {elements}, THREADS = {}", plan.threads)
        }
        ColumnKernel::Whole(ring) => ring.constants(plan.threads),
        ColumnKernel::Teams { columns, stages, cluster } => {
            format!("COLUMNS = {columns}, STAGES = {stages}, CLUSTER = {cluster}")
        }
        ColumnKernel::Rounds { columns, rows } => {
            format!("COLUMNS = {columns}, ROWS = {rows}")
        }
    };
    let common = Program {
        defines: "",
        kernel: &kernels::COLUMN_SCAN,
        bulk: false,
        constants: &constants,
        source: None,
        shared: "ColumnRing",
        shared_bytes: plan.shared_bytes,
        // Registers for the delay lines; memory needs many warps to be filled.
        bounds: if size_of::<A>() <= 4 { "Scan::COLUMNS, Scan::BLOCKS" } else { "Scan::COLUMNS" },
        arguments: "ColumnArguments",
        entry: "column_scan",
    };
    let program = match plan.kernel {
        ColumnKernel::Short { .. } => Program {
            kernel: &kernels::SHORT_COLUMNS,
            shared: "",
            bounds: "Scan::THREADS",
            entry: "short_columns",
            ..common
        },
        ColumnKernel::Whole(_) => common,
        ColumnKernel::Teams { .. } => Program {
            kernel: &kernels::COLUMN_TEAMS,
            shared: "TeamRing",
            bounds: "TeamRing<Scan>::THREADS, 1",
            entry: "column_teams",
            ..common
        },
        ColumnKernel::Rounds { .. } => Program {
            kernel: &kernels::COLUMN_ROUNDS,
            shared: "ColumnShared",
            bounds: "ColumnShared<Scan>::THREADS, 1",
            entry: "column_rounds",
            ..common
        },
    };
    program.text::<T, U, A, O>(operator, specification)
}
