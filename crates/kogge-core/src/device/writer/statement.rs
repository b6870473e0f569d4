//! Statements: the body of a function, block by block and line by line.

use super::{Dialect, Program};
use crate::device::Error;
use crate::device::infer::Types;
use crate::device::ir::{Block, Expr, Function, Scalar, Statement, Struct, Type, Value, Word};
use std::fmt::Write as _;

/// The body of one function while it is written.
pub(super) struct Body<'p, 'd, 'f, D> {
    pub(super) program: &'p mut Program<'d, D>,
    pub(super) types: Types<'f>,
    function: &'static str,
    scope: Vec<(&'static str, String)>,
    text: String,
    depth: usize,
}

impl<'f, D: Dialect> Body<'_, '_, 'f, D> {
    pub(super) fn write(
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

    pub(super) fn untyped(&self) -> Error {
        Error::Untyped { function: self.function }
    }

    pub(super) fn fresh(&mut self, name: &str) -> String {
        self.program.names.fresh(name)
    }

    pub(super) fn type_name(&mut self, ty: &Type) -> Result<String, Error> {
        self.program.dialect.type_name(ty, &mut self.program.names)
    }

    pub(super) fn line(&mut self, line: &str) {
        // Writing to a `String` can't fail.
        let _ = writeln!(self.text, "{:width$}{line}", "", width = self.depth * 4);
    }

    pub(super) fn scalar(&self, expr: &Expr) -> Result<Scalar, Error> {
        match self.types.of(expr)? {
            Type::Scalar(scalar) => Ok(*scalar),
            _ => Err(self.untyped()),
        }
    }

    pub(super) fn structure(&self, expr: &Expr) -> Result<&Struct, Error> {
        match self.types.of(expr)? {
            Type::Struct(declared) => Ok(declared),
            _ => Err(self.untyped()),
        }
    }

    /// Writes a block's statements in place and gives its value.
    pub(super) fn block(&mut self, block: &Block) -> Result<Option<String>, Error> {
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
            let start = self.program.literal(scalar, start as u64)?;
            value = self.program.dialect.word(Word::Add, &[scalar; 2], &[start, value])?;
        }
        let variable = self.keep(&Type::Scalar(scalar), name, &value)?;
        self.scope.push((name, variable));
        self.block(body)?;
        self.scope.pop();
        self.close();
        Ok(())
    }

    pub(super) fn open(&mut self, header: &str) {
        self.line(&format!("{header} {{"));
        self.depth += 1;
    }

    pub(super) fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    /// A new variable with this value.
    pub(super) fn keep(&mut self, ty: &Type, name: &str, value: &str) -> Result<String, Error> {
        let (ty, variable) = (self.type_name(ty)?, self.fresh(name));
        let declaration = self.program.dialect.variable(&ty, &variable, Some(value));
        self.line(&declaration);
        Ok(variable)
    }

    pub(super) fn named(&self, name: &str) -> Result<String, Error> {
        let found = self.scope.iter().rev().find(|(variable, _)| *variable == name);
        found.map(|(_, text)| text.clone()).ok_or_else(|| self.untyped())
    }
}
