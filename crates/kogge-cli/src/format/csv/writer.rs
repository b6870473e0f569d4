//! The writer of text tables.

use super::CellRows;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::format::arrow::Cells;
use crate::output::{Output, Writer};
use crate::table::batch::{Rest, TableWriter, Whole};
use crate::table::bridge::to_array;
use crate::table::column::Column;
use crate::text::write_element;
use arrow_array::ArrayRef;
use arrow_schema::DataType;
use std::io::Write;

/// Writes text: lines as they were with cells added, or columns of Arrow as text.
pub struct CsvWriter {
    writer: Writer,
    name: String,
    delimiter: u8,
    newline: &'static [u8],
    /// What separates the cells of lines that come, if that must change, and how many there are.
    foreign: Option<(u8, usize)>,
    /// The names of the new columns, and what they mean in Arrow, where that is more than a number.
    columns: Vec<(String, Option<DataType>)>,
    text: Vec<u8>,
}

impl CsvWriter {
    /// Writes the header line; `columns` are the new ones and what they mean.
    ///
    /// # Errors
    ///
    /// If a column has no text, or the output cannot be written.
    pub fn new(
        output: &Output,
        format: Format,
        whole: &Whole,
        columns: Vec<(&str, Option<DataType>)>,
    ) -> Result<Self> {
        let delimiter = format.delimiter();
        if let Whole::Arrow(schema) = whole {
            Cells::check(schema)?;
        }
        let mut this = Self {
            writer: output.writer()?,
            name: output.name.clone(),
            delimiter,
            newline: b"\n",
            foreign: None,
            columns: columns
                .into_iter()
                .map(|(name, meaning)| (name.to_owned(), meaning))
                .collect(),
            text: Vec::new(),
        };
        match whole {
            Whole::Text(head) if head.delimiter == delimiter => {
                this.newline = head.newline;
                this.text.extend_from_slice(&head.line);
            }
            Whole::Text(head) => {
                this.foreign = Some((head.delimiter, head.names.len()));
                this.add_cells(CellRows::of_head(head)?.row(0));
            }
            whole => this.add_cells(whole.names().into_iter().map(str::as_bytes)),
        }
        for (name, _) in &this.columns {
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
            if self.columns[i].1.is_some() {
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
    fn dated(&self, scanned: &[Column]) -> Result<Vec<(String, ArrayRef)>> {
        let dated = scanned.iter().zip(&self.columns).filter_map(|(column, (name, meaning))| {
            let array = to_array(column, meaning.as_ref()?);
            Some(array.map(|array| (name.clone(), array)))
        });
        dated.collect()
    }
}

impl TableWriter for CsvWriter {
    fn write(&mut self, rest: Rest, scanned: &[Column]) -> Result<()> {
        let dated = self.dated(scanned)?;
        let dated = Cells::new(dated.iter().map(|(name, column)| (name.as_str(), column)))?;
        match rest {
            Rest::Lines(lines) => {
                let foreign = self
                    .foreign
                    .map(|(delimiter, width)| CellRows::cut(lines.iter(), delimiter, width));
                let foreign = foreign.transpose()?;
                for (row, line) in lines.iter().enumerate() {
                    match &foreign {
                        Some(rows) => self.add_cells(rows.row(row)),
                        None => self.text.extend_from_slice(line),
                    }
                    self.end_row(row, scanned, &dated)?;
                }
            }
            Rest::Arrow(batch) => {
                let schema = batch.schema();
                let names = schema.fields().iter().map(|field| field.name().as_str());
                let cells = Cells::new(names.zip(batch.columns()))?;
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
