//! Resolved types and the layout of structs.

use std::sync::Arc;

use super::scope::{Scope, Symbol};
use super::{Lower, Result};
use crate::lang::Pos;
use crate::lang::ast::{
    Function, GroupExpr, Part, Path, Struct, TemplateArgument, TemplateParameter, TypeExpr,
};
use crate::value::ScalarType;

/// Most scalars in a struct that is passed by value.
pub(super) const MAX_LEAVES: usize = 256;
/// Largest type, in bytes.
const MAX_SIZE: u64 = 1 << 28;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ty {
    Void,
    Scalar(ScalarType),
    Pointer(Arc<Pointee>),
    Array(Arc<Ty>, u64),
    Struct(usize),
    Group(Group),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pointee {
    pub ty: Ty,
    pub volatile: bool,
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
    pub size: u64,
    pub align: u64,
    pub leaves: Vec<(u64, ScalarType)>,
    /// Has arrays, or is a union: lives in memory, where it can be indexed.
    pub in_memory: bool,
    pub decl: Arc<Struct>,
    /// Template arguments and member types.
    pub scope: Scope,
    pub arguments: Vec<Symbol>,
    pub bases: Vec<usize>,
}

impl Ty {
    pub(super) const BOOL: Self = Self::Scalar(ScalarType::Bool);
    pub(super) const INT: Self = Self::Scalar(ScalarType::I32);
    pub(super) const UNSIGNED: Self = Self::Scalar(ScalarType::U32);
    pub(super) const U64: Self = Self::Scalar(ScalarType::U64);

    pub(super) fn pointer(ty: Ty, volatile: bool) -> Self {
        Self::Pointer(Arc::new(Pointee { ty, volatile }))
    }

    pub(super) const fn scalar(&self) -> Option<ScalarType> {
        match self {
            Self::Scalar(s) => Some(*s),
            _ => None,
        }
    }
}

impl Lower<'_> {
    pub(super) fn size_of(&self, ty: &Ty) -> u64 {
        match ty {
            Ty::Void => 1,
            Ty::Scalar(s) => s.size() as u64,
            Ty::Pointer(_) => 8,
            Ty::Array(element, n) => self.size_of(element).saturating_mul(*n),
            Ty::Struct(id) => self.structs[*id].size,
            Ty::Group(_) => 1,
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
            Ty::Scalar(_) | Ty::Pointer(_) => 1,
            Ty::Struct(id) => self.structs[*id].leaves.len(),
            _ => self.leaves(ty).len(),
        }
    }

    pub(super) fn lives_in_memory(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Array(..) => true,
            Ty::Struct(id) => self.structs[*id].in_memory,
            _ => false,
        }
    }

    pub(super) fn describe(&self, ty: &Ty) -> String {
        match ty {
            Ty::Void => "void".into(),
            Ty::Scalar(s) => s.c_name().into(),
            Ty::Pointer(p) => format!("{} *", self.describe(&p.ty)),
            Ty::Array(element, n) => format!("{}[{n}]", self.describe(element)),
            Ty::Struct(id) => self.structs[*id].name.clone(),
            Ty::Group(_) => "cooperative group".into(),
        }
    }

    /// A type with its top-level `volatile`.
    pub(super) fn resolve(&mut self, ty: &TypeExpr) -> Result<(Ty, bool)> {
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

    fn resolve_inner(&mut self, ty: &TypeExpr) -> Result<(Ty, bool)> {
        Ok(match ty {
            TypeExpr::Void => (Ty::Void, false),
            TypeExpr::Auto => return self.refuse("`auto` here"),
            TypeExpr::Scalar(s) => (Ty::Scalar(*s), false),
            TypeExpr::Named(path) => self.resolve_path(path)?,
            TypeExpr::Pointer(inner) => {
                let (inner, volatile) = self.resolve(inner)?;
                (Ty::pointer(inner, volatile), false)
            }
            TypeExpr::Reference(inner) => self.resolve(inner)?,
            TypeExpr::Volatile(inner) => (self.resolve(inner)?.0, true),
            TypeExpr::Decltype(e) => (self.type_of(e)?, false),
            TypeExpr::Array(element, size) => {
                let (element, volatile) = self.resolve(element)?;
                let size = match size {
                    Some(e) => self.constant(e)?,
                    None => 0,
                };
                let ty = Ty::Array(Arc::new(element), size);
                if self.size_of(&ty) > MAX_SIZE {
                    return Err(self.pos.error("an array of more than 256 MiB"));
                }
                (ty, volatile)
            }
            TypeExpr::Group(GroupExpr::Grid) => (Ty::Group(Group::Grid), false),
            TypeExpr::Group(GroupExpr::Block) => (Ty::Group(Group::Block), false),
            TypeExpr::Group(GroupExpr::Tile(Some(size))) => {
                let size = self.constant(size)?;
                (Ty::Group(self.tile(size)?), false)
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

    fn resolve_path(&mut self, path: &Path) -> Result<(Ty, bool)> {
        self.pos = path.pos;
        let mut parts = path.parts.iter();
        let Some(first) = parts.next() else {
            return Ok((Ty::Void, false));
        };
        let mut ty = self.resolve_part(first, path)?;
        for part in parts {
            let Ty::Struct(id) = ty.0 else {
                return Err(self.unknown("the type", path));
            };
            ty = match self.structs[id].scope.get(&part.name) {
                Some(Symbol::Type(t, volatile)) => (t.clone(), *volatile),
                _ => return Err(self.unknown("the type", path)),
            };
        }
        Ok(ty)
    }

    fn resolve_part(&mut self, part: &Part, path: &Path) -> Result<(Ty, bool)> {
        if let (Some(Symbol::Type(ty, volatile)), None) = (self.lookup(&part.name), &part.arguments)
        {
            return Ok((ty.clone(), *volatile));
        }
        let file = self.file;
        let alias = file.aliases.iter().find(|a| a.0 == part.name);
        let is_struct = matches!(self.lookup(&part.name), Some(Symbol::Struct(..)))
            || file.structs.iter().any(|s| s.name == part.name);
        if let (Some((_, template, ty)), false) = (alias, is_struct) {
            return self.alias(template, ty, part.arguments.as_deref());
        }
        Ok((self.resolve_struct(part, path)?, false))
    }

    fn resolve_struct(&mut self, part: &Part, path: &Path) -> Result<Ty> {
        if let Some(Symbol::Struct(decl, scope)) = self.lookup(&part.name) {
            let (decl, scope) = (decl.clone(), scope.clone());
            return self.instantiate(&decl, part.arguments.as_deref(), scope);
        }
        let file = self.file;
        if let Some(decl) = file.structs.iter().find(|s| s.name == part.name) {
            return self.instantiate(decl, part.arguments.as_deref(), Scope::default());
        }
        if let Some(ty) = self.vector_type(&part.name) {
            return Ok(ty);
        }
        if file.types.contains(&part.name)
            && !file.skipped.iter().any(|(n, _)| n.contains(&part.name))
        {
            // What is left are enumerations.
            return Ok(Ty::INT);
        }
        Err(self.unknown("the type", path))
    }

    fn alias(
        &mut self,
        template: &[TemplateParameter],
        ty: &TypeExpr,
        arguments: Option<&[TemplateArgument]>,
    ) -> Result<(Ty, bool)> {
        let (scope, _) = self.bind(template, arguments.unwrap_or(&[]), Scope::default())?;
        let outer = std::mem::take(&mut self.scopes);
        self.scopes.push(scope);
        let result = self.resolve(ty);
        self.scopes = outer;
        result
    }

    /// Template parameters bound to arguments or their defaults.
    pub(super) fn bind(
        &mut self,
        template: &[TemplateParameter],
        arguments: &[TemplateArgument],
        mut scope: Scope,
    ) -> Result<(Scope, Vec<Symbol>)> {
        if arguments.len() > template.len() {
            return Err(self.pos.error("too many template arguments"));
        }
        let mut symbols = Vec::new();
        for (i, parameter) in template.iter().enumerate() {
            let symbol = match (arguments.get(i), &parameter.default) {
                (Some(argument), _) => self.template_symbol(parameter, argument)?,
                (None, Some(default)) => {
                    self.scopes.push(scope.clone());
                    let symbol = self.template_symbol(parameter, default);
                    self.scopes.pop();
                    symbol?
                }
                (None, None) => {
                    return Err(self
                        .pos
                        .error(format!("the template argument `{}` is missing", parameter.name)));
                }
            };
            symbols.push(symbol.clone());
            scope.insert(parameter.name.clone(), symbol);
        }
        Ok((scope, symbols))
    }

    pub(super) fn template_symbol(
        &mut self,
        parameter: &TemplateParameter,
        argument: &TemplateArgument,
    ) -> Result<Symbol> {
        match (&parameter.value, argument) {
            (None, TemplateArgument::Type(ty)) => {
                let (ty, volatile) = self.resolve(ty)?;
                Ok(Symbol::Type(ty, volatile))
            }
            (Some(ty), TemplateArgument::Value(e)) => {
                let ty = match self.resolve(ty)?.0 {
                    Ty::Scalar(s) => s,
                    _ => ScalarType::I64,
                };
                let value = self.constant(e)?;
                Ok(Symbol::Constant(crate::machine::alu::canonical(ty, value), ty))
            }
            (None, TemplateArgument::Value(_)) => Err(self
                .pos
                .error(format!("the template argument `{}` must be a type", parameter.name))),
            (Some(_), TemplateArgument::Type(_)) => Err(self
                .pos
                .error(format!("the template argument `{}` must be a value", parameter.name))),
        }
    }

    /// The struct of a declaration with these template arguments.
    pub(super) fn instantiate(
        &mut self,
        decl: &Arc<Struct>,
        arguments: Option<&[TemplateArgument]>,
        scope: Scope,
    ) -> Result<Ty> {
        // Within the struct its name alone means this instance.
        if arguments.is_none()
            && !decl.template.is_empty()
            && let Some(Symbol::Type(ty, _)) = self.lookup(&decl.name)
        {
            return Ok(ty.clone());
        }
        let (scope, symbols) = self.bind(&decl.template, arguments.unwrap_or(&[]), scope)?;
        let words: Vec<String> = symbols.iter().map(|s| self.describe_symbol(s)).collect();
        let name = if words.is_empty() {
            decl.name.to_string()
        } else {
            format!("{}<{}>", decl.name, words.join(", "))
        };
        let key = format!("{name}@{}:{}", decl.pos.line, decl.pos.column);
        if let Some(&id) = self.struct_ids.get(&key) {
            if self.structs[id].size == u64::MAX {
                return Err(self.pos.error(format!("struct `{name}` contains itself")));
            }
            return Ok(Ty::Struct(id));
        }
        let id = self.structs.len();
        self.struct_ids.insert(key, id);
        self.structs.push(StructInfo {
            name,
            fields: Vec::new(),
            size: u64::MAX,
            align: 1,
            leaves: Vec::new(),
            in_memory: decl.union,
            decl: decl.clone(),
            scope,
            arguments: symbols,
            bases: Vec::new(),
        });
        let outer = std::mem::take(&mut self.scopes);
        let result = self.lay_out(id, decl);
        self.scopes = outer;
        result?;
        Ok(Ty::Struct(id))
    }

    pub(super) fn describe_symbol(&self, symbol: &Symbol) -> String {
        match symbol {
            Symbol::Type(ty, _) => self.describe(ty),
            Symbol::Constant(value, ty) if crate::machine::alu::is_signed(*ty) => {
                (*value as i64).to_string()
            }
            Symbol::Constant(value, _) => value.to_string(),
            _ => "?".into(),
        }
    }

    fn lay_out(&mut self, id: usize, decl: &Arc<Struct>) -> Result<()> {
        let mut scope = self.structs[id].scope.clone();
        for (name, ty) in &decl.aliases {
            self.scopes.push(scope.clone());
            let ty = self.resolve(ty);
            self.scopes.pop();
            let (ty, volatile) = ty?;
            scope.insert(name.clone(), Symbol::Type(ty, volatile));
        }
        let mut next = 0;
        for (name, value) in &decl.constants {
            self.scopes.push(scope.clone());
            let value = match value {
                Some(e) => self.constant_value(e),
                None => Ok((next, ScalarType::I32)),
            };
            self.scopes.pop();
            let (value, ty) = value?;
            next = value.wrapping_add(1);
            scope.insert(name.clone(), Symbol::Constant(value, ty));
        }
        self.structs[id].scope = scope.clone();
        self.scopes.push(scope);
        for base in &decl.bases {
            let (ty, _) = self.resolve(base)?;
            let Ty::Struct(base) = ty else {
                return self.refuse("a base that is no struct");
            };
            self.inherit(id, base);
        }
        for field in &decl.fields {
            let (ty, volatile) = self.resolve(&field.ty)?;
            if let TypeExpr::Reference(_) = field.ty {
                return self.refuse("members that are references");
            }
            self.add_field(id, field.name.clone(), ty, volatile, field.pos)?;
        }
        if let Some(align) = &decl.align {
            let align = self.constant(align)?.clamp(1, 256);
            self.structs[id].align = self.structs[id].align.max(align);
        }
        self.finish_layout(id);
        Ok(())
    }

    fn inherit(&mut self, id: usize, base: usize) {
        let parent = self.structs[base].clone();
        let child = &mut self.structs[id];
        child.fields.extend(parent.fields);
        child.leaves.extend(parent.leaves);
        child.in_memory |= parent.in_memory;
        child.align = child.align.max(parent.align);
        child.bases.push(base);
        for (name, symbol) in parent.scope.iter() {
            if child.scope.get(name).is_none() {
                child.scope.insert(name.clone(), symbol.clone());
            }
        }
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
        let leaves = self.leaves(&ty);
        let in_memory = self.lives_in_memory(&ty);
        let end = match self.structs[id].fields.last() {
            Some(last) => last.offset + self.size_of(&last.ty),
            None => 0,
        };
        let info = &mut self.structs[id];
        let offset = if info.decl.union { 0 } else { end.next_multiple_of(align) };
        let leaf = info.leaves.len();
        if info.decl.union {
            // A union's leaves are words that cover its largest member.
            let covered = info.leaves.len() as u64 * 4;
            for word in covered / 4..size.div_ceil(4) {
                info.leaves.push((word * 4, ScalarType::U32));
            }
        } else {
            info.leaves.extend(leaves.iter().map(|&(o, s)| (offset + o, s)));
        }
        if info.leaves.len() > MAX_LEAVES {
            return Err(pos.error("structs of more than 256 scalars: outside the language"));
        }
        info.align = info.align.max(align);
        info.in_memory |= in_memory;
        info.fields.push(Field { name, ty, offset, leaf, volatile });
        Ok(())
    }

    fn finish_layout(&mut self, id: usize) {
        let info = &mut self.structs[id];
        let end = info.leaves.iter().map(|&(o, s)| o + s.size() as u64).max().unwrap_or(1);
        info.size = end.next_multiple_of(info.align);
    }

    /// CUDA's vector types, as structs.
    pub(super) fn vector_type(&mut self, name: &str) -> Option<Ty> {
        let (base, lanes) = if name == "dim3" {
            (ScalarType::U32, 3)
        } else {
            let lanes = name.bytes().last().filter(|b| (b'1'..=b'4').contains(b))? - b'0';
            (vector_base(&name[..name.len() - 1])?, u32::from(lanes))
        };
        if let Some(&id) = self.struct_ids.get(name) {
            return Some(Ty::Struct(id));
        }
        let size = base.size() as u64;
        let align = match lanes {
            2 => 2 * size,
            4 => (4 * size).min(16),
            _ => size,
        };
        let field = |i: u32| Field {
            name: Arc::from(["x", "y", "z", "w"][i as usize]),
            ty: Ty::Scalar(base),
            offset: u64::from(i) * size,
            leaf: i as usize,
            volatile: false,
        };
        let id = self.structs.len();
        self.struct_ids.insert(name.to_owned(), id);
        self.structs.push(StructInfo {
            name: name.to_owned(),
            fields: (0..lanes).map(field).collect(),
            size: u64::from(lanes) * size,
            align,
            leaves: (0..lanes).map(|i| (u64::from(i) * size, base)).collect(),
            in_memory: false,
            decl: Arc::new(Struct {
                name: Arc::from(name),
                template: Vec::new(),
                fields: Vec::new(),
                methods: Vec::new(),
                aliases: Vec::new(),
                constants: Vec::new(),
                bases: Vec::new(),
                union: false,
                align: None,
                pos: Pos::default(),
            }),
            scope: Scope::default(),
            arguments: Vec::new(),
            bases: Vec::new(),
        });
        Some(Ty::Struct(id))
    }

    pub(super) fn field(&self, id: usize, name: &str) -> Option<&Field> {
        self.structs[id].fields.iter().find(|f| &*f.name == name)
    }

    /// Methods of this name, the struct's own before its bases'.
    pub(super) fn methods(&self, id: usize, name: &str) -> Vec<(usize, Arc<Function>)> {
        let info = &self.structs[id];
        let own = info.decl.methods.iter().filter(|m| &*m.name == name);
        let mut found: Vec<_> = own.map(|m| (id, m.clone())).collect();
        for &base in &info.bases {
            if found.is_empty() {
                found = self.methods(base, name);
            }
        }
        found
    }
}

fn vector_base(name: &str) -> Option<ScalarType> {
    use ScalarType as S;
    Some(match name {
        "char" => S::I8,
        "uchar" => S::U8,
        "short" => S::I16,
        "ushort" => S::U16,
        "int" => S::I32,
        "uint" => S::U32,
        "long" | "longlong" => S::I64,
        "ulong" | "ulonglong" => S::U64,
        "float" => S::F32,
        "double" => S::F64,
        _ => return None,
    })
}

/// A type as C writes it, for lists of parameters.
pub(crate) fn describe_type(ty: &TypeExpr) -> String {
    match ty {
        TypeExpr::Void => "void".into(),
        TypeExpr::Auto => "auto".into(),
        TypeExpr::Scalar(s) => s.c_name().into(),
        TypeExpr::Named(path) => path.last().into(),
        TypeExpr::Pointer(inner) => format!("{} *", describe_type(inner)),
        TypeExpr::Reference(inner) => format!("{} &", describe_type(inner)),
        TypeExpr::Array(inner, _) => format!("{}[]", describe_type(inner)),
        TypeExpr::Volatile(inner) => format!("volatile {}", describe_type(inner)),
        TypeExpr::Decltype(_) => "decltype(…)".into(),
        TypeExpr::Group(_) => "cooperative group".into(),
    }
}

/// The function's template parameters that are types.
pub(super) fn type_parameters(f: &Function) -> impl Iterator<Item = &Arc<str>> {
    f.template.iter().filter(|p| p.value.is_none()).map(|p| &p.name)
}
