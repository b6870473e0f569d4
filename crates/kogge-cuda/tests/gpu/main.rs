//! On a GPU: every operator, element, kind and direction gives the reference's bits, at boundary
//! lengths, at any alignment, in place and not, from graphs, on several streams, on the path for
//! older devices; and errors are errors.
//!
//! `KOGGE_SOAK=n` makes the soak n scans long.

#[path = "../common/mod.rs"]
mod common;

mod check;
mod devices;
mod errors;
mod first_calls;
mod kernels;
mod memory;
mod operators;
mod soak;
mod streams;
mod values;
