//! Types: which names are types, and what follows of one.

use super::declarator::with_const;
use super::specifiers::SPECIFIERS;
use super::{Names, Parser};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{GroupExpr, TemplateArgument, TypeExpr};
use crate::value::ScalarType;

/// Struct types that CUDA declares.
pub(super) fn builtin_types() -> Names {
    let mut names = Names::new();
    for base in [
        "char",
        "uchar",
        "short",
        "ushort",
        "int",
        "uint",
        "long",
        "ulong",
        "longlong",
        "ulonglong",
        "float",
        "double",
    ] {
        for n in 1..=4 {
            names.insert(format!("{base}{n}").into());
        }
    }
    names.insert("dim3".into());
    names
}

fn named_scalar(name: &str) -> Option<ScalarType> {
    use ScalarType as S;
    Some(match name {
        "int8_t" => S::I8,
        "uint8_t" | "uchar" => S::U8,
        "int16_t" => S::I16,
        "uint16_t" | "ushort" => S::U16,
        "int32_t" => S::I32,
        "uint32_t" | "uint" => S::U32,
        "int64_t" | "ptrdiff_t" | "ssize_t" | "intptr_t" | "clock_t" => S::I64,
        "uint64_t" | "size_t" | "ulong" | "uintptr_t" => S::U64,
        _ => return None,
    })
}

impl Parser {
    /// Whether the next tokens start a type or a declaration's specifiers.
    pub(super) fn at_type(&self) -> bool {
        if self.at_cuda_type() {
            return true;
        }
        let token = self.ahead(self.skip_distance());
        if !token.is_name() {
            return false;
        }
        let name = &*token.text;
        SPECIFIERS.contains(&name)
            || named_scalar(name).is_some()
            || self.is_type(name)
            || is_group(name)
    }

    /// A type that is one word, a named type or a group.
    pub(super) fn type_name(&mut self) -> Result<TypeExpr, Diagnostic> {
        if let Some(ty) = self.cuda_type()? {
            return Ok(ty);
        }
        self.check_library()?;
        self.skip_namespaces();
        let text = self.peek().text.clone();
        match &*text {
            "void" => {
                self.at += 1;
                return Ok(TypeExpr::Void);
            }
            "auto" => {
                self.at += 1;
                return Ok(TypeExpr::Auto);
            }
            "decltype" => {
                self.at += 1;
                self.expect("(")?;
                let e = self.expression()?;
                self.expect(")")?;
                return Ok(TypeExpr::Decltype(Box::new(e)));
            }
            "struct" | "class" | "union" if self.defines_record() => {
                return self.refuse("a struct that is defined behind other words of a declaration");
            }
            "struct" | "class" | "union" | "enum" => {
                self.at += 1;
                return Ok(TypeExpr::Named(self.path()?));
            }
            _ => {}
        }
        if let Some(scalar) = named_scalar(&text).filter(|_| !self.is_type(&text)) {
            self.at += 1;
            return Ok(TypeExpr::Scalar(scalar));
        }
        if is_group(&text) && !self.is_type(&text) {
            return self.group();
        }
        Ok(TypeExpr::Named(self.path()?))
    }

    fn group(&mut self) -> Result<TypeExpr, Diagnostic> {
        let name = self.next().text;
        Ok(TypeExpr::Group(match &*name {
            "grid_group" => GroupExpr::Grid,
            "thread_block" | "thread_group" => GroupExpr::Block,
            "coalesced_group" => GroupExpr::Tile(None),
            _ => {
                self.expect("<")?;
                let mut arguments = self.template_arguments()?.into_iter();
                match arguments.next() {
                    Some(TemplateArgument::Value(size)) => GroupExpr::Tile(Some(Box::new(size))),
                    _ => return self.refuse("a tile without a size"),
                }
            }
        }))
    }

    /// A type without a name, of a cast or of `sizeof`: of a value, which isn't `const`.
    pub(super) fn type_id(&mut self) -> Result<TypeExpr, Diagnostic> {
        self.unnamed_type().map(|(ty, _)| ty)
    }

    /// The same of an alias or a template argument, which may be `const`.
    pub(super) fn qualified_type_id(&mut self) -> Result<TypeExpr, Diagnostic> {
        let (ty, constant) = self.unnamed_type()?;
        Ok(self.aliased(ty, constant))
    }

    /// And whether `const` stands before it.
    fn unnamed_type(&mut self) -> Result<(TypeExpr, bool), Diagnostic> {
        let specifiers = self.specifiers()?;
        let ty = self.pointers(specifiers.ty, specifiers.qualified)?;
        if self.is("(") && self.ahead(1).is("*") {
            return self.refuse("pointers to functions and to arrays");
        }
        let ty = match ty {
            TypeExpr::Reference(to) => {
                TypeExpr::Reference(Box::new(with_const(*to, specifiers.qualified)))
            }
            ty => ty,
        };
        Ok((self.arrays(ty)?, specifiers.qualified))
    }
}

fn is_group(name: &str) -> bool {
    matches!(
        name,
        "grid_group" | "thread_block" | "thread_group" | "thread_block_tile" | "coalesced_group"
    )
}
