//! A function of the operator language as data: what the macros make of its Rust text, and what the
//! writers of CUDA C++ and WGSL read.
//!
//! The tree has no types but those that the Rust text names; `infer.rs` finds the rest.
//! The Rust compiler has checked the same text, so a tree is never wrong, only not yet typed.

/// A primitive type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Scalar {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    /// An index: an unsigned number below 2^32.
    Usize,
    F32,
    F64,
}

impl Scalar {
    /// Its name in Rust.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::Usize => "usize",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// Bits of a value; an index has 32 on every device.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Bool => 1,
            Self::I8 | Self::U8 => 8,
            Self::I16 | Self::U16 => 16,
            Self::I32 | Self::U32 | Self::Usize | Self::F32 => 32,
            Self::I64 | Self::U64 | Self::F64 => 64,
        }
    }

    /// Whether it is `f32` or `f64`.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// Whether it is an integer, `usize` among them.
    pub const fn is_integer(self) -> bool {
        !self.is_float() && !matches!(self, Self::Bool)
    }

    /// Whether it is a signed integer.
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }
}

/// A type of the language.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// A primitive.
    Scalar(Scalar),
    /// A `#[derive(Element)]` struct.
    Struct(Struct),
    /// An array of constant length.
    Array(Box<Type>, usize),
}

impl Type {
    /// Bytes of a value in memory, which no field of an element pads.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Scalar(scalar) => scalar.bits().div_ceil(8) as usize,
            Self::Struct(fields) => fields.fields.iter().map(|field| field.ty.bytes()).sum(),
            Self::Array(element, len) => element.bytes() * len,
        }
    }
}

/// A struct: its Rust path, its name, and its fields in the order of their declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Struct {
    /// `std::any::type_name`: tells structs of the same name apart.
    pub path: &'static str,
    /// The struct's own name, without path and type arguments.
    pub name: &'static str,
    /// The fields.
    pub fields: Vec<Field>,
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub ty: Type,
}

/// A value, computed in Rust.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The bits of a primitive; signed integers are sign-extended.
    Scalar(u64),
    /// The fields of a struct or the elements of an array, in order.
    Parts(Vec<Value>),
}

/// A function of the language.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Tells functions of the same name apart.
    pub path: &'static str,
    /// Tells functions of the same path apart, which blocks of one function may have.
    pub id: Option<std::any::TypeId>,
    /// Its name in Rust.
    pub name: &'static str,
    /// The parameters, in order.
    pub parameters: Vec<Parameter>,
    /// What it returns.
    pub result: Type,
    /// What it does.
    pub body: Block,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub ty: Type,
}

