//! Scans of tables: columns of CSV, Parquet and Arrow, batch by batch.

mod arrays;
pub mod arrow;
pub mod batch;
pub mod bridge;
pub mod column;
mod keys;
pub mod lines;
mod scan;
pub mod select;

use crate::array::{self, ArrayReader};
use crate::error::{Error, Fault, Result, quoted};
use crate::format::Format;
use crate::format::arrow::{ArrowTable, ArrowWriter};
use crate::format::csv::{CsvTable, CsvWriter};
use crate::format::parquet::{self, ParquetTable};
use crate::input::Input;
use crate::job::Job;
use crate::output::Output;
use crate::pipeline;
use crate::summary::Scanned;
use arrays::{ArrayTable, ColumnWriter};
use arrow_schema::{DataType, Field, Schema};
use batch::{Batch, Head, Rest, Source, Table, TableReader, TableWriter, Whole};
use bridge::data_type;
use column::Column;
use kogge_erased::{Dtype, Op, Spec};
use lines::text_schema;
use scan::ColumnScan;
use std::sync::Arc;

/// How many pieces make a row group of Parquet: one of 128 MiB, as other writers have them.
const GROUP_BUFFERS: usize = 16;

/// Of smaller ones there would be more than a file may have.
const LEAST_GROUP: usize = 64 << 10;

/// Scans columns of a table.
pub fn scan(job: &Job, input: Input, format: Format) -> Result<()> {
    let again = job.args.reverse;
    let table: Box<dyn Table> = match format {
        Format::Csv | Format::Tsv => Box::new(CsvTable::open(job, input, format, again)?),
        Format::Parquet => Box::new(ParquetTable::open(job, input)?),
        _ => Box::new(ArrowTable::open(job, input, again)?),
    };
    run(job, table)
}

/// Scans a one-dimensional array into a table.
pub fn scan_array(job: &Job, reader: ArrayReader) -> Result<()> {
    array::check_axis(&reader.header, job.args.axis)?;
    run(job, Box::new(ArrayTable::new(job, reader)?))
}

fn run(job: &Job, mut table: Box<dyn Table>) -> Result<()> {
    let mut results = Results::new(job, table.head())?;
    let output = job.create_output()?;
    let mut writer = results.writer(job, &output, &table.head().whole)?;
    let passes = if job.args.reverse { 2 } else { 1 };
    let progress = job.progress(table.head().bytes.map(|bytes| passes * bytes), &output);
    let mut held = if job.args.reverse {
        let reader = table.rows()?;
        Some(results.hold(reader, |bytes| progress.advance(bytes))?)
    } else {
        None
    };
    let mut reader = table.rows()?;
    let mut rows = 0;
    pipeline::run(
        || {
            let batch = reader.next()?;
            if let Some(batch) = &batch {
                progress.advance(batch.bytes);
            }
            Ok(batch)
        },
        |batch: Batch| {
            let scanned = match &mut held {
                Some(held) => {
                    let rest = held[0].rows() - rows;
                    if batch.rows > rest {
                        return Err(changed(job));
                    }
                    held.iter().map(|column| column.slice(rows, batch.rows)).collect()
                }
                None => results.scan(&batch.columns, &batch.starts, rows as u64)?,
            };
            rows += batch.rows;
            Ok((batch.rest, scanned))
        },
        |(rest, scanned): (Rest, Vec<Column>)| writer.write(rest, &scanned),
    )?;
    if held.is_some_and(|held| held[0].rows() != rows) {
        return Err(changed(job));
    }
    writer.finish(&output)?;
    job.finish(output, rows as u64, &results.summary(job), &progress)
}

/// The error that the second reading of a table has found other rows than the first.
fn changed(job: &Job) -> Error {
    let name = quoted(&job.args.input);
    Error::new(Fault::Read, format!("{name} has changed while it was read"))
        .hint("scan it again, or a copy of it")
}

/// The scanned columns.
struct Results {
    scans: Vec<ColumnScan>,
    sources: Vec<Vec<Source>>,
    names: Vec<String>,
}

impl Results {
    fn new(job: &Job, head: &Head) -> Result<Self> {
        let op = job.args.op;
        let sources: Vec<Vec<Source>> =
            head.columns.chunks(op.arity()).map(<[Source]>::to_vec).collect();
        let mut names = job.args.names.clone();
        if names.is_empty() {
            names = sources.iter().map(|sources| default_name(op, sources)).collect();
        }
        check_names(&names, &head.whole.names())?;
        let mut scans = Vec::new();
        for sources in &sources {
            sources.iter().try_for_each(|source| check_meaning(op, source))?;
            let dtypes = sources.iter().map(|source| source.dtype);
            let file = dtypes.reduce(Dtype::with).unwrap_or(sources[0].dtype);
            let spec = job.spec(file, sources[0].meaning.as_ref())?;
            let starts_missing = starts_missing(job, &spec, &sources[0]);
            let row_names = sources.iter().map(|source| head.row_name(source)).collect();
            scans.push(ColumnScan::new(spec, row_names, starts_missing));
        }
        Ok(Self { scans, sources, names })
    }

    /// Scans the next rows, of which the first is row `first` of the table.
    fn scan(&mut self, columns: &[Column], starts: &[usize], first: u64) -> Result<Vec<Column>> {
        let inputs = columns.chunks(columns.len() / self.scans.len());
        self.scans
            .iter_mut()
            .zip(inputs)
            .map(|(scan, inputs)| scan.scan(inputs, starts, first))
            .collect()
    }

