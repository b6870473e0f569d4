//! Scans with their types erased: bytes in, bytes out, by the library's engine.
//!
//! A [`Spec`] says what is to be done in the words of the command line. [`Spec::line`] scans one
//! sequence that comes in pieces, [`Spec::columns`] many side by side. Both give the bits of one
//! call over the whole, wherever the pieces are cut.

mod columns;
mod dispatch;
mod line;
mod recipe;
mod share;

use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::op::{Op, Types};
use crate::text::{json_element, read_element};
use kogge::{Direction, Kind};

/// A scan to be done, whatever the data.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The operator.
    pub op: Op,
    /// What is read, accumulated in, and written.
    pub types: Types,
    /// Inclusive or exclusive.
    pub kind: Kind,
    /// From the start or from the end.
    pub direction: Direction,
    /// The initial value, as the bytes of one accumulator.
    init: Option<Vec<u8>>,
}

/// A scan of one sequence that comes in pieces.
///
/// Of a reversed scan the last piece comes first; inside a piece elements keep their order. At each
/// of a piece's `starts`, which rise and may be equal, a new run begins, which is scanned by itself.
pub trait LineScan: Send {
    /// Scans the next piece in place. Only where [`Spec::in_place`].
    fn scan_in_place(&mut self, starts: &[usize], data: &mut [u8]) -> Result<()>;

    /// Scans the next piece; `first` is the index of its first element.
    fn scan_into(
        &mut self,
        first: u64,
        starts: &[usize],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<()>;

    /// Scans whole lines at once: arrays of the shape `[outer, n, inner]`, each along its second
    /// axis, each line by itself. Leaves the sequence as it was.
    fn scan_slabs(&mut self, shape: [usize; 3], input: &[u8], output: &mut [u8]) -> Result<()>;

    /// The value where an element is missing, if the operator has one; `output` takes one.
    fn fill(&self, output: &mut [u8]) -> bool;

    /// Forgets everything; the next piece starts a new sequence.
    fn restart(&mut self);

    /// Everything so far combined, as the bytes of one output element.
    fn total(&self) -> Vec<u8>;
}

/// A scan of many lines side by side, some rows of all lines at a time.
pub trait ColumnsScan: Send {
    /// Scans the next rows; `first` is the place of the first of them along the lines. Of a reversed
    /// scan the last rows come first.
    fn scan_rows(&mut self, first: u64, input: &[u8], output: &mut [u8]) -> Result<()>;

    /// Forgets everything; the next row starts new lines.
    fn restart(&mut self);
}

impl Spec {
    /// The scan that the command line asks for.
    ///
    /// # Errors
    ///
    /// If `init` isn't a number of the accumulator's type, or the operator takes none.
    pub fn new(
        op: Op,
        types: Types,
        kind: Kind,
        direction: Direction,
        init: Option<&str>,
    ) -> Result<Self> {
        let init = match init {
            Some(text) => Some(parse_init(op, types.accumulator, text)?),
            None => implied_init(op, types.accumulator, kind),
        };
        Ok(Self { op, types, kind, direction, init })
    }

    /// Bytes of what one output element is made from.
    pub fn input_size(&self) -> usize {
        self.types.element.size() * self.op.arity()
    }

    /// Bytes of an output element.
    pub fn output_size(&self) -> usize {
        self.types.output.size()
    }

    /// Whether the output can take the place of the input.
    pub fn in_place(&self) -> bool {
        self.op.arity() == 1 && self.types.element == self.types.output && !self.gives_places()
    }

    /// Whether the output depends on where the elements stand.
    fn gives_places(&self) -> bool {
        matches!(self.op, Op::ArgMin | Op::ArgMax)
    }

    /// Whether missing elements can be left out and the others scanned as if they were neighbours.
    pub fn closes_gaps(&self) -> bool {
        !self.gives_places() && self.op != Op::LastValid
    }

    /// Whether the sequence is read from its end.
    pub fn reversed(&self) -> bool {
        self.direction == Direction::Reverse
    }

    /// A scan of one sequence.
    pub fn line(&self) -> Box<dyn LineScan> {
        dispatch::recipe(self).line(self)
    }

    /// A scan of `width` sequences side by side.
    pub fn columns(&self, width: usize) -> Box<dyn ColumnsScan> {
        dispatch::recipe(self).columns(self, width)
    }

    /// Bytes of state that [`Spec::columns`] keeps for every line.
    pub fn state_size(&self) -> usize {
        dispatch::recipe(self).state_size()
    }

    /// An output element as JSON.
    pub fn json(&self, element: &[u8]) -> serde_json::Value {
        json_element(self.types.output, element)
    }
}

fn parse_init(op: Op, accumulator: Dtype, text: &str) -> Result<Vec<u8>> {
    if matches!(op, Op::ArgMin | Op::ArgMax) {
        return Err(Error::usage(format!("{} takes no --init", op.name())));
    }
    let mut init = vec![0; accumulator.size()];
    if read_element(accumulator, text, &mut init) {
        return Ok(init);
    }
    Err(Error::usage(format!("--init '{text}' is not a number of the type {accumulator}"))
        .hint("--dtype or --accumulate choose another type"))
}

/// An exclusive sum of floats starts at 0.0, not at the identity -0.0, which would be shown; a
/// recurrence starts at 0.
fn implied_init(op: Op, accumulator: Dtype, kind: Kind) -> Option<Vec<u8>> {
    let shown = kind == Kind::Exclusive && accumulator.is_float();
    (shown && matches!(op, Op::Sum | Op::Affine)).then(|| vec![0; accumulator.size()])
}
