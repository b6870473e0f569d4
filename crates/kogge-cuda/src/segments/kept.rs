//! What L2 is told to give up last.
//!
//! It can hold nothing of a sequence of many times its size, yet in which order it gives lines up
//! decides how often memory turns from reading to writing and back. On an H100 windows by key are
//! 2 % faster where what they write stays as long as may be, and rounds and stretches 1 % where
//! what they read does, whatever comes next (bench/records/nvidia-h100, "What L2 gives up last").
//! On an H200, which can't be told from it here, segments gain as much, and integers by key lose
//! 1 %. Plain sums of 64 MiB were slower so. Other machines aren't told, as nobody has looked there.

use crate::{Capability, Tuning};
use kogge_core::Problem;

/// First in the text of a kernel whose stores are kept, those of 16 bytes (kernels/device.cuh),
pub(super) const STORES: &str = "#define KOGGE_KEEP_STORES\n";
/// and of one whose bulk loads are.
pub(super) const LOADS: &str = "#define KOGGE_KEEP_LOADS\n";

/// Whether the elements are so many that L2 is told.
pub(super) fn keeps(problem: &Problem, device: Capability, tuning: &Tuning) -> bool {
    let bytes = problem.len.saturating_mul(problem.element_bytes as u64);
    device.compute == (9, 0) && bytes >= tuning.kept_bytes
}
