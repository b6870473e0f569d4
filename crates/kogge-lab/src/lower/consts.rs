//! Constant expressions and types of expressions: compiled, looked at, and
//! thrown away.

use super::ty::Ty;
use super::value::Val;
use super::{Lower, Result};
use crate::lang::ast::Expr;
use crate::value::ScalarType;

impl Lower<'_> {
    /// Compiles an expression without keeping its code.
    fn dry(&mut self, e: &Expr) -> Result<Val> {
        let (code, top, barrier, pos) = (self.code.len(), self.top, self.barrier, self.pos);
        // Nothing before may be changed on the way.
        self.barrier = code;
        let candidates = self.taints.mark();
        let value = self.rvalue(e);
        self.code.truncate(code);
        self.places.truncate(code);
        self.taints.rewind(candidates);
        self.top = top;
        self.barrier = barrier;
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

    /// The type of an expression.
    pub(super) fn type_of(&mut self, e: &Expr) -> Result<Ty> {
        Ok(self.dry(e)?.ty)
    }

    /// The type of an lvalue without decay of arrays, for `sizeof`.
    pub(super) fn undecayed_type(&mut self, e: &Expr) -> Result<Ty> {
        let (code, top, barrier) = (self.code.len(), self.top, self.barrier);
        self.barrier = code;
        let candidates = self.taints.mark();
        let place = self.try_place(e);
        self.code.truncate(code);
        self.places.truncate(code);
        self.taints.rewind(candidates);
        self.top = top;
        self.barrier = barrier;
        match place? {
            Some(place) => Ok(place.ty),
            None => self.type_of(e),
        }
    }
}
