//! Constant expressions and types of expressions: compiled, looked at, and
//! thrown away.

use super::ty::Ty;
use super::value::Val;
use super::{Lower, Result};
use crate::lang::ast::{Expr, StaticAssert};
use crate::value::ScalarType;

/// A state of the code.
pub(super) struct Mark {
    code: usize,
    top: u32,
    barrier: usize,
    candidates: usize,
}

impl Lower<'_> {
    /// Where the code stands, to come back to with [`Lower::rewind`].
    pub(super) fn mark(&mut self) -> Mark {
        let (code, top, barrier) = (self.code.len(), self.top, self.barrier);
        // Nothing before may be changed on the way.
        self.barrier = code;
        Mark { code, top, barrier, candidates: self.taints.mark() }
    }

    /// Forgets the code since a mark.
    pub(super) fn rewind(&mut self, mark: &Mark) {
        self.code.truncate(mark.code);
        self.places.truncate(mark.code);
        self.taints.rewind(mark.candidates);
        self.top = mark.top;
        self.barrier = mark.barrier;
    }

    /// Whether the code since a mark may apply the scan's operator.
    pub(super) fn applied_since(&self, mark: &Mark) -> bool {
        self.taints.mark() != mark.candidates
    }

    /// Compiles an expression without keeping its code.
    fn dry(&mut self, e: &Expr) -> Result<Val> {
        let (mark, pos) = (self.mark(), self.pos);
        let value = self.rvalue(e);
        self.rewind(&mark);
        self.pos = pos;
        value
    }

    /// The value of an integral constant expression.
    pub(super) fn constant(&mut self, e: &Expr) -> Result<u64> {
        Ok(self.constant_value(e)?.0)
    }

    /// The same with its type.
    pub(super) fn constant_value(&mut self, e: &Expr) -> Result<(u64, ScalarType)> {
        let v = self.dry(e)?;
        match (v.constant, &v.ty) {
            (Some(c), Ty::Scalar(s)) => Ok((c, *s)),
            _ => Err(e.pos.error("this must be a constant")),
        }
    }

    /// The value of an expression as a type, if it is constant.
    pub(super) fn constant_as(&mut self, e: &Expr, ty: &Ty) -> Result<Option<u64>> {
        let mark = self.mark();
        let value = self.rvalue(e).and_then(|value| self.implicit(value, ty));
        self.rewind(&mark);
        Ok(value?.constant)
    }

    /// Refuses what asserts something false. What the language can't evaluate asserts nothing.
    pub(super) fn static_assert(&mut self, assert: &StaticAssert) -> Result<()> {
        let depth = self.depth;
        let value = self.constant(&assert.condition);
        self.depth = depth;
        if value.is_ok_and(|c| c == 0) {
            let text = assert.message.as_ref().map_or_else(String::new, |m| format!(": {m}"));
            return Err(assert.pos.error(format!("a static assertion fails{text}")));
        }
        Ok(())
    }

    /// The type of an expression.
    pub(super) fn type_of(&mut self, e: &Expr) -> Result<Ty> {
        Ok(self.dry(e)?.ty)
    }

    /// The type of an lvalue without decay of arrays, for `sizeof`.
    pub(super) fn undecayed_type(&mut self, e: &Expr) -> Result<Ty> {
        let mark = self.mark();
        let place = self.try_place(e);
        self.rewind(&mark);
        match place? {
            Some(place) => Ok(place.ty),
            None => self.type_of(e),
        }
    }
}
