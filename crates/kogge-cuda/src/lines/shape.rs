//! Which elements make a line, and where the lines lie: what a caller says, and the fewest axes
//! that say the same.

use crate::Error;
use kogge_core::Direction;

/// An axis of an input and an output of the same shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Axis {
    /// Indices.
    pub len: u64,
    /// Elements from one index to the next in the input; may be negative, or 0 to repeat an
    /// element.
    pub input_stride: i64,
    /// Elements from one index to the next in the output; may be negative.
    pub output_stride: i64,
}

/// An array of which every line along one axis is scanned by itself.
///
/// Lines are numbered by their indices on the other axes, the last axis fastest, whatever their
/// order in memory. The addresses given to a scan are those of index 0 on every axis.
///
/// ```
/// use kogge_cuda::{Axis, LineShape};
///
/// // Row-major, 3 × 4, along the first axis: four lines of three elements.
/// let shape = LineShape::row_major(&[3, 4], 0)?;
/// assert_eq!(shape.line, Axis { len: 3, input_stride: 4, output_stride: 4 });
/// assert_eq!(shape.outer, [Axis { len: 4, input_stride: 1, output_stride: 1 }]);
/// # Ok::<_, kogge_cuda::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LineShape {
    /// The axis that is scanned.
    pub line: Axis,
    /// The others.
    pub outer: Vec<Axis>,
}

impl LineShape {
    /// A dense array of these extents, the last axis contiguous, scanned along `axis`.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if there is no such axis, or the array is larger than memory can be.
    pub fn row_major(extents: &[u64], axis: usize) -> Result<Self, Error> {
        let dimensions = extents.len();
        if axis >= dimensions {
            let problem = format!("no axis {axis} in an array of {dimensions} dimensions");
            return Err(Error::Unsupported(problem));
        }
        let mut stride = 1i64;
        let mut axes = Vec::with_capacity(dimensions);
        for &len in extents.iter().rev() {
            axes.push(Axis { len, input_stride: stride, output_stride: stride });
            let next = i64::try_from(len.max(1)).ok().and_then(|len| stride.checked_mul(len));
            stride = next.ok_or_else(too_large)?;
        }
        axes.reverse();
        Ok(Self { line: axes.remove(axis), outer: axes })
    }

    /// Lines.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if there are more than a number of 63 bits counts.
    pub fn lines(&self) -> Result<u64, Error> {
        if self.outer.iter().any(|axis| axis.len == 0) {
            return Ok(0);
        }
        let lines = self.outer.iter().try_fold(1u64, |lines, axis| lines.checked_mul(axis.len));
        lines.filter(|&lines| i64::try_from(lines).is_ok()).ok_or_else(too_large)
    }
}

/// Axes across the lines that a kernel takes.
pub(crate) const MOST_OUTER: usize = 8;

/// An axis across the lines, after canonicalisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outer {
    /// Indices, two at least.
    pub len: u64,
    /// As [`Axis`] has them.
    pub input_stride: i64,
    pub output_stride: i64,
    /// From one index to the next in the lines' numbers; negative where the axis was turned round.
    pub number_stride: i64,
}

/// The same lines by the fewest axes, which rise in memory as far as they can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lines {
    /// Elements of a line, and their strides; 1 and 1 if there are no two elements.
    pub line: Axis,
    /// The way along it.
    pub direction: Direction,
    /// The axes across, from the largest stride to the smallest. None has length 1; no two
    /// neighbours can be one.
    pub outer: Vec<Outer>,
    /// Lines.
    pub count: u64,
    /// Elements from the caller's addresses to those of index 0 here.
    pub input_offset: i64,
    pub output_offset: i64,
    /// The number of the line with index 0.
    pub number_offset: i64,
}

impl Lines {
    /// The canonical form of a shape scanned in a direction.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if addresses or lines are too many to count, or more than
    /// [`MOST_OUTER`] axes remain.
    pub(crate) fn new(shape: &LineShape, direction: Direction) -> Result<Self, Error> {
        let count = shape.lines()?;
        let mut lines = Self {
            line: shape.line,
            direction,
            outer: Vec::new(),
            count,
            input_offset: 0,
            output_offset: 0,
            number_offset: 0,
        };
        if count == 0 || shape.line.len == 0 {
            lines.line = Axis { input_stride: 1, output_stride: 1, ..shape.line };
            if count > 1 {
                let outer =
                    Outer { len: count, input_stride: 1, output_stride: 1, number_stride: 1 };
                lines.outer.push(outer);
            }
            return Ok(lines);
        }
        check_reach(shape)?;
        lines.turn_line();
        lines.number_outer(&shape.outer);
        lines.outer.sort_by_key(|axis| {
            let [output, input] = [axis.output_stride, axis.input_stride].map(i64::unsigned_abs);
            std::cmp::Reverse((output, input))
        });
        lines.merge();
        if lines.outer.len() > MOST_OUTER {
            let axes = lines.outer.len();
            let problem = format!("{axes} axes across the lines; kernels take up to {MOST_OUTER}");
            return Err(Error::Unsupported(problem));
        }
        Ok(lines)
    }

