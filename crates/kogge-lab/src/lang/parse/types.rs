//! Types and declarators.

use std::sync::Arc;

use super::{Names, Parser};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{Expr, GroupExpr, Part, Path, Storage, TemplateArgument, TypeExpr};
use crate::lang::token::{Kind, Pos};
use crate::value::ScalarType;

/// Words that can start or continue a declaration's specifiers.
const SPECIFIERS: [&str; 38] = [
    "const",
    "volatile",
    "static",
    "constexpr",
    "register",
    "extern",
    "inline",
    "mutable",
    "typename",
    "struct",
    "class",
    "union",
    "enum",
    "void",
    "bool",
    "char",
    "short",
    "int",
    "long",
    "float",
    "double",
    "signed",
    "unsigned",
    "auto",
    "decltype",
    "__shared__",
    "__device__",
    "__constant__",
    "__managed__",
    "__host__",
    "__global__",
    "__inline__",
    "__forceinline__",
    "__noinline__",
    "__align__",
    "alignas",
    "__launch_bounds__",
    "thread_local",
];

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

/// Namespaces whose names are known without them.
const NAMESPACES: [&str; 5] = ["std", "cg", "cooperative_groups", "cuda", "thrust"];

/// What the specifiers of a declaration say.
#[derive(Clone, Debug)]
pub(super) struct Specifiers {
    pub ty: TypeExpr,
    pub storage: Storage,
    pub constant: bool,
    pub kernel: bool,
    pub device: bool,
    pub is_static: bool,
    pub is_extern: bool,
    pub align: Option<Expr>,
    pub launch_bound: Option<Expr>,
}

/// The arithmetic words seen so far.
#[derive(Default)]
struct Words {
    signed: bool,
    unsigned: bool,
    short: bool,
    long: u8,
    base: Option<&'static str>,
}

impl Words {
    fn any(&self) -> bool {
        self.signed || self.unsigned || self.short || self.long > 0 || self.base.is_some()
    }

    fn take(&mut self, word: &str) -> bool {
        match word {
            "signed" => self.signed = true,
            "unsigned" => self.unsigned = true,
            "short" => self.short = true,
            "long" => self.long += 1,
            "int" => self.base = self.base.or(Some("int")),
            "char" => self.base = Some("char"),
            "float" => self.base = Some("float"),
            "double" => self.base = Some("double"),
            "bool" | "_Bool" => self.base = Some("bool"),
            _ => return false,
        }
        true
    }

    fn scalar(&self) -> ScalarType {
        use ScalarType as S;
        match (self.base, self.unsigned) {
            (Some("float"), _) => S::F32,
            (Some("double"), _) => S::F64,
            (Some("bool"), _) => S::Bool,
            (Some("char"), false) => S::I8,
            (Some("char"), true) => S::U8,
            (_, false) if self.short => S::I16,
            (_, true) if self.short => S::U16,
            (_, false) if self.long > 0 => S::I64,
            (_, true) if self.long > 0 => S::U64,
            (_, false) => S::I32,
            (_, true) => S::U32,
        }
    }
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
    /// Skips `std::`, `cg::` and a leading `::`.
    pub(super) fn skip_namespaces(&mut self) {
        loop {
            if self.is("::") {
                self.at += 1;
            } else if self.ahead(1).is("::")
                && (NAMESPACES.contains(&&*self.peek().text)
                    || self.is_template(&format!("namespace {}", self.peek().text)))
            {
                self.at += 2;
            } else {
                return;
            }
        }
    }

    fn skip_distance(&self) -> usize {
        let mut n = 0;
        loop {
            let token = self.ahead(n);
            if token.is("::") {
                n += 1;
            } else if self.ahead(n + 1).is("::")
                && (NAMESPACES.contains(&&*token.text)
                    || self.is_template(&format!("namespace {}", token.text)))
            {
                n += 2;
            } else {
                return n;
            }
        }
    }

