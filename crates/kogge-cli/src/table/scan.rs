//! The scan of a column, run by run where keys change.
//!
//! The scan is that of the values that are there. A missing one stays missing beside it, unless the
//! operator fills it.

use super::batch::RowName;
use super::column::Column;
use crate::buffer::Buffer;
use crate::convert::{convert, misfit};
use crate::error::Result;
use kogge_erased::{LineScan, Spec};
use std::ops::Range;

/// The scan of one column, or of the two that an affine recurrence takes.
pub struct ColumnScan {
    spec: Spec,
    line: Box<dyn LineScan>,
    /// What messages call a row of each.
    row_names: Vec<RowName>,
    /// Whether the first value of each run is null.
    starts_missing: bool,
    /// Whether the current run has had its first, and whether there was any at all.
    begun: bool,
    any: bool,
}

impl ColumnScan {
    /// The scan before the first row; `starts_missing` says whether the first value of each run is
    /// null.
    pub fn new(spec: Spec, row_names: Vec<RowName>, starts_missing: bool) -> Self {
        let line = spec.line();
        Self { spec, line, row_names, starts_missing, begun: false, any: false }
    }

    /// What is done.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Everything of the last run combined.
    pub fn total(&self) -> Vec<u8> {
        self.line.total()
    }

    /// Whether any value was there.
    pub fn any(&self) -> bool {
        self.any
    }

    /// Scans the next rows, of which the first is row `first` of the table and a run of equal keys
    /// begins at each of `starts`. A reversed scan takes all rows at once.
    pub fn scan(&mut self, inputs: &[Column], starts: &[usize], first: u64) -> Result<Column> {
        let input = self.pack(inputs, first)?;
        let valid = all_valid(inputs);
        let unfilled = self.unfilled(inputs[0].rows(), valid.as_deref(), starts);
        let (mut data, mut valid) = match valid {
            None => (self.scan_present(input, starts, first)?, None),
            Some(valid) if self.spec.closes_gaps() => {
                let gaps = Gaps::new(&valid);
                let dense = gaps.close(&input, self.spec.input_size());
                let scanned = self.scan_present(dense, &gaps.starts(starts), first)?;
                (gaps.open(&scanned, self.spec.output_size()), Some(valid))
            }
            Some(valid) => self.scan_stretches(input, valid, starts, first)?,
        };
        if !unfilled.is_empty() {
            let valid = valid.get_or_insert_with(|| vec![true; inputs[0].rows()]);
            let size = self.spec.output_size();
            for row in unfilled {
                valid[row] = false;
                data.bytes_mut()[row * size..][..size].fill(0);
            }
        }
        let valid = valid.filter(|valid| valid.contains(&false));
        Ok(Column { dtype: self.spec.types().output, data, valid })
    }

    /// The rows that are null although they are there: the first of each run, where that is so.
    fn unfilled(&mut self, rows: usize, valid: Option<&[bool]>, starts: &[usize]) -> Vec<usize> {
        let there = |&row: &usize| valid.is_none_or(|valid| valid[row]);
        self.any |= (0..rows).any(|row| there(&row));
        if !self.starts_missing {
            return Vec::new();
        }
        // A run that goes on here may have had its first.
        let begun = std::mem::take(&mut self.begun);
        let last = starts.last().copied().unwrap_or(0);
        self.begun = (begun && starts.is_empty()) || (last..rows).any(|row| there(&row));
        let ends = starts.iter().copied().chain([rows]);
        let runs = [0].into_iter().chain(starts.iter().copied()).zip(ends).skip(begun.into());
        let first = |(start, end)| {
            let mut run = start..end;
            if self.spec.reversed() { run.rev().find(there) } else { run.find(there) }
        };
        runs.filter_map(first).collect()
    }

