//! CSV and TSV: rows of text in which some columns are numbers.
//!
//! The text of a row is kept byte for byte; scanned columns are added at its end. What a column
//! holds is found out before its rows are scanned: from all of a file, from the first part of a
//! pipe. Empty cells are nulls.

use super::Format;
use super::arrow::Cells;
use crate::error::{Error, Result};
use crate::input::Input;
use crate::job::Job;
use crate::output::{Output, Writer};
use crate::table::batch::{
    Batch, Head, Lines, Rest, Source, Table, TableReader, TableWriter, TextHead, Whole,
};
use crate::table::bridge::to_array;
use crate::table::column::Column;
use crate::table::select::Selection;
use crate::text::{Text, read_bool, read_element, write_element};
use arrow_array::ArrayRef;
use arrow_schema::DataType;
use csv::{ByteRecord, ReaderBuilder};
use kogge_erased::Dtype;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

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
        let mut csv = reader(Kept { source, kept: Vec::new(), start: 0 }, self.text.delimiter);
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
    let kept = Kept { source, kept: Vec::new(), start: 0 };
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

/// What the cells of a column hold.
#[derive(Clone, Debug, Default)]
enum Kind {
    /// Nothing so far.
    #[default]
    Empty,
    /// Words for truth values.
    Bool,
    Integer {
        negative: bool,
        large: bool,
    },
    Float,
    /// Anything else, first on this line.
    Text {
        line: u64,
        cell: String,
    },
}

impl Kind {
    fn add(&mut self, cell: &[u8], line: u64) {
        let cell = cell.trim_ascii();
        if cell.is_empty() || matches!(self, Self::Text { .. }) {
            return;
        }
        let found = Self::of(cell);
        *self = match (std::mem::take(self), found) {
            (Self::Empty, Some(found)) => found,
            (Self::Bool, Some(Self::Bool)) => Self::Bool,
            (
                Self::Integer { negative, large },
                Some(Self::Integer { negative: also_negative, large: also_large }),
            ) => Self::Integer { negative: negative | also_negative, large: large | also_large },
            (Self::Integer { .. } | Self::Float, Some(Self::Integer { .. } | Self::Float)) => {
                Self::Float
            }
            _ => Self::Text { line, cell: String::from_utf8_lossy(cell).into_owned() },
        };
    }

    fn of(cell: &[u8]) -> Option<Self> {
        let cell = std::str::from_utf8(cell).ok()?;
        if i64::read(cell).is_some() {
            Some(Self::Integer { negative: cell.starts_with('-'), large: false })
        } else if u64::read(cell).is_some() {
            Some(Self::Integer { negative: false, large: true })
        } else if f64::read(cell).is_some() {
            Some(Self::Float)
        } else {
            read_bool(cell).map(|_| Self::Bool)
        }
    }

    fn is_number(&self) -> bool {
        matches!(self, Self::Integer { .. } | Self::Float)
    }

    /// The type for a writer of typed columns; `None` for text.
    fn dtype(&self) -> Option<Dtype> {
        match self {
            Self::Bool => Some(Dtype::Bool),
            Self::Integer { negative: false, large: true } => Some(Dtype::U64),
            Self::Integer { large: false, .. } => Some(Dtype::I64),
            Self::Float => Some(Dtype::F64),
            _ => None,
        }
    }

    /// The type of a column to be scanned.
    fn number(&self, column: &str, name: &str) -> Result<Dtype> {
        match self {
            Self::Text { line, cell } => Err(not_a_number(cell, *line, column, name, None, false)),
            Self::Integer { negative: true, large: true } => {
                let what =
                    format!("column '{column}' of {name} has integers below 0 and beyond 2^63");
                Err(Error::mismatch(what).hint("no integer type holds both; try --dtype f64"))
            }
            Self::Empty => Ok(Dtype::F64),
            known => Ok(known.dtype().unwrap_or(Dtype::F64)),
        }
    }
}

/// What the wanted columns hold, over all rows of the source. One that is cut off may end within a
/// row, but not within a cell of its own line.
fn infer(
    source: impl Read,
    delimiter: u8,
    name: &str,
    wanted: &[bool],
    cut_off: bool,
) -> Result<Vec<Kind>> {
    let mut kinds = vec![Kind::Empty; wanted.len()];
    let mut csv = reader(source, delimiter);
    let wanted: Vec<usize> = (0..wanted.len()).filter(|&at| wanted[at]).collect();
    let mut record = ByteRecord::new();
    loop {
        match csv.read_byte_record(&mut record) {
            Ok(true) => {}
            Ok(false) => return Ok(kinds),
            Err(_) if cut_off => return Ok(kinds),
            Err(error) => return Err(csv_error(&error, name)),
        }
        let line = record.position().map_or(0, csv::Position::line);
        for &at in &wanted {
            kinds[at].add(&record[at], line);
        }
    }
}

