//! Resolved types, and the structs among them.

use std::sync::Arc;

use super::Lower;
use super::scope::{Scope, Symbol};
use crate::lang::ast::{Function, Struct};
use crate::value::ScalarType;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ty {
    Void,
    Scalar(ScalarType),
    Pointer(Arc<Pointee>),
    Array(Arc<Ty>, u64),
    Struct(usize),
    Group(Group),
    Atomic(Arc<Atomic>),
}

/// `cuda::atomic` or `cuda::atomic_ref`. A value of either is the address of what it is of.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Atomic {
    pub ty: Ty,
    pub scope: ThreadScope,
    /// Whether it refers to a variable, and isn't one itself.
    pub reference: bool,
    pub std: bool,
}

/// Between which threads an atomic is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThreadScope {
    System,
    Device,
    Block,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pointee {
    pub ty: Ty,
    pub qualifiers: Qualifiers,
}

/// What is said of a type beside what it is. Of variables and members `const` isn't kept here, but
/// with their place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Qualifiers {
    pub volatile: bool,
    pub constant: bool,
    /// That C++ has more to say, which types don't keep: it is a reference, or an enumeration, or
    /// may be one. Of what a pointer points at this is said of the pointer.
    pub loose: bool,
}

impl Qualifiers {
    const NONE: Self = Self { volatile: false, constant: false, loose: false };
    pub(super) const VOLATILE: Self = Self { volatile: true, ..Self::NONE };
    pub(super) const CONST: Self = Self { constant: true, ..Self::NONE };
    pub(super) const LOOSE: Self = Self { loose: true, ..Self::NONE };

    /// What either says.
    pub(super) const fn join(self, other: Self) -> Self {
        Self {
            volatile: self.volatile || other.volatile,
            constant: self.constant || other.constant,
            loose: self.loose || other.loose,
        }
    }

    /// Whether all that these say the others say as well, as a conversion needs.
    pub(super) fn within(self, other: Self) -> bool {
        self.join(other) == other
    }

    /// As C writes them before a type.
    pub(super) const fn words(self) -> &'static str {
        match (self.constant, self.volatile) {
            (false, false) => "",
            (true, false) => "const ",
            (false, true) => "volatile ",
            (true, true) => "const volatile ",
        }
    }
}

/// A cooperative group: known at compile time, no value at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    Grid,
    Block,
    Tile(u32),
}

#[derive(Clone, Debug)]
pub(super) struct Field {
    pub name: Arc<str>,
    pub ty: Ty,
    pub offset: u64,
    /// Index of its first leaf.
    pub leaf: usize,
    pub volatile: bool,
}

#[derive(Clone, Debug)]
pub(super) struct StructInfo {
    pub name: String,
    pub fields: Vec<Field>,
    /// Members of its unnamed members, which are reached like its own.
    pub promoted: Vec<Field>,
    pub size: u64,
    pub align: u64,
    pub leaves: Vec<(u64, ScalarType)>,
    /// Has arrays or atomics, or is a union: lives in memory, where it can be indexed.
    pub in_memory: bool,
    /// Has atomics, so that it can't be copied.
    pub holds_atomic: bool,
    pub decl: Arc<Struct>,
    /// Template arguments and member types.
    pub scope: Scope,
    pub arguments: Vec<Symbol>,
    pub bases: Vec<BasePart>,
}

impl StructInfo {
    /// A struct without members.
    pub(super) fn empty(name: String, decl: Arc<Struct>) -> Self {
        Self {
            name,
            fields: Vec::new(),
            promoted: Vec::new(),
            size: 1,
            align: 1,
            leaves: Vec::new(),
            in_memory: false,
            holds_atomic: false,
            decl,
            scope: Scope::default(),
            arguments: Vec::new(),
            bases: Vec::new(),
        }
    }
}

/// Where a struct has one that it is derived from, however far up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BasePart {
    pub id: usize,
    /// Its first leaf, and its offset in bytes.
    pub leaf: usize,
    pub offset: u64,
}

