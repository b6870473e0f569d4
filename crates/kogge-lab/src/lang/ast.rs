//! The syntax tree. Names are not resolved yet: types of templates stay
//! unevaluated until the template is instantiated.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::token::{Pos, Token};
use crate::diagnostic::Diagnostic;
use crate::value::ScalarType;

#[derive(Clone, Debug)]
pub(crate) enum TypeExpr {
    Void,
    Auto,
    Scalar(ScalarType),
    /// A typedef, struct, template parameter, or a type of a class.
    Named(Path),
    Pointer(Box<TypeExpr>),
    Reference(Box<TypeExpr>),
    Array(Box<TypeExpr>, Option<Box<Expr>>),
    Volatile(Box<TypeExpr>),
    /// What a pointer points at, an alias or a template argument. That what is declared is `const`,
    /// declarations say themselves.
    Const(Box<TypeExpr>),
    Decltype(Box<Expr>),
    /// An enumeration, by the type that holds its members.
    Enumeration(Box<TypeExpr>),
    /// A cooperative group.
    Group(GroupExpr),
    /// An atomic of libcu++.
    Atomic(AtomicExpr),
}

impl TypeExpr {
    /// Whether the initialiser tells the type.
    pub(crate) fn contains_auto(&self) -> bool {
        match self {
            Self::Auto => true,
            Self::Pointer(inner)
            | Self::Reference(inner)
            | Self::Volatile(inner)
            | Self::Const(inner) => inner.contains_auto(),
            _ => false,
        }
    }
}

/// What a cast is written with, and so what it may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CastKind {
    /// `(T)x`.
    C,
    Static,
    Reinterpret,
    Const,
}

#[derive(Clone, Debug)]
pub(crate) enum GroupExpr {
    Grid,
    Block,
    /// A tile of so many threads; none: as large as `coalesced_threads()` says.
    Tile(Option<Box<Expr>>),
}

/// `cuda::atomic<T, scope>` and `cuda::atomic_ref<T, scope>`.
#[derive(Clone, Debug)]
pub(crate) struct AtomicExpr {
    /// Whether it refers to a variable, and isn't one itself.
    pub reference: bool,
    /// Whether it is the one of `cuda::std`, which has no scope.
    pub std: bool,
    /// None where the initialiser tells them.
    pub arguments: Option<Vec<TemplateArgument>>,
    pub pos: Pos,
}

/// A name, possibly qualified, each part with its template arguments.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub parts: Vec<Part>,
    pub pos: Pos,
}

#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub name: Arc<str>,
    pub arguments: Option<Vec<TemplateArgument>>,
}

impl Path {
    pub(crate) fn last(&self) -> &str {
        self.parts.last().map_or("", |p| &p.name)
    }

    /// The path of a plain name.
    pub(crate) fn of(name: Arc<str>, pos: Pos) -> Self {
        Self { parts: vec![Part { name, arguments: None }], pos }
    }

