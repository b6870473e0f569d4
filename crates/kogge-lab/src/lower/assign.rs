//! Assignments, increments.

use super::argument::Argument;
use super::operator::spelling;
use super::ty::Ty;
use super::value::{Place, PlaceKind, Val};
use super::{Lower, Result};
use crate::lang::ast::{Binary, Expr, ExprKind};
use crate::value::ScalarType;

impl Lower<'_> {
    pub(super) fn assign(
        &mut self,
        op: Option<Binary>,
        target: &Expr,
        value: &Expr,
    ) -> Result<Val> {
        self.assign_place(op, target, value).map(|(v, _)| v)
    }

    /// The same, with the place assigned to: an assignment is an lvalue.
    pub(super) fn assign_place(
        &mut self,
        op: Option<Binary>,
        target: &Expr,
        value: &Expr,
    ) -> Result<(Val, Place)> {
        let pos = self.pos;
        if let ExprKind::List(members) = &value.kind {
            let place = self.place(target)?;
            self.check_assignable(&place)?;
            if let Ty::Atomic(atomic) = &place.ty {
                let v = self.construct(&atomic.ty.clone(), members)?;
                return self.atomic_assign(op, &place, v);
            }
            let v = self.construct(&place.ty, members)?;
            self.store(&place, &v)?;
            return Ok((v, place));
        }
        // C++17 evaluates the right side first.
        let right = self.rvalue(value)?;
        let right = self.keep(right, target)?;
        let place = self.place(target)?;
        self.pos = pos;
        if let Ty::Atomic(_) = place.ty {
            return self.atomic_assign(op, &place, right);
        }
        let v = match op {
            None => match self.assign_struct(&place, &right)? {
                Some(v) => return Ok((v, place)),
                None => right,
            },
            Some(op) => {
                self.check_assignable(&place)?;
                if let Ty::Struct(_) = place.ty {
                    let v = self.compound_struct(op, &place, &right)?;
                    return Ok((v, place));
                }
                let left = self.read(&place)?;
                self.binary(op, &left, &right)?
            }
        };
        self.check_assignable(&place)?;
        if let Ty::Array(..) = place.ty {
            return Err(pos.error("arrays cannot be assigned"));
        }
        let v = self.implicit(v, &place.ty)?;
        self.store(&place, &v)?;
        let v = self.after_store(&place, v);
        Ok((v, place))
    }

    /// By an `operator=` of the struct; none if it has none for this value.
    fn assign_struct(&mut self, place: &Place, value: &Val) -> Result<Option<Val>> {
        let Ty::Struct(id) = place.ty else {
            return Ok(None);
        };
        self.check_outside(id, "operator=")?;
        let own = self.structs[id].decl.methods.clone();
        let own = own.into_iter().filter(|m| &*m.name == "operator=").map(|m| (Some(id), m));
        match self.choose(&own.collect::<Vec<_>>(), None, std::slice::from_ref(value))? {
            Some(chosen) => {
                self.check_assignable(place)?;
                let value = Argument::operand(value.clone(), None);
                self.inline(chosen, vec![value], Some(place.clone())).map(Some)
            }
            None => Ok(None),
        }
    }

    pub(super) fn check_assignable(&self, place: &Place) -> Result<()> {
        if place.constant {
            return Err(self.pos.error("this is `const`: it cannot be assigned to"));
        }
        Ok(())
    }

    /// Keeps a value from what evaluating the target changes.
    fn keep(&mut self, v: Val, target: &Expr) -> Result<Val> {
        let in_variable = v.register.is_some_and(|r| u32::from(r) < self.floor);
        let changes = !matches!(target.kind, ExprKind::Name(_)) && !self.is_pure_target(target);
        if !(in_variable && changes) {
            return Ok(v);
        }
        let d = self.temp(self.leaf_count(&v.ty))?;
        self.copy_value(d, &v)?;
        Ok(Val { register: Some(d), ..v })
    }

    fn is_pure_target(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Name(_) => true,
            ExprKind::Member { object, .. } => self.is_pure_target(object),
            ExprKind::Index(base, index) => self.is_pure_target(base) && self.is_pure(index),
            ExprKind::Unary(_, inner) | ExprKind::Cast(.., inner) => self.is_pure_target(inner),
            _ => false,
        }
    }

    /// The value of an assignment: what the variable holds now.
    fn after_store(&mut self, place: &Place, v: Val) -> Val {
        match place.kind {
            PlaceKind::Register { base, .. } => Val { register: Some(base), constant: None, ..v },
            PlaceKind::Memory { .. } => v,
        }
    }

    fn compound_struct(&mut self, op: Binary, place: &Place, right: &Val) -> Result<Val> {
        let name = format!("operator{}=", spelling(op));
        if let Ty::Struct(id) = place.ty
            && !self.methods(id, &name).is_empty()
        {
            return self.method(place.clone(), id, &name, None, vec![right.clone()]);
        }
        let named = self.named.get(&*name).cloned().unwrap_or_default();
        let candidates: Vec<_> = named.into_iter().map(|f| (None, f)).collect();
        let left = Argument::operand(Val::nothing(place.ty.clone()), Some(place.clone()));
        let operands = [left.value.clone(), right.clone()];
        match self.choose(&candidates, None, &operands)? {
            Some(chosen) => {
                let right = Argument::operand(right.clone(), None);
                self.inline(chosen, vec![left, right], None)
            }
            None => {
                let types = operands.map(|v| self.describe(&v.ty)).join(", ");
                Err(self.pos.error(format!("no `{name}` takes ({types})")))
            }
        }
    }

    /// `++x`, `x++` and so on.
    pub(super) fn step(&mut self, target: &Expr, up: bool, prefix: bool) -> Result<Val> {
        self.step_place(target, up, prefix).map(|(v, _)| v)
    }

    /// The same, with the place stepped.
    pub(super) fn step_place(
        &mut self,
        target: &Expr,
        up: bool,
        prefix: bool,
    ) -> Result<(Val, Place)> {
        let pos = self.pos;
        let place = self.place(target)?;
        self.pos = pos;
        if let Ty::Atomic(_) = place.ty {
            return self.atomic_step(&place, up, prefix);
        }
        self.check_assignable(&place)?;
        if place.ty == Ty::BOOL {
            return Err(pos.error("a `bool` cannot be stepped"));
        }
        let old = self.read(&place)?;
        let old = if prefix {
            old
        } else {
            let d = self.temp(self.leaf_count(&old.ty))?;
            self.copy_value(d, &old)?;
            Val { register: Some(d), constant: None, ..old }
        };
        // The old value, once copied, must not be retargeted.
        self.barrier = self.code.len();
        let one = Val::constant(Ty::Scalar(ScalarType::I32), 1);
        let op = if up { Binary::Add } else { Binary::Sub };
        let new = self.binary(op, &old, &one)?;
        let new = self.cast(new, &place.ty)?;
        self.store(&place, &new)?;
        let v = if prefix { self.after_store(&place, new) } else { old };
        Ok((v, place))
    }
}
