//! CSV and TSV: rows of text in which some columns are numbers.
//!
//! The text of a row is kept byte for byte; scanned columns are added at its end. What a column
//! holds is found out before its rows are scanned: from all of a file, from the first part of a
//! pipe. Empty cells are nulls.

mod kind;
mod rows;
mod writer;

pub use writer::CsvWriter;

use super::Format;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::job::Job;
use crate::table::batch::{Head, Source, Table, TableReader, TextHead, Whole};
use crate::table::select::Selection;
use csv::{ByteRecord, ReaderBuilder};
use kind::{Kind, infer};
use kogge_erased::Dtype;
use rows::{CsvRows, Kept};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Bytes of a pipe that are looked at to find out what its columns hold.
const SAMPLE: u64 = 1 << 18;

/// Most bytes of text in a batch.
const BATCH_BYTES: usize = 1 << 20;

/// A text table, opened.
pub struct CsvTable {
    head: Head,
    text: TextHead,
    selection: Selection,
    name: String,
    source: Option<Bytes>,
    batch_bytes: usize,
    /// Whether the types were found out from a part of the rows only.
    sampled: bool,
}

enum Bytes {
    File(File),
    Pipe(Box<dyn Read + Send>),
}

impl CsvTable {
    /// Opens a text table and finds out what its columns hold.
    ///
    /// # Errors
    ///
    /// If it isn't a table, or a selected column is missing or no column of numbers.
    pub fn open(job: &Job, input: Input, format: Format, again: bool) -> Result<Self> {
        let name = input.name.clone();
        let bytes = input.len();
        let delimiter = format.delimiter();
        let (mut source, sample) = if again || bytes.is_some() {
            (Bytes::File(input.into_file()?), None)
        } else {
            let mut pipe = input.into_reader();
            let mut sample = Vec::new();
            let read = (&mut pipe).take(SAMPLE).read_to_end(&mut sample);
            read.map_err(|error| Error::read(&name, &error))?;
            let start = io::Cursor::new(sample.clone());
            (Bytes::Pipe(Box::new(start.chain(pipe))), Some(sample))
        };
        let sampled = sample.as_ref().is_some_and(|sample| sample.len() as u64 == SAMPLE);
        let sample = sample.map(|mut sample| {
            let lines = sample.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            sample.truncate(if sampled { lines } else { sample.len() });
            sample
        });
        let (line, newline, names) = match (&sample, &mut source) {
            (Some(sample), _) => read_head(sample.as_slice(), delimiter, &name)?,
            (None, Bytes::File(file)) => read_head(rewound(file, &name)?, delimiter, &name)?,
            (None, Bytes::Pipe(_)) => unreachable!("a pipe has a sample"),
        };
        let listed: Vec<&str> = names.iter().map(String::as_str).collect();
        let selection = Selection::named(&listed, job.args)?;
        let wanted = selection.wanted(listed.len(), job.args, job.output_format);
        let kinds = match (&sample, &mut source) {
            _ if wanted.iter().all(|wanted| !wanted) => vec![Kind::Empty; names.len()],
            (Some(sample), _) => infer(sample.as_slice(), delimiter, &name, &wanted, sampled)?,
            (None, Bytes::File(file)) => {
                infer(rewound(file, &name)?, delimiter, &name, &wanted, false)?
            }
            (None, Bytes::Pipe(_)) => unreachable!("a pipe has a sample"),
        };
        let mut dtypes: Vec<Option<Dtype>> = kinds.iter().map(|kind| kind.dtype()).collect();
        let numeric: Vec<bool> = kinds.iter().map(Kind::is_number).collect();
        let selection = selection.or_only(&listed, &numeric, job.args)?;
        let mut columns = Vec::new();
        for &at in &selection.columns {
            let dtype = match job.args.dtype {
                Some(dtype) => dtype,
                None => kinds[at].number(&names[at], &name)?,
            };
            dtypes[at] = Some(dtype);
            columns.push(Source { name: names[at].clone(), dtype, meaning: None });
        }
        let text = TextHead { line, newline, delimiter, names, dtypes };
        let head = Head { columns, whole: Whole::Text(text.clone()), bytes };
        let batch_bytes = BATCH_BYTES.min(job.buffer);
        Ok(Self { head, text, selection, name, source: Some(source), batch_bytes, sampled })
    }
}

