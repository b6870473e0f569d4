//! The simulated GPU.

pub(crate) mod address;
pub(crate) mod alu;
pub(crate) mod ins;
pub(crate) mod math;
