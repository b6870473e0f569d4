//! The first part of a pipe, from which its types are found out.

use super::kind::{Kind, infer};
use super::records::Records;
use crate::error::{Error, Result};
use crate::input::{copy_name, temporary};
use std::fs::File;
use std::io::{self, Read, Seek, Write};

/// Bytes of a pipe that are looked at to find out what its columns hold.
const SAMPLE: u64 = 1 << 18;

/// Reads the first part of a pipe, with at least one whole row in it; whether there may be more.
pub(super) fn read_sample(
    pipe: &mut impl Read,
    delimiter: u8,
    name: &str,
) -> Result<(Vec<u8>, bool)> {
    let mut sample = Vec::new();
    let mut size = SAMPLE;
    loop {
        let read = pipe.take(size - sample.len() as u64).read_to_end(&mut sample);
        read.map_err(|error| Error::read(name, &error))?;
        let cut_off = sample.len() as u64 == size;
        let mut records = Records::new(sample.as_slice(), delimiter, name, cut_off);
        // A header and a row; a record that is too long is an error, so this ends.
        if !cut_off || (records.next()? && records.next()?) {
            return Ok((sample, cut_off));
        }
        size *= 2;
    }
}

/// Reads a pipe on until its columns are decided, into a temporary file; the same from its start,
/// and what the columns hold.
pub(super) fn read_on(
    pipe: Box<dyn Read + Send>,
    delimiter: u8,
    name: &str,
    wanted: &[bool],
    decided: impl Fn(&[Kind]) -> bool,
) -> Result<(Box<dyn Read + Send>, Vec<Kind>)> {
    let write = |error| Error::write(&copy_name(name), &error);
    let copy = temporary(&copy_name(name))?;
    let mut copied = Copied { source: pipe, copy, failed: None };
    let mut records = Records::new(&mut copied, delimiter, name, false);
    let kinds = records.next().and_then(|_| infer(&mut records, wanted, decided));
    if let Some(error) = copied.failed {
        return Err(write(error));
    }
    let Copied { source, mut copy, .. } = copied;
    copy.rewind().map_err(|error| Error::read(name, &error))?;
    Ok((Box::new(copy.chain(source)), kinds?))
}

/// A source, and a copy of all that it has given.
struct Copied<R> {
    source: R,
    copy: File,
    /// Why the copy could not be written.
    failed: Option<io::Error>,
}

impl<R: Read> Read for Copied<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        if let Err(error) = self.copy.write_all(&buffer[..read]) {
            self.failed = Some(error);
            return Err(io::ErrorKind::Other.into());
        }
        Ok(read)
    }
}
