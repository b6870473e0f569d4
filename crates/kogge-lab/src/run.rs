//! Running a script: once, or under many schedules.

use crate::diagnostic::Diagnostic;
use crate::options::Options;
use crate::program::Program;
use crate::report::Report;
use crate::script::Script;

/// Runs a script under one schedule.
///
/// # Errors
///
/// A kernel that uses what the language lacks, a launch that names no kernel
/// or leaves a parameter without a value, a value of the wrong type.
pub fn run(program: &Program, script: &Script, options: &Options) -> Result<Report, Diagnostic> {
    let _ = (program, script, options);
    Err(Diagnostic::general("the machine is not linked in"))
}

/// Runs a script under `schedules` schedules: that of the options, then
/// forward, reverse, and random ones with seeds drawn from `seed`. The report
/// is that of the first, with the findings of all and a `schedule-dependent`
/// one where the contents of an array differ.
///
/// # Errors
///
/// As [`run`].
pub fn explore(
    program: &Program,
    script: &Script,
    options: &Options,
    schedules: u32,
    seed: u64,
) -> Result<Report, Diagnostic> {
    let _ = (schedules, seed);
    run(program, script, options)
}
