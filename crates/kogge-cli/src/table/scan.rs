//! The scan of a column: run by run where keys change, stretch by stretch where values are missing.
//!
//! The scan is that of the values that are there. A missing one stays missing beside it, unless the
//! operator fills it.

use super::column::Column;
use crate::buffer::Buffer;
use crate::convert::convert;
use crate::engine::{LineScan, Spec};
use crate::error::{Error, Result};
use std::ops::Range;

/// The scan of one column, or of the two that an affine recurrence takes.
pub struct ColumnScan {
    spec: Spec,
    line: Box<dyn LineScan>,
    name: String,
}

impl ColumnScan {
    /// The scan before the first row; `name` is the column in messages.
    pub fn new(spec: Spec, name: String) -> Self {
        Self { line: spec.line(), spec, name }
    }

    /// What is done.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Everything of the last run combined.
    pub fn total(&self) -> Vec<u8> {
        self.line.total()
    }

    /// Scans the next rows, of which the first is row `first` of the table and a run of equal keys
    /// begins at each of `starts`. A reversed scan takes all rows at once.
    pub fn scan(&mut self, inputs: &[Column], starts: &[usize], first: u64) -> Result<Column> {
        let rows = inputs[0].rows();
        let valid = all_valid(inputs);
        let input = self.pack(inputs, first)?;
        let mut run = Run {
            line: self.line.as_mut(),
            spec: &self.spec,
            valid: valid.as_deref(),
            filled: valid.clone(),
            output: Buffer::zeroed(if self.spec.in_place() {
                0
            } else {
                rows * self.spec.output_size()
            }),
            input,
            first,
        };
        let mut runs: Vec<(Range<usize>, bool)> = Vec::new();
        let bounds = starts.iter().copied().filter(|&start| start > 0).chain([rows]);
        let mut start = 0;
        for end in bounds {
            runs.push((start..end, start > 0 || starts.first() == Some(&0)));
            start = end;
        }
        if self.spec.reversed() {
            for (i, (rows, _)) in runs.into_iter().rev().enumerate() {
                run.scan(rows, i > 0)?;
            }
        } else {
            for (rows, fresh) in runs {
                run.scan(rows, fresh)?;
            }
        }
        let data = if self.spec.in_place() { run.input } else { run.output };
        let valid = run.filled.filter(|filled| filled.contains(&false));
        Ok(Column { dtype: self.spec.types.output, data, valid })
    }

    /// The elements to be scanned: converted, and side by side if there are several columns.
    fn pack(&self, inputs: &[Column], first: u64) -> Result<Buffer> {
        let element = self.spec.types.element;
        let mut converted = Vec::with_capacity(inputs.len());
        for input in inputs {
            let mut data = Buffer::zeroed(input.rows() * element.size());
            convert(input.dtype, input.data.bytes(), element, data.bytes_mut()).map_err(|row| {
                let row = first + row as u64;
                let what = format!("row {row} of column '{}' is no {element}", self.name);
                Error::mismatch(what).hint("--dtype chooses another type; floats take any number")
            })?;
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

/// The rows that [`ColumnScan::scan`] is at.
struct Run<'a> {
    line: &'a mut dyn LineScan,
    spec: &'a Spec,
    valid: Option<&'a [bool]>,
    filled: Option<Vec<bool>>,
    input: Buffer,
    output: Buffer,
    first: u64,
}

impl Run<'_> {
    /// Scans rows with one key; `fresh` if they are the first with it.
    fn scan(&mut self, rows: Range<usize>, fresh: bool) -> Result<()> {
        if fresh {
            self.line.restart();
        }
        let Some(valid) = self.valid else { return self.present(rows) };
        let mut stretches = Vec::new();
        let mut start = rows.start;
        for stretch in valid[rows].chunk_by(|one, next| one == next) {
            stretches.push((start..start + stretch.len(), stretch[0]));
            start += stretch.len();
        }
        if self.spec.reversed() {
            stretches.reverse();
        }
        stretches.into_iter().try_for_each(|(rows, valid)| {
            if valid { self.present(rows) } else { self.missing(rows) }
        })
    }

    fn present(&mut self, rows: Range<usize>) -> Result<()> {
        let first = self.first + rows.start as u64;
        let (from, to) = (self.spec.input_size(), self.spec.output_size());
        let input = rows.start * from..rows.end * from;
        if self.spec.in_place() {
            return self.line.scan_in_place(first, &mut self.input.bytes_mut()[input]);
        }
        let output = rows.start * to..rows.end * to;
        let output = &mut self.output.bytes_mut()[output];
        self.line.scan_into(first, &self.input.bytes()[input], output)
    }

    fn missing(&mut self, rows: Range<usize>) -> Result<()> {
        let size = self.spec.output_size();
        let output = if self.spec.in_place() { &mut self.input } else { &mut self.output };
        let mut value = vec![0; size];
        let fills = self.line.fill(&mut value);
        for element in output.bytes_mut()[rows.start * size..rows.end * size].chunks_exact_mut(size)
        {
            element.copy_from_slice(&value);
        }
        if let (true, Some(filled)) = (fills, &mut self.filled) {
            filled[rows].fill(true);
        }
        Ok(())
    }
}
