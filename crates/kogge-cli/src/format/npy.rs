//! The header of `.npy` files, versions 1 to 3.
//!
//! The format is numpy's `numpy.lib.format`: a magic string, a version, the length of the header,
//! and the header, which is a Python dictionary literal of `descr`, `fortran_order` and `shape`.

use crate::error::{Error, Result};
use kogge_erased::Dtype;
use std::io::{ErrorKind, Read};
use std::num::{IntErrorKind, ParseIntError};

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// A header longer than this is not one.
const LONGEST: u32 = 1 << 20;

/// What a `.npy` file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The type of the elements.
    pub dtype: Dtype,
    /// Whether the elements are in the other byte order than this machine's.
    pub swapped: bool,
    /// Whether the first axis is the contiguous one.
    pub fortran_order: bool,
    /// The lengths of the axes; none for a single number.
    pub shape: Vec<u64>,
}

impl Header {
    /// A native array of this type and shape.
    pub fn new(dtype: Dtype, shape: Vec<u64>, fortran_order: bool) -> Self {
        Self { dtype, swapped: false, fortran_order, shape }
    }

    /// Reads a header; gives it with its own length in bytes. `name` is the file in messages.
    ///
    /// # Errors
    ///
    /// If it isn't a header, its elements aren't numbers, or the shape overflows.
    pub fn read(reader: &mut impl Read, name: &str) -> Result<(Self, u64)> {
        let io = |error: std::io::Error| Error::read(name, &error);
        let mut start = Vec::new();
        reader.by_ref().take(8).read_to_end(&mut start).map_err(io)?;
        // What is shorter may still be the start of one.
        if !start.starts_with(&MAGIC[..start.len().min(6)]) {
            return Err(Error::malformed(format!(
                "{name} is not a .npy file: its first bytes are not"
            )));
        }
        let version = start.get(6).filter(|_| start.len() == 8);
        let version = version.ok_or_else(|| io(ErrorKind::UnexpectedEof.into()))?;
        let (len, before) = match version {
            1 => {
                let mut len = [0; 2];
                reader.read_exact(&mut len).map_err(io)?;
                (u32::from(u16::from_le_bytes(len)), 10)
            }
            2 | 3 => {
                let mut len = [0; 4];
                reader.read_exact(&mut len).map_err(io)?;
                (u32::from_le_bytes(len), 12)
            }
            other => {
                let what = format!("{name} has version {other} of the .npy format");
                return Err(Error::malformed(what).hint("versions 1 to 3 are known"));
            }
        };
        if len > LONGEST {
            return Err(Error::malformed(format!("{name} claims a header of {len} bytes")));
        }
        let mut text = vec![0; len as usize];
        reader.read_exact(&mut text).map_err(io)?;
        let text = String::from_utf8_lossy(&text);
        Ok((Self::parse(&text, name)?, u64::from(len) + before))
    }

    fn parse(text: &str, name: &str) -> Result<Self> {
        let bad = |what: &str| {
            Error::malformed(format!("{name} has a bad .npy header: {what} in {}", text.trim()))
        };
        let descr = value(text, "descr").ok_or_else(|| bad("no 'descr'"))?;
        let (dtype, swapped) = parse_descr(descr).ok_or_else(|| {
            Error::mismatch(format!("{name} holds elements of the type {descr}, not plain numbers"))
                .hint("integers, floats of 2 to 8 bytes and bool can be scanned")
        })?;
        let fortran_order = match value(text, "fortran_order") {
            Some("True") => true,
            Some("False") => false,
            _ => return Err(bad("no 'fortran_order'")),
        };
        let shape = value(text, "shape").ok_or(NO_SHAPE).and_then(parse_shape).map_err(bad)?;
        let header = Self { dtype, swapped, fortran_order, shape };
        if header.checked_bytes().is_none() {
            let what = format!("{name} claims the shape {:?}", header.shape);
            return Err(Error::malformed(what + ", more than 2^63 bytes"));
        }
        Ok(header)
    }

