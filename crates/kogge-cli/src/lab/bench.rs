//! `kogge lab bench`: the lessons, timed on a real GPU beside a copy and kogge's own CUDA engine.
//!
//! What is measured goes into a JSON record; plots are made from the record alone, so that they can
//! be made again, and elsewhere.

#[cfg(feature = "cuda")]
mod gpu;
mod plot;
mod record;

use std::path::PathBuf;

use kogge_lab::Diagnostic;
use kogge_lab::catalogue::{Lesson, lesson, lessons};

use super::{Outcome, Verdict, print, table::table, write};
use record::Record;

/// Arguments of `kogge lab bench`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The lessons to time [default: all]
    lessons: Vec<String>,
    /// The lengths to time them at, of those that a lesson claims
    #[arg(short, long, value_delimiter = ',', default_values_t = [64, 1024, 2048, 16_384, 65_536, 262_144, 1_048_576])]
    n: Vec<u64>,
    /// How often each is timed
    #[arg(long, default_value_t = 20)]
    repeats: u32,
    /// Write the record as JSON
    #[arg(short, long, value_name = "FILE.json")]
    output: Option<PathBuf>,
    /// Plot a record instead of measuring
    #[arg(long, value_name = "FILE.json")]
    from: Option<PathBuf>,
    /// Plot to an .svg or .png file, or several
    #[arg(long, value_name = "FILE")]
    plot: Vec<PathBuf>,
}

pub fn run(args: &Args) -> Outcome {
    let record = match &args.from {
        Some(path) => Record::read(path)?,
        None => measure(args)?,
    };
    if let Some(path) = &args.output {
        write(Some(path), record.to_json()?.as_bytes())?;
    }
    for path in &args.plot {
        write(Some(path), &plot::picture(&record, path)?)?;
    }
    print(&tabulate(&record))?;
    let right = record.timings.iter().all(|timing| timing.right);
    Ok(Verdict::of(right))
}

#[cfg(feature = "cuda")]
fn measure(args: &Args) -> Result<Record, Diagnostic> {
    let gpu = gpu::Gpu::open()?;
    let mut record = Record::new(gpu.name()?, args.repeats);
    for &n in &args.n {
        record.timings.push(gpu.copy(n, args.repeats)?);
        record.timings.push(gpu.kogge(n, args.repeats)?);
        for lesson in chosen(args)? {
            if lesson.header.sizes.contains(&n) {
                record.timings.push(gpu.time(lesson, n, args.repeats)?);
            }
        }
    }
    Ok(record)
}

#[cfg(not(feature = "cuda"))]
fn measure(args: &Args) -> Result<Record, Diagnostic> {
    chosen(args)?;
    let error = Diagnostic::general("this kogge was built without CUDA");
    Err(error.with_help("build it with the feature `cuda`, or plot a record with --from"))
}

fn chosen(args: &Args) -> Result<Vec<&'static Lesson>, Diagnostic> {
    if args.lessons.is_empty() {
        return Ok(lessons().iter().collect());
    }
    let find = |name: &String| {
        lesson(name).ok_or_else(|| Diagnostic::general(format!("there is no lesson `{name}`")))
    };
    args.lessons.iter().map(find).collect()
}

fn tabulate(record: &Record) -> String {
    let row = |timing: &record::Timing| {
        vec![
            timing.name.clone(),
            if timing.right { String::new() } else { "wrong".to_owned() },
            timing.n.to_string(),
            format!("{:.2}", timing.median_us),
            format!("{:.2}", timing.least_us),
            format!("{:.2}", timing.gigabytes_per_second()),
        ]
    };
    let rows: Vec<_> = record.timings.iter().map(row).collect();
    let heading = ["lesson", "", "N", "median µs", "least µs", "GB/s"];
    format!(
        "{}, {} of 4 bytes, {} runs each\n\n{}",
        record.device,
        "ints",
        record.repeats,
        table(&heading, &rows, 2)
    )
}
