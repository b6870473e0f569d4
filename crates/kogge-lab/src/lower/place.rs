//! Places: what an expression names and can be read, written or pointed at.

use super::scope::Symbol;
use super::taint::Taint;
use super::ty::Ty;
use super::value::{Base, Place, PlaceKind, Val};
use super::{Lower, Result};
use crate::lang::ast::{CastKind, Expr, ExprKind, Part, TypeExpr, Unary};
use crate::machine::address;
use crate::machine::alu::is_float;
use crate::machine::ins::{Ins, Op};

impl Lower<'_> {
    /// The place that an expression names, or none if it is only a value.
    pub(super) fn try_place(&mut self, e: &Expr) -> Result<Option<Place>> {
        self.descend()?;
        let outer = self.pos;
        self.pos = e.pos;
        let result = self.try_place_inner(e);
        self.pos = outer;
        self.depth -= 1;
        result
    }

    fn try_place_inner(&mut self, e: &Expr) -> Result<Option<Place>> {
        match &e.kind {
            ExprKind::Name(path) => {
                if let Some(name) = path.simple() {
                    match self.lookup(name) {
                        Some(Symbol::Variable(place, _)) => return Ok(Some(place.clone())),
                        Some(_) => return Ok(None),
                        None => {}
                    }
                }
                self.file_variable(path)
            }
            ExprKind::Unary(Unary::Dereference, operand) => {
                if let ExprKind::This = operand.kind {
                    return Ok(self.frame().this.clone());
                }
                let pointer = self.rvalue(operand)?;
                self.pos = e.pos;
                let pointer = self.settle(pointer)?;
                self.dereference(&pointer).map(Some)
            }
            ExprKind::Index(base, index) => {
                let base = self.rvalue(base)?;
                if let Ty::Struct(_) = base.ty {
                    return Ok(None);
                }
                let base = self.protect(base, index)?;
                let index = self.rvalue(index)?;
                self.pos = e.pos;
                let pointer = self.advance(&base, &index, false)?;
                self.dereference(&pointer).map(Some)
            }
            ExprKind::Member { object, part, arrow } => self.member_place(e, object, part, *arrow),
            ExprKind::Cast(kind, ty, operand) => self.cast_place(*kind, ty, operand),
            ExprKind::Comma(a, b) => {
                // Left to `rvalue`, lest the first operand's effects happen twice.
                if matches!(b.kind, ExprKind::Call(..) | ExprKind::Construct(..)) {
                    return Ok(None);
                }
                self.rvalue(a)?;
                self.try_place(b)
            }
            // The target is evaluated once: it may have effects of its own.
            ExprKind::Assign(op, target, value) => {
                self.assign_place(*op, target, value).map(|(_, place)| Some(place))
            }
            ExprKind::Step { target, up, prefix: true } => {
                self.step_place(target, *up, true).map(|(_, place)| Some(place))
            }
            _ => Ok(None),
        }
    }

    /// `reinterpret_cast<T &>(x)`: the same bytes seen as another type. None for what is a value:
    /// `static_cast<const int &>(x)` of a `float`, say.
    fn cast_place(
        &mut self,
        kind: CastKind,
        ty: &TypeExpr,
        operand: &Expr,
    ) -> Result<Option<Place>> {
        if !matches!(ty, TypeExpr::Reference(_)) {
            return Ok(None);
        }
        let pos = self.pos;
        let (to, qualifiers) = self.resolve(ty)?;
        let Some(place) = self.try_place(operand)? else {
            return Ok(None);
        };
        self.pos = pos;
        let place = self.base_place(place, &to);
        let converts = match (&place.ty, &to) {
            (Ty::Scalar(a), Ty::Scalar(b)) => a != b,
            (Ty::Atomic(_), to) | (to, Ty::Atomic(_)) => place.ty != *to,
            _ => false,
        };
        match kind {
            CastKind::Static | CastKind::C if converts && qualifiers.constant => return Ok(None),
            CastKind::Static | CastKind::Const if converts => {
                let to = format!("{}{} &", qualifiers.words(), self.describe(&to));
                return Err(self.refused_cast(kind, &place.ty, &to));
            }
            _ => {}
        }
        let volatile = qualifiers.volatile || place.volatile;
        let constant = qualifiers.constant;
        if place.constant && !constant {
            self.check_const_cast(kind)?;
        }
        Ok(Some(Place { ty: to, volatile, constant, ..place }))
    }

    /// `object.part`, `object->part`.
    fn member_place(
        &mut self,
        e: &Expr,
        object: &Expr,
        part: &Part,
        arrow: bool,
    ) -> Result<Option<Place>> {
        let owner = if arrow {
            if let ExprKind::This = object.kind {
                self.frame().this.clone()
            } else {
                let pointer = self.rvalue(object)?;
                self.pos = e.pos;
                Some(self.dereference(&pointer)?)
            }
        } else {
            self.try_place(object)?
        };
        let Some(owner) = owner else { return Ok(None) };
        let Ty::Struct(id) = owner.ty else {
            return Ok(None);
        };
        let Some(f) = self.field(id, &part.name).cloned() else {
            return Err(self.no_member(id, &part.name));
        };
        Ok(Some(Self::part(&owner, f.ty, f.leaf, f.offset, f.volatile)))
    }

    pub(super) fn place(&mut self, e: &Expr) -> Result<Place> {
        if let Some(place) = self.try_place(e)? {
            return Ok(place);
        }
        // An atomic that no variable names, as `cuda::atomic_ref<int>(x[0]) += 1` has it.
        if let ExprKind::Construct(..) | ExprKind::Call(..) | ExprKind::Conditional(..) = &e.kind
            && let v @ Val { ty: Ty::Atomic(_), .. } = self.rvalue(e)?
        {
            return self.place_of(v);
        }
        // `half *x = …` of a type that is not known is a product.
        if let ExprKind::Binary(_, a, _) = &e.kind {
            self.rvalue(a)?;
        }
        if let ExprKind::Name(_) = e.kind {
            self.rvalue(e)?;
        }
        Err(e.pos.error("this cannot be assigned to"))
    }

    /// A place, or the part of it that is the base of this type which a reference to that refers to.
    pub(super) fn base_place(&self, place: Place, ty: &Ty) -> Place {
        match (&place.ty, ty) {
            (Ty::Struct(from), Ty::Struct(base)) => match self.base_part(*from, *base) {
                Some(part) => Self::part(&place, ty.clone(), part.leaf, part.offset, false),
                None => place,
            },
            _ => place,
        }
    }

    /// What a pointer points at.
    pub(super) fn dereference(&mut self, pointer: &Val) -> Result<Place> {
        let Ty::Pointer(to) = &pointer.ty else {
            let ty = self.describe(&pointer.ty);
            return Err(self.pos.error(format!("a value of type `{ty}` is no pointer")));
        };
        if to.ty == Ty::Void {
            return Err(self.pos.error("a `void *` must be cast before it is used"));
        }
        let base = match pointer.constant {
            Some(c) => Base::Constant(c),
            None => Base::Register(self.register(pointer)?),
        };
        Ok(Place {
            ty: to.ty.clone(),
            volatile: to.qualifiers.volatile,
            constant: to.qualifiers.constant,
            variable: None,
            kind: PlaceKind::Memory { base, offset: 0 },
        })
    }

    /// `pointer + index` or `pointer - index`, in elements.
    pub(super) fn advance(&mut self, pointer: &Val, index: &Val, back: bool) -> Result<Val> {
        let (pointer, index) = (&self.settle(pointer.clone())?, &self.settle(index.clone())?);
        let (pointer, index) = match (&pointer.ty, &index.ty) {
            (Ty::Pointer(_), _) => (pointer, index),
            (_, Ty::Pointer(_)) if !back => (index, pointer),
            _ => return Err(self.pos.error("only arrays and pointers have elements")),
        };
        let Ty::Pointer(to) = &pointer.ty else {
            return Err(self.pos.error("only arrays and pointers have elements"));
        };
        let Some(index_type) = index.ty.scalar().filter(|&s| !is_float(s)) else {
            let ty = self.describe(&index.ty);
            return Err(self.pos.error(format!("an index of type `{ty}`")));
        };
        let size = self.size_of(&to.ty);
        let scale = if back { (size as i64).wrapping_neg() } else { size as i64 };
        if let (Some(p), Some(i)) = (pointer.constant, index.constant) {
            let offset = (i as i64).saturating_mul(scale);
            return Ok(Val::constant(pointer.ty.clone(), address::advance(p, offset)));
        }
        let Ok(scale) = i32::try_from(scale) else {
            return Err(self.pos.error("elements of this size"));
        };
        let _ = index_type;
        let (a, b) = (self.register(pointer)?, self.register(index)?);
        let d = self.temp(1)?;
        self.emit(Ins { op: Op::Index, x: 0, d, a, b, k: scale as u32 })?;
        Ok(Val::register(pointer.ty.clone(), d, Taint::default()))
    }

    /// A place read; an array gives its address.
    pub(super) fn read(&mut self, place: &Place) -> Result<Val> {
        if let Ty::Array(element, _) = &place.ty {
            // Of what an array's elements are its type doesn't tell, which templates go by.
            let element = Place { ty: (**element).clone(), constant: false, ..place.clone() };
            return self.address_of(&element);
        }
        self.load(place)
    }

    /// The address of byte 0 of a shared object.
    pub(super) const fn shared_address(index: usize) -> u64 {
        address::pack(address::SHARED + index as u32, 0)
    }
}
