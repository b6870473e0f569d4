//! Scans along one axis of an array: many lines, each a scan of its own.

mod shape;

pub use shape::{Axis, LineShape};
