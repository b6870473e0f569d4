//! The operators, and the types that each reads, accumulates in and writes.

use crate::Dtype;

/// An operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Op {
    /// Running total; integers wrap around
    #[cfg_attr(feature = "clap", value(alias = "cumsum", alias = "add"))]
    Sum,
    /// Running product; integers wrap around
    #[cfg_attr(feature = "clap", value(alias = "cumprod", alias = "prod"))]
    Product,
    /// Smallest so far; NaN propagates
    #[cfg_attr(feature = "clap", value(alias = "cummin", alias = "minimum"))]
    Min,
    /// Largest so far; NaN propagates
    #[cfg_attr(feature = "clap", value(alias = "cummax", alias = "maximum"))]
    Max,
    /// Bitwise and of integers
    #[cfg_attr(feature = "clap", value(name = "bitand", alias = "bit-and", alias = "and"))]
    BitAnd,
    /// Bitwise or of integers
    #[cfg_attr(feature = "clap", value(name = "bitor", alias = "bit-or", alias = "or"))]
    BitOr,
    /// Bitwise exclusive or of integers
    #[cfg_attr(feature = "clap", value(name = "bitxor", alias = "bit-xor", alias = "xor"))]
    BitXor,
    /// Whether all so far are non-zero
    All,
    /// Whether any so far is non-zero
    Any,
    /// ln(e^a + e^b): sums of probabilities kept as logarithms
    #[cfg_attr(
        feature = "clap",
        value(name = "logaddexp", alias = "logsumexp", alias = "log-add-exp")
    )]
    LogAddExp,
    /// Forward fill: the last value that is neither null nor NaN
    #[cfg_attr(feature = "clap", value(alias = "ffill", alias = "forward-fill"))]
    LastValid,
    /// Row of the smallest so far (the first of equals), counted from 0; -1 before the first
    #[cfg_attr(feature = "clap", value(name = "argmin"))]
    ArgMin,
    /// Row of the largest so far (the first of equals), counted from 0; -1 before the first
    #[cfg_attr(feature = "clap", value(name = "argmax"))]
    ArgMax,
    /// Recurrence y = a*y + b over two columns, a then b; y starts at --init, or 0
    #[cfg_attr(feature = "clap", value(alias = "recurrence"))]
    Affine,
}

/// The types of a scan, as [`Op::types`] gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Types {
    /// What is scanned; the input is converted to it first. Its size fixes the order of
    /// combination.
    pub element: Dtype,
    /// What floats are accumulated in. Integers give the same bits in any.
    pub accumulator: Dtype,
    /// What is written.
    pub output: Dtype,
}

/// Types that an operator doesn't have, and what to ask for instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Mismatch {
    message: String,
    /// What to do, in the words of the `kogge` command.
    pub hint: String,
}

impl Mismatch {
    fn new(message: String, hint: impl Into<String>) -> Self {
        Self { message, hint: hint.into() }
    }
}

