//! Opening an array, and checking that all of it is there.

use super::read::{ArrayReader, ArraySource};
use crate::error::{Error, Result};
use crate::format::npy::Header;
use crate::format::{Format, raw};
use crate::input::Input;
use kogge_erased::Dtype;

/// Opens a `.npy` file, or a raw one with elements of the type `raw_dtype`.
///
/// # Errors
///
/// If the header is bad, or the file has less or more bytes than the header says.
pub fn open(input: Input, format: Format, raw_dtype: Option<Dtype>) -> Result<ArrayReader> {
    let name = input.name.clone();
    let len = input.len();
    match format {
        Format::Npy => open_npy(input, name, len),
        _ => {
            let dtype = raw_dtype.ok_or_else(|| {
                Error::usage(format!("{name} is raw, so its type must be named"))
                    .hint("give --dtype, such as --dtype f32")
            })?;
            open_raw(input, name, len, dtype)
        }
    }
}

fn open_npy(input: Input, name: String, len: Option<u64>) -> Result<ArrayReader> {
    let Some(len) = len else {
        let mut stream = input.into_reader();
        let (header, offset) = Header::read(&mut stream, &name)?;
        return Ok(ArrayReader::new(name, header, offset, ArraySource::Stream(stream)));
    };
    let mut file = input.into_file()?;
    let (header, offset) = Header::read(&mut file, &name)?;
    let reader = ArrayReader::new(name, header, offset, ArraySource::File(file));
    let found = len - offset;
    if found < reader.header.bytes() {
        return Err(reader.truncated(found));
    }
    if found > reader.header.bytes() {
        return Err(reader.surplus());
    }
    Ok(reader)
}

fn open_raw(input: Input, name: String, len: Option<u64>, dtype: Dtype) -> Result<ArrayReader> {
    let Some(bytes) = len else {
        return Ok(ArrayReader::endless(name, dtype, input.into_reader()));
    };
    let header = raw::header(dtype, bytes, &name)?;
    let source = ArraySource::File(input.into_file()?);
    Ok(ArrayReader::new(name, header, 0, source))
}
