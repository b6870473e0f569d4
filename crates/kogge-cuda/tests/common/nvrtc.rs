//! What the tests that compile kernels have in common: devices, and what the assembler tells.

use kogge_cuda::{Capability, Compiled, compiler_version};
use std::fmt;
use std::io::Write;

const fn device(major: u32, minor: u32, multiprocessors: u32, shared_bytes: u32) -> Capability {
    Capability { compute: (major, minor), multiprocessors, shared_bytes }
}

/// Ampere, Hopper, and Blackwell for data centres and for desks.
pub const DEVICES: [Capability; 4] = [
    device(8, 0, 108, 166_912),
    device(9, 0, 132, 232_448),
    device(10, 0, 148, 232_448),
    device(12, 0, 170, 101_376),
];

pub fn flag(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| value == "1")
}

/// Whether there is no NVRTC, which is said; fails where it is required.
pub fn skipped() -> bool {
    let missing = compiler_version().is_err();
    assert!(
        !(missing && flag("KOGGE_REQUIRE_NVRTC")),
        "KOGGE_REQUIRE_NVRTC=1, but there is no NVRTC"
    );
    if missing {
        // Straight to the terminal: the harness hides what a passing test prints.
        let _ = writeln!(std::io::stderr(), "SKIPPED: there is no NVRTC; name it in KOGGE_NVRTC");
    }
    missing
}

/// What a thread takes, as the assembler tells.
#[derive(Clone, Copy, Debug, Default)]
pub struct Resources {
    pub registers: u32,
    pub stack: u32,
    pub spilled: u32,
}

impl Resources {
    pub fn of(compiled: &Compiled) -> Self {
        let mut resources = Self::default();
        for line in compiled.log.lines() {
            let number = |after: &str| {
                let (before, _) = line.split_once(after)?;
                before.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok()
            };
            let keep =
                |field: &mut u32, value: Option<u32>| *field = (*field).max(value.unwrap_or(0));
            keep(&mut resources.registers, number(" registers"));
            keep(&mut resources.stack, number(" bytes stack frame"));
            keep(&mut resources.stack, number(" bytes cumulative stack size"));
            keep(&mut resources.spilled, number(" bytes spill stores"));
        }
        resources
    }
}

impl fmt::Display for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { registers, stack, spilled } = self;
        write!(f, "{registers:3} registers, {stack:3} bytes of stack, {spilled:3} spilled")
    }
}
