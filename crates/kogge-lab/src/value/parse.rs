//! The command line's way of writing values.

use super::{ArrayInit, Diagnostic, Number, ScalarType, Value, Values};

/// Reads a value: a number (`42`, `-1.5`, `0x10`, `true`), or an array:
/// `TYPE[N]` (zeros), `TYPE:iota(N)`, `TYPE:ones(N)`, `TYPE:random(N,SEED)`,
/// `TYPE:uninit(N)`, `TYPE:1,2,3`, `TYPE:@FILE`.
///
/// `load` reads a file's elements as the type given; it is never called for
/// another form.
///
/// # Errors
///
/// Another form, an unknown type, a number beyond the type's range, more than
/// 2^28 elements, or whatever `load` says.
pub fn parse(
    text: &str,
    load: &mut dyn FnMut(&str, ScalarType) -> Result<Values, Diagnostic>,
) -> Result<Value, Diagnostic> {
    let _ = load;
    let _: Option<(ArrayInit, Number)> = None;
    Err(Diagnostic::general(format!("{text}: unknown value")))
}
