//! Apache Parquet.

use super::Format;
use super::arrow::BatchWriter;
use super::contain::quietly;
use super::dictionary::{decode, decoded};
use super::retype::{retype, retyped};
use super::watched::{Failure, Watched};
use super::written::written;
use crate::error::{Error, Fault, Result};
use crate::input::Input;
use crate::job::Job;
use crate::output::Writer;
use crate::table::arrow::{ArrowRows, Batches, select, write_error};
use crate::table::batch::{Head, Table, TableReader, Whole};
use crate::table::select::Selection;
use arrow_array::{RecordBatch, new_null_array};
use arrow_schema::{ArrowError, DataType, FieldRef, Schema, SchemaRef, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::properties::WriterProperties;
use std::sync::Arc;

/// Most rows of a batch.
const BATCH_ROWS: usize = 1 << 16;

/// A Parquet file, opened.
pub struct ParquetTable {
    head: Head,
    selection: Selection,
    name: String,
    file: Watched,
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
        let file = Watched::new(file);
        let metadata = open(&file).map_err(|error| read_error(&error, &file.failure(), &name))?;
        let schema = metadata.schema();
        let decoded = (job.output_format == Format::Arrow).then(|| decoded(schema));
        let schema = decoded.as_ref().unwrap_or(schema).clone();
        let (selection, columns) = select(job, &schema)?;
        let head = Head { columns, whole: Whole::Arrow(schema), bytes, array: None };
        let batch_rows = (job.buffer / row_bytes(metadata.metadata()).max(64)).clamp(1, BATCH_ROWS);
        Ok(Self { head, selection, name, file, metadata, batch_rows, decoded })
    }
}

impl Table for ParquetTable {
    fn head(&self) -> &Head {
        &self.head
    }

