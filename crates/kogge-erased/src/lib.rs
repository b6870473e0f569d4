//! Scans with their types erased: bytes in, bytes out, by the library's engine.
//!
//! For programs that learn from their input what they scan, such as the `kogge` command. A [`Spec`]
//! says what is to be done. [`Spec::line`] scans one sequence that comes in pieces,
//! [`Spec::columns`] many side by side. Both give the bits of one call over the whole, wherever the
//! pieces are cut.
//!
//! The engine is compiled here for all that ninety pairs of operator and type need, once for
//! whoever uses them.
//!
//! ```
//! use kogge_erased::{Direction, Dtype, Kind, Op, Spec, bytemuck};
//!
//! // Running totals of 16-bit integers: in 64 bits, as numpy has it.
//! let types = Op::Sum.types(Dtype::I16, None, None)?;
//! assert_eq!(types.element, Dtype::I64);
//! let mut scan = Spec::new(Op::Sum, types, Kind::Inclusive, Direction::Forward, None).line();
//! let mut data = [3i64, 1, 4];
//! scan.scan_in_place(&[], bytemuck::bytes_of_mut(&mut data))?;
//! assert_eq!(data, [3, 4, 8]);
//! scan.scan_in_place(&[], bytemuck::bytes_of_mut(&mut data))?;
//! assert_eq!(data, [11, 15, 23]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod columns;
mod dispatch;
mod dtype;
mod line;
mod op;
mod pointer;
mod recipe;
mod share;
#[cfg(test)]
mod tests;

pub use dtype::Dtype;
pub use kogge::{Direction, Error, Kind, bf16, bytemuck, f16};
pub use op::{Mismatch, Op, Types};

/// A scan to be done, whatever the data.
#[derive(Clone, Debug)]
pub struct Spec {
    op: Op,
    types: Types,
    kind: Kind,
    direction: Direction,
    /// The initial value, as the bytes of one accumulator.
    init: Option<Vec<u8>>,
}

/// A scan of one sequence that comes in pieces.
///
/// Of a reversed scan the last piece comes first; inside a piece elements keep their order. At each
/// of a piece's `starts`, which rise and may be equal, a new run begins, which is scanned by
/// itself.
///
/// Bytes are whole elements, aligned as their types are, and an output has as many as the input:
/// else calls panic.
pub trait LineScan: Send {
    /// Scans the next piece in place. Only where [`Spec::in_place`].
    fn scan_in_place(&mut self, starts: &[usize], data: &mut [u8]) -> Result<(), Error>;

    /// Scans the next piece; `first` is the index of its first element.
    fn scan_into(
        &mut self,
        first: u64,
        starts: &[usize],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), Error>;

    /// Scans whole lines at once: arrays of the shape `[outer, n, inner]`, each along its second
    /// axis, each line by itself. Leaves the sequence as it was.
    fn scan_slabs(
        &mut self,
        shape: [usize; 3],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), Error>;

    /// The value where an element is missing, if the operator has one; `output` takes one.
    fn fill(&self, output: &mut [u8]) -> bool;

    /// Forgets everything; the next piece starts a new sequence.
    fn restart(&mut self);

    /// Everything so far combined, as the bytes of one output element.
    fn total(&self) -> Vec<u8>;
}

/// A scan of many lines side by side, some rows of all lines at a time.
///
/// Bytes are whole rows of elements, aligned as their types are, and an output has as many as the
/// input: else calls panic.
pub trait ColumnsScan: Send {
    /// Scans the next rows; `first` is the place of the first of them along the lines. Of a
    /// reversed scan the last rows come first.
    fn scan_rows(&mut self, first: u64, input: &[u8], output: &mut [u8]) -> Result<(), Error>;

    /// Forgets everything; the next row starts new lines.
    fn restart(&mut self);
}

impl Spec {
    /// The scan by `op` on types that [`Op::types`] gave for it; `init` is the bytes of an initial
    /// accumulator.
    ///
    /// An exclusive sum of floats starts at 0.0 without one, not at the identity −0.0, which would
    /// be shown; a recurrence at 0.
    ///
    /// # Panics
    ///
    /// If `init` isn't as long as an accumulator, or the operator [takes none](Op::takes_init).
    pub fn new(
        op: Op,
        types: Types,
        kind: Kind,
        direction: Direction,
        init: Option<Vec<u8>>,
    ) -> Self {
        if let Some(init) = &init {
            assert!(op.takes_init(), "{} takes no initial value", op.name());
            assert_eq!(init.len(), types.accumulator.size(), "bytes of an accumulator");
        }
        let init = init.or_else(|| implied_init(op, types.accumulator, kind));
        Self { op, types, kind, direction, init }
    }

    /// The operator.
    pub fn op(&self) -> Op {
        self.op
    }

    /// What is scanned, accumulated in, and written.
    pub fn types(&self) -> Types {
        self.types
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

    /// Whether the first element of a sequence has no value: an exclusive fill, before which there
    /// is nothing to fill with.
    pub fn starts_missing(&self) -> bool {
        self.op == Op::LastValid && self.kind == Kind::Exclusive && self.init.is_none()
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
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn columns(&self, width: usize) -> Box<dyn ColumnsScan> {
        dispatch::recipe(self).columns(self, width)
    }

    /// Bytes of state that [`Spec::columns`] keeps for every line.
    pub fn state_size(&self) -> usize {
        dispatch::recipe(self).state_size()
    }
}

fn implied_init(op: Op, accumulator: Dtype, kind: Kind) -> Option<Vec<u8>> {
    let shown = kind == Kind::Exclusive && accumulator.is_float();
    (shown && matches!(op, Op::Sum | Op::Affine)).then(|| vec![0; accumulator.size()])
}
