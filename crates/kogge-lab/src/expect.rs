//! Comparing results with a scalar reference: `inclusive-sum:X:Y`.

use crate::diagnostic::Diagnostic;
use crate::value::{Number, Values};

/// What an array is expected to hold: the scan of another.
///
/// Written `KIND-OP:X:Y`, KIND `inclusive` or `exclusive`, OP `sum`, `product`,
/// `min`, `max`, `and`, `or`, `xor`; X the input's name, Y the result's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {}

/// The first element that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// Its index.
    pub index: usize,
    /// What the array holds.
    pub found: Number,
    /// What it should hold.
    pub expected: Number,
    /// By how much it may differ (0 for integers: exact).
    pub tolerance: f64,
    /// How many elements differ.
    pub count: usize,
}

impl Expectation {
    /// Reads `KIND-OP:X:Y`.
    ///
    /// # Errors
    ///
    /// Another form, an unknown kind or operator.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        Err(Diagnostic::general(format!("{text}: unknown expectation")))
    }

    /// Name of the input.
    pub fn input(&self) -> &str {
        ""
    }

    /// Name of the result.
    pub fn output(&self) -> &str {
        ""
    }

    /// Compares `result` with the scan of `input` (as it was before the run);
    /// the shorter length counts.
    ///
    /// Integers and truth values must be equal, as must minima and maxima.
    /// Sums and products of floats, whose order of combination is free, may
    /// differ from the left fold in double precision by the bound of Higham,
    /// *Accuracy and Stability of Numerical Algorithms*, section 4.2, for the
    /// worst order: (n−1)·u·Σ|x|.
    ///
    /// # Errors
    ///
    /// The first mismatch.
    pub fn compare(&self, input: &Values, result: &Values) -> Result<(), Box<Mismatch>> {
        let _ = (input, result);
        Ok(())
    }
}
