//! `kogge lab draw`.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use kogge_lab::Diagnostic;
use kogge_lab::draw::{Network, Width, png, svg, text};

use super::subject::SubjectArgs;
use super::{Outcome, Verdict, print, write};

/// The most elements that a drawing shows.
const COLUMNS: usize = 512;

/// Arguments of `kogge lab draw`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: SubjectArgs,
    /// Write an .svg or .png file [default: text to the terminal]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Pixels of a PNG to a unit of the drawing
    #[arg(long, default_value_t = 1.5, allow_negative_numbers = true)]
    scale: f32,
    /// Write every label out in text, however wide it gets
    #[arg(long)]
    wide: bool,
}

pub fn run(args: &Args) -> Outcome {
    let mut subject = args.subject.prepare()?;
    subject.options.trace = true;
    let report = subject.run()?;
    let network = Network::of(&report, &subject.title).ok_or_else(|| {
        Diagnostic::general(
            "there is nothing to draw: no array was given whose elements could be followed",
        )
    })?;
    if network.columns > COLUMNS {
        let message =
            format!("{} elements are too many to draw; {COLUMNS} are not", network.columns);
        return Err(Diagnostic::general(message));
    }
    match &args.output {
        None => print(&text(&network, width(args.wide), std::io::stdout().is_terminal()))?,
        Some(path) => write(Some(path), &picture(&network, path, args.scale)?)?,
    }
    Ok(Verdict::of(report.is_clean()))
}

fn picture(network: &Network, path: &Path, scale: f32) -> Result<Vec<u8>, Diagnostic> {
    let extension = path.extension().map(|extension| extension.to_ascii_lowercase());
    match extension.as_ref().and_then(|extension| extension.to_str()) {
        Some("svg") => Ok(svg(network).into_bytes()),
        Some("png") if scale > 0.0 && scale <= 8.0 => {
            png(&svg(network), scale).map_err(|error| Diagnostic::general(error.to_string()))
        }
        Some("png") => Err(Diagnostic::general("--scale: expected a number above 0, up to 8")),
        _ => Err(Diagnostic::general(format!("{}: drawings are .svg or .png", path.display()))),
    }
}

/// Labels where the terminal, or a pipe's usual reader, has room for them.
fn width(wide: bool) -> Width {
    if wide {
        return Width::Labels;
    }
    let columns = crossterm::terminal::size().map_or(160, |(columns, _)| columns as usize);
    Width::Fit(if std::io::stdout().is_terminal() { columns } else { 160 })
}
