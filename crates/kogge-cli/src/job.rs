//! One `kogge scan`: the arguments, and what follows from them whatever the format.

use crate::args::ScanArgs;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::input::Input;
use crate::output::Output;
use crate::progress::Progress;
use crate::streams;
use crate::summary::Scanned;
use crate::table::bridge::read_dated;
use crate::text::{json_element, read_element};
use crate::{array, table};
use arrow_schema::DataType;
use kogge::{Direction, Kind};
use kogge_erased::{Dtype, Op, Spec};
use serde_json::{Value, json};
use std::path::Path;

/// A scan that was asked for.
pub struct Job<'a> {
    /// The command line.
    pub args: &'a ScanArgs,
    /// What is written.
    pub output_format: Format,
    /// Bytes of a piece.
    pub buffer: usize,
}

/// Bytes of a piece: large enough for the disk and the engine, small enough for the cache.
const BUFFER: usize = 8 << 20;

/// Tests set this variable to cut the data everywhere.
const BUFFER_VARIABLE: &str = "KOGGE_BUFFER";

/// Does what `kogge scan` was asked for.
pub fn scan(args: &ScanArgs) -> Result<()> {
    let input = Input::open(&args.input)?;
    let input_format = input_format(args, &input)?;
    let output_format = output_format(args, input_format)?;
    if args.input_dtype.is_some() && input_format != Format::Raw {
        return Err(Error::usage(
            "--input-dtype is for raw inputs; other formats name their types",
        ));
    }
    // By itself rayon would panic where it can't start them.
    let threads = args.threads.unwrap_or(0).into();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    pool.map_err(|error| Error::no_thread(&error))?;
    let job = Job { args, output_format, buffer: buffer() };
    let done = run(&job, input, input_format);
    // What a raw input holds is what --dtype names, if nothing else does.
    let held = args.dtype.filter(|_| input_format == Format::Raw && args.input_dtype.is_none());
    done.map_err(|error| held.into_iter().fold(error, Error::of_raw))
}

fn run(job: &Job, input: Input, input_format: Format) -> Result<()> {
    let args = job.args;
    if !input_format.is_array() {
        if let Some(axis) = args.axis {
            return Err(Error::usage(format!("--axis {axis} is for arrays, and this is a table"))
                .hint("name the column to scan with --column"));
        }
        if !args.names.is_empty() && job.output_format.is_array() {
            return Err(no_names(false));
        }
        return table::scan(job, input, input_format);
    }
    if !(args.column.is_empty() && args.by.is_empty()) {
        return Err(Error::usage("--column and --by are for tables, and this is an array")
            .hint("name the axis to scan along with --axis"));
    }
    if args.op.arity() > 1 {
        return Err(Error::mismatch(format!("{} takes two columns of a table", args.op.name()))
            .hint("write a and b as two columns of a CSV, Parquet or Arrow file"));
    }
    let reader = array::open(input, input_format, args.input_dtype.or(args.dtype))?;
    let text_of_rows = job.output_format.is_text() && reader.header.shape.len() > 1;
    if !(job.output_format.is_array() || text_of_rows) {
        check_name_count(args, 1)?;
        return table::scan_array(job, reader);
    }
    if !args.names.is_empty() {
        return Err(no_names(text_of_rows));
    }
    array::scan(job, reader)
}

/// Checks that there is a name for each new column, or none.
pub fn check_name_count(args: &ScanArgs, columns: usize) -> Result<()> {
    let names = args.names.len();
    if names == 0 || names == columns {
        return Ok(());
    }
    Err(Error::usage(format!(
        "{names} new name(s) for {columns} new column(s); give --as once for each"
    )))
}

fn no_names(text_of_rows: bool) -> Error {
    let error =
        Error::usage("--as names a new column, and what is written here is an array without names");
    error.hint(match text_of_rows {
        true => "leave --as out: an array of more than one axis is lines of text without names",
        false => "leave --as out, or write a table, as with --format csv",
    })
}

fn input_format(args: &ScanArgs, input: &Input) -> Result<Format> {
    let by_name = input.path.as_deref().map(Format::from_path).and_then(Result::ok);
    let named = args.input_format.or(by_name);
    // Of raw elements the first may be any.
    if named != Some(Format::Raw)
        && let Some((packer, unpack)) = Format::packed(input.head())
    {
        let what = format!("{} is packed by {packer}, which kogge does not unpack", input.name);
        return Err(
            Error::malformed(what).hint(format!("unpack it first: {unpack} FILE | kogge scan -"))
        );
    }
    let by_head = Format::from_head(input.head());
    match (named, by_head) {
        (Some(text), Some(binary)) if text.is_text() && !binary.is_text() => {
            let is = format!("{} is no text, but {}", input.name, binary.called());
            Err(Error::malformed(is).hint(format!("give --input-format {}", binary.called())))
        }
        (Some(format), _) | (None, Some(format)) => Ok(format),
        (None, None) => {
            let error = Error::usage(format!("the format of {} cannot be told", input.name));
            Err(error.hint(match args.dtype {
                Some(_) => "for raw elements give --input-format raw",
                None => "give --input-format; raw and --dtype for raw elements",
            }))
        }
    }
}

