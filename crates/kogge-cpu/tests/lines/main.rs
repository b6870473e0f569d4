//! Lines of an array, and segments as short as they may be, against the scalar reference, bit for
//! bit, through the engine's public functions.
//!
//! A program that is compiled beside that of whole slices (`tests/engine`): few operators on few
//! elements are in both.

#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "../common/mod.rs"]
mod common;

mod along;
mod windows;
