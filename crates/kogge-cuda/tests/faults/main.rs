//! The tests of the kernels can fail: every planted fault of `faults/` is caught, and the kernels
//! as they are pass the very same trials. See [`common::faults`].
#![cfg(target_arch = "x86_64")]

#[path = "../common/mod.rs"]
mod common;

mod columns;
mod exact;
mod flat;
mod keyed;
mod lines;
mod segments;
mod stretches;
