//! Layout: size and alignment of types, their leaves (the scalars that they
//! are made of), and where a struct's fields lie.

use std::sync::Arc;

use super::scope::Symbol;
use super::ty::{BasePart, Field, Qualifiers, Ty};
use super::{Lower, Result};
use crate::lang::Pos;
use crate::lang::ast::{Inner, Struct, TypeExpr};
use crate::value::ScalarType;

/// Most scalars in a struct that is passed by value.
const MAX_LEAVES: usize = 256;

/// The size of a struct that is being laid out: there may be pointers to it, but no values.
pub(super) const INCOMPLETE: u64 = u64::MAX;

impl Lower<'_> {
    pub(super) fn size_of(&self, ty: &Ty) -> u64 {
        match ty {
            Ty::Void => 1,
            Ty::Scalar(s) => s.size() as u64,
            Ty::Pointer(_) => 8,
            Ty::Array(element, n) => self.size_of(element).saturating_mul(*n),
            Ty::Struct(id) => self.structs[*id].size,
            Ty::Group(_) => 1,
            Ty::Atomic(atomic) if atomic.reference => 8,
            Ty::Atomic(atomic) => self.size_of(&atomic.ty),
        }
    }

    pub(super) fn align_of(&self, ty: &Ty) -> u64 {
        match ty {
            Ty::Array(element, _) => self.align_of(element),
            Ty::Struct(id) => self.structs[*id].align,
            other => self.size_of(other),
        }
    }

    /// Scalars of a value with their byte offsets, in order.
    pub(super) fn leaves(&self, ty: &Ty) -> Vec<(u64, ScalarType)> {
        match ty {
            Ty::Void | Ty::Group(_) => Vec::new(),
            Ty::Scalar(s) => vec![(0, *s)],
            Ty::Pointer(_) => vec![(0, ScalarType::U64)],
            Ty::Atomic(atomic) if atomic.reference => vec![(0, ScalarType::U64)],
            Ty::Atomic(atomic) => self.leaves(&atomic.ty),
            Ty::Struct(id) => self.structs[*id].leaves.clone(),
            Ty::Array(element, n) => {
                let (inner, size) = (self.leaves(element), self.size_of(element));
                let mut out = Vec::new();
                for i in 0..(*n).min(MAX_LEAVES as u64 + 1) {
                    out.extend(inner.iter().map(|&(o, s)| (i * size + o, s)));
                    if out.len() > MAX_LEAVES {
                        break;
                    }
                }
                out
            }
        }
    }

    pub(super) fn leaf_count(&self, ty: &Ty) -> usize {
        match ty {
            Ty::Scalar(_) | Ty::Pointer(_) | Ty::Atomic(_) => 1,
            Ty::Struct(id) => self.structs[*id].leaves.len(),
            _ => self.leaves(ty).len(),
        }
    }

    pub(super) fn lives_in_memory(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Array(..) => true,
            Ty::Struct(id) => self.structs[*id].in_memory,
            ty => ty.atomic_variable().is_some(),
        }
    }

    /// Whether there are atomics in a type: what has them isn't copied.
    pub(super) fn holds_atomic(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Array(element, _) => self.holds_atomic(element),
            Ty::Struct(id) => self.structs[*id].holds_atomic,
            ty => ty.atomic_variable().is_some(),
        }
    }

    pub(super) fn lay_out(&mut self, id: usize, decl: &Arc<Struct>) -> Result<()> {
        self.scopes.push(self.structs[id].scope.clone());
        decl.inner.iter().try_for_each(|inner| self.declare_inner(id, inner))?;
        self.structs[id].scope = self.scopes.last().cloned().unwrap_or_default();
        for base in &decl.bases {
            let (ty, _) = self.resolve(base)?;
            let Ty::Struct(base) = ty else {
                return self.refuse("a base that is no struct");
            };
            if self.structs[base].size == INCOMPLETE {
                return Err(self.contains_itself(id, decl.pos));
            }
            self.inherit(id, base);
        }
        for field in &decl.fields {
            let (ty, Qualifiers { volatile, .. }) = self.resolve(&field.ty)?;
            if let TypeExpr::Reference(_) = field.ty {
                return self.refuse("members that are references");
            }
            if ty.is_atomic_reference() {
                return self.refuse("members that are atomic references");
            }
            self.add_field(id, field.name.clone(), ty, volatile, field.pos)?;
        }
        if let Some(align) = &decl.align {
            let align = self.constant(align)?.clamp(1, 256);
            self.structs[id].align = self.structs[id].align.max(align);
        }
        self.finish_layout(id);
        decl.asserts.iter().try_for_each(|a| self.static_assert(a))
    }

    /// A type or constants that a struct declares, into the innermost scope.
    fn declare_inner(&mut self, id: usize, inner: &Inner) -> Result<()> {
        match inner {
            Inner::Alias(name, ty) => {
                let (ty, qualifiers) = self.resolve(ty)?;
                self.define(name.clone(), Symbol::Type(ty, qualifiers));
            }
            Inner::Struct(decl) => {
                let name = format!("{}::{}", self.structs[id].name, decl.name);
                let outer = self.scopes.last().cloned().unwrap_or_default();
                let ty = self.new_struct(name, decl, outer, Vec::new())?;
                self.define(decl.name.clone(), Symbol::Type(ty, Qualifiers::default()));
            }
            Inner::Constants(members) => {
                let mut next = 0;
                for (name, value) in members {
                    let (value, ty) = match value {
                        Some(e) => self.constant_value(e)?,
                        None => (next, ScalarType::I32),
                    };
                    next = value.wrapping_add(1);
                    self.define(name.clone(), Symbol::Constant(value, ty));
                }
            }
        }
        Ok(())
    }

    /// Lays a base behind what there is.
    fn inherit(&mut self, id: usize, base: usize) {
        let parent = self.structs[base].clone();
        let offset = match parent.leaves.is_empty() {
            true => 0,
            false => self.end_of(id).next_multiple_of(parent.align),
        };
        let child = &mut self.structs[id];
        let leaf = child.leaves.len();
        let behind = |field: &Field| Field {
            offset: field.offset + offset,
            leaf: field.leaf + leaf,
            ..field.clone()
        };
        child.fields.extend(parent.fields.iter().map(behind));
        child.promoted.extend(parent.promoted.iter().map(behind));
        child.leaves.extend(parent.leaves.iter().map(|&(o, s)| (o + offset, s)));
        child.in_memory |= parent.in_memory;
        child.holds_atomic |= parent.holds_atomic;
        child.align = child.align.max(parent.align);
        child.bases.push(BasePart { id: base, leaf, offset });
        let above = |part: &BasePart| BasePart {
            id: part.id,
            leaf: part.leaf + leaf,
            offset: part.offset + offset,
        };
        child.bases.extend(parent.bases.iter().map(above));
        for (name, symbol) in parent.scope.iter() {
            if child.scope.get(name).is_none() {
                child.scope.insert(name.clone(), symbol.clone());
            }
        }
    }

    fn contains_itself(&self, id: usize, pos: Pos) -> crate::Diagnostic {
        pos.error(format!("struct `{}` contains itself", self.structs[id].name))
    }

    /// Appends a field; of a union, puts it over the others.
    fn add_field(
        &mut self,
        id: usize,
        name: Arc<str>,
        ty: Ty,
        volatile: bool,
        pos: Pos,
    ) -> Result<()> {
        let (size, align) = (self.size_of(&ty), self.align_of(&ty).max(1));
        if size == INCOMPLETE {
            return Err(self.contains_itself(id, pos));
        }
        let leaves = self.leaves(&ty);
        let in_memory = self.lives_in_memory(&ty);
        let holds_atomic = self.holds_atomic(&ty);
        let end = self.end_of(id);
        let info = &mut self.structs[id];
        let offset = if info.decl.union { 0 } else { end.next_multiple_of(align) };
        // A union lies in memory, where its parts are told by their offset.
        let leaf = if info.decl.union { 0 } else { info.leaves.len() };
        if info.decl.union {
            let largest = end_of_leaves(&info.leaves).max(size);
            info.leaves = covering(largest);
        } else {
            info.leaves.extend(leaves.iter().map(|&(o, s)| (offset + o, s)));
        }
        if info.leaves.len() > MAX_LEAVES {
            return Err(pos.error("structs of more than 256 scalars: outside the language"));
        }
        info.align = info.align.max(align);
        info.in_memory |= in_memory;
        info.holds_atomic |= holds_atomic;
        let field = Field { name, ty, offset, leaf, volatile };
        let promoted = self.promoted(&field);
        let info = &mut self.structs[id];
        info.promoted.extend(promoted);
        info.fields.push(field);
        Ok(())
    }

    /// The members of an unnamed member, as members of what has it.
    fn promoted(&self, field: &Field) -> Vec<Field> {
        let (true, Ty::Struct(id)) = (field.name.is_empty(), &field.ty) else {
            return Vec::new();
        };
        let inner = &self.structs[*id];
        let members = inner.fields.iter().chain(&inner.promoted);
        let raised = members.filter(|f| !f.name.is_empty()).map(|f| Field {
            offset: field.offset + f.offset,
            leaf: field.leaf + f.leaf,
            volatile: field.volatile || f.volatile,
            ..f.clone()
        });
        raised.collect()
    }

    /// Where the next member may begin: behind the last one, and behind a base that is a plain
    /// struct also behind its padding (the Itanium C++ ABI, which CUDA has).
    fn end_of(&self, id: usize) -> u64 {
        let info = &self.structs[id];
        let member = info.fields.last().map_or(0, |last| last.offset + self.size_of(&last.ty));
        let base = info.bases.iter().filter(|part| self.is_plain(part.id)).map(|part| {
            let base = &self.structs[part.id];
            if base.leaves.is_empty() { 0 } else { part.offset + base.size }
        });
        base.fold(member, u64::max)
    }

    /// Whether a struct has neither bases nor constructors.
    fn is_plain(&self, id: usize) -> bool {
        let Struct { bases, methods, name, .. } = &*self.structs[id].decl;
        bases.is_empty() && !methods.iter().any(|method| method.name == *name)
    }

    fn finish_layout(&mut self, id: usize) {
        let info = &mut self.structs[id];
        let end = end_of_leaves(&info.leaves).max(1);
        info.size = end.next_multiple_of(info.align);
    }
}

fn end_of_leaves(leaves: &[(u64, ScalarType)]) -> u64 {
    leaves.iter().map(|&(offset, s)| offset + s.size() as u64).max().unwrap_or(0)
}

/// The leaves of a union: words that cover its largest member.
fn covering(size: u64) -> Vec<(u64, ScalarType)> {
    let words = (size / 4).min(MAX_LEAVES as u64 + 1);
    let mut leaves: Vec<_> = (0..words).map(|word| (word * 4, ScalarType::U32)).collect();
    let (end, rest) = (words * 4, size % 4);
    if rest & 2 != 0 {
        leaves.push((end, ScalarType::U16));
    }
    if rest & 1 != 0 {
        leaves.push((end + (rest & 2), ScalarType::U8));
    }
    leaves
}
