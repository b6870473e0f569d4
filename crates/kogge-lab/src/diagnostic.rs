//! Why a source, a launch or an argument was refused, and where.

use std::fmt;

/// A refusal: the place in the source, what is wrong, and what would help.
///
/// Lines and columns count from 1, columns in characters. A diagnostic that
/// concerns no place in the source (a bad launch, an unknown argument) has
/// line and column 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Diagnostic {
    /// Name of the source, as given to [`Program::parse`](crate::Program::parse).
    pub source_name: String,
    /// Line, from 1; 0 when no place in the source is concerned.
    pub line: u32,
    /// Column in characters, from 1; 0 when no place in the source is concerned.
    pub column: u32,
    /// What is wrong, or which part of CUDA C is missing.
    pub message: String,
    /// What the writer can do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A diagnostic that concerns no place in the source.
    pub fn general(message: impl Into<String>) -> Self {
        Self { source_name: String::new(), line: 0, column: 0, message: message.into(), help: None }
    }

    /// A diagnostic at a line and column.
    pub fn at(line: u32, column: u32, message: impl Into<String>) -> Self {
        Self { line, column, ..Self::general(message) }
    }

    /// The same with a word of help.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same, in the source of this name.
    #[must_use]
    pub(crate) fn in_source(mut self, name: &str) -> Self {
        if self.source_name.is_empty() {
            self.source_name = name.to_owned();
        }
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.source_name.is_empty() {
            write!(f, "{}:", self.source_name)?;
        }
        if self.line > 0 {
            write!(f, "{}:{}:", self.line, self.column)?;
        }
        if !self.source_name.is_empty() || self.line > 0 {
            f.write_str(" ")?;
        }
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, " (help: {help})"),
            None => Ok(()),
        }
    }
}
