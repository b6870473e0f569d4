//! The command line.

use crate::bench::BenchArgs;
use crate::error::EXIT_CODES;
use crate::format::Format;
use crate::lab::LabArgs;
use clap::{Args, Parser, Subcommand, value_parser};
use kogge_erased::{Dtype, Op};
use std::path::PathBuf;

/// Parallel scan (prefix sum) of files of any size.
///
/// A scan gives, at every place, everything up to there combined: running totals, running extremes,
/// forward fill, linear recurrences. kogge reads .npy, CSV, TSV, Parquet, Arrow IPC and raw files,
/// works on every core, takes constant memory, and gives the same bits every time.
#[derive(Debug, Parser)]
#[command(name = "kogge", version, max_term_width = 100, after_long_help = format!("{EXIT_CODES}\n{OF_LAB}"))]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Scan the columns of a table, or an array along an axis
    #[command(after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
    Scan(Box<ScanArgs>),
    /// Run, watch and check CUDA scan kernels without a GPU
    Lab(Box<LabArgs>),
    /// Measure kogge beside every library that is on this machine
    Bench(Box<BenchArgs>),
    /// Print the completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual, a page for each command (roff)
    Man {
        /// Write each page to a file of its own here instead, as kogge-scan.1; the directory is
        /// made if there is none
        directory: Option<PathBuf>,
    },
}

const OF_LAB: &str =
    "kogge lab has codes of its own, 1 for bad input and 3 for hazards: see kogge lab --help";

const EXAMPLES: &str = "\
Examples:
  Running total of a column, beside the others:
    kogge scan data/seattle-weather.csv --column precipitation

  The same per kind of weather, started anew when it changes, as Parquet:
    kogge scan data/seattle-weather.csv --column precipitation \\
        --by weather -o totals.parquet

  numpy's cumsum along the last axis, in an array larger than memory:
    kogge scan big.npy --axis -1 -o sums.npy

  Where every group starts, from the groups' sizes:
    kogge scan counts.npy --exclusive -o offsets.npy

  Exponential smoothing, y = a*y + b, with a and b in two columns:
    kogge scan filter.csv --op affine --column a --column b --init 0.5

  From a pipe of raw floats into another:
    produce | kogge scan - --input-format raw --dtype f32 --format raw | consume

Nulls:
  Empty cells of CSV and nulls of Parquet and Arrow are skipped: the scan is
  that of the values that are there, and a null stays null beside it. The
  operator last-valid fills them. A line of CSV with nothing on it is no row,
  as for pandas; in a table of one column a null is written \"\".

Types:
  A column of CSV becomes i64, u64, f64 or bool in Parquet and Arrow, if all
  its cells are that, else text, which has to be UTF-8. So that no digit is
  lost, integers stay text where they are beyond 64 bits, or beyond 2^53 among
  floats, and so do numbers of which one has zeros in front, as codes have
  (007). A scanned column has the type that it is scanned in: f64 for integers
  beyond 64 bits.

Arrays as text:
  An array of one axis becomes a table: a column of its values, called value,
  and one of theirs. One of more axes becomes a line of text for each line of
  its last axis, without names.

Keys:
  --by compares the cells of CSV as text, so 1 and 1.0 differ. Floats of
  Parquet and Arrow are compared as numbers: 0.0 equals -0.0, and NaN equals
  nothing, so each NaN begins a run; within lists and structures they are
  compared by their bits. Nulls are equal.

Order of combination:
  Float sums depend on the order of additions. kogge's is fixed by the length
  and the size of the elements alone, so neither threads nor pieces nor file
  formats change a bit of the result.

Memory:
  Constant, except for: a column scanned in --reverse in a table, which is
  held (an element and a value a row, and the other columns are read a second
  time); a batch of Arrow IPC, which is read whole; a row of CSV, which may
  have 64 MiB.";

/// Thousands of threads take longer to start than most scans take.
const MOST_THREADS: i64 = 1024;

/// Scan a file.
#[derive(Args, Debug)]
pub struct ScanArgs {
    /// The file to scan; - is standard input
    pub input: PathBuf,

    /// The operator that combines
    #[arg(long, value_enum, default_value = "sum", help_heading = "Scan")]
    pub op: Op,

    /// Leave each element out of its own value: the first value is --init, or the operator's zero;
    /// last-valid has none, so it is null in a table, as are the first extremes of dates and times
    #[arg(long, help_heading = "Scan")]
    pub exclusive: bool,

    /// The value that everything starts from: a number, or a date or a time for a column of those
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true, help_heading = "Scan")]
    pub init: Option<String>,

    /// Start from the end
    #[arg(long, help_heading = "Scan")]
    pub reverse: bool,

    /// The type to scan in and to write; also what a raw input holds; dates and times become such
    /// numbers [default: the input's, with sums and products of small integers in 64 bits, as numpy
    /// does]
    #[arg(long, value_enum, help_heading = "Scan")]
    pub dtype: Option<Dtype>,

    /// The type to accumulate in: f64 for f32, f16 or bf16; integers wrap to the same bits in any
    /// type as wide as theirs [default: f32 for f16 and bf16, else the type itself]
    #[arg(long, value_enum, value_name = "DTYPE", help_heading = "Scan")]
    pub accumulate: Option<Dtype>,

    /// The axis of an array to scan along, from 0, or from -1 for the last [default: all elements
    /// as one line, in C order]
    #[arg(long, allow_negative_numbers = true, help_heading = "Arrays", conflicts_with_all = ["column", "by"])]
    pub axis: Option<i64>,

    /// The column to scan; once for every column [default: the only numeric one]
    #[arg(long, value_name = "NAME", help_heading = "Tables")]
    pub column: Vec<String>,

    /// Start anew whenever the value of this column changes; may be given several times
    #[arg(long, value_name = "KEY", help_heading = "Tables")]
    pub by: Vec<String>,

    /// The name of the new column; once for every --column [default: NAME_OP, such as rain_sum]
    #[arg(long = "as", value_name = "NAME", help_heading = "Tables")]
    pub names: Vec<String>,

    /// Where to write; a file appears when it is complete [default: standard output]
    #[arg(short, long, value_name = "FILE", help_heading = "Files")]
    pub output: Option<PathBuf>,

    /// The format to write [default: by the extension of --output; text on standard output]
    #[arg(long, value_enum, help_heading = "Files")]
    pub format: Option<Format>,

    /// The format to read [default: by the extension, else by the first bytes]
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Files")]
    pub input_format: Option<Format>,

    /// What a raw input holds, if that is not what to scan in
    #[arg(long, value_enum, value_name = "DTYPE", help_heading = "Files")]
    pub input_dtype: Option<Dtype>,

    /// How many threads scan, at most 1024; one more reads and one writes [default: one for every
    /// core]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Files", value_parser = value_parser!(u16).range(1..=MOST_THREADS))]
    pub threads: Option<u16>,

    /// Print one line of JSON about what was done; needs --output. The total of no values is what
    /// the operator starts from: 0 for a sum. A path that is not UTF-8 is a list of its bytes
    #[arg(long, requires = "output", help_heading = "Files")]
    pub json: bool,
}
