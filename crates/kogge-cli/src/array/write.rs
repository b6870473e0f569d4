//! Windows of an array, written to a file or a pipe.

use super::text_order::TextOrder;
use super::walk::Window;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::format::npy::Header;
use crate::output::{Output, Writer};
use crate::text::write_element;
use kogge_erased::Dtype;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};

/// The elements of an array on their way out.
pub struct ArrayWriter {
    name: String,
    dtype: Dtype,
    sink: Sink,
    written: u64,
    /// Whether the header is written anew at the end: only then is the length known.
    patched: bool,
}

enum Sink {
    /// At any place.
    File { file: File, offset: u64 },
    /// At any place, to be copied out at the end, as text if that says how.
    Spool { file: File, offset: u64, text: Option<TextOrder> },
    /// From start to end.
    Stream(Writer),
    /// Lines of text, each with the elements of the last axis.
    Text { writer: Writer, delimiter: u8, row: u64, text: Vec<u8> },
}

impl ArrayWriter {
    /// A writer of an array with this header. Where windows don't follow the file and the output
    /// cannot be positioned, the array goes to an unnamed temporary file first.
    pub fn new(
        output: &Output,
        format: Format,
        header: &Header,
        sequential: bool,
        endless: bool,
    ) -> Result<Self> {
        let name = output.name.clone();
        let fail = |error| Error::write(&name, &error);
        let start = match format {
            Format::Npy => header.to_bytes()?,
            _ => Vec::new(),
        };
        let offset = start.len() as u64;
        let patched = endless && format == Format::Npy;
        let sink = if format.is_text() {
            let delimiter = format.delimiter();
            let order = TextOrder::new(header, delimiter);
            if sequential && !header.fortran_order {
                let row = order.row();
                Sink::Text { writer: output.writer()?, delimiter, row, text: Vec::new() }
            } else {
                Sink::Spool { file: output.spool()?, offset, text: Some(order) }
            }
        } else if let Some(mut file) = output.seekable()? {
            file.write_all(&start).map_err(fail)?;
            Sink::File { file, offset }
        } else if sequential && !patched {
            let mut writer = output.writer()?;
            writer.write_all(&start).map_err(fail)?;
            Sink::Stream(writer)
        } else {
            let mut file = output.spool()?;
            file.write_all(&start).map_err(fail)?;
            Sink::Spool { file, offset, text: None }
        };
        let name = if matches!(sink, Sink::Spool { .. }) { output.spool_name() } else { name };
        Ok(Self { name, dtype: header.dtype, sink, written: 0, patched })
    }

    /// Writes the elements of a window.
    pub fn write(&mut self, window: &Window, elements: &[u8]) -> Result<()> {
        let size = self.dtype.size();
        let first = self.written;
        self.written += (elements.len() / size) as u64;
        let done = match &mut self.sink {
            Sink::File { file, offset } | Sink::Spool { file, offset, .. } => {
                write_at(file, *offset, window, size, elements)
            }
            Sink::Stream(writer) => writer.write_all(elements),
            Sink::Text { writer, delimiter, row, text } => {
                text.clear();
                for (i, element) in (first..).zip(elements.chunks_exact(size)) {
                    write_element(self.dtype, element, text);
                    text.push(if (i + 1) % *row == 0 { b'\n' } else { *delimiter });
                }
                writer.write_all(text)
            }
        };
        done.map_err(|error| Error::write(&self.name, &error))
    }

    /// Completes the array, whose length `header` now has.
    pub fn finish(self, output: &Output, header: &Header) -> Result<()> {
        let fail = |error| Error::write(&self.name, &error);
        let again = self.patched.then(|| header.to_bytes()).transpose()?;
        match self.sink {
            Sink::Stream(mut writer) | Sink::Text { mut writer, .. } => {
                writer.flush().map_err(fail)
            }
            Sink::File { mut file, .. } => rewrite(&mut file, again).map_err(fail),
            Sink::Spool { file, offset, text: Some(order) } => order.copy(&file, offset, output),
            Sink::Spool { mut file, .. } => {
                rewrite(&mut file, again).map_err(fail)?;
                output.copy_from(file)
            }
        }
    }
}

fn rewrite(file: &mut File, header: Option<Vec<u8>>) -> std::io::Result<()> {
    let Some(header) = header else { return Ok(()) };
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&header)
}

fn write_at(
    file: &mut File,
    offset: u64,
    window: &Window,
    size: usize,
    elements: &[u8],
) -> std::io::Result<()> {
    let contiguous = window.stride == window.width;
    let run = if contiguous { elements.len() } else { window.width as usize * size };
    for (i, row) in (0..).zip(elements.chunks(run.max(1))) {
        let place = offset + (window.start + i * window.stride) * size as u64;
        file.seek(SeekFrom::Start(place))?;
        file.write_all(row)?;
    }
    Ok(())
}