    fn rows(&mut self) -> Result<Box<dyn TableReader>> {
        let file = self.file.try_clone().map_err(|error| Error::read(&self.name, &error))?;
        let failure = file.failure();
        let batches = batches(file, &self.metadata, self.batch_rows, self.decoded.clone())
            .map_err(|error| read_error(&error, &failure, &self.name))?;
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

/// Bytes of a row in memory, on average over the row group where they are longest.
fn row_bytes(metadata: &ParquetMetaData) -> usize {
    let of_group = |group: &RowGroupMetaData| {
        // What a dictionary makes short is long again when it is read.
        let columns = group.columns().iter().map(|column| {
            column.uncompressed_size().max(column.unencoded_byte_array_data_bytes().unwrap_or(0))
        });
        let bytes = columns.fold(0, |all: i64, bytes| all.saturating_add(bytes.max(0)));
        bytes / group.num_rows().max(1)
    };
    let longest = metadata.row_groups().iter().map(of_group).max().unwrap_or(0);
    usize::try_from(longest).unwrap_or(usize::MAX)
}

fn open(file: &Watched) -> Result<ArrowReaderMetadata, ParquetError> {
    contained(|| {
        let read = ArrowReaderMetadata::load(file, Default::default())?;
        let schema = written(read.metadata().file_metadata(), read.schema());
        if schema == *read.schema() {
            return Ok(read);
        }
        let options = ArrowReaderOptions::new().with_schema(schema);
        ArrowReaderMetadata::try_new(Arc::clone(read.metadata()), options)
    })
}

/// The rows that a file says it has, in a schema with values for dictionaries where one is given.
fn batches(
    file: Watched,
    metadata: &ArrowReaderMetadata,
    batch_rows: usize,
    decoded: Option<SchemaRef>,
) -> Result<Batches, ParquetError> {
    let failure = file.failure();
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata.clone());
    let batches: Batches = Box::new(contained(|| builder.with_batch_size(batch_rows).build())?);
    let mut batches = match decoded {
        Some(schema) => decode(batches, schema),
        None => batches,
    };
    let (mut rows, all) = (0, metadata.metadata().file_metadata().num_rows());
    let mut next = move || -> Result<Option<RecordBatch>, ArrowError> {
        let batch = contained(|| batches.next().transpose());
        let batch = batch.map_err(|error| match failure.take() {
            Some(told) => ArrowError::IoError(error.to_string(), told),
            None => error,
        })?;
        rows += batch.as_ref().map_or(0, RecordBatch::num_rows) as i64;
        // A page that says it is shorter than it is ends the file too early.
        if batch.is_none() && rows != all { Err(contradiction().into()) } else { Ok(batch) }
    };
    Ok(Box::new(std::iter::from_fn(move || next().transpose())))
}

/// Runs the reader; its panic is the error of a damaged file.
fn contained<T, E: From<ParquetError>>(read: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    quietly(read).unwrap_or_else(|| Err(contradiction().into()))
}

fn contradiction() -> ParquetError {
    ParquetError::General("it is damaged: what it says of its contents is not so".to_owned())
}

fn read_error(error: &ParquetError, failure: &Failure, name: &str) -> Error {
    if let Some(told) = failure.take() {
        return Error::read(name, &told);
    }
    // The library tells so in words alone.
    if error.to_string().contains("encrypt") {
        return Error::new(Fault::Read, format!("{name} is encrypted"))
            .hint("decrypt it first: kogge has no keys");
    }
    Error::malformed(format!("{name}: {error}"))
        .hint("it is truncated, damaged, or not a Parquet file")
}

/// Writes a Parquet file with Snappy compression, which every reader knows. A row group is held
/// until it is complete, so it has `group_bytes` at most.
///
/// # Errors
///
/// If the output cannot be written, or Parquet lacks a type of the schema.
pub fn writer(
    writer: Writer,
    name: &str,
    schema: &SchemaRef,
    group_bytes: usize,
) -> Result<Box<dyn BatchWriter>> {
    let held = retyped(schema, held_type);
    held.fields().iter().try_for_each(check_field)?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_bytes(Some(group_bytes))
        .build();
    let writer = ArrowWriter::try_new(writer, held.clone(), Some(properties));
    let writer = writer.map_err(|error| write_error(&error, name))?;
    Ok(Box::new(ParquetWriter { writer, held }))
}

/// Checks that Parquet has the type of a column, by writing a null. The library panics over some
/// that it lacks, and finds others only when it comes to their values.
fn check_field(field: &FieldRef) -> Result<()> {
    let schema = Arc::new(Schema::new(vec![field.as_ref().clone().with_nullable(true)]));
    let write = || -> Result<(), ParquetError> {
        let null = new_null_array(field.data_type(), 1);
        let mut writer = ArrowWriter::try_new(Vec::new(), Arc::clone(&schema), None)?;
        writer.write(&RecordBatch::try_new(schema, vec![null])?)?;
        writer.close().map(drop)
    };
    match quietly(write) {
        Some(Ok(())) => Ok(()),
        _ => Err(Error::mismatch(format!(
            "column '{}' holds {}, which Parquet lacks",
            field.name(),
            field.data_type()
        ))
        .hint("write to Arrow, which has every type that can be read")),
    }
}

/// What Parquet holds where it has no such date or time, and would forget that it is one; runs it
/// has of its own.
fn held_type(data_type: &DataType) -> Option<DataType> {
    use TimeUnit::{Millisecond, Second};
    match data_type {
        DataType::Date64 => Some(DataType::Date32),
        DataType::Time32(Second) => Some(DataType::Time32(Millisecond)),
        DataType::Timestamp(Second, zone) => Some(DataType::Timestamp(Millisecond, zone.clone())),
        DataType::RunEndEncoded(_, values) => Some(values.data_type().clone()),
        _ => None,
    }
}

struct ParquetWriter {
    writer: ArrowWriter<Writer>,
    /// The schema of the file.
    held: SchemaRef,
}

impl BatchWriter for ParquetWriter {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), Box<dyn std::error::Error>> {
        Ok(self.writer.write(&retype(batch, &self.held)?)?)
    }
    fn finish(&mut self) -> Result<(), Box<dyn std::error::Error>> {
        self.writer.finish()?;
        Ok(std::io::Write::flush(self.writer.inner_mut())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::arrow;
    use arrow_array::types::{Int8Type, Int32Type};
    use arrow_array::{
        ArrayRef, BooleanArray, DictionaryArray, Int64Array, ListArray, StringArray,
    };
    use parquet::file::properties::{WriterPropertiesBuilder, WriterVersion};
    use std::io::Write;

    fn batch() -> RecordBatch {
        let words: DictionaryArray<Int8Type> = ["a", "b", "a", "a"].into_iter().collect();
        let lists = [Some(vec![Some(1), None]), None, Some(vec![]), Some(vec![Some(7)])];
        let columns: [(&str, ArrayRef); 5] = [
            ("i", Arc::new(Int64Array::from(vec![Some(1), None, Some(3), Some(4)]))),
            ("s", Arc::new(StringArray::from(vec!["x", "yy", "", "zzz"]))),
            ("d", Arc::new(words)),
            ("b", Arc::new(BooleanArray::from(vec![true, false, true, true]))),
            ("l", Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists))),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    fn whole(properties: WriterPropertiesBuilder) -> Vec<u8> {
        let mut writer =
            ArrowWriter::try_new(Vec::new(), batch().schema(), Some(properties.build())).unwrap();
        writer.write(&batch()).unwrap();
        writer.flush().unwrap();
        writer.write(&batch()).unwrap();
        writer.into_inner().unwrap()
    }

    fn read(bytes: &[u8]) -> Result<Vec<RecordBatch>, ArrowError> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let file = Watched::new(file);
        let metadata = open(&file)?;
        batches(file, &metadata, 4, None)?.collect()
    }

    /// A file that is there, but may not be read: its head was read before.
    #[test]
    fn what_the_system_says_is_no_damage() {
        let place = tempfile::NamedTempFile::new().unwrap();
        place.as_file().write_all(&whole(WriterProperties::builder())).unwrap();
        let metadata = open(&Watched::new(place.reopen().unwrap())).unwrap();
        let unreadable =
            || Watched::new(std::fs::File::options().append(true).open(place.path()).unwrap());
        let rows = batches(unreadable(), &metadata, 4, None).unwrap().next().unwrap();
        let told = arrow::read_error(&rows.unwrap_err(), "x.parquet");
        assert_eq!(told.exit_code(), 3, "{told}");
        assert!(told.to_string().starts_with("error: cannot read x.parquet: "), "{told}");
        let file = unreadable();
        let told = read_error(&open(&file).unwrap_err(), &file.failure(), "x.parquet");
        assert_eq!(told.exit_code(), 3, "{told}");
        // One that ends too early is damaged.
        let cut = place.reopen().unwrap();
        cut.set_len(40).unwrap();
        let rows = batches(Watched::new(cut), &metadata, 4, None).unwrap().next().unwrap();
        assert_eq!(arrow::read_error(&rows.unwrap_err(), "x.parquet").exit_code(), 4);
    }

    /// The test binary would end at a panic that isn't contained, or at an allocation too large.
    #[test]
    fn no_damaged_byte_ends_the_process() {
        let plain = WriterProperties::builder().set_dictionary_enabled(false);
        let version = WriterProperties::builder().set_writer_version(WriterVersion::PARQUET_2_0);
        let zipped = WriterProperties::builder().set_compression(Compression::SNAPPY);
        let mut panics = 0;
        for properties in [plain, version, zipped] {
            let whole = whole(properties);
            assert_eq!(read(&whole).unwrap(), [batch(), batch()]);
            for (place, byte) in
                (0..whole.len()).flat_map(|place| [(place, 0x01), (place, 0x7f), (place, 0xff)])
            {
                let mut bytes = whole.clone();
                bytes[place] ^= byte;
                let rows = |batches: &Vec<RecordBatch>| {
                    batches.iter().map(RecordBatch::num_rows).sum::<usize>()
                };
                match read(&bytes) {
                    Ok(batches) => assert_eq!(rows(&batches), 8, "{place}"),
                    Err(error) => panics += usize::from(error.to_string().contains("damaged")),
                }
            }
        }
        assert!(panics > 0, "nothing was contained");
    }
}
