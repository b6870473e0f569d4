//! `kogge bench`: kogge beside every library that is on this machine, and plots of the records.
//!
//! What is measured, and how, is the library kogge-bench's business; here are the options and the
//! printing.

use crate::error::{Error, Result, quoted};
use crate::output::Output;
use crate::streams::{self, say};
use kogge_bench::measure::Budget;
use kogge_bench::record::Record;
use kogge_bench::versus::{self, DTYPES, Options, Outcome, Place};
use kogge_bench::{Shape, plot, table};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// Arguments of `kogge bench`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, after_long_help = HOW)]
pub struct BenchArgs {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: RunArgs,
}

const HOW: &str = "\
Every result is checked before it is timed. Contenders take turns. On a GPU 256 MiB are written \
before each timed call, so that nothing lies in L2; on the CPU what fits in the caches is measured \
there. Libraries that are absent are named, with the reason; so are those whose result is not exact, \
which are not timed, and names that --only asks for and nothing has.

Exit codes: 0 for done, 3 for a record that can't be read, 4 for a file that is none, 5 for a wrong \
result of kogge's or what can't be measured here, 6 for a record that can't be written.";

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Draw records as SVG and PNG, beside them: speed over size, a line for each library; of
    /// shapes, bars
    Plot {
        /// Records that --record wrote
        #[arg(required = true, value_name = "RECORD")]
        records: Vec<PathBuf>,
    },
    /// Print the tables of records again
    Table {
        /// Records that --record wrote
        #[arg(required = true, value_name = "RECORD")]
        records: Vec<PathBuf>,
    },
}

#[derive(Debug, clap::Args)]
struct RunArgs {
    /// Measure on a CUDA device [default: on the CPU]
    #[arg(long)]
    cuda: bool,
    /// The number of the CUDA device
    #[arg(long, value_name = "K", default_value_t = 0, requires = "cuda")]
    device: usize,
    /// The types to sum
    #[arg(long, value_delimiter = ',', value_name = "DTYPE", default_values_t = ["i32".to_owned(), "f32".to_owned()], value_parser = clap::builder::PossibleValuesParser::new(DTYPES))]
    dtype: Vec<String>,
    /// Bytes of the input, with the units KiB, MiB and GiB [default: 64KiB,1MiB,16MiB,64MiB, and
    /// with --cuda 256MiB,1GiB too]
    #[arg(long, value_delimiter = ',', value_name = "BYTES", value_parser = bytes)]
    size: Vec<u64>,
    /// Sum along an axis of a table, by key or by offsets instead: ROWSxCOLUMNS/AXIS,
    /// LENGTH/key:RUN, LENGTH/zipf:SEGMENTS, where numbers may be written as 2^20
    #[arg(long, value_delimiter = ',', value_name = "SHAPE", value_parser = Shape::from_str)]
    shape: Vec<Shape>,
    /// Only copies, kogge, and libraries whose names contain one of these, in capitals or not
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    only: Vec<String>,
    /// Seconds for each type and size
    #[arg(long, default_value = "1", value_parser = seconds)]
    seconds: Duration,
    /// Rounds at least
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// The Python that has numpy, PyTorch, CuPy, …
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
    /// Do without Python's libraries
    #[arg(long)]
    no_python: bool,
    /// CUB's scans as a library (of crates/kogge-cuda/examples/cub.cu) [default: compiled by nvcc]
    #[arg(long, value_name = "FILE.so", requires = "cuda")]
    cub: Option<PathBuf>,
    /// Threads on the CPU [default: one for every core]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// The commit to name in the record [default: that of the sources, if they are here]
    #[arg(long, value_name = "ID")]
    commit: Option<String>,
    /// Add what was measured to a record of this machine, or begin one in a folder that is there
    #[arg(short, long, value_name = "FILE.json")]
    record: Option<PathBuf>,
}

/// `64KiB`, `1MiB`, `1GiB` or a number.
fn bytes(text: &str) -> std::result::Result<u64, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let shift = match text[digits..].trim() {
        "" => 0,
        "KiB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        unit => return Err(format!("`{unit}` is none of KiB, MiB, GiB")),
    };
    let number: u64 = text[..digits].parse().map_err(|_| "expected a number".to_owned())?;
    number
        .checked_mul(1 << shift)
        .filter(|&bytes| bytes > 0 && bytes <= 1 << 40)
        .ok_or_else(|| "expected 1 to 1024 GiB".to_owned())
}

