//! Arguments of calls: each with its value, and with its place where a
//! parameter may refer to it.

use super::scope::Symbol;
use super::ty::Ty;
use super::value::{Place, Val};
use super::{Lower, Result};
use crate::lang::ast::{Expr, ExprKind};

/// An argument: its value, and its place if it has one to refer to.
#[derive(Clone)]
pub(super) struct Argument {
    pub value: Val,
    pub place: Option<Place>,
    /// Whether the source writes it as an argument, so that a reference needs a place.
    pub written: bool,
}

impl Argument {
    /// An operand of an operator, or what else isn't written as an argument.
    pub(super) fn operand(value: Val, place: Option<Place>) -> Self {
        Self { value, place, written: false }
    }

    /// What overloads are chosen by: an array is still one.
    pub(super) fn shape(&self) -> Val {
        match &self.place {
            Some(place) if matches!(place.ty, Ty::Array(..)) => Val::nothing(place.ty.clone()),
            _ => self.value.clone(),
        }
    }
}

impl Lower<'_> {
    pub(super) fn arguments(&mut self, arguments: &[Expr]) -> Result<Vec<Argument>> {
        let mut out = Vec::with_capacity(arguments.len());
        for a in arguments {
            if let Some(group) = self.group_of(a) {
                out.push(Argument::operand(Val::nothing(Ty::Group(group)), None));
                continue;
            }
            let place = match a.kind {
                ExprKind::List(_) => {
                    return Err(a.pos.error("braced lists as arguments: outside the language"));
                }
                ExprKind::Name(_)
                | ExprKind::Index(..)
                | ExprKind::Member { .. }
                | ExprKind::Assign(..)
                | ExprKind::Cast(..)
                | ExprKind::Step { prefix: true, .. }
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
            out.push(Argument { value, place, written: true });
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
}