    /// The name, if it is neither qualified nor a template's.
    pub(crate) fn simple(&self) -> Option<&Arc<str>> {
        match &self.parts[..] {
            [one] if one.arguments.is_none() => Some(&one.name),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum TemplateArgument {
    Type(TypeExpr),
    Value(Expr),
}

#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub kind: ExprKind,
    pub pos: Pos,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Lt,
    Gt,
    Le,
    Ge,
    Eq,
    Ne,
    LogicalAnd,
    LogicalOr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Plus,
    Minus,
    Not,
    Complement,
    Address,
    Dereference,
}

#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    Integer(u64, ScalarType),
    Float(f64, ScalarType),
    Bool(bool),
    Null,
    This,
    Text,
    Name(Path),
    Unary(Unary, Box<Expr>),
    /// `++x`, `--x`, `x++`, `x--`.
    Step {
        target: Box<Expr>,
        up: bool,
        prefix: bool,
    },
    Binary(Binary, Box<Expr>, Box<Expr>),
    Assign(Option<Binary>, Box<Expr>, Box<Expr>),
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    Comma(Box<Expr>, Box<Expr>),
    Call(Box<Expr>, Vec<Expr>),
    Index(Box<Expr>, Box<Expr>),
    /// `object.name` or `pointer->name`, with template arguments of a method.
    Member {
        object: Box<Expr>,
        part: Part,
        arrow: bool,
    },
    Cast(CastKind, Box<TypeExpr>, Box<Expr>),
    /// `reinterpret_cast<T &>(x)` and the like keep the bits.
    Construct(Box<TypeExpr>, Vec<Expr>),
    SizeofType(Box<TypeExpr>),
    SizeofExpr(Box<Expr>),
    List(Vec<Expr>),
}

#[derive(Clone, Debug)]
pub(crate) struct Stmt {
    pub kind: StmtKind,
    pub pos: Pos,
}

#[derive(Clone, Debug)]
pub(crate) enum StmtKind {
    Empty,
    Block(Vec<Stmt>),
    Expr(Expr),
    Declare(Vec<Variable>),
    Alias(Arc<str>, TypeExpr),
    /// A struct, and variables declared together with it.
    Struct(Arc<Struct>, Vec<Variable>),
    /// The name, if there is one, with the type that holds the members.
    Enum(Option<(Arc<str>, TypeExpr)>, Vec<(Arc<str>, Option<Expr>)>),
    StaticAssert(StaticAssert),
    If {
        constant: bool,
        condition: Expr,
        yes: Box<Stmt>,
        no: Option<Box<Stmt>>,
    },
    While(Expr, Box<Stmt>),
    Do(Box<Stmt>, Expr),
    For {
        init: Box<Stmt>,
        condition: Option<Expr>,
        step: Option<Expr>,
        body: Box<Stmt>,
    },
    Switch(Expr, Vec<Stmt>),
    /// A label within a switch; none: `default`.
    Case(Option<Expr>),
    Break,
    Continue,
    Return(Option<Expr>),
}

/// `static_assert(condition, "message")`.
#[derive(Clone, Debug)]
pub(crate) struct StaticAssert {
    pub condition: Expr,
    /// With its quotes.
    pub message: Option<Arc<str>>,
    pub pos: Pos,
}

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// A register or local memory; at file scope, a constant.
    Auto,
    /// `__shared__`.
    Shared,
    /// `extern __shared__`.
    DynamicShared,
    /// `__device__`, `__constant__`, `__managed__`.
    Device,
    /// `static` in a function body: outside the language.
    Static,
}

#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub name: Arc<str>,
    pub ty: TypeExpr,
    pub init: Option<Init>,
    pub storage: Storage,
    /// `const` or `constexpr`: usable in constant expressions.
    pub constant: bool,
    /// Of `__align__`.
    pub align: Option<Expr>,
    pub pos: Pos,
}

#[derive(Clone, Debug)]
pub(crate) enum Init {
    /// `= expression` or `= {…}` or `{…}`.
    Value(Expr),
    /// `(arguments)`.
    Call(Vec<Expr>),
}

impl Init {
    /// What a constructor is given.
    pub(crate) fn members(&self) -> &[Expr] {
        match self {
            Self::Value(Expr { kind: ExprKind::List(members), .. }) | Self::Call(members) => {
                members
            }
            Self::Value(e) => std::slice::from_ref(e),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct TemplateParameter {
    pub name: Arc<str>,
    /// The type of a value parameter; none: a type parameter.
    pub value: Option<TypeExpr>,
    pub default: Option<TemplateArgument>,
}

#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub name: Option<Arc<str>>,
    pub ty: TypeExpr,
    /// Whether `const` stands with the type: with what a pointer or reference is to.
    pub constant: bool,
    /// A reference by `&&`.
    pub takes_values: bool,
    pub default: Option<Expr>,
    pub pos: Pos,
}

/// A function: its body stays in tokens until it is called.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub name: Arc<str>,
    pub template: Vec<TemplateParameter>,
    pub result: TypeExpr,
    pub parameters: Vec<Parameter>,
    /// Constructor's member initialisers.
    pub initialisers: Vec<(Arc<str>, Vec<Expr>)>,
    pub body: Arc<[Token]>,
    /// Whether there is a body.
    pub defined: bool,
    /// Type names visible in the body that the file does not declare.
    pub types: Vec<Arc<str>>,
    pub kernel: bool,
    pub device: bool,
    pub constant: bool,
    /// Largest block of `__launch_bounds__`.
    pub launch_bound: Option<Expr>,
    /// None for a method.
    pub order: Option<Order>,
    pub pos: Pos,
}

/// Where a function at file scope stands, counted in tokens: macros may put several in a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    pub defined: usize,
    /// Where it is declared first.
    pub declared: usize,
}

