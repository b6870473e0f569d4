//! What the columns of a text table hold, found out from its cells.

use super::records::Records;
use crate::error::{Error, Result};
use crate::table::select::Content;
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
        /// Whether one is beyond `i64`.
        large: bool,
        /// Whether all are 0 or 1, which may stand for truth values.
        truths: bool,
        lost: Lost,
    },
    Float {
        lost: Lost,
    },
    /// Anything else, first on this line.
    Text {
        line: u64,
        cell: String,
        /// What all before it were.
        after: Content,
        /// Whether all cells can be read as truth values: words mixed with 0 and 1.
        truths: bool,
    },
}

/// What of its cells a column of numbers would lose.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lost {
    /// Digits of an integer that a float has not.
    long: bool,
    /// Zeros in front of the others, as of a code.
    padded: bool,
}

impl Lost {
    fn of(cell: &str) -> Self {
        Self { long: is_long_integer(cell), padded: is_padded(cell) }
    }

    fn and(self, other: Self) -> Self {
        Self { long: self.long | other.long, padded: self.padded | other.padded }
    }
}

impl Kind {
    fn add(&mut self, cell: &[u8], line: u64) {
        let cell = cell.trim_ascii();
        if cell.is_empty() {
            return;
        }
        if let Self::Text { truths, .. } = self {
            *truths = *truths && is_truth(cell);
            return;
        }
        let found = Self::of(cell);
        *self = match (std::mem::take(self), found) {
            (Self::Empty, Some(found)) => found,
            (Self::Bool, Some(Self::Bool)) => Self::Bool,
            (
                Self::Integer { negative: n1, large: g1, truths: t1, lost: l1 },
                Some(Self::Integer { negative: n2, large: g2, truths: t2, lost: l2 }),
            ) => Self::Integer {
                negative: n1 | n2,
                large: g1 | g2,
                truths: t1 & t2,
                lost: l1.and(l2),
            },
            (
                Self::Integer { lost, .. } | Self::Float { lost },
                Some(Self::Integer { lost: also, .. } | Self::Float { lost: also }),
            ) => Self::Float { lost: lost.and(also) },
            (before, _) => Self::Text {
                line,
                cell: String::from_utf8_lossy(cell).into_owned(),
                after: before.content(None),
                truths: is_truth(cell)
                    && matches!(before, Self::Bool | Self::Integer { truths: true, .. }),
            },
        };
    }

    fn of(cell: &[u8]) -> Option<Self> {
        let cell = std::str::from_utf8(cell).ok()?;
        let lost = Lost::of(cell);
        if i64::read(cell).is_some() {
            let negative = cell.starts_with('-');
            let truths = read_bool(cell).is_some();
            Some(Self::Integer { negative, large: false, truths, lost })
        } else if u64::read(cell).is_some() {
            Some(Self::Integer { negative: false, large: true, truths: false, lost })
        } else if f64::read(cell).is_some() {
            Some(Self::Float { lost })
        } else {
            read_bool(cell).map(|_| Self::Bool)
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::Empty)
    }

    fn is_number(&self) -> bool {
        matches!(self, Self::Integer { .. } | Self::Float { .. })
    }

    /// What it holds if `asked` is the type to scan in.
    pub(super) fn content(&self, asked: Option<Dtype>) -> Content {
        match self {
            Self::Empty => Content::Nothing,
            Self::Bool => Content::Truths,
            Self::Text { truths: true, .. } if asked == Some(Dtype::Bool) => Content::Truths,
            number if number.is_number() => Content::Numbers,
            _ => Content::Other,
        }
    }

    /// What is wrong with a column that can be meant: it is the only one, or one of numbers but for
    /// some cell.
    pub(super) fn why_not(&self, column: &str, name: &str, alone: bool) -> Option<Error> {
        let slipped = matches!(self, Self::Text { after: Content::Numbers, .. });
        if alone || slipped { self.number(column, name).err() } else { None }
    }

    /// The type for a writer of typed columns; `None` for text, and for numbers of which no type
    /// has all digits.
    pub(super) fn dtype(&self) -> Option<Dtype> {
        match self {
            Self::Integer { lost, .. } | Self::Float { lost } if lost.padded => None,
            Self::Bool => Some(Dtype::Bool),
            Self::Float { lost } if lost.long => None,
            number => number.whole(),
        }
    }

