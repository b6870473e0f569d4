//! `kogge-bench`: measures, and makes tables of records.

use clap::{Args, Parser, Subcommand, ValueEnum};
use half::f16;
use kogge_bench::contender::Mode;
use kogge_bench::machine::Machine;
use kogge_bench::measure::Budget;
use kogge_bench::record::{Cell, Record, Session};
use kogge_bench::suite::{self, Settings};
use kogge_bench::versus::{self, Options, Place};
use kogge_bench::{plot, table};
use kogge_cpu::Level;
use std::io;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Counts what contenders allocate.
#[global_allocator]
static ALLOCATOR: peak_alloc::PeakAlloc = peak_alloc::PeakAlloc;

/// Measures kogge beside copies and rivals, in one process and in turn.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Measure inclusive sums, or the affine operator of a user.
    Cpu(Cpu),
    /// Measure sums along axes and of segments, beside a flat scan of as many bytes.
    Shapes(Shapes),
    /// Print records as tables of ratios.
    Table {
        /// Print every contender.
        #[arg(long)]
        all: bool,
        /// The records.
        #[arg(required = true)]
        records: Vec<PathBuf>,
    },
    /// Draw records as SVG and PNG, beside them.
    Plot {
        /// The records.
        #[arg(required = true)]
        records: Vec<PathBuf>,
    },
}

#[derive(Args)]
struct Cpu {
    /// What is scanned.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "f32")]
    dtype: Vec<Dtype>,
    /// Out of place, in place, or both.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "into,in-place")]
    mode: Vec<Mode>,
    /// Binary logarithms of the lengths: `10..=28`, `12,16,20`.
    #[arg(long, default_value = "10..=24", value_parser = logarithms)]
    log2: Lengths,
    /// Lengths that aren't powers of two, beside those.
    #[arg(long, value_delimiter = ',')]
    len: Vec<usize>,
    /// Threads of the pool [default: all CPUs].
    #[arg(long)]
    threads: Option<usize>,
    /// SIMD levels to measure beside the best, or `all`.
    #[arg(long, value_delimiter = ',')]
    levels: Vec<String>,
    /// Only kogge and contenders whose names contain one of these.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Seconds for each type, mode and length.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// Rounds at least.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Ask for huge pages.
    #[arg(long)]
    huge_pages: bool,
    /// Call from a thread of the pool rather than from outside.
    #[arg(long)]
    in_pool: bool,
    /// Print every contender.
    #[arg(long)]
    all: bool,
    /// Add what was measured to this record.
    #[arg(long)]
    record: Option<PathBuf>,
}

/// Tables of 2^28 elements from narrow to wide, keys, and offsets; each scan moves 2 to 3 GiB.
const SHAPES: [&str; 12] = [
    "2^20x2^8/1",
    "2^20x2^8/0",
    "2^16x2^12/1",
    "2^16x2^12/0",
    "2^12x2^16/1",
    "2^12x2^16/0",
    "2^8x2^20/1",
    "2^8x2^20/0",
    "2^4x2^24/1",
    "2^4x2^24/0",
    "2^28/key:64",
    "2^28/zipf:2^20",
];

