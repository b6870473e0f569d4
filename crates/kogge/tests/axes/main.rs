//! Scans along an axis, by layouts and by views of `ndarray`. One program, since both compile the
//! same scans.

mod layouts;
#[cfg(feature = "ndarray")]
mod views;
