//! Declarators: pointers before a name, array sizes behind it.

use std::sync::Arc;

use super::Parser;
use crate::diagnostic::Diagnostic;
use crate::lang::ast::TypeExpr;
use crate::lang::token::{Kind, Pos};

impl Parser {
    /// A declarator: pointers, name, array sizes; `constant` says that `const` stands before it.
    pub(super) fn declarator(
        &mut self,
        base: &TypeExpr,
        constant: bool,
    ) -> Result<(TypeExpr, Arc<str>, Pos), Diagnostic> {
        let ty = self.pointers(base.clone(), constant)?;
        if self.is("(") {
            return self.refuse("pointers to functions and to arrays");
        }
        // A member of a namespace may be defined outside of it.
        self.skip_namespaces();
        let pos = self.pos();
        let name = self.name("a name")?;
        let name = if &*name == "operator" { self.operator_name()? } else { name };
        Ok((self.arrays(ty)?, name, pos))
    }

    /// `*`, `&` and their qualifiers; `constant` says that `const` stands before them.
    pub(super) fn pointers(
        &mut self,
        mut ty: TypeExpr,
        mut constant: bool,
    ) -> Result<TypeExpr, Diagnostic> {
        let mut levels = 0;
        loop {
            let text = self.peek().text.clone();
            if self.peek().kind == Kind::End {
                break;
            }
            match &*text {
                "*" => {
                    self.descend()?;
                    levels += 1;
                    ty = TypeExpr::Pointer(Box::new(qualified(ty, constant)));
                    constant = false;
                }
                "&" | "&&" => {
                    self.descend()?;
                    levels += 1;
                    ty = TypeExpr::Reference(Box::new(ty));
                }
                "volatile" => {
                    self.descend()?;
                    levels += 1;
                    ty = TypeExpr::Volatile(Box::new(ty));
                }
                "const" => constant = true,
                "__restrict__" | "__restrict" | "restrict" => {}
                _ => break,
            }
            self.at += 1;
        }
        self.depth -= levels;
        self.const_pointer = constant && matches!(ty, TypeExpr::Pointer(_));
        Ok(ty)
    }

    /// The type of an alias or a template argument whose declarator was read; `constant` says that
    /// `const` stands before it. A pointer may be `const` itself, an array by its elements.
    pub(super) fn aliased(&self, ty: TypeExpr, constant: bool) -> TypeExpr {
        match &ty {
            TypeExpr::Pointer(_) => qualified(ty, self.const_pointer),
            TypeExpr::Array(element, _) => {
                let mut element = &**element;
                while let TypeExpr::Array(inner, _) = element {
                    element = inner;
                }
                let pointers = matches!(element, TypeExpr::Pointer(_));
                qualified(ty, if pointers { self.const_pointer } else { constant })
            }
            _ => with_const(ty, constant),
        }
    }

    /// `[n][m]…` behind a name.
    pub(super) fn arrays(&mut self, ty: TypeExpr) -> Result<TypeExpr, Diagnostic> {
        // What the sizes are made of is no part of the type.
        let const_pointer = self.const_pointer;
        let mut sizes = Vec::new();
        while self.is("[") && !self.ahead(1).is("[") {
            self.descend()?;
            self.at += 1;
            let outer = std::mem::replace(&mut self.in_arguments, false);
            let size = if self.is("]") { None } else { Some(Box::new(self.expression()?)) };
            self.in_arguments = outer;
            self.expect("]")?;
            sizes.push(size);
        }
        self.depth -= sizes.len() as u32;
        self.const_pointer = const_pointer;
        Ok(sizes.into_iter().rev().fold(ty, |ty, size| TypeExpr::Array(Box::new(ty), size)))
    }
}

/// A type, `const` if that is said of it.
fn qualified(ty: TypeExpr, constant: bool) -> TypeExpr {
    if constant { TypeExpr::Const(Box::new(ty)) } else { ty }
}

/// A type that a `const` before its declarator was said of, where that is no pointer's target.
pub(super) fn with_const(ty: TypeExpr, constant: bool) -> TypeExpr {
    match ty {
        TypeExpr::Pointer(_) | TypeExpr::Reference(_) | TypeExpr::Array(..) => ty,
        ty => qualified(ty, constant),
    }
}
