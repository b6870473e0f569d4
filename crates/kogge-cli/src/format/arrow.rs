//! Arrow IPC: the file format (Feather V2) and the stream format.

use super::Format;
use super::dictionary::{decode, decoded};
use super::ipc::{open_file, open_stream};
use crate::error::{Error, Fault, Result};
use crate::input::Input;
use crate::job::Job;
use crate::output::{Output, Writer};
use crate::table::arrow::{ArrowRows, Batches, read_error, select, write_error};
use crate::table::batch::{Head, Rest, Table, TableReader, TableWriter, TextHead, Whole};
use crate::table::bridge::with_columns;
use crate::table::column::Column;
use crate::table::lines::lines_to_batch;
use crate::table::select::Selection;
use crate::text::Text;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Float16Array, RecordBatch, new_empty_array};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An Arrow IPC file or stream, opened.
pub struct ArrowTable {
    head: Head,
    selection: Selection,
    name: String,
    source: Source,
    read: Arc<AtomicU64>,
    /// The schema with values for dictionaries, where those may change and the output's may not.
    decoded: Option<SchemaRef>,
}

enum Source {
    /// A file in one of the formats.
    File(File, Format),
    /// The batches of a pipe, once.
    Pipe(Option<Batches>),
}

impl ArrowTable {
    /// Opens a file or a stream.
    ///
    /// # Errors
    ///
    /// If it isn't one, or a selected column is missing or holds no numbers.
    pub fn open(job: &Job, input: Input, again: bool) -> Result<Self> {
        let name = input.name.clone();
        let bytes = input.len();
        let read = Arc::new(AtomicU64::new(0));
        let format = match Format::from_head(input.head()) {
            Some(format @ (Format::Arrow | Format::ArrowStream)) => format,
            _ => {
                return Err(Error::malformed(format!(
                    "{name} is not Arrow IPC: its first bytes are not"
                )));
            }
        };
        let piped = bytes.is_none() && format == Format::ArrowStream && !again;
        let (schema, source) = if piped {
            let counted = Counted { source: input.into_reader(), read: Arc::clone(&read) };
            let opened = open_stream(BufReader::new(counted));
            let (schema, batches) = opened.map_err(|error| read_error(&error, &name))?;
            (schema, Source::Pipe(Some(Box::new(batches))))
        } else {
            let mut file = input.into_file()?;
            (batches(&mut file, format, &name, &read)?.0, Source::File(file, format))
        };
        let changing = format == Format::ArrowStream && job.output_format == Format::Arrow;
        let decoded = changing.then(|| decoded(&schema));
        let schema = decoded.clone().unwrap_or(schema);
        let (selection, columns) = select(job, &schema)?;
        let head = Head { columns, whole: Whole::Arrow(schema), bytes, array: None };
        Ok(Self { head, selection, name, source, read, decoded })
    }
}

impl Table for ArrowTable {
    fn head(&self) -> &Head {
        &self.head
    }

    fn rows(&mut self) -> Result<Box<dyn TableReader>> {
        let batches = match &mut self.source {
            Source::File(file, format) => batches(file, *format, &self.name, &self.read)?.1,
            Source::Pipe(batches) => {
                let again = || Error::new(Fault::Defect, "a pipe was read twice");
                batches.take().ok_or_else(again)?
            }
        };
        let batches = match &self.decoded {
            Some(schema) => decode(batches, Arc::clone(schema)),
            None => batches,
        };
        let read = Arc::clone(&self.read);
        Ok(Box::new(ArrowRows {
            batches,
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
            bytes: Box::new(move |_| read.swap(0, Ordering::Relaxed)),
        }))
    }
}

/// The schema and the batches of a file, from its start.
fn batches(
    file: &mut File,
    format: Format,
    name: &str,
    read: &Arc<AtomicU64>,
) -> Result<(SchemaRef, Batches)> {
    let fail = |error: ArrowError| read_error(&error, name);
    file.seek(SeekFrom::Start(0)).map_err(|error| Error::read(name, &error))?;
    let source = file.try_clone().map_err(|error| Error::read(name, &error))?;
    let counted = BufReader::new(Counted { source, read: Arc::clone(read) });
    Ok(if format == Format::Arrow {
        let (schema, batches) = open_file(counted).map_err(fail)?;
        (schema, Box::new(batches))
    } else {
        let (schema, batches) = open_stream(counted).map_err(fail)?;
        (schema, Box::new(batches))
    })
}

/// A source that counts what is read from it.
struct Counted<R> {
    source: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl<R: Seek> Seek for Counted<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.source.seek(to)
    }
}

/// What batches are written to.
pub trait BatchWriter: Send {
    /// Writes a batch.
    fn write(&mut self, batch: &RecordBatch) -> Result<(), Box<dyn std::error::Error>>;
    /// Completes the file.
    fn finish(&mut self) -> Result<(), Box<dyn std::error::Error>>;
}

