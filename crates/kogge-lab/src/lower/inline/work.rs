//! Work: which calls are applications of the operator, and the marks around
//! them by which the machine counts.

use crate::lang::ast::Function;
use crate::lower::scope::Symbol;
use crate::lower::value::{Place, PlaceKind, Val};
use crate::lower::{Lower, Result};
use crate::machine::ins::{Ins, Op};

impl Lower<'_> {
    /// Whether a call of this function is an application of the operator.
    pub(super) fn is_operator(&self, f: &Function, parameters: usize) -> bool {
        let named = *f.name == *self.operator;
        let functor = !self.has_operator && &*f.name == "operator()";
        self.work == 0 && parameters == 2 && (named || functor)
    }

    /// Marks the start; how many leaves an operand has, if the call is counted.
    pub(super) fn begin_work(&mut self, bound: &[Symbol]) -> Result<Option<u8>> {
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

    /// Marks the end, with the result.
    pub(super) fn end_work(&mut self, value: Val, leaves: u8) -> Result<Val> {
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
}
