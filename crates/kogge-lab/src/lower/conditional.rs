//! `?:`: by a jump, or both sides at once where that shows nothing.

use super::scope::Symbol;
use super::ty::Ty;
use super::value::Val;
use super::{Lower, Result, common};
use crate::lang::ast::{Binary, Expr, ExprKind, TypeExpr, Unary};
use crate::machine::ins::{Ins, Op};

impl Lower<'_> {
    pub(super) fn conditional(&mut self, c: &Expr, yes: &Expr, no: &Expr) -> Result<Val> {
        let condition = self.rvalue(c)?;
        let condition = self.truth(&condition)?;
        if let Some(c) = condition.constant {
            let (chosen, other) = if c != 0 { (yes, no) } else { (no, yes) };
            return self.chosen(chosen, other);
        }
        let ty = self.conditional_type(yes, no)?;
        if ty == Ty::Void {
            return self.refuse("`?:` without a value");
        }
        if self.leaf_count(&ty) == 1 && self.is_pure(yes) && self.is_pure(no) {
            let mark = self.mark();
            let v = self.select(&condition, (yes, no), &ty)?;
            // An application of the operator counts only where it is chosen.
            if !self.applied_since(&mark) {
                return Ok(v);
            }
            self.rewind(&mark);
        }
        self.branch(&condition, (yes, no), ty)
    }

    /// The side that a constant condition chooses, converted to the type that both sides have in
    /// common.
    fn chosen(&mut self, chosen: &Expr, other: &Expr) -> Result<Val> {
        let v = self.rvalue(chosen)?;
        // The other side isn't compiled, as it may be a template's end of recursion.
        let (Ty::Scalar(a), Some(Ty::Scalar(b))) = (&v.ty, self.plain_type(other)) else {
            return Ok(v);
        };
        if *a == b {
            return Ok(v);
        }
        let ty = Ty::Scalar(common(*a, b));
        self.cast(v, &ty)
    }

    fn select(&mut self, condition: &Val, sides: (&Expr, &Expr), ty: &Ty) -> Result<Val> {
        let a = self.rvalue(sides.0)?;
        let a = self.implicit(a, ty)?;
        let b = self.rvalue(sides.1)?;
        let b = self.implicit(b, ty)?;
        let (rc, ra, rb) = (self.register(condition)?, self.register(&a)?, self.register(&b)?);
        let d = self.temp(1)?;
        self.emit(Ins { op: Op::Select, x: 0, d, a: rc, b: ra, k: u32::from(rb) })?;
        Ok(Val::register(ty.clone(), d, a.taint.join(&b.taint)))
    }

    fn branch(&mut self, condition: &Val, sides: (&Expr, &Expr), ty: Ty) -> Result<Val> {
        let rc = self.register(condition)?;
        let d = self.temp(self.leaf_count(&ty))?;
        let top = self.top;
        let to_no = self.jump(Op::JumpZero, rc)?;
        let a = self.rvalue(sides.0)?;
        let a = self.implicit(a, &ty)?;
        self.copy_value(d, &a)?;
        let to_end = self.jump(Op::Jump, 0)?;
        self.top = top;
        self.land(&[to_no]);
        let b = self.rvalue(sides.1)?;
        let b = self.implicit(b, &ty)?;
        self.copy_value(d, &b)?;
        self.top = top;
        self.land(&[to_end]);
        Ok(Val::register(ty, d, a.taint.join(&b.taint)))
    }

    fn conditional_type(&mut self, yes: &Expr, no: &Expr) -> Result<Ty> {
        let (a, b) = (self.type_of(yes)?, self.type_of(no)?);
        Ok(match (&a, &b) {
            (Ty::Pointer(x), Ty::Pointer(y)) if x.ty == y.ty => {
                Ty::pointer(x.ty.clone(), x.qualifiers.join(y.qualifiers))
            }
            (Ty::Pointer(x), Ty::Pointer(_)) if x.ty == Ty::Void => b,
            (Ty::Scalar(x), Ty::Scalar(y)) if x != y => Ty::Scalar(common(*x, *y)),
            (Ty::Scalar(_), Ty::Pointer(_)) => b,
            (Ty::Scalar(_), Ty::Struct(_)) => b,
            (Ty::Atomic(_), _) | (_, Ty::Atomic(_)) if a != b => {
                return self.conditional_atomic(&a, &b);
            }
            _ => a,
        })
    }

    /// Of two sides one of which is an atomic: it becomes what the other one is.
    fn conditional_atomic(&self, a: &Ty, b: &Ty) -> Result<Ty> {
        match (a, b) {
            (Ty::Atomic(x), Ty::Atomic(y)) if x.ty == y.ty => return Ok(x.ty.clone()),
            (Ty::Atomic(of), other) | (other, Ty::Atomic(of))
                if of.reference && !matches!(other, Ty::Atomic(_)) =>
            {
                return Ok(other.clone());
            }
            _ => {}
        }
        // Other types convert to that of an atomic variable as well.
        let (a, b) = (self.describe(a), self.describe(b));
        let error = self.pos.error(format!("`?:` between values of type `{a}` and `{b}`"));
        Err(error.with_help("`load()` gives an atomic's value"))
    }

    /// The type of an expression as far as it shows without compiling it: none for calls, say.
    fn plain_type(&mut self, e: &Expr) -> Option<Ty> {
        let comparison = |op: Binary| {
            use Binary as B;
            matches!(op, B::Lt | B::Gt | B::Le | B::Ge | B::Eq | B::Ne)
                || matches!(op, B::LogicalAnd | B::LogicalOr)
        };
        match &e.kind {
            ExprKind::Integer(_, ty) | ExprKind::Float(_, ty) => Some(Ty::Scalar(*ty)),
            ExprKind::Bool(_) | ExprKind::Unary(Unary::Not, _) => Some(Ty::BOOL),
            ExprKind::SizeofType(_) | ExprKind::SizeofExpr(_) => Some(Ty::U64),
            ExprKind::Cast(_, ty, _) | ExprKind::Construct(ty, _) => match &**ty {
                TypeExpr::Scalar(_) | TypeExpr::Named(_) => self.resolve(ty).ok().map(|(ty, _)| ty),
                _ => None,
            },
            ExprKind::Name(path) => match path.simple().and_then(|name| self.lookup(name))? {
                Symbol::Variable(place, _) => Some(place.ty.clone()),
                Symbol::Constant(_, ty) => Some(Ty::Scalar(*ty)),
                _ => None,
            },
            ExprKind::Binary(op, ..) if comparison(*op) => Some(Ty::BOOL),
            ExprKind::Binary(op, a, b) => {
                let Ty::Scalar(a) = self.plain_type(a)? else { return None };
                if matches!(op, Binary::Shl | Binary::Shr) {
                    return Some(Ty::Scalar(common(a, a)));
                }
                let Ty::Scalar(b) = self.plain_type(b)? else { return None };
                Some(Ty::Scalar(common(a, b)))
            }
            ExprKind::Unary(Unary::Plus | Unary::Minus | Unary::Complement, a) => {
                let Ty::Scalar(a) = self.plain_type(a)? else { return None };
                Some(Ty::Scalar(common(a, a)))
            }
            ExprKind::Conditional(_, a, b) => {
                let (a, b) = (self.plain_type(a)?, self.plain_type(b)?);
                match (&a, &b) {
                    (Ty::Scalar(x), Ty::Scalar(y)) if x != y => Some(Ty::Scalar(common(*x, *y))),
                    _ => Some(a),
                }
            }
            ExprKind::Comma(_, b) => self.plain_type(b),
            ExprKind::Index(base, _) | ExprKind::Unary(Unary::Dereference, base) => {
                match self.plain_type(base)? {
                    Ty::Pointer(to) => Some(to.ty.clone()),
                    Ty::Array(element, _) => Some((*element).clone()),
                    _ => None,
                }
            }
            ExprKind::Member { object, part, .. } => match self.plain_type(object)? {
                Ty::Struct(id) => self.field(id, &part.name).map(|f| f.ty.clone()),
                Ty::Pointer(to) => match to.ty {
                    Ty::Struct(id) => self.field(id, &part.name).map(|f| f.ty.clone()),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }
}