fn not_a_number(
    cell: &str,
    line: u64,
    column: &str,
    name: &str,
    dtype: Option<Dtype>,
    sampled: bool,
) -> Error {
    let is_float = f64::read(cell).is_some();
    let what = dtype.map_or("a number".to_owned(), |dtype| format!("a number of the type {dtype}"));
    let error = Error::malformed(format!(
        "line {line} of {name}: '{cell}' in column '{column}' is not {what}"
    ));
    match (is_float, dtype) {
        (true, Some(_)) if sampled => {
            error.hint("a pipe's types follow its first rows; give --dtype f64")
        }
        (true, Some(_)) => error.hint("give --dtype f64, or another type that holds it"),
        _ => error.hint("empty cells are nulls; any other text is refused in a column of numbers"),
    }
}

/// A source that keeps what it has given until told to forget it.
struct Kept<R> {
    source: R,
    kept: Vec<u8>,
    /// The place of the first kept byte.
    start: u64,
}

impl<R> Kept<R> {
    fn until(&self, end: u64) -> &[u8] {
        &self.kept[..(end - self.start) as usize]
    }

    fn drop_until(&mut self, end: u64) {
        self.kept.drain(..(end - self.start) as usize);
        self.start = end;
    }
}

impl<R: Read> Read for Kept<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.kept.extend_from_slice(&buffer[..read]);
        Ok(read)
    }
}

/// The rows of a text table.
struct CsvRows {
    csv: csv::Reader<Kept<Box<dyn Read + Send>>>,
    name: String,
    columns: Vec<(usize, Source)>,
    keys: Vec<usize>,
    last_key: Option<Vec<Vec<u8>>>,
    record: ByteRecord,
    batch_bytes: usize,
    sampled: bool,
}

impl CsvRows {
    /// Whether the key of the current row differs from the one before.
    fn key_changes(&mut self) -> bool {
        let key = self.keys.iter().map(|&at| self.record.get(at).unwrap_or_default());
        match &mut self.last_key {
            Some(last) => {
                let changes = !key.clone().eq(last.iter().map(Vec::as_slice));
                if changes {
                    *last = key.map(<[u8]>::to_vec).collect();
                }
                changes
            }
            first => {
                *first = Some(key.map(<[u8]>::to_vec).collect());
                false
            }
        }
    }

    fn read_cells(&self, into: &mut [Column]) -> Result<()> {
        for ((at, source), column) in self.columns.iter().zip(into) {
            let cell = self.record.get(*at).unwrap_or_default().trim_ascii();
            if cell.is_empty() {
                column.push_null();
                continue;
            }
            let text = std::str::from_utf8(cell).unwrap_or_default();
            if !column.push_with(|element| read_element(source.dtype, text, element)) {
                let line = self.record.position().map_or(0, csv::Position::line);
                let cell = String::from_utf8_lossy(cell);
                let dtype = Some(source.dtype);
                return Err(not_a_number(
                    &cell,
                    line,
                    &source.name,
                    &self.name,
                    dtype,
                    self.sampled,
                ));
            }
        }
        Ok(())
    }
}

impl TableReader for CsvRows {
    fn next(&mut self) -> Result<Option<Batch>> {
        let start = self.csv.position().byte();
        let mut columns: Vec<Column> =
            self.columns.iter().map(|(_, source)| Column::new(source.dtype)).collect();
        let mut starts = Vec::new();
        let mut ends = Vec::new();
        loop {
            let more = self.csv.read_byte_record(&mut self.record);
            if !more.map_err(|error| csv_error(&error, &self.name))? {
                break;
            }
            if self.key_changes() {
                starts.push(ends.len());
            }
            self.read_cells(&mut columns)?;
            let end = self.csv.position().byte();
            ends.push(end);
            if (end - start) as usize >= self.batch_bytes {
                break;
            }
        }
        let Some(&end) = ends.last() else { return Ok(None) };
        let kept = self.csv.get_mut();
        let text = kept.until(end);
        let mut lines = Lines::default();
        let mut from = 0;
        for end in &ends {
            let to = (end - start) as usize;
            lines.push(trim_newlines(&text[from..to]));
            from = to;
        }
        kept.drop_until(end);
        let rows = ends.len();
        Ok(Some(Batch { rows, columns, starts, rest: Rest::Lines(lines), bytes: end - start }))
    }
}

/// Writes text: lines as they were with cells added, or columns of Arrow as text.
pub struct CsvWriter {
    writer: Writer,
    name: String,
    delimiter: u8,
    newline: &'static [u8],
    /// What separates the cells of lines that come, if that must change.
    foreign: Option<u8>,
    /// What the new columns mean in Arrow, where that is more than a number.
    meanings: Vec<Option<DataType>>,
    text: Vec<u8>,
}

