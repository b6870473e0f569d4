//! Declarations, initialisers, construction of values.

use std::sync::Arc;

use super::scope::Symbol;
use super::ty::{Group, Ty};
use super::value::{Base, Place, PlaceKind, Val};
use super::{Lower, Result};
use crate::lang::ast::{Expr, ExprKind, Init, Storage, TypeExpr, Variable};
use crate::machine::address;
use crate::machine::ins::{Ins, Object, Op};

impl Lower<'_> {
    pub(super) fn declare(&mut self, v: &Variable) -> Result<()> {
        self.pos = v.pos;
        match v.storage {
            Storage::Shared | Storage::DynamicShared => return self.declare_shared(v),
            Storage::Device => return self.refuse("`__device__` variables within functions"),
            Storage::Static | Storage::Auto => {}
        }
        if let Some(init) = &v.init
            && self.declare_group(v, init)?
        {
            return Ok(());
        }
        if let TypeExpr::Reference(_) = v.ty
            && self.declare_reference(v)?
        {
            return Ok(());
        }
        let is_auto = contains_auto(&v.ty);
        let (ty, volatile, early) = if is_auto {
            let Some(Init::Value(e)) = &v.init else {
                return Err(v.pos.error("`auto` needs an initialiser"));
            };
            let value = self.rvalue(e)?;
            (value.ty.clone(), false, Some(value))
        } else {
            let (ty, volatile) = self.resolve(&v.ty)?;
            (self.complete(ty, v)?, volatile, None)
        };
        if ty == Ty::Void {
            return Err(v.pos.error("a variable of type `void`"));
        }
        if let (true, Some(Init::Value(e)), Ty::Scalar(_)) = (v.constant, &v.init, &ty) {
            let value = match early.clone() {
                Some(value) => value,
                None if !matches!(e.kind, ExprKind::List(_)) => self.rvalue(e)?,
                None => self.construct(&ty, &[])?,
            };
            let is_list = matches!(e.kind, ExprKind::List(_));
            let value = self.cast(value, &ty)?;
            if let (Some(c), false) = (value.constant, is_list) {
                let base = self.constant_register(c)?;
                let place = Place {
                    ty,
                    volatile: false,
                    variable: None,
                    kind: PlaceKind::Register { base, flag: None },
                };
                self.define(v.name.clone(), Symbol::Variable(place, Some(c)));
                return Ok(());
            }
            if !is_list {
                return self.hold(v, ty, volatile, value);
            }
        }
        if let Some(value) = early {
            return self.hold(v, ty, volatile, value);
        }
        self.declare_and_initialise(v, ty, volatile)
    }

    /// A new variable with a value that was computed already.
    fn hold(&mut self, v: &Variable, ty: Ty, volatile: bool, value: Val) -> Result<()> {
        // The value may lie in temporaries that the variable takes over.
        let in_memory = self.frame().addressed.contains(&v.name);
        let place = self.new_variable(&v.name, ty, volatile, in_memory)?;
        self.store(&place, &value)?;
        self.keep_variable(&place);
        self.define(v.name.clone(), Symbol::Variable(place, None));
        Ok(())
    }

    fn declare_and_initialise(&mut self, v: &Variable, ty: Ty, volatile: bool) -> Result<()> {
        let in_memory = self.frame().addressed.contains(&v.name);
        let mut place = self.new_variable(&v.name, ty.clone(), volatile, in_memory)?;
        self.keep_variable(&place);
        match &v.init {
            Some(Init::Value(e)) if matches!(e.kind, ExprKind::List(_)) => {
                let ExprKind::List(members) = &e.kind else {
                    return Ok(());
                };
                self.initialise(&place, members)?;
            }
            Some(Init::Value(e)) => {
                let value = self.rvalue(e)?;
                self.pos = v.pos;
                let value = self.cast(value, &ty)?;
                self.store(&place, &value)?;
            }
            Some(Init::Call(arguments)) => {
                let value = self.construct(&ty, arguments)?;
                self.store(&place, &value)?;
            }
            None => self.leave_unwritten(v, &ty, &mut place)?,
        }
        self.define(v.name.clone(), Symbol::Variable(place, None));
        Ok(())
    }

    /// A variable without an initialiser: a flag tells whether it was written.
    fn leave_unwritten(&mut self, v: &Variable, ty: &Ty, place: &mut Place) -> Result<()> {
        if let Ty::Struct(id) = *ty {
            if self.run_constructor(place, id, Vec::new())? {
                return Ok(());
            }
            return self.default_members(place, id);
        }
        let PlaceKind::Register { base, .. } = place.kind else {
            return Ok(());
        };
        if self.leaf_count(ty) != 1 {
            return Ok(());
        }
        let register = self.temp(1)?;
        self.floor = self.floor.max(self.top);
        self.names.push(v.name.to_string());
        let zero = self.constant_register(0)?;
        self.emit(Ins { d: register, a: zero, ..Ins::new(Op::Mov) })?;
        place.kind =
            PlaceKind::Register { base, flag: Some((register, (self.names.len() - 1) as u32)) };
        Ok(())
    }

    /// Values that a struct's declaration gives its members.
    pub(super) fn default_members(&mut self, place: &Place, id: usize) -> Result<()> {
        let decl = self.structs[id].decl.clone();
        for field in &decl.fields {
            let (Some(init), Some(f)) = (&field.init, self.field(id, &field.name).cloned()) else {
                continue;
            };
            let part = Self::part(place, f.ty, f.leaf, f.offset, f.volatile);
            let value = match init {
                Init::Value(e) if !matches!(e.kind, ExprKind::List(_)) => {
                    let value = self.rvalue(e)?;
                    self.cast(value, &part.ty)?
                }
                Init::Value(_) => self.construct(&part.ty, &[])?,
                Init::Call(arguments) => self.construct(&part.ty, arguments)?,
            };
            self.store(&part, &value)?;
        }
        Ok(())
    }

    /// `T &name = place`: another name. False if it binds to a value.
    fn declare_reference(&mut self, v: &Variable) -> Result<bool> {
        let Some(Init::Value(e)) = &v.init else {
            return Err(v.pos.error("a reference needs an initialiser"));
        };
        let Some(place) = self.try_place(e)? else {
            return Ok(false);
        };
        // The address that the place was reached by must live as long.
        self.floor = self.floor.max(self.top);
        self.define(v.name.clone(), Symbol::Variable(place, None));
        Ok(true)
    }

    /// Registers of a variable stay taken until its block ends.
    fn keep_variable(&mut self, place: &Place) {
        if let PlaceKind::Register { .. } = place.kind {
            self.floor = self.floor.max(self.top);
        }
    }

    /// The size of `T name[] = {…}`.
    fn complete(&mut self, ty: Ty, v: &Variable) -> Result<Ty> {
        let Ty::Array(element, 0) = &ty else {
            return Ok(ty);
        };
        match &v.init {
            Some(Init::Value(Expr { kind: ExprKind::List(members), .. })) => {
                Ok(Ty::Array(element.clone(), members.len() as u64))
            }
            _ => Err(v.pos.error("an array without a size")),
        }
    }

    /// A new variable: registers, or local memory.
    pub(super) fn new_variable(
        &mut self,
        name: &str,
        ty: Ty,
        volatile: bool,
        addressed: bool,
    ) -> Result<Place> {
        let variable = self.taints.new_variable();
        let kind = if addressed || self.lives_in_memory(&ty) {
            let index = self.locals.len();
            let (size, align) = (self.size_of(&ty), self.align_of(&ty).max(1));
            let offset = u64::from(self.local_bytes).next_multiple_of(align.max(8));
            let end = offset + size;
            if end > 1 << 20 {
                return Err(self.pos.error("more than 1 MiB of local memory in a thread"));
            }
            self.local_bytes = end as u32;
            self.locals.push(Object {
                name: name.to_owned(),
                offset: offset as u32,
                size: size as u32,
                element: self.element_size(&ty),
            });
            PlaceKind::Memory {
                base: Base::Constant(address::pack(address::LOCAL + index as u32, 0)),
                offset: 0,
            }
        } else {
            let n = self.leaf_count(&ty);
            PlaceKind::Register { base: self.temp(n)?, flag: None }
        };
        Ok(Place { ty, volatile, variable: Some(variable), kind })
    }

    /// The size that an object's indices count in.
    pub(super) fn element_size(&self, ty: &Ty) -> u32 {
        match ty {
            Ty::Array(element, _) => self.element_size(element),
            other => self.size_of(other).max(1) as u32,
        }
    }

    fn declare_shared(&mut self, v: &Variable) -> Result<()> {
        let (ty, volatile) = self.resolve(&v.ty)?;
        let has_size = v.init.is_none();
        if !has_size {
            return Err(v.pos.error("shared memory cannot be initialised"));
        }
        let dynamic = v.storage == Storage::DynamicShared;
        if let (Ty::Array(_, 0), false) = (&ty, dynamic) {
            return Err(v.pos.error("an array without a size"));
        }
        // One object however often the function is inlined: its declaration is
        // one. Instances of a template have each their own.
        let key = (v.pos, v.name.clone(), self.describe(&ty));
        let index = match self.shared_names.get(&key) {
            Some(&index) => index,
            None => {
                let index = self.new_shared(v, &ty, dynamic)?;
                self.shared_names.insert(key, index);
                index
            }
        };
        let place = Place {
            ty,
            volatile,
            variable: Some(self.taints.new_variable()),
            kind: PlaceKind::Memory {
                base: Base::Constant(Self::shared_address(index)),
                offset: 0,
            },
        };
        self.define(v.name.clone(), Symbol::Variable(place, None));
        Ok(())
    }

    fn new_shared(&mut self, v: &Variable, ty: &Ty, dynamic: bool) -> Result<usize> {
        let index = self.shared.len();
        let align = match &v.align {
            Some(e) => self.constant(e)?,
            None => 1,
        };
        let align = align.max(self.align_of(ty)).clamp(1, 256);
        let size = if dynamic { 0 } else { self.size_of(ty) };
        let offset = u64::from(self.shared_bytes).next_multiple_of(align);
        if offset + size > 1 << 20 {
            return Err(v.pos.error("more than 1 MiB of shared memory in a block"));
        }
        self.shared.push(Object {
            name: v.name.to_string(),
            offset: offset as u32,
            size: size as u32,
            element: self.element_size(ty),
        });
        if dynamic {
            self.dynamic.push(index);
        } else {
            self.shared_bytes = (offset + size) as u32;
        }
        Ok(index)
    }

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

    /// Initialises a place from a braced list; what the list leaves out is zero.
    pub(super) fn initialise(&mut self, place: &Place, members: &[Expr]) -> Result<()> {
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
                let fields = self.structs[id].fields.clone();
                if members.len() > fields.len() {
                    return Err(self.pos.error("more values than the struct has members"));
                }
                if members.is_empty() {
                    self.zero_fields(place, id)?;
                    return self.default_members(place, id);
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
                let v = self.cast(v, &part.ty)?;
                self.store(part, &v)?;
            }
        }
        self.top = top;
        Ok(())
    }

    /// A value that becomes a struct: by a constructor of one argument, or,
    /// for a one-member struct from zero, by its member.
    pub(super) fn convert_to_struct(&mut self, v: Val, id: usize, to: &Ty) -> Result<Val> {
        let pos = self.pos;
        let from = self.describe(&v.ty);
        let place = self.fresh_object(to.clone())?;
        let argument = super::call::Argument { value: v, place: None };
        if self.run_constructor(&place, id, vec![argument])? {
            return self.load(&place);
        }
        let to = self.describe(to);
        Err(pos.error(format!("a value of type `{from}` does not convert to `{to}`")))
    }

    /// `cg::grid_group g = cg::this_grid();` and its like.
    fn declare_group(&mut self, v: &Variable, init: &Init) -> Result<bool> {
        let declared = match &v.ty {
            TypeExpr::Group(_) => true,
            TypeExpr::Auto => false,
            _ => return Ok(false),
        };
        let e = match init {
            Init::Value(e) => Some(e),
            Init::Call(arguments) => arguments.first(),
        };
        let group = match e {
            Some(e) => self.group_expression(e)?,
            None => None,
        };
        match group {
            Some(group) => {
                let place = Self::group_place(Ty::Group(group));
                self.define(v.name.clone(), Symbol::Variable(place, None));
                Ok(true)
            }
            None if declared => self.refuse("this cooperative group"),
            None => Ok(false),
        }
    }

    pub(super) fn group_place(ty: Ty) -> Place {
        let ty = match ty {
            Ty::Group(_) => ty,
            _ => Ty::Group(Group::Block),
        };
        Place {
            ty,
            volatile: false,
            variable: None,
            kind: PlaceKind::Register { base: 0, flag: None },
        }
    }

    /// A variable at file scope that lives in memory.
    pub(super) fn file_variable(&mut self, path: &crate::lang::ast::Path) -> Result<Option<Place>> {
        let Some(name) = path.simple() else {
            return Ok(None);
        };
        let file = self.file;
        let Some(v) = file.variables.iter().find(|v| v.name == *name) else {
            return Ok(None);
        };
        match v.storage {
            Storage::Device => {
                let Some(index) = self.globals.iter().position(|g| g.name == **name) else {
                    return Err(path.pos.error(format!("`{name}` has no known size")));
                };
                let (ty, volatile) = self.at_file_scope(|me| {
                    let (ty, volatile) = me.resolve(&v.ty)?;
                    Ok((me.complete(ty, v)?, volatile))
                })?;
                Ok(Some(Place {
                    ty,
                    volatile,
                    variable: None,
                    kind: PlaceKind::Memory {
                        base: Base::Constant(address::pack(index as u32 + 1, 0)),
                        offset: 0,
                    },
                }))
            }
            Storage::DynamicShared | Storage::Shared => {
                let outer = std::mem::take(&mut self.scopes);
                let result = self.declare_shared(v);
                let symbol = self.lookup(name).cloned();
                self.scopes = outer;
                result?;
                match symbol {
                    Some(Symbol::Variable(place, _)) => Ok(Some(place)),
                    _ => Ok(None),
                }
            }
            Storage::Auto | Storage::Static => Ok(None),
        }
    }

    /// A constant or enumerator at file scope.
    pub(super) fn file_constant(&mut self, path: &crate::lang::ast::Path) -> Result<Option<Val>> {
        let file = self.file;
        let name: Arc<str> = Arc::from(path.last());
        if let Some(v) = file.variables.iter().find(|v| v.name == name) {
            let Some(Init::Value(e)) = &v.init else {
                return Err(path.pos.error(format!(
                    "`{name}` is a variable of the host: device code cannot use it"
                )));
            };
            return self
                .at_file_scope(|me| {
                    let (ty, _) = me.resolve(&v.ty)?;
                    let value = me.rvalue(e)?;
                    let value = me.cast(value, &ty)?;
                    if value.constant.is_none() || !v.constant {
                        return Err(path
                            .pos
                            .error(format!("`{name}` is no constant: device code cannot use it")));
                    }
                    Ok(value)
                })
                .map(Some);
        }
        for members in &file.enums {
            if !members.iter().any(|m| m.0 == name) {
                continue;
            }
            return self.at_file_scope(|me| me.enumerator(members, &name)).map(Some);
        }
        Ok(None)
    }

    fn enumerator(&mut self, members: &[(Arc<str>, Option<Expr>)], name: &str) -> Result<Val> {
        let mut next = 0u64;
        for (member, value) in members {
            if let Some(e) = value {
                next = self.constant(e)?;
            }
            self.define(member.clone(), Symbol::Constant(next, crate::value::ScalarType::I32));
            if **member == *name {
                break;
            }
            next = next.wrapping_add(1);
        }
        Ok(Val::constant(Ty::INT, next))
    }

    /// Runs with no scope but the file's.
    fn at_file_scope<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outer = std::mem::take(&mut self.scopes);
        self.descend()?;
        let result = f(self);
        self.depth -= 1;
        self.scopes = outer;
        result
    }
}

fn contains_auto(ty: &TypeExpr) -> bool {
    match ty {
        TypeExpr::Auto => true,
        TypeExpr::Pointer(inner) | TypeExpr::Reference(inner) | TypeExpr::Volatile(inner) => {
            contains_auto(inner)
        }
        _ => false,
    }
}
