//! Which function a call means: overloads, template arguments, bindings.

use std::sync::Arc;

use super::scope::{Scope, Symbol};
use super::template::type_parameters;
use super::ty::Ty;
use super::value::Val;
use super::{Lower, Result};
use crate::lang::ast::{Function, TemplateArgument, TypeExpr};

/// A function with its template parameters bound.
pub(super) struct Chosen {
    pub function: Arc<Function>,
    pub scope: Scope,
}

impl Lower<'_> {
    /// The best of several functions for these arguments; none if none fits.
    pub(super) fn choose(
        &mut self,
        candidates: &[(Option<usize>, Arc<Function>)],
        explicit: Option<&[TemplateArgument]>,
        arguments: &[Val],
    ) -> Result<Option<Chosen>> {
        let mut best: Option<(u32, Chosen)> = None;
        let mut failure = None;
        for (owner, f) in candidates {
            match self.fit(*owner, f, explicit, arguments) {
                Ok(Some((score, scope))) => {
                    if best.as_ref().is_none_or(|(s, _)| score > *s) {
                        let chosen = Chosen { function: f.clone(), scope };
                        best = Some((score, chosen));
                    }
                }
                Ok(None) => {}
                Err(e) => failure = Some(e),
            }
        }
        match (best, failure) {
            (Some((_, chosen)), _) => Ok(Some(chosen)),
            (None, Some(e)) => Err(e),
            (None, None) => Ok(None),
        }
    }

    /// How well a function fits, with its template parameters bound.
    fn fit(
        &mut self,
        owner: Option<usize>,
        f: &Arc<Function>,
        explicit: Option<&[TemplateArgument]>,
        arguments: &[Val],
    ) -> Result<Option<(u32, Scope)>> {
        let required = f.parameters.iter().filter(|p| p.default.is_none()).count();
        if arguments.len() > f.parameters.len() || arguments.len() < required {
            return Ok(None);
        }
        let outer_scope = owner.map(|id| self.structs[id].scope.clone()).unwrap_or_default();
        let scope = self.bindings(f, explicit, arguments, outer_scope)?;
        let Some(scope) = scope else { return Ok(None) };
        let outer = std::mem::take(&mut self.scopes);
        self.scopes.push(scope.clone());
        let mut score = if f.template.is_empty() { 2 } else { 1 };
        let mut fits = true;
        for (parameter, argument) in f.parameters.iter().zip(arguments) {
            match self.resolve(&parameter.ty) {
                Ok((ty, _)) => match self.closeness(&argument.ty, &ty) {
                    Some(s) => score += s,
                    None => fits = false,
                },
                Err(_) => fits = false,
            }
        }
        self.scopes = outer;
        Ok(fits.then_some((score, scope)))
    }

    fn closeness(&self, from: &Ty, to: &Ty) -> Option<u32> {
        match (from, to) {
            _ if from == to => Some(16),
            (Ty::Scalar(a), Ty::Scalar(b)) if super::common(*a, *a) == *b => Some(8),
            (Ty::Scalar(_), Ty::Scalar(_)) => Some(4),
            (Ty::Array(element, _), Ty::Pointer(to)) if **element == to.ty => Some(16),
            (Ty::Array(..), Ty::Pointer(_)) => Some(2),
            (Ty::Pointer(_), Ty::Pointer(_) | Ty::Scalar(_)) => Some(2),
            (Ty::Scalar(_), Ty::Pointer(_)) => Some(1),
            (Ty::Struct(a), Ty::Struct(b)) if self.structs[*a].bases.contains(b) => Some(4),
            (_, Ty::Struct(_)) => Some(1),
            _ => None,
        }
    }

    /// Template parameters from explicit arguments, then from the call's.
    fn bindings(
        &mut self,
        f: &Arc<Function>,
        explicit: Option<&[TemplateArgument]>,
        arguments: &[Val],
        mut scope: Scope,
    ) -> Result<Option<Scope>> {
        if f.template.is_empty() {
            return Ok(explicit.is_none().then_some(scope));
        }
        let explicit = explicit.unwrap_or(&[]);
        if explicit.len() > f.template.len() {
            return Ok(None);
        }
        let mut bound: Vec<Option<Symbol>> = vec![None; f.template.len()];
        for (i, argument) in explicit.iter().enumerate() {
            bound[i] = Some(self.template_symbol(&f.template[i], argument)?);
        }
        for (parameter, argument) in f.parameters.iter().zip(arguments) {
            self.deduce(f, &parameter.ty, &argument.ty, &mut bound);
        }
        for (i, parameter) in f.template.iter().enumerate() {
            let symbol = match (bound[i].take(), &parameter.default) {
                (Some(symbol), _) => symbol,
                (None, Some(default)) => {
                    self.scopes.push(scope.clone());
                    let symbol = self.template_symbol(parameter, default);
                    self.scopes.pop();
                    symbol?
                }
                (None, None) => return Ok(None),
            };
            scope.insert(parameter.name.clone(), symbol);
        }
        Ok(Some(scope))
    }

    /// Matches a parameter's type with an argument's.
    fn deduce(&self, f: &Function, ty: &TypeExpr, from: &Ty, bound: &mut [Option<Symbol>]) {
        match (ty, from) {
            (TypeExpr::Reference(inner), from) => match (&**inner, from) {
                (TypeExpr::Array(element, size), Ty::Array(from, n)) => {
                    self.deduce(f, element, from, bound);
                    if let Some(size) = size {
                        let symbol = Symbol::Constant(*n, crate::value::ScalarType::I32);
                        let argument = TemplateArgument::Value((**size).clone());
                        self.deduce_argument(f, &argument, &symbol, bound);
                    }
                }
                (inner, from) => self.deduce(f, inner, from, bound),
            },
            (TypeExpr::Volatile(inner), from) => self.deduce(f, inner, from, bound),
            (TypeExpr::Pointer(inner), Ty::Array(element, _)) => {
                self.deduce(f, inner, element, bound);
            }
            (TypeExpr::Named(_), Ty::Array(element, _)) => {
                // Passed by value, an array is a pointer.
                let pointer = Ty::pointer((**element).clone(), false);
                self.deduce(f, ty, &pointer, bound);
            }
            (TypeExpr::Pointer(inner), Ty::Pointer(to)) => self.deduce(f, inner, &to.ty, bound),
            (TypeExpr::Named(path), from) => {
                if let Some(name) = path.simple() {
                    let index = f.template.iter().position(|p| p.name == *name);
                    let is_type = type_parameters(f).any(|n| n == name);
                    if let (Some(i), true) = (index, is_type)
                        && bound[i].is_none()
                    {
                        bound[i] = Some(Symbol::Type(from.clone(), false));
                    }
                    return;
                }
                let (Ty::Struct(id), Some(part)) = (from, path.parts.last()) else {
                    return;
                };
                let info = &self.structs[*id];
                if info.decl.name != part.name {
                    return;
                }
                for (argument, symbol) in part.arguments.iter().flatten().zip(&info.arguments) {
                    self.deduce_argument(f, argument, symbol, bound);
                }
            }
            _ => {}
        }
    }

    fn deduce_argument(
        &self,
        f: &Function,
        argument: &TemplateArgument,
        symbol: &Symbol,
        bound: &mut [Option<Symbol>],
    ) {
        let path = match argument {
            TemplateArgument::Type(TypeExpr::Named(path)) => path,
            TemplateArgument::Value(e) => match &e.kind {
                crate::lang::ast::ExprKind::Name(path) => path,
                _ => return,
            },
            TemplateArgument::Type(_) => return,
        };
        let Some(name) = path.simple() else { return };
        if let Some(i) = f.template.iter().position(|p| p.name == *name)
            && bound[i].is_none()
        {
            bound[i] = Some(symbol.clone());
        }
    }
}
