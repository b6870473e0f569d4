//! Arrays that the scan leaves in another order than that of their text: the last axis first, as
//! Fortran has it, or written from the end. They wait in a temporary file, and are read from it
//! block by block.

use super::c_order::COrder;
use crate::error::{Error, Result};
use crate::format::npy::Header;
use crate::output::Output;
use crate::text::write_element;
use kogge_erased::Dtype;
use std::fs::File;
use std::io::{self, Write};

/// Bytes of text that are written at once.
const WRITE_BYTES: usize = 256 << 10;

/// What the text of an array needs to know.
#[derive(Debug)]
pub struct TextOrder {
    dtype: Dtype,
    delimiter: u8,
    row: u64,
    order: COrder,
}

impl TextOrder {
    /// Of an array with this header.
    pub fn new(header: &Header, delimiter: u8) -> Self {
        let row = if header.shape.len() > 1 { header.shape[header.shape.len() - 1] } else { 1 };
        Self { dtype: header.dtype, delimiter, row, order: COrder::new(header, usize::MAX) }
    }

    /// Elements of a line of text.
    pub fn row(&self) -> u64 {
        self.row
    }

    /// Writes the text of the elements that lie in `file` from `offset` on.
    pub fn copy(&self, file: &File, offset: u64, output: &Output) -> Result<()> {
        let fail = |error| Error::write(&output.name, &error);
        let mut writer = output.writer()?;
        let size = self.dtype.size();
        let (mut elements, mut packed, mut text) = (Vec::new(), Vec::new(), Vec::new());
        for window in self.order.windows(false) {
            elements.resize(window.len() as usize * size, 0);
            let read = self.order.read(file, offset, &window, &mut elements, &mut packed);
            read.map_err(|error| Error::read(&output.spool_name(), &error))?;
            for (place, element) in (window.start + 1..).zip(elements.chunks_exact(size)) {
                write_element(self.dtype, element, &mut text);
                text.push(if place % self.row == 0 { b'\n' } else { self.delimiter });
                if text.len() >= WRITE_BYTES {
                    flush(&mut writer, &mut text).map_err(fail)?;
                }
            }
        }
        flush(&mut writer, &mut text).and_then(|()| writer.flush()).map_err(fail)
    }
}

fn flush(writer: &mut impl Write, text: &mut Vec<u8>) -> io::Result<()> {
    writer.write_all(text)?;
    text.clear();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A row ends where it does however the text is cut into blocks.
    #[test]
    fn rows_of_text_are_those_of_the_last_axis() {
        let directory = tempfile::tempdir().unwrap();
        let (path, spooled) = (directory.path().join("text"), directory.path().join("spool"));
        let shapes: [(&[u64], &str); 4] = [
            (&[], "0\n"),
            (&[3], "0\n1\n2\n"),
            (&[2, 3], "0 2 4\n1 3 5\n"),
            (&[2, 1, 3], "0 2 4\n1 3 5\n"),
        ];
        for (shape, want) in shapes {
            let mut order = TextOrder::new(&Header::new(Dtype::I16, shape.to_vec(), true), b' ');
            let elements: Vec<i16> = (0..shape.iter().product::<u64>() as i16).collect();
            fs::write(&spooled, [b"head", bytemuck::cast_slice(&elements)].concat()).unwrap();
            for block in 1..=elements.len() as u64 {
                order.order.block = block;
                let output = Output::create(Some(&path), None).unwrap();
                order.copy(&File::open(&spooled).unwrap(), 4, &output).unwrap();
                output.commit().unwrap();
                assert_eq!(fs::read_to_string(&path).unwrap(), want, "{order:?}");
            }
        }
    }
}
