//! Why an operator can't be written in a device's language.

/// What stands between an operator and a device's language.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A function calls itself, by way of another one.
    #[error("`{function}` calls itself, which no GPU allows; write a `for` over a constant range")]
    Recursion {
        /// The function.
        function: &'static str,
    },
    /// A loop turns more than 2^32 - 1 times.
    #[error("a loop in `{function}` turns more than 4,294,967,295 times; shorten its range")]
    Loop {
        /// The function.
        function: &'static str,
    },
    /// An index is 2^32 or more.
    #[error(
        "the index {value} is too large for a device, where `usize` has 32 bits; write a number below 4,294,967,296, or calculate in `u64`"
    )]
    Index {
        /// The literal or constant.
        value: u64,
    },
    /// The type of an expression isn't to be told from the function alone.
    #[error(
        "the types within `{function}` can't all be told; write them at its `let`s and literals"
    )]
    Untyped {
        /// The function.
        function: &'static str,
    },
    /// The device's language has no such thing.
    #[error("WGSL has no {what}; use another type, or an engine other than wgpu")]
    Unsupported {
        /// What is missing.
        what: String,
    },
}