fn output_format(args: &ScanArgs, input_format: Format) -> Result<Format> {
    let path = args.output.as_deref().filter(|path| *path != Path::new("-"));
    match (args.format, path) {
        (Some(format), _) => Ok(format),
        (None, Some(path)) => Format::from_path(path),
        (None, None) if input_format == Format::Tsv => Ok(Format::Tsv),
        (None, None) => Ok(Format::Csv),
    }
}

fn buffer() -> usize {
    let asked = std::env::var(BUFFER_VARIABLE).ok().and_then(|bytes| bytes.parse().ok());
    asked.unwrap_or(BUFFER).max(1)
}

impl Job<'_> {
    /// The scan of data of this type; `meaning` is what they are in Arrow, if more than numbers.
    pub fn spec(&self, file: Dtype, meaning: Option<&DataType>) -> Result<Spec> {
        let args = self.args;
        let types = args.op.types(file, args.dtype, args.accumulate)?;
        let kind = if args.exclusive { Kind::Exclusive } else { Kind::Inclusive };
        let direction = if args.reverse { Direction::Reverse } else { Direction::Forward };
        let init = match &args.init {
            Some(text) => {
                let meaning = meaning.filter(|_| types.output == file);
                Some(parse_init(args.op, types.accumulator, meaning, text)?)
            }
            None => None,
        };
        Ok(Spec::new(args.op, types, kind, direction, init))
    }

    /// The output, after everything about the input has been checked.
    pub fn create_output(&self) -> Result<Output> {
        let input = Some(self.args.input.as_path()).filter(|path| *path != Path::new("-"));
        let output = Output::create(self.args.output.as_deref(), input)?;
        if output.is_terminal() && !self.output_format.is_text() {
            return Err(Error::usage("a terminal shows text only")
                .hint("give --format csv, or write to a file with -o"));
        }
        if self.args.json {
            streams::check_stdout()?;
        }
        if self.args.json && output.is_stdout() {
            return Err(Error::usage("--json prints where the data go; give -o FILE"));
        }
        Ok(output)
    }

    /// A progress bar for this much input.
    pub fn progress(&self, bytes: Option<u64>, output: &Output) -> Progress {
        Progress::new(bytes, output.is_terminal())
    }

    /// Everything combined, as the summary has it; `any` says whether there was anything. The total
    /// of nothing is what the operator starts from, but a sum's -0.0 is not shown.
    pub fn total(&self, spec: &Spec, total: Vec<u8>, any: bool) -> Value {
        let nothing = !any && spec.op() == Op::Sum && self.args.init.is_none();
        let total = if nothing { vec![0; total.len()] } else { total };
        json_element(spec.types().output, &total)
    }

    /// Puts the output in its place and prints the summary.
    pub fn finish(
        &self,
        output: Output,
        rows: u64,
        scans: &[Scanned],
        progress: &Progress,
    ) -> Result<()> {
        let bytes = output.len();
        output.commit()?;
        if !self.args.json {
            return Ok(());
        }
        let args = self.args;
        let line = json!({
            "input": json_path(&args.input),
            "output": args.output.as_deref().map(json_path),
            "op": args.op.name(),
            "kind": if args.exclusive { "exclusive" } else { "inclusive" },
            "direction": if args.reverse { "reverse" } else { "forward" },
            "rows": rows,
            "scans": scans.iter().map(Scanned::to_json).collect::<Vec<_>>(),
            "bytes_written": bytes,
            "seconds": progress.elapsed().as_secs_f64(),
        });
        streams::print(format!("{line}\n").as_bytes())
            .map_err(|error| Error::write("standard output", &error))
    }
}

/// A path as JSON, whose strings are Unicode: a list of its bytes where it is not.
fn json_path(path: &Path) -> Value {
    path.to_str().map_or_else(|| json!(path.as_os_str().as_encoded_bytes()), |text| json!(text))
}

/// The bytes of an `--init`.
fn parse_init(
    op: Op,
    accumulator: Dtype,
    meaning: Option<&DataType>,
    text: &str,
) -> Result<Vec<u8>> {
    if !op.takes_init() {
        return Err(Error::usage(format!("{} takes no --init", op.name())));
    }
    let mut init = vec![0; accumulator.size()];
    if read_element(accumulator, text, &mut init) {
        return Ok(init);
    }
    if let Some(meaning) = meaning {
        return read_dated(meaning, text).ok_or_else(|| {
            Error::usage(format!("--init '{text}' is no {meaning}")).hint(
                "dates and times are written as 2022-01-31, 12:30:00 or 2022-01-31T12:30:00; or \
                 give the number that the file holds",
            )
        });
    }
    if accumulator == Dtype::Bool {
        let what = format!("--init '{text}' is not a truth value, as {} takes here", op.name());
        return Err(Error::usage(what).hint("give true or false"));
    }
    let what = format!("--init '{text}' is not a number of the type {accumulator}");
    Err(Error::usage(what).hint(match wider(op, text) {
        Some(wider) => format!("--dtype {wider} scans in a type that holds it"),
        None => "give a number".to_owned(),
    }))
}

/// The first of the widest types that the operator has and that hold this number.
fn wider(op: Op, text: &str) -> Option<Dtype> {
    [Dtype::I64, Dtype::U64, Dtype::F64].into_iter().find(|&wide| {
        op.types(wide, Some(wide), None).is_ok() && read_element(wide, text, &mut [0; 8])
    })
}
