//! What kogge's speed is measured with.
//!
//! A *contender* is a way to scan, or a copy; a *cell* is one type, mode and length, in which
//! contenders are checked and then timed in turn; a *record* is cells with the machine, the
//! compiler and the commit they belong to. Tables and plots are made from records alone. [`versus`]
//! is what `kogge bench` does: the product beside whatever library is on the machine, on the CPU or
//! a GPU.
//!
//! Nothing here is part of the library, and nothing that is timed is a test.

// `println!` and `eprintln!` panic where nobody reads them.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod buffer;
pub mod contender;
pub mod contenders;
pub mod distance;
mod dtype;
pub mod machine;
pub mod measure;
pub mod plot;
pub mod record;
pub mod rest;
mod scratch;
mod shape;
mod stream;
pub mod suite;
pub mod table;
pub mod versus;

pub use contender::Mode;
pub use dtype::Dtype;
pub use shape::Shape;
