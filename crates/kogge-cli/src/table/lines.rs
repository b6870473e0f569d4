//! Lines of text as typed columns of Arrow.

use super::batch::{Lines, TextHead};
use super::bridge::{data_type, to_array};
use super::column::Column;
use crate::error::{Error, Result};
use crate::format::csv::{CellRows, loses};
use crate::text::read_element;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use kogge_erased::Dtype;
use std::str;
use std::sync::Arc;

/// The schema of a text table: numbers where all cells are, else text.
///
/// # Errors
///
/// If the name of a column isn't UTF-8, as Arrow's text is.
pub fn text_schema(head: &TextHead) -> Result<SchemaRef> {
    for (at, name) in CellRows::of_head(head)?.row(0).enumerate() {
        str::from_utf8(name).map_err(|_| {
            not_utf8(&format!("the header of {}: the name of column {}", head.file, at + 1))
        })?;
    }
    let field = |(name, dtype): (&String, &Option<Dtype>)| {
        let data_type = dtype.and_then(data_type).unwrap_or(DataType::Utf8);
        Field::new(name, data_type, true)
    };
    let fields: Vec<Field> = head.names.iter().zip(&head.dtypes).map(field).collect();
    Ok(Arc::new(Schema::new(fields)))
}

/// Lines of text as typed columns.
///
/// # Errors
///
/// If a cell isn't what its column was found to hold, or not UTF-8.
pub fn lines_to_batch(lines: &Lines, head: &TextHead, schema: &SchemaRef) -> Result<RecordBatch> {
    let rows = CellRows::cut(lines.iter(), head.delimiter, head.names.len())?;
    let mut arrays: Vec<ArrayRef> = Vec::new();
    for (at, field) in schema.fields().iter().enumerate() {
        let cells = Cells { rows: &rows, at, lines, head };
        arrays.push(match (field.data_type(), head.dtypes[at]) {
            (DataType::Utf8, _) | (_, None) => Arc::new(cells.texts()?),
            (data_type, Some(dtype)) => to_array(&cells.numbers(dtype)?, data_type)?,
        });
    }
    RecordBatch::try_new(Arc::clone(schema), arrays)
        .map_err(|error| Error::malformed(error.to_string()))
}

/// The cells of one column.
struct Cells<'a> {
    rows: &'a CellRows,
    at: usize,
    lines: &'a Lines,
    head: &'a TextHead,
}

impl<'a> Cells<'a> {
    fn iter(&self) -> impl Iterator<Item = &'a [u8]> {
        let at = self.at;
        self.rows.rows().map(move |row| self.rows.cell(row, at))
    }

    fn texts(&self) -> Result<StringArray> {
        let text = |(row, cell): (usize, &'a [u8])| {
            str::from_utf8(cell).map_err(|_| {
                let name = &self.head.names[self.at];
                not_utf8(&format!("{}: a cell in column '{name}'", self.line(row)))
            })
        };
        let texts = self.iter().enumerate().map(text);
        Ok(StringArray::from_iter_values(texts.collect::<Result<Vec<&str>>>()?))
    }

    fn numbers(&self, dtype: Dtype) -> Result<Column> {
        let mut column = Column::new(dtype);
        let scanned = self.head.scanned.contains(&self.at);
        let read = |cell: &str, element: &mut [u8]| {
            (scanned || !loses(cell, dtype)) && read_element(dtype, cell, element)
        };
        for (row, cell) in self.iter().enumerate() {
            let cell = String::from_utf8_lossy(cell.trim_ascii());
            if cell.is_empty() {
                column.push_null();
            } else if !column.push_with(|element| read(&cell, element)) {
                let (line, name) = (self.line(row), &self.head.names[self.at]);
                let what =
                    format!("{line}: '{cell}' in column '{name}' is no {dtype}, or not exactly");
                return Err(Error::malformed(what)
                    .hint("a pipe's types follow its first rows; read from a file instead"));
            }
        }
        Ok(column)
    }

    fn line(&self, row: usize) -> String {
        format!("line {} of {}", self.lines.numbers[row], self.head.file)
    }
}

fn not_utf8(what: &str) -> Error {
    Error::malformed(format!("{what} is not UTF-8, as text in Parquet and Arrow must be"))
        .hint("convert the file first, as with: iconv -f latin1 -t utf-8")
}
