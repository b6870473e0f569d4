//! What is scanned: a flat sequence, an axis of a table, runs of equal keys, segments by offsets.
//!
//! Whatever the shape, the inclusive value at place `i` of memory is a hash of `i` (see
//! [`Dtype`](crate::Dtype)), so the elements are differences to the place before in their own line
//! or segment, and every result is checked as that of a flat scan is.

use crate::dtype::{Dtype, hash};
use rayon::prelude::*;
use std::fmt;
use std::str::FromStr;

/// A shape; lengths in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One sequence.
    Flat(usize),
    /// A table in C order, along an axis: 0 down the columns, 1 along the rows.
    Table {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
        /// The axis.
        axis: usize,
    },
    /// Runs of equal keys of 32 bits.
    Runs {
        /// Elements, and keys.
        len: usize,
        /// Elements of a run; the last may be shorter.
        run: usize,
    },
    /// Segments by offsets of 64 bits, whose lengths follow Zipf's law, in random order.
    Zipf {
        /// Elements.
        len: usize,
        /// Segments.
        segments: usize,
    },
}

impl Shape {
    /// Elements.
    pub fn len(self) -> usize {
        match self {
            Self::Flat(len) | Self::Runs { len, .. } | Self::Zipf { len, .. } => len,
            Self::Table { rows, columns, .. } => rows * columns,
        }
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Bytes read beside the elements: keys or offsets.
    pub fn beside_bytes(self) -> usize {
        match self {
            Self::Flat(_) | Self::Table { .. } => 0,
            Self::Runs { len, .. } => 4 * len,
            Self::Zipf { segments, .. } => 8 * (segments + 1),
        }
    }

    /// Elements of a copy that moves as many bytes as a scan of this shape.
    pub fn moved(self, element_bytes: usize) -> usize {
        self.len() + (self.beside_bytes() / 2).div_ceil(element_bytes)
    }

    /// The keys of runs; none of other shapes.
    pub fn keys(self) -> Vec<u32> {
        match self {
            Self::Runs { len, run } => (0..len).into_par_iter().map(|i| (i / run) as u32).collect(),
            _ => Vec::new(),
        }
    }

    /// The offsets of segments, one more than segments; none of other shapes.
    pub fn offsets(self) -> Vec<u64> {
        let Self::Zipf { len, segments } = self else { return Vec::new() };
        let harmonic: f64 = (1..=segments).map(|rank| 1.0 / rank as f64).sum();
        let of_rank = |rank: u64| (len as f64 / harmonic / (rank + 1) as f64) as u64;
        let mut ranks: Vec<u64> = (0..segments as u64).collect();
        ranks.sort_by_cached_key(|&rank| hash(rank));
        // What rounding down left over goes to the largest.
        let rest = len as u64 - (0..segments as u64).map(of_rank).sum::<u64>();
        let mut through = 0;
        let ends = ranks.iter().map(|&rank| {
            through += of_rank(rank) + if rank == 0 { rest } else { 0 };
            through
        });
        std::iter::once(0).chain(ends).collect()
    }

    /// Writes the elements. `offsets` are the shape's own.
    pub fn fill<T: Dtype>(self, offsets: &[u64], values: &mut [T]) {
        let difference = |i: usize, before: Option<usize>| match before {
            Some(before) => T::difference(i as u64, before as u64),
            None => T::sum_at(i as u64),
        };
        match self {
            Self::Zipf { .. } => {
                let mut heads = vec![false; values.len() + 1];
                offsets.iter().for_each(|&place| heads[place as usize] = true);
                values.par_iter_mut().enumerate().for_each(|(i, value)| {
                    *value = difference(i, (!heads[i]).then(|| i - 1));
                });
            }
            _ => values.par_iter_mut().enumerate().for_each(|(i, value)| {
                *value = difference(i, self.before(i));
            }),
        }
    }

    /// The place before in the same line or run.
    fn before(self, i: usize) -> Option<usize> {
        let inside = |line: usize| !i.is_multiple_of(line);
        match self {
            Self::Table { columns, axis: 0, .. } => i.checked_sub(columns),
            Self::Table { columns, .. } => inside(columns).then(|| i - 1),
            Self::Runs { run, .. } => inside(run).then(|| i - 1),
            Self::Flat(_) | Self::Zipf { .. } => i.checked_sub(1),
        }
    }
}

/// A length with powers of two as such.
fn power(len: usize) -> String {
    crate::table::length(len)
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Flat(len) => write!(f, "{}", power(len)),
            Self::Table { rows, columns, axis } => {
                let axis = if axis == 0 { "first" } else { "last" };
                write!(f, "{rows}×{columns}, {axis} axis")
            }
            Self::Runs { len, run } => write!(f, "{} by key, runs of {run}", power(len)),
            Self::Zipf { len, segments } => {
                write!(f, "{} in {} Zipf segments", power(len), power(segments))
            }
        }
    }
}

