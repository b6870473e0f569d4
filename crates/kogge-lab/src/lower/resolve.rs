//! Resolution of types: from what the source writes to what it means.

use std::sync::Arc;

use super::scope::{Scope, Symbol};
use super::ty::{Group, Qualifiers, Ty};
use super::{Lower, Result};
use crate::lang::ast::{
    Expr, ExprKind, GroupExpr, Part, Path, TemplateArgument, TemplateParameter, TypeExpr,
};

/// Largest type, in bytes.
const MAX_SIZE: u64 = 1 << 28;

impl Lower<'_> {
    /// A type with its top-level qualifiers.
    pub(super) fn resolve(&mut self, ty: &TypeExpr) -> Result<(Ty, Qualifiers)> {
        self.descend()?;
        let pos = self.pos;
        let result = self.resolve_inner(ty);
        self.depth -= 1;
        if result.is_ok() {
            // What comes next is not about the type.
            self.pos = pos;
        }
        result
    }

    fn resolve_inner(&mut self, ty: &TypeExpr) -> Result<(Ty, Qualifiers)> {
        let plain = Qualifiers::default();
        Ok(match ty {
            TypeExpr::Void => (Ty::Void, plain),
            TypeExpr::Auto => return self.refuse("`auto` here"),
            TypeExpr::Scalar(s) => (Ty::Scalar(*s), plain),
            TypeExpr::Named(path) => self.resolve_path(path)?,
            TypeExpr::Pointer(inner) => {
                let (inner, qualifiers) = self.resolve(inner)?;
                let of = Qualifiers { loose: false, ..qualifiers };
                (Ty::pointer(inner, of), Qualifiers { loose: qualifiers.loose, ..plain })
            }
            TypeExpr::Reference(inner) | TypeExpr::Enumeration(inner) => {
                let (ty, qualifiers) = self.resolve(inner)?;
                (ty, qualifiers.join(Qualifiers::LOOSE))
            }
            TypeExpr::Volatile(inner) => {
                let (ty, qualifiers) = self.resolve(inner)?;
                (ty, qualifiers.join(Qualifiers::VOLATILE))
            }
            TypeExpr::Const(inner) => {
                let (ty, qualifiers) = self.resolve(inner)?;
                (ty, qualifiers.join(Qualifiers::CONST))
            }
            TypeExpr::Decltype(e) => {
                let ty = self.type_of(e)?;
                (ty, Qualifiers { loose: may_be_place(e), ..plain })
            }
            TypeExpr::Array(element, size) => {
                let (element, qualifiers) = self.resolve(element)?;
                if element.is_atomic_reference() {
                    return self.refuse("arrays of atomic references");
                }
                let size = match size {
                    Some(e) => self.constant(e)?,
                    None => 0,
                };
                let ty = Ty::Array(Arc::new(element), size);
                if self.size_of(&ty) > MAX_SIZE {
                    return Err(self.pos.error("an array of more than 256 MiB"));
                }
                (ty, qualifiers)
            }
            TypeExpr::Atomic(atomic) => (self.atomic_type(atomic)?, plain),
            TypeExpr::Group(GroupExpr::Grid) => (Ty::Group(Group::Grid), plain),
            TypeExpr::Group(GroupExpr::Block) => (Ty::Group(Group::Block), plain),
            TypeExpr::Group(GroupExpr::Tile(Some(size))) => {
                let size = self.constant(size)?;
                (Ty::Group(self.tile(size)?), plain)
            }
            TypeExpr::Group(GroupExpr::Tile(None)) => return self.refuse("coalesced groups"),
        })
    }

    pub(super) fn tile(&self, size: u64) -> Result<Group> {
        if size <= 32 && size.is_power_of_two() {
            Ok(Group::Tile(size as u32))
        } else {
            self.refuse("tiles of other sizes than 1, 2, 4, 8, 16 and 32")
        }
    }

    fn resolve_path(&mut self, path: &Path) -> Result<(Ty, Qualifiers)> {
        self.pos = path.pos;
        let mut parts = path.parts.iter();
        let Some(first) = parts.next() else {
            return Ok((Ty::Void, Qualifiers::default()));
        };
        let mut ty = self.resolve_part(first, path)?;
        for part in parts {
            let Ty::Struct(id) = ty.0 else {
                return Err(self.unknown("the type", path));
            };
            ty = match self.structs[id].scope.get(&part.name) {
                Some(Symbol::Type(t, qualifiers)) => (t.clone(), *qualifiers),
                _ => return Err(self.unknown("the type", path)),
            };
        }
        Ok(ty)
    }

    fn resolve_part(&mut self, part: &Part, path: &Path) -> Result<(Ty, Qualifiers)> {
        let symbol = self.lookup(&part.name);
        if let (Some(Symbol::Type(ty, qualifiers)), None) = (symbol, &part.arguments) {
            return Ok((ty.clone(), *qualifiers));
        }
        let file = self.file;
        let alias = file.aliases.iter().find(|a| a.0 == part.name);
        let is_struct = file.structs.iter().any(|s| s.name == part.name);
        if let (Some((_, template, ty)), false) = (alias, is_struct) {
            return self.alias(template, ty, part.arguments.as_deref());
        }
        Ok((self.resolve_struct(part, path)?, Qualifiers::default()))
    }

    fn resolve_struct(&mut self, part: &Part, path: &Path) -> Result<Ty> {
        let file = self.file;
        if let Some(decl) = file.structs.iter().find(|s| s.name == part.name) {
            return self.instantiate(decl, part.arguments.as_deref());
        }
        self.check_specialised(&part.name)?;
        if let Some(ty) = self.vector_type(&part.name) {
            return Ok(ty);
        }
        Err(self.unknown("the type", path))
    }

    fn alias(
        &mut self,
        template: &[TemplateParameter],
        ty: &TypeExpr,
        arguments: Option<&[TemplateArgument]>,
    ) -> Result<(Ty, Qualifiers)> {
        let (scope, _) = self.bind(template, arguments.unwrap_or(&[]), Scope::default())?;
        let outer = std::mem::take(&mut self.scopes);
        self.scopes.push(scope);
        let result = self.resolve(ty);
        self.scopes = outer;
        result
    }
}

/// Whether an expression may be one of what has an address, so that its type is a reference.
fn may_be_place(e: &Expr) -> bool {
    !matches!(
        e.kind,
        ExprKind::Integer(..)
            | ExprKind::Float(..)
            | ExprKind::Bool(_)
            | ExprKind::Construct(..)
            | ExprKind::SizeofType(_)
            | ExprKind::SizeofExpr(_)
    )
}
