//! Specialisations of functions: each is that of one template, for certain arguments, and is
//! called in its place.

use std::sync::Arc;

use super::argument::Argument;
use super::overload::{Chosen, special};
use super::pattern::{Told, all_same};
use super::scope::Symbol;
use super::specialise::twice;
use super::ty::{Qualifiers, Ty};
use super::{Lower, Result};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{self, Function, Parameter, TemplateArgument, TypeExpr};

/// A specialisation and what it is one of.
pub(super) struct SpecialFunction {
    template: Arc<Function>,
    arguments: Vec<Symbol>,
    function: Arc<Function>,
    /// Where it is declared first, counted in tokens.
    declared: usize,
}

/// The types of a function as it is declared.
struct Declared {
    result: Option<Ty>,
    parameters: Vec<(Ty, Qualifiers)>,
}

impl Lower<'_> {
    /// The function to call where overloads were resolved: a specialisation of what was chosen.
    pub(super) fn specialised(&mut self, chosen: &Chosen) -> Result<Option<Arc<Function>>> {
        let template = &chosen.function;
        let name = template.name.clone();
        if template.template.is_empty() || !self.file.special_functions.contains_key(&name) {
            return Ok(None);
        }
        let all = self.special_functions(&name)?;
        let of_this = |s: &&SpecialFunction| Arc::ptr_eq(&s.template, template);
        if all.iter().any(|s| of_this(&s)) {
            self.check_told(&name, &chosen.arguments)?;
        }
        let mut meant = all.iter().filter(of_this);
        let meant = meant.find(|s| all_same(&s.arguments, &chosen.arguments));
        if let Some(meant) = meant {
            let name = self.instance_name(&name, &chosen.arguments);
            self.check_above(&name, meant.declared, meant.function.pos.line)?;
        }
        let function = meant.map_or(template, |meant| &meant.function);
        if !function.defined {
            let name = self.instance_name(&name, &chosen.arguments);
            return Err(self.pos.error(format!("`{name}` is declared, but not defined")));
        }
        Ok(meant.map(|meant| meant.function.clone()))
    }

    /// Marks the template arguments of a call of which more is known in C++ than here: `T &` takes
    /// a `const` variable as such, `T &&` any variable.
    pub(super) fn loosen(&self, chosen: &mut Chosen, arguments: &[Argument]) {
        let f = chosen.function.clone();
        for (parameter, argument) in f.parameters.iter().zip(arguments) {
            let TypeExpr::Reference(to) = &parameter.ty else { continue };
            let TypeExpr::Named(path) = &**to else { continue };
            let name = path.simple();
            let of_name = |p: &ast::TemplateParameter| Some(&p.name) == name && p.value.is_none();
            let Some(i) = f.template.iter().position(of_name) else { continue };
            let qualified = |place: &super::Place| place.constant || place.volatile;
            let loose = match &argument.place {
                Some(place) => parameter.takes_values || !parameter.constant && qualified(place),
                None => !argument.written && !parameter.constant,
            };
            if let (true, Some(Symbol::Type(ty, qualifiers))) =
                (loose && i >= chosen.explicit, chosen.arguments.get(i))
            {
                let symbol = Symbol::Type(ty.clone(), qualifiers.join(Qualifiers::LOOSE));
                chosen.scope.insert(f.template[i].name.clone(), symbol.clone());
                chosen.arguments[i] = symbol;
            }
        }
    }

    /// All specialisations of functions of a name, each with what it is one of.
    fn special_functions(&mut self, name: &Arc<str>) -> Result<Arc<[SpecialFunction]>> {
        if let Some(known) = self.special_functions.get(name) {
            return Ok(known.clone());
        }
        let file = self.file;
        let mut all: Vec<SpecialFunction> = Vec::new();
        let (outer, pos) = (std::mem::take(&mut self.scopes), self.pos);
        for written in file.special_functions.get(name).into_iter().flatten() {
            self.pos = written.function.pos;
            let found = self.special_function(written)?;
            let same = |s: &&mut SpecialFunction| {
                Arc::ptr_eq(&s.template, &found.template)
                    && all_same(&s.arguments, &found.arguments)
            };
            match all.iter_mut().find(same) {
                None => all.push(found),
                Some(known) if !known.function.defined => known.function = found.function,
                Some(_) if !found.function.defined => {}
                Some(known) => {
                    let line = known.function.pos.line;
                    let name = self.instance_name(name, &found.arguments);
                    let error = format!("`{name}` is specialised already, in line {line}");
                    return Err(twice(self.pos.error(error)));
                }
            }
        }
        (self.scopes, self.pos) = (outer, pos);
        let all: Arc<[SpecialFunction]> = all.into();
        self.special_functions.insert(name.clone(), all.clone());
        Ok(all)
    }

    /// What a specialisation is one of: the most special template that has such a one.
    fn special_function(&mut self, written: &ast::SpecialFunction) -> Result<SpecialFunction> {
        let function = written.function.clone();
        let declared = function.order.map_or(0, |order| order.declared);
        let types = self.declared(&function)?;
        let named = self.named.get(&function.name).cloned().unwrap_or_default();
        let above = |f: &Arc<Function>| f.order.is_some_and(|order| order.declared < declared);
        let templates: Vec<_> = named.into_iter().filter(|f| !f.template.is_empty()).collect();
        let mut found: Vec<(Arc<Function>, Vec<Symbol>)> = Vec::new();
        for template in templates.iter().filter(|f| above(f)) {
            if let Some(arguments) = self.arguments_of(template, written, &types)? {
                found.push((template.clone(), arguments));
            }
        }
        let most = found.iter().map(|(f, _)| special(f)).max();
        found.retain(|(f, _)| Some(special(f)) == most);
        match found.len() {
            0 => Err(self.no_such(&templates, written)),
            1 => {
                let (template, arguments) = found.swap_remove(0);
                self.check_told(&function.name, &arguments)?;
                Ok(SpecialFunction { template, arguments, function, declared })
            }
            _ => Err(self.pos.error(format!(
                "this specialisation is ambiguous: the templates of lines {} and {} have it",
                found[0].0.pos.line, found[1].0.pos.line
            ))),
        }
    }

    /// Why nothing is specialised.
    fn no_such(&self, templates: &[Arc<Function>], written: &ast::SpecialFunction) -> Diagnostic {
        let name = &written.function.name;
        let (own, given) = (&written.function.parameters, written.arguments.len());
        // A template's `T` may be a reference.
        let takes_reference = |f: &Arc<Function>| {
            let mut pairs = f.parameters.iter().zip(own);
            pairs.any(|(p, own)| reference(own).0 && is_bare(f, p, given))
        };
        if templates.iter().any(takes_reference) {
            return self.pos.outside("specialisations for references");
        }
        if let [template] = templates {
            if written.arguments.len() > template.template.len() {
                return self.pos.error("too many template arguments");
            }
            let wrong = template.template.iter().zip(&written.arguments).find(|(p, a)| !fits(p, a));
            if let Some((parameter, _)) = wrong {
                let kind = if parameter.value.is_none() { "type" } else { "value" };
                let parameter = &parameter.name;
                let error = format!("the template argument `{parameter}` must be a {kind}");
                return self.pos.error(error);
            }
        }
        self.pos.error(format!(
            "no template `{name}` that is declared above has a specialisation of these types"
        ))
    }

    /// The arguments with which a template has the types of a specialisation, if there are such.
    fn arguments_of(
        &mut self,
        template: &Arc<Function>,
        written: &ast::SpecialFunction,
        types: &Declared,
    ) -> Result<Option<Vec<Symbol>>> {
        let (own, given) = (&written.function.parameters, &written.arguments);
        let kinds = given.len() <= template.template.len()
            && template.template.iter().zip(given).all(|(p, a)| fits(p, a));
        let is_reference = |f: &Function| matches!(f.result, TypeExpr::Reference(_));
        let shapes = is_reference(template) == is_reference(&written.function)
            && own.len() == template.parameters.len()
            && own.iter().zip(&template.parameters).all(|(a, b)| reference(a) == reference(b));
        if !kinds || !shapes {
            return Ok(None);
        }
        let mut told = Told::nothing(&template.template);
        for (i, argument) in given.iter().enumerate() {
            told.symbols[i] = Some(self.template_symbol(&template.template[i], argument)?);
        }
        for (parameter, (ty, qualifiers)) in template.parameters.iter().zip(&types.parameters) {
            if !self.match_parameter(&mut told, parameter, ty, *qualifiers)? {
                return Ok(None);
            }
        }
        if let TypeExpr::Pointer(_) | TypeExpr::Named(_) = template.result
            && let Some(result) = &types.result
        {
            self.match_type(&mut told, &template.result, result, Qualifiers::default())?;
        }
        self.verified(template, &told, types)
    }

    /// Matches a parameter of a template with that of a specialisation.
    fn match_parameter(
        &mut self,
        told: &mut Told<'_>,
        parameter: &Parameter,
        ty: &Ty,
        qualifiers: Qualifiers,
    ) -> Result<bool> {
        let TypeExpr::Reference(to) = &parameter.ty else {
            return self.match_type(told, &parameter.ty, ty, qualifiers);
        };
        if parameter.constant && !qualifiers.constant {
            return Ok(false);
        }
        let constant = qualifiers.constant && !parameter.constant;
        self.match_type(told, to, ty, Qualifiers { constant, ..qualifiers })
    }

    /// All template arguments, if the template has just these types with them.
    fn verified(
        &mut self,
        template: &Arc<Function>,
        told: &Told<'_>,
        types: &Declared,
    ) -> Result<Option<Vec<Symbol>>> {
        let bound = self.with_defaults(template, told.symbols.clone(), told.scope())?;
        let Some((scope, arguments)) = bound else { return Ok(None) };
        self.scopes.push(scope);
        let own = self.declared(template);
        self.scopes.pop();
        let own = own?;
        let same = own.result == types.result && own.parameters == types.parameters;
        Ok(same.then_some(arguments))
    }

    /// The types of a function in the present scope: what is said of a parameter itself is not its
    /// type's.
    fn declared(&mut self, f: &Function) -> Result<Declared> {
        let result = match f.result {
            TypeExpr::Auto => None,
            _ => Some(self.resolve(&f.result)?.0),
        };
        let mut parameters = Vec::new();
        for parameter in &f.parameters {
            let (ty, mut qualifiers) = match &parameter.ty {
                TypeExpr::Reference(to) => self.resolve(to)?,
                ty => {
                    let (ty, Qualifiers { loose, .. }) = self.resolve(ty)?;
                    (ty, Qualifiers { loose, ..Qualifiers::default() })
                }
            };
            qualifiers.constant |= reference(parameter).0 && parameter.constant;
            parameters.push((ty, qualifiers));
        }
        Ok(Declared { result, parameters })
    }
}

/// Whether a template argument is of its parameter's kind.
fn fits(parameter: &ast::TemplateParameter, argument: &TemplateArgument) -> bool {
    parameter.value.is_some() == matches!(argument, TemplateArgument::Value(_))
}

/// Whether a parameter's type is a template parameter that no argument is given for.
fn is_bare(f: &Function, parameter: &Parameter, given: usize) -> bool {
    let TypeExpr::Named(path) = &parameter.ty else { return false };
    let index = f.template.iter().position(|p| Some(&p.name) == path.simple());
    index.is_some_and(|i| i >= given)
}

/// Whether a parameter is a reference, and one by `&&`.
fn reference(parameter: &Parameter) -> (bool, bool) {
    let is_reference = matches!(parameter.ty, TypeExpr::Reference(_));
    (is_reference, is_reference && parameter.takes_values)
}
