//! Any text, run: no panic, and an end within the budgets.
//!
//! `cargo +nightly fuzz run run` from the crate's folder; seeds are
//! `tests/textbook` and `lessons`.
#![no_main]

use kogge_lab::fuzzing::run_text;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &str| run_text(source));