    /// The integer type that has all of them, or `f64` for floats.
    fn whole(&self) -> Option<Dtype> {
        match self {
            Self::Integer { negative: false, large: true, .. } => Some(Dtype::U64),
            Self::Integer { large: false, .. } => Some(Dtype::I64),
            Self::Float { .. } => Some(Dtype::F64),
            _ => None,
        }
    }

    /// The type of a column to be scanned.
    pub(super) fn number(&self, column: &str, name: &str) -> Result<Dtype> {
        match self {
            Self::Text { line, cell, after: Content::Truths, truths } => {
                let what =
                    format!("line {line} of {name}: '{cell}' in column '{column}' is neither");
                let error = Error::malformed(what + " true nor false, as all before it are");
                Err(match truths {
                    true => error.hint("with --dtype bool, as for --op any, 1 and 0 are such, too"),
                    false => error.hint("a column holds either numbers or truth values"),
                })
            }
            Self::Text { line, cell, .. } => {
                Err(not_a_number(cell, *line, column, name, None, false))
            }
            Self::Integer { negative: true, large: true, .. } => {
                let what =
                    format!("column '{column}' of {name} has integers below 0 and beyond 2^63");
                Err(Error::mismatch(what).hint("no integer type holds both; try --dtype f64"))
            }
            Self::Empty => Ok(Dtype::F64),
            Self::Bool => Ok(Dtype::Bool),
            known => Ok(known.whole().unwrap_or(Dtype::F64)),
        }
    }
}

fn is_truth(cell: &[u8]) -> bool {
    std::str::from_utf8(cell).is_ok_and(|cell| read_bool(cell).is_some())
}

/// Whether a number in a column that isn't scanned would lose something of its cell.
pub fn loses(cell: &str, dtype: Dtype) -> bool {
    is_padded(cell) || dtype == Dtype::F64 && is_long_integer(cell)
}

/// Whether a number has zeros in front that it doesn't need.
fn is_padded(cell: &str) -> bool {
    let digits = cell.strip_prefix(['+', '-']).unwrap_or(cell).as_bytes();
    digits.len() > 1 && digits[0] == b'0' && digits[1].is_ascii_digit()
}

/// Whether a cell is an integer beyond 64 bits, or one that a float would round.
fn is_long_integer(cell: &str) -> bool {
    let digits = cell.strip_prefix(['+', '-']).unwrap_or(cell);
    // A float has every integer of fifteen digits.
    if digits.len() <= 15 || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return false;
    }
    let whole = i64::read(cell).map(i128::from).or_else(|| u64::read(cell).map(i128::from));
    whole.is_none_or(|whole| whole as f64 as i128 != whole)
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
    if !is_float && cell.parse().is_ok_and(f64::is_infinite) {
        let what = format!("line {line} of {name}: '{cell}' in column '{column}' is beyond");
        return Error::malformed(what + " the range of f64")
            .hint("no type holds so large a number; empty cells are nulls");
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_zeros_in_front() {
        for cell in ["007", "-01", "+00", "00.5"] {
            assert!(is_padded(cell), "{cell}");
        }
        for cell in ["0", "-0", "0.5", "10", "0x1", ""] {
            assert!(!is_padded(cell), "{cell}");
        }
    }

    #[test]
    fn knows_what_a_float_would_round() {
        for cell in [
            "9007199254740993",
            "-9007199254740993",
            "+18446744073709551615",
            "0000000000000000000000",
        ] {
            assert_eq!(is_long_integer(cell), !cell.ends_with("00"), "{cell}");
        }
        for cell in ["18446744073709551616", "-9223372036854775809", &"9".repeat(60)] {
            assert!(is_long_integer(cell), "{cell}");
        }
        for cell in [
            "9007199254740992",
            "-9223372036854775808",
            ".1234567890123456",
            "1e300",
            "x234567890123456",
        ] {
            assert!(!is_long_integer(cell), "{cell}");
        }
    }
}
