//! A parsed source: its kernels, their parameters, its device variables.

use std::collections::HashMap;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::lang::ast::{File, Storage};
use crate::lang::{parse_file, parse_kernel_name, preprocess};
use crate::lower::{complete_name, full_name, globals, lower_kernel, parameters};
use crate::machine::ins::{Compiled, Dynamic, Global};
use crate::value::ScalarType;

/// A parsed CUDA C source.
#[derive(Clone, Debug)]
pub struct Program {
    name: String,
    file: Arc<File>,
    kernels: Vec<Kernel>,
    variables: Vec<Variable>,
    globals: Vec<Global>,
}

/// A `__global__` function.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// What a launch calls it: its name, and behind that the types of its parameters if others
    /// have the name as well (`add(int *, int)`).
    pub full_name: String,
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
    /// Whether a launch may leave it out.
    pub default: bool,
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

impl Kernel {
    /// Whether a launch may give so many arguments.
    pub(crate) fn takes(&self, arguments: usize) -> bool {
        (self.required()..=self.parameters.len()).contains(&arguments)
    }

    /// How many arguments it takes, in words.
    pub(crate) fn argument_counts(&self) -> String {
        match (self.required(), self.parameters.len()) {
            (least, most) if least < most => format!("{least} to {most} arguments"),
            (_, most) => arguments(most),
        }
    }

    fn required(&self) -> usize {
        self.parameters.iter().filter(|parameter| !parameter.default).count()
    }
}

impl Program {
    /// Parses a source. `name` is what diagnostics call it, `defines` are
    /// object-like macros defined before the first line (`-D NAME=VALUE`), or
    /// function-like ones (`NAME(a,b)=VALUE`).
    ///
    /// Host functions, and whatever no launched kernel uses, are read past.
    /// Linear in the length of the source after macro expansion, which is
    /// bounded.
    ///
    /// # Errors
    ///
    /// A source whose tokens or outline cannot be read, or that has no kernel.
    /// What a *used* kernel needs and the language lacks is told by
    /// [`Program::check`] and [`run`](fn@crate::run).
    pub fn parse(
        source: &str,
        name: &str,
        defines: &[(String, String)],
    ) -> Result<Self, Diagnostic> {
        let in_source = |e: Diagnostic| e.in_source(name);
        let preprocessed = preprocess(source, defines).map_err(in_source)?;
        let file = parse_file(preprocessed.tokens, preprocessed.unread).map_err(in_source)?;
        let mut namesakes: HashMap<&str, u32> = HashMap::new();
        for f in file.functions.iter().filter(|f| f.kernel) {
            *namesakes.entry(&f.name).or_default() += 1;
        }
        let kernels: Vec<Kernel> = file
            .functions
            .iter()
            .filter(|f| f.kernel)
            .map(|f| Kernel {
                name: f.name.to_string(),
                full_name: full_name(f, namesakes[&*f.name] > 1),
                template: f.template.iter().map(|p| p.name.to_string()).collect(),
                parameters: parameters(&file, f),
                line: f.pos.line,
            })
            .collect();
        if kernels.is_empty() {
            return Err(no_kernel(&file).in_source(name));
        }
        let globals = globals(&file);
        let variables = variables(&file, &globals);
        Ok(Self { name: name.to_owned(), file: Arc::new(file), kernels, variables, globals })
    }

    /// Compiles every kernel that is no template.
    ///
    /// # Errors
    ///
    /// The first thing that a kernel needs and the language lacks.
    pub fn check(&self) -> Result<(), Diagnostic> {
        let plain = self.kernels.iter().filter(|k| k.template.is_empty());
        let compiled: Result<Vec<_>, _> =
            plain.map(|kernel| self.compile(&kernel.full_name, "combine")).collect();
        self.check_dynamic(compiled?.iter())
    }

    /// Refuses `extern __shared__` arrays of one name and different types: that is one variable.
    pub(crate) fn check_dynamic<'a>(
        &self,
        kernels: impl Iterator<Item = &'a Compiled>,
    ) -> Result<(), Diagnostic> {
        let mut known: HashMap<&str, &Dynamic> = HashMap::new();
        for kernel in kernels {
            for dynamic in &kernel.dynamic {
                let name = kernel.shared[dynamic.object].name.as_str();
                let first = *known.entry(name).or_insert(dynamic);
                if first.ty == dynamic.ty {
                    continue;
                }
                let (here, there, line) = (&dynamic.ty, &first.ty, first.pos.line);
                let error = format!(
                    "the dynamic shared array `{name}` is one of `{here}` here and one of `{there}` \
                     in line {line}, and the two are one variable"
                );
                let help = "name them apart; a template casts one of `unsigned char` to `T *`";
                return Err(dynamic.pos.error(error).with_help(help).in_source(&self.name));
            }
        }
        Ok(())
    }

    /// The kernels, in source order.
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// Whether a kernel, named as a launch names it, has a barrier of the whole grid: it must be
    /// launched cooperatively then.
    ///
    /// # Errors
    ///
    /// As [`run`](fn@crate::run): no such kernel, or one outside the language.
    pub fn has_grid_barrier(&self, kernel: &str) -> Result<bool, Diagnostic> {
        Ok(self.compile(kernel, "combine")?.grid_sync.is_some())
    }

    /// The device variables, in source order; those whose type the language
    /// lacks are left out.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Compiles a kernel, named with its template arguments if it has any.
    pub(crate) fn compile(&self, name: &str, operator: &str) -> Result<Compiled, Diagnostic> {
        let path = parse_kernel_name(name, &self.file)?;
        lower_kernel(&self.file, &path, operator, &self.globals)
            .map_err(|e| e.in_source(&self.name))
    }

    /// A kernel's name with the template arguments that the arrays of a launch tell.
    pub(crate) fn complete_name(
        &self,
        name: &str,
        arrays: &[Option<ScalarType>],
    ) -> Result<String, Diagnostic> {
        let path = parse_kernel_name(name, &self.file)?;
        complete_name(&self.file, &path, arrays).map_err(|e| e.in_source(&self.name))
    }

    pub(crate) fn globals(&self) -> &[Global] {
        &self.globals
    }
}

/// So many arguments, in words.
pub(crate) fn arguments(count: usize) -> String {
    format!("{count} argument{}", if count == 1 { "" } else { "s" })
}

fn variables(file: &File, globals: &[Global]) -> Vec<Variable> {
    let device = file.variables.iter().filter(|v| v.storage == Storage::Device);
    let found = device.filter_map(|v| {
        let g = globals.iter().find(|g| g.name == *v.name)?;
        Some(Variable {
            name: g.name.clone(),
            scalar: g.uniform.then_some(g.ty),
            len: g.bytes / g.ty.size() as u64,
            line: v.pos.line,
        })
    });
    found.collect()
}

/// Why a source has no kernel: it has none, or the one it has was read past.
fn no_kernel(file: &File) -> Diagnostic {
    let skipped = file.skipped.iter().find(|(names, _)| names.iter().any(|n| &**n == "__global__"));
    match skipped.or(file.skipped.first()) {
        Some((_, reason)) => reason.clone(),
        None => Diagnostic::general("the source has no kernel (`__global__` function)"),
    }
}
