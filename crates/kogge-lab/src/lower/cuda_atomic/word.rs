//! The word that an atomic of a type is accessed as: the value itself, or all members of a small
//! struct at once.

use crate::lower::taint::Taint;
use crate::lower::ty::Ty;
use crate::lower::value::Val;
use crate::lower::{Lower, Result};
use crate::machine::ins::{Ins, Op, code};
use crate::value::ScalarType;

/// The unsigned integer of so many bytes.
const fn unsigned(size: usize) -> ScalarType {
    match size {
        1 => ScalarType::U8,
        2 => ScalarType::U16,
        4 => ScalarType::U32,
        _ => ScalarType::U64,
    }
}

impl Lower<'_> {
    /// The type of the word.
    pub(super) fn word(&self, ty: &Ty) -> ScalarType {
        match ty {
            Ty::Scalar(s) => *s,
            ty => unsigned(self.size_of(ty) as usize),
        }
    }

    /// Refuses types that no access takes as a whole.
    pub(super) fn check_word(&self, ty: &Ty, name: &str) -> Result<()> {
        let size = self.size_of(ty);
        let whole = matches!(size, 4 | 8);
        let (fits, help) = match ty {
            Ty::Scalar(_) | Ty::Pointer(_) => (whole, "numbers of 32 and 64 bits are"),
            Ty::Struct(_) => {
                let bytes: u64 = self.leaves(ty).iter().map(|(_, s)| s.size() as u64).sum();
                let fits = whole && bytes == size && !self.holds_atomic(ty);
                (fits, "structs of 4 and 8 bytes without padding are")
            }
            _ => (false, "numbers, pointers and small structs are"),
        };
        if fits {
            return Ok(());
        }
        let error = self.pos.outside(format!("`{name}` of `{}`", self.describe(ty)));
        Err(error.with_help(format!("{help} within it")))
    }

    /// A value as its word.
    pub(super) fn as_word(&mut self, v: &Val) -> Result<Val> {
        let word = self.word(&v.ty);
        if !matches!(v.ty, Ty::Struct(_)) {
            return Ok(Val { ty: Ty::Scalar(word), ..v.clone() });
        }
        let first = self.register(v)?;
        let mut whole = Val::constant(Ty::Scalar(word), 0);
        for (i, (offset, s)) in self.leaves(&v.ty).into_iter().enumerate() {
            let leaf = Val::register(Ty::Scalar(s), first + i as u16, Taint::default());
            let bits = self.bits_as(&leaf, s, unsigned(s.size()))?;
            let shift = Val::constant(Ty::UNSIGNED, 8 * offset);
            let moved = self.op(Op::Shl, code(word), &bits, &shift, Ty::Scalar(word))?;
            whole = self.op(Op::Or, code(word), &whole, &moved, Ty::Scalar(word))?;
        }
        Ok(Val { taint: v.taint.clone(), ..whole })
    }

    /// The value that a word is.
    pub(super) fn of_word(&mut self, word: Val, ty: &Ty) -> Result<Val> {
        if !matches!(ty, Ty::Struct(_)) {
            return Ok(Val { ty: ty.clone(), ..word });
        }
        let scalar = self.word(ty);
        let leaves = self.leaves(ty);
        let d = self.temp(leaves.len())?;
        for (i, (offset, s)) in leaves.into_iter().enumerate() {
            let shift = Val::constant(Ty::UNSIGNED, 8 * offset);
            let moved = self.op(Op::Shr, code(scalar), &word, &shift, Ty::Scalar(scalar))?;
            let leaf = self.bits_as(&moved, scalar, s)?;
            let from = self.register(&leaf)?;
            self.emit(Ins { d: d + i as u16, a: from, ..Ins::new(Op::Mov) })?;
        }
        Ok(Val::register(ty.clone(), d, word.taint))
    }

    /// The lowest bits of a register as another type has them.
    fn bits_as(&mut self, v: &Val, from: ScalarType, to: ScalarType) -> Result<Val> {
        // A float's bits lie in its register as those of an integer.
        let integer = |s: ScalarType| match s {
            ScalarType::F32 | ScalarType::F64 => unsigned(s.size()),
            // Not "whether there is a bit", but that bit.
            ScalarType::Bool => ScalarType::U8,
            s => s,
        };
        let a = self.register(v)?;
        let d = self.temp(1)?;
        let x = code(integer(from)) << 4 | code(integer(to));
        self.emit(Ins { x, d, a, ..Ins::new(Op::Convert) })?;
        Ok(Val::register(Ty::Scalar(to), d, v.taint.clone()))
    }
}
