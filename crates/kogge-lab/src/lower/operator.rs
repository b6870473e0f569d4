//! Binary operators on values.

use super::ty::Ty;
use super::value::Val;
use super::{Lower, Result, common};
use crate::lang::ast::Binary;
use crate::machine::alu::{is_float, is_signed};
use crate::machine::ins::{Ins, Op, code};
use crate::value::ScalarType;

/// The instruction of an arithmetic operator on a type.
pub(super) fn arithmetic(op: Binary, ty: ScalarType) -> Op {
    use ScalarType as S;
    match (op, ty) {
        (Binary::Add, S::F32) => Op::AddF32,
        (Binary::Add, S::F64) => Op::AddF64,
        (Binary::Add, S::U32) => Op::AddU32,
        (Binary::Add, S::I64 | S::U64) => Op::Add64,
        (Binary::Add, _) => Op::AddI32,
        (Binary::Sub, S::F32) => Op::SubF32,
        (Binary::Sub, S::F64) => Op::SubF64,
        (Binary::Sub, S::U32) => Op::SubU32,
        (Binary::Sub, S::I64 | S::U64) => Op::Sub64,
        (Binary::Sub, _) => Op::SubI32,
        (Binary::Mul, S::F32) => Op::MulF32,
        (Binary::Mul, S::F64) => Op::MulF64,
        (Binary::Mul, S::U32) => Op::MulU32,
        (Binary::Mul, S::I64 | S::U64) => Op::Mul64,
        (Binary::Mul, _) => Op::MulI32,
        (Binary::Div, S::F32) => Op::DivF32,
        (Binary::Div, S::F64) => Op::DivF64,
        (Binary::Div, _) => Op::Div,
        (Binary::Rem, _) => Op::Rem,
        (Binary::And, _) => Op::And,
        (Binary::Or, _) => Op::Or,
        (Binary::Xor, _) => Op::Xor,
        (Binary::Shl, _) => Op::Shl,
        (Binary::Shr, _) => Op::Shr,
        (Binary::Lt | Binary::Gt, S::F32) => Op::LtF32,
        (Binary::Lt | Binary::Gt, S::F64) => Op::LtF64,
        (Binary::Lt | Binary::Gt, t) if is_signed(t) => Op::LtS,
        (Binary::Lt | Binary::Gt, _) => Op::LtU,
        (Binary::Le | Binary::Ge, S::F32) => Op::LeF32,
        (Binary::Le | Binary::Ge, S::F64) => Op::LeF64,
        (Binary::Le | Binary::Ge, t) if is_signed(t) => Op::LeS,
        (Binary::Le | Binary::Ge, _) => Op::LeU,
        (Binary::Eq, S::F32) => Op::EqF32,
        (Binary::Eq, S::F64) => Op::EqF64,
        (Binary::Eq, _) => Op::Eq,
        (Binary::Ne, S::F32) => Op::NeF32,
        (Binary::Ne, S::F64) => Op::NeF64,
        (Binary::Ne, _) => Op::Ne,
        // Lowered before as jumps.
        (Binary::LogicalAnd, _) => Op::And,
        (Binary::LogicalOr, _) => Op::Or,
    }
}

const fn is_comparison(op: Binary) -> bool {
    matches!(op, Binary::Lt | Binary::Gt | Binary::Le | Binary::Ge | Binary::Eq | Binary::Ne)
}

pub(super) const fn spelling(op: Binary) -> &'static str {
    match op {
        Binary::Add => "+",
        Binary::Sub => "-",
        Binary::Mul => "*",
        Binary::Div => "/",
        Binary::Rem => "%",
        Binary::And => "&",
        Binary::Or => "|",
        Binary::Xor => "^",
        Binary::Shl => "<<",
        Binary::Shr => ">>",
        Binary::Lt => "<",
        Binary::Gt => ">",
        Binary::Le => "<=",
        Binary::Ge => ">=",
        Binary::Eq => "==",
        Binary::Ne => "!=",
        Binary::LogicalAnd => "&&",
        Binary::LogicalOr => "||",
    }
}

