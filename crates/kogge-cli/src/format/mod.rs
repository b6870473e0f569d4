//! The file formats, and how one is chosen: by its name, by the extension, by the first bytes.

pub mod arrow;
mod contain;
pub mod csv;
mod dictionary;
mod ipc;
pub mod npy;
pub mod parquet;
pub mod raw;
mod retype;
mod watched;
mod written;

use crate::error::{Error, Result, nearest};
use clap::ValueEnum;
use std::path::Path;

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Comma-separated text with a header line (.csv)
    Csv,
    /// Tab-separated text with a header line (.tsv)
    Tsv,
    /// numpy array (.npy)
    Npy,
    /// Apache Parquet (.parquet)
    Parquet,
    /// Arrow IPC file, also called Feather V2 (.arrow, .feather, .ipc)
    Arrow,
    /// Arrow IPC stream (.arrows)
    ArrowStream,
    /// Little-endian elements and nothing else (.bin, .raw); after --axis in the order of the input
    /// file
    Raw,
}

/// Every extension with its format.
const EXTENSIONS: [(&str, Format); 12] = [
    ("csv", Format::Csv),
    ("tsv", Format::Tsv),
    ("tab", Format::Tsv),
    ("npy", Format::Npy),
    ("parquet", Format::Parquet),
    ("pq", Format::Parquet),
    ("arrow", Format::Arrow),
    ("feather", Format::Arrow),
    ("ipc", Format::Arrow),
    ("arrows", Format::ArrowStream),
    ("bin", Format::Raw),
    ("raw", Format::Raw),
];

impl Format {
    /// The format that a path's extension names.
    ///
    /// # Errors
    ///
    /// If it names none.
    pub fn from_path(path: &Path) -> Result<Self> {
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        if let Some((_, format)) = EXTENSIONS.iter().find(|(known, _)| *known == extension) {
            return Ok(*format);
        }
        let known = EXTENSIONS.map(|(known, _)| known);
        let error = Error::usage(format!(
            "the extension of '{}' names no format; there are .{}",
            path.display(),
            known.join(", .")
        ));
        Err(match nearest(&extension, known) {
            Some(near) => error.hint(format!("did you mean .{near}? Or give --format")),
            None => error.hint("give --format for an output, --input-format for an input"),
        })
    }

    /// The format that these first bytes have; text without a mark of its own is CSV.
    pub fn from_head(head: &[u8]) -> Option<Self> {
        match head {
            [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Some(Self::Npy),
            [b'P', b'A', b'R', b'1', ..] => Some(Self::Parquet),
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Some(Self::Arrow),
            [0xff, 0xff, 0xff, 0xff, ..] => Some(Self::ArrowStream),
            // Text that is refused as such.
            _ if is_utf16(head) => Some(Self::Csv),
            text if text.iter().all(|&byte| byte >= b' ' || byte.is_ascii_whitespace()) => {
                Some(Self::Csv)
            }
            _ => None,
        }
    }

    /// What has packed a file with these first bytes, and the command that unpacks it.
    pub fn packed(head: &[u8]) -> Option<(&'static str, &'static str)> {
        match head {
            [0x1f, 0x8b, ..] => Some(("gzip", "gzip -dc")),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(("zstd", "zstd -dc")),
            [0xfd, b'7', b'z', b'X', b'Z', ..] => Some(("xz", "xz -dc")),
            [b'B', b'Z', b'h', b'1'..=b'9', b'1', b'A', b'Y', b'&'] => Some(("bzip2", "bzip2 -dc")),
            [b'P', b'K', 3, 4, ..] => Some(("zip", "unzip -p")),
            _ => None,
        }
    }

    /// What options call it.
    pub fn called(self) -> String {
        let value = self.to_possible_value().expect("every format may be chosen");
        value.get_name().to_owned()
    }

    /// Whether it holds one array, not named columns.
    pub fn is_array(self) -> bool {
        matches!(self, Self::Npy | Self::Raw)
    }

    /// Whether it is text.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv)
    }

    /// What separates the cells of a text format.
    pub fn delimiter(self) -> u8 {
        if self == Self::Tsv { b'\t' } else { b',' }
    }
}

/// Whether these first bytes are the mark of text in UTF-16, as some programs on Windows write it.
pub fn is_utf16(head: &[u8]) -> bool {
    matches!(head, [0xff, 0xfe, ..] | [0xfe, 0xff, ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_by_extension_or_first_bytes() {
        assert_eq!(Format::from_path(Path::new("a/b.NPY")).unwrap(), Format::Npy);
        assert!(
            Format::from_path(Path::new("a.parqet")).unwrap_err().to_string().contains(".parquet?")
        );
        assert_eq!(Format::from_head(b"\x93NUMPY\x01\x00"), Some(Format::Npy));
        assert_eq!(Format::from_head("a,ü\n1".as_bytes()), Some(Format::Csv));
        assert_eq!(Format::from_head(&[0, 0, 128, 63]), None);
        assert_eq!(Format::packed(b"BZh91AY&"), Some(("bzip2", "bzip2 -dc")));
        assert_eq!(Format::packed(b"BZh9,x\n1"), None);
    }
}
