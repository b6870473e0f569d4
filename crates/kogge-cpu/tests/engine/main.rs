//! The engine against the scalar reference, bit for bit, through its public functions.
//!
//! One program, since most of the time goes into compiling the engine for an operator and an
//! element, and the modules have many of them in common. Segments (`tests/segments.rs`) have few,
//! and so a program that is compiled beside this one.

#[path = "../common/mod.rs"]
mod common;
mod elements;
mod free;
mod lines;
mod memory;
mod operators;
mod order;
mod random;
mod resume;
mod threads;
mod windows;