impl Ty {
    pub(super) const BOOL: Self = Self::Scalar(ScalarType::Bool);
    pub(super) const INT: Self = Self::Scalar(ScalarType::I32);
    pub(super) const UNSIGNED: Self = Self::Scalar(ScalarType::U32);
    pub(super) const U64: Self = Self::Scalar(ScalarType::U64);

    pub(super) fn pointer(ty: Ty, qualifiers: Qualifiers) -> Self {
        Self::Pointer(Arc::new(Pointee { ty, qualifiers }))
    }

    pub(super) const fn scalar(&self) -> Option<ScalarType> {
        match self {
            Self::Scalar(s) => Some(*s),
            _ => None,
        }
    }
}

impl Ty {
    /// An atomic that is a variable, and not a reference to one.
    pub(super) fn atomic_variable(&self) -> Option<&Arc<Atomic>> {
        match self {
            Self::Atomic(atomic) if !atomic.reference => Some(atomic),
            _ => None,
        }
    }

    /// An atomic that refers to a variable.
    pub(super) fn is_atomic_reference(&self) -> bool {
        matches!(self, Self::Atomic(atomic) if atomic.reference)
    }

    /// The scalar that an array of this type is made of, for the host.
    pub(super) fn element(&self) -> Option<ScalarType> {
        self.atomic_variable().map_or(self, |atomic| &atomic.ty).scalar()
    }
}

impl Lower<'_> {
    pub(super) fn describe(&self, ty: &Ty) -> String {
        match ty {
            Ty::Void => "void".into(),
            Ty::Scalar(s) => s.c_name().into(),
            Ty::Pointer(p) => match (&p.ty, p.qualifiers.words()) {
                (Ty::Pointer(_), words) => format!("{} {words}*", self.describe(&p.ty)),
                (ty, words) => format!("{words}{} *", self.describe(ty)),
            },
            Ty::Array(element, n) => format!("{}[{n}]", self.describe(element)),
            Ty::Struct(id) => self.structs[*id].name.clone(),
            Ty::Group(_) => "cooperative group".into(),
            Ty::Atomic(atomic) => self.describe_atomic(atomic),
        }
    }

    /// A type with what is said of itself, or of an array's elements.
    fn describe_qualified(&self, ty: &Ty, qualifiers: Qualifiers) -> String {
        let words = qualifiers.words();
        match ty {
            Ty::Pointer(_) => format!("{}{}", self.describe(ty), words.trim_end()),
            Ty::Array(element, n) => {
                format!("{}[{n}]", self.describe_qualified(element, qualifiers))
            }
            _ => format!("{words}{}", self.describe(ty)),
        }
    }

    pub(super) fn describe_symbol(&self, symbol: &Symbol) -> String {
        match symbol {
            Symbol::Type(ty, qualifiers) => self.describe_qualified(ty, *qualifiers),
            Symbol::Constant(value, ty) if crate::machine::alu::is_signed(*ty) => {
                (*value as i64).to_string()
            }
            Symbol::Constant(value, _) => value.to_string(),
            _ => "?".into(),
        }
    }

    /// A field of this name: the struct's own before those of its bases, which come first.
    pub(super) fn field(&self, id: usize, name: &str) -> Option<&Field> {
        let info = &self.structs[id];
        info.promoted.iter().chain(&info.fields).rev().find(|f| &*f.name == name)
    }

    /// Methods of this name, the struct's own before its bases'.
    pub(super) fn methods(&self, id: usize, name: &str) -> Vec<(usize, Arc<Function>)> {
        let info = &self.structs[id];
        let own = info.decl.methods.iter().filter(|m| &*m.name == name);
        let mut found: Vec<_> = own.map(|m| (id, m.clone())).collect();
        for base in &info.bases {
            if found.is_empty() {
                found = self.methods(base.id, name);
            }
        }
        found
    }

    /// Where a struct has this one that it is derived from.
    pub(super) fn base_part(&self, from: usize, base: usize) -> Option<BasePart> {
        self.structs[from].bases.iter().find(|part| part.id == base).copied()
    }
}
