//! `kogge lab show`.

use kogge_lab::Diagnostic;
use kogge_lab::catalogue::lesson;

use super::subject::{mutant, mutated};
use super::{Outcome, Verdict, print};

/// Arguments of `kogge lab show`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The lesson
    lesson: String,
    /// Print it with this fault
    #[arg(long, value_name = "NAME")]
    mutant: Option<String>,
}

pub fn run(args: &Args) -> Outcome {
    let found = lesson(&args.lesson).ok_or_else(|| {
        Diagnostic::general(format!("there is no lesson `{}`", args.lesson))
            .with_help("`kogge lab list` lists them")
    })?;
    match &args.mutant {
        None => print(&found.text)?,
        Some(name) => print(&mutated(found, mutant(found, name)?)?.text)?,
    }
    Ok(Verdict::Clean)
}
