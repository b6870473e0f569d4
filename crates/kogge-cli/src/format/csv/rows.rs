//! The rows of a text table, in batches: each row's text, and its cells that are scanned.

use super::kind::not_a_number;
use super::records::Records;
use super::trim_newlines;
use crate::error::Result;
use crate::table::batch::{Batch, Lines, Rest, Source, TableReader};
use crate::table::column::Column;
use crate::text::read_element;
use std::io::Read;

/// The rows of a text table.
pub(super) struct CsvRows {
    pub(super) records: Records<Box<dyn Read + Send>>,
    pub(super) name: String,
    pub(super) columns: Vec<(usize, Source)>,
    pub(super) keys: Vec<usize>,
    pub(super) last_key: Option<Vec<Vec<u8>>>,
    pub(super) batch_bytes: usize,
    pub(super) sampled: bool,
}

impl CsvRows {
    /// Whether the key of the current row differs from the one before.
    fn key_changes(&mut self) -> bool {
        let key = self.keys.iter().map(|&at| self.records.record.get(at).unwrap_or_default());
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
            let cell = self.records.record.get(*at).unwrap_or_default().trim_ascii();
            if cell.is_empty() {
                column.push_null();
                continue;
            }
            let text = std::str::from_utf8(cell).unwrap_or_default();
            if !column.push_with(|element| read_element(source.dtype, text, element)) {
                let line = self.records.line();
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
        let start = self.records.end();
        let mut columns: Vec<Column> =
            self.columns.iter().map(|(_, source)| Column::new(source.dtype)).collect();
        let mut starts = Vec::new();
        let mut ends = Vec::new();
        let mut numbers = Vec::new();
        while self.records.next()? {
            if self.key_changes() {
                starts.push(ends.len());
            }
            self.read_cells(&mut columns)?;
            let end = self.records.end();
            ends.push(end);
            numbers.push(self.records.line());
            if (end - start) as usize >= self.batch_bytes {
                break;
            }
        }
        let Some(&end) = ends.last() else { return Ok(None) };
        let text = self.records.text();
        let mut lines = Lines::default();
        let mut from = 0;
        for (end, number) in ends.iter().zip(numbers) {
            let to = (end - start) as usize;
            lines.push(trim_newlines(&text[from..to]), number);
            from = to;
        }
        self.records.forget(0);
        let rows = ends.len();
        Ok(Some(Batch { rows, columns, starts, rest: Rest::Lines(lines), bytes: end - start }))
    }
}
