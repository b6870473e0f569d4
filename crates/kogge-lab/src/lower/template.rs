//! Templates: parameters bound to arguments, and the instances of structs.

use std::sync::Arc;

use super::layout::INCOMPLETE;
use super::scope::{Scope, Symbol};
use super::specialise::instance_key;
use super::ty::{Qualifiers, StructInfo, Ty};
use super::value::Place;
use super::{Lower, Result};
use crate::lang::ast::{Struct, TemplateArgument, TemplateParameter};
use crate::machine::alu::canonical;
use crate::value::ScalarType;

impl Lower<'_> {
    /// Template parameters bound to arguments or their defaults.
    pub(super) fn bind(
        &mut self,
        template: &[TemplateParameter],
        arguments: &[TemplateArgument],
        mut scope: Scope,
    ) -> Result<(Scope, Vec<Symbol>)> {
        if arguments.len() > template.len() {
            return Err(self.pos.error("too many template arguments"));
        }
        let mut symbols = Vec::new();
        for (i, parameter) in template.iter().enumerate() {
            let symbol = match (arguments.get(i), &parameter.default) {
                (Some(argument), _) => self.template_symbol(parameter, argument)?,
                (None, Some(default)) => {
                    self.scopes.push(scope.clone());
                    let symbol = self.template_symbol(parameter, default);
                    self.scopes.pop();
                    symbol?
                }
                (None, None) => {
                    return Err(self
                        .pos
                        .error(format!("the template argument `{}` is missing", parameter.name)));
                }
            };
            symbols.push(symbol.clone());
            scope.insert(parameter.name.clone(), symbol);
        }
        Ok((scope, symbols))
    }

    pub(super) fn template_symbol(
        &mut self,
        parameter: &TemplateParameter,
        argument: &TemplateArgument,
    ) -> Result<Symbol> {
        match (&parameter.value, argument) {
            (None, TemplateArgument::Type(ty)) => {
                let (ty, qualifiers) = self.resolve(ty)?;
                Ok(Symbol::Type(ty, qualifiers))
            }
            (Some(ty), TemplateArgument::Value(e)) => {
                let ty = match self.resolve(ty)?.0 {
                    Ty::Scalar(s) => s,
                    _ => ScalarType::I64,
                };
                let value = self.constant(e)?;
                Ok(Symbol::Constant(canonical(ty, value), ty))
            }
            (None, TemplateArgument::Value(_)) => Err(self
                .pos
                .error(format!("the template argument `{}` must be a type", parameter.name))),
            (Some(_), TemplateArgument::Type(_)) => Err(self
                .pos
                .error(format!("the template argument `{}` must be a value", parameter.name))),
        }
    }

    /// The struct of a declaration with these template arguments.
    pub(super) fn instantiate(
        &mut self,
        decl: &Arc<Struct>,
        arguments: Option<&[TemplateArgument]>,
    ) -> Result<Ty> {
        // Within the struct its name alone means this instance.
        if arguments.is_none()
            && !decl.template.is_empty()
            && let Some(Symbol::Type(ty, _)) = self.lookup(&decl.name)
        {
            return Ok(ty.clone());
        }
        self.check_specialised(&decl.name)?;
        let arguments = arguments.unwrap_or(&[]);
        let (scope, symbols) = self.bind(&decl.template, arguments, Scope::default())?;
        let name = match &symbols[..] {
            [] => decl.name.to_string(),
            _ => self.instance_name(&decl.name, &symbols),
        };
        let is_special = self.file.special_structs.contains_key(&decl.name);
        if is_special {
            self.check_told(&decl.name, &symbols)?;
            self.prepare_family(decl)?;
        }
        let key = instance_key(&name, decl);
        if let Some(known) = self.known_instance(&key, &name)? {
            return Ok(known);
        }
        let special = if is_special { self.special_struct(decl, &name, &symbols)? } else { None };
        if let Some(known) = self.known_instance(&key, &name)? {
            return Ok(known);
        }
        let id = self.structs.len();
        let (decl, scope) = match &special {
            Some(special) => {
                let (declared, line) = (special.declared, special.record.pos.line);
                self.check_above(&name, declared, line)?;
                self.declared_special.insert(id, (declared, line));
                (&special.record, special.scope.clone())
            }
            None => (decl, scope),
        };
        if !decl.defined {
            return Err(self.pos.error(format!("`{name}` is declared, but not defined")));
        }
        self.struct_ids.insert(key.clone(), id);
        let made = self.new_struct(name, decl, scope, symbols);
        if made.is_err() {
            self.struct_ids.remove(&key);
        }
        made
    }

    /// An instance that there is already.
    fn known_instance(&self, key: &str, name: &str) -> Result<Option<Ty>> {
        let Some(&id) = self.struct_ids.get(key) else { return Ok(None) };
        if let Some(&(declared, line)) = self.declared_special.get(&id) {
            self.check_above(name, declared, line)?;
        }
        Ok(Some(Ty::Struct(id)))
    }

    /// A struct declared in a function: it sees the types and constants around it.
    pub(super) fn local_struct(&mut self, decl: &Arc<Struct>) -> Result<Ty> {
        let mut visible = Scope::default();
        for (name, symbol) in self.scopes.iter().flat_map(Scope::iter) {
            let symbol = match symbol {
                Symbol::Variable(Place { ty: Ty::Scalar(ty), .. }, Some(value)) => {
                    Symbol::Constant(*value, *ty)
                }
                symbol => symbol.clone(),
            };
            if !matches!(symbol, Symbol::Variable(..)) {
                visible.insert(name.clone(), symbol);
            }
        }
        self.new_struct(decl.name.to_string(), decl, visible, Vec::new())
    }

    pub(super) fn new_struct(
        &mut self,
        name: String,
        decl: &Arc<Struct>,
        mut scope: Scope,
        arguments: Vec<Symbol>,
    ) -> Result<Ty> {
        self.descend()?;
        let id = self.structs.len();
        scope.insert(decl.name.clone(), Symbol::Type(Ty::Struct(id), Qualifiers::default()));
        self.structs.push(StructInfo {
            size: INCOMPLETE,
            in_memory: decl.union,
            scope,
            arguments,
            ..StructInfo::empty(name, decl.clone())
        });
        let outer = std::mem::take(&mut self.scopes);
        let result = self.lay_out(id, decl);
        self.scopes = outer;
        self.depth -= 1;
        result?;
        Ok(Ty::Struct(id))
    }
}
