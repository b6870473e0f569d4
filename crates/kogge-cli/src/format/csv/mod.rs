//! CSV and TSV: rows of text in which some columns are numbers.
//!
//! The text of a row is kept byte for byte; scanned columns are added at its end. What a column
//! holds is found out before its rows are scanned: from all of a file, from the first part of a
//! pipe, and of that as much as has a value. Empty cells are nulls. A quote must be closed, and a
//! row has at most 64 MiB.

mod cells;
mod kind;
mod records;
mod rows;
mod sample;
mod writer;

pub use cells::CellRows;
pub use kind::loses;
pub use writer::CsvWriter;

use super::{Format, is_utf16};
use crate::error::{Error, Result};
use crate::input::Input;
use crate::job::Job;
use crate::table::batch::{Head, Source, Table, TableReader, TextHead, Whole};
use crate::table::select::Selection;
use kind::{Kind, infer};
use kogge_erased::Dtype;
use records::Records;
use rows::CsvRows;
use sample::{read_on, read_sample};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

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
        if is_utf16(input.head()) {
            return Err(Error::malformed(format!("{name} is text in UTF-16"))
                .hint("convert it first: iconv -f utf-16 -t utf-8 FILE | kogge scan -"));
        }
        let bytes = input.len();
        let delimiter = format.delimiter();
        let (mut source, sample) = if again || bytes.is_some() {
            (Bytes::File(input.into_file()?), None)
        } else {
            let mut pipe = input.into_reader();
            let sample = read_sample(&mut pipe, delimiter, &name)?;
            let start = io::Cursor::new(sample.0.clone());
            (Bytes::Pipe(Box::new(start.chain(pipe))), Some(sample))
        };
        let sampled = sample.as_ref().is_some_and(|(_, cut_off)| *cut_off);
        let first: Box<dyn Read + '_> = match (&sample, &mut source) {
            (Some((sample, _)), _) => Box::new(sample.as_slice()),
            (None, Bytes::File(file)) => Box::new(rewound(file, &name)?),
            (None, Bytes::Pipe(_)) => unreachable!("a pipe has a sample"),
        };
        let mut records = Records::new(first, delimiter, &name, sampled);
        let (line, newline, names) = read_head(&mut records, &name)?;
        let listed: Vec<&str> = names.iter().map(String::as_str).collect();
        let advise = |error: Error| match other_delimiter(&listed) {
            Some(advice) => error.hint(advice),
            None => error,
        };
        let selection = Selection::named(&listed, job.args).map_err(advise)?;
        let wanted = selection.wanted(listed.len(), job.args, job.output_format);
        let mut kinds = if wanted.contains(&true) {
            infer(&mut records, &wanted, |_| false)?
        } else {
            vec![Kind::Empty; names.len()]
        };
        drop(records);
        let content = |at: usize| kinds[at].content(job.args.dtype);
        let why_not = |at: usize, alone| kinds[at].why_not(&names[at], &name, alone);
        let selection = selection.or_only(&listed, job.args, content, why_not).map_err(advise)?;
        if let (Bytes::Pipe(pipe), true, None) = (&mut source, sampled, job.args.dtype) {
            let decided =
                |kinds: &[Kind]| selection.columns.iter().all(|&at| !kinds[at].is_empty());
            if !decided(&kinds) {
                let pipe = std::mem::replace(pipe, Box::new(io::empty()));
                let (pipe, later) = read_on(pipe, delimiter, &name, &wanted, decided)?;
                (source, kinds) = (Bytes::Pipe(pipe), later);
            }
        }
        let mut dtypes: Vec<Option<Dtype>> = kinds.iter().map(Kind::dtype).collect();
        let mut columns = Vec::new();
        for &at in &selection.columns {
            let dtype = match job.args.dtype {
                Some(dtype) => dtype,
                None => kinds[at].number(&names[at], &name)?,
            };
            dtypes[at] = Some(dtype);
            columns.push(Source { name: names[at].clone(), dtype, meaning: None });
        }
        let scanned = selection.columns.clone();
        let text =
            TextHead { file: name.clone(), line, newline, delimiter, names, dtypes, scanned };
        let head = Head { columns, whole: Whole::Text(text.clone()), bytes, array: None };
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
        let mut records = Records::new(source, self.text.delimiter, &self.name, false);
        records.next()?;
        records.forget(0);
        Ok(Box::new(CsvRows {
            records,
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
            batch_bytes: self.batch_bytes,
            sampled: self.sampled,
        }))
    }
}

/// The file from its start; reads share the position with `file`.
fn rewound(file: &mut File, name: &str) -> Result<File> {
    let fail = |error| Error::read(name, &error);
    file.seek(SeekFrom::Start(0)).map_err(fail)?;
    file.try_clone().map_err(fail)
}

/// What to do about a table that seems to have but one column since something else separates its
/// cells.
fn other_delimiter(names: &[&str]) -> Option<String> {
    let [only] = names else { return None };
    let advice = if only.contains('\t') {
        "tabs separate cells by --input-format tsv"
    } else if only.contains([';', '|']) {
        "cells are separated by commas, or by tabs in TSV"
    } else {
        return None;
    };
    Some(format!("the only column is '{only}'; {advice}"))
}

fn csv_error(error: &csv::Error, name: &str) -> Error {
    match error.kind() {
        csv::ErrorKind::Io(error) => Error::read(name, error),
        _ => Error::malformed(format!("{name}: {error}")),
    }
}

/// The header line as it stands, what ends it, and the names in it.
fn read_head(
    records: &mut Records<impl Read>,
    name: &str,
) -> Result<(Vec<u8>, &'static [u8], Vec<String>)> {
    if !records.next()? {
        return Err(Error::malformed(format!("{name} is empty; a table has a header line")));
    }
    let text = records.text();
    let crlf = text.ends_with(b"\r") || text.ends_with(b"\r\n");
    let line = trim_newlines(text).to_vec();
    let names = records.record.iter();
    let names = names.map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
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
