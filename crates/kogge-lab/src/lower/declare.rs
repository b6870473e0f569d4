//! Declarations within functions: what a variable's type and initialiser make
//! of it.

use std::sync::Arc;

use super::scope::{Scope, Symbol};
use super::ty::{Qualifiers, Ty};
use super::value::{Place, PlaceKind, Val};
use super::{Lower, Result};
use crate::lang::ast::{Expr, ExprKind, Init, Storage, TypeExpr, Variable};
use crate::machine::ins::{Ins, Op};

impl Lower<'_> {
    pub(super) fn declare(&mut self, v: &Variable) -> Result<()> {
        self.pos = v.pos;
        if v.storage != Storage::DynamicShared {
            self.check_new(&v.name)?;
        }
        match v.storage {
            Storage::Shared | Storage::DynamicShared => return self.declare_shared(v),
            Storage::Device => return self.refuse("`__device__` variables within functions"),
            Storage::Static | Storage::Auto => {}
        }
        if let Some(init) = &v.init
            && self.declare_group(v, init)?
        {
            return Ok(());
        }
        if let TypeExpr::Reference(_) = v.ty
            && self.declare_reference(v)?
        {
            return Ok(());
        }
        let is_auto = v.ty.contains_auto();
        let (ty, volatile, early) = if is_auto {
            let Some(Init::Value(e)) = &v.init else {
                return Err(v.pos.error("`auto` needs an initialiser"));
            };
            if let ExprKind::List(_) = e.kind {
                let what = "`auto` of a braced list, which is an `std::initializer_list`";
                return self.refuse(what).map_err(|e| e.with_help("leave out the `=`"));
            }
            let value = self.rvalue(e)?;
            self.check_copied(&value.ty)?;
            (deduced(&v.ty, &value.ty), false, Some(value))
        } else if let Some(ty) = self.deduced_atomic(&v.ty, v.init.as_ref().map(Init::members))? {
            (ty, false, None)
        } else {
            let (ty, Qualifiers { volatile, .. }) = self.resolve(&v.ty)?;
            (self.complete(ty, v)?, volatile, None)
        };
        if ty == Ty::Void {
            return Err(v.pos.error("a variable of type `void`"));
        }
        if let (true, Some(Init::Value(e)), Ty::Scalar(_)) = (v.constant, &v.init, &ty)
            && !matches!(e.kind, ExprKind::List(_))
        {
            let value = match early {
                Some(value) => value,
                None => self.rvalue(e)?,
            };
            return self.declare_constant(v, ty, volatile, value);
        }
        match early {
            Some(value) => self.hold(v, ty, volatile, value),
            None => self.declare_and_initialise(v, ty, volatile),
        }
    }

    /// Refuses a second variable of a name in a block, a function's parameters among them.
    fn check_new(&mut self, name: &Arc<str>) -> Result<()> {
        let known = |scope: &Scope| matches!(scope.get(name), Some(Symbol::Variable(..)));
        let twice = self.scopes.last().is_some_and(known);
        let depth = self.scopes.len();
        // Around a function's body lie its parameters, around a method's the members too.
        let shadows = self.frame().function.as_ref().is_some_and(|f| {
            let body = if f.kernel { 2 } else { 3 };
            depth == body && f.parameters.iter().any(|p| p.name.as_ref() == Some(name))
        });
        if twice || shadows {
            return Err(self.pos.error(format!("`{name}` is declared in this block already")));
        }
        Ok(())
    }

    /// A `const` scalar: its value is known by name, if the compiler knows it.
    fn declare_constant(&mut self, v: &Variable, ty: Ty, volatile: bool, value: Val) -> Result<()> {
        let value = self.implicit(value, &ty)?;
        let Some(c) = value.constant else {
            return self.hold(v, ty, volatile, value);
        };
        let base = self.constant_register(c)?;
        let kind = PlaceKind::Register { base, flag: None };
        let place = Place { ty, volatile: false, constant: true, variable: None, kind };
        self.define(v.name.clone(), Symbol::Variable(place, Some(c)));
        Ok(())
    }

    /// A new variable with a value that was computed already.
    fn hold(&mut self, v: &Variable, ty: Ty, volatile: bool, value: Val) -> Result<()> {
        // The value may lie in temporaries that the variable takes over.
        let in_memory = self.frame().addressed.contains(&v.name);
        let place = self.new_variable(&v.name, ty, volatile, in_memory)?;
        self.store(&place, &value)?;
        self.keep_variable(&place);
        let place = Place { constant: is_constant(v.constant, &v.ty), ..place };
        self.define(v.name.clone(), Symbol::Variable(place, None));
        Ok(())
    }

    fn declare_and_initialise(&mut self, v: &Variable, ty: Ty, volatile: bool) -> Result<()> {
        let in_memory = self.frame().addressed.contains(&v.name);
        let constant = is_constant(v.constant, &v.ty);
        let mut place = self.new_variable(&v.name, ty.clone(), volatile, in_memory)?;
        self.keep_variable(&place);
        match &v.init {
            Some(init) if self.initialise_atomic(&place, init.members())? => {}
            Some(Init::Value(e)) if matches!(e.kind, ExprKind::List(_)) => {
                let ExprKind::List(members) = &e.kind else {
                    return Ok(());
                };
                self.initialise(&place, members)?;
            }
            Some(Init::Value(e)) => {
                let value = self.rvalue(e)?;
                self.pos = v.pos;
                let value = self.implicit(value, &ty)?;
                self.store(&place, &value)?;
            }
            Some(Init::Call(arguments)) => {
                self.check_constructor(&ty, arguments.len())?;
                let value = self.construct(&ty, arguments)?;
                self.store(&place, &value)?;
            }
            None if constant && matches!(ty, Ty::Scalar(_)) => {
                return Err(v.pos.error(format!("`{}` is `const`: it needs a value", v.name)));
            }
            None => self.leave_unwritten(v, &ty, &mut place)?,
        }
        place.constant = constant;
        self.define(v.name.clone(), Symbol::Variable(place, None));
        Ok(())
    }

    /// A struct without constructors takes its members from a braced list alone.
    fn check_constructor(&self, ty: &Ty, arguments: usize) -> Result<()> {
        let Ty::Struct(id) = ty else { return Ok(()) };
        let info = &self.structs[*id];
        let declared = info.decl.methods.iter().any(|m| m.name == info.decl.name);
        if arguments < 2 || declared || info.name == "dim3" {
            return Ok(());
        }
        let error = format!("`{}` has no constructor of {arguments} arguments", info.name);
        Err(self.pos.error(error).with_help("write the members in braces"))
    }

    /// A variable without an initialiser: a flag tells whether it was written.
    fn leave_unwritten(&mut self, v: &Variable, ty: &Ty, place: &mut Place) -> Result<()> {
        self.check_default(ty)?;
        if let Ty::Struct(id) = *ty {
            return self.construct_by_default(place, id);
        }
        let PlaceKind::Register { base, .. } = place.kind else {
            return Ok(());
        };
        if self.leaf_count(ty) != 1 {
            return Ok(());
        }
        let register = self.temp(1)?;
        self.floor = self.floor.max(self.top);
        self.names.push(v.name.to_string());
        let zero = self.constant_register(0)?;
        self.emit(Ins { d: register, a: zero, ..Ins::new(Op::Mov) })?;
        place.kind =
            PlaceKind::Register { base, flag: Some((register, (self.names.len() - 1) as u32)) };
        Ok(())
    }

    /// `T &name = place`: another name. False if it binds to a value.
    fn declare_reference(&mut self, v: &Variable) -> Result<bool> {
        let Some(Init::Value(e)) = &v.init else {
            return Err(v.pos.error("a reference needs an initialiser"));
        };
        let mark = self.mark();
        let Some(mut place) = self.try_place(e)? else {
            return Ok(false);
        };
        let constant = is_constant(v.constant, &v.ty);
        if !v.ty.contains_auto() {
            // A `const` reference to another type is one to a copy.
            let (ty, _) = self.resolve(&v.ty)?;
            place = self.base_place(place, &ty);
            if let (Ty::Scalar(_), Ty::Scalar(_), true) | (_, Ty::Atomic(_), true) =
                (&ty, &place.ty, ty != place.ty)
            {
                if constant {
                    self.rewind(&mark);
                    return Ok(false);
                }
                let (from, to) = (self.describe(&place.ty), self.describe(&ty));
                return Err(v.pos.error(format!("a `{to} &` cannot refer to a `{from}`")));
            }
        }
        let place = Place { constant: constant || place.constant, ..place };
        // The address that the place was reached by must live as long.
        self.floor = self.floor.max(self.top);
        self.define(v.name.clone(), Symbol::Variable(place, None));
        Ok(true)
    }

    /// Registers of a variable stay taken until its block ends.
    fn keep_variable(&mut self, place: &Place) {
        if let PlaceKind::Register { .. } = place.kind {
            self.floor = self.floor.max(self.top);
        }
    }

    /// The size of `T name[] = {…}`.
    pub(super) fn complete(&mut self, ty: Ty, v: &Variable) -> Result<Ty> {
        let Ty::Array(element, 0) = &ty else {
            return Ok(ty);
        };
        match &v.init {
            Some(Init::Value(Expr { kind: ExprKind::List(members), .. })) => {
                Ok(Ty::Array(element.clone(), members.len() as u64))
            }
            _ => Err(v.pos.error("an array without a size")),
        }
    }
}

/// Whether `const` before a type means what is declared, and not what a pointer points at.
pub(super) fn is_constant(said: bool, ty: &TypeExpr) -> bool {
    match ty {
        TypeExpr::Pointer(_) => false,
        TypeExpr::Reference(inner) | TypeExpr::Volatile(inner) | TypeExpr::Array(inner, _) => {
            is_constant(said, inner)
        }
        TypeExpr::Const(_) => true,
        _ => said,
    }
}

/// The type of an `auto` variable of this value: `const auto *` writes nothing.
fn deduced(ty: &TypeExpr, value: &Ty) -> Ty {
    match (ty, value) {
        (TypeExpr::Pointer(to), Ty::Pointer(of)) if matches!(**to, TypeExpr::Const(_)) => {
            Ty::pointer(of.ty.clone(), of.qualifiers.join(Qualifiers::CONST))
        }
        _ => value.clone(),
    }
}
