//! The engine against the scalar reference, bit for bit, through its public functions.
//!
//! One program, since most of the time goes into compiling the engine for an operator and an
//! element, and the modules have many of them in common. Lines (`tests/lines`) and segments
//! (`tests/segments.rs`) have few, and so programs that are compiled beside this one.

#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "../common/mod.rs"]
mod common;
mod elements;
mod free;
mod memory;
mod operators;
mod order;
mod random;
mod resume;
mod threads;
