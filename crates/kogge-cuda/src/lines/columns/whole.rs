//! A lane a line, from its first element to the last.

use super::{ColumnKernel, ColumnPlan, STAGES};
use crate::plan::LANES;
use crate::{Capability, Error, Tuning};
use kogge_core::Problem;

/// A lane a line: `ColumnRing` of kernels/column_scan.cuh.
pub(super) fn whole(
    lines: u64,
    problem: &Problem,
    device: Capability,
    tuning: &Tuning,
) -> Result<ColumnPlan, Error> {
    let bytes = |threads: u64| {
        let octet = 8 * problem.order().chunk() as u64;
        let stage = (octet * threads * problem.element_bytes as u64).next_multiple_of(128);
        STAGES * (stage + 8) + 128
    };
    let most = u64::from(device.shared_bytes / tuning.column_blocks);
    let fits = |threads: &u32| *threads <= tuning.column_lines && bytes((*threads).into()) <= most;
    let threads = [8, 4, 2, 1].map(|warps| warps * LANES);
    let Some(threads) = threads.into_iter().find(fits) else {
        let problem =
            format!("elements of {} bytes are more than kernels take", problem.element_bytes);
        return Err(Error::Unsupported(problem));
    };
    let resident = u64::from(device.multiprocessors * tuning.column_blocks);
    Ok(ColumnPlan {
        kernel: ColumnKernel::Whole,
        grid: lines.div_ceil(threads.into()).clamp(1, resident) as u32,
        threads,
        shared_bytes: bytes(threads.into()) as u32,
        cooperative: false,
        workspace_bytes: 0,
    })
}
