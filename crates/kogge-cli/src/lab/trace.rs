//! `kogge lab trace`.

use std::path::PathBuf;

use kogge_lab::Diagnostic;

use super::subject::SubjectArgs;
use super::{Outcome, Verdict, write};

/// Arguments of `kogge lab trace`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: SubjectArgs,
    /// Write to this file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn run(args: &Args) -> Outcome {
    let mut subject = args.subject.prepare()?;
    subject.options.trace = true;
    let report = subject.run()?;
    let mut json = serde_json::to_vec(&report).map_err(|error| {
        Diagnostic::general(format!("the trace can't be written as JSON: {error}"))
    })?;
    json.push(b'\n');
    write(args.output.as_deref(), &json)?;
    Ok(Verdict::of(report.is_clean()))
}