impl BatchWriter for FileWriter<Writer> {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), Box<dyn std::error::Error>> {
        Ok(Self::write(self, batch)?)
    }
    fn finish(&mut self) -> Result<(), Box<dyn std::error::Error>> {
        Self::finish(self)?;
        Ok(io::Write::flush(self.get_mut())?)
    }
}

impl BatchWriter for StreamWriter<Writer> {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), Box<dyn std::error::Error>> {
        Ok(Self::write(self, batch)?)
    }
    fn finish(&mut self) -> Result<(), Box<dyn std::error::Error>> {
        Self::finish(self)?;
        Ok(io::Write::flush(self.get_mut())?)
    }
}

/// Writes tables as typed columns.
pub struct ArrowWriter {
    /// Where the batches go.
    batches: Box<dyn BatchWriter>,
    name: String,
    /// The schema of the result.
    schema: SchemaRef,
    /// The head and the schema of text that comes as lines.
    text: Option<(TextHead, SchemaRef)>,
}

impl ArrowWriter {
    /// Writes batches of this schema.
    pub fn new(
        batches: Box<dyn BatchWriter>,
        name: String,
        schema: SchemaRef,
        text: Option<(TextHead, SchemaRef)>,
    ) -> Self {
        Self { batches, name, schema, text }
    }

    /// Writes one of the two IPC formats.
    ///
    /// # Errors
    ///
    /// If the output cannot be written.
    pub fn ipc(
        writer: Writer,
        name: &str,
        format: Format,
        schema: &SchemaRef,
    ) -> Result<Box<dyn BatchWriter>> {
        let fail = |error: ArrowError| write_error(&error, name);
        Ok(if format == Format::Arrow {
            Box::new(FileWriter::try_new(writer, schema).map_err(fail)?)
        } else {
            Box::new(StreamWriter::try_new(writer, schema).map_err(fail)?)
        })
    }
}

impl TableWriter for ArrowWriter {
    fn write(&mut self, rest: Rest, scanned: &[Column]) -> Result<()> {
        let batch = match (rest, &self.text) {
            (Rest::Arrow(batch), _) => batch,
            (Rest::Lines(lines), Some((head, schema))) => lines_to_batch(&lines, head, schema)?,
            (Rest::Lines(_), None) => {
                return Err(Error::new(Fault::Defect, "lines without a head"));
            }
        };
        let batch = with_columns(&batch, scanned, &self.schema)?;
        self.batches.write(&batch).map_err(|error| write_error(error.as_ref(), &self.name))
    }

    fn finish(mut self: Box<Self>, _: &Output) -> Result<()> {
        self.batches.finish().map_err(|error| write_error(error.as_ref(), &self.name))
    }
}

/// The cells of a batch as text: ISO 8601 for dates and times, nothing for nulls.
pub struct Cells<'a>(Vec<(&'a str, Cell<'a>)>);

enum Cell<'a> {
    Any(ArrayFormatter<'a>),
    /// Of halves Arrow writes `0` where it writes `0.0` of wider floats.
    Half(&'a Float16Array),
}

impl<'a> Cells<'a> {
    /// The cells of these columns, which come with their names.
    ///
    /// # Errors
    ///
    /// If a column's type has no text.
    pub fn new(columns: impl IntoIterator<Item = (&'a str, &'a ArrayRef)>) -> Result<Self> {
        let options = FormatOptions::new().with_null("");
        let cells = columns.into_iter().map(|(name, column)| {
            let cell = match column.as_primitive_opt() {
                Some(halves) => Ok(Cell::Half(halves)),
                None => ArrayFormatter::try_new(column.as_ref(), &options).map(Cell::Any),
            };
            let cell = cell.map_err(|error| {
                Error::mismatch(format!("column '{name}' has no text: {error}"))
                    .hint("write to Parquet or Arrow, which need none")
            });
            Ok((name, cell?))
        });
        cells.collect::<Result<_>>().map(Self)
    }

    /// Checks that every column of a schema has a text.
    ///
    /// # Errors
    ///
    /// If a column's type has none.
    pub fn check(schema: &Schema) -> Result<()> {
        let fields = schema.fields().iter();
        let columns: Vec<ArrayRef> =
            fields.clone().map(|field| new_empty_array(field.data_type())).collect();
        Cells::new(fields.map(|field| field.name().as_str()).zip(&columns)).map(drop)
    }

    /// Puts the text of a cell in `text`.
    pub fn write(&self, column: usize, row: usize, text: &mut String) -> Result<()> {
        text.clear();
        let (name, cells) = match &self.0[column] {
            (name, Cell::Any(cells)) => (name, cells),
            (_, Cell::Half(halves)) if halves.is_null(row) => return Ok(()),
            (_, Cell::Half(halves)) => {
                let mut digits = Vec::new();
                halves.value(row).write(&mut digits);
                text.extend(digits.into_iter().map(char::from));
                return Ok(());
            }
        };
        let written = cells.value(row).write(text);
        written.map_err(|error| {
            Error::mismatch(format!("a value in column '{name}' has no text: {error}"))
                .hint("write to Parquet or Arrow, which need none")
        })
    }
}
