//! Comparing results with a scalar reference: `inclusive-sum:X:Y`.

use crate::diagnostic::Diagnostic;
use crate::value::{Number, ScalarType, Values};

/// What an array is expected to hold: the scan of another.
///
/// Written `KIND-OP:X:Y`, KIND `inclusive` or `exclusive`, OP `sum`, `product`,
/// `min`, `max`, `and`, `or`, `xor`; X the input's name, Y the result's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    inclusive: bool,
    operator: Operator,
    input: String,
    output: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Sum,
    Product,
    Min,
    Max,
    And,
    Or,
    Xor,
}

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

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "element {} is {}, expected {}", self.index, self.found, self.expected)?;
        if self.tolerance > 0.0 {
            write!(f, " (up to {:e} off)", self.tolerance)?;
        }
        write!(f, "; elements that differ: {}", self.count)
    }
}

impl Expectation {
    /// Reads `KIND-OP:X:Y`.
    ///
    /// # Errors
    ///
    /// Another form, an unknown kind or operator.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        let wrong = || {
            Diagnostic::general(format!("`{text}` is no expectation")).with_help(
                "write inclusive-OP:X:Y or exclusive-OP:X:Y; OP is sum, product, min, max, and, or, xor",
            )
        };
        let mut parts = text.split(':');
        let (Some(kind), Some(input), Some(output), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(wrong());
        };
        let (kind, operator) = kind.split_once('-').ok_or_else(wrong)?;
        let inclusive = match kind {
            "inclusive" => true,
            "exclusive" => false,
            _ => return Err(wrong()),
        };
        let operator = match operator {
            "sum" => Operator::Sum,
            "product" => Operator::Product,
            "min" => Operator::Min,
            "max" => Operator::Max,
            "and" => Operator::And,
            "or" => Operator::Or,
            "xor" => Operator::Xor,
            _ => return Err(wrong()),
        };
        Ok(Self { inclusive, operator, input: input.to_owned(), output: output.to_owned() })
    }

    /// Name of the input.
    pub fn input(&self) -> &str {
        &self.input
    }

    /// Name of the result.
    pub fn output(&self) -> &str {
        &self.output
    }

    /// Compares `result` with the scan of `input` (as it was before the run);
    /// the shorter length counts.
    ///
    /// Integers and truth values must be equal, as must minima and maxima.
    /// Sums and products of floats, whose order of combination is free, may
    /// differ from the left fold in double precision by the bound of Higham,
    /// *Accuracy and Stability of Numerical Algorithms*, section 4.2, for the
    /// worst order: (n−1)·u·Σ|x|, and likewise (n−1)·u·Π|x|, with half a unit
    /// more for the fold itself. The exclusive scan starts from the identity:
    /// 0, 1, the type's largest and smallest value (±∞ for floats), all ones.
    /// `and`, `or` and `xor` of floats work on their bits.
    ///
    /// # Errors
    ///
    /// The first mismatch.
    pub fn compare(&self, input: &Values, result: &Values) -> Result<(), Box<Mismatch>> {
        let float = |v: &Values| matches!(v.ty(), ScalarType::F32 | ScalarType::F64);
        if float(input) && !matches!(self.operator, Operator::And | Operator::Or | Operator::Xor) {
            self.compare_floats(input, result)
        } else {
            self.compare_integers(input, result)
        }
    }

    /// The sum or product of floats.
    pub(crate) fn of_floats(product: bool, inclusive: bool) -> Self {
        let operator = if product { Operator::Product } else { Operator::Sum };
        Self { inclusive, operator, input: String::new(), output: String::new() }
    }

    /// The expected values in double precision, and how far off a result of this type may be.
    pub(crate) fn floats(
        &self,
        input: &Values,
        result: ScalarType,
    ) -> impl Iterator<Item = (f64, f64)> {
        let unit = match result {
            ScalarType::F32 => f64::from(f32::EPSILON) / 2.0,
            _ => f64::EPSILON / 2.0,
        };
        let (mut value, mut size) = match self.operator {
            Operator::Product => (1.0, 1.0),
            Operator::Min => (f64::INFINITY, 0.0),
            Operator::Max => (f64::NEG_INFINITY, 0.0),
            _ => (0.0, 0.0),
        };
        input.iter().enumerate().map(move |(i, x)| {
            let before = (value, size);
            let x = x.to_f64();
            (value, size) = match self.operator {
                Operator::Sum => (value + x, size + x.abs()),
                Operator::Product => (value * x, size * x.abs()),
                Operator::Min => (value.min(x), 0.0),
                _ => (value.max(x), 0.0),
            };
            let (expected, bound) = if self.inclusive { (value, size) } else { before };
            (expected, (i as f64 + 1.0) * unit * bound)
        })
    }

    fn compare_floats(&self, input: &Values, result: &Values) -> Result<(), Box<Mismatch>> {
        let mut first = None;
        let mut count = 0;
        let expected = self.floats(input, result.ty());
        for (i, ((expected, tolerance), found)) in expected.zip(result.iter()).enumerate() {
            let off = (found.to_f64() - expected).abs();
            let same = found.to_f64() == expected || found.to_f64().is_nan() && expected.is_nan();
            if !(same || off <= tolerance) {
                count += 1;
                first.get_or_insert(Mismatch {
                    index: i,
                    found,
                    expected: Number::Double(expected),
                    tolerance,
                    count: 0,
                });
            }
        }
        outcome(first, count)
    }

    fn compare_integers(&self, input: &Values, result: &Values) -> Result<(), Box<Mismatch>> {
        let ty = input.ty();
        let raw = |v: &Values| words(v);
        let (xs, ys) = (raw(input), raw(result));
        let mut value = self.identity(ty);
        let mut first = None;
        let mut count = 0;
        for (i, (&x, &found)) in xs.iter().zip(&ys).enumerate() {
            let before = value;
            value = crate::machine::alu::canonical(ty, self.apply(ty, value, x));
            let expected = if self.inclusive { value } else { before };
            let expected = crate::machine::alu::canonical(result.ty(), expected);
            if expected != found {
                count += 1;
                first.get_or_insert(Mismatch {
                    index: i,
                    found: shown(result.ty(), found),
                    expected: shown(result.ty(), expected),
                    tolerance: 0.0,
                    count: 0,
                });
            }
        }
        outcome(first, count)
    }

    fn identity(&self, ty: ScalarType) -> u64 {
        use crate::machine::alu::{canonical, is_signed};
        let bits = 8 * ty.size() as u32;
        let largest =
            if is_signed(ty) { (1u64 << (bits - 1)) - 1 } else { canonical(ty, u64::MAX) };
        let smallest = if is_signed(ty) { canonical(ty, 1u64 << (bits - 1)) } else { 0 };
        match self.operator {
            Operator::Sum | Operator::Or | Operator::Xor => 0,
            Operator::Product => 1,
            Operator::Min => largest,
            Operator::Max => smallest,
            Operator::And => canonical(ty, u64::MAX),
        }
    }

    fn apply(&self, ty: ScalarType, a: u64, b: u64) -> u64 {
        let less = if crate::machine::alu::is_signed(ty) { (a as i64) < b as i64 } else { a < b };
        match self.operator {
            Operator::Sum => a.wrapping_add(b),
            Operator::Product => a.wrapping_mul(b),
            Operator::Min if less => a,
            Operator::Min => b,
            Operator::Max if less => b,
            Operator::Max => a,
            Operator::And => a & b,
            Operator::Or => a | b,
            Operator::Xor => a ^ b,
        }
    }
}

fn outcome(first: Option<Mismatch>, count: usize) -> Result<(), Box<Mismatch>> {
    match first {
        None => Ok(()),
        Some(m) => Err(Box::new(Mismatch { count, ..m })),
    }
}

/// The elements as registers hold them.
fn words(v: &Values) -> Vec<u64> {
    let size = v.ty().size();
    let bytes = v.to_bytes();
    let word = |c: &[u8]| {
        let mut word = [0u8; 8];
        word[..size].copy_from_slice(c);
        crate::machine::alu::canonical(v.ty(), u64::from_le_bytes(word))
    };
    bytes.chunks_exact(size).map(word).collect()
}

fn shown(ty: ScalarType, word: u64) -> Number {
    match ty {
        ScalarType::Bool => Number::Bool(word != 0),
        ScalarType::F32 => Number::Single(f32::from_bits(word as u32)),
        ScalarType::F64 => Number::Double(f64::from_bits(word)),
        t if crate::machine::alu::is_signed(t) => Number::Int(word as i64),
        _ => Number::UInt(word),
    }
}
