//! From the tree to text: everything that CUDA C++ and WGSL share.
//!
//! Both are C-like, so one writer serves both and a [`Dialect`] says how each spells things. `if`,
//! `match` and blocks are expressions in Rust and statements there: each becomes statements before
//! the one that uses its value. Operands are pure but for assignments inside such blocks; an
//! operand that comes before one of those is kept in a variable, so that Rust's order of evaluation
//! holds.
//!
//! Every Rust name becomes `name_number`, which is unique and never a keyword.

mod effects;
mod expression;
mod statement;

use super::Error;
use super::ir::{Function, Scalar, Struct, Type, Value, Word};
use statement::Body;
use std::any::TypeId;

/// How a language spells what the writer wants to say.
pub(super) trait Dialect {
    /// The name of a type; defines it where needed.
    fn type_name(&mut self, ty: &Type, names: &mut Names) -> Result<String, Error>;
    /// A primitive value with these bits.
    fn literal(&mut self, scalar: Scalar, bits: u64) -> Result<String, Error>;
    /// A struct or an array of these parts.
    fn compose(&mut self, ty: &Type, parts: &[String], names: &mut Names) -> Result<String, Error>;
    /// A word applied to arguments of these types.
    fn word(&mut self, word: Word, types: &[Scalar], arguments: &[String])
    -> Result<String, Error>;
    /// `value as to`.
    fn cast(&mut self, from: Scalar, to: Scalar, value: &str) -> Result<String, Error>;
    /// The element of an array of `len`.
    fn element(&self, array: &str, index: &str, len: usize) -> String;
    /// A variable's declaration: a statement.
    fn variable(&self, ty: &str, name: &str, value: Option<&str>) -> String;
    /// What stands before the brace of a function.
    fn signature(&self, name: &str, parameters: &[(String, String)], result: &str) -> String;
    /// What stands before the brace of a loop of so many turns, counting in u32.
    fn repeat(&self, counter: &str, turns: u32) -> String;
}

/// Unique names for structs and functions of a program.
#[derive(Default)]
pub(super) struct Names {
    structs: Vec<(Struct, String)>,
    count: usize,
}

impl Names {
    /// A new name that keeps what it can of this one.
    pub(super) fn fresh(&mut self, name: &str) -> String {
        self.count += 1;
        format!("{}_{}", kept(name), self.count)
    }

    /// The name of this struct, and whether it is new.
    pub(super) fn of_struct(&mut self, ty: &Struct) -> (String, bool) {
        if let Some((_, name)) = self.structs.iter().find(|(known, _)| known == ty) {
            return (name.clone(), false);
        }
        let name = self.fresh(ty.name);
        self.structs.push((ty.clone(), name.clone()));
        (name, true)
    }
}

/// What generated text keeps of a name: ASCII letters and digits, and underscores between them.
fn kept(name: &str) -> String {
    let kept: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    let kept = kept.trim_matches('_');
    let kept = if kept.starts_with(|c: char| c.is_ascii_alphabetic()) { kept } else { "x" };
    kept.to_owned()
}

/// The name in generated text of the field at this place of its struct: `name_`, and `name_place`
/// if a field before it has that already.
pub(super) fn field_name(declared: &Struct, place: usize) -> String {
    let name = kept(declared.fields[place].name);
    let taken = declared.fields[..place].iter().any(|before| kept(before.name) == name);
    if taken { format!("{name}_{place}") } else { format!("{name}_") }
}

/// Fields that take up room: WGSL and C++ have no arrays of length 0.
pub(super) fn sized(ty: &Type) -> bool {
    ty.bytes() > 0
}

/// The functions of a program, each after those that it calls.
pub(super) struct Program<'d, D> {
    pub(super) dialect: &'d mut D,
    pub(super) names: Names,
    pub(super) text: String,
    written: Vec<(Identity, Vec<Type>, String)>,
    open: Vec<Identity>,
}

/// What tells one function from all others, but for the types of its parameters.
type Identity = (&'static str, Option<TypeId>);

impl<'d, D: Dialect> Program<'d, D> {
    pub(super) fn new(dialect: &'d mut D) -> Self {
        let (names, text) = (Names::default(), String::new());
        Self { dialect, names, text, written: Vec::new(), open: Vec::new() }
    }

    /// Writes a function, unless it is there already, and gives its name.
    pub(super) fn function(&mut self, function: &Function) -> Result<String, Error> {
        let parameters: Vec<Type> = function.parameters.iter().map(|p| p.ty.clone()).collect();
        let identity = (function.path, function.id);
        let same = |(known, types, _): &&(Identity, Vec<Type>, String)| {
            *known == identity && *types == parameters
        };
        if let Some((_, _, name)) = self.written.iter().find(same) {
            return Ok(name.clone());
        }
        if self.open.contains(&identity) {
            return Err(Error::Recursion { function: function.name });
        }
        self.open.push(identity);
        let text = Body::write(self, function)?;
        self.open.pop();
        let (name, text) = text;
        self.text.push_str(&text);
        self.written.push((identity, parameters, name.clone()));
        Ok(name)
    }

    /// A primitive value with these bits.
    pub(super) fn literal(&mut self, scalar: Scalar, bits: u64) -> Result<String, Error> {
        if scalar == Scalar::Usize && bits > u64::from(u32::MAX) {
            return Err(Error::Index { value: bits });
        }
        self.dialect.literal(scalar, bits)
    }

    /// A value as an expression.
    pub(super) fn value(&mut self, ty: &Type, value: &Value) -> Result<String, Error> {
        let parts = |types: Vec<&Type>, values: &[Value], program: &mut Self| {
            let sized = types.into_iter().zip(values).filter(|(ty, _)| sized(ty));
            sized.map(|(ty, value)| program.value(ty, value)).collect::<Result<Vec<_>, _>>()
        };
        match (ty, value) {
            (Type::Scalar(scalar), Value::Scalar(bits)) => self.literal(*scalar, *bits),
            (Type::Struct(fields), Value::Parts(values)) => {
                let types = fields.fields.iter().map(|field| &field.ty).collect();
                let parts = parts(types, values, self)?;
                self.dialect.compose(ty, &parts, &mut self.names)
            }
            (Type::Array(element, _), Value::Parts(values)) => {
                let parts = parts(vec![&**element; values.len()], values, self)?;
                self.dialect.compose(ty, &parts, &mut self.names)
            }
            _ => Err(Error::Untyped { function: "a constant" }),
        }
    }
}
