//! Lots of short lines, each to a warp or a team of warps.

use super::{ContiguousKernel, ContiguousPlan, are_whole};
use crate::lines::shape::Lines;
use crate::plan::{LANES, WORKSPACE_HEAD};
use crate::{Capability, Tuning};
use kogge_core::{Order, Problem};

/// Stages of a warp of `LineRings` of kernels/line_scan.cuh, at most, and what a stage has beside a
/// lot.
const MOST_STAGES: u64 = 8;
const STAGE_PADS: u64 = 2 * 32;
/// Bytes of a warp for the lots that come, and of its `LotDraws`.
const DRAWS: u64 = 16 + 56;

/// As `LineShare` and `LineRings` of kernels/line_scan.cuh have it.
pub(super) fn in_lots(
    lines: &Lines,
    problem: &Problem,
    device: Capability,
    tuning: &Tuning,
) -> ContiguousPlan {
    let order = problem.order();
    let (lanes, rows) = (u64::from(LANES), Order::ROWS_PER_SEGMENT as u64);
    let team = problem.len.div_ceil(order.segment() as u64).max(1);
    let chunks = problem.len.min(order.segment() as u64).div_ceil(order.chunk() as u64).max(1);
    let lot = if team > 1 { 1 } else { rows / chunks.div_ceil(lanes) * (lanes / chunks).max(1) };
    // For each warp barriers and the lots in its stages, those that come, and for two lots the
    // totals of segments.
    let accumulator = problem.accumulator_bytes.max(4) as u64;
    let head =
        |warps: u64| (warps * (MOST_STAGES * 16 + DRAWS + 2 * accumulator)).next_multiple_of(128);
    let stage = stage_bytes(lines, problem, lot);
    let fitting = |warps: u64| {
        let room = u64::from(device.shared_bytes).saturating_sub(head(warps));
        let most = u64::from(tuning.line_stages).min(MOST_STAGES);
        stage.map_or(0, |stage| (room / warps / stage).min(most))
    };
    // Where lots are large, fewer warps, that two of each fit.
    let most = u64::from(tuning.line_warps).max(Order::SEGMENTS_PER_TILE as u64);
    let fewer = Order::SEGMENTS_PER_TILE as u64;
    let ringed = [most, fewer].into_iter().find(|&warps| fitting(warps) >= 2);
    let warps = ringed.unwrap_or(most);
    let (stages, stage) = match (ringed, stage) {
        (Some(warps), Some(stage)) => (fitting(warps), stage),
        _ => (0, 0),
    };
    // The lines of a lot are neighbours along one axis.
    let run = lines.outer.last().map_or(1, |axis| axis.len).max(1);
    let lots = (lines.count / run).saturating_mul(run.div_ceil(lot));
    let lot_bytes = lot.saturating_mul(problem.len).saturating_mul(problem.element_bytes as u64);
    let bunch =
        if team == 1 { u64::from(tuning.bunch_bytes).div_ceil(lot_bytes.max(1)) } else { 1 };
    // Numbers that are drawn have 32 bits.
    let bunch = if lots / bunch < 1 << 31 { bunch as u32 } else { 0 };
    ContiguousPlan {
        kernel: ContiguousKernel::Lots {
            lines: lot as u32,
            warps: warps as u32,
            bulk: device.compute >= (9, 0),
            stages: stages as u32,
            stage_bytes: stage as u32,
            bunch,
            whole: stages > 0 && are_whole(lines, problem),
        },
        even: lines.outer.len() <= 1,
        // A lot each, before any block has a second.
        grid: lots.clamp(1, device.multiprocessors.into()) as u32,
        threads: (lanes * warps) as u32,
        shared_bytes: (head(warps) + warps * stages * stage) as u32,
        cooperative: false,
        workspace_bytes: WORKSPACE_HEAD,
    }
}

/// Bytes of a stage for what a warp has of a lot of lines and what lies between them; `None` if one
/// copy can't have them, or there is nothing to copy.
fn stage_bytes(lines: &Lines, problem: &Problem, lot: u64) -> Option<u64> {
    let length = problem.len.min(problem.order().segment() as u64);
    let stride = match lines.outer.last() {
        _ if problem.len == 0 => return None,
        None => 0,
        Some(axis) => u64::try_from(axis.input_stride).ok()?,
    };
    let elements = stride.checked_mul(lot - 1)?.checked_add(length)?;
    // A line may begin anywhere in 16 bytes.
    let bytes = elements.checked_mul(problem.element_bytes as u64)?.checked_add(16 + STAGE_PADS)?;
    bytes.checked_next_multiple_of(16)
}
