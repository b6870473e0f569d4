//! Calls: of device functions, which are compiled in place, of methods, and
//! of constructors.

use std::num::NonZeroU32;
use std::sync::Arc;

use super::overload::Chosen;
use super::scope::{Scope, Symbol};
use super::taint::Taint;
use super::ty::Ty;
use super::value::{Place, PlaceKind, Val};
use super::{Frame, Lower, MAX_CALLS, Result};
use crate::lang::ast::{
    Expr, ExprKind, Function, Parameter, Part, Path, Stmt, StmtKind, TemplateArgument, TypeExpr,
};
use crate::machine::ins::{Ins, Op};

/// An argument: its value, and its place if it has one to refer to.
#[derive(Clone)]
pub(super) struct Argument {
    pub value: Val,
    pub place: Option<Place>,
}

impl Argument {
    /// What overloads are chosen by: an array is still one.
    fn shape(&self) -> Val {
        match &self.place {
            Some(place) if matches!(place.ty, Ty::Array(..)) => Val::nothing(place.ty.clone()),
            _ => self.value.clone(),
        }
    }
}

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
        let named = self.named.get(&part.name).cloned().unwrap_or_default();
        let device: Vec<_> = named.into_iter().map(|f| (None, f)).collect();
        if device.is_empty() {
            if let Some(v) = self.builtin(path, arguments)? {
                return Ok(v);
            }
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
        let place = self.fresh_object(Ty::Struct(id))?;
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
                self.materialise(v)?
            }
        };
        self.pos = pos;
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

    pub(super) fn method(
        &mut self,
        object: Place,
        id: usize,
        name: &str,
        template: Option<&[TemplateArgument]>,
        arguments: Vec<Val>,
    ) -> Result<Val> {
        let arguments =
            arguments.into_iter().map(|value| Argument { value, place: None }).collect();
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
        let methods = self.methods(id, name);
        if methods.is_empty() {
            return Err(self.no_member(id, name));
        }
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
        let argument = |v: &Val| Argument { value: v.clone(), place: None };
        if let Some((first, rest)) = operands.split_first()
            && let Ty::Struct(id) = first.ty
        {
            let fits = |f: &Arc<Function>| f.parameters.len() == rest.len();
            if self.methods(id, name).iter().any(|(_, f)| fits(f)) {
                let object = self.materialise(first.clone())?;
                let rest = rest.iter().map(argument).collect();
                return self.method_call(object, id, name, None, rest);
            }
        }
        let named = self.named.get(name).cloned().unwrap_or_default();
        let candidates: Vec<_> = named.into_iter().map(|f| (None, f)).collect();
        match self.choose(&candidates, None, operands)? {
            Some(chosen) => self.inline(chosen, operands.iter().map(argument).collect(), None),
            None => {
                let types: Vec<String> = operands.iter().map(|v| self.describe(&v.ty)).collect();
                Err(self.pos.error(format!("no `{name}` takes ({})", types.join(", "))))
            }
        }
    }

    pub(super) fn arguments(&mut self, arguments: &[Expr]) -> Result<Vec<Argument>> {
        let mut out = Vec::with_capacity(arguments.len());
        for a in arguments {
            if let Some(group) = self.group_of(a) {
                out.push(Argument { value: Val::nothing(Ty::Group(group)), place: None });
                continue;
            }
            let place = match a.kind {
                ExprKind::List(_) => {
                    return Err(a.pos.error("braced lists as arguments: outside the language"));
                }
                ExprKind::Name(_)
                | ExprKind::Index(..)
                | ExprKind::Member { .. }
                | ExprKind::Unary(crate::lang::ast::Unary::Dereference, _) => self.try_place(a)?,
                _ => None,
            };
            let value = match &place {
                // The place stands for its value until the callee copies it:
                // a reference to what was never written is no read.
                Some(p) if !matches!(p.ty, Ty::Array(..)) && !self.has_constant(a) => {
                    Val::nothing(p.ty.clone())
                }
                Some(p) if matches!(p.ty, Ty::Array(..)) => self.read(p)?,
                _ => self.rvalue(a)?,
            };
            out.push(Argument { value, place });
        }
        Ok(out)
    }

    /// Whether an argument is a variable whose value is known.
    fn has_constant(&self, e: &Expr) -> bool {
        let ExprKind::Name(path) = &e.kind else {
            return false;
        };
        let symbol = path.simple().and_then(|n| self.lookup(n));
        matches!(symbol, Some(Symbol::Variable(_, Some(_)) | Symbol::Constant(..)))
    }

    /// Compiles a function in place of its call.
    pub(super) fn inline(
        &mut self,
        chosen: Chosen,
        arguments: Vec<Argument>,
        this: Option<Place>,
    ) -> Result<Val> {
        self.descend()?;
        if self.frames.len() > MAX_CALLS {
            return Err(self.pos.error(format!(
                "calls nested more than {MAX_CALLS} deep; recursion is outside the language"
            )));
        }
        let f = chosen.function.clone();
        if f.kernel {
            return self.refuse("calling a kernel from device code");
        }
        if !f.device && !f.constant {
            return Err(self.pos.error(format!("`{}` is a function of the host", f.name)));
        }
        let call_pos = self.pos;
        let body = self.body(&f)?;
        let names = super::scan_names(&body);

        let mut scope = chosen.scope;
        let scopes = std::mem::take(&mut self.scopes);
        self.scopes.push(scope.clone());
        let deduce = matches!(f.result, TypeExpr::Auto);
        let result_type = if deduce { Ok(Ty::Void) } else { self.resolve(&f.result).map(|r| r.0) };
        let parameter_types: Result<Vec<_>> =
            f.parameters.iter().map(|p| self.resolve(&p.ty)).collect();
        self.scopes = scopes;
        let result_type = result_type?;
        let parameter_types = parameter_types?;

        // Without references into the caller, nothing changes its variables
        // while the callee runs.
        let by_reference = |p: &Parameter| matches!(p.ty, TypeExpr::Reference(_));
        let isolated = this.is_none() && !f.parameters.iter().any(by_reference);
        let mut bound = Vec::new();
        for (i, parameter) in f.parameters.iter().enumerate() {
            let argument = match (arguments.get(i), &parameter.default) {
                (Some(a), _) => a.clone(),
                (None, Some(default)) => Argument { value: self.rvalue(default)?, place: None },
                (None, None) => return Err(self.pos.error("an argument is missing")),
            };
            let (ty, volatile) = parameter_types[i].clone();
            let symbol =
                self.bind_parameter(parameter, (ty, volatile), argument, &names, isolated)?;
            bound.push(symbol);
        }
        self.pos = call_pos;
        let is_operator = self.is_operator(&f, bound.len());
        let operands = if is_operator { self.begin_work(&bound)? } else { None };
        let operator_call = self.operator_call;
        if operands.is_some() {
            self.operator_call = Some(call_pos);
        }
        let caller = self.frames.last().and_then(|f| f.caller).or(NonZeroU32::new(call_pos.line));
        for (parameter, symbol) in f.parameters.iter().zip(&bound) {
            if let Some(name) = &parameter.name {
                scope.insert(name.clone(), symbol.clone());
            }
        }
        let mut outer_scope = Scope::default();
        if let Some(this) = &this {
            self.bind_fields(this, &mut outer_scope);
        }

        let n = self.leaf_count(&result_type);
        let result = self.temp(n)?;
        let scopes = std::mem::replace(&mut self.scopes, vec![outer_scope, scope]);
        let loops = std::mem::take(&mut self.loops);
        let floor = std::mem::replace(&mut self.floor, self.top);
        self.frames.push(Frame {
            function: Some(f.clone()),
            result: (!deduce).then_some((result, result_type)),
            deduce,
            this,
            addressed: names.addressed,
            caller,
            ..Frame::outermost()
        });
        let outcome = self.inline_body(&f, &body);
        let frame = self.frames.pop().unwrap_or_else(Frame::outermost);
        self.scopes = scopes;
        self.loops = loops;
        self.floor = floor;
        self.pos = call_pos;
        self.operator_call = operator_call;
        self.depth -= 1;
        let direct = outcome?;

        let mut value = match (direct, frame.result) {
            (Some(v), _) => v,
            (None, Some((_, Ty::Void)) | None) => Val::nothing(Ty::Void),
            (None, Some((register, ty))) => Val::register(ty, register, frame.result_taint.clone()),
        };
        if !frame.returns.is_empty() {
            let mut returns = frame.returns;
            // A jump to the next instruction is none.
            if returns.last() == Some(&(self.code.len() - 1)) && self.barrier < self.code.len() {
                returns.pop();
                self.code.pop();
                self.places.pop();
            }
            if !returns.is_empty() {
                self.land(&returns);
            }
        }
        if let Some(operands) = operands {
            value = self.end_work(value, operands)?;
        }
        Ok(value)
    }

    /// The body; a value, if it is a single `return`.
    fn inline_body(&mut self, f: &Arc<Function>, body: &[Stmt]) -> Result<Option<Val>> {
        self.construct_members(f)?;
        if let [Stmt { kind: StmtKind::Return(Some(e)), .. }] = body {
            let is_list = matches!(e.kind, ExprKind::List(_));
            let is_reference = matches!(f.result, TypeExpr::Reference(_));
            if !is_list && !is_reference {
                let v = self.rvalue(e)?;
                let target = self.frame().result.clone();
                return match target {
                    Some((_, Ty::Void)) => Ok(None),
                    Some((register, ty)) => {
                        let v = self.cast(v, &ty)?;
                        if v.constant.is_some() {
                            return Ok(Some(v));
                        }
                        let taint = v.taint.clone();
                        self.copy_value(register, &v)?;
                        self.top = self.floor;
                        Ok(Some(Val::register(ty, register, taint)))
                    }
                    None => Ok(Some(v)),
                };
            }
        }
        self.block(body)?;
        Ok(None)
    }

    /// A parameter as a name of the callee: the argument itself where the
    /// callee leaves it alone, a copy where it does not.
    fn bind_parameter(
        &mut self,
        parameter: &Parameter,
        (ty, volatile): (Ty, bool),
        argument: Argument,
        names: &super::Names,
        isolated: bool,
    ) -> Result<Symbol> {
        let Argument { value, place } = argument;
        if let (TypeExpr::Reference(_), Some(place)) = (&parameter.ty, &place)
            && place.ty == ty
        {
            return Ok(Symbol::Variable(place.clone(), None));
        }
        if let Ty::Group(_) = ty {
            return Ok(Symbol::Variable(Self::group_place(value.ty), None));
        }
        let name = parameter.name.clone().unwrap_or_else(|| Arc::from(""));
        let value = match (&place, value.register, value.constant) {
            (Some(place), None, None) => self.read(place)?,
            _ => value,
        };
        let value = self.cast(value, &ty)?;
        let kept = !names.assigned.contains(&name) && !names.addressed.contains(&name);
        let variable = self.taints.new_variable();
        self.taints.assign(variable, &value.taint);
        if kept && !volatile && !self.lives_in_memory(&ty) {
            if let Some(c) = value.constant {
                let place = self.constant_place(ty, c, variable)?;
                return Ok(Symbol::Variable(place, Some(c)));
            }
            let base = self.register(&value)?;
            let temporary = u32::from(base) >= self.floor;
            let fixed = base >= super::emit::FIXED;
            let n = self.leaf_count(&ty);
            let base = if temporary || fixed || isolated || n == 0 {
                base
            } else {
                let d = self.temp(n)?;
                self.copy_value(d, &value)?;
                d
            };
            return Ok(Symbol::Variable(
                Place {
                    ty,
                    volatile,
                    variable: Some(variable),
                    kind: PlaceKind::Register { base, flag: None },
                },
                None,
            ));
        }
        let in_memory = names.addressed.contains(&name);
        let place = self.new_variable(&name, ty, volatile, in_memory)?;
        self.store(&place, &value)?;
        Ok(Symbol::Variable(place, None))
    }

    fn constant_place(&mut self, ty: Ty, value: u64, variable: u32) -> Result<Place> {
        let base = self.constant_register(value)?;
        Ok(Place {
            ty,
            volatile: false,
            variable: Some(variable),
            kind: PlaceKind::Register { base, flag: None },
        })
    }

    /// The fields of a method's object are names of their own.
    fn bind_fields(&self, this: &Place, scope: &mut Scope) {
        let Ty::Struct(id) = this.ty else { return };
        for (name, symbol) in self.structs[id].scope.iter() {
            scope.insert(name.clone(), symbol.clone());
        }
        for f in &self.structs[id].fields {
            let place = Self::part(this, f.ty.clone(), f.leaf, f.offset, f.volatile);
            scope.insert(f.name.clone(), Symbol::Variable(place, None));
        }
    }

    /// Whether a call of this function is an application of the operator.
    fn is_operator(&self, f: &Function, parameters: usize) -> bool {
        let named = *f.name == *self.operator;
        let functor = !self.has_operator && &*f.name == "operator()";
        self.work == 0 && parameters == 2 && (named || functor)
    }

    fn begin_work(&mut self, bound: &[Symbol]) -> Result<Option<u8>> {
        let [Symbol::Variable(a, ca), Symbol::Variable(b, cb)] = bound else {
            return Ok(None);
        };
        let n = self.leaf_count(&a.ty);
        if n == 0 || n > 255 || n != self.leaf_count(&b.ty) {
            return Ok(None);
        }
        let mut operand = |place: &Place, constant: &Option<u64>| match (constant, &place.kind) {
            (Some(c), _) => self.constant_register(*c),
            (None, PlaceKind::Register { base, .. }) => Ok(*base),
            (None, PlaceKind::Memory { .. }) => {
                let v = self.load(place)?;
                self.register(&v)
            }
        };
        let (a, b) = (operand(a, ca)?, operand(b, cb)?);
        self.emit(Ins { op: Op::WorkBegin, x: n as u8, d: 0, a, b, k: self.work })?;
        self.work += 1;
        Ok(Some(n as u8))
    }

    fn end_work(&mut self, value: Val, leaves: u8) -> Result<Val> {
        self.work -= 1;
        let n = self.leaf_count(&value.ty);
        // A call's result has registers of its own, unless it is constant.
        let value = if value.constant.is_some() {
            let d = self.temp(n)?;
            self.copy_value(d, &value)?;
            Val { register: Some(d), constant: None, ..value }
        } else {
            value
        };
        let d = value.register.unwrap_or_default();
        self.emit(Ins {
            d,
            x: if value.register.is_some() { leaves.min(n.min(255) as u8) } else { 0 },
            k: self.work,
            ..Ins::new(Op::WorkEnd)
        })?;
        Ok(value)
    }

    /// A place that holds a value, for a method to work on.
    pub(super) fn materialise(&mut self, v: Val) -> Result<Place> {
        if self.lives_in_memory(&v.ty) {
            let place = self.fresh_object(v.ty.clone())?;
            self.store(&place, &v)?;
            return Ok(place);
        }
        let n = self.leaf_count(&v.ty);
        let base = self.temp(n)?;
        self.copy_value(base, &v)?;
        let variable = self.taints.new_variable();
        self.taints.assign(variable, &v.taint);
        Ok(Place {
            ty: v.ty,
            volatile: false,
            variable: Some(variable),
            kind: PlaceKind::Register { base, flag: None },
        })
    }

    /// An unnamed variable.
    pub(super) fn fresh_object(&mut self, ty: Ty) -> Result<Place> {
        let in_memory = self.lives_in_memory(&ty);
        self.new_variable("(temporary)", ty, false, in_memory)
    }

    /// Runs a constructor on an object; false if none takes the arguments.
    pub(super) fn run_constructor(
        &mut self,
        object: &Place,
        id: usize,
        arguments: Vec<Argument>,
    ) -> Result<bool> {
        let decl = self.structs[id].decl.clone();
        let constructors: Vec<_> = decl
            .methods
            .iter()
            .filter(|m| m.name == decl.name)
            .map(|m| (Some(id), m.clone()))
            .collect();
        if constructors.is_empty() {
            return Ok(false);
        }
        let values: Vec<Val> = arguments.iter().map(Argument::shape).collect();
        match self.choose(&constructors, None, &values)? {
            Some(chosen) => {
                self.inline(chosen, arguments, Some(object.clone()))?;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// Member initialisers of a constructor, and default values of members.
    fn construct_members(&mut self, f: &Arc<Function>) -> Result<()> {
        let Some(this) = self.frame().this.clone() else {
            return Ok(());
        };
        let Ty::Struct(id) = this.ty else {
            return Ok(());
        };
        if f.name != self.structs[id].decl.name {
            return Ok(());
        }
        self.default_members(&this, id)?;
        for (name, arguments) in &f.initialisers {
            let Some(field) = self.field(id, name).cloned() else {
                return Err(self.no_member(id, name));
            };
            let place = Self::part(&this, field.ty, field.leaf, field.offset, field.volatile);
            let v = self.construct(&place.ty, arguments)?;
            self.store(&place, &v)?;
        }
        Ok(())
    }

    pub(super) fn result_taint(&mut self, taint: &Taint) {
        let frame = self.frame();
        frame.result_taint = std::mem::take(&mut frame.result_taint).join(taint);
    }
}
