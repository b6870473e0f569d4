//! The CPU engine of kogge: a scan in one pass over memory, on all cores, with the bits of the
//! fixed order.
//!
//! The caller's rayon pool is used; SIMD is chosen at run time; small inputs stay on the calling
//! thread. [`plan`](fn@plan) decides how, [`scan_into`] and [`scan_in_place`] do it.
//!
//! A scan of a slice allocates one slot per tile (32 KiB of input) and one segment per thread at
//! most; lines and segments, some state per thread besides; few lines side by side, a slot per row
//! of the order of each line. A thread keeps up to 1 MiB of that state for its next call. The engine
//! never leaves the order of `kogge-core`, and knows nothing of files or devices.

#![allow(private_bounds)]

mod algorithm;
mod arch;
mod array;
#[cfg(test)]
mod brackets;
mod columns;
mod descent;
mod engine;
mod lines;
mod parts;
mod plan;
mod pool;
mod room;
mod scattered;
mod segments;
mod sync;
mod together;
mod tuning;

pub use arch::{Cpu, Level};
pub use engine::{Request, resume_in_place, resume_into, scan_in_place, scan_into};
pub use lines::{Axis, LinePlan, LineShape, plan_lines, scan_lines};
pub use parts::PerPart;
pub use plan::{Machine, Plan, plan};
pub use segments::{
    Flags, Heads, Key, Keys, Listed, Marked, Offset, Offsets, SegmentPlan, Segments, Starts,
    by_heads, by_key, by_offsets, plan_segments, scan_segments_in_place, scan_segments_into,
};
