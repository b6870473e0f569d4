//! Calls: what a callee names, a function, a method, or an object that has an
//! `operator()`.

use std::sync::Arc;

use super::argument::Argument;
use super::scope::Symbol;
use super::ty::Ty;
use super::value::{Place, Val};
use super::{Lower, Result};
use crate::lang::ast::{Expr, ExprKind, Function, Part, Path, TemplateArgument, TypeExpr};

impl Lower<'_> {
    pub(super) fn call(&mut self, callee: &Expr, arguments: &[Expr]) -> Result<Val> {
        let pos = self.pos;
        match &callee.kind {
            ExprKind::Name(path) => self.call_name(path, arguments),
            ExprKind::Member { object, part, arrow } => {
                if let Some(group) = self.group_of(object) {
                    return self.group_call(group, &part.name, arguments);
                }
                if let ExprKind::Call(inner, none) = &object.kind
                    && let (ExprKind::Name(path), true) = (&inner.kind, none.is_empty())
                {
                    let known = self.named.contains_key(path.last());
                    if let (Some(group), false) = (Self::group_factory(path.last()), known) {
                        return self.group_call(group, &part.name, arguments);
                    }
                }
                self.call_member(object, part, *arrow, arguments)
            }
            _ => {
                let object = self.rvalue(callee)?;
                self.pos = pos;
                let place = self.materialise(object)?;
                self.call_object(place, arguments)
            }
        }
    }

    fn call_name(&mut self, path: &Path, arguments: &[Expr]) -> Result<Val> {
        let pos = path.pos;
        self.pos = pos;
        let part = match &path.parts[..] {
            [one] => one,
            [owner @ .., method] => return self.call_static(owner, method, path, arguments),
            [] => return Err(pos.error("a call of nothing")),
        };
        if let Some(Symbol::Variable(place, _)) = self.lookup(&part.name) {
            let place = place.clone();
            if let Ty::Group(_) = place.ty {
                return Err(pos.error("a group is no function"));
            }
            return self.call_object(place, arguments);
        }
        // Within a method, its siblings come first.
        if let Some(this) = self.frame().this.clone()
            && let Ty::Struct(id) = this.ty
            && !self.methods(id, &part.name).is_empty()
        {
            let arguments = self.arguments(arguments)?;
            return self.method_call(this, id, &part.name, part.arguments.as_deref(), arguments);
        }
        let device = self.declared_above(&part.name);
        if device.is_empty() {
            if let Some(v) = self.builtin(path, arguments)? {
                return Ok(v);
            }
            self.check_declared(&part.name)?;
            self.check_specialised(&part.name)?;
            return Err(self.unknown("the function", path));
        }
        let values = self.arguments(arguments)?;
        self.pos = pos;
        let plain: Vec<Val> = values.iter().map(Argument::shape).collect();
        match self.choose(&device, part.arguments.as_deref(), &plain)? {
            Some(chosen) => self.inline(chosen, values, None),
            None => {
                // A source may overload a built-in function for its own types.
                if let Some(v) = self.builtin(path, arguments)? {
                    return Ok(v);
                }
                let types: Vec<String> = plain.iter().map(|v| self.describe(&v.ty)).collect();
                Err(pos.error(format!("no `{}` takes ({})", part.name, types.join(", "))))
            }
        }
    }

    /// The functions of a name that the body being compiled sees. A template's may be found where
    /// it is instantiated, a method's behind its struct: those see all.
    fn declared_above(&mut self, name: &str) -> Vec<(Option<usize>, Arc<Function>)> {
        let caller = self.frame().function.clone().filter(|f| f.template.is_empty());
        let from = caller.and_then(|f| f.order).map(|order| order.defined);
        let sees = |f: &&Arc<Function>| match (from, f.order) {
            (Some(from), Some(order)) => order.declared <= from,
            _ => true,
        };
        let named = self.named.get(name).into_iter().flatten().filter(sees);
        named.map(|f| (None, f.clone())).collect()
    }

    /// Refuses a function that is declared below alone.
    fn check_declared(&mut self, name: &str) -> Result<()> {
        let below = self.named.get(name).and_then(|found| found.first()).cloned();
        match below {
            Some(f) if self.declared_above(name).is_empty() => Err(self.pos.error(format!(
                "`{name}` is declared below, at line {}: declare it above",
                f.pos.line
            ))),
            _ => Ok(()),
        }
    }

    /// `Struct::method(…)`.
    fn call_static(
        &mut self,
        owner: &[Part],
        method: &Part,
        path: &Path,
        arguments: &[Expr],
    ) -> Result<Val> {
        if Self::is_numeric_limits(path) {
            return self.call_numeric_limits(path);
        }
        let owner = Path { parts: owner.to_vec(), pos: path.pos };
        let (ty, _) = self.resolve(&TypeExpr::Named(owner))?;
        let Ty::Struct(id) = ty else {
            return Err(self.unknown("the function", path));
        };
        if let Some(Symbol::Type(ty, _)) = self.structs[id].scope.get(&method.name) {
            let ty = ty.clone();
            return self.construct(&ty, arguments);
        }
        // Within a method, a base's is called of the same object.
        let this = self.frame().this.clone().map(|this| self.base_place(this, &ty));
        let place = match this.filter(|this| this.ty == ty) {
            Some(this) => this,
            None => self.fresh_object(ty)?,
        };
        let values = self.arguments(arguments)?;
        self.pos = path.pos;
        self.method_call(place, id, &method.name, method.arguments.as_deref(), values)
    }

    fn call_member(
        &mut self,
        object: &Expr,
        part: &Part,
        arrow: bool,
        arguments: &[Expr],
    ) -> Result<Val> {
        let pos = self.pos;
        let place = if arrow {
            let pointer = self.rvalue(object)?;
            Some(self.dereference(&pointer)?)
        } else {
            self.try_place(object)?
        };
        let place = match place {
            Some(place) => place,
            None => {
                let v = self.rvalue(object)?;
                self.place_of(v)?
            }
        };
        self.pos = pos;
        if let Ty::Atomic(_) = place.ty {
            return self.atomic_call(&place, &part.name, arguments);
        }
        let Ty::Struct(id) = place.ty else {
            let ty = self.describe(&place.ty);
            return Err(pos.error(format!("a value of type `{ty}` has no member `{}`", part.name)));
        };
        if let Some(f) = self.field(id, &part.name).cloned() {
            let place = Self::part(&place, f.ty, f.leaf, f.offset, f.volatile);
            return self.call_object(place, arguments);
        }
        let values = self.arguments(arguments)?;
        self.pos = pos;
        self.method_call(place, id, &part.name, part.arguments.as_deref(), values)
    }

    /// `object(…)`: its `operator()`.
    fn call_object(&mut self, place: Place, arguments: &[Expr]) -> Result<Val> {
        let Ty::Struct(id) = place.ty else {
            let ty = self.describe(&place.ty);
            return Err(self.pos.error(format!("a value of type `{ty}` cannot be called")));
        };
        let pos = self.pos;
        let values = self.arguments(arguments)?;
        self.pos = pos;
        self.method_call(place, id, "operator()", None, values)
    }

    /// Refuses a method that is defined outside its struct, or an overload of one.
    pub(super) fn check_outside(&self, id: usize, name: &str) -> Result<()> {
        let info = &self.structs[id];
        let owners = std::iter::once(id).chain(info.bases.iter().map(|base| base.id));
        let owners: Vec<&str> = owners.map(|id| &*self.structs[id].decl.name).collect();
        let meant =
            |[owner, method]: &[Arc<str>; 2]| **method == *name && owners.contains(&&**owner);
        match self.file.outside.iter().find(|(path, _)| meant(path)) {
            Some((_, refusal)) => Err(refusal.clone()),
            None => Ok(()),
        }
    }

    pub(super) fn method(
        &mut self,
        object: Place,
        id: usize,
        name: &str,
        template: Option<&[TemplateArgument]>,
        arguments: Vec<Val>,
    ) -> Result<Val> {
        let arguments = arguments.into_iter().map(|value| Argument::operand(value, None)).collect();
        self.method_call(object, id, name, template, arguments)
    }

    fn method_call(
        &mut self,
        object: Place,
        id: usize,
        name: &str,
        template: Option<&[TemplateArgument]>,
        arguments: Vec<Argument>,
    ) -> Result<Val> {
        self.check_outside(id, name)?;
        let methods = self.methods(id, name);
        let Some(&(owner, _)) = methods.first() else {
            return Err(self.no_member(id, name));
        };
        let object = self.base_place(object, &Ty::Struct(owner));
        let candidates: Vec<_> = methods.into_iter().map(|(id, f)| (Some(id), f)).collect();
        let values: Vec<Val> = arguments.iter().map(Argument::shape).collect();
        match self.choose(&candidates, template, &values)? {
            Some(chosen) => self.inline(chosen, arguments, Some(object)),
            None => Err(self.pos.error(format!(
                "no `{name}` of `{}` takes these arguments",
                self.structs[id].name
            ))),
        }
    }

    /// An overloaded operator: a method of the first operand or a function.
    pub(super) fn overloaded(&mut self, name: &str, operands: &[Val]) -> Result<Val> {
        let argument = |v: &Val| Argument::operand(v.clone(), None);
        if let Some((first, rest)) = operands.split_first()
            && let Ty::Struct(id) = first.ty
        {
            self.check_outside(id, name)?;
            let fits = |f: &Arc<Function>| f.parameters.len() == rest.len();
            if self.methods(id, name).iter().any(|(_, f)| fits(f)) {
                let object = self.materialise(first.clone())?;
                let rest = rest.iter().map(argument).collect();
                return self.method_call(object, id, name, None, rest);
            }
        }
        let candidates = self.declared_above(name);
        match self.choose(&candidates, None, operands)? {
            Some(chosen) => self.inline(chosen, operands.iter().map(argument).collect(), None),
            None => {
                self.check_declared(name)?;
                let types: Vec<String> = operands.iter().map(|v| self.describe(&v.ty)).collect();
                Err(self.pos.error(format!("no `{name}` takes ({})", types.join(", "))))
            }
        }
    }
}
