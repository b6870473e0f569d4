//! Atomics: which exist for which types, and the instruction.

use super::taint::Taint;
use super::ty::{Pointee, Qualifiers, Ty};
use super::value::Val;
use super::{Lower, Result};
use crate::lang::ast::Expr;
use crate::machine::ins::{AtomicOp, Ins, Op, atomic, code};
use crate::value::ScalarType;

/// The types that CUDA declares an atomic for.
const fn types(op: AtomicOp) -> &'static [ScalarType] {
    use ScalarType as S;
    match op {
        AtomicOp::Add => &[S::I32, S::U32, S::U64, S::F32, S::F64],
        AtomicOp::Sub => &[S::I32, S::U32],
        AtomicOp::Exchange => &[S::I32, S::U32, S::U64, S::F32],
        AtomicOp::CompareSwap => &[S::I32, S::U32, S::U64, S::U16],
        AtomicOp::Increment | AtomicOp::Decrement => &[S::U32],
        AtomicOp::Min | AtomicOp::Max | AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => {
            &[S::I32, S::U32, S::I64, S::U64]
        }
        // Not functions of CUDA's, but members of `cuda::atomic_ref`.
        AtomicOp::Load | AtomicOp::Store => &[],
    }
}

impl Lower<'_> {
    pub(super) fn atomic(&mut self, name: &str, arguments: &[Expr]) -> Result<Option<Val>> {
        let Some(name) = name.strip_prefix("atomic") else {
            return Ok(None);
        };
        let block = name.strip_suffix("_block");
        let bare = block.or(name.strip_suffix("_system")).unwrap_or(name);
        let op = match bare {
            "Add" => AtomicOp::Add,
            "Sub" => AtomicOp::Sub,
            "Exch" => AtomicOp::Exchange,
            "Min" => AtomicOp::Min,
            "Max" => AtomicOp::Max,
            "Inc" => AtomicOp::Increment,
            "Dec" => AtomicOp::Decrement,
            "CAS" => AtomicOp::CompareSwap,
            "And" => AtomicOp::And,
            "Or" => AtomicOp::Or,
            "Xor" => AtomicOp::Xor,
            _ => return Ok(None),
        };
        let count = if op == AtomicOp::CompareSwap { 3 } else { 2 };
        let name = format!("atomic{name}");
        let values = self.values(arguments, count, &name)?;
        self.emit_atomic(op, block.is_some(), &values, &name).map(Some)
    }

    fn emit_atomic(
        &mut self,
        op: AtomicOp,
        block: bool,
        values: &[Val],
        name: &str,
    ) -> Result<Val> {
        let Some((pointer, operands)) = values.split_first() else {
            return self.refuse("an atomic without arguments");
        };
        let ty = self.declared_type(op, pointer, name)?;
        let mut converted = Vec::new();
        for v in operands {
            converted.push(self.implicit(v.clone(), &Ty::Scalar(ty))?);
        }
        let scope = if block { atomic::BLOCK } else { 0 };
        self.atomic_access(op, scope, ty, pointer, &converted)
    }

    /// The instruction, with its operands in registers one after the other; what was there.
    pub(super) fn atomic_access(
        &mut self,
        op: AtomicOp,
        flags: u32,
        ty: ScalarType,
        pointer: &Val,
        operands: &[Val],
    ) -> Result<Val> {
        let a = self.register(pointer)?;
        let b = self.temp(operands.len().max(1))?;
        for (i, v) in operands.iter().enumerate() {
            let from = self.register(v)?;
            self.emit(Ins { d: b + i as u16, a: from, ..Ins::new(Op::Mov) })?;
        }
        let d = self.temp(1)?;
        self.emit(Ins { op: Op::Atomic, x: code(ty), d, a, b, k: op as u32 | flags })?;
        self.barrier = self.code.len();
        let combines = matches!(
            op,
            AtomicOp::Add
                | AtomicOp::Min
                | AtomicOp::Max
                | AtomicOp::And
                | AtomicOp::Or
                | AtomicOp::Xor
        );
        if let (true, [operand]) = (combines && !self.has_operator && self.work == 0, operands)
            && (operand.taint.data || !operand.taint.variables.is_empty())
        {
            let at = self.emit(Ins { x: 0, ..Ins::new(Op::Work) })?;
            let taint = operand.taint.clone();
            self.taints.candidate(at, &taint, &Taint::data());
        }
        Ok(Val::register(Ty::Scalar(ty), d, Taint::default()))
    }

    /// The type that an atomic works on, if CUDA has it.
    fn declared_type(&self, op: AtomicOp, pointer: &Val, name: &str) -> Result<ScalarType> {
        let Ty::Pointer(to) = &pointer.ty else {
            let ty = self.describe(&pointer.ty);
            return Err(self
                .pos
                .error(format!("`{name}` needs a pointer, not a value of type `{ty}`")));
        };
        let types = types(op);
        match &**to {
            Pointee { ty: Ty::Scalar(s), qualifiers }
                if types.contains(s) && *qualifiers == Qualifiers::default() =>
            {
                Ok(*s)
            }
            Pointee { ty, qualifiers } => {
                let of = qualifiers.words();
                let names: Vec<&str> = types.iter().map(|t| t.c_name()).collect();
                Err(self
                    .pos
                    .error(format!("CUDA has no `{name}` of `{of}{}`", self.describe(ty)))
                    .with_help(format!("it has one of {}", names.join(", "))))
            }
        }
    }
}