    fn checked_bytes(&self) -> Option<u64> {
        // A zero hides no overflow beside it: numpy refuses such shapes, too.
        let mut axes = self.shape.iter().map(|&axis| axis.max(1));
        let size = self.dtype.size() as u64;
        let bytes = axes.try_fold(size, |bytes, axis| bytes.checked_mul(axis))?;
        i64::try_from(bytes).ok()?;
        Some(if self.shape.contains(&0) { 0 } else { bytes })
    }

    /// Bytes of all elements.
    pub fn bytes(&self) -> u64 {
        self.checked_bytes().expect("checked when read, and an output's shape is an input's")
    }

    /// How many elements there are.
    pub fn elements(&self) -> u64 {
        self.bytes() / self.dtype.size() as u64
    }

    /// The header as bytes, padded so that the elements start at a multiple of 64. A
    /// one-dimensional header has the same length for every length of array.
    ///
    /// # Errors
    ///
    /// If the format has no such type.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let descr = self.dtype.npy_name().ok_or_else(|| {
            Error::mismatch(format!("the .npy format has no {}", self.dtype))
                .hint("use --dtype f32")
        })?;
        let order = match (self.dtype.size(), cfg!(target_endian = "big")) {
            (1, _) => '|',
            (_, false) => '<',
            (_, true) => '>',
        };
        let axes: String = self.shape.iter().map(|axis| format!("{axis}, ")).collect();
        let axes = if self.shape.len() > 1 { axes.trim_end_matches(", ") } else { axes.trim_end() };
        let fortran_order = if self.fortran_order { "True" } else { "False" };
        let dictionary = format!(
            "{{'descr': '{order}{descr}', 'fortran_order': {fortran_order}, 'shape': ({axes}), }}"
        );
        let version: u8 = if dictionary.len() < 60_000 { 1 } else { 2 };
        let before = if version == 1 { 10 } else { 12 };
        let total = (before + dictionary.len() + 1).next_multiple_of(64).max(128);
        let len = total - before;
        let mut bytes = MAGIC.to_vec();
        bytes.extend([version, 0]);
        match version {
            1 => bytes.extend(u16::try_from(len).expect("chosen by length").to_le_bytes()),
            _ => bytes.extend(u32::try_from(len).expect("a shape has few axes").to_le_bytes()),
        }
        bytes.extend(dictionary.as_bytes());
        bytes.resize(total - 1, b' ');
        bytes.push(b'\n');
        Ok(bytes)
    }
}

/// The text of a key's value in a flat dictionary literal.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let quoted = [format!("'{key}'"), format!("\"{key}\"")];
    let after = quoted.iter().find_map(|key| text.split_once(key.as_str()))?.1;
    let after = after.trim_start().strip_prefix(':')?.trim_start();
    let close = match after.as_bytes().first()? {
        b'(' => after.find(')')? + 1,
        b'[' => after.rfind(']')? + 1,
        quote @ (b'\'' | b'"') => after[1..].find(char::from(*quote))? + 2,
        _ => after.find([',', '}'])?,
    };
    Some(after[..close].trim())
}

/// A type such as `'<f4'`, and whether its byte order is not this machine's. Without a mark it is:
/// numpy writes none such, but reads them.
fn parse_descr(descr: &str) -> Option<(Dtype, bool)> {
    let descr = descr.trim_matches(['\'', '"']);
    let name = descr.strip_prefix(['<', '>', '|', '=']).unwrap_or(descr);
    let big = match descr.as_bytes().first() {
        Some(b'<') => false,
        Some(b'>') => true,
        _ => cfg!(target_endian = "big"),
    };
    let dtype = Dtype::from_npy(name)?;
    Some((dtype, dtype.size() > 1 && big != cfg!(target_endian = "big")))
}

const NO_SHAPE: &str = "no 'shape'";
const BAD_SHAPE: &str = "a 'shape' that is not a tuple of whole numbers, 0 or more,";

