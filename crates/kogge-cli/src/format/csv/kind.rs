//! What the columns of a text table hold, found out from its cells.

use super::records::Records;
use crate::error::{Error, Result};
use crate::text::{Text, read_bool};
use kogge_erased::Dtype;
use std::io::Read;

/// What the cells of a column hold.
#[derive(Clone, Debug, Default)]
pub(super) enum Kind {
    /// Nothing so far.
    #[default]
    Empty,
    /// Words for truth values.
    Bool,
    Integer {
        negative: bool,
        large: bool,
    },
    Float,
    /// Anything else, first on this line.
    Text {
        line: u64,
        cell: String,
    },
}

impl Kind {
    fn add(&mut self, cell: &[u8], line: u64) {
        let cell = cell.trim_ascii();
        if cell.is_empty() || matches!(self, Self::Text { .. }) {
            return;
        }
        let found = Self::of(cell);
        *self = match (std::mem::take(self), found) {
            (Self::Empty, Some(found)) => found,
            (Self::Bool, Some(Self::Bool)) => Self::Bool,
            (
                Self::Integer { negative, large },
                Some(Self::Integer { negative: also_negative, large: also_large }),
            ) => Self::Integer { negative: negative | also_negative, large: large | also_large },
            (Self::Integer { .. } | Self::Float, Some(Self::Integer { .. } | Self::Float)) => {
                Self::Float
            }
            _ => Self::Text { line, cell: String::from_utf8_lossy(cell).into_owned() },
        };
    }

    fn of(cell: &[u8]) -> Option<Self> {
        let cell = std::str::from_utf8(cell).ok()?;
        if i64::read(cell).is_some() {
            Some(Self::Integer { negative: cell.starts_with('-'), large: false })
        } else if u64::read(cell).is_some() {
            Some(Self::Integer { negative: false, large: true })
        } else if f64::read(cell).is_some() {
            Some(Self::Float)
        } else {
            read_bool(cell).map(|_| Self::Bool)
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::Empty)
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(self, Self::Integer { .. } | Self::Float)
    }

    /// The type for a writer of typed columns; `None` for text.
    pub(super) fn dtype(&self) -> Option<Dtype> {
        match self {
            Self::Bool => Some(Dtype::Bool),
            Self::Integer { negative: false, large: true } => Some(Dtype::U64),
            Self::Integer { large: false, .. } => Some(Dtype::I64),
            Self::Float => Some(Dtype::F64),
            _ => None,
        }
    }

    /// The type of a column to be scanned.
    pub(super) fn number(&self, column: &str, name: &str) -> Result<Dtype> {
        match self {
            Self::Text { line, cell } => Err(not_a_number(cell, *line, column, name, None, false)),
            Self::Integer { negative: true, large: true } => {
                let what =
                    format!("column '{column}' of {name} has integers below 0 and beyond 2^63");
                Err(Error::mismatch(what).hint("no integer type holds both; try --dtype f64"))
            }
            Self::Empty => Ok(Dtype::F64),
            known => Ok(known.dtype().unwrap_or(Dtype::F64)),
        }
    }
}

/// What the wanted columns hold, over the records behind the header, until they are enough.
pub(super) fn infer(
    records: &mut Records<impl Read>,
    wanted: &[bool],
    enough: impl Fn(&[Kind]) -> bool,
) -> Result<Vec<Kind>> {
    let mut kinds = vec![Kind::Empty; wanted.len()];
    let wanted: Vec<usize> = (0..wanted.len()).filter(|&at| wanted[at]).collect();
    while !enough(&kinds) && records.next()? {
        let line = records.line();
        for &at in &wanted {
            kinds[at].add(&records.record[at], line);
        }
        records.forget(FORGET);
    }
    Ok(kinds)
}

/// Bytes of text that are forgotten at once.
const FORGET: usize = 1 << 20;

pub(super) fn not_a_number(
    cell: &str,
    line: u64,
    column: &str,
    name: &str,
    dtype: Option<Dtype>,
    sampled: bool,
) -> Error {
    let is_float = f64::read(cell).is_some();
    let what = dtype.map_or("a number".to_owned(), |dtype| format!("a number of the type {dtype}"));
    let error = Error::malformed(format!(
        "line {line} of {name}: '{cell}' in column '{column}' is not {what}"
    ));
    match (is_float, dtype) {
        (true, Some(_)) if sampled => {
            error.hint("a pipe's types follow its first rows; give --dtype f64")
        }
        (true, Some(_)) => error.hint("give --dtype f64, or another type that holds it"),
        _ => error.hint("empty cells are nulls; any other text is refused in a column of numbers"),
    }
}
