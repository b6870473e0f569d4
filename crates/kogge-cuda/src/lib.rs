//! The CUDA engine of kogge: a scan in one launch, with the bits of the fixed order.
//!
//! [`Device::open`] finds the driver and a GPU, or says why it can't; nothing here needs CUDA to
//! build. [`Device::prepare`] turns an operator, its types and a length into a [`Scan`]: the plan
//! ([`plan()`], pure) and the kernel, which is in the library ([`archive`]), or on disk, or
//! compiled by NVRTC. [`Scan::run`] does nothing but one launch, on the stream of a [`Workspace`]:
//! no allocation, no synchronisation. [`Scan::run_buffers`] is the same without `unsafe`,
//! [`Scan::run_host`] by way of pinned memory.
//!
//! The kernels are text in `kernels/`, without headers, and the operator's text is what
//! `kogge-core` generates of its Rust ([`operator_source`]); `shim/` runs the same text on the CPU.
//!
//! The engine never leaves the order of `kogge-core`, and knows nothing of files.

pub mod archive;
mod buffer;
mod cache;
pub mod catalogue;
mod compile;
mod device;
mod error;
mod host;
mod inits;
mod kernels;
mod launch;
mod lines;
mod memory;
mod nvrtc;
mod operator;
mod plan;
mod scan;
mod segments;
mod source;
mod staging;
mod tuning;
mod workspace;

pub use buffer::Buffer;
pub use compile::{Arch, Compiled, compile, compiler_version};
pub use cudarc;
pub use device::Device;
pub use error::Error;
pub use inits::Inits;
pub use lines::{
    Axis, ColumnKernel, ColumnPlan, ContiguousKernel, ContiguousPlan, LaneRing, LinePlan, LineScan,
    LineShape, line_source, plan_lines,
};
pub use operator::{OperatorSource, PRELUDE, operator_source};
pub use plan::{Capability, Kernel, Plan, Ring, Tiling, plan};
pub use scan::{Init, Scan};
pub use segments::{
    Brackets, ExactSegments, KeyType, LongSegments, SegmentPlan, SegmentScan, SegmentSource,
    Stretches, StretchesByKey, plan_segments, segment_source,
};
pub use source::{Specification, source};
pub use tuning::Tuning;
pub use workspace::Workspace;
