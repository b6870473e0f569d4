//! The simulated GPU: compiled kernels, memory, threads, and the detectors.

mod access;
pub(crate) mod address;
pub(crate) mod alu;
mod clock;
pub(crate) mod collective;
mod exec;
mod findings;
mod grid;
pub(crate) mod ins;
pub(crate) mod math;
mod memory;
mod provenance;
mod race;
mod session;
mod stats;
mod tell;
mod volatile;
pub(crate) mod waiting;
mod warp;

pub(crate) use session::{Session, number_bytes};
