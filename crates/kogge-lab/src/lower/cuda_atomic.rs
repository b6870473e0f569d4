//! `cuda::atomic` and `cuda::atomic_ref`: what they are of, and how they come to be.
//!
//! A value of either type is an address. An atomic that is a variable is never copied; where its
//! value is needed it is read, as its conversion operator does.

use std::sync::Arc;

use super::ty::{Atomic, Qualifiers, ThreadScope, Ty};
use super::value::{Base, Place, PlaceKind, Val};
use super::{Lower, Result};
use crate::lang::ast::{AtomicExpr, Expr, ExprKind, TemplateArgument, TypeExpr};
use order::Order;

mod member;
mod operator;
mod order;
mod word;

impl Lower<'_> {
    /// The type that a source writes.
    pub(super) fn atomic_type(&mut self, e: &AtomicExpr) -> Result<Ty> {
        self.pos = e.pos;
        let name = spelling(e.reference, e.std);
        let (ty, scope) = match e.arguments.as_deref() {
            Some([TemplateArgument::Type(ty)]) => (ty, ThreadScope::System),
            Some([TemplateArgument::Type(ty), TemplateArgument::Value(scope)]) if !e.std => {
                (ty, self.thread_scope(scope)?)
            }
            Some(_) if e.std => return Err(e.pos.error(format!("`{name}` is of one type"))),
            Some(_) => return Err(e.pos.error(format!("`{name}` is of a type and a scope"))),
            None if e.reference => {
                return Err(e.pos.error(format!("`{name}` needs the type that it is of")));
            }
            None => return Err(e.pos.outside(format!("`{name}` without the type that it is of"))),
        };
        let (ty, qualifiers) = self.resolve(ty)?;
        if qualifiers != Qualifiers::default() {
            let ty = self.describe(&ty);
            return self.refuse(format!("`{name}` of `{}{ty}`", qualifiers.words()));
        }
        self.pos = e.pos;
        self.check_word(&ty, name)?;
        Ok(Ty::Atomic(Arc::new(Atomic { ty, scope, reference: e.reference, std: e.std })))
    }

    /// The type of `cuda::atomic_ref r(x)`, which what it refers to tells; none where the source
    /// says it.
    pub(super) fn deduced_atomic(
        &mut self,
        ty: &TypeExpr,
        arguments: Option<&[Expr]>,
    ) -> Result<Option<Ty>> {
        let TypeExpr::Atomic(e @ AtomicExpr { reference: true, arguments: None, .. }) = ty else {
            return Ok(None);
        };
        let Some([one]) = arguments else { return Ok(None) };
        let ty = self.undecayed_type(one)?;
        if ty.is_atomic_reference() {
            return Ok(Some(ty));
        }
        self.check_word(&ty, spelling(e.reference, e.std))?;
        let scope = ThreadScope::System;
        Ok(Some(Ty::Atomic(Arc::new(Atomic { ty, scope, reference: true, std: e.std }))))
    }

    /// The type of `T(…)` or `T{…}`.
    pub(super) fn constructed_type(&mut self, ty: &TypeExpr, arguments: &[Expr]) -> Result<Ty> {
        match self.deduced_atomic(ty, Some(arguments))? {
            Some(ty) => Ok(ty),
            None => Ok(self.resolve(ty)?.0),
        }
    }

    pub(super) fn describe_atomic(&self, atomic: &Atomic) -> String {
        let scope = match atomic.scope {
            ThreadScope::System => "",
            ThreadScope::Device => ", cuda::thread_scope_device",
            ThreadScope::Block => ", cuda::thread_scope_block",
        };
        let name = spelling(atomic.reference, atomic.std);
        format!("{name}<{}{scope}>", self.describe(&atomic.ty))
    }

    /// Refuses what copies an atomic, or something that has one.
    pub(super) fn check_copied(&self, ty: &Ty) -> Result<()> {
        if !self.holds_atomic(ty) {
            return Ok(());
        }
        let error = self.pos.error(format!("a `{}` cannot be copied", self.describe(ty)));
        Err(match ty {
            Ty::Atomic(_) => error.with_help("`load()` gives its value; pass it by reference"),
            _ => error.with_help("it has atomics; pass it by reference"),
        })
    }

    /// Refuses an atomic reference without what it refers to.
    pub(super) fn check_default(&self, ty: &Ty) -> Result<()> {
        if ty.is_atomic_reference() {
            return Err(self.unbound(ty));
        }
        Ok(())
    }

    fn unbound(&self, ty: &Ty) -> crate::Diagnostic {
        self.pos.error(format!("a `{}` needs the variable that it refers to", self.describe(ty)))
    }

    /// `cuda::atomic_ref<T>(x)`. An atomic that is a variable is made in its place alone.
    pub(super) fn construct_atomic(
        &mut self,
        atomic: &Arc<Atomic>,
        arguments: &[Expr],
    ) -> Result<Val> {
        let ty = Ty::Atomic(atomic.clone());
        if !atomic.reference {
            return self.refuse(format!("a `{}` that is no variable", self.describe(&ty)));
        }
        let [one] = arguments else { return Err(self.unbound(&ty)) };
        let pos = self.pos;
        let Some(place) = self.try_place(one)? else {
            let v = self.rvalue(one)?;
            self.pos = pos;
            return if v.ty == ty { Ok(v) } else { Err(self.cannot_refer(&ty, "", &v.ty)) };
        };
        self.pos = pos;
        if place.ty == ty {
            return self.load(&place);
        }
        self.refer(atomic, &place)
    }

    fn refer(&mut self, atomic: &Arc<Atomic>, place: &Place) -> Result<Val> {
        let ty = Ty::Atomic(atomic.clone());
        let qualifiers =
            Qualifiers { volatile: place.volatile, constant: place.constant, loose: false };
        if place.ty != atomic.ty || qualifiers != Qualifiers::default() {
            return Err(self.cannot_refer(&ty, qualifiers.words(), &place.ty));
        }
        if let PlaceKind::Register { .. } = place.kind {
            return self.refuse("an atomic reference to a variable that only its thread sees");
        }
        let address = self.address_of(place)?;
        Ok(Val { ty, ..address })
    }

    fn cannot_refer(&self, reference: &Ty, words: &str, to: &Ty) -> crate::Diagnostic {
        let (reference, to) = (self.describe(reference), self.describe(to));
        self.pos.error(format!("a `{reference}` cannot refer to a `{words}{to}`"))
    }

    /// Gives an atomic variable its first value, which is no atomic access; false if the place is
    /// something else.
    pub(super) fn initialise_atomic(&mut self, place: &Place, members: &[Expr]) -> Result<bool> {
        let Some(atomic) = place.ty.atomic_variable() else { return Ok(false) };
        let ty = atomic.ty.clone();
        let inner = Place { ty: ty.clone(), ..place.clone() };
        let value = match members {
            [] => self.construct(&ty, &[])?,
            [one] => self.atomic_value(one, &ty)?,
            _ => {
                let atomic = self.describe(&place.ty);
                return Err(self.pos.error(format!("a `{atomic}` is made of one value")));
            }
        };
        self.store(&inner, &value)?;
        Ok(true)
    }

    /// A value for an atomic of this type; a braced list may stand for a struct.
    fn atomic_value(&mut self, e: &Expr, ty: &Ty) -> Result<Val> {
        let pos = self.pos;
        if let ExprKind::List(members) = &e.kind {
            return self.construct(ty, members);
        }
        let v = self.rvalue(e)?;
        self.pos = pos;
        self.implicit(v, ty)
    }

    /// An atomic's value, read as its conversion does; any other value as it is.
    pub(super) fn settle(&mut self, v: Val) -> Result<Val> {
        let Ty::Atomic(atomic) = &v.ty else { return Ok(v) };
        let atomic = atomic.clone();
        self.atomic_load(&atomic, &v, Order::SeqCst)
    }

    /// The place that a value lies in: an atomic's own, for others a new one.
    pub(super) fn place_of(&mut self, v: Val) -> Result<Place> {
        if v.ty.atomic_variable().is_none() {
            return self.materialise(v);
        }
        let base = match v.constant {
            Some(c) => Base::Constant(c),
            None => Base::Register(self.register(&v)?),
        };
        let kind = PlaceKind::Memory { base, offset: 0 };
        Ok(Place { ty: v.ty, volatile: false, constant: false, variable: None, kind })
    }
}

const fn spelling(reference: bool, std: bool) -> &'static str {
    match (reference, std) {
        (true, true) => "cuda::std::atomic_ref",
        (true, false) => "cuda::atomic_ref",
        (false, true) => "cuda::std::atomic",
        (false, false) => "cuda::atomic",
    }
}
