//! Specifiers: what stands before the declarators of a declaration, the type among them.

use super::Parser;
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{Expr, Storage, TypeExpr};
use crate::lang::token::{Kind, Pos};
use crate::value::ScalarType;

/// Words that can start or continue a declaration's specifiers.
pub(super) const SPECIFIERS: [&str; 38] = [
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

/// What the specifiers of a declaration say.
#[derive(Clone, Debug)]
pub(super) struct Specifiers {
    pub ty: TypeExpr,
    pub storage: Storage,
    /// `const` or `constexpr`.
    pub constant: bool,
    /// `const`: a pointer's target is what it says it of.
    pub qualified: bool,
    pub kernel: bool,
    pub device: bool,
    pub is_static: bool,
    pub is_extern: bool,
    pub align: Option<Expr>,
    pub launch_bound: Option<Expr>,
}

impl Specifiers {
    /// A type, and nothing else said.
    pub(super) const fn of(ty: TypeExpr) -> Self {
        Self {
            ty,
            storage: Storage::Auto,
            constant: false,
            qualified: false,
            kernel: false,
            device: false,
            is_static: false,
            is_extern: false,
            align: None,
            launch_bound: None,
        }
    }
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
            "long" => self.long = self.long.saturating_add(1),
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

/// What was read of the specifiers so far.
struct Reading {
    said: Specifiers,
    shared: bool,
    in_memory: bool,
    volatile: bool,
    words: Words,
    ty: Option<TypeExpr>,
}

impl Parser {
    /// Specifiers with a type among them.
    pub(super) fn specifiers(&mut self) -> Result<Specifiers, Diagnostic> {
        let mut r = Reading::new();
        let start = self.pos();
        while self.specifier(&mut r)? {}
        let mut s = r.said;
        s.ty = match r.ty {
            Some(ty) => ty,
            None if r.words.any() => TypeExpr::Scalar(r.words.scalar()),
            None => return Err(self.no_type(start)),
        };
        if r.volatile {
            s.ty = TypeExpr::Volatile(Box::new(s.ty));
        }
        s.storage = match (r.shared, s.is_extern) {
            (true, true) => Storage::DynamicShared,
            (true, false) => Storage::Shared,
            _ if r.in_memory => Storage::Device,
            _ if s.is_static => Storage::Static,
            _ => Storage::Auto,
        };
        Ok(s)
    }

    /// Why no type comes where one must.
    fn no_type(&mut self, start: Pos) -> Diagnostic {
        if let Err(error) = self.check_library() {
            return error;
        }
        let found = self.peek().clone();
        if found.is("operator") {
            return found.pos.outside("conversion operators");
        }
        if found.is_name() {
            return self.unknown_type(found.pos, &found.text);
        }
        let behind = if found.pos == start { "" } else { " behind specifiers" };
        found.pos.error(format!("expected a type, found {}{behind}", found.describe()))
    }

    /// Reads one specifier; false if what comes is none.
    fn specifier(&mut self, r: &mut Reading) -> Result<bool, Diagnostic> {
        let text = self.peek().text.clone();
        match &*text {
            "const" => {
                r.said.constant = true;
                r.said.qualified = true;
            }
            "constexpr" => r.said.constant = true,
            "volatile" => r.volatile = true,
            "static" => r.said.is_static = true,
            "extern" => {
                r.said.is_extern = true;
                if self.ahead(1).kind == Kind::String {
                    self.at += 1;
                }
            }
            "register" | "inline" | "mutable" | "typename" | "__host__" | "__inline__"
            | "__forceinline__" | "__noinline__" | "explicit" | "virtual" | "friend"
            | "__restrict__" => {}
            "__shared__" => r.shared = true,
            "__device__" => {
                r.said.device = true;
                r.in_memory = true;
            }
            "__constant__" | "__managed__" => r.in_memory = true,
            "__global__" => r.said.kernel = true,
            "__align__" | "alignas" | "__launch_bounds__" | "__attribute__" | "__declspec" => {
                self.at += 1;
                self.attribute(&text, &mut r.said)?;
                return Ok(true);
            }
            "[" if self.ahead(1).is("[") => {
                self.balanced()?;
                return Ok(true);
            }
            "thread_local" => return self.refuse("`thread_local`"),
            word if r.ty.is_none() && r.words.take(word) => {}
            _ if r.ty.is_some() || r.words.any() || !self.at_type() => return Ok(false),
            _ => {
                r.said.constant |= self.at_cuda_enumeration();
                r.ty = Some(self.type_name()?);
                return Ok(true);
            }
        }
        self.at += 1;
        Ok(true)
    }

    /// What stands in parentheses behind the word of an attribute.
    fn attribute(&mut self, word: &str, s: &mut Specifiers) -> Result<(), Diagnostic> {
        match word {
            "__align__" | "alignas" => {
                self.expect("(")?;
                s.align = Some(self.expression()?);
                self.expect(")")?;
            }
            "__launch_bounds__" => {
                self.expect("(")?;
                s.launch_bound = Some(self.assignment()?);
                while self.eat(",") {
                    self.assignment()?;
                }
                self.expect(")")?;
            }
            _ => {
                self.balanced()?;
            }
        }
        Ok(())
    }
}

impl Reading {
    fn new() -> Self {
        Self {
            said: Specifiers::of(TypeExpr::Void),
            shared: false,
            in_memory: false,
            volatile: false,
            words: Words::default(),
            ty: None,
        }
    }
}