impl CsvWriter {
    /// Writes the header line; `columns` are the new ones and what they mean.
    pub fn new(
        output: &Output,
        format: Format,
        whole: &Whole,
        columns: Vec<(&str, Option<DataType>)>,
    ) -> Result<Self> {
        let delimiter = format.delimiter();
        let (names, meanings): (Vec<&str>, _) = columns.into_iter().unzip();
        let mut this = Self {
            writer: output.writer()?,
            name: output.name.clone(),
            delimiter,
            newline: b"\n",
            foreign: None,
            meanings,
            text: Vec::new(),
        };
        match whole {
            Whole::Text(head) if head.delimiter == delimiter => {
                this.newline = head.newline;
                this.text.extend_from_slice(&head.line);
            }
            other => {
                if let Whole::Text(head) = other {
                    this.foreign = Some(head.delimiter);
                }
                this.add_cells(other.names().into_iter().map(str::as_bytes));
            }
        }
        for name in names {
            this.text.push(delimiter);
            quote(name.as_bytes(), delimiter, &mut this.text);
        }
        this.text.extend_from_slice(this.newline);
        this.flush_text()?;
        Ok(this)
    }

    fn add_cells<'a>(&mut self, cells: impl Iterator<Item = &'a [u8]>) {
        for (i, cell) in cells.enumerate() {
            if i > 0 {
                self.text.push(self.delimiter);
            }
            quote(cell, self.delimiter, &mut self.text);
        }
    }

    fn add_line(&mut self, line: &[u8]) -> Result<()> {
        let Some(delimiter) = self.foreign else {
            self.text.extend_from_slice(line);
            return Ok(());
        };
        self.add_cells(split(line, delimiter)?.iter());
        Ok(())
    }

    fn flush_text(&mut self) -> Result<()> {
        self.writer.write_all(&self.text).map_err(|error| Error::write(&self.name, &error))?;
        self.text.clear();
        Ok(())
    }

    /// Adds the scanned cells of a row; `dated` are those of the columns with a meaning.
    fn end_row(&mut self, row: usize, scanned: &[Column], dated: &Cells) -> Result<()> {
        let mut date = String::new();
        let mut at = 0;
        for (i, column) in scanned.iter().enumerate() {
            self.text.push(self.delimiter);
            if self.meanings[i].is_some() {
                dated.write(at, row, &mut date)?;
                quote(date.as_bytes(), self.delimiter, &mut self.text);
                at += 1;
            } else if let Some(element) = column.get(row) {
                write_element(column.dtype, element, &mut self.text);
            }
        }
        self.text.extend_from_slice(self.newline);
        Ok(())
    }

    /// The scanned columns that are more than numbers, as Arrow has them.
    fn dated(&self, scanned: &[Column]) -> Result<Vec<ArrayRef>> {
        let columns = scanned.iter().zip(&self.meanings);
        columns.filter_map(|(column, meaning)| Some(to_array(column, meaning.as_ref()?))).collect()
    }
}

impl TableWriter for CsvWriter {
    fn write(&mut self, rest: Rest, scanned: &[Column]) -> Result<()> {
        let dated = self.dated(scanned)?;
        let dated = Cells::new(&dated)?;
        match rest {
            Rest::Lines(lines) => {
                for (row, line) in lines.iter().enumerate() {
                    self.add_line(line)?;
                    self.end_row(row, scanned, &dated)?;
                }
            }
            Rest::Arrow(batch) => {
                let cells = Cells::new(batch.columns())?;
                let mut cell = String::new();
                for row in 0..batch.num_rows() {
                    for column in 0..batch.num_columns() {
                        if column > 0 {
                            self.text.push(self.delimiter);
                        }
                        cells.write(column, row, &mut cell)?;
                        quote(cell.as_bytes(), self.delimiter, &mut self.text);
                    }
                    self.end_row(row, scanned, &dated)?;
                }
            }
        }
        self.flush_text()
    }

    fn finish(mut self: Box<Self>, _: &Output) -> Result<()> {
        self.writer.flush().map_err(|error| Error::write(&self.name, &error))
    }
}

/// The cells of one row, which the reader has split before.
pub fn split(line: &[u8], delimiter: u8) -> Result<ByteRecord> {
    let mut record = ByteRecord::new();
    let mut csv = ReaderBuilder::new().has_headers(false).delimiter(delimiter).from_reader(line);
    csv.read_byte_record(&mut record).map_err(|error| csv_error(&error, "the input"))?;
    Ok(record)
}

/// Adds a cell, in quotes if it needs them.
fn quote(cell: &[u8], delimiter: u8, out: &mut Vec<u8>) {
    let special = |byte: &u8| matches!(byte, b'"' | b'\n' | b'\r') || *byte == delimiter;
    if !cell.iter().any(special) {
        out.extend_from_slice(cell);
        return;
    }
    out.push(b'"');
    for &byte in cell {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}
