//! Storage: where variables live, in registers, in local memory or in shared
//! memory.

use super::scope::Symbol;
use super::ty::{Qualifiers, Ty};
use super::value::{Base, Place, PlaceKind, Val};
use super::{Lower, Result};
use crate::lang::ast::{Storage, Variable};
use crate::machine::address;
use crate::machine::ins::{Dynamic, Object};

impl Lower<'_> {
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
            let end = offset.saturating_add(size);
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
        Ok(Place { ty, volatile, constant: false, variable: Some(variable), kind })
    }

    /// An unnamed variable.
    pub(super) fn fresh_object(&mut self, ty: Ty) -> Result<Place> {
        let in_memory = self.lives_in_memory(&ty);
        self.new_variable("(temporary)", ty, false, in_memory)
    }

    /// A place that holds a value, for a method to work on.
    pub(super) fn materialise(&mut self, v: Val) -> Result<Place> {
        if self.lives_in_memory(&v.ty) {
            let place = self.fresh_object(v.ty.clone())?;
            self.store(&place, &v)?;
            return Ok(place);
        }
        let n = self.leaf_count(&v.ty);
        let base = self.temp(n)?;
        self.copy_value(base, &v)?;
        let variable = self.taints.new_variable();
        self.taints.assign(variable, &v.taint);
        Ok(Place {
            ty: v.ty,
            volatile: false,
            constant: false,
            variable: Some(variable),
            kind: PlaceKind::Register { base, flag: None },
        })
    }

    /// The size that an object's indices count in.
    pub(super) fn element_size(&self, ty: &Ty) -> u32 {
        match ty {
            Ty::Array(element, _) => self.element_size(element),
            other => self.size_of(other).max(1) as u32,
        }
    }

    /// `__shared__` variables.
    pub(super) fn declare_shared(&mut self, v: &Variable) -> Result<()> {
        let (ty, Qualifiers { volatile, .. }) = self.resolve(&v.ty)?;
        self.check_default(&ty)?;
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
            constant: false,
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
        if offset.saturating_add(size) > 1 << 20 {
            return Err(v.pos.error("more than 1 MiB of shared memory in a block"));
        }
        self.shared.push(Object {
            name: v.name.to_string(),
            offset: offset as u32,
            size: size as u32,
            element: self.element_size(ty),
        });
        if dynamic {
            let of = if let Ty::Array(element, _) = ty { element } else { ty };
            self.dynamic.push(Dynamic { object: index, ty: self.describe(of), pos: v.pos });
        } else {
            self.shared_bytes = (offset + size) as u32;
        }
        Ok(index)
    }
}
