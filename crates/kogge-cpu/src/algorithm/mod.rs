//! How the parts of a scan cooperate, with no intrinsic in sight.
//!
//! From the inside out: [`lanes`] applies an operator to registers; [`rows`] and [`arrays`] scan
//! rows, [`exact`] does where any order is as good; [`tile`] puts segments together;
//! [`sequential`] goes through tiles one by one, and [`parallel`] lets threads take them in turn,
//! with [`handover`] between them. [`io`] is where all of them read and write.

pub(crate) mod arrays;
mod exact;
pub(crate) mod handover;
pub(crate) mod io;
mod lanes;
pub(crate) mod parallel;
mod rows;
pub(crate) mod sequential;
pub(crate) mod tile;
