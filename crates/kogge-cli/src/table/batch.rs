//! Some rows of a table, as they travel from the reader to the writer.

use super::column::Column;
use crate::error::Result;
use crate::output::Output;
use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};
use kogge_erased::Dtype;

/// Consecutive rows of a table.
pub struct Batch {
    /// How many.
    pub rows: usize,
    /// The columns to be scanned, in the order they were asked for.
    pub columns: Vec<Column>,
    /// The rows at which the key differs from the row before, within the batch or in the last one.
    pub starts: Vec<usize>,
    /// The rows as they were read.
    pub rest: Rest,
    /// Bytes of the input that they took.
    pub bytes: u64,
}

/// Rows as they were read, to be written beside the scanned columns.
pub enum Rest {
    /// Lines of text, byte for byte.
    Lines(Lines),
    /// Columns of Arrow.
    Arrow(RecordBatch),
}

/// Lines of text without their ends, one for each row.
#[derive(Default)]
pub struct Lines {
    text: Vec<u8>,
    ends: Vec<usize>,
    /// For messages: the number in the file of the line on which each row starts.
    pub numbers: Vec<u64>,
}

impl Lines {
    /// Adds a line with its number.
    pub fn push(&mut self, line: &[u8], number: u64) {
        self.text.extend_from_slice(line);
        self.ends.push(self.text.len());
        self.numbers.push(number);
    }

    /// The lines.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }
}

/// What a table is like, known before its rows are read.
pub struct Head {
    /// The columns to be scanned.
    pub columns: Vec<Source>,
    /// All columns.
    pub whole: Whole,
    /// Bytes of the input, if known.
    pub bytes: Option<u64>,
    /// The file in messages, if it is an array, which the user knows no column of.
    pub array: Option<String>,
}

/// A column to be scanned.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub dtype: Dtype,
    /// Its type in Arrow, where that is more than a number: a date, a time, a duration.
    pub meaning: Option<DataType>,
}

/// All columns of a table.
pub enum Whole {
    /// Text.
    Text(TextHead),
    /// Arrow.
    Arrow(SchemaRef),
}

/// The head of a text table.
#[derive(Clone)]
pub struct TextHead {
    /// The file, in messages.
    pub file: String,
    /// The header line, byte for byte, without its end.
    pub line: Vec<u8>,
    /// What ends the lines.
    pub newline: &'static [u8],
    /// What separates the cells.
    pub delimiter: u8,
    /// The columns' names.
    pub names: Vec<String>,
    /// What the cells of each column hold; `None` for text.
    pub dtypes: Vec<Option<Dtype>>,
    /// The columns to be scanned, whose type is that of the scan.
    pub scanned: Vec<usize>,
}

impl Head {
    /// What messages call a row of a column; a row of an array is an element.
    pub fn row_name(&self, column: &Source) -> RowName {
        let (name, array) = (column.name.clone(), self.array.clone());
        Box::new(move |row| match &array {
            Some(array) => format!("element {row} of {array}"),
            None => format!("row {row} of column '{name}'"),
        })
    }
}

/// What messages call a row.
pub type RowName = Box<dyn Fn(u64) -> String>;

impl Whole {
    /// The names of all columns.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Self::Text(head) => head.names.iter().map(String::as_str).collect(),
            Self::Arrow(schema) => schema.fields().iter().map(|f| f.name().as_str()).collect(),
        }
    }
}

/// A table that can be read.
pub trait Table {
    /// What it is like.
    fn head(&self) -> &Head;

    /// A reader of all rows. A second one can be had only if the table was opened for that.
    fn rows(&mut self) -> Result<Box<dyn TableReader>>;
}

/// The rows of a table, some at a time.
pub trait TableReader: Send {
    /// The next rows; `None` after the last.
    fn next(&mut self) -> Result<Option<Batch>>;
}

/// A table being written.
pub trait TableWriter: Send {
    /// Writes some rows with their scanned columns.
    fn write(&mut self, rest: Rest, scanned: &[Column]) -> Result<()>;

    /// Completes the table.
    fn finish(self: Box<Self>, output: &Output) -> Result<()>;
}
