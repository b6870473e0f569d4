//! The elements of a `.npy` file as a kernel's argument.

use std::fs::File;
use std::io::{BufReader, Read};

use kogge_lab::{Diagnostic, ScalarType, Values};

use crate::error::reason;
use crate::format::npy::Header;
use kogge_erased::Dtype;

/// Reads a file's elements, in the order in which they lie, as `ty`.
///
/// # Errors
///
/// A file that can't be read, is no `.npy` file, or holds elements of another type.
pub fn load(path: &str, ty: ScalarType) -> Result<Values, Diagnostic> {
    let refused = |error: &dyn std::fmt::Display| {
        Diagnostic::general(error.to_string().replacen("error: ", "", 1))
    };
    let file = File::open(path)
        .map_err(|error| refused(&format!("cannot read {path}: {}", reason(&error))))?;
    let mut reader = BufReader::new(file);
    let (header, _) = Header::read(&mut reader, path).map_err(|error| refused(&error))?;
    if scalar(header.dtype) != Some(ty) {
        let message = format!("{path} holds {}, not {}", header.dtype.name(), ty.c_name());
        return Err(Diagnostic::general(message));
    }
    let mut bytes = Vec::new();
    reader
        .read_to_end(&mut bytes)
        .map_err(|error| refused(&format!("cannot read {path}: {}", reason(&error))))?;
    let expected =
        header.shape.iter().try_fold(ty.size() as u64, |product, &side| product.checked_mul(side));
    if expected != Some(bytes.len() as u64) {
        return Err(Diagnostic::general(format!(
            "{path} does not hold the elements that its header promises"
        )));
    }
    if header.swapped {
        bytes.chunks_exact_mut(ty.size()).for_each(<[u8]>::reverse);
    }
    Ok(Values::from_bytes(ty, &bytes))
}

fn scalar(dtype: Dtype) -> Option<ScalarType> {
    Some(match dtype {
        Dtype::Bool => ScalarType::Bool,
        Dtype::I8 => ScalarType::I8,
        Dtype::I16 => ScalarType::I16,
        Dtype::I32 => ScalarType::I32,
        Dtype::I64 => ScalarType::I64,
        Dtype::U8 => ScalarType::U8,
        Dtype::U16 => ScalarType::U16,
        Dtype::U32 => ScalarType::U32,
        Dtype::U64 => ScalarType::U64,
        Dtype::F32 => ScalarType::F32,
        Dtype::F64 => ScalarType::F64,
        Dtype::F16 | Dtype::BF16 => return None,
    })
}
