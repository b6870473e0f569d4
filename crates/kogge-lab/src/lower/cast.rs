//! Conversions of values from type to type.

use super::ty::Ty;
use super::value::Val;
use super::{Lower, Result};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::CastKind;
use crate::machine::alu::{convert, is_float};
use crate::machine::ins::{Ins, Op, code};
use crate::value::ScalarType;

impl Lower<'_> {
    /// A value as a truth value.
    pub(super) fn truth(&mut self, v: &Val) -> Result<Val> {
        self.cast(v.clone(), &Ty::BOOL)
    }

    /// A value converted where the source writes no cast: pointers and integers don't become each
    /// other, nor pointers to different types.
    pub(super) fn implicit(&mut self, v: Val, to: &Ty) -> Result<Val> {
        if !self.converts(&v, to) {
            let (from, name) = (self.describe(&v.ty), self.describe(to));
            let help = match (&v.ty, to) {
                (Ty::Pointer(a), Ty::Pointer(b))
                    if a.ty == b.ty && a.qualifiers.constant && !b.qualifiers.constant =>
                {
                    format!("make that a `const {name}` too, or leave `const` out")
                }
                _ => "if it is meant, write a cast".into(),
            };
            let error = format!("a value of type `{from}` does not convert to `{name}` by itself");
            return Err(self.pos.error(error).with_help(help));
        }
        self.cast(v, to)
    }

    /// Whether a value converts without a cast, as far as pointers go.
    pub(super) fn converts(&self, v: &Val, to: &Ty) -> bool {
        let null = v.constant == Some(0);
        match (&v.ty, to) {
            (Ty::Pointer(a), Ty::Pointer(b)) => {
                let base = match (&a.ty, &b.ty) {
                    (Ty::Struct(a), Ty::Struct(b)) => self.base_part(*a, *b).is_some(),
                    _ => false,
                };
                let same = a.ty == b.ty || b.ty == Ty::Void || base;
                same && a.qualifiers.within(b.qualifiers) || null && a.ty == Ty::Void
            }
            (Ty::Pointer(_), Ty::Scalar(s)) => *s == ScalarType::Bool,
            (Ty::Scalar(s), Ty::Pointer(_)) => null && !is_float(*s),
            (Ty::Atomic(of), to) if v.ty != *to => self.converts(&Val::nothing(of.ty.clone()), to),
            _ => true,
        }
    }

    /// Refuses a cast that isn't what its word stands for, as CUDA's compiler does.
    pub(super) fn check_cast(&self, kind: CastKind, v: &Val, to: &Ty) -> Result<()> {
        let integer = |s: &ScalarType| !is_float(*s) && *s != ScalarType::Bool;
        let drops = match (&v.ty, to) {
            (Ty::Pointer(a), Ty::Pointer(b)) => !a.qualifiers.within(b.qualifiers),
            _ => false,
        };
        let fits = match (kind, &v.ty, to) {
            (CastKind::Static, Ty::Pointer(a), Ty::Pointer(b)) => {
                let down = match (&a.ty, &b.ty) {
                    (Ty::Struct(a), Ty::Struct(b)) => self.base_part(*b, *a).is_some(),
                    _ => false,
                };
                down || a.ty == Ty::Void || a.ty == b.ty || self.converts(v, to)
            }
            (CastKind::Static, Ty::Pointer(_), _) | (CastKind::Static, _, Ty::Pointer(_)) => {
                self.converts(v, to)
            }
            (CastKind::Reinterpret, Ty::Pointer(_), Ty::Pointer(_)) => true,
            (CastKind::Reinterpret, Ty::Scalar(s), Ty::Pointer(_)) => integer(s),
            (CastKind::Reinterpret | CastKind::C, Ty::Pointer(_), Ty::Scalar(s)) if integer(s) => {
                s.size() == 8
            }
            (CastKind::Reinterpret, from, to) => from == to,
            (CastKind::Const, Ty::Pointer(a), Ty::Pointer(b)) => a.ty == b.ty,
            (CastKind::Const, ..) => false,
            _ => true,
        };
        if fits && drops {
            return self.check_const_cast(kind);
        }
        if fits {
            return Ok(());
        }
        Err(self.refused_cast(kind, &v.ty, &self.describe(to)))
    }

    /// The error of a cast that makes no such type, as C writes it.
    pub(super) fn refused_cast(&self, kind: CastKind, from: &Ty, to: &str) -> Diagnostic {
        let from = self.describe(from);
        let error = format!("{} makes no `{to}` of a value of type `{from}`", word(kind));
        let error = self.pos.error(error);
        match kind {
            CastKind::Static => error.with_help("`reinterpret_cast` takes the same bytes for it"),
            CastKind::Const => error.with_help("it takes away `const` or `volatile`, nothing else"),
            CastKind::C => error.with_help("a pointer has 64 bits"),
            CastKind::Reinterpret => error,
        }
    }

    /// Refuses to take `const` or `volatile` away, but by the casts that may.
    pub(super) fn check_const_cast(&self, kind: CastKind) -> Result<()> {
        match kind {
            CastKind::C | CastKind::Const => Ok(()),
            kind => {
                let error = format!("{} takes no `const` or `volatile` away", word(kind));
                let help = "say it of the new type too; `const_cast` would take it away";
                Err(self.pos.error(error).with_help(help))
            }
        }
    }

    /// A value converted to another type.
    pub(super) fn cast(&mut self, v: Val, to: &Ty) -> Result<Val> {
        if v.ty == *to {
            return Ok(v);
        }
        let v = self.settle(v)?;
        if v.ty == *to {
            return Ok(v);
        }
        let wrong = |me: &Self, v: &Val| {
            let (from, to) = (me.describe(&v.ty), me.describe(to));
            Err(me.pos.error(format!("a value of type `{from}` does not convert to `{to}`")))
        };
        match (&v.ty, to) {
            (Ty::Scalar(from), Ty::Scalar(to)) => self.cast_scalar(v.clone(), *from, *to),
            (Ty::Pointer(a), Ty::Pointer(b)) => {
                let moved = match (&a.ty, &b.ty) {
                    (Ty::Struct(a), Ty::Struct(b)) => self.way_to_base(*a, *b),
                    _ => 0,
                };
                let v = self.moved_pointer(v, moved)?;
                Ok(Val { ty: to.clone(), ..v })
            }
            (Ty::Pointer(_), Ty::Scalar(ScalarType::Bool)) => {
                let zero = Val::constant(Ty::U64, 0);
                self.op(Op::Ne, 0, &v, &zero, Ty::BOOL)
            }
            (Ty::Pointer(_), Ty::Scalar(s)) if !is_float(*s) => {
                let v = Val { ty: Ty::U64, ..v };
                self.cast_scalar(v, ScalarType::U64, *s)
            }
            (Ty::Scalar(s), Ty::Pointer(_)) if !is_float(*s) => {
                let v = self.cast_scalar(v.clone(), *s, ScalarType::U64)?;
                Ok(Val { ty: to.clone(), ..v })
            }
            (Ty::Struct(from), Ty::Struct(base)) if self.base_part(*from, *base).is_some() => {
                let leaf = self.base_part(*from, *base).map_or(0, |part| part.leaf) as u16;
                let register = v.register.map(|register| register + leaf);
                Ok(Val { ty: to.clone(), register, ..v })
            }
            (_, Ty::Struct(id)) => {
                let id = *id;
                self.convert_to_struct(v, id, to)
            }
            _ => wrong(self, &v),
        }
    }

    /// By how many bytes a pointer to one struct moves to point at the other, which is a base of it
    /// or has it for a base.
    fn way_to_base(&self, from: usize, to: usize) -> i64 {
        let down = || self.base_part(to, from).map_or(0, |part| -(part.offset as i64));
        self.base_part(from, to).map_or_else(down, |part| part.offset as i64)
    }

    /// A null pointer stays one.
    fn moved_pointer(&mut self, v: Val, bytes: i64) -> Result<Val> {
        if bytes == 0 || v.constant == Some(0) {
            return Ok(v);
        }
        let zero = Val::constant(Ty::U64, 0);
        let address = Val { ty: Ty::U64, ..v.clone() };
        let some = self.op(Op::Ne, 0, &address, &zero, Ty::BOOL)?;
        let some = self.cast_scalar(some, ScalarType::Bool, ScalarType::U64)?;
        let by = Val::constant(Ty::U64, bytes as u64);
        let by = self.op(Op::Mul64, 0, &some, &by, Ty::U64)?;
        let sum = self.op(Op::Add64, 0, &address, &by, Ty::U64)?;
        Ok(Val { ty: v.ty, ..sum })
    }

    fn cast_scalar(&mut self, v: Val, from: ScalarType, to: ScalarType) -> Result<Val> {
        let ty = Ty::Scalar(to);
        if let Some(c) = v.constant {
            return Ok(Val { ty, constant: Some(convert(from, to, c)), register: None, ..v });
        }
        // Widening an integer register changes no bit.
        let unsigned =
            |s| matches!(s, ScalarType::Bool | ScalarType::U8 | ScalarType::U16 | ScalarType::U32);
        let wider = to.size() > from.size() && !is_float(from) && !is_float(to);
        let same = wider && (unsigned(from) || !unsigned(to))
            || to.size() == 8 && !is_float(from) && !is_float(to);
        if same && to != ScalarType::Bool {
            return Ok(Val { ty, ..v });
        }
        let a = self.register(&v)?;
        let d = self.temp(1)?;
        self.emit(Ins {
            op: Op::Convert,
            x: code(from) << 4 | code(to),
            d,
            a,
            ..Ins::new(Op::Convert)
        })?;
        Ok(Val { ty, register: Some(d), ..v })
    }
}

/// What a cast is written with.
const fn word(kind: CastKind) -> &'static str {
    match kind {
        CastKind::C => "a cast",
        CastKind::Static => "`static_cast`",
        CastKind::Reinterpret => "`reinterpret_cast`",
        CastKind::Const => "`const_cast`",
    }
}
