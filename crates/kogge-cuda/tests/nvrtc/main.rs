//! NVRTC compiles the kernels, and what they take of the machine is bounded: registers, local
//! memory, shared memory.
//!
//! Skipped where there is no NVRTC, unless KOGGE_REQUIRE_NVRTC=1. `KOGGE_KERNEL_TABLE=1` prints a
//! line a kernel. What is compiled for each architecture is a part of all that there is (see the
//! modules); `KOGGE_FULL_MATRIX=1` compiles everything for every one, which takes hours on two
//! cores.

mod bounds;
mod columns;
mod compiler;
mod flat;
mod lines;
mod segments;
