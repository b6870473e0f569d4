//! Tables of Arrow batches, wherever the batches come from.

use super::batch::{Batch, Rest, Source, TableReader};
use super::bridge::{content, decimals, is_decimal, source, to_column};
use super::keys;
use super::select::Selection;
use crate::error::{Error, Result};
use crate::job::Job;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, Schema};

/// Any sequence of batches.
pub type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// The columns that are meant in a table of this schema.
///
/// # Errors
///
/// If there is no such column, or it holds no numbers.
pub fn select(job: &Job, schema: &Schema) -> Result<(Selection, Vec<Source>)> {
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let content = |at: usize| content(schema.field(at).data_type());
    // The schema says itself what is in the others.
    let selection = Selection::named(&names, job.args)?;
    let selection = selection.or_only(&names, job.args, content, |_, _| None)?;
    let sources = selection.columns.iter().map(|&at| source(schema.field(at), job.args.dtype));
    let sources = sources.collect::<Result<_>>()?;
    Ok((selection, sources))
}

/// The rows of Arrow batches.
pub struct ArrowRows {
    /// The batches.
    pub batches: Batches,
    /// The file, in messages.
    pub name: String,
    /// The columns to scan.
    pub columns: Vec<(usize, Source)>,
    /// The columns of the key.
    pub keys: Vec<usize>,
    /// The key of the last row.
    pub last_key: Option<Vec<ArrayRef>>,
    /// Bytes of the input since the last call, given the rows since then.
    pub bytes: Box<dyn FnMut(usize) -> u64 + Send>,
}

impl ArrowRows {
    /// The rows at which the key changes.
    fn starts(&mut self, batch: &RecordBatch) -> Result<Vec<usize>> {
        let keys = self.keys.iter().map(|&at| keys::plain(batch.column(at)));
        let keys = keys.collect::<Result<Vec<ArrayRef>>>()?;
        let starts = keys::changes(self.last_key.as_deref(), &keys)?;
        let end = batch.num_rows() - 1;
        self.last_key = Some(keys.iter().map(|key| key.slice(end, 1)).collect());
        Ok(starts)
    }
}

impl TableReader for ArrowRows {
    fn next(&mut self) -> Result<Option<Batch>> {
        let batch = loop {
            match self.batches.next() {
                None => return Ok(None),
                Some(batch) => {
                    let batch = batch.map_err(|error| read_error(&error, &self.name))?;
                    if batch.num_rows() > 0 {
                        break batch;
                    }
                }
            }
        };
        let starts = self.starts(&batch)?;
        let columns = self.columns.iter();
        let columns = columns.map(|(at, source)| match batch.column(*at) {
            array if is_decimal(array.data_type()) => decimals(array, source),
            array => to_column(array, source.dtype),
        });
        let (rows, columns) = (batch.num_rows(), columns.collect::<Result<_>>()?);
        Ok(Some(Batch {
            rows,
            columns,
            starts,
            rest: Rest::Arrow(batch),
            bytes: (self.bytes)(rows),
        }))
    }
}

const DAMAGED: &str = "it is truncated or damaged, or has what kogge does not read";

/// An error of reading: the system's, or that of a malformed file.
pub fn read_error(error: &ArrowError, name: &str) -> Error {
    match io_error(error) {
        // The system's have no other error within; a decompressor's have, of any kind.
        Some(error) if error.get_ref().is_some() => {
            Error::malformed(format!("{name} is damaged: its compressed parts cannot be unpacked"))
        }
        Some(error) => Error::read(name, error),
        None => {
            let told = Error::malformed(format!("{name}: {error}"));
            if error.to_string().contains("damaged") { told } else { told.hint(DAMAGED) }
        }
    }
}

/// An error of writing.
pub fn write_error(error: &(dyn std::error::Error + 'static), name: &str) -> Error {
    match io_error(error) {
        Some(error) => Error::write(name, error),
        None => Error::mismatch(format!("cannot write {name}: {error}")),
    }
}

/// The system's error at the bottom of another.
fn io_error<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a std::io::Error> {
    if let Some(error) = error.downcast_ref::<std::io::Error>() {
        return Some(error);
    }
    match error.downcast_ref::<ArrowError>() {
        Some(ArrowError::IoError(_, error)) => Some(error),
        _ => io_error(error.source()?),
    }
}
