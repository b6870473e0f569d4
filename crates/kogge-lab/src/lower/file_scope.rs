//! Names at file scope: device and shared variables, constants, enumerators.

use std::sync::Arc;

use super::scope::Symbol;
use super::ty::{Qualifiers, Ty};
use super::value::{Base, Place, PlaceKind, Val};
use super::{Lower, Result};
use crate::lang::ast::{Expr, ExprKind, Init, Path, Storage};
use crate::machine::address;
use crate::value::ScalarType;

impl Lower<'_> {
    /// A variable at file scope that lives in memory.
    pub(super) fn file_variable(&mut self, path: &Path) -> Result<Option<Place>> {
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
                    self.at_file_scope(|me| me.resolve(&v.ty))?;
                    return Err(path.pos.error(format!("`{name}` has no known size")));
                };
                let (ty, volatile) = self.at_file_scope(|me| {
                    let (ty, Qualifiers { volatile, .. }) = me.resolve(&v.ty)?;
                    Ok((me.complete(ty, v)?, volatile))
                })?;
                Ok(Some(Place {
                    ty,
                    volatile,
                    constant: false,
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
    pub(super) fn file_constant(&mut self, path: &Path) -> Result<Option<Val>> {
        let file = self.file;
        let name: Arc<str> = Arc::from(path.last());
        if let Some(v) = file.variables.iter().find(|v| v.name == name) {
            self.check_specialised(&name)?;
            let Some(Init::Value(e)) = &v.init else {
                return Err(path.pos.error(format!(
                    "`{name}` is a variable of the host: device code cannot use it"
                )));
            };
            if matches!(e.kind, ExprKind::List(_)) {
                return Err(path
                    .pos
                    .error(format!(
                        "`{name}` is a constant of several values: outside the language"
                    ))
                    .with_help("declare it `__constant__`"));
            }
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
            self.define(member.clone(), Symbol::Constant(next, ScalarType::I32));
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
