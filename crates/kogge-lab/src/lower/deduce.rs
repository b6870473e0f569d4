//! Template arguments that a launch leaves out: the arrays that it gives tell them, or they have
//! defaults.

use std::sync::Arc;

use super::scope::Scope;
use super::ty::{Qualifiers, Ty};
use super::{Lower, Result};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{File, Function, Path};
use crate::value::ScalarType;

/// What a launch calls a kernel with all its template arguments, from what the host calls it and
/// the elements of the arrays among its arguments. Numbers tell nothing: the host's have no type.
pub(crate) fn complete_name(
    file: &File,
    (path, types): &(Path, String),
    arrays: &[Option<ScalarType>],
) -> Result<String> {
    let mut lower = Lower::new(file, "", &[]);
    let kernel = lower.named_kernel(path, types)?;
    lower.pos = kernel.pos;
    let words = lower.template_arguments(&kernel, path, arrays)?;
    Ok(format!("{}<{}>{types}", kernel.name, words.join(", ")))
}

impl Lower<'_> {
    fn template_arguments(
        &mut self,
        kernel: &Arc<Function>,
        path: &Path,
        arrays: &[Option<ScalarType>],
    ) -> Result<Vec<String>> {
        let explicit = path.parts.last().and_then(|p| p.arguments.as_deref()).unwrap_or(&[]);
        let Some(mut bound) = self.explicit(kernel, explicit)? else {
            return Err(self.pos.error("too many template arguments"));
        };
        for (parameter, element) in kernel.parameters.iter().zip(arrays) {
            if let Some(element) = element {
                let ty = Ty::pointer(Ty::Scalar(*element), Qualifiers::default());
                self.deduce(kernel, &parameter.ty, &ty, &mut bound);
            }
        }
        if let Some(i) = bound.conflict {
            return Err(untold(kernel, i, "arrays of different types for"));
        }
        let missing =
            |i: &usize| bound.symbols[*i].is_none() && kernel.template[*i].default.is_none();
        if let Some(i) = (0..kernel.template.len()).find(missing) {
            return Err(untold(kernel, i, "no array that tells"));
        }
        let bound = self.with_defaults(kernel, bound.symbols, Scope::default())?;
        let (_, symbols) = bound.unwrap_or_default();
        Ok(symbols.iter().map(|symbol| self.describe_symbol(symbol)).collect())
    }
}

fn untold(kernel: &Function, parameter: usize, given: &str) -> Diagnostic {
    let (name, parameter) = (&kernel.name, &kernel.template[parameter].name);
    let message =
        format!("the launch of `{name}` gives {given} its template argument `{parameter}`");
    let all: Vec<&str> = kernel.template.iter().map(|p| &*p.name).collect();
    let all = all.join(", ");
    Diagnostic::general(message).with_help(format!("name {all} in the launch: {name}<{all}><<<"))
}
