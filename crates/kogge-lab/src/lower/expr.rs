//! Expressions.

use super::scope::Symbol;
use super::taint::Taint;
use super::ty::{Group, Qualifiers, Ty};
use super::value::{PlaceKind, Val};
use super::{Lower, Result};
use crate::lang::ast::{Binary, Expr, ExprKind, Path, TypeExpr, Unary};
use crate::machine::alu::{convert, is_float, of_f32, of_f64};
use crate::machine::ins::{Ins, Op, Special, code};
use crate::value::ScalarType;

impl Lower<'_> {
    /// The value of an expression; arrays decay to pointers.
    pub(super) fn rvalue(&mut self, e: &Expr) -> Result<Val> {
        self.descend()?;
        let outer = self.pos;
        self.pos = e.pos;
        let result = self.rvalue_inner(e);
        self.pos = outer;
        self.depth -= 1;
        result
    }

    fn rvalue_inner(&mut self, e: &Expr) -> Result<Val> {
        match &e.kind {
            ExprKind::Integer(value, ty) => Ok(Val::constant(Ty::Scalar(*ty), *value)),
            ExprKind::Float(value, ScalarType::F32) => {
                Ok(Val::constant(Ty::Scalar(ScalarType::F32), of_f32(*value as f32)))
            }
            ExprKind::Float(value, ty) => Ok(Val::constant(Ty::Scalar(*ty), of_f64(*value))),
            ExprKind::Bool(value) => Ok(Val::constant(Ty::BOOL, u64::from(*value))),
            ExprKind::Null => Ok(Val::constant(Ty::pointer(Ty::Void, Qualifiers::default()), 0)),
            ExprKind::Text => self.refuse("text"),
            ExprKind::Unary(op, operand) => self.unary(*op, operand),
            ExprKind::Step { target, up, prefix } => self.step(target, *up, *prefix),
            ExprKind::Binary(Binary::LogicalAnd, a, b) => self.logical(a, b, true),
            ExprKind::Binary(Binary::LogicalOr, a, b) => self.logical(a, b, false),
            ExprKind::Binary(op, a, b) => {
                let left = self.rvalue(a)?;
                let left = self.protect(left, b)?;
                let right = self.rvalue(b)?;
                self.pos = e.pos;
                self.binary(*op, &left, &right)
            }
            ExprKind::Assign(op, target, value) => self.assign(*op, target, value),
            ExprKind::Conditional(c, yes, no) => self.conditional(c, yes, no),
            ExprKind::Comma(a, b) => {
                self.discard(a)?;
                self.rvalue(b)
            }
            ExprKind::Call(callee, arguments) => self.call(callee, arguments),
            ExprKind::Cast(kind, ty, operand) => {
                if let (TypeExpr::Reference(_), Some(place)) = (&**ty, self.try_place(e)?) {
                    return self.read(&place);
                }
                let (to, _) = self.resolve(ty)?;
                if to == Ty::Void {
                    self.discard(operand)?;
                    return Ok(Val::nothing(Ty::Void));
                }
                let v = self.rvalue(operand)?;
                self.pos = e.pos;
                self.check_cast(*kind, &v, &to)?;
                self.cast(v, &to)
            }
            ExprKind::Construct(ty, arguments) => {
                let to = self.constructed_type(ty, arguments)?;
                self.construct(&to, arguments)
            }
            ExprKind::SizeofType(ty) => {
                let (ty, _) = self.resolve(ty)?;
                Ok(Val::constant(Ty::U64, self.size_of(&ty)))
            }
            ExprKind::SizeofExpr(operand) => {
                let ty = self.undecayed_type(operand)?;
                Ok(Val::constant(Ty::U64, self.size_of(&ty)))
            }
            ExprKind::List(_) => Err(e.pos.error("a braced list has no type here")),
            ExprKind::Name(path) => self.name(path),
            ExprKind::This => {
                let this = self.frame().this.clone();
                match this {
                    Some(place) => self.address_of(&place),
                    None => Err(e.pos.error("`this` outside a method")),
                }
            }
            ExprKind::Index(..) | ExprKind::Member { .. } => {
                if let Some(v) = self.builtin_member(e)? {
                    return Ok(v);
                }
                match self.try_place(e)? {
                    Some(place) => self.read(&place),
                    None => self.member_of_value(e),
                }
            }
        }
    }

    /// Keeps the value of a variable that the other operand changes.
    pub(super) fn protect(&mut self, v: Val, other: &Expr) -> Result<Val> {
        let in_variable = v.register.is_some_and(|r| u32::from(r) < self.floor);
        if !in_variable || !has_effects(other) {
            return Ok(v);
        }
        let d = self.temp(self.leaf_count(&v.ty))?;
        self.copy_value(d, &v)?;
        Ok(Val { register: Some(d), ..v })
    }

    fn name(&mut self, path: &Path) -> Result<Val> {
        if let Some(name) = path.simple() {
            match self.lookup(name) {
                Some(Symbol::Variable(place, Some(value))) => {
                    return Ok(Val::constant(place.ty.clone(), *value));
                }
                Some(Symbol::Variable(place, None)) => {
                    let place = place.clone();
                    return self.read(&place);
                }
                Some(Symbol::Constant(value, ty)) => {
                    return Ok(Val::constant(Ty::Scalar(*ty), *value));
                }
                _ => {}
            }
        }
        if let Some(v) = self.qualified_constant(path)? {
            return Ok(v);
        }
        if let Some(v) = Self::order_or_scope(path.last()) {
            return Ok(v);
        }
        match path.last() {
            "warpSize" => return Ok(Val::constant(Ty::INT, 32)),
            "__builtin_inff" => return self.refuse("this name"),
            "threadIdx" => return self.triple("uint3", Special::Thread),
            "blockIdx" => return self.triple("uint3", Special::Block),
            "blockDim" => return self.triple("dim3", Special::BlockDim),
            "gridDim" => return self.triple("dim3", Special::GridDim),
            _ => {}
        }
        if let Some(place) = self.file_variable(path)? {
            return self.read(&place);
        }
        if let Some(v) = self.file_constant(path)? {
            return Ok(v);
        }
        if path.parts.len() == 1 && self.named.contains_key(path.last()) {
            self.pos = path.pos;
            return self.refuse(format!("the function `{}` as a value", path.last()));
        }
        Err(self.unknown("the name", path))
    }

    /// `Struct::constant`, `Enum::member`.
    fn qualified_constant(&mut self, path: &Path) -> Result<Option<Val>> {
        let [owner @ .., last] = &path.parts[..] else {
            return Ok(None);
        };
        if owner.is_empty() {
            return Ok(None);
        }
        let mut owner = Path { parts: owner.to_vec(), pos: path.pos };
        let mut ty = self.resolve(&TypeExpr::Named(owner.clone()))?.0;
        if let (Ty::Scalar(_), 2..) = (&ty, owner.parts.len()) {
            // An enumeration within a struct, whose members it has.
            owner.parts.pop();
            ty = self.resolve(&TypeExpr::Named(owner))?.0;
        }
        let symbol = match ty {
            Ty::Struct(id) => self.structs[id].scope.get(&last.name),
            // Of an enumeration within the function.
            _ => self.lookup(&last.name),
        };
        Ok(match symbol {
            Some(Symbol::Constant(value, ty)) => Some(Val::constant(Ty::Scalar(*ty), *value)),
            _ => None,
        })
    }

    /// `threadIdx` as a whole.
    fn triple(&mut self, name: &str, make: fn(u8) -> Special) -> Result<Val> {
        let Some(ty) = self.vector_type(name) else {
            return self.refuse(format!("`{name}`"));
        };
        let d = self.temp(3)?;
        for i in 0..3 {
            let from = self.special(make(i))?;
            let from = self.register(&from)?;
            self.emit(Ins { d: d + u16::from(i), a: from, ..Ins::new(Op::Mov) })?;
        }
        Ok(Val::register(ty, d, Taint::default()))
    }

    /// `threadIdx.x` and its like.
    fn builtin_member(&mut self, e: &Expr) -> Result<Option<Val>> {
        let ExprKind::Member { object, part, arrow: false } = &e.kind else {
            return Ok(None);
        };
        let ExprKind::Name(path) = &object.kind else {
            return Ok(None);
        };
        let Some(name) = path.simple() else {
            return Ok(None);
        };
        if self.lookup(name).is_some() {
            return Ok(None);
        }
        let make = match &**name {
            "threadIdx" => Special::Thread,
            "blockIdx" => Special::Block,
            "blockDim" => Special::BlockDim,
            "gridDim" => Special::GridDim,
            _ => return Ok(None),
        };
        let axis = match &*part.name {
            "x" => 0,
            "y" => 1,
            "z" => 2,
            other => return Err(e.pos.error(format!("`{name}` has no member `{other}`"))),
        };
        self.special(make(axis)).map(Some)
    }

    /// A member of a struct that is no lvalue, such as a call's result.
    fn member_of_value(&mut self, e: &Expr) -> Result<Val> {
        let ExprKind::Member { object, part, .. } = &e.kind else {
            return Err(e.pos.error("only arrays and pointers have elements"));
        };
        let v = self.rvalue(object)?;
        self.pos = e.pos;
        let Ty::Struct(id) = v.ty else {
            let ty = self.describe(&v.ty);
            return Err(e
                .pos
                .error(format!("a value of type `{ty}` has no member `{}`", part.name)));
        };
        let Some(field) = self.field(id, &part.name).cloned() else {
            return Err(self.no_member(id, &part.name));
        };
        if self.lives_in_memory(&v.ty) {
            let place = self.materialise(v)?;
            let part = Self::part(&place, field.ty, field.leaf, field.offset, field.volatile);
            return self.read(&part);
        }
        let register = self.register(&v)? + field.leaf as u16;
        Ok(Val::register(field.ty, register, v.taint))
    }

    pub(super) fn no_member(&self, id: usize, name: &str) -> crate::Diagnostic {
        let owner = &self.structs[id].name;
        if self.structs[id].decl.declared.iter().any(|declared| **declared == *name) {
            return self.pos.error(format!("`{name}` of `{owner}` is declared, but not defined"));
        }
        self.pos.error(format!("`{owner}` has no member `{name}`"))
    }

    fn unary(&mut self, op: Unary, operand: &Expr) -> Result<Val> {
        let pos = self.pos;
        match op {
            Unary::Address => {
                let place = self.place(operand)?;
                self.pos = pos;
                self.address_of(&place)
            }
            Unary::Dereference => {
                if let ExprKind::This = operand.kind
                    && let Some(place) = self.frame().this.clone()
                {
                    return self.read(&place);
                }
                let pointer = self.rvalue(operand)?;
                self.pos = pos;
                let pointer = self.settle(pointer)?;
                let place = self.dereference(&pointer)?;
                self.read(&place)
            }
            Unary::Not => {
                let v = self.rvalue(operand)?;
                self.pos = pos;
                let v = self.truth(&v)?;
                let zero = Val::constant(Ty::BOOL, 0);
                self.op(Op::Eq, 0, &v, &zero, Ty::BOOL)
            }
            Unary::Plus | Unary::Minus | Unary::Complement => {
                let v = self.rvalue(operand)?;
                self.pos = pos;
                let v = self.settle(v)?;
                if let Ty::Struct(_) = v.ty {
                    let name = match op {
                        Unary::Minus => "operator-",
                        Unary::Plus => "operator+",
                        _ => "operator~",
                    };
                    return self.overloaded(name, &[v]);
                }
                let Some(s) = v.ty.scalar() else {
                    return Err(self.pos.error("a sign before a pointer"));
                };
                let ty = super::common(s, s);
                let v = self.cast(v, &Ty::Scalar(ty))?;
                match op {
                    Unary::Plus => Ok(v),
                    Unary::Minus if is_float(ty) => {
                        // −x keeps the sign of zero, which 0 − x would not.
                        let minus_one = convert(ScalarType::I32, ty, -1i64 as u64);
                        let minus_one = Val::constant(Ty::Scalar(ty), minus_one);
                        let multiply = super::operator::arithmetic(Binary::Mul, ty);
                        self.op(multiply, code(ty), &v, &minus_one, Ty::Scalar(ty))
                    }
                    Unary::Minus => {
                        let zero = Val::constant(Ty::Scalar(ty), 0);
                        let subtract = super::operator::arithmetic(Binary::Sub, ty);
                        self.op(subtract, code(ty), &zero, &v, Ty::Scalar(ty))
                    }
                    _ if is_float(ty) => Err(self.pos.error("`~` of a floating-point number")),
                    _ => {
                        let ones = crate::machine::alu::canonical(ty, u64::MAX);
                        let ones = Val::constant(Ty::Scalar(ty), ones);
                        self.op(Op::Xor, 0, &v, &ones, Ty::Scalar(ty))
                    }
                }
            }
        }
    }

    /// `&&` and `||`: the right side runs only if it decides, unless running
    /// it shows nothing.
    fn logical(&mut self, a: &Expr, b: &Expr, and: bool) -> Result<Val> {
        let left = self.rvalue(a)?;
        let left = self.truth(&left)?;
        if let Some(c) = left.constant {
            if (c != 0) != and {
                return Ok(Val::constant(Ty::BOOL, u64::from(!and)));
            }
            let right = self.rvalue(b)?;
            return self.truth(&right);
        }
        if self.is_pure(b) {
            let mark = self.mark();
            let right = self.rvalue(b)?;
            let right = self.truth(&right)?;
            if !self.applied_since(&mark) {
                let op = if and { Op::And } else { Op::Or };
                return self.op(op, 0, &left, &right, Ty::BOOL);
            }
            self.rewind(&mark);
        }
        let d = self.temp(1)?;
        self.copy_value(d, &left)?;
        let op = if and { Op::JumpZero } else { Op::JumpNonZero };
        let skip = self.jump(op, d)?;
        let top = self.top;
        let right = self.rvalue(b)?;
        let right = self.truth(&right)?;
        self.copy_value(d, &right)?;
        self.top = top;
        self.land(&[skip]);
        Ok(Val::register(Ty::BOOL, d, Taint::default()))
    }

    /// Whether evaluating an expression needlessly shows nothing: no load, no
    /// call, no assignment, no division, no variable that may be unwritten.
    pub(super) fn is_pure(&self, e: &Expr) -> bool {
        self.is_pure_within(e, 8)
    }

    fn is_pure_within(&self, e: &Expr, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        match &e.kind {
            ExprKind::Integer(..) | ExprKind::Float(..) | ExprKind::Bool(_) => true,
            ExprKind::Name(path) => match path.simple().and_then(|n| self.lookup(n)) {
                Some(Symbol::Variable(_, Some(_)) | Symbol::Constant(..)) => true,
                // An operator on a struct is a call, which may show anything.
                Some(Symbol::Variable(place, None)) => {
                    matches!(place.kind, PlaceKind::Register { flag: None, .. })
                        && matches!(place.ty, Ty::Scalar(_) | Ty::Pointer(_))
                }
                _ => path.last() == "warpSize",
            },
            ExprKind::Member { object, arrow: false, .. } => match &object.kind {
                ExprKind::Name(path) => {
                    let builtin = ["threadIdx", "blockIdx", "blockDim", "gridDim"];
                    path.simple().is_some_and(|n| {
                        builtin.contains(&&**n) && self.lookup(n).is_none()
                            || matches!(self.lookup(n), Some(Symbol::Variable(p, None))
                                if matches!(p.kind, PlaceKind::Register { flag: None, .. }))
                    })
                }
                _ => false,
            },
            ExprKind::Unary(op, a) => {
                !matches!(op, Unary::Address | Unary::Dereference) && self.is_pure_within(a, depth)
            }
            ExprKind::Binary(op, a, b) => {
                !matches!(op, Binary::Div | Binary::Rem)
                    && self.is_pure_within(a, depth)
                    && self.is_pure_within(b, depth)
            }
            ExprKind::Cast(_, ty, a) => {
                matches!(**ty, crate::lang::ast::TypeExpr::Scalar(_))
                    && self.is_pure_within(a, depth)
            }
            _ => false,
        }
    }

    pub(super) fn group_of(&self, e: &Expr) -> Option<Group> {
        let ExprKind::Name(path) = &e.kind else {
            return None;
        };
        match self.lookup(path.simple()?)? {
            Symbol::Variable(place, _) => match place.ty {
                Ty::Group(g) => Some(g),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Whether evaluating an expression may change a variable.
fn has_effects(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Integer(..)
        | ExprKind::Float(..)
        | ExprKind::Bool(_)
        | ExprKind::Null
        | ExprKind::This
        | ExprKind::Text
        | ExprKind::Name(_)
        | ExprKind::SizeofType(_)
        | ExprKind::SizeofExpr(_) => false,
        ExprKind::Unary(_, a) | ExprKind::Cast(.., a) => has_effects(a),
        ExprKind::Member { object, .. } => has_effects(object),
        ExprKind::Binary(_, a, b) | ExprKind::Index(a, b) | ExprKind::Comma(a, b) => {
            has_effects(a) || has_effects(b)
        }
        ExprKind::Conditional(a, b, c) => has_effects(a) || has_effects(b) || has_effects(c),
        ExprKind::Construct(_, arguments) | ExprKind::List(arguments) => {
            arguments.iter().any(has_effects)
        }
        ExprKind::Step { .. } | ExprKind::Assign(..) | ExprKind::Call(..) => true,
    }
}