    /// Scans elements all of which are there.
    fn scan_present(&mut self, mut input: Buffer, starts: &[usize], first: u64) -> Result<Buffer> {
        if self.spec.in_place() {
            self.line.scan_in_place(starts, input.bytes_mut())?;
            return Ok(input);
        }
        let rows = input.len() / self.spec.input_size();
        let mut output = Buffer::zeroed(rows * self.spec.output_size());
        self.line.scan_into(first, starts, input.bytes(), output.bytes_mut())?;
        Ok(output)
    }

    /// Scans run by run, stretch by stretch, and fills what is missing in between.
    fn scan_stretches(
        &mut self,
        input: Buffer,
        valid: Vec<bool>,
        starts: &[usize],
        first: u64,
    ) -> Result<(Buffer, Option<Vec<bool>>)> {
        let output = if self.spec.in_place() { 0 } else { valid.len() * self.spec.output_size() };
        let mut run = Run {
            line: self.line.as_mut(),
            spec: &self.spec,
            valid: &valid,
            filled: valid.clone(),
            output: Buffer::zeroed(output),
            input,
            first,
        };
        let ends = starts.iter().copied().chain([valid.len()]);
        let mut runs: Vec<_> = [0].into_iter().chain(starts.iter().copied()).zip(ends).collect();
        if self.spec.reversed() {
            runs.reverse();
        }
        for (i, (start, end)) in runs.into_iter().enumerate() {
            if i > 0 {
                run.line.restart();
            }
            run.scan(start..end)?;
        }
        let data = if self.spec.in_place() { run.input } else { run.output };
        Ok((data, Some(run.filled)))
    }

    /// The elements to be scanned: converted, and side by side if there are several columns.
    fn pack(&self, inputs: &[Column], first: u64) -> Result<Buffer> {
        let element = self.spec.types().element;
        let mut converted = Vec::with_capacity(inputs.len());
        for (input, row_name) in inputs.iter().zip(&self.row_names) {
            let mut data = Buffer::zeroed(input.rows() * element.size());
            convert(input.dtype, input.data.bytes(), element, data.bytes_mut())
                .map_err(|row| misfit(&row_name(first + row as u64), input.dtype, &self.spec))?;
            converted.push(data);
        }
        if converted.len() == 1 {
            return Ok(converted.remove(0));
        }
        let mut packed = Buffer::zeroed(converted.iter().map(Buffer::len).sum());
        let mut elements = packed.bytes_mut().chunks_exact_mut(element.size());
        let mut columns: Vec<_> =
            converted.iter().map(|data| data.bytes().chunks_exact(element.size())).collect();
        for _ in 0..inputs[0].rows() {
            for column in &mut columns {
                if let (Some(to), Some(from)) = (elements.next(), column.next()) {
                    to.copy_from_slice(from);
                }
            }
        }
        Ok(packed)
    }
}

/// Which rows are there in all of the columns.
fn all_valid(inputs: &[Column]) -> Option<Vec<bool>> {
    let mut masks = inputs.iter().filter_map(|input| input.valid.as_ref());
    let mut all = masks.next()?.clone();
    for mask in masks {
        all.iter_mut().zip(mask).for_each(|(all, &valid)| *all &= valid);
    }
    Some(all)
}

/// The stretches of rows that are there, between the gaps where values are missing.
struct Gaps {
    rows: usize,
    stretches: Vec<Range<usize>>,
}

impl Gaps {
    fn new(valid: &[bool]) -> Self {
        let mut stretches = Vec::new();
        let mut start = 0;
        for stretch in valid.chunk_by(|one, next| one == next) {
            if stretch[0] {
                stretches.push(start..start + stretch.len());
            }
            start += stretch.len();
        }
        Self { rows: valid.len(), stretches }
    }

    /// The elements that are there, of `size` bytes each, side by side.
    fn close(&self, input: &Buffer, size: usize) -> Buffer {
        let mut dense = Buffer::zeroed(self.stretches.iter().map(|s| s.len() * size).sum());
        let mut end = 0;
        for stretch in &self.stretches {
            let start = end;
            end += stretch.len() * size;
            let from = &input.bytes()[stretch.start * size..stretch.end * size];
            dense.bytes_mut()[start..end].copy_from_slice(from);
        }
        dense
    }