/// `ROWSxCOLUMNS/AXIS`, `LENGTH/key:RUN`, `LENGTH/zipf:SEGMENTS`; `2^28` is a number too.
impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let usage = || {
            format!(
                "`{text}` is none of ROWSxCOLUMNS/AXIS (1024x256/0), LENGTH/key:RUN (2^24/key:64), \
                 LENGTH/zipf:SEGMENTS (2^24/zipf:65536)"
            )
        };
        let (size, how) = text.split_once('/').ok_or_else(usage)?;
        let shape = match (size.split_once('x'), how.split_once(':')) {
            (Some((rows, columns)), None) => {
                let axis = how.parse().ok().filter(|&axis| axis < 2).ok_or_else(usage)?;
                let (rows, columns) = (number(rows)?, number(columns)?);
                rows.checked_mul(columns).ok_or("too many elements")?;
                Self::Table { rows, columns, axis }
            }
            (None, Some(("key", run))) => Self::Runs { len: number(size)?, run: number(run)? },
            (None, Some(("zipf", segments))) => {
                let (len, segments) = (number(size)?, number(segments)?);
                if segments > len {
                    return Err(format!("{len} elements are too few for {segments} segments"));
                }
                Self::Zipf { len, segments }
            }
            _ => return Err(usage()),
        };
        if shape.len() > 1 << 40 { Err("expected up to 2^40 elements".into()) } else { Ok(shape) }
    }
}

fn number(text: &str) -> Result<usize, String> {
    let number = match text.split_once('^') {
        Some(("2", power)) => power.parse().ok().and_then(|power| 1usize.checked_shl(power)),
        _ => text.parse().ok(),
    };
    number.filter(|&number| number > 0).ok_or_else(|| format!("`{text}` is no number above 0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPES: [&str; 6] =
        ["7x5/0", "7x5/1", "1x9/0", "100/key:7", "2^10/zipf:64", "1000/zipf:1000"];

    #[test]
    fn lines_sum_up_to_the_hashes() {
        for text in SHAPES {
            let shape: Shape = text.parse().unwrap();
            let offsets = shape.offsets();
            let mut values = vec![0i32; shape.len()];
            shape.fill(&offsets, &mut values);
            let keys = shape.keys();
            let starts = |i: usize| match shape {
                Shape::Table { columns, axis: 1, .. } => i.is_multiple_of(columns),
                Shape::Runs { .. } => i == 0 || keys[i] != keys[i - 1],
                Shape::Zipf { .. } => offsets.contains(&(i as u64)),
                _ => i == 0,
            };
            let step = if let Shape::Table { columns, axis: 0, .. } = shape { columns } else { 1 };
            for first in 0..step {
                let mut sum = 0i32;
                for i in (first..shape.len()).step_by(step) {
                    sum = if starts(i) { 0 } else { sum }.wrapping_add(values[i]);
                    assert_eq!(sum, i32::sum_at(i as u64), "{text} at {i}");
                }
            }
        }
    }

    #[test]
    fn zipf_segments_hold_all_elements_and_differ() {
        let shape = Shape::Zipf { len: 1 << 16, segments: 1 << 8 };
        let offsets = shape.offsets();
        assert_eq!((offsets.len(), offsets[0], offsets[256]), (257, 0, 1 << 16));
        let mut lengths: Vec<u64> = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(!lengths.is_sorted_by(|a, b| a >= b), "not by length");
        lengths.sort_unstable();
        assert!(lengths[255] > 100 * lengths[0] && lengths[0] > 0, "{lengths:?}");
    }

    #[test]
    fn shapes_are_read_and_named() {
        let named = |text: &str| text.parse().map(|shape: Shape| shape.to_string());
        assert_eq!(named("2^20x256/0").as_deref(), Ok("1048576×256, first axis"));
        assert_eq!(named("2^28/key:64").as_deref(), Ok("2^28 by key, runs of 64"));
        assert_eq!(named("2^28/zipf:2^20").as_deref(), Ok("2^28 in 2^20 Zipf segments"));
        for bad in
            ["", "5", "5x5", "5x5/2", "0x5/1", "5/key:0", "4/zipf:5", "2^99/key:3", "5/run:3"]
        {
            assert!(named(bad).is_err(), "{bad}");
        }
        // Four bytes of key to an element of eight that are moved: as a copy of half as many more.
        assert_eq!("2^10/key:8".parse::<Shape>().unwrap().moved(4), 1536);
    }
}