impl Lower<'_> {
    pub(super) fn binary(&mut self, op: Binary, a: &Val, b: &Val) -> Result<Val> {
        if let (Ty::Atomic(_), _) | (_, Ty::Atomic(_)) = (&a.ty, &b.ty) {
            let (a, b) = (self.settle(a.clone())?, self.settle(b.clone())?);
            return self.binary(op, &a, &b);
        }
        match (&a.ty, &b.ty) {
            (Ty::Struct(_), _) | (_, Ty::Struct(_)) => {
                let name = format!("operator{}", spelling(op));
                self.overloaded(&name, &[a.clone(), b.clone()])
            }
            (Ty::Pointer(_), _) | (_, Ty::Pointer(_)) => self.pointer_binary(op, a, b),
            (Ty::Scalar(x), Ty::Scalar(y)) => self.scalar_binary(op, a, b, *x, *y),
            _ => {
                let (x, y) = (self.describe(&a.ty), self.describe(&b.ty));
                Err(self
                    .pos
                    .error(format!("`{}` between values of type `{x}` and `{y}`", spelling(op))))
            }
        }
    }

    fn scalar_binary(
        &mut self,
        op: Binary,
        a: &Val,
        b: &Val,
        x: ScalarType,
        y: ScalarType,
    ) -> Result<Val> {
        // A shift has its left operand's type.
        let shift = matches!(op, Binary::Shl | Binary::Shr);
        let ty = if shift { common(x, x) } else { common(x, y) };
        let integral = shift || matches!(op, Binary::And | Binary::Or | Binary::Xor | Binary::Rem);
        if integral && (is_float(x) || is_float(y)) {
            return Err(self.pos.error(format!("`{}` of floating-point numbers", spelling(op))));
        }
        let (taint_a, taint_b) = (a.taint.clone(), b.taint.clone());
        let a = self.cast(a.clone(), &Ty::Scalar(ty))?;
        let b = if shift { b.clone() } else { self.cast(b.clone(), &Ty::Scalar(ty))? };
        let swapped = matches!(op, Binary::Gt | Binary::Ge);
        let (left, right) = if swapped { (&b, &a) } else { (&a, &b) };
        let result = if is_comparison(op) { Ty::BOOL } else { Ty::Scalar(ty) };
        let mut v = self.op(arithmetic(op, ty), code(ty), left, right, result)?;
        if is_comparison(op) {
            v.taint = super::taint::Taint::default();
        }
        let applies =
            matches!(op, Binary::Add | Binary::Mul | Binary::And | Binary::Or | Binary::Xor);
        if applies {
            self.note_work(&v, &a, &b, (&taint_a, &taint_b))?;
        }
        Ok(v)
    }

    /// Notes that `v` may be an application of the scan's operator.
    pub(super) fn note_work(
        &mut self,
        v: &Val,
        a: &Val,
        b: &Val,
        taints: (&super::taint::Taint, &super::taint::Taint),
    ) -> Result<()> {
        if self.has_operator || self.work > 0 || v.constant.is_some() {
            return Ok(());
        }
        let known = |t: &super::taint::Taint| t.data || !t.variables.is_empty();
        if !(known(taints.0) && known(taints.1)) {
            return Ok(());
        }
        let (d, a, b) = (self.register(v)?, self.register(a)?, self.register(b)?);
        let at = self.emit(Ins { op: Op::Work, x: 1, d, a, b, k: 0 })?;
        self.taints.candidate(at, taints.0, taints.1);
        Ok(())
    }

    fn pointer_binary(&mut self, op: Binary, a: &Val, b: &Val) -> Result<Val> {
        match (op, &a.ty, &b.ty) {
            (Binary::Add, _, _) => self.advance(a, b, false),
            (Binary::Sub, Ty::Pointer(_), Ty::Scalar(_)) => self.advance(a, b, true),
            (Binary::Sub, Ty::Pointer(to), Ty::Pointer(other)) => {
                if to.ty != other.ty || to.ty == Ty::Void {
                    return Err(self.unrelated(op, a, b));
                }
                let size = self.size_of(&to.ty);
                let i64_type = Ty::Scalar(ScalarType::I64);
                let bytes = self.op(Op::Sub64, 0, a, b, i64_type.clone())?;
                let size = Val::constant(i64_type.clone(), size);
                self.op(Op::Div, code(ScalarType::I64), &bytes, &size, i64_type)
            }
            (op, _, _) if is_comparison(op) => {
                let swapped = matches!(op, Binary::Gt | Binary::Ge);
                if !(self.converts(a, &b.ty) || self.converts(b, &a.ty)) {
                    return Err(self.unrelated(op, a, b));
                }
                let (a, b) = (self.cast(a.clone(), &Ty::U64)?, self.cast(b.clone(), &Ty::U64)?);
                let (left, right) = if swapped { (&b, &a) } else { (&a, &b) };
                self.op(arithmetic(op, ScalarType::U64), 0, left, right, Ty::BOOL)
            }
            _ => Err(self.pos.error(format!("`{}` of pointers", spelling(op)))),
        }
    }

    fn unrelated(&self, op: Binary, a: &Val, b: &Val) -> crate::Diagnostic {
        let (a, b) = (self.describe(&a.ty), self.describe(&b.ty));
        self.pos.error(format!("`{}` between values of type `{a}` and `{b}`", spelling(op)))
    }
}
