//! Specialisations of structs: which one of a template's is meant by its arguments.

use std::collections::HashMap;
use std::sync::Arc;

use super::pattern::{Told, all_same, may_tell};
use super::scope::{Scope, Symbol};
use super::ty::{Qualifiers, StructInfo, Ty};
use super::{Lower, Result};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{Expr, ExprKind, Struct, TemplateArgument, TemplateParameter};
use crate::value::ScalarType;

/// A struct in place of its template, with its own parameters bound.
#[derive(Clone, Debug)]
pub(super) struct SpecialStruct {
    pub record: Arc<Struct>,
    pub scope: Scope,
    /// Where it is declared first, counted in tokens.
    pub declared: usize,
}

/// All specialisations of a template.
#[derive(Debug, Default)]
pub(super) struct Family {
    /// Those for certain arguments, by the name that they give the instance.
    full: HashMap<String, Vec<(Vec<Symbol>, SpecialStruct)>>,
    partial: Vec<Arc<Struct>>,
}

/// What an instance of a template is known by.
pub(super) fn instance_key(name: &str, template: &Struct) -> String {
    format!("{name}@{}:{}", template.pos.line, template.pos.column)
}

impl Lower<'_> {
    /// Refuses a template that has specialisations that are wrong or outside the language.
    pub(super) fn check_specialised(&self, name: &str) -> Result<()> {
        match self.file.unspecialised.iter().find(|(n, _)| **n == *name) {
            Some((_, refusal)) => Err(refusal.clone()),
            None => Ok(()),
        }
    }

    /// Refuses arguments that types don't keep all of, so that it is not known which
    /// specialisation they mean.
    pub(super) fn check_told(&self, name: &str, arguments: &[Symbol]) -> Result<()> {
        let loose = |symbol: &Symbol| matches!(symbol, Symbol::Type(_, q) if q.loose);
        if arguments.iter().any(loose) {
            return self.refuse(format!(
                "references and enumerations as arguments of `{name}`, which has specialisations"
            ));
        }
        Ok(())
    }

    /// The specialisation of a template that these arguments mean, if it isn't the template.
    pub(super) fn special_struct(
        &mut self,
        template: &Arc<Struct>,
        name: &str,
        arguments: &[Symbol],
    ) -> Result<Option<SpecialStruct>> {
        let family = self.families.entry(template.name.clone()).or_default();
        let named = family.full.get(name).into_iter().flatten();
        let mut full = named.filter(|(symbols, _)| all_same(symbols, arguments));
        if let Some((_, special)) = full.next() {
            return Ok(Some(special.clone()));
        }
        let mut fitting = Vec::new();
        for record in family.partial.clone() {
            if let Some(scope) = self.matches(&record, template, arguments)? {
                let declared = record.order;
                fitting.push(SpecialStruct { record, scope, declared });
            }
        }
        match fitting.len() {
            0 | 1 => Ok(fitting.pop()),
            _ => self.most_special(template, name, fitting).map(Some),
        }
    }

    /// Refuses the use of a specialisation that is declared below.
    pub(super) fn check_above(&self, name: &str, declared: usize, line: u32) -> Result<()> {
        let functions = self.frames.iter().rev().filter_map(|frame| frame.function.as_ref());
        // A template's body is instantiated where something else uses it.
        let user = functions.into_iter().find(|f| f.template.is_empty());
        match user.and_then(|f| f.order) {
            Some(order) if order.defined < declared => Err(self.pos.error(format!(
                "`{name}` is used above its specialisation in line {line}: declare that first"
            ))),
            _ => Ok(()),
        }
    }

    /// Looks through the specialisations of a template, each checked against it. Those whose
    /// arguments need the template itself know the ones above them alone.
    pub(super) fn prepare_family(&mut self, template: &Arc<Struct>) -> Result<()> {
        if self.families.contains_key(&template.name) {
            return Ok(());
        }
        self.families.insert(template.name.clone(), Family::default());
        let file = self.file;
        let mut records = file.special_structs.get(&template.name).into_iter().flatten();
        let result = records.try_for_each(|record| match &record.template[..] {
            [] => self.add_full(template, record),
            _ => self.add_partial(template, record),
        });
        if result.is_err() {
            self.families.remove(&template.name);
        }
        result
    }

    fn add_full(&mut self, template: &Arc<Struct>, record: &Arc<Struct>) -> Result<()> {
        let symbols = self.written_arguments(record, template, Scope::default())?;
        let pos = std::mem::replace(&mut self.pos, record.pos);
        self.check_told(&template.name, &symbols)?;
        let name = self.instance_name(&template.name, &symbols);
        if self.struct_ids.contains_key(&instance_key(&name, template)) {
            return Err(self.pos.error(format!("`{name}` is used above its specialisation")));
        }
        self.pos = pos;
        let family = self.families.entry(template.name.clone()).or_default();
        let named = family.full.entry(name.clone()).or_default();
        let known = named.iter_mut().find(|(known, _)| all_same(known, &symbols));
        let special = SpecialStruct {
            record: record.clone(),
            scope: Scope::default(),
            declared: record.order,
        };
        match known {
            None => named.push((symbols, special)),
            Some((_, known)) if !known.record.defined => known.record = record.clone(),
            Some(_) if !record.defined => {}
            Some((_, known)) => {
                let line = known.record.pos.line;
                let error = format!("`{name}` is specialised already, in line {line}");
                return Err(twice(record.pos.error(error)));
            }
        }
        Ok(())
    }

    fn add_partial(&mut self, template: &Arc<Struct>, record: &Arc<Struct>) -> Result<()> {
        check_partial(template, record)?;
        let family = self.families.entry(template.name.clone()).or_default();
        family.partial.push(record.clone());
        Ok(())
    }

    /// The arguments that a specialisation is written with, defaults among them, where its own
    /// parameters are told.
    fn written_arguments(
        &mut self,
        record: &Struct,
        template: &Struct,
        told: Scope,
    ) -> Result<Vec<Symbol>> {
        let outer = std::mem::replace(&mut self.scopes, vec![told.clone()]);
        let pos = std::mem::replace(&mut self.pos, record.pos);
        let written = record.arguments.as_deref().unwrap_or(&[]);
        let bound = self.bind(&template.template, written, Scope::default());
        self.scopes = outer;
        let (_, mut symbols) = bound?;
        self.pos = pos;
        for (symbol, argument) in symbols.iter_mut().zip(written) {
            keep_unknown(symbol, argument, &told);
        }
        Ok(symbols)
    }

    /// What a partial specialisation's parameters are for these arguments; none if it isn't for
    /// them.
    fn matches(
        &mut self,
        record: &Struct,
        template: &Struct,
        arguments: &[Symbol],
    ) -> Result<Option<Scope>> {
        self.descend()?;
        let pos = std::mem::replace(&mut self.pos, record.pos);
        let told = self.told(record, arguments);
        self.depth -= 1;
        let scope = told?;
        self.pos = pos;
        let Some(scope) = scope else { return Ok(None) };
        let written = self.written_arguments(record, template, scope.clone())?;
        Ok(all_same(&written, arguments).then_some(scope))
    }

    /// What these arguments tell of a partial specialisation's parameters, if it may be for them.
    fn told(&mut self, record: &Struct, arguments: &[Symbol]) -> Result<Option<Scope>> {
        let mut told = Told::nothing(&record.template);
        let written = record.arguments.as_deref().unwrap_or(&[]);
        for (pattern, symbol) in written.iter().zip(arguments) {
            if !self.match_argument(&mut told, pattern, symbol)? {
                return Ok(None);
            }
        }
        if told.symbols.iter().any(Option::is_none) {
            return self.refuse("specialisations whose parameters an alias tells");
        }
        Ok(Some(told.scope()))
    }

    /// The one of several partial specialisations that is more special than all others.
    fn most_special(
        &mut self,
        template: &Arc<Struct>,
        name: &str,
        mut fitting: Vec<SpecialStruct>,
    ) -> Result<SpecialStruct> {
        let mut best = 0;
        for i in 1..fitting.len() {
            if self.more_special(template, &fitting[i].record, &fitting[best].record)? {
                best = i;
            }
        }
        for i in 0..fitting.len() {
            let (a, b) = (&fitting[best].record, &fitting[i].record);
            if i == best || self.more_special(template, a, b)? {
                continue;
            }
            let (first, second) = (a.pos.line.min(b.pos.line), a.pos.line.max(b.pos.line));
            return Err(self.pos.error(format!(
                "`{name}` is ambiguous: the specialisations of lines {first} and {second} are for \
                 it, and neither is more special"
            )));
        }
        Ok(fitting.swap_remove(best))
    }

    /// Whether all that a specialisation is for another one is for as well, and not the reverse, or
    /// the other one is its declaration.
    fn more_special(
        &mut self,
        template: &Arc<Struct>,
        a: &Arc<Struct>,
        b: &Arc<Struct>,
    ) -> Result<bool> {
        let defines = a.defined && !b.defined;
        Ok(self.within(template, a, b)? && (defines || !self.within(template, b, a)?))
    }

    /// Whether the arguments of `a` are such as `b` is for, whatever the parameters of `a` are.
    fn within(&mut self, template: &Arc<Struct>, a: &Arc<Struct>, b: &Arc<Struct>) -> Result<bool> {
        let scope = self.unknowns(a)?;
        let unsure = |error: Diagnostic| {
            let refusal = a.pos.outside("which of these specialisations is more special");
            refusal.with_help(format!("the other one is in line {}: {error}", b.pos.line))
        };
        let arguments = self.written_arguments(a, template, scope).map_err(unsure)?;
        Ok(self.matches(b, template, &arguments).map_err(unsure)?.is_some())
    }

    /// Types and values that are no others, as the parameters of a specialisation.
    fn unknowns(&mut self, record: &Arc<Struct>) -> Result<Scope> {
        let key = Arc::as_ptr(record) as usize;
        if let Some(scope) = self.unknowns.get(&key) {
            return Ok(scope.clone());
        }
        let mut scope = Scope::default();
        for parameter in &record.template {
            let name = format!("{} of line {}", parameter.name, record.pos.line);
            let decl = Arc::new(Struct::empty(name.as_str().into(), record.pos));
            self.structs.push(StructInfo::empty(name, decl));
            let number = self.structs.len() - 1;
            let symbol = match &parameter.value {
                None => Symbol::Type(Ty::Struct(number), Qualifiers::default()),
                Some(ty) => {
                    let outer = std::mem::replace(&mut self.scopes, vec![scope.clone()]);
                    let ty = self.resolve(ty);
                    self.scopes = outer;
                    Symbol::Constant(unknown(number), ty?.0.scalar().unwrap_or(ScalarType::I64))
                }
            };
            scope.insert(parameter.name.clone(), symbol);
        }
        self.unknowns.insert(key, scope.clone());
        Ok(scope)
    }

    /// An instance of a template, as C writes it.
    pub(super) fn instance_name(&self, name: &str, arguments: &[Symbol]) -> String {
        let words: Vec<String> = arguments.iter().map(|s| self.describe_symbol(s)).collect();
        format!("{name}<{}>", words.join(", "))
    }
}

