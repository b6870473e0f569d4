//! Raw elements: little-endian, one after the other, nothing else.

use super::npy::Header;
use crate::error::{Error, Result};
use kogge_erased::Dtype;

/// What a raw file of this many bytes holds.
///
/// # Errors
///
/// If the length is not a multiple of the element's.
pub fn header(dtype: Dtype, bytes: u64, name: &str) -> Result<Header> {
    let size = dtype.size() as u64;
    if !bytes.is_multiple_of(size) {
        return Err(Error::malformed(format!(
            "{name} has {bytes} bytes, which is not a multiple of the {size} of {dtype}"
        ))
        .hint("--input-dtype or --dtype name the type of a raw file; or it is truncated"));
    }
    let mut header = Header::new(dtype, vec![bytes / size], false);
    header.swapped = size > 1 && cfg!(target_endian = "big");
    Ok(header)
}
