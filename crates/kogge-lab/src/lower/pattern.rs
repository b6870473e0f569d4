//! Patterns: what types and values tell of the template parameters that a specialisation, or the
//! template of one, is written with.

use super::scope::{Scope, Symbol};
use super::ty::{Qualifiers, Ty};
use super::{Lower, Result};
use crate::lang::ast::{Expr, ExprKind, Path, TemplateArgument, TemplateParameter, TypeExpr};
use crate::value::ScalarType;

/// Template parameters, as far as they are told.
pub(super) struct Told<'t> {
    template: &'t [TemplateParameter],
    pub symbols: Vec<Option<Symbol>>,
}

impl<'t> Told<'t> {
    pub(super) fn nothing(template: &'t [TemplateParameter]) -> Self {
        Self { template, symbols: vec![None; template.len()] }
    }

    fn parameter(&self, path: &Path, is_value: bool) -> Option<usize> {
        let name = path.simple()?;
        self.template.iter().position(|p| p.name == *name && p.value.is_some() == is_value)
    }

    /// Notes what a parameter is; false if it was told to be something else.
    fn tell(&mut self, i: usize, symbol: Symbol) -> bool {
        match &self.symbols[i] {
            Some(known) => same(known, &symbol),
            None => {
                self.symbols[i] = Some(symbol);
                true
            }
        }
    }

    /// The parameters that are told, by name.
    pub(super) fn scope(&self) -> Scope {
        let mut scope = Scope::default();
        for (parameter, symbol) in self.template.iter().zip(&self.symbols) {
            if let Some(symbol) = symbol {
                scope.insert(parameter.name.clone(), symbol.clone());
            }
        }
        scope
    }
}

/// Whether two template arguments of one parameter are the same.
pub(super) fn same(a: &Symbol, b: &Symbol) -> bool {
    match (a, b) {
        (Symbol::Type(a, p), Symbol::Type(b, q)) => a == b && p == q,
        (Symbol::Constant(a, _), Symbol::Constant(b, _)) => a == b,
        _ => false,
    }
}

pub(super) fn all_same(a: &[Symbol], b: &[Symbol]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
}

/// Whether an argument that is written so may tell a parameter of this name.
pub(super) fn may_tell(pattern: &TemplateArgument, name: &str) -> bool {
    match pattern {
        TemplateArgument::Type(ty) => type_may_tell(ty, name),
        TemplateArgument::Value(value) => is_name(value, name),
    }
}

fn type_may_tell(pattern: &TypeExpr, name: &str) -> bool {
    match pattern {
        TypeExpr::Const(inner)
        | TypeExpr::Volatile(inner)
        | TypeExpr::Pointer(inner)
        | TypeExpr::Reference(inner) => type_may_tell(inner, name),
        TypeExpr::Array(inner, size) => {
            type_may_tell(inner, name) || size.as_ref().is_some_and(|size| is_name(size, name))
        }
        TypeExpr::Named(path) => match &path.parts[..] {
            [part] => match &part.arguments {
                Some(arguments) => arguments.iter().any(|a| may_tell(a, name)),
                None => *part.name == *name,
            },
            _ => false,
        },
        _ => false,
    }
}

fn is_name(value: &Expr, name: &str) -> bool {
    matches!(&value.kind, ExprKind::Name(path) if path.simple().is_some_and(|n| **n == *name))
}

impl Lower<'_> {
    /// Matches a template argument; false if it can't be one of the pattern. What of a pattern
    /// tells no parameter is not looked at: that is for who puts the parameters in.
    pub(super) fn match_argument(
        &mut self,
        told: &mut Told<'_>,
        pattern: &TemplateArgument,
        symbol: &Symbol,
    ) -> Result<bool> {
        match (pattern, symbol) {
            (TemplateArgument::Type(pattern), Symbol::Type(ty, qualifiers)) => {
                self.match_type(told, pattern, ty, *qualifiers)
            }
            (TemplateArgument::Value(value), Symbol::Constant(constant, ty)) => {
                self.match_value(told, value, *constant, Some(*ty))
            }
            _ => Ok(true),
        }
    }

    /// The same of a value, and of its type unless any may be the parameter's.
    fn match_value(
        &mut self,
        told: &mut Told<'_>,
        pattern: &Expr,
        value: u64,
        ty: Option<ScalarType>,
    ) -> Result<bool> {
        let ExprKind::Name(path) = &pattern.kind else { return Ok(true) };
        let Some(i) = told.parameter(path, true) else { return Ok(true) };
        let Some(written) = &told.template[i].value else { return Ok(true) };
        let outer = std::mem::replace(&mut self.scopes, vec![told.scope()]);
        let own = self.resolve(written);
        self.scopes = outer;
        let own = own?.0.scalar().unwrap_or(ScalarType::I64);
        if ty.is_some_and(|ty| ty != own) {
            return Ok(false);
        }
        Ok(told.tell(i, Symbol::Constant(value, own)))
    }

    /// The same of a type.
    pub(super) fn match_type(
        &mut self,
        told: &mut Told<'_>,
        pattern: &TypeExpr,
        ty: &Ty,
        qualifiers: Qualifiers,
    ) -> Result<bool> {
        match (pattern, ty) {
            (TypeExpr::Const(inner), _) => {
                let rest = Qualifiers { constant: false, ..qualifiers };
                Ok(qualifiers.constant && self.match_type(told, inner, ty, rest)?)
            }
            (TypeExpr::Volatile(inner), _) => {
                let rest = Qualifiers { volatile: false, ..qualifiers };
                Ok(qualifiers.volatile && self.match_type(told, inner, ty, rest)?)
            }
            (TypeExpr::Pointer(inner), Ty::Pointer(to)) => {
                let of = Qualifiers { loose: qualifiers.loose, ..to.qualifiers };
                let plain = !qualifiers.constant && !qualifiers.volatile;
                Ok(plain && self.match_type(told, inner, &to.ty, of)?)
            }
            (TypeExpr::Array(inner, Some(size)), Ty::Array(element, n)) => {
                if *n == 0 {
                    return self.refuse("arrays without a size as template arguments");
                }
                Ok(self.match_type(told, inner, element, qualifiers)?
                    && self.match_value(told, size, *n, None)?)
            }
            (TypeExpr::Pointer(_) | TypeExpr::Array(..), _) => Ok(false),
            (TypeExpr::Reference(_), _) => self.refuse("specialisations for references"),
            (TypeExpr::Named(path), _) => match told.parameter(path, false) {
                Some(i) => Ok(told.tell(i, Symbol::Type(ty.clone(), qualifiers))),
                None => self.match_instance(told, path, ty),
            },
            _ => Ok(true),
        }
    }

    /// The same of `S<T>` for a template `S` of structs.
    fn match_instance(&mut self, told: &mut Told<'_>, path: &Path, ty: &Ty) -> Result<bool> {
        let [part] = &path.parts[..] else { return Ok(true) };
        let Some(arguments) = &part.arguments else { return Ok(true) };
        if !self.file.structs.iter().any(|s| s.name == part.name) {
            return Ok(true);
        }
        let Ty::Struct(id) = *ty else { return Ok(false) };
        if self.structs[id].decl.name != part.name {
            return Ok(false);
        }
        let symbols = self.structs[id].arguments.clone();
        for (pattern, symbol) in arguments.iter().zip(&symbols) {
            if !self.match_argument(told, pattern, symbol)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
