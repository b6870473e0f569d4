//! From the tree to text: everything that CUDA C++ and WGSL share.
//!
//! Both are C-like, so one writer serves both and a [`Dialect`] says how each spells things. `if`,
//! `match` and blocks are expressions in Rust and statements there: each becomes statements before
//! the one that uses its value. Operands are pure but for assignments inside such blocks; an operand
//! that comes before one of those is kept in a variable, so that Rust's order of evaluation holds.
//!
//! Every Rust name becomes `name_number`, which is unique and never a keyword.

use super::Error;
use super::infer::Types;
use super::ir::{
    Arm, Block, Expr, Function, Pattern, Scalar, Statement, Struct, Type, Value, Word,
};
use std::fmt::Write as _;

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
    structs: Vec<(&'static str, String)>,
    count: usize,
}

impl Names {
    /// A new name that keeps what it can of this one.
    pub(super) fn fresh(&mut self, name: &str) -> String {
        let kept: String =
            name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let kept = kept.trim_matches('_');
        self.count += 1;
        let kept = if kept.starts_with(|c: char| c.is_ascii_alphabetic()) { kept } else { "x" };
        format!("{kept}_{}", self.count)
    }

    /// The name of this struct, and whether it is new.
    pub(super) fn of_struct(&mut self, ty: &Struct) -> (String, bool) {
        if let Some((_, name)) = self.structs.iter().find(|(path, _)| *path == ty.path) {
            return (name.clone(), false);
        }
        let name = self.fresh(ty.name);
        self.structs.push((ty.path, name.clone()));
        (name, true)
    }
}

