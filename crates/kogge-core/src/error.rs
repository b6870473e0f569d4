//! What can be wrong with a call, each with what to do about it.

/// Why a scan can't be done as asked.
///
/// ```
/// use kogge_core::Error;
///
/// let error = Error::LengthMismatch { input: 3, output: 2 };
/// assert!(matches!(error, Error::LengthMismatch { output: 2, .. }));
/// let message = "the output has 2 elements but the input has 3; make them the same length";
/// assert_eq!(error.to_string(), message);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The output doesn't have one place per element.
    #[error(
        "the output has {output} elements but the input has {input}; make them the same length"
    )]
    LengthMismatch {
        /// Elements of the input.
        input: usize,
        /// Places in the output.
        output: usize,
    },
    /// There is no such axis.
    #[error(
        "axis {axis} does not exist in an array of {dimensions} dimension(s); axes count from 0"
    )]
    AxisOutOfRange {
        /// The axis asked for.
        axis: usize,
        /// How many there are.
        dimensions: usize,
    },
    /// Shape and strides differ in length.
    #[error(
        "the shape has {shape} dimension(s) but there are {strides} stride(s); give one stride per dimension"
    )]
    RankMismatch {
        /// Dimensions of the shape.
        shape: usize,
        /// Strides given.
        strides: usize,
    },
    /// Input and output of an axis scan have different shapes.
    #[error("the output's shape {output:?} is not the input's {input:?}")]
    ShapeMismatch {
        /// Shape of the input.
        input: Vec<usize>,
        /// Shape of the output.
        output: Vec<usize>,
    },
    /// The product of the dimensions, or of a stride and its dimension, overflows.
    #[error("the shape {shape:?} has more elements than memory can address")]
    ShapeOverflow {
        /// The shape.
        shape: Vec<usize>,
    },
    /// Shape and strides reach outside the slice.
    #[error(
        "the shape and strides reach element {reach} of a slice of {len}; check the strides and the offset"
    )]
    OutOfBounds {
        /// The farthest element reached; it may be negative.
        reach: String,
        /// Elements in the slice.
        len: usize,
    },
    /// Two places of an output view are the same element; or they interleave, so that it would take
    /// long to tell: by strides, smallest first, each axis must step over all that the axes before
    /// it span.
    #[error(
        "the output's strides {strides:?} put two elements in one place, or interleave axes; each axis must step over all \
         that those of smaller strides span"
    )]
    OverlappingOutput {
        /// The strides.
        strides: Vec<isize>,
    },
    /// There are no offsets, not even the first 0.
    #[error("the offsets are empty; give one more than there are segments, starting with 0")]
    NoOffsets,
    /// The offsets don't start at the first element.
    #[error("the first offset is {offset}; offsets start at 0")]
    FirstOffset {
        /// The first offset.
        offset: String,
    },
    /// An offset is smaller than the one before.
    #[error("offset {index} is {offset}, below {before} before it; offsets never fall")]
    OffsetOrder {
        /// Which one.
        index: usize,
        /// The offset.
        offset: String,
        /// The offset before it.
        before: String,
    },
    /// The segments don't cover the input.
    #[error(
        "the segments cover {segments} elements but the input has {input}; give one flag or key per element, or a last offset that is the number of elements"
    )]
    SegmentsMismatch {
        /// Elements in all segments.
        segments: usize,
        /// Elements of the input.
        input: usize,
    },
    /// Initial values or totals aren't one per line or segment.
    #[error("there are {given} {what} for {parts}; give one for each")]
    PerPart {
        /// "initial values" or "totals".
        what: &'static str,
        /// How many were given.
        given: usize,
        /// How many lines or segments there are, with the word.
        parts: String,
    },
}

impl Error {
    /// Checks that an output has one place per element.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`] if it hasn't.
    ///
    /// ```
    /// use kogge_core::Error;
    ///
    /// assert_eq!(Error::unless_equal(3, 3), Ok(()));
    /// assert_eq!(Error::unless_equal(3, 2), Err(Error::LengthMismatch { input: 3, output: 2 }));
    /// ```
    pub fn unless_equal(input: usize, output: usize) -> Result<(), Self> {
        if input == output { Ok(()) } else { Err(Self::LengthMismatch { input, output }) }
    }
}