#[derive(Args)]
struct Shapes {
    /// ROWSxCOLUMNS/AXIS, LENGTH/key:RUN or LENGTH/zipf:SEGMENTS.
    #[arg(default_values_t = SHAPES.map(str::to_owned))]
    shapes: Vec<String>,
    /// What is scanned.
    #[arg(long, value_delimiter = ',', default_values_t = versus::SHAPED.map(str::to_owned))]
    dtype: Vec<String>,
    /// Threads of the pool [default: all CPUs].
    #[arg(long)]
    threads: Option<usize>,
    /// Only copies, kogge, its flat scan, and libraries whose names contain one of these.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Seconds for each type and shape.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// Rounds at least.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// The Python that has numpy and PyTorch; without, they are left out.
    #[arg(long)]
    python: Option<PathBuf>,
    /// Add what was measured to this record.
    #[arg(long)]
    record: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Dtype {
    I8,
    I16,
    I32,
    I64,
    F16,
    F32,
    F64,
    /// Affine maps of two f32 by a user's operator, against the sum of the same bytes.
    Affine,
}

#[derive(Clone)]
struct Lengths(Vec<u32>);

fn logarithms(text: &str) -> Result<Lengths, String> {
    let number = |text: &str| match text.trim().parse::<u32>() {
        Ok(log) if log <= 34 => Ok(log),
        _ => Err(format!("`{text}` is no logarithm of a length")),
    };
    let part = |part: &str| -> Result<RangeInclusive<u32>, String> {
        match part.split_once("..") {
            Some((from, to)) => Ok(number(from)?..=number(to.trim_start_matches('='))?),
            None => Ok(number(part)?..=number(part)?),
        }
    };
    let ranges: Vec<_> = text.split(',').map(part).collect::<Result<_, _>>()?;
    Ok(Lengths(ranges.into_iter().flatten().collect()))
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Action::Cpu(cpu) => measure(&cpu),
        Action::Shapes(shapes) => measure_shapes(&shapes),
        Action::Table { all, records } => tables(&records, all),
        Action::Plot { records } => plots(&records),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn tables(records: &[PathBuf], all: bool) -> io::Result<()> {
    for path in records {
        let record = Record::read(path)?;
        println!("{}: {} CPUs, {}", record.machine.cpu, record.machine.cpus, record.suite);
        print!("{}", table::table(&record, all));
    }
    Ok(())
}

fn plots(records: &[PathBuf]) -> io::Result<()> {
    for path in records {
        for plot in plot::draw(&Record::read(path)?, path)? {
            println!("{}", plot.display());
        }
    }
    Ok(())
}

fn measure(cpu: &Cpu) -> io::Result<()> {
    let threads =
        cpu.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build_global().map_err(io::Error::other)?;
    let settings = Settings {
        threads,
        levels: levels(&cpu.levels)?,
        huge_pages: cpu.huge_pages,
        only: cpu.only.clone(),
        budget: Budget {
            total: Duration::try_from_secs_f64(cpu.seconds).map_err(io::Error::other)?,
            least: cpu.rounds.max(1),
            most: 1_000,
        },
    };
    if cpu.in_pool { rayon::scope(|_| cells(cpu, &settings)) } else { cells(cpu, &settings) }
}

fn measure_shapes(args: &Shapes) -> io::Result<()> {
    if let Some(threads) = args.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build_global().map_err(io::Error::other)?;
    }
    let total = Duration::try_from_secs_f64(args.seconds).map_err(io::Error::other)?;
    let shapes = args.shapes.iter().map(|shape| shape.parse().map_err(io::Error::other));
    let outcome = versus::measure(
        &Options {
            place: Place::Cpu,
            dtypes: args.dtype.clone(),
            sizes: vec![],
            shapes: shapes.collect::<io::Result<_>>()?,
            only: args.only.clone(),
            budget: Budget { total, least: args.rounds.max(1), most: 1_000 },
            python: args.python.clone(),
            cub: None,
            commit: None,
            record: args.record.clone(),
        },
        |cell| eprintln!("{} {}", cell.dtype, cell.shape.as_deref().unwrap_or("flat")),
    )?;
    print!("{}", table::versus(&outcome.record));
    for (name, reason) in &outcome.absent {
        println!("absent: {name} ({reason})");
    }
    for one in &outcome.inexact {
        println!("not exact, and so not timed: {}, {} ({})", one.name, one.dtype, one.fault);
    }
    args.record.as_ref().map_or(Ok(()), |path| outcome.record.add_to(path))
}

fn levels(names: &[String]) -> io::Result<Vec<Level>> {
    let available = Level::available();
    if names.iter().any(|name| name == "all") {
        return Ok(available);
    }
    let named = |name: &String| {
        let level = available.iter().find(|level| level.name() == name);
        level.copied().ok_or_else(|| io::Error::other(format!("this CPU has no level `{name}`")))
    };
    names.iter().map(named).collect()
}

/// Measures cell by cell, printing and recording each as it comes.
fn cells(cpu: &Cpu, settings: &Settings) -> io::Result<()> {
    let suite = if cpu.dtype.contains(&Dtype::Affine) { "affine" } else { "cpu" };
    let mut lengths: Vec<usize> = cpu.log2.0.iter().map(|&log| 1 << log).collect();
    lengths.extend(&cpu.len);
    for &dtype in &cpu.dtype {
        for &mode in &cpu.mode {
            let mut session = Session::begin(settings.threads, settings.huge_pages);
            for &len in &lengths {
                let measured = cell(dtype, mode, len, settings)?;
                eprintln!("{} {} {}", measured.dtype, mode.name(), table::length(len));
                session.cells.push(measured);
            }
            let fresh =
                Record { suite: suite.to_owned(), machine: Machine::this(), runs: vec![session] };
            print!("{}", table::table(&fresh, cpu.all));
            if let Some(path) = &cpu.record {
                fresh.add_to(path)?;
            }
        }
    }
    Ok(())
}

fn cell(dtype: Dtype, mode: Mode, len: usize, settings: &Settings) -> io::Result<Cell> {
    match dtype {
        Dtype::I8 => suite::sum::<i8>(mode, len, settings),
        Dtype::I16 => suite::sum::<i16>(mode, len, settings),
        Dtype::I32 => suite::sum::<i32>(mode, len, settings),
        Dtype::I64 => suite::sum::<i64>(mode, len, settings),
        Dtype::F16 => suite::sum::<f16>(mode, len, settings),
        Dtype::F32 => suite::sum_of_floats::<f32>(mode, len, settings),
        Dtype::F64 => suite::sum_of_floats::<f64>(mode, len, settings),
        Dtype::Affine => suite::affine(mode, len, settings),
    }
}
