//! The vocabulary of kogge: what is scanned, by what, and in which order.
//!
//! * [`Element`]: what a scan reads and writes, and what it accumulates in.
//! * [`Operator`]: an identity and an associative `combine`; the built-in ones live in [`ops`].
//! * [`Order`]: the one tree in which elements are combined, so that every engine gives the same
//!   bits; [`reference`](mod@reference) is its scalar meaning, against which every engine is
//!   tested.
//! * [`Stepper`]: the same order, one element at a time, for data that arrive in pieces.
//! * [`Ladder`]: a Kogge–Stone scan whose inputs come one by one.
//! * [`Problem`]: a scan to be done, before any engine is chosen.
//!
//! This crate is a vocabulary only. It never starts a thread, touches a file or a device, or
//! contains `unsafe` code, but for what `#[derive(Element)]` declares: that its structs are plain
//! data.
#![deny(unsafe_code)]

// The macros name this crate by its full path, here too.
extern crate self as kogge_core;

pub mod device;
mod element;
mod error;
mod ladder;
mod loops;
mod operator;
pub mod ops;
mod order;
mod prefix;
mod problem;
pub mod reference;
mod stepper;

pub use bytemuck;
#[doc(hidden)]
pub use element::Half;
pub use element::{Accumulate, Element, Number, OrderedNumber, Same};
pub use error::Error;
pub use half::{bf16, f16};
pub use kogge_macros::{Element, device, operator};
pub use ladder::Ladder;
pub use operator::{Compact, FnOperator, Operator, from_fn};
pub use order::Order;
pub use prefix::Prefix;
pub use problem::{Direction, Kind, Problem};
pub use stepper::Stepper;