impl Op {
    /// The name, as a command line has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Product => "product",
            Self::Min => "min",
            Self::Max => "max",
            Self::BitAnd => "bitand",
            Self::BitOr => "bitor",
            Self::BitXor => "bitxor",
            Self::All => "all",
            Self::Any => "any",
            Self::LogAddExp => "logaddexp",
            Self::LastValid => "last-valid",
            Self::ArgMin => "argmin",
            Self::ArgMax => "argmax",
            Self::Affine => "affine",
        }
    }

    /// What a scanned column's name ends in.
    pub fn suffix(self) -> String {
        self.name().replace('-', "_")
    }

    /// Whether a scan may have an initial value.
    pub fn takes_init(self) -> bool {
        !matches!(self, Self::ArgMin | Self::ArgMax)
    }

    /// Input columns that one output column takes.
    pub fn arity(self) -> usize {
        if self == Self::Affine { 2 } else { 1 }
    }

    /// The types of a scan of a file that holds `file`, where `dtype` and `accumulate` may ask for
    /// others.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] if the operator doesn't have such a type.
    pub fn types(
        self,
        file: Dtype,
        dtype: Option<Dtype>,
        accumulate: Option<Dtype>,
    ) -> Result<Types, Mismatch> {
        let mut element = dtype.unwrap_or_else(|| self.natural(file));
        self.check(element)?;
        if matches!(self, Self::ArgMin | Self::ArgMax) {
            element = widest(element);
        }
        let accumulator = self.accumulator(element, accumulate)?;
        let output = match self {
            Self::ArgMin | Self::ArgMax => Dtype::I64,
            _ => element,
        };
        Ok(Types { element, accumulator, output })
    }

    /// numpy's promotion: only sums and products of small integers grow.
    fn natural(self, file: Dtype) -> Dtype {
        match self {
            Self::Sum | Self::Product => file.promoted(),
            Self::All | Self::Any => Dtype::Bool,
            Self::Affine if matches!(file, Dtype::F16 | Dtype::BF16) => Dtype::F32,
            Self::Affine => file.promoted(),
            _ => file,
        }
    }

    fn check(self, element: Dtype) -> Result<(), Mismatch> {
        let (fits, advice) = match self {
            Self::BitAnd | Self::BitOr | Self::BitXor => {
                (!element.is_float(), "bitwise operators take integers; try --dtype i64")
            }
            Self::LogAddExp => (element.is_float(), "it takes floats; try --dtype f64"),
            Self::All | Self::Any => (element == Dtype::Bool, "it gives bool; leave --dtype out"),
            Self::Affine => (
                matches!(element, Dtype::I64 | Dtype::U64 | Dtype::F32 | Dtype::F64),
                "it takes f32, f64, i64 or u64; try --dtype f64",
            ),
            Self::Sum | Self::Product => (element != Dtype::Bool, "try --dtype i64"),
            _ => (true, ""),
        };
        if fits {
            return Ok(());
        }
        Err(Mismatch::new(format!("the operator {} does not take {element}", self.name()), advice))
    }

    fn accumulator(self, element: Dtype, asked: Option<Dtype>) -> Result<Dtype, Mismatch> {
        use Dtype::{BF16, Bool, F16, F32, F64};
        let natural = match element {
            F16 | BF16 => F32,
            own => own,
        };
        let Some(asked) = asked else { return Ok(natural) };
        let fits = match (natural, asked) {
            (F32, F32 | F64) | (F64, F64) => true,
            _ if element.is_float() || asked.is_float() || asked == Bool => false,
            _ => asked.size() >= element.size(),
        };
        if !fits {
            let advice = match asked {
                F16 | BF16 if element == asked => {
                    format!(
                        "{element} accumulates in f32, or in f64; for f32 leave --accumulate out"
                    )
                }
                _ => format!(
                    "an accumulator is a wider type of the same kind; convert first, by --dtype {asked}"
                ),
            };
            return Err(Mismatch::new(
                format!("{element} cannot be accumulated in {asked}"),
                advice,
            ));
        }
        // Affine recurrences have no wider form, and integers need none.
        match (self, element.is_float()) {
            (Self::Affine, true) if asked != natural => Err(Mismatch::new(
                format!("affine recurrences of {element} accumulate in {natural}"),
                format!("use --dtype {asked}"),
            )),
            // One of the elements, whatever they are compared in.
            (Self::Min | Self::Max | Self::LastValid, true) | (_, false) => Ok(natural),
            (_, true) => Ok(asked),
        }
    }
}

/// The widest type of the same kind, in which comparisons have the same outcome.
fn widest(dtype: Dtype) -> Dtype {
    if dtype.is_float() { Dtype::F64 } else { dtype.promoted() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promotes_as_numpy_does() {
        let element = |op: Op, file| op.types(file, None, None).unwrap().element;
        assert_eq!(element(Op::Sum, Dtype::I8), Dtype::I64);
        assert_eq!(element(Op::Product, Dtype::U32), Dtype::U64);
        assert_eq!(element(Op::Sum, Dtype::Bool), Dtype::I64);
        assert_eq!(element(Op::Sum, Dtype::F16), Dtype::F16);
        assert_eq!(element(Op::Max, Dtype::I8), Dtype::I8);
        assert_eq!(element(Op::Any, Dtype::F64), Dtype::Bool);
        let narrow = Op::Sum.types(Dtype::I8, Some(Dtype::I8), None).unwrap();
        assert_eq!(narrow.output, Dtype::I8);
        assert_eq!(Op::ArgMin.types(Dtype::U8, None, None).unwrap().output, Dtype::I64);
    }

    #[test]
    fn refuses_types_that_do_not_fit() {
        assert!(Op::BitAnd.types(Dtype::F32, None, None).is_err());
        assert!(Op::LogAddExp.types(Dtype::I32, None, None).is_err());
        assert!(Op::Sum.types(Dtype::F64, None, Some(Dtype::F32)).is_err());
        assert!(Op::Sum.types(Dtype::I32, None, Some(Dtype::F64)).is_err());
        assert!(Op::Affine.types(Dtype::F32, None, Some(Dtype::F64)).is_err());
        // A conversion to what it is already would be no advice.
        let halves = Op::Sum.types(Dtype::F16, None, Some(Dtype::F16)).unwrap_err();
        assert!(halves.hint.contains("f32, or in f64"), "{}", halves.hint);
        let types = Op::Sum.types(Dtype::F16, None, Some(Dtype::F64)).unwrap();
        assert_eq!((types.accumulator, types.output), (Dtype::F64, Dtype::F16));
    }

    /// A command line and messages must call an operator the same.
    #[cfg(feature = "clap")]
    #[test]
    fn names_are_those_of_the_command_line() {
        use clap::ValueEnum;
        for op in Op::value_variants() {
            assert_eq!(op.to_possible_value().unwrap().get_name(), op.name());
        }
    }
}
