//! The detectors: each hazard found where it is, and nothing where there is none.

#[path = "../support/mod.rs"]
mod support;

mod atomics;
mod barriers;
mod counts;
mod faults;
mod fences;
mod launches;
mod progress;
mod races;
mod volatiles;