/// Refuses a partial specialisation whose arguments are not those of its template.
fn check_partial(template: &Struct, record: &Struct) -> Result<()> {
    let arguments = record.arguments.as_deref().unwrap_or(&[]);
    if arguments.len() > template.template.len() {
        return Err(record.pos.error("too many template arguments"));
    }
    for (i, parameter) in template.template.iter().enumerate() {
        let name = &parameter.name;
        let error = match (arguments.get(i), &parameter.value) {
            (Some(TemplateArgument::Type(_)), Some(_)) => {
                format!("the template argument `{name}` must be a value")
            }
            (Some(TemplateArgument::Value(_)), None) => {
                format!("the template argument `{name}` must be a type")
            }
            (None, _) if parameter.default.is_none() => {
                format!("the template argument `{name}` is missing")
            }
            _ => continue,
        };
        return Err(record.pos.error(error));
    }
    let untold = |p: &&TemplateParameter| !arguments.iter().any(|a| may_tell(a, &p.name));
    if let Some(parameter) = record.template.iter().find(untold) {
        let name = &parameter.name;
        let error = format!("the arguments of this specialisation don't tell `{name}`");
        return Err(record.pos.error(error));
    }
    if let Some(parameter) = record.template.iter().find(|p| p.default.is_some()) {
        let name = &parameter.name;
        let error = format!("the parameter `{name}` of a specialisation has no default");
        return Err(record.pos.error(error));
    }
    Ok(())
}

/// An argument that is a parameter alone has its value, which may be one that no other has.
fn keep_unknown(symbol: &mut Symbol, argument: &TemplateArgument, told: &Scope) {
    if let TemplateArgument::Value(Expr { kind: ExprKind::Name(path), .. }) = argument
        && let Some(known @ Symbol::Constant(_, own)) = path.simple().and_then(|n| told.get(n))
        && matches!(symbol, Symbol::Constant(_, ty) if ty == own)
    {
        *symbol = known.clone();
    }
}

/// A value that none of 32 bits is, and of 64 bits hardly one.
fn unknown(number: usize) -> u64 {
    let value = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    value >> 2 | 1 << 63
}

/// A word of what the language doesn't tell apart.
pub(super) fn twice(error: Diagnostic) -> Diagnostic {
    error.with_help("here `long` is `long long`, and `char` is `signed char`")
}
