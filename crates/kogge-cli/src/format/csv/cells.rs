//! The cells of rows whose text has been kept: they are cut again where their text alone won't do.

use crate::error::{Error, Fault, Result};
use crate::table::batch::TextHead;
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use std::ops::Range;

/// The cells of some rows, unquoted.
#[derive(Default)]
pub struct CellRows {
    text: Vec<u8>,
    /// Where each cell ends in `text`, row after row.
    ends: Vec<usize>,
    width: usize,
}

impl CellRows {
    /// Cuts lines, which have no ends, into `width` cells each.
    ///
    /// # Errors
    ///
    /// If one has another number of them, which the reader would have found.
    pub fn cut<'a>(
        lines: impl Iterator<Item = &'a [u8]>,
        delimiter: u8,
        width: usize,
    ) -> Result<Self> {
        // One reader for all of them: to build its tables takes far longer than to cut a row.
        let mut reader = ReaderBuilder::new().delimiter(delimiter).build();
        let mut rows = Self { width, ..Self::default() };
        for line in lines {
            let cells = rows.cut_line(&mut reader, line);
            if cells != width {
                let what = format!("a row of {width} cells was cut into {cells}");
                return Err(Error::new(Fault::Defect, what));
            }
        }
        Ok(rows)
    }

    /// The cells of a header, as its only row.
    ///
    /// # Errors
    ///
    /// As for [`CellRows::cut`].
    pub fn of_head(head: &TextHead) -> Result<Self> {
        let line = head.line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&head.line);
        Self::cut([line].into_iter(), head.delimiter, head.names.len())
    }

    /// Adds the cells of a line; how many there are.
    fn cut_line(&mut self, reader: &mut Reader, line: &[u8]) -> usize {
        let (from, first) = (self.text.len(), self.ends.len());
        // A text's first bytes may be a mark of its encoding, a row's are its own.
        let mut parts = [&b"\n"[..], line, b"\n"].into_iter();
        let mut part = parts.next().unwrap_or_default();
        let (mut to, mut end) = (from, first);
        self.text.resize(from + line.len() + 1, 0);
        self.ends.resize(first + self.width + 1, 0);
        loop {
            let (done, read, cells, ends) =
                reader.read_record(part, &mut self.text[to..], &mut self.ends[end..]);
            (part, to, end) = (&part[read..], to + cells, end + ends);
            match done {
                ReadRecordResult::InputEmpty => part = parts.next().unwrap_or_default(),
                ReadRecordResult::OutputFull => self.text.resize(2 * self.text.len(), 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                ReadRecordResult::Record | ReadRecordResult::End => break,
            }
        }
        self.text.truncate(to);
        self.ends.truncate(end);
        self.ends[first..].iter_mut().for_each(|end| *end += from);
        end - first
    }

    /// The rows' numbers, from 0.
    pub fn rows(&self) -> Range<usize> {
        0..self.ends.len().checked_div(self.width).unwrap_or(0)
    }

    /// The cells of a row.
    pub fn row(&self, row: usize) -> impl Iterator<Item = &[u8]> {
        (0..self.width).map(move |column| self.cell(row, column))
    }

    /// One cell.
    pub fn cell(&self, row: usize, column: usize) -> &[u8] {
        let at = row * self.width + column;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[at]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_every_kind_of_cell() {
        let lines =
            ["a,b,c", ",,", "\"x,\"\"y\"\"\",\"1\n2\",", "\u{feff},é,\"\"", "1, \"2\" ,\"3\"4"];
        let want = [
            ["a", "b", "c"],
            ["", "", ""],
            ["x,\"y\"", "1\n2", ""],
            ["\u{feff}", "é", ""],
            ["1", " \"2\" ", "34"],
        ];
        let rows = CellRows::cut(lines.iter().map(|line| line.as_bytes()), b',', 3).unwrap();
        assert_eq!(rows.rows(), 0..lines.len());
        for (row, want) in want.iter().enumerate() {
            let cells: Vec<_> = rows.row(row).map(|cell| str::from_utf8(cell).unwrap()).collect();
            assert_eq!(cells, want, "{:?}", lines[row]);
        }
    }

    #[test]
    fn one_cell_a_row() {
        let rows = CellRows::cut([&b"\"\""[..], b"x"].into_iter(), b'\t', 1).unwrap();
        assert_eq!((rows.cell(0, 0), rows.cell(1, 0)), (&b""[..], &b"x"[..]));
    }

    #[test]
    fn a_row_of_another_width_is_a_defect() {
        for line in ["1", "1,2,3", "1,2,3,4,5,6,7,8,9"] {
            let cut = CellRows::cut([&b"a,b"[..], line.as_bytes()].into_iter(), b',', 2);
            assert!(cut.is_err(), "{line}");
        }
    }
}