    /// Whether the next tokens start a type or a declaration's specifiers.
    pub(super) fn at_type(&self) -> bool {
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

    /// Specifiers with a type among them.
    pub(super) fn specifiers(&mut self) -> Result<Specifiers, Diagnostic> {
        let mut s = Specifiers {
            ty: TypeExpr::Void,
            storage: Storage::Auto,
            constant: false,
            kernel: false,
            device: false,
            is_static: false,
            is_extern: false,
            align: None,
            launch_bound: None,
        };
        let mut shared = false;
        let mut in_memory = false;
        let mut volatile = false;
        let mut words = Words::default();
        let mut ty = None;
        let start = self.pos();
        loop {
            let text = self.peek().text.clone();
            match &*text {
                "const" => s.constant = true,
                "constexpr" => s.constant = true,
                "volatile" => volatile = true,
                "static" => s.is_static = true,
                "extern" => {
                    s.is_extern = true;
                    if self.ahead(1).kind == Kind::String {
                        self.at += 1;
                    }
                }
                "register" | "inline" | "mutable" | "typename" | "__host__" | "__inline__"
                | "__forceinline__" | "__noinline__" | "explicit" | "virtual" | "friend"
                | "__restrict__" => {}
                "__shared__" => shared = true,
                "__device__" => {
                    s.device = true;
                    in_memory = true;
                }
                "__constant__" | "__managed__" => in_memory = true,
                "__global__" => s.kernel = true,
                "__align__" | "alignas" => {
                    self.at += 1;
                    self.expect("(")?;
                    s.align = Some(self.expression()?);
                    self.expect(")")?;
                    continue;
                }
                "__launch_bounds__" => {
                    self.at += 1;
                    self.expect("(")?;
                    s.launch_bound = Some(self.assignment()?);
                    while self.eat(",") {
                        self.assignment()?;
                    }
                    self.expect(")")?;
                    continue;
                }
                "__attribute__" | "__declspec" => {
                    self.at += 1;
                    self.balanced()?;
                    continue;
                }
                "[" if self.ahead(1).is("[") => {
                    self.balanced()?;
                    continue;
                }
                "thread_local" => return self.refuse("`thread_local`"),
                word if ty.is_none() && words.take(word) => {}
                _ if ty.is_some() || words.any() || !self.at_type() => break,
                _ => {
                    ty = Some(self.type_name()?);
                    continue;
                }
            }
            self.at += 1;
        }
        s.ty = match ty {
            Some(ty) => ty,
            None if words.any() => TypeExpr::Scalar(words.scalar()),
            None => {
                let found = self.peek();
                return Err(found.pos.error(format!(
                    "expected a type, found {}",
                    if found.pos == start {
                        found.describe()
                    } else {
                        format!("{} behind specifiers", found.describe())
                    }
                )));
            }
        };
        if volatile {
            s.ty = TypeExpr::Volatile(Box::new(s.ty));
        }
        s.storage = match (shared, s.is_extern) {
            (true, true) => Storage::DynamicShared,
            (true, false) => Storage::Shared,
            _ if in_memory => Storage::Device,
            _ if s.is_static => Storage::Static,
            _ => Storage::Auto,
        };
        Ok(s)
    }

    /// A type that is one word, a named type or a group.
    fn type_name(&mut self) -> Result<TypeExpr, Diagnostic> {
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

    /// A name with qualifiers and template arguments.
    pub(super) fn path(&mut self) -> Result<Path, Diagnostic> {
        self.skip_namespaces();
        let pos = self.pos();
        let mut parts = vec![self.part()?];
        while self.is("::") && self.ahead(1).is_name() {
            self.descend()?;
            self.at += 1;
            parts.push(self.part()?);
        }
        self.depth -= (parts.len() - 1) as u32;
        Ok(Path { parts, pos })
    }

    pub(super) fn part(&mut self) -> Result<Part, Diagnostic> {
        self.eat("template");
        let name = self.name("a name")?;
        if &*name == "operator" {
            return Ok(Part { name: self.operator_name()?, arguments: None });
        }
        let template = self.is_template(&name) && self.is("<");
        let arguments = if template {
            self.at += 1;
            Some(self.template_arguments()?)
        } else {
            None
        };
        Ok(Part { name, arguments })
    }

    /// `operator+`, `operator()` and so on, behind the word itself.
    pub(super) fn operator_name(&mut self) -> Result<Arc<str>, Diagnostic> {
        let token = self.next();
        let text = match &*token.text {
            "(" => {
                self.expect(")")?;
                "operator()".to_owned()
            }
            "[" => {
                self.expect("]")?;
                "operator[]".to_owned()
            }
            _ if token.kind == Kind::Punct => format!("operator{}", token.text),
            _ => return Err(token.pos.error("conversion operators: outside the language")),
        };
        Ok(text.into())
    }

    /// Template arguments behind their `<`, with the `>`.
    pub(super) fn template_arguments(&mut self) -> Result<Vec<TemplateArgument>, Diagnostic> {
        let outer = std::mem::replace(&mut self.in_arguments, true);
        let mut arguments = Vec::new();
        while !self.is(">") && !self.is(">>") {
            arguments.push(self.template_argument()?);
            if !self.eat(",") {
                break;
            }
        }
        self.in_arguments = outer;
        self.expect(">")?;
        Ok(arguments)
    }

    pub(super) fn template_argument(&mut self) -> Result<TemplateArgument, Diagnostic> {
        self.descend()?;
        let start = self.at;
        let mut argument = None;
        if self.at_type() {
            let ty = self.type_id()?;
            let ends =
                self.is(",") || self.is(">") || self.is(">>") || self.peek().kind == Kind::End;
            argument = ends.then_some(TemplateArgument::Type(ty));
        }
        let argument = match argument {
            Some(a) => a,
            None => {
                self.at = start;
                TemplateArgument::Value(self.conditional()?)
            }
        };
        self.depth -= 1;
        Ok(argument)
    }

    /// A type without a name: of a cast, of `sizeof`, of a template argument.
    pub(super) fn type_id(&mut self) -> Result<TypeExpr, Diagnostic> {
        let specifiers = self.specifiers()?;
        let mut ty = self.pointers(specifiers.ty)?;
        if self.is("(") && self.ahead(1).is("*") {
            return self.refuse("pointers to functions and to arrays");
        }
        ty = self.arrays(ty)?;
        Ok(ty)
    }

    /// `*`, `&` and their qualifiers.
    pub(super) fn pointers(&mut self, mut ty: TypeExpr) -> Result<TypeExpr, Diagnostic> {
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
                    ty = TypeExpr::Pointer(Box::new(ty));
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
                "const" | "__restrict__" | "__restrict" | "restrict" => {}
                _ => break,
            }
            self.at += 1;
        }
        self.depth -= levels;
        Ok(ty)
    }

    /// `[n][m]…` behind a name.
    pub(super) fn arrays(&mut self, ty: TypeExpr) -> Result<TypeExpr, Diagnostic> {
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
        Ok(sizes.into_iter().rev().fold(ty, |ty, size| TypeExpr::Array(Box::new(ty), size)))
    }

    /// A declarator: pointers, name, array sizes.
    pub(super) fn declarator(
        &mut self,
        base: &TypeExpr,
    ) -> Result<(TypeExpr, Arc<str>, Pos), Diagnostic> {
        let ty = self.pointers(base.clone())?;
        if self.is("(") {
            return self.refuse("pointers to functions and to arrays");
        }
        let pos = self.pos();
        let name = self.name("a name")?;
        let name = if &*name == "operator" { self.operator_name()? } else { name };
        Ok((self.arrays(ty)?, name, pos))
    }
}

fn is_group(name: &str) -> bool {
    matches!(
        name,
        "grid_group" | "thread_block" | "thread_group" | "thread_block_tile" | "coalesced_group"
    )
}
