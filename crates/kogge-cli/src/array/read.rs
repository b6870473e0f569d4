//! Windows of an array, read from a file or a pipe.

use super::walk::Window;
use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::format::npy::Header;
use crate::format::raw;
use std::cmp::Ordering;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};

/// The elements of an array in a file.
pub struct ArrayReader {
    /// The file, in messages.
    pub name: String,
    /// What the file holds. Of a pipe of raw elements the length is unknown, and taken for
    /// [`ArrayReader::ENDLESS`].
    pub header: Header,
    /// Where the elements start.
    pub offset: u64,
    /// The bytes.
    pub source: ArraySource,
}

/// Where the bytes of an array come from.
pub enum ArraySource {
    /// A file, to be read at any place.
    File(File),
    /// A pipe, standing at the first element.
    Stream(Box<dyn Read + Send>),
}

impl ArrayReader {
    /// The length of an array that ends where its pipe does.
    pub const ENDLESS: u64 = i64::MAX as u64 / 8;

    /// Whether the length is unknown until the pipe ends.
    pub fn is_endless(&self) -> bool {
        self.header.shape == [Self::ENDLESS]
    }

    /// Whether windows must come in file order.
    pub fn is_stream(&self) -> bool {
        matches!(self.source, ArraySource::Stream(_))
    }

    /// The same elements in a file that can be read at any place: a pipe is copied first.
    pub fn into_positioned(mut self) -> Result<Self> {
        let (file, bytes) = match self.source {
            ArraySource::Stream(stream) => crate::input::spool(stream, &self.name)?,
            ArraySource::File(_) => return Ok(self),
        };
        self.source = ArraySource::File(file);
        self.offset = 0;
        if self.is_endless() {
            self.header = raw::header(self.header.dtype, bytes, &self.name)?;
        }
        match bytes.cmp(&self.header.bytes()) {
            Ordering::Less => Err(self.truncated(bytes)),
            Ordering::Equal => Ok(self),
            Ordering::Greater => Err(self.surplus()),
        }
    }

    /// Reads a window; gives the elements read, which are fewer only at the end of an endless pipe.
    pub fn read(&mut self, window: &Window, buffer: &mut Buffer) -> Result<u64> {
        let size = self.header.dtype.size();
        let row = window.width as usize * size;
        buffer.resize(window.rows as usize * row);
        let (runs, run) =
            if window.stride == window.width { (1, buffer.len()) } else { (window.rows, row) };
        let mut read = 0;
        for (i, bytes) in (0..runs).zip(buffer.bytes_mut().chunks_exact_mut(run.max(1))) {
            if let ArraySource::File(file) = &mut self.source {
                let place = self.offset + (window.start + i * window.stride) * size as u64;
                file.seek(SeekFrom::Start(place))
                    .map_err(|error| Error::read(&self.name, &error))?;
            }
            let got = self.fill(bytes)?;
            read += got;
            if got < bytes.len() {
                break;
            }
        }
        if read < buffer.len() && !self.is_endless() {
            return Err(self.truncated(window.start * size as u64 + read as u64));
        }
        if read % size != 0 {
            return Err(Error::malformed(format!(
                "{} ends inside an element of {}: it is truncated, or of another type",
                self.name, self.header.dtype
            )));
        }
        buffer.resize(read);
        Ok((read / size) as u64)
    }

    /// Reads as much as there is.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        while filled < bytes.len() {
            let read = match &mut self.source {
                ArraySource::File(file) => file.read(&mut bytes[filled..]),
                ArraySource::Stream(stream) => stream.read(&mut bytes[filled..]),
            };
            match read {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::read(&self.name, &error)),
            }
        }
        Ok(filled)
    }

    /// The error that the file holds only this many bytes of elements.
    pub fn truncated(&self, found: u64) -> Error {
        Error::malformed(format!(
            "{} is truncated: its header promises {} bytes of elements, it holds {found}",
            self.name,
            self.header.bytes()
        ))
    }

    /// Checks that nothing follows the last element of a pipe.
    pub fn expect_end(&mut self) -> Result<()> {
        let surplus = self.is_stream() && self.fill(&mut [0])? > 0;
        if surplus { Err(self.surplus()) } else { Ok(()) }
    }

    /// The error that bytes follow the last element.
    pub fn surplus(&self) -> Error {
        Error::malformed(format!("{} goes on after the array that its header announces", self.name))
            .hint("several arrays in one file are not scanned; write each to a file of its own")
    }
}