/// The name of a field in generated text.
pub(super) fn field_name(name: &str) -> String {
    let kept: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    format!("{}_", kept.trim_matches('_'))
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
    written: Vec<(&'static str, Vec<Type>, String)>,
    open: Vec<&'static str>,
}

impl<'d, D: Dialect> Program<'d, D> {
    pub(super) fn new(dialect: &'d mut D) -> Self {
        let (names, text) = (Names::default(), String::new());
        Self { dialect, names, text, written: Vec::new(), open: Vec::new() }
    }

    /// Writes a function, unless it is there already, and gives its name.
    pub(super) fn function(&mut self, function: &Function) -> Result<String, Error> {
        let parameters: Vec<Type> = function.parameters.iter().map(|p| p.ty.clone()).collect();
        let same = |(path, types, _): &&(&str, Vec<Type>, String)| {
            *path == function.path && *types == parameters
        };
        if let Some((_, _, name)) = self.written.iter().find(same) {
            return Ok(name.clone());
        }
        if self.open.contains(&function.path) {
            return Err(Error::Recursion { function: function.name });
        }
        self.open.push(function.path);
        let text = Body::write(self, function)?;
        self.open.pop();
        let (name, text) = text;
        self.text.push_str(&text);
        self.written.push((function.path, parameters, name.clone()));
        Ok(name)
    }

    /// A value as an expression.
    pub(super) fn value(&mut self, ty: &Type, value: &Value) -> Result<String, Error> {
        let parts = |types: Vec<&Type>, values: &[Value], program: &mut Self| {
            let sized = types.into_iter().zip(values).filter(|(ty, _)| sized(ty));
            sized.map(|(ty, value)| program.value(ty, value)).collect::<Result<Vec<_>, _>>()
        };
        match (ty, value) {
            (Type::Scalar(scalar), Value::Scalar(bits)) => self.dialect.literal(*scalar, *bits),
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

/// The body of one function while it is written.
struct Body<'p, 'd, 'f, D> {
    program: &'p mut Program<'d, D>,
    types: Types<'f>,
    function: &'static str,
    scope: Vec<(&'static str, String)>,
    text: String,
    depth: usize,
}

impl<'f, D: Dialect> Body<'_, '_, 'f, D> {
    fn write(
        program: &mut Program<'_, D>,
        function: &'f Function,
    ) -> Result<(String, String), Error> {
        let types = Types::infer(function)?;
        let name = program.names.fresh(function.name);
        let (text, scope) = (String::new(), Vec::new());
        let mut body = Body { program, types, function: function.name, scope, text, depth: 1 };
        let mut parameters = Vec::new();
        for parameter in &function.parameters {
            let (ty, name) = (body.type_name(&parameter.ty)?, body.fresh(parameter.name));
            // A copy can be indexed by a variable, which a parameter of WGSL can't be.
            let local = body.fresh(parameter.name);
            let copy = body.program.dialect.variable(&ty, &local, Some(&name));
            body.line(&copy);
            body.scope.push((parameter.name, local));
            parameters.push((name, ty));
        }
        let value = body.block(&function.body)?.ok_or_else(|| body.untyped())?;
        body.line(&format!("return {value};"));
        let result = body.type_name(&function.result)?;
        let statements = body.text;
        let signature = program.dialect.signature(&name, &parameters, &result);
        Ok((name, format!("{signature} {{\n{statements}}}\n\n")))
    }

    fn untyped(&self) -> Error {
        Error::Untyped { function: self.function }
    }

    fn fresh(&mut self, name: &str) -> String {
        self.program.names.fresh(name)
    }

    fn type_name(&mut self, ty: &Type) -> Result<String, Error> {
        self.program.dialect.type_name(ty, &mut self.program.names)
    }

    fn line(&mut self, line: &str) {
        // Writing to a `String` can't fail.
        let _ = writeln!(self.text, "{:width$}{line}", "", width = self.depth * 4);
    }

    fn scalar(&self, expr: &Expr) -> Result<Scalar, Error> {
        match self.types.of(expr)? {
            Type::Scalar(scalar) => Ok(*scalar),
            _ => Err(self.untyped()),
        }
    }

    /// Writes a block's statements in place and gives its value.
    fn block(&mut self, block: &Block) -> Result<Option<String>, Error> {
        let depth = self.scope.len();
        for statement in &block.statements {
            self.statement(statement)?;
        }
        let value = match &block.value {
            Some(value) => self.expr(value)?,
            None => None,
        };
        self.scope.truncate(depth);
        Ok(value)
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), Error> {
        match statement {
            Statement::Let { name, value, .. } => {
                let text = self.value(value)?;
                let ty = self.types.of_variable(statement)?.clone();
                let variable = self.keep(&ty, name, &text)?;
                self.scope.push((name, variable));
            }
            Statement::Assign { place, value } => {
                let value = self.value_before(value, &[place])?;
                let place = self.place(place)?;
                self.line(&format!("{place} = {value};"));
            }
            Statement::Update { place, word, value } => {
                let types = [self.scalar(place)?, self.scalar(value)?];
                let value = self.value_before(value, &[place])?;
                let place = self.place(place)?;
                let joined = self.program.dialect.word(*word, &types, &[place.clone(), value])?;
                self.line(&format!("{place} = {joined};"));
            }
            Statement::For { name, start, end, inclusive, body } => {
                let Type::Scalar(scalar) = *self.types.of_variable(statement)? else {
                    return Err(self.untyped());
                };
                let (start, end) = (self.bound(start)?, self.bound(end)?);
                let turns = end.saturating_sub(start) + i128::from(*inclusive);
                self.repeat(name, scalar, start, turns, body)?;
            }
            Statement::Expr(expr) => {
                self.expr(expr)?;
            }
        }
        Ok(())
    }

    /// A bound of a loop: an integer that is known here.
    fn bound(&self, expr: &Expr) -> Result<i128, Error> {
        match expr {
            Expr::Integer(value, _) => Ok(*value),
            Expr::Constant(Type::Scalar(scalar), Value::Scalar(bits)) if scalar.is_signed() => {
                Ok(i128::from(*bits as i64))
            }
            Expr::Constant(Type::Scalar(_), Value::Scalar(bits)) => Ok(i128::from(*bits)),
            _ => Err(self.untyped()),
        }
    }

    fn repeat(
        &mut self,
        name: &'static str,
        scalar: Scalar,
        start: i128,
        turns: i128,
        body: &Block,
    ) -> Result<(), Error> {
        let turns =
            u32::try_from(turns.max(0)).map_err(|_| Error::Loop { function: self.function })?;
        if turns == 0 {
            return Ok(());
        }
        let counter = self.fresh("turn");
        let header = self.program.dialect.repeat(&counter, turns);
        self.open(&header);
        let mut value = self.program.dialect.cast(Scalar::U32, scalar, &counter)?;
        if start != 0 {
            let start = self.program.dialect.literal(scalar, start as u64)?;
            value = self.program.dialect.word(Word::Add, &[scalar; 2], &[start, value])?;
        }
        let variable = self.keep(&Type::Scalar(scalar), name, &value)?;
        self.scope.push((name, variable));
        self.block(body)?;
        self.scope.pop();
        self.close();
        Ok(())
    }

    fn open(&mut self, header: &str) {
        self.line(&format!("{header} {{"));
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    /// A new variable with this value.
    fn keep(&mut self, ty: &Type, name: &str, value: &str) -> Result<String, Error> {
        let (ty, variable) = (self.type_name(ty)?, self.fresh(name));
        let declaration = self.program.dialect.variable(&ty, &variable, Some(value));
        self.line(&declaration);
        Ok(variable)
    }

    fn value(&mut self, expr: &Expr) -> Result<String, Error> {
        self.expr(expr)?.ok_or_else(|| self.untyped())
    }

    /// The value of `expr`, kept in a variable if evaluating `later` could change it.
    fn value_before(&mut self, expr: &Expr, later: &[&Expr]) -> Result<String, Error> {
        let value = self.value(expr)?;
        if later.iter().any(|later| assigns(later)) {
            let ty = self.types.of(expr)?.clone();
            return self.keep(&ty, "kept", &value);
        }
        Ok(value)
    }

    /// Values of operands, evaluated in their order.
    fn values(&mut self, exprs: &[&Expr]) -> Result<Vec<String>, Error> {
        (0..exprs.len()).map(|i| self.value_before(exprs[i], &exprs[i + 1..])).collect()
    }

    /// An expression's value; `None` if it is there for its statements.
    fn expr(&mut self, expr: &Expr) -> Result<Option<String>, Error> {
        Ok(Some(match expr {
            Expr::Variable(name) => self.named(name)?,
            Expr::Integer(value, _) => {
                let scalar = self.scalar(expr)?;
                self.program.dialect.literal(scalar, *value as u64)?
            }
            Expr::Float(digits, _) => self.float(digits, self.scalar(expr)?)?,
            Expr::Bool(value) => self.program.dialect.literal(Scalar::Bool, u64::from(*value))?,
            Expr::Constant(ty, value) => self.program.value(ty, value)?,
            Expr::Word(word, arguments) => {
                let types: Result<Vec<_>, _> = arguments.iter().map(|a| self.scalar(a)).collect();
                let values = self.values(&arguments.iter().collect::<Vec<_>>())?;
                self.program.dialect.word(*word, &types?, &values)?
            }
            Expr::And(left, right) if cheap(right) => self.bitwise(Word::BitAnd, left, right)?,
            Expr::Or(left, right) if cheap(right) => self.bitwise(Word::BitOr, left, right)?,
            Expr::And(left, right) => self.logical(left, right, "&&", false)?,
            Expr::Or(left, right) => self.logical(left, right, "||", true)?,
            Expr::Cast(value, to) => {
                let (from, value) = (self.scalar(value)?, self.value(value)?);
                self.program.dialect.cast(from, *to, &value)?
            }
            Expr::Field(value, name) => {
                format!("{}.{}", self.value(value)?, field_name(name))
            }
            Expr::Index(array, index) => self.index(array, index)?,
            Expr::Struct(ty, fields) => self.literal(ty, fields)?,
            Expr::Array(elements) => {
                let ty = self.types.of(expr)?.clone();
                let values = self.values(&elements.iter().collect::<Vec<_>>())?;
                self.program.dialect.compose(&ty, &values, &mut self.program.names)?
            }
            Expr::Repeat(element, len) => {
                let (ty, of) = (self.types.of(expr)?.clone(), self.types.of(element)?.clone());
                let value = self.value(element)?;
                let value = self.keep(&of, "element", &value)?;
                let values = vec![value; *len];
                self.program.dialect.compose(&ty, &values, &mut self.program.names)?
            }
            Expr::If(condition, yes, no) => {
                let condition = self.value(condition)?;
                return self.branches(expr, vec![(Some(condition), yes), (None, no)]);
            }
            Expr::Match(value, arms) => return self.arms(expr, value, arms),
            Expr::Block(block) => return self.block(block),
            Expr::Call(callee, arguments) => {
                let values = self.values(&arguments.iter().collect::<Vec<_>>())?;
                let name = self.program.function(&callee.function())?;
                format!("{name}({})", values.join(", "))
            }
        }))
    }

    fn named(&self, name: &str) -> Result<String, Error> {
        let found = self.scope.iter().rev().find(|(variable, _)| *variable == name);
        found.map(|(_, text)| text.clone()).ok_or_else(|| self.untyped())
    }

    fn float(&mut self, digits: &str, scalar: Scalar) -> Result<String, Error> {
        // Straight to the type: by way of f64 an f32 would be rounded twice.
        let bits = match scalar {
            Scalar::F32 => digits.parse::<f32>().map(|x| u64::from(x.to_bits())),
            _ => digits.parse::<f64>().map(f64::to_bits),
        };
        self.program.dialect.literal(scalar, bits.map_err(|_| self.untyped())?)
    }

    /// `&&` or `||` whose right operand costs less than a branch around it.
    fn bitwise(&mut self, word: Word, left: &Expr, right: &Expr) -> Result<String, Error> {
        let values = self.values(&[left, right])?;
        self.program.dialect.word(word, &[Scalar::Bool; 2], &values)
    }

    /// `&&` or `||`; `decided` is the value of the left operand that decides.
    fn logical(
        &mut self,
        left: &Expr,
        right: &Expr,
        operator: &str,
        decided: bool,
    ) -> Result<String, Error> {
        let left = self.value(left)?;
        if !assigns(right) {
            let right = self.value(right)?;
            return Ok(format!("({left} {operator} {right})"));
        }
        let result = self.keep(&Type::Scalar(Scalar::Bool), "decided", &left)?;
        self.open(&if decided { format!("if (!{result})") } else { format!("if ({result})") });
        let right = self.value(right)?;
        self.line(&format!("{result} = {right};"));
        self.close();
        Ok(result)
    }

    fn literal(&mut self, ty: &Type, fields: &[(&'static str, Expr)]) -> Result<String, Error> {
        let Type::Struct(declared) = ty else { return Err(self.untyped()) };
        let values = self.values(&fields.iter().map(|(_, value)| value).collect::<Vec<_>>())?;
        let mut parts = Vec::new();
        for field in declared.fields.iter().filter(|field| sized(&field.ty)) {
            let place = fields.iter().position(|(name, _)| *name == field.name);
            parts.push(values[place.ok_or_else(|| self.untyped())?].clone());
        }
        self.program.dialect.compose(ty, &parts, &mut self.program.names)
    }

    fn index(&mut self, array: &Expr, index: &Expr) -> Result<String, Error> {
        let ty = self.types.of(array)?.clone();
        let Type::Array(_, len) = ty else { return Err(self.untyped()) };
        // What isn't a place needs one, to be indexed by a variable in WGSL.
        let mut base = self.value_before(array, &[index])?;
        if !is_place(array) {
            base = self.keep(&ty, "array", &base)?;
        }
        let index = self.value(index)?;
        Ok(self.program.dialect.element(&base, &index, len))
    }

    fn place(&mut self, place: &Expr) -> Result<String, Error> {
        match place {
            Expr::Field(value, name) => Ok(format!("{}.{}", self.place(value)?, field_name(name))),
            Expr::Index(array, index) => {
                let Type::Array(_, len) = *self.types.of(array)? else {
                    return Err(self.untyped());
                };
                let base = self.place(array)?;
                let index = self.value(index)?;
                Ok(self.program.dialect.element(&base, &index, len))
            }
            _ => self.value(place),
        }
    }

    fn arms(&mut self, expr: &Expr, value: &Expr, arms: &[Arm]) -> Result<Option<String>, Error> {
        let scalar = self.scalar(value)?;
        let value = self.value(value)?;
        let value = self.keep(&Type::Scalar(scalar), "matched", &value)?;
        let mut branches = Vec::new();
        for (i, arm) in arms.iter().enumerate() {
            // Rust has checked that the arms leave nothing out, so the last one takes the rest.
            let last = i + 1 == arms.len() || arm.patterns.is_empty();
            let condition =
                if last { None } else { Some(self.patterns(&arm.patterns, scalar, &value)?) };
            branches.push((condition, &arm.body));
            if last {
                break;
            }
        }
        self.branches(expr, branches)
    }

    fn patterns(
        &mut self,
        patterns: &[Pattern],
        scalar: Scalar,
        value: &str,
    ) -> Result<String, Error> {
        let mut tests = Vec::new();
        for pattern in patterns {
            let compare = |body: &mut Self, word, literal: &Expr| {
                let literal = body.value(literal)?;
                let operands = [value.to_owned(), literal];
                body.program.dialect.word(word, &[scalar; 2], &operands)
            };
            tests.push(match pattern {
                Pattern::Value(literal) => compare(self, Word::Eq, literal)?,
                Pattern::Range(low, high) => {
                    let low = compare(self, Word::Ge, low)?;
                    format!("({low} && {})", compare(self, Word::Le, high)?)
                }
            });
        }
        Ok(format!("({})", tests.join(" || ")))
    }

    /// A chain of `if … else if … else …`, whose value, if it has one, goes into a variable.
    fn branches(
        &mut self,
        expr: &Expr,
        branches: Vec<(Option<String>, &Block)>,
    ) -> Result<Option<String>, Error> {
        let mut result = None;
        if let Ok(ty) = self.types.of(expr) {
            let ty = ty.clone();
            let (ty, name) = (self.type_name(&ty)?, self.fresh("value"));
            let declaration = self.program.dialect.variable(&ty, &name, None);
            self.line(&declaration);
            result = Some(name);
        }
        for (i, (condition, block)) in branches.into_iter().enumerate() {
            let header = match condition {
                Some(condition) if i == 0 => format!("if ({condition})"),
                Some(condition) => format!("else if ({condition})"),
                None if i == 0 => "if (true)".to_owned(),
                None => "else".to_owned(),
            };
            self.open(&header);
            let value = self.block(block)?;
            if let (Some(result), Some(value)) = (&result, value) {
                self.line(&format!("{result} = {value};"));
            }
            self.close();
        }
        Ok(result)
    }
}

/// Whether it names memory: a variable, or a field or an element of one.
fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Variable(_) => true,
        Expr::Field(value, _) | Expr::Index(value, _) => is_place(value),
        _ => false,
    }
}

/// Whether evaluating it takes a few instructions; no word of the language can fail.
fn cheap(expr: &Expr) -> bool {
    let costly = |word: &Word| {
        use Word::{Div, Exp, Exp2, Ln, Log2, Powi, Rem, Sqrt};
        matches!(word, Div | Exp | Exp2 | Ln | Log2 | Powi | Rem | Sqrt)
    };
    match expr {
        Expr::Variable(_) | Expr::Integer(..) | Expr::Float(..) | Expr::Bool(_) => true,
        Expr::Constant(ty, _) => matches!(ty, Type::Scalar(_)),
        Expr::Word(word, operands) => !costly(word) && operands.iter().all(cheap),
        Expr::And(left, right) | Expr::Or(left, right) => cheap(left) && cheap(right),
        Expr::Cast(value, _) | Expr::Field(value, _) => cheap(value),
        _ => false,
    }
}

/// Whether evaluating it assigns to a variable.
fn assigns(expr: &Expr) -> bool {
    match expr {
        Expr::Variable(_)
        | Expr::Integer(..)
        | Expr::Float(..)
        | Expr::Bool(_)
        | Expr::Constant(..) => false,
        Expr::Word(_, operands) | Expr::Array(operands) | Expr::Call(_, operands) => {
            operands.iter().any(assigns)
        }
        Expr::And(left, right) | Expr::Or(left, right) | Expr::Index(left, right) => {
            assigns(left) || assigns(right)
        }
        Expr::Cast(value, _) | Expr::Field(value, _) | Expr::Repeat(value, _) => assigns(value),
        Expr::Struct(_, fields) => fields.iter().any(|(_, value)| assigns(value)),
        Expr::If(condition, yes, no) => {
            assigns(condition) || block_assigns(yes) || block_assigns(no)
        }
        Expr::Match(value, arms) => {
            assigns(value) || arms.iter().any(|arm| block_assigns(&arm.body))
        }
        Expr::Block(block) => block_assigns(block),
    }
}

fn block_assigns(block: &Block) -> bool {
    let statements = block.statements.iter().any(|statement| match statement {
        Statement::Assign { .. } | Statement::Update { .. } => true,
        Statement::Let { value, .. } | Statement::Expr(value) => assigns(value),
        Statement::For { body, .. } => block_assigns(body),
    });
    statements || block.value.as_deref().is_some_and(assigns)
}