impl Table for CsvTable {
    fn head(&self) -> &Head {
        &self.head
    }

    fn rows(&mut self) -> Result<Box<dyn TableReader>> {
        let source: Box<dyn Read + Send> = match self.source.take() {
            Some(Bytes::File(mut file)) => {
                let reader = rewound(&mut file, &self.name)?;
                self.source = Some(Bytes::File(file));
                Box::new(reader)
            }
            Some(Bytes::Pipe(pipe)) => pipe,
            None => return Err(Error::new(crate::error::Fault::Defect, "a pipe was read twice")),
        };
        let mut csv = reader(Kept::new(source), self.text.delimiter);
        csv.byte_headers().map_err(|error| csv_error(&error, &self.name))?;
        let end = csv.position().byte();
        csv.get_mut().drop_until(end);
        Ok(Box::new(CsvRows {
            csv,
            name: self.name.clone(),
            columns: self
                .selection
                .columns
                .iter()
                .copied()
                .zip(self.head.columns.clone())
                .collect(),
            keys: self.selection.keys.clone(),
            last_key: None,
            record: ByteRecord::new(),
            batch_bytes: self.batch_bytes,
            sampled: self.sampled,
        }))
    }
}

fn reader<R: Read>(source: R, delimiter: u8) -> csv::Reader<R> {
    ReaderBuilder::new().delimiter(delimiter).buffer_capacity(1 << 16).from_reader(source)
}

/// The file from its start; reads share the position with `file`.
fn rewound(file: &mut File, name: &str) -> Result<File> {
    let fail = |error| Error::read(name, &error);
    file.seek(SeekFrom::Start(0)).map_err(fail)?;
    file.try_clone().map_err(fail)
}

fn csv_error(error: &csv::Error, name: &str) -> Error {
    match error.kind() {
        csv::ErrorKind::Io(error) => Error::read(name, error),
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            let what =
                format!("line {line} of {name} has {len} cells, the header has {expected_len}");
            Error::malformed(what)
                .hint("the line is cut off, or a cell with a delimiter lacks quotes")
        }
        _ => Error::malformed(format!("{name}: {error}")),
    }
}

/// The header line as it stands, what ends it, and the names in it.
fn read_head(
    source: impl Read,
    delimiter: u8,
    name: &str,
) -> Result<(Vec<u8>, &'static [u8], Vec<String>)> {
    let kept = Kept::new(source);
    let mut csv = reader(kept, delimiter);
    let header = csv.byte_headers().map_err(|error| csv_error(&error, name))?.clone();
    if header.is_empty() {
        return Err(Error::malformed(format!("{name} is empty; a table has a header line")));
    }
    let end = csv.position().byte();
    let kept = csv.get_mut();
    let crlf =
        kept.kept[..end as usize].ends_with(b"\r") || kept.kept[..end as usize].ends_with(b"\r\n");
    let line = trim_newlines(kept.until(end)).to_vec();
    let names = header.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
    Ok((line, if crlf { b"\r\n" } else { b"\n" }, names))
}

fn trim_newlines(mut line: &[u8]) -> &[u8] {
    while let [b'\r' | b'\n', rest @ ..] = line {
        line = rest;
    }
    while let [rest @ .., b'\r' | b'\n'] = line {
        line = rest;
    }
    line
}

/// The cells of one row, which the reader has split before.
pub fn split(line: &[u8], delimiter: u8) -> Result<ByteRecord> {
    let mut record = ByteRecord::new();
    let mut csv = ReaderBuilder::new().has_headers(false).delimiter(delimiter).from_reader(line);
    csv.read_byte_record(&mut record).map_err(|error| csv_error(&error, "the input"))?;
    Ok(record)
}