    /// Whether each line lies in consecutive elements, in the input and in the output.
    pub(crate) fn are_contiguous(&self) -> bool {
        (self.line.input_stride, self.line.output_stride) == (1, 1)
    }

    /// A line that falls in memory, on both sides, rises in the other direction.
    fn turn_line(&mut self) {
        let Axis { len, input_stride, output_stride } = self.line;
        if len == 1 {
            self.line = Axis { len, input_stride: 1, output_stride: 1 };
        } else if input_stride < 0 && output_stride < 0 {
            self.input_offset += (len - 1) as i64 * input_stride;
            self.output_offset += (len - 1) as i64 * output_stride;
            self.line = Axis { len, input_stride: -input_stride, output_stride: -output_stride };
            self.direction = match self.direction {
                Direction::Forward => Direction::Reverse,
                Direction::Reverse => Direction::Forward,
            };
        }
    }

    /// Takes the axes of length over 1, with what they do to the lines' numbers; those that fall in
    /// memory, on both sides, are turned round.
    fn number_outer(&mut self, axes: &[Axis]) {
        let mut number_stride = 1i64;
        for &Axis { len, input_stride, output_stride } in axes.iter().rev() {
            let mut axis = Outer { len, input_stride, output_stride, number_stride };
            number_stride *= len as i64;
            if len == 1 {
                continue;
            }
            if input_stride < 0 && output_stride < 0 {
                let last = (len - 1) as i64;
                self.input_offset += last * input_stride;
                self.output_offset += last * output_stride;
                self.number_offset += last * axis.number_stride;
                axis = Outer {
                    len,
                    input_stride: -input_stride,
                    output_stride: -output_stride,
                    number_stride: -axis.number_stride,
                };
            }
            self.outer.push(axis);
        }
        self.outer.reverse();
    }

    /// Makes one of neighbours of which the slower goes on where the faster ends.
    fn merge(&mut self) {
        let mut merged: Vec<Outer> = Vec::new();
        for &axis in &self.outer {
            match merged.last_mut() {
                Some(slower) if follows(slower, &axis) => {
                    *slower = Outer { len: slower.len * axis.len, ..axis };
                }
                _ => merged.push(axis),
            }
        }
        self.outer = merged;
    }
}

fn follows(slower: &Outer, faster: &Outer) -> bool {
    let end = |stride: i64| i128::from(stride) * i128::from(faster.len);
    i128::from(slower.input_stride) == end(faster.input_stride)
        && i128::from(slower.output_stride) == end(faster.output_stride)
        && i128::from(slower.number_stride) == end(faster.number_stride)
}

/// No offset within the array may leave what 62 bits count.
fn check_reach(shape: &LineShape) -> Result<(), Error> {
    let axes = || shape.outer.iter().chain([&shape.line]);
    let reach = |stride: fn(&Axis) -> i64| {
        let of = |axis: &Axis| i128::from(axis.len - 1) * i128::from(stride(axis).unsigned_abs());
        axes().map(of).fold(0i128, i128::saturating_add)
    };
    let most = reach(|axis| axis.input_stride).max(reach(|axis| axis.output_stride));
    if most < 1 << 62 { Ok(()) } else { Err(too_large()) }
}