/// The axes, or what is wrong with them.
fn parse_shape(shape: &str) -> Result<Vec<u64>, &'static str> {
    let axes = shape.strip_prefix('(').and_then(|shape| shape.strip_suffix(')'));
    let axes = axes.ok_or(BAD_SHAPE)?.split(',').map(str::trim).filter(|axis| !axis.is_empty());
    // Python 2 wrote long integers with an L.
    let axes = axes.map(|axis| axis.trim_end_matches('L').parse());
    axes.collect::<Result<_, ParseIntError>>().map_err(|error| match error.kind() {
        IntErrorKind::PosOverflow => "a number too large, 2^64 or more,",
        _ => BAD_SHAPE,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_dictionary(dictionary: &str) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((dictionary.len() as u16).to_le_bytes());
        bytes.extend(dictionary.as_bytes());
        bytes
    }

    fn read(bytes: &[u8]) -> Result<(Header, u64)> {
        Header::read(&mut &*bytes, "'x.npy'")
    }

    #[test]
    fn goes_both_ways() {
        for shape in [vec![], vec![7], vec![3, 0], vec![u64::from(u32::MAX), 2, 1]] {
            for fortran_order in [false, true] {
                let header = Header::new(Dtype::F16, shape.clone(), fortran_order);
                let bytes = header.to_bytes().unwrap();
                assert_eq!(bytes.len() % 64, 0);
                assert_eq!(read(&bytes).unwrap(), (header, bytes.len() as u64));
            }
        }
        let lengths =
            [0, 1 << 62].map(|n| Header::new(Dtype::U8, vec![n], false).to_bytes().unwrap().len());
        assert_eq!(lengths[0], lengths[1]);
    }

    #[test]
    fn reads_what_others_write() {
        let bytes = with_dictionary("{\"shape\":(2,3L),'descr': '>i4', 'fortran_order':True}\n");
        let header = read(&bytes).unwrap().0;
        assert_eq!((header.dtype, header.swapped), (Dtype::I32, cfg!(target_endian = "little")));
        assert_eq!((header.shape, header.fortran_order), (vec![2, 3], true));
        let text = "{'descr': 'f8', 'fortran_order': False, 'shape': (1,), }";
        let header = read(&with_dictionary(text)).unwrap().0;
        assert_eq!((header.dtype, header.swapped), (Dtype::F64, false));
    }

    #[test]
    fn refuses_what_is_no_header() {
        let code = |bytes: &[u8]| read(bytes).unwrap_err().exit_code();
        assert_eq!(code(b"\x93NUMPY\x01"), 4);
        assert_eq!(code(b"\x93NUMPY\x09\x00\x00\x00"), 4);
        assert_eq!(code(b"PK\x03\x04\x00\x00\x00\x00"), 4);
        assert_eq!(code(b"\x93NUMPY\x02\x00\xff\xff\xff\xff"), 4);
        let header = |descr: &str, shape: &str| {
            with_dictionary(&format!(
                "{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"
            ))
        };
        assert_eq!(code(&header("'<f4'", "(3,")), 4);
        assert_eq!(code(&header("'<f4'", "(-3,)")), 4);
        assert_eq!(code(&header("'<f4'", "(4294967296, 4294967296)")), 4);
        assert_eq!(code(&header("'<f4'", "(18446744073709551615, 0, 4)")), 4);
        let large = read(&header("'<f4'", "(2, 18446744073709551616)")).unwrap_err();
        assert!(large.to_string().contains("too large"), "{large}");
        for shape in ["(x,)", "(-1,)", "(1e3,)", "3"] {
            let error = read(&header("'<f4'", shape)).unwrap_err().to_string();
            assert!(error.contains("a 'shape' that is not a tuple"), "{error}");
        }
        let without = with_dictionary("{'descr': '<f4', 'fortran_order': False, }");
        assert!(read(&without).unwrap_err().to_string().contains("no 'shape'"));
        assert_eq!(code(&header("'<c8'", "(3,)")), 5);
        assert_eq!(code(&header("[('a', '<f4'), ('b', '<i4')]", "(3,)")), 5);
        assert_eq!(code(&header("'|O'", "(3,)")), 5);
    }
}