/// Statements, and the value after them, if any.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// The statements, in order.
    pub statements: Vec<Statement>,
    /// The value of the block.
    pub value: Option<Box<Expr>>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `let name: ty = value;`
    Let {
        /// The variable.
        name: &'static str,
        /// Its type, where it is written.
        ty: Option<Type>,
        /// Its first value.
        value: Expr,
    },
    /// `place = value;`
    Assign {
        /// A variable, a field or an element.
        place: Expr,
        /// What is assigned to it.
        value: Expr,
    },
    /// `place += value;` and its kin: the value is computed first, as in Rust.
    Update {
        /// A variable, a field or an element.
        place: Expr,
        /// What the place is combined with the value by.
        word: Word,
        /// The right operand.
        value: Expr,
    },
    /// `for name in start..end { body }`
    For {
        /// The loop's variable.
        name: &'static str,
        /// Its first value.
        start: Expr,
        /// The value that ends the loop.
        end: Expr,
        /// Whether `end` is the last value rather than the one after it.
        inclusive: bool,
        /// What is repeated.
        body: Block,
    },
    /// An `if`, a `match` or a block for its assignments.
    Expr(Expr),
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A variable or a parameter.
    Variable(&'static str),
    /// An integer literal, negative ones included.
    Integer(i128, Option<Scalar>),
    /// A float literal, in digits that Rust parses, with its sign.
    Float(&'static str, Option<Scalar>),
    /// `true` or `false`.
    Bool(bool),
    /// A constant of the Rust program.
    Constant(Type, Value),
    /// A word of the language and its arguments.
    Word(Word, Vec<Expr>),
    /// `left && right`
    And(Box<Expr>, Box<Expr>),
    /// `left || right`
    Or(Box<Expr>, Box<Expr>),
    /// `value as type`
    Cast(Box<Expr>, Scalar),
    /// `value.field`
    Field(Box<Expr>, &'static str),
    /// `array[index]`
    Index(Box<Expr>, Box<Expr>),
    /// `Name { field: value, … }`, the values in the order of the text.
    Struct(Type, Vec<(&'static str, Expr)>),
    /// `[a, b, …]`
    Array(Vec<Expr>),
    /// `[value; len]`
    Repeat(Box<Expr>, usize),
    /// `if condition { … } else { … }`
    If(Box<Expr>, Block, Block),
    /// `match value { pattern | pattern => …, _ => … }`
    Match(Box<Expr>, Vec<Arm>),
    /// `{ … }`
    Block(Block),
    /// `function(…)`
    Call(Callee, Vec<Expr>),
}

impl Expr {
    /// A constant of the Rust program.
    pub fn constant<T: super::DeviceType>(value: T) -> Self {
        Self::Constant(T::device_type(), value.device_value())
    }
}

/// A variable where the macros build data: declared where the function declares it, and so found
/// where the Rust compiler finds it.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Variable(pub &'static str);

/// What a name in the text may stand for: a variable, or a constant of the Rust program.
#[doc(hidden)]
pub trait Named {
    fn named(self) -> Expr;
}

impl Named for Variable {
    fn named(self) -> Expr {
        Expr::Variable(self.0)
    }
}

impl<T: super::DeviceType> Named for T {
    fn named(self) -> Expr {
        Expr::constant(self)
    }
}

/// An arm of a `match`.
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// The literals that it stands for; none for `_`.
    pub patterns: Vec<Pattern>,
    /// Its value.
    pub body: Block,
}

/// A pattern of a `match`.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// One literal or constant.
    Value(Expr),
    /// `low..=high`
    Range(Expr, Expr),
}

/// What a call calls.
#[derive(Clone, Debug)]
pub enum Callee {
    /// A `#[device]` function, read when the call is.
    Device(fn() -> Function),
    /// The `combine` of an operator that another one wraps.
    Combine(Box<Function>),
}

impl Callee {
    /// The function.
    pub fn function(&self) -> Function {
        match self {
            Self::Device(function) => function(),
            Self::Combine(function) => (**function).clone(),
        }
    }
}

impl PartialEq for Callee {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Device(one), Self::Device(other)) => std::ptr::fn_addr_eq(*one, *other),
            (Self::Combine(one), Self::Combine(other)) => one == other,
            _ => false,
        }
    }
}

/// The words of the language; [`lang`](super::lang) says what each means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Word {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Neg,
    BitAnd,
    BitOr,
    BitXor,
    Not,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    SaturatingAdd,
    SaturatingSub,
    Min,
    Max,
    Minimum,
    Maximum,
    Precedes,
    Exceeds,
    Abs,
    Clamp,
    Floor,
    Sqrt,
    Exp,
    Ln,
    Exp2,
    Log2,
    Powi,
    MulAdd,
    ToBits,
    F32FromBits,
    F64FromBits,
}

impl Word {
    /// Its name in [`lang`](super::lang) and in generated text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Sub => "sub",
            Self::Mul => "mul",
            Self::Div => "div",
            Self::Rem => "rem",
            Self::Neg => "neg",
            Self::BitAnd => "bit_and",
            Self::BitOr => "bit_or",
            Self::BitXor => "bit_xor",
            Self::Not => "bit_not",
            Self::Shl => "shl",
            Self::Shr => "shr",
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::Lt => "lt",
            Self::Le => "le",
            Self::Gt => "gt",
            Self::Ge => "ge",
            Self::SaturatingAdd => "saturating_add",
            Self::SaturatingSub => "saturating_sub",
            Self::Min => "min",
            Self::Max => "max",
            Self::Minimum => "minimum",
            Self::Maximum => "maximum",
            Self::Precedes => "precedes",
            Self::Exceeds => "exceeds",
            Self::Abs => "abs",
            Self::Clamp => "clamp",
            Self::Floor => "floor",
            Self::Sqrt => "sqrt",
            Self::Exp => "exp",
            Self::Ln => "ln",
            Self::Exp2 => "exp2",
            Self::Log2 => "log2",
            Self::Powi => "powi",
            Self::MulAdd => "mul_add",
            Self::ToBits => "to_bits",
            Self::F32FromBits => "f32_from_bits",
            Self::F64FromBits => "f64_from_bits",
        }
    }
}