    /// Reads all rows, keeps their columns only, and scans them at once: a table can't be read from
    /// its end.
    fn hold(
        &mut self,
        mut reader: Box<dyn TableReader>,
        progress: impl Fn(u64),
    ) -> Result<Vec<Column>> {
        let mut columns: Vec<Column> =
            self.sources.iter().flatten().map(|source| Column::new(source.dtype)).collect();
        let mut starts = Vec::new();
        while let Some(batch) = reader.next()? {
            let rows = columns[0].rows();
            starts.extend(batch.starts.iter().map(|start| start + rows));
            columns.iter_mut().zip(&batch.columns).for_each(|(all, some)| all.append(some));
            progress(batch.bytes);
        }
        self.scan(&columns, &starts, 0)
    }

    fn writer(&self, job: &Job, output: &Output, whole: &Whole) -> Result<Box<dyn TableWriter>> {
        let format = job.output_format;
        let meanings =
            self.specs().zip(&self.sources).map(|(spec, sources)| meaning(spec, &sources[0]));
        if format.is_text() {
            let columns = self.names.iter().map(String::as_str).zip(meanings).collect();
            return Ok(Box::new(CsvWriter::new(output, format, whole, columns)?));
        }
        if format.is_array() {
            let types: Vec<_> = self.specs().map(|spec| spec.types().output).collect();
            return Ok(Box::new(ColumnWriter::new(output, format, &types)?));
        }
        let (schema, text) = match whole {
            Whole::Arrow(schema) => (Arc::clone(schema), None),
            Whole::Text(head) => {
                let schema = text_schema(head)?;
                (Arc::clone(&schema), Some((head.clone(), schema)))
            }
        };
        let mut fields: Vec<Field> =
            schema.fields().iter().map(|field| field.as_ref().clone()).collect();
        for ((spec, meaning), name) in self.specs().zip(meanings).zip(&self.names) {
            let dtype = spec.types().output;
            let none =
                || Error::mismatch(format!("tables have no {dtype}")).hint("try --dtype f32");
            let data_type = meaning.or_else(|| data_type(dtype)).ok_or_else(none)?;
            fields.push(Field::new(name, data_type, true));
        }
        let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
        let batches = match format {
            Format::Parquet => {
                let group_bytes = GROUP_BUFFERS.saturating_mul(job.buffer).max(LEAST_GROUP);
                parquet::writer(output.writer()?, &output.name, &schema, group_bytes)?
            }
            _ => ArrowWriter::ipc(output.writer()?, &output.name, format, &schema)?,
        };
        Ok(Box::new(ArrowWriter::new(batches, output.name.clone(), schema, text)))
    }

    fn specs(&self) -> impl Iterator<Item = &Spec> {
        self.scans.iter().map(ColumnScan::spec)
    }

    /// What was done; with keys there is a total for each run, and so none for the column.
    fn summary(&self, job: &Job) -> Vec<Scanned> {
        let by = !job.args.by.is_empty();
        let scanned = |((scan, sources), name): ((&ColumnScan, &Vec<Source>), &String)| Scanned {
            columns: sources.iter().map(|source| source.name.clone()).collect(),
            name: Some(name.clone()),
            input_dtype: sources[0].dtype.to_string(),
            dtype: scan.spec().types().output.to_string(),
            total: (!by).then(|| job.total(scan.spec(), scan.total(), scan.any())),
            shape: None,
        };
        self.scans.iter().zip(&self.sources).zip(&self.names).map(scanned).collect()
    }
}

/// What a scanned column means in Arrow: dates stay dates, places are numbers.
fn meaning(spec: &Spec, source: &Source) -> Option<DataType> {
    let places = matches!(spec.op(), Op::ArgMin | Op::ArgMax);
    source.meaning.clone().filter(|_| spec.types().output == source.dtype && !places)
}

/// Whether the first of an exclusive scan has no value: a fill has nothing to fill with, and the
/// first date or time of all is none that could be shown. Arrays have neither dates nor nulls.
fn starts_missing(job: &Job, spec: &Spec, source: &Source) -> bool {
    let dated = meaning(spec, source).is_some() && !job.output_format.is_array();
    let extreme = matches!(spec.op(), Op::Min | Op::Max);
    let no_init = job.args.exclusive && job.args.init.is_none();
    spec.starts_missing() || (dated && extreme && no_init)
}

fn default_name(op: Op, sources: &[Source]) -> String {
    let names: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
    format!("{}_{}", names.join("_"), op.suffix())
}

fn check_names(new: &[String], old: &[&str]) -> Result<()> {
    for (i, name) in new.iter().enumerate() {
        if old.contains(&name.as_str()) || new[..i].contains(name) {
            return Err(Error::mismatch(format!("there would be two columns '{name}'"))
                .hint("choose another name with --as"));
        }
    }
    Ok(())
}

/// Dates and times can be compared and carried along, not added up; durations can be added.
fn check_meaning(op: Op, source: &Source) -> Result<()> {
    let Some(meaning) = &source.meaning else { return Ok(()) };
    let fits = match op {
        Op::Min | Op::Max | Op::LastValid | Op::ArgMin | Op::ArgMax => true,
        Op::Sum => matches!(meaning, DataType::Duration(_)),
        _ => false,
    };
    if fits {
        return Ok(());
    }
    Err(Error::mismatch(format!(
        "column '{}' holds {meaning}, which {} does not take",
        source.name,
        op.name()
    ))
    .hint(format!(
        "min, max, last-valid, argmin and argmax do; --dtype {} has it taken for numbers",
        source.dtype
    )))
}