    /// The elements in their places again, zeros between them.
    fn open(&self, dense: &Buffer, size: usize) -> Buffer {
        let mut output = Buffer::zeroed(self.rows * size);
        let mut end = 0;
        for stretch in &self.stretches {
            let start = end;
            end += stretch.len() * size;
            let to = &mut output.bytes_mut()[stretch.start * size..stretch.end * size];
            to.copy_from_slice(&dense.bytes()[start..end]);
        }
        output
    }

    /// Where runs start among the elements that are there.
    fn starts(&self, starts: &[usize]) -> Vec<usize> {
        let mut stretches = self.stretches.iter().peekable();
        let mut before = 0;
        let place = |&start: &usize| {
            while let Some(stretch) = stretches.next_if(|stretch| stretch.end <= start) {
                before += stretch.len();
            }
            before + stretches.peek().map_or(0, |stretch| start.saturating_sub(stretch.start))
        };
        starts.iter().map(place).collect()
    }
}

/// The rows that [`ColumnScan::scan_stretches`] is at.
struct Run<'a> {
    line: &'a mut dyn LineScan,
    spec: &'a Spec,
    valid: &'a [bool],
    filled: Vec<bool>,
    input: Buffer,
    output: Buffer,
    first: u64,
}

impl Run<'_> {
    /// Scans rows with one key.
    fn scan(&mut self, rows: Range<usize>) -> Result<()> {
        let mut stretches = Vec::new();
        let mut start = rows.start;
        for stretch in self.valid[rows].chunk_by(|one, next| one == next) {
            stretches.push((start..start + stretch.len(), stretch[0]));
            start += stretch.len();
        }
        if self.spec.reversed() {
            stretches.reverse();
        }
        for (rows, valid) in stretches {
            if valid {
                self.present(rows)?;
            } else {
                self.missing(rows);
            }
        }
        Ok(())
    }

    fn present(&mut self, rows: Range<usize>) -> Result<()> {
        let first = self.first + rows.start as u64;
        let (from, to) = (self.spec.input_size(), self.spec.output_size());
        let input = rows.start * from..rows.end * from;
        if self.spec.in_place() {
            return Ok(self.line.scan_in_place(&[], &mut self.input.bytes_mut()[input])?);
        }
        let output = &mut self.output.bytes_mut()[rows.start * to..rows.end * to];
        Ok(self.line.scan_into(first, &[], &self.input.bytes()[input], output)?)
    }

    fn missing(&mut self, rows: Range<usize>) {
        let size = self.spec.output_size();
        let output = if self.spec.in_place() { &mut self.input } else { &mut self.output };
        let mut value = vec![0; size];
        let fills = self.line.fill(&mut value);
        let output = &mut output.bytes_mut()[rows.start * size..rows.end * size];
        for element in output.chunks_exact_mut(size) {
            element.copy_from_slice(&value);
        }
        if fills {
            self.filled[rows].fill(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_close_and_open() {
        let valid = [false, true, true, false, false, true, false, true, false];
        let gaps = Gaps::new(&valid);
        assert_eq!(gaps.stretches, [1..3, 5..6, 7..8]);
        let mut input = Buffer::zeroed(9);
        input.bytes_mut().copy_from_slice(&[0, 1, 2, 0, 0, 3, 0, 4, 0]);
        let dense = gaps.close(&input, 1);
        assert_eq!(dense.bytes(), [1, 2, 3, 4]);
        assert_eq!(gaps.open(&dense, 1).bytes(), input.bytes());
        let starts: Vec<usize> = (0..=9).collect();
        assert_eq!(gaps.starts(&starts), [0, 0, 1, 2, 2, 2, 3, 3, 4, 4]);
        assert_eq!(gaps.starts(&[2, 8]), [1, 4]);
    }
}
