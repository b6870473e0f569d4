//! Operators of atomics: each an access of the strictest order.

use super::order::Order;
use crate::lang::ast::Binary;
use crate::lower::operator::spelling;
use crate::lower::ty::Ty;
use crate::lower::value::{Place, Val};
use crate::lower::{Lower, Result};
use crate::machine::ins::AtomicOp;

impl Lower<'_> {
    /// `flag = value`, `flag += value`: a value, which has a place of its own.
    pub(in crate::lower) fn atomic_assign(
        &mut self,
        op: Option<Binary>,
        place: &Place,
        value: Val,
    ) -> Result<(Val, Place)> {
        let Ty::Atomic(atomic) = place.ty.clone() else {
            return self.refuse("this assignment");
        };
        if !atomic.reference {
            self.check_assignable(place)?;
        }
        if op.is_none() && value.ty == place.ty {
            let ty = self.describe(&place.ty);
            let error = self.pos.error(format!("a `{ty}` cannot be assigned to another"));
            return Err(error.with_help("`load()` gives its value"));
        }
        let Some(op) = op else {
            let value = self.implicit(value, &atomic.ty)?;
            let address = self.load(place)?;
            self.atomic_store(&atomic, &address, &value, Order::SeqCst)?;
            return self.placed(value);
        };
        let new = self.update(place, op, value, format!("operator{}=", spelling(op)))?;
        self.placed(new.1)
    }

    /// `++flag`, `flag++` and so on.
    pub(in crate::lower) fn atomic_step(
        &mut self,
        place: &Place,
        up: bool,
        prefix: bool,
    ) -> Result<(Val, Place)> {
        if !place.ty.is_atomic_reference() {
            self.check_assignable(place)?;
        }
        let (op, name) = if up { (Binary::Add, "++") } else { (Binary::Sub, "--") };
        let one = Val::constant(Ty::INT, 1);
        let (old, new) = self.update(place, op, one, format!("operator{name}"))?;
        self.placed(if prefix { new } else { old })
    }

    /// What was there, and what is there now.
    fn update(
        &mut self,
        place: &Place,
        op: Binary,
        value: Val,
        name: String,
    ) -> Result<(Val, Val)> {
        let Ty::Atomic(atomic) = place.ty.clone() else {
            return self.refuse("this operator");
        };
        let operation = match op {
            Binary::Add => AtomicOp::Add,
            Binary::Sub => AtomicOp::Sub,
            Binary::And => AtomicOp::And,
            Binary::Or => AtomicOp::Or,
            Binary::Xor => AtomicOp::Xor,
            _ => return Err(self.no_atomic_member(&atomic, &name)),
        };
        self.check_operation(&atomic, operation, &name)?;
        let value = self.implicit(value, &atomic.ty)?;
        let address = self.load(place)?;
        let old = self.atomic_update(&atomic, &address, operation, &value, Order::SeqCst)?;
        let new = self.binary(op, &old, &value)?;
        let new = self.cast(new, &atomic.ty)?;
        Ok((old, new))
    }

    /// A value with a place to be read from alone.
    fn placed(&mut self, v: Val) -> Result<(Val, Place)> {
        let place = self.materialise(v)?;
        Ok((self.load(&place)?, Place { constant: true, ..place }))
    }
}