fn too_large() -> Error {
    Error::Unsupported("the array is larger than memory can be".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{Forward, Reverse};

    /// Every element as (offset in, offset out, line's number, place along the line).
    fn elements(lines: &Lines) -> Vec<(i64, i64, i64, u64)> {
        let mut all = Vec::new();
        for index in 0..lines.count {
            let (mut rest, mut at) =
                (index, [lines.input_offset, lines.output_offset, lines.number_offset]);
            for axis in lines.outer.iter().rev() {
                let i = (rest % axis.len) as i64;
                rest /= axis.len;
                at[0] += i * axis.input_stride;
                at[1] += i * axis.output_stride;
                at[2] += i * axis.number_stride;
            }
            for i in 0..lines.line.len {
                let place = if lines.direction == Forward { i } else { lines.line.len - 1 - i };
                let along = i as i64;
                let (input, output) = (lines.line.input_stride, lines.line.output_stride);
                all.push((at[0] + along * input, at[1] + along * output, at[2], place));
            }
        }
        all.sort_unstable();
        all
    }

    /// The same of the shape as it was given.
    fn given(shape: &LineShape, direction: Direction) -> Vec<(i64, i64, i64, u64)> {
        let mut number = 1;
        let mut outer = Vec::new();
        for axis in shape.outer.iter().rev() {
            let Axis { len, input_stride, output_stride } = *axis;
            outer.push(Outer { len, input_stride, output_stride, number_stride: number });
            number *= len as i64;
        }
        outer.reverse();
        let count = shape.lines().unwrap();
        let offsets = [0; 3];
        let [input_offset, output_offset, number_offset] = offsets;
        let line = shape.line;
        elements(&Lines {
            line,
            direction,
            outer,
            count,
            input_offset,
            output_offset,
            number_offset,
        })
    }

    fn axis(len: u64, input_stride: i64, output_stride: i64) -> Axis {
        Axis { len, input_stride, output_stride }
    }

    #[test]
    fn the_canonical_form_has_the_same_elements_lines_and_places() {
        // SplitMix64's increments are enough to spread small numbers.
        let mut state = 1u64;
        let mut below = |end: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % end
        };
        for _ in 0..2000 {
            let axes = below(5) as usize;
            let mut make = || axis(1 + below(4), below(13) as i64 - 4, below(13) as i64 - 4);
            let shape = LineShape { line: make(), outer: (0..axes).map(|_| make()).collect() };
            for direction in [Forward, Reverse] {
                let lines = Lines::new(&shape, direction).unwrap();
                assert_eq!(elements(&lines), given(&shape, direction), "{shape:?}");
                assert!(lines.outer.iter().all(|axis| axis.len > 1));
                assert!(!lines.outer.windows(2).any(|pair| follows(&pair[0], &pair[1])));
            }
        }
    }

    #[test]
    fn dense_arrays_become_two_axes_or_three() {
        let of = |extents: &[u64], axis| {
            let lines = Lines::new(&LineShape::row_major(extents, axis).unwrap(), Forward).unwrap();
            (lines.line.input_stride, lines.outer.iter().map(|outer| outer.len).collect::<Vec<_>>())
        };
        assert_eq!(of(&[4, 5, 6, 7], 3), (1, vec![120]));
        assert_eq!(of(&[4, 5, 6, 7], 0), (210, vec![210]));
        assert_eq!(of(&[4, 5, 6, 7], 1), (42, vec![4, 42]));
        assert_eq!(of(&[4, 1, 6, 1], 1), (1, vec![24]));
        assert_eq!(of(&[9], 0), (1, vec![]));
    }

    #[test]
    fn lines_that_fall_are_turned_round() {
        let shape = LineShape { line: axis(5, -1, -1), outer: vec![axis(3, -5, -5)] };
        let lines = Lines::new(&shape, Forward).unwrap();
        assert!(lines.are_contiguous() && lines.direction == Reverse);
        assert_eq!((lines.input_offset, lines.number_offset), (-14, 2));
        let mixed = LineShape { line: axis(5, -1, 1), outer: vec![] };
        assert!(!Lines::new(&mixed, Forward).unwrap().are_contiguous());
    }

    #[test]
    fn what_cannot_be_counted_is_an_error() {
        let huge = LineShape { line: axis(1 << 40, 1 << 40, 1), outer: vec![] };
        assert!(Lines::new(&huge, Forward).is_err());
        let many = LineShape { line: axis(1, 1, 1), outer: vec![axis(1 << 40, 0, 0); 2] };
        assert!(Lines::new(&many, Forward).is_err());
        let axes = (0..9).map(|i| axis(2, 3 * 5i64.pow(i), 5i64.pow(i))).collect();
        assert!(Lines::new(&LineShape { line: axis(2, 1, 1), outer: axes }, Forward).is_err());
        assert!(LineShape::row_major(&[3, 4], 2).is_err());
        assert!(LineShape::row_major(&[u64::MAX, 4], 1).is_err());
        let none = LineShape { line: axis(1 << 40, 1 << 40, 1), outer: vec![axis(0, 1, 1)] };
        assert_eq!(Lines::new(&none, Forward).unwrap().count, 0);
    }
}
