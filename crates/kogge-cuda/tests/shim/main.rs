//! The kernels' own text, compiled for the CPU under the shim, gives the reference's bits.
//!
//! Operators that show their brackets go through every length around every boundary of the order;
//! the others, which tell element sizes, conversions and rounding apart, through a part of them
//! drawn by lot. `KOGGE_THOROUGH=1` sends all through all.
#![cfg(target_arch = "x86_64")]

#[path = "../common/mod.rs"]
mod common;

mod columns;
mod disorder;
mod exact;
mod flat;
mod floats;
mod keyed;
mod lines;
mod programs;
mod segments;
mod stretches;
