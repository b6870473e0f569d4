//! The `kogge` command: scans of files of any size, and the laboratory.
//!
//! `kogge scan` goes this way: [`args`] says what is asked for, [`job`] opens the input and decides
//! on the formats; then either [`array`] (npy, raw: windows of one array) or [`table`] (CSV,
//! Parquet, Arrow: batches of columns) runs the [`pipeline`] of reading, scanning by the
//! [`engine`], and writing. An [`output`] appears whole or not at all, and whatever fails ends as
//! one [`error`] with an exit code of its own; if [`memory`] runs out, too.
//!
//! `kogge lab` goes its own way, in [`lab`], and `kogge bench` in [`bench`].
//!
//! The command never computes a scan by itself: bits are the library's business.

// `println!` and `eprintln!` panic where nobody reads them: `streams` has what doesn't.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod args;
mod array;
mod bench;
mod buffer;
mod closed;
mod convert;
mod error;
mod format;
mod input;
mod job;
mod lab;
mod manual;
mod memory;
mod output;
mod pipeline;
mod progress;
mod signals;
mod streams;
mod summary;
mod table;
mod text;

use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use error::{Error, Fault, Result};
use std::panic::catch_unwind;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: memory::Allocator = memory::Allocator;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return misused(&error),
    };
    memory::watch_threads();
    signals::clean_up();
    // A panic has printed its own message by then, and removed the partial output.
    let defect = |_| Err(Error::new(Fault::Defect, "this is a defect in kogge; please report it"));
    match catch_unwind(|| run(&cli.command)).unwrap_or_else(defect) {
        Ok(code) => code,
        Err(error) => {
            if error.fault != Fault::BrokenPipe {
                streams::say(&error);
            }
            ExitCode::from(error.exit_code())
        }
    }
}

/// Says what is wrong with the command line, or prints the help that was asked for. The laboratory
/// has its own code for bad input of any kind.
fn misused(error: &clap::Error) -> ExitCode {
    let asked = error.exit_code() == 0;
    let open = if asked { streams::check_stdout() } else { Ok(()) };
    let printed =
        open.and_then(|()| error.print().map_err(|error| Error::write("standard output", &error)));
    // A closed pipe is no reason to fail; and whoever asked for no help is told what was wrong by
    // the code.
    if let (Err(unwritten), true) = (printed, asked)
        && unwritten.fault != Fault::BrokenPipe
    {
        streams::say(&unwritten);
        return ExitCode::from(unwritten.exit_code());
    }
    let of_lab = std::env::args_os().nth(1).is_some_and(|command| command == "lab");
    match (error.exit_code(), of_lab) {
        (0, _) => ExitCode::SUCCESS,
        (_, true) => ExitCode::FAILURE,
        (code, false) => ExitCode::from(u8::try_from(code).unwrap_or(2)),
    }
}

fn run(command: &Command) -> Result<ExitCode> {
    let done = match command {
        Command::Scan(args) => job::scan(args),
        // What takes minutes to measure is not to be lost at the end.
        Command::Bench(args) => streams::check_stdout().and_then(|()| bench::run(args)),
        Command::Lab(args) => return Ok(lab::run(args)),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "kogge", &mut script);
            print(&script)
        }
        Command::Man { directory: None } => print(&manual::manual()),
        Command::Man { directory: Some(directory) } => manual::write(directory),
    };
    done.map(|()| ExitCode::SUCCESS)
}

fn print(bytes: &[u8]) -> Result<()> {
    streams::print(bytes).map_err(|error| Error::write("standard output", &error))
}