/// A number of seconds, a day at most.
fn seconds(text: &str) -> std::result::Result<Duration, String> {
    let seconds = text.trim().parse().ok().filter(|seconds| (0.0..=86_400.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "expected 0 to 86400".to_owned())
}

/// Runs `kogge bench`.
pub fn run(args: &BenchArgs) -> Result<()> {
    match &args.command {
        None => measure(&args.run),
        Some(Command::Plot { records }) => records.iter().try_for_each(|path| {
            let written = plot::draw(&read(path)?, path).map_err(failed)?;
            let names: Vec<_> =
                written.iter().map(|path| format!("{}\n", path.display())).collect();
            print(&names.concat()).map_err(failed)
        }),
        Some(Command::Table { records }) => records.iter().try_for_each(|path| {
            let record = read(path)?;
            print(&format!("{}\n{}", heading(&record), table::versus(&record))).map_err(failed)
        }),
    }
}

fn failed(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Error::write("standard output", &error),
        _ => Error::mismatch(error.to_string()),
    }
}

fn read(path: &Path) -> Result<Record> {
    let name = quoted(path);
    let text = fs::read_to_string(path).map_err(|error| Error::read(&name, &error))?;
    let no_record =
        |error| Error::malformed(format!("{name} is no record of measurements: {error}"));
    serde_json::from_str(&text).map_err(no_record)
}

/// The file for a record, before anything is measured: one that can't take it is refused then.
fn open(path: &Path) -> Result<Output> {
    if path.exists() {
        read(path)?;
    }
    let output = Output::create(Some(path), None)?;
    if output.is_stdout() {
        return Err(Error::usage("--record needs a file: the tables go to standard output"));
    }
    Ok(output)
}

/// Writes the record, with what its file held before.
fn write(record: Record, path: &Path, output: Output) -> Result<()> {
    let text = record.joined(path).and_then(|record| record.text()).map_err(failed)?;
    output.put(text.as_bytes())
}

fn print(text: &str) -> io::Result<()> {
    streams::print(text.as_bytes())
}

fn measure(args: &RunArgs) -> Result<()> {
    let output = args.record.as_deref().map(open).transpose()?;
    if cfg!(debug_assertions) {
        say("warning: this is a debug build, whose speed says nothing; build with --release");
    }
    if let Some(threads) = args.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
        pool.build_global().map_err(|error| failed(io::Error::other(error)))?;
    }
    let outcome = versus::measure(&options(args), |cell| {
        let bytes = || format!("{} bytes", cell.len * cell.element_bytes);
        let of = cell.shape.clone().unwrap_or_else(bytes);
        say(format_args!("measured {} of {of}", cell.dtype));
    });
    let outcome = outcome.map_err(failed)?;
    print_outcome(&outcome).map_err(failed)?;
    match (&args.record, output) {
        (Some(path), Some(output)) => write(outcome.record, path, output),
        _ => Ok(()),
    }
}

fn print_outcome(outcome: &Outcome) -> io::Result<()> {
    let record = &outcome.record;
    print(&format!("{}\n{}", heading(record), table::versus(record)))?;
    for (name, reason) in &outcome.absent {
        print(&format!("\nabsent: {name} ({reason})"))?;
    }
    for one in &outcome.inexact {
        print(&format!(
            "\nnot exact, and so not timed: {}, {} ({})",
            one.name, one.dtype, one.fault
        ))?;
    }
    if !(outcome.absent.is_empty() && outcome.inexact.is_empty()) {
        print("\n")?;
    }
    Ok(())
}

fn options(args: &RunArgs) -> Options {
    let default: &[u64] = if args.cuda {
        &[64 << 10, 1 << 20, 16 << 20, 64 << 20, 256 << 20, 1 << 30]
    } else {
        &[64 << 10, 1 << 20, 16 << 20, 64 << 20]
    };
    Options {
        place: if args.cuda { Place::Cuda(args.device) } else { Place::Cpu },
        dtypes: args.dtype.clone(),
        sizes: match (args.size.as_slice(), args.shape.as_slice()) {
            ([], []) => default.to_vec(),
            (sizes, _) => sizes.to_vec(),
        },
        shapes: args.shape.clone(),
        only: args.only.clone(),
        budget: Budget { total: args.seconds, least: usize::from(args.rounds), most: 10_000 },
        python: (!args.no_python).then(|| args.python.clone()),
        cub: args.cub.clone(),
        commit: args.commit.clone(),
        record: args.record.clone(),
    }
}

/// Where, when and of what.
fn heading(record: &Record) -> String {
    let machine = match &record.machine.gpu {
        Some(gpu) => format!("{}, driver {}", gpu.name, gpu.driver),
        None => format!("{}, {} CPUs", record.machine.cpu, record.machine.cpus),
    };
    let session = record.runs.last();
    let of = session.map_or(String::new(), |run| {
        format!("commit {}, {}\n{}", run.commit, run.date, run.versions.join("; "))
    });
    format!("{machine}\n{of}")
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_have_units() {
        assert_eq!(bytes("64KiB"), Ok(65_536));
        assert_eq!(bytes(" 3 MiB"), Ok(3 << 20));
        assert_eq!(bytes("1GiB"), Ok(1 << 30));
        assert_eq!(bytes("17"), Ok(17));
        for bad in ["", "KiB", "1kB", "0", "-1", "99999999GiB"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
