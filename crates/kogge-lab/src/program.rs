//! A parsed source: its kernels, their parameters, its device variables.

use crate::diagnostic::Diagnostic;
use crate::value::ScalarType;

/// A parsed CUDA C source.
#[derive(Clone, Debug)]
pub struct Program {}

/// A `__global__` function.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Its template parameters, by name; empty if it is no template.
    pub template: Vec<String>,
    /// Its parameters, in order.
    pub parameters: Vec<Parameter>,
    /// Line of its name.
    pub line: u32,
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Parameter {
    /// Its name; `argN` where the source gives none.
    pub name: String,
    /// Its type as C writes it.
    pub type_name: String,
    /// Whether it takes an array.
    pub pointer: bool,
    /// The number's or the elements' type, where that is a scalar and does not
    /// depend on a template argument.
    pub scalar: Option<ScalarType>,
}

/// A device variable (`__device__`, `__constant__`, `__managed__`) at file scope.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its element type, where that is a scalar.
    pub scalar: Option<ScalarType>,
    /// Number of elements: 1 for a plain variable.
    pub len: u64,
    /// Line of its name.
    pub line: u32,
}

impl Program {
    /// Parses a source. `name` is what diagnostics call it, `defines` are
    /// object-like macros defined before the first line (`-D NAME=VALUE`), or
    /// function-like ones (`NAME(a,b)=VALUE`).
    ///
    /// Host functions, and whatever no launched kernel uses, are read past.
    ///
    /// # Errors
    ///
    /// A source whose tokens or outline cannot be read, or that has no kernel.
    /// What a *used* kernel needs and the language lacks is told by
    /// [`Program::check`] and [`run`](crate::run).
    pub fn parse(
        source: &str,
        name: &str,
        defines: &[(String, String)],
    ) -> Result<Self, Diagnostic> {
        let _ = (source, name, defines);
        Err(Diagnostic::general("the front end is not linked in"))
    }

    /// Compiles every kernel that is no template.
    ///
    /// # Errors
    ///
    /// The first thing that a kernel needs and the language lacks.
    pub fn check(&self) -> Result<(), Diagnostic> {
        Ok(())
    }

    /// The kernels, in source order.
    pub fn kernels(&self) -> &[Kernel] {
        &[]
    }

    /// The device variables, in source order.
    pub fn variables(&self) -> &[Variable] {
        &[]
    }
}
