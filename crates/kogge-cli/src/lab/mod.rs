//! `kogge lab`: run, watch and check CUDA scan kernels without a GPU.
//!
//! Each subcommand is a file; [`subject`] turns what the command line names into something to run,
//! and [`check`] says whether its result is the one expected. Exit codes are 0 for a clean run, 3
//! for one that found hazards or another result, 1 for bad input.

mod bench;
mod check;
mod compare;
mod draw;
mod list;
mod npy;
mod report;
mod run;
mod show;
mod subject;
mod table;
mod trace;
mod trial;
pub mod watch;

use crate::streams;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use kogge_lab::Diagnostic;

use crate::error::{Fault, reason};
use crate::output::Output;

/// The exit code of a run that found hazards.
const HAZARDS: u8 = 3;

/// The exit codes, as the help shows them.
const EXIT_CODES: &str = "\
Exit codes:
  0  a clean run
  1  bad input: a source that is refused, an argument that means nothing, no GPU
  3  hazards were found, or by run and bench a result that is not the one expected
The other commands of kogge have codes of their own: see kogge --help";

/// What a subcommand gives: whether it was clean, or why it could not be done.
type Outcome = Result<Verdict, Diagnostic>;

/// How a subcommand ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Clean,
    Hazards,
}

impl Verdict {
    fn of(clean: bool) -> Self {
        if clean { Self::Clean } else { Self::Hazards }
    }
}

/// Arguments of `kogge lab`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXIT_CODES)]
pub struct LabArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the lessons: the classic scans as CUDA kernels
    List(list::Args),
    /// Print the text of a lesson, or of one of its mutants
    Show(show::Args),
    /// Run a lesson or a CUDA file on the simulated GPU and report every hazard
    #[command(after_help = EXIT_CODES)]
    Run(run::Args),
    /// Write every step of a run as JSON
    Trace(trace::Args),
    /// Draw the network of a run as SVG, PNG or text
    Draw(draw::Args),
    /// Step through a run in the terminal
    Watch(watch::Args),
    /// Tabulate work, steps, barriers and conflicts of all lessons
    Compare(compare::Args),
    /// Time the lessons on a real GPU beside a copy and kogge itself, and plot them
    Bench(bench::Args),
}

/// Runs a subcommand; says on stderr why it could not.
pub fn run(args: &LabArgs) -> ExitCode {
    let outcome = match &args.command {
        Command::List(args) => list::run(args),
        Command::Show(args) => show::run(args),
        Command::Run(args) => run::run(args),
        Command::Trace(args) => trace::run(args),
        Command::Draw(args) => draw::run(args),
        Command::Watch(args) => watch::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Bench(args) => bench::run(args),
    };
    match outcome {
        Ok(Verdict::Clean) => ExitCode::SUCCESS,
        Ok(Verdict::Hazards) => ExitCode::from(HAZARDS),
        Err(error) => {
            streams::say(format_args!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Writes to standard output. A reader that has closed the pipe has had enough, and that is all
/// right.
fn print(text: &str) -> Result<(), Diagnostic> {
    match streams::print(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Diagnostic::general(format!("cannot write the output: {}", reason(&error))))
        }
        _ => Ok(()),
    }
}

/// Writes a file, whole or not at all, or standard output where there is none or it is `-`.
fn write(file: Option<&Path>, bytes: &[u8]) -> Result<(), Diagnostic> {
    let Some(path) = file.filter(|path| path.as_os_str() != "-") else {
        return print(&String::from_utf8_lossy(bytes));
    };
    match Output::create(Some(path), None).and_then(|output| output.put(bytes)) {
        Err(error) if error.fault != Fault::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
