//! Apache Parquet.

use super::Format;
use super::arrow::BatchWriter;
use super::dictionary::{decode, decoded};
use crate::error::{Error, Result};
use crate::input::Input;
use crate::job::Job;
use crate::output::Writer;
use crate::table::arrow::{ArrowRows, Batches, select, write_error};
use crate::table::batch::{Head, Table, TableReader, Whole};
use crate::table::select::Selection;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use std::fs::File;

/// Most rows of a batch.
const BATCH_ROWS: usize = 1 << 16;

/// A Parquet file, opened.
pub struct ParquetTable {
    head: Head,
    selection: Selection,
    name: String,
    file: File,
    metadata: ArrowReaderMetadata,
    batch_rows: usize,
    /// The schema with values for dictionaries, where the output has one for all rows.
    decoded: Option<SchemaRef>,
}

impl ParquetTable {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// If it isn't one, or a selected column is missing or holds no numbers.
    pub fn open(job: &Job, input: Input) -> Result<Self> {
        let name = input.name.clone();
        let file = input.into_file()?;
        let bytes = file.metadata().ok().map(|metadata| metadata.len());
        let metadata = ArrowReaderMetadata::load(&file, Default::default())
            .map_err(|error| read_error(&error, &name))?;
        let schema = metadata.schema();
        let decoded = (job.output_format == Format::Arrow).then(|| decoded(schema));
        let schema = decoded.as_ref().unwrap_or(schema).clone();
        let (selection, columns) = select(job, &schema)?;
        let head = Head { columns, whole: Whole::Arrow(schema), bytes };
        let batch_rows = (job.buffer / 64).clamp(1, BATCH_ROWS);
        Ok(Self { head, selection, name, file, metadata, batch_rows, decoded })
    }
}

impl Table for ParquetTable {
    fn head(&self) -> &Head {
        &self.head
    }

    fn rows(&mut self) -> Result<Box<dyn TableReader>> {
        let fail = |error| read_error(&error, &self.name);
        let file = self.file.try_clone().map_err(|error| Error::read(&self.name, &error))?;
        let builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone());
        let batches = builder.with_batch_size(self.batch_rows).build().map_err(fail)?;
        let batches: Batches = match &self.decoded {
            Some(schema) => decode(Box::new(batches), schema.clone()),
            None => Box::new(batches),
        };
        let all = self.metadata.metadata().file_metadata().num_rows().max(1) as u64;
        let bytes = self.head.bytes.unwrap_or(0);
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
            // Rows take about the same room each.
            bytes: Box::new(move |rows| {
                (u128::from(bytes) * rows as u128 / u128::from(all)) as u64
            }),
        }))
    }
}

fn read_error(error: &ParquetError, name: &str) -> Error {
    Error::malformed(format!("{name}: {error}"))
        .hint("it is truncated, damaged, or not a Parquet file")
}

/// Writes a Parquet file with Snappy compression, which every reader knows.
///
/// # Errors
///
/// If the output cannot be written, or Parquet lacks a type of the schema.
pub fn writer(writer: Writer, name: &str, schema: &SchemaRef) -> Result<Box<dyn BatchWriter>> {
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let writer = ArrowWriter::try_new(writer, schema.clone(), Some(properties));
    Ok(Box::new(writer.map_err(|error| write_error(&error, name))?))
}

impl BatchWriter for ArrowWriter<Writer> {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), Box<dyn std::error::Error>> {
        Ok(Self::write(self, batch)?)
    }
    fn finish(&mut self) -> Result<(), Box<dyn std::error::Error>> {
        Self::finish(self)?;
        Ok(std::io::Write::flush(self.inner_mut())?)
    }
}
