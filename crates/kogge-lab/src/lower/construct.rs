//! Construction of values: from arguments, by constructors, from a braced list
//! or by default.

use std::sync::Arc;

use super::argument::Argument;
use super::scope::Scope;
use super::ty::Ty;
use super::value::{Place, Val};
use super::{Lower, Result};
use crate::lang::ast::{Expr, ExprKind, Function, Init};

impl Lower<'_> {
    /// A value of a type from arguments or list members.
    pub(super) fn construct(&mut self, ty: &Ty, arguments: &[Expr]) -> Result<Val> {
        match ty {
            Ty::Scalar(_) | Ty::Pointer(_) => match arguments {
                [] => Ok(Val::constant(ty.clone(), 0)),
                [one] if !matches!(one.kind, ExprKind::List(_)) => {
                    let v = self.rvalue(one)?;
                    self.cast(v, ty)
                }
                _ => Err(self.pos.error("one value, not a list, is needed here")),
            },
            Ty::Struct(_) => self.construct_struct(ty, arguments),
            Ty::Void => {
                for a in arguments {
                    self.rvalue(a)?;
                }
                Ok(Val::nothing(Ty::Void))
            }
            Ty::Array(..) => self.refuse("an array as a value"),
            Ty::Group(_) => self.refuse("constructing a cooperative group here"),
            Ty::Atomic(atomic) => self.construct_atomic(atomic, arguments),
        }
    }

    fn construct_struct(&mut self, ty: &Ty, arguments: &[Expr]) -> Result<Val> {
        let Ty::Struct(id) = *ty else {
            return self.refuse("this construction");
        };
        if let [one] = arguments
            && !matches!(one.kind, ExprKind::List(_))
            && self.type_of(one)? == *ty
        {
            return self.rvalue(one);
        }
        if let [one] = arguments
            && self.structs[id].name == "dim3"
            && !matches!(one.kind, ExprKind::List(_))
        {
            let v = self.rvalue(one)?;
            if let Some(v) = self.convert_to_dim3(&v, id)? {
                return Ok(v);
            }
        }
        let place = self.fresh_object(ty.clone())?;
        let decl = self.structs[id].decl.clone();
        if decl.methods.iter().any(|m| m.name == decl.name) {
            let values = self.arguments(arguments)?;
            if self.run_constructor(&place, id, values)? {
                return self.load(&place);
            }
            if !arguments.is_empty() {
                return Err(self.pos.error(format!(
                    "no constructor of `{}` takes these arguments",
                    self.structs[id].name
                )));
            }
        }
        self.initialise(&place, arguments)?;
        self.load(&place)
    }

    /// A value that becomes a struct: by a constructor of one argument, or,
    /// for a one-member struct from zero, by its member.
    pub(super) fn convert_to_struct(&mut self, v: Val, id: usize, to: &Ty) -> Result<Val> {
        if let Some(v) = self.convert_to_dim3(&v, id)? {
            return Ok(v);
        }
        let pos = self.pos;
        let from = self.describe(&v.ty);
        let place = self.fresh_object(to.clone())?;
        let argument = Argument::operand(v, None);
        if self.run_constructor(&place, id, vec![argument])? {
            return self.load(&place);
        }
        let to = self.describe(to);
        Err(pos.error(format!("a value of type `{from}` does not convert to `{to}`")))
    }

    /// A `dim3` of one number, the other axes being 1, or of a `uint3`; and back.
    fn convert_to_dim3(&mut self, v: &Val, id: usize) -> Result<Option<Val>> {
        let to = self.structs[id].name.clone();
        let to_ty = Ty::Struct(id);
        match &v.ty {
            Ty::Struct(from)
                if matches!(
                    (&*self.structs[*from].name, &*to),
                    ("uint3", "dim3") | ("dim3", "uint3")
                ) =>
            {
                Ok(Some(Val { ty: to_ty, ..v.clone() }))
            }
            Ty::Scalar(_) if to == "dim3" => {
                let v = self.cast(v.clone(), &Ty::UNSIGNED)?;
                let d = self.temp(3)?;
                self.copy_value(d, &v)?;
                for axis in 1..3 {
                    self.copy_value(d + axis, &Val::constant(Ty::UNSIGNED, 1))?;
                }
                Ok(Some(Val::register(to_ty, d, v.taint)))
            }
            _ => Ok(None),
        }
    }

    /// Runs a constructor on an object; false if none takes the arguments.
    pub(super) fn run_constructor(
        &mut self,
        object: &Place,
        id: usize,
        arguments: Vec<Argument>,
    ) -> Result<bool> {
        let decl = self.structs[id].decl.clone();
        let constructors: Vec<_> = decl
            .methods
            .iter()
            .filter(|m| m.name == decl.name)
            .map(|m| (Some(id), m.clone()))
            .collect();
        if constructors.is_empty() {
            return Ok(false);
        }
        let values: Vec<Val> = arguments.iter().map(Argument::shape).collect();
        match self.choose(&constructors, None, &values)? {
            Some(chosen) => {
                self.inline(chosen, arguments, Some(object.clone()))?;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// Member initialisers of a constructor, and default values of members.
    pub(super) fn construct_members(&mut self, f: &Arc<Function>) -> Result<()> {
        let Some(this) = self.frame().this.clone() else {
            return Ok(());
        };
        let Ty::Struct(id) = this.ty else {
            return Ok(());
        };
        if f.name != self.structs[id].decl.name {
            return Ok(());
        }
        for (part, base) in self.base_places(&this, id) {
            let name = &self.structs[base].decl.name;
            if !f.initialisers.iter().any(|(n, _)| n == name) {
                self.construct_by_default(&part, base)?;
            }
        }
        self.default_members(&this, id)?;
        for (name, arguments) in &f.initialisers {
            let Some(field) = self.field(id, name).cloned() else {
                self.construct_base(&this, id, (name, arguments))?;
                continue;
            };
            let place = Self::part(&this, field.ty, field.leaf, field.offset, field.volatile);
            if self.initialise_atomic(&place, arguments)? {
                continue;
            }
            let v = self.construct(&place.ty, arguments)?;
            self.store(&place, &v)?;
        }
        Ok(())
    }

    /// The parts of an object that are what its struct is derived from, and their structs.
    fn base_places(&self, place: &Place, id: usize) -> Vec<(Place, usize)> {
        let mut parts = Vec::new();
        let mut above = 0;
        for base in &self.structs[id].bases {
            // Behind a base come those that it is derived from itself.
            if above > 0 {
                above -= 1;
                continue;
            }
            above = self.structs[base.id].bases.len();
            let ty = Ty::Struct(base.id);
            parts.push((Self::part(place, ty, base.leaf, base.offset, false), base.id));
        }
        parts
    }

    /// A base that a constructor's member initialisers name.
    fn construct_base(
        &mut self,
        this: &Place,
        id: usize,
        (name, arguments): (&str, &[Expr]),
    ) -> Result<()> {
        let bases = self.base_places(this, id);
        let named = |(_, base): &&(Place, usize)| *self.structs[*base].decl.name == *name;
        let Some((part, _)) = bases.iter().find(named) else {
            return Err(self.no_member(id, name));
        };
        let v = self.construct(&part.ty, arguments)?;
        self.store(part, &v)
    }

    /// Values that a struct's declaration gives its members.
    pub(super) fn default_members(&mut self, place: &Place, id: usize) -> Result<()> {
        // Their names are those that the struct sees.
        let mut scope = Scope::default();
        self.bind_fields(place, &mut scope);
        let outer = std::mem::replace(&mut self.scopes, vec![scope]);
        let result = self.store_defaults(place, id);
        self.scopes = outer;
        result
    }

    /// An object that is given no value: its constructor's, or those of its members.
    pub(super) fn construct_by_default(&mut self, place: &Place, id: usize) -> Result<()> {
        if self.run_constructor(place, id, Vec::new())? {
            return Ok(());
        }
        for (part, base) in self.base_places(place, id) {
            self.construct_by_default(&part, base)?;
        }
        self.default_members(place, id)
    }

    fn store_defaults(&mut self, place: &Place, id: usize) -> Result<()> {
        let decl = self.structs[id].decl.clone();
        for field in &decl.fields {
            let Some(f) = self.field(id, &field.name).cloned() else {
                continue;
            };
            let part = Self::part(place, f.ty, f.leaf, f.offset, f.volatile);
            let Some(init) = &field.init else {
                if let (Ty::Struct(inner), false) = (&part.ty, decl.union) {
                    self.construct_by_default(&part, *inner)?;
                }
                continue;
            };
            if self.initialise_atomic(&part, init.members())? {
                continue;
            }
            let value = match init {
                Init::Value(e) if !matches!(e.kind, ExprKind::List(_)) => {
                    let value = self.rvalue(e)?;
                    self.implicit(value, &part.ty)?
                }
                Init::Value(_) => self.construct(&part.ty, &[])?,
                Init::Call(arguments) => self.construct(&part.ty, arguments)?,
            };
            self.store(&part, &value)?;
        }
        Ok(())
    }

    /// Initialises a place from a braced list; what the list leaves out is zero.
    pub(super) fn initialise(&mut self, place: &Place, members: &[Expr]) -> Result<()> {
        if self.initialise_atomic(place, members)? {
            return Ok(());
        }
        match place.ty.clone() {
            Ty::Array(element, n) => {
                if members.len() as u64 > n {
                    return Err(self.pos.error("more values than the array has elements"));
                }
                if n > 4096 {
                    return self.refuse("initialising an array of more than 4,096 elements");
                }
                let size = self.size_of(&element);
                for i in 0..n {
                    let part = Self::part(place, (*element).clone(), 0, i * size, false);
                    self.initialise_one(&part, members.get(i as usize))?;
                }
                Ok(())
            }
            Ty::Struct(id) => {
                let decl = self.structs[id].decl.clone();
                if decl.methods.iter().any(|m| m.name == decl.name) {
                    let values = self.arguments(members)?;
                    if self.run_constructor(place, id, values)? {
                        return Ok(());
                    }
                }
                let mut fields = self.structs[id].fields.clone();
                if decl.union {
                    fields.truncate(1);
                }
                if members.len() > fields.len() {
                    return Err(self.pos.error("more values than the struct has members"));
                }
                if members.is_empty() {
                    self.zero_fields(place, id)?;
                    return self.construct_by_default(place, id);
                }
                for (i, f) in fields.into_iter().enumerate() {
                    let part = Self::part(place, f.ty, f.leaf, f.offset, f.volatile);
                    self.initialise_one(&part, members.get(i))?;
                }
                Ok(())
            }
            ty => {
                let v = self.construct(&ty, members)?;
                self.store(place, &v)
            }
        }
    }

    fn zero_fields(&mut self, place: &Place, id: usize) -> Result<()> {
        for f in self.structs[id].fields.clone() {
            let part = Self::part(place, f.ty, f.leaf, f.offset, f.volatile);
            self.initialise_one(&part, None)?;
        }
        Ok(())
    }

    fn initialise_one(&mut self, part: &Place, member: Option<&Expr>) -> Result<()> {
        let top = self.top;
        if self.initialise_atomic(part, member.map_or(&[], std::slice::from_ref))? {
            self.top = top;
            return Ok(());
        }
        let aggregate = matches!(part.ty, Ty::Array(..) | Ty::Struct(_));
        match member {
            Some(Expr { kind: ExprKind::List(members), .. }) => self.initialise(part, members)?,
            None if aggregate => self.initialise(part, &[])?,
            None => {
                let v = self.construct(&part.ty, &[])?;
                self.store(part, &v)?;
            }
            Some(e) => {
                let v = self.rvalue(e)?;
                let v = self.implicit(v, &part.ty)?;
                self.store(part, &v)?;
            }
        }
        self.top = top;
        Ok(())
    }
}