/// A specialisation of a function template.
#[derive(Clone, Debug)]
pub(crate) struct SpecialFunction {
    pub function: Arc<Function>,
    /// Those that it names: its parameters tell the others.
    pub arguments: Vec<TemplateArgument>,
}

#[derive(Clone, Debug)]
pub(crate) struct Struct {
    pub name: Arc<str>,
    pub template: Vec<TemplateParameter>,
    /// What a specialisation is for; its template is empty then, unless it is a partial one.
    pub arguments: Option<Vec<TemplateArgument>>,
    /// Whether there is a body.
    pub defined: bool,
    /// Where it stands, counted in tokens.
    pub order: usize,
    pub fields: Vec<Variable>,
    pub methods: Vec<Arc<Function>>,
    /// Methods without a body here.
    pub declared: Vec<Arc<str>>,
    /// Types and constants, in source order.
    pub inner: Vec<Inner>,
    pub bases: Vec<TypeExpr>,
    pub asserts: Vec<StaticAssert>,
    pub union: bool,
    pub align: Option<Expr>,
    pub pos: Pos,
}

impl Struct {
    /// A struct without members.
    pub(crate) fn empty(name: Arc<str>, pos: Pos) -> Self {
        Self {
            name,
            template: Vec::new(),
            arguments: None,
            defined: true,
            order: 0,
            fields: Vec::new(),
            methods: Vec::new(),
            declared: Vec::new(),
            inner: Vec::new(),
            bases: Vec::new(),
            asserts: Vec::new(),
            union: false,
            align: None,
            pos,
        }
    }
}

/// What a struct declares that is no part of its values.
#[derive(Clone, Debug)]
pub(crate) enum Inner {
    Alias(Arc<str>, TypeExpr),
    /// Members of an `enum`, or a `static constexpr` value.
    Constants(Vec<(Arc<str>, Option<Expr>)>),
    Struct(Arc<Struct>),
}

impl Inner {
    /// The type that it declares.
    pub(crate) fn type_name(&self) -> Option<&Arc<str>> {
        match self {
            Self::Alias(name, _) => Some(name),
            Self::Constants(_) => None,
            Self::Struct(record) => Some(&record.name),
        }
    }
}

/// A source file.
#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    pub functions: Vec<Arc<Function>>,
    pub structs: Vec<Arc<Struct>>,
    pub aliases: Vec<(Arc<str>, Vec<TemplateParameter>, TypeExpr)>,
    pub variables: Vec<Variable>,
    pub enums: Vec<Vec<(Arc<str>, Option<Expr>)>>,
    pub asserts: Vec<StaticAssert>,
    /// Specialisations of structs, by the template's name, in source order.
    pub special_structs: HashMap<Arc<str>, Vec<Arc<Struct>>>,
    /// The same of functions.
    pub special_functions: HashMap<Arc<str>, Vec<SpecialFunction>>,
    /// Templates that have specialisations that are wrong or outside the language: to use the
    /// template itself in their place would be wrong.
    pub unspecialised: Vec<(Arc<str>, Diagnostic)>,
    /// Methods that are defined outside their struct, which are outside the language: struct and
    /// method.
    pub outside: Vec<([Arc<str>; 2], Diagnostic)>,
    /// Declarations that were read past, with what they mention first.
    pub skipped: Vec<(Vec<Arc<str>>, Diagnostic)>,
    /// Headers that the file includes and whose text is missing.
    pub unread: Vec<String>,
    /// Names that are types, for the bodies.
    pub types: Arc<HashSet<Arc<str>>>,
    /// Names that are templates, for the bodies.
    pub templates: Arc<HashSet<Arc<str>>>,
}

impl File {
    /// Why a name is not known: its declaration was read past, or it may be a header's.
    pub(crate) fn explained(&self, error: Diagnostic, name: &str) -> Diagnostic {
        let skipped = self.skipped.iter().find(|(names, _)| names.iter().any(|n| **n == *name));
        match (skipped, &self.unread[..]) {
            (Some((_, reason)), _) => reason.clone(),
            (None, []) => error,
            (None, unread) => error.with_help(format!(
                "{} is not read: put its text in place of the #include",
                unread.join(", ")
            )),
        }
    }
}
