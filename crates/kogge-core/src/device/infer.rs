//! The type of every expression, by unification.
//!
//! Damas & Milner's scheme without its generalisation, as Rust itself applies it inside a function:
//! each expression gets a slot, equal types join slots, and literals that nothing decides become
//! `i32` and `f64`. The Rust compiler has accepted the same text, so inference only has to find
//! what the compiler found. Time is nearly linear in the size of the tree.

use super::Error;
use super::ir::{Block, Expr, Function, Pattern, Scalar, Statement, Struct, Type, Word};
use std::collections::HashMap;

/// The types of one function's expressions and variables, by the address of their node: the tree is
/// borrowed, so it stays where it is.
pub(super) struct Types<'f> {
    expressions: HashMap<*const Expr, Type>,
    variables: HashMap<*const Statement, Type>,
    function: &'f Function,
}

impl<'f> Types<'f> {
    /// Infers the types within `function`.
    pub(super) fn infer(function: &'f Function) -> Result<Self, Error> {
        let mut inference = Inference { function: function.name, ..Inference::default() };
        for parameter in &function.parameters {
            let slot = inference.known(&parameter.ty);
            inference.scope.push((parameter.name, slot));
        }
        let body = inference.block(&function.body, None)?;
        let result = inference.known(&function.result);
        inference.unify(body, result)?;
        inference.solve_bits()?;
        let expressions = std::mem::take(&mut inference.expressions);
        let variables = std::mem::take(&mut inference.variables);
        Ok(Self {
            expressions: inference.resolve_all(expressions)?,
            variables: inference.resolve_all(variables)?,
            function,
        })
    }

    /// The type of an expression of the function.
    pub(super) fn of(&self, expr: &Expr) -> Result<&Type, Error> {
        self.expressions.get(&std::ptr::from_ref(expr)).ok_or_else(|| self.foreign())
    }

    /// The type of the variable that a `let` or a `for` of the function declares.
    pub(super) fn of_variable(&self, statement: &Statement) -> Result<&Type, Error> {
        self.variables.get(&std::ptr::from_ref(statement)).ok_or_else(|| self.foreign())
    }

    fn foreign(&self) -> Error {
        Error::Untyped { function: self.function.name }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Slot(usize);

/// What is known of a slot.
#[derive(Clone, Debug)]
enum Node {
    Joined(Slot),
    Anything,
    AnyInteger,
    AnyFloat,
    Unit,
    Scalar(Scalar),
    Struct(Struct),
    Array(Slot, usize),
}

#[derive(Default)]
struct Inference {
    function: &'static str,
    nodes: Vec<Node>,
    scope: Vec<(&'static str, Slot)>,
    expressions: HashMap<*const Expr, Slot>,
    variables: HashMap<*const Statement, Slot>,
    /// Floats and the integers that their bits are, to be told once all floats are known.
    bits: Vec<(Slot, Slot)>,
}

impl Inference {
    fn slot(&mut self, node: Node) -> Slot {
        self.nodes.push(node);
        Slot(self.nodes.len() - 1)
    }

    fn scalar(&mut self, scalar: Scalar) -> Slot {
        self.slot(Node::Scalar(scalar))
    }

    fn known(&mut self, ty: &Type) -> Slot {
        let node = match ty {
            Type::Scalar(scalar) => Node::Scalar(*scalar),
            Type::Struct(fields) => Node::Struct(fields.clone()),
            Type::Array(element, len) => Node::Array(self.known(element), *len),
        };
        self.slot(node)
    }

    fn root(&self, mut slot: Slot) -> Slot {
        while let Node::Joined(next) = self.nodes[slot.0] {
            slot = next;
        }
        slot
    }

    fn untyped(&self) -> Error {
        Error::Untyped { function: self.function }
    }

    fn unify(&mut self, one: Slot, other: Slot) -> Result<Slot, Error> {
        let (one, other) = (self.root(one), self.root(other));
        if one == other {
            return Ok(one);
        }
        let (from, to) = match (&self.nodes[one.0], &self.nodes[other.0]) {
            (Node::Anything, _) => (one, other),
            (_, Node::Anything) => (other, one),
            (Node::AnyInteger, Node::AnyInteger) => (one, other),
            (Node::AnyInteger, Node::Scalar(scalar)) if scalar.is_integer() => (one, other),
            (Node::Scalar(scalar), Node::AnyInteger) if scalar.is_integer() => (other, one),
            (Node::AnyFloat, Node::AnyFloat) => (one, other),
            (Node::AnyFloat, Node::Scalar(scalar)) if scalar.is_float() => (one, other),
            (Node::Scalar(scalar), Node::AnyFloat) if scalar.is_float() => (other, one),
            (Node::Scalar(scalar), Node::Scalar(same)) if scalar == same => (one, other),
            (Node::Struct(fields), Node::Struct(same)) if fields == same => (one, other),
            (Node::Unit, Node::Unit) => (one, other),
            (&Node::Array(element, len), &Node::Array(same, same_len)) if len == same_len => {
                self.unify(element, same)?;
                (one, other)
            }
            _ => return Err(self.untyped()),
        };
        self.nodes[from.0] = Node::Joined(to);
        Ok(to)
    }

    fn resolve(&self, slot: Slot) -> Result<Option<Type>, Error> {
        Ok(Some(match &self.nodes[self.root(slot).0] {
            Node::AnyInteger => Type::Scalar(Scalar::I32),
            Node::AnyFloat => Type::Scalar(Scalar::F64),
            Node::Scalar(scalar) => Type::Scalar(*scalar),
            Node::Struct(fields) => Type::Struct(fields.clone()),
            Node::Array(element, len) => {
                let element = self.resolve(*element)?.ok_or_else(|| self.untyped())?;
                Type::Array(Box::new(element), *len)
            }
            Node::Unit => return Ok(None),
            Node::Joined(_) | Node::Anything => return Err(self.untyped()),
        }))
    }

    /// All slots as types; what has no value has no type.
    fn resolve_all<K: Eq + std::hash::Hash>(
        &self,
        slots: HashMap<K, Slot>,
    ) -> Result<HashMap<K, Type>, Error> {
        let types = slots.into_iter().map(|(key, slot)| Ok((key, self.resolve(slot)?)));
        types.filter_map(|pair| pair.map(|(key, ty)| ty.map(|ty| (key, ty))).transpose()).collect()
    }

    fn solve_bits(&mut self) -> Result<(), Error> {
        for (float, bits) in std::mem::take(&mut self.bits) {
            let width = match self.resolve(float)? {
                Some(Type::Scalar(Scalar::F32)) => Scalar::U32,
                Some(Type::Scalar(Scalar::F64)) => Scalar::U64,
                _ => return Err(self.untyped()),
            };
            let width = self.scalar(width);
            self.unify(bits, width)?;
        }
        Ok(())
    }

    fn block(&mut self, block: &Block, cast: Option<Scalar>) -> Result<Slot, Error> {
        let depth = self.scope.len();
        for statement in &block.statements {
            self.statement(statement)?;
        }
        let value = match &block.value {
            Some(value) => self.expr(value, cast)?,
            None => self.slot(Node::Unit),
        };
        self.scope.truncate(depth);
        Ok(value)
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), Error> {
        match statement {
            Statement::Let { name, ty, value } => {
                let mut slot = self.expr(value, None)?;
                if let Some(ty) = ty {
                    let ty = self.known(ty);
                    slot = self.unify(slot, ty)?;
                }
                self.declare(statement, name, slot);
            }
            Statement::Assign { place, value } => {
                self.equal(&[value, place])?;
            }
            Statement::Update { place, word: Word::Shl | Word::Shr, value } => {
                self.expr(value, None)?;
                self.expr(place, None)?;
            }
            Statement::Update { place, value, .. } => {
                self.equal(&[value, place])?;
            }
            Statement::For { name, start, end, body, .. } => {
                let slot = self.equal(&[start, end])?;
                let depth = self.scope.len();
                self.declare(statement, name, slot);
                self.block(body, None)?;
                self.scope.truncate(depth);
            }
            Statement::Expr(expr) => {
                self.expr(expr, None)?;
            }
        }
        Ok(())
    }

    fn declare(&mut self, statement: &Statement, name: &'static str, slot: Slot) {
        self.variables.insert(std::ptr::from_ref(statement), slot);
        self.scope.push((name, slot));
    }

    /// All of one type, which is the result.
    fn equal(&mut self, exprs: &[&Expr]) -> Result<Slot, Error> {
        let mut joined = self.slot(Node::Anything);
        for expr in exprs {
            let slot = self.expr(expr, None)?;
            joined = self.unify(joined, slot)?;
        }
        Ok(joined)
    }

    fn expect(&mut self, expr: &Expr, scalar: Scalar) -> Result<Slot, Error> {
        let (slot, scalar) = (self.expr(expr, None)?, self.scalar(scalar));
        self.unify(slot, scalar)
    }

    /// `cast` is the type of the `as` around a literal, which rustc gives to the literal itself,
    /// through blocks but not into branches.
    fn expr(&mut self, expr: &Expr, cast: Option<Scalar>) -> Result<Slot, Error> {
        let slot = match expr {
            Expr::Variable(name) => self.variable(name)?,
            Expr::Integer(_, suffix) => {
                let known = suffix.or(cast.filter(|scalar| scalar.is_integer()));
                self.slot(known.map_or(Node::AnyInteger, Node::Scalar))
            }
            Expr::Float(_, suffix) => {
                let known = suffix.or(cast.filter(|scalar| scalar.is_float()));
                self.slot(known.map_or(Node::AnyFloat, Node::Scalar))
            }
            Expr::Bool(_) => self.scalar(Scalar::Bool),
            Expr::Constant(ty, _) => self.known(ty),
            Expr::Word(word, arguments) => self.word(*word, arguments)?,
            Expr::And(left, right) | Expr::Or(left, right) => {
                self.expect(left, Scalar::Bool)?;
                self.expect(right, Scalar::Bool)?
            }
            Expr::Cast(value, scalar) => {
                self.expr(value, Some(*scalar))?;
                self.scalar(*scalar)
            }
            Expr::Field(value, name) => self.field(value, name)?,
            Expr::Index(array, index) => {
                let array = self.expr(array, None)?;
                self.expect(index, Scalar::Usize)?;
                match self.nodes[self.root(array).0] {
                    Node::Array(element, _) => element,
                    _ => return Err(self.untyped()),
                }
            }
            Expr::Struct(ty, fields) => self.literal(ty, fields)?,
            Expr::Array(elements) => {
                let element = self.equal(&elements.iter().collect::<Vec<_>>())?;
                self.slot(Node::Array(element, elements.len()))
            }
            Expr::Repeat(element, len) => {
                let element = self.expr(element, None)?;
                self.slot(Node::Array(element, *len))
            }
            Expr::If(condition, yes, no) => {
                self.expect(condition, Scalar::Bool)?;
                let (yes, no) = (self.block(yes, None)?, self.block(no, None)?);
                self.unify(yes, no)?
            }
            Expr::Match(value, arms) => {
                let value = self.expr(value, None)?;
                let mut result = self.slot(Node::Anything);
                for arm in arms {
                    self.patterns(&arm.patterns, value)?;
                    let body = self.block(&arm.body, None)?;
                    result = self.unify(result, body)?;
                }
                result
            }
            Expr::Block(block) => self.block(block, cast)?,
            Expr::Call(callee, arguments) => {
                let function = callee.function();
                for (argument, parameter) in arguments.iter().zip(&function.parameters) {
                    let (argument, ty) = (self.expr(argument, None)?, self.known(&parameter.ty));
                    self.unify(argument, ty)?;
                }
                self.known(&function.result)
            }
        };
        self.expressions.insert(std::ptr::from_ref(expr), slot);
        Ok(slot)
    }

    fn variable(&self, name: &str) -> Result<Slot, Error> {
        let found = self.scope.iter().rev().find(|(variable, _)| *variable == name);
        found.map(|(_, slot)| *slot).ok_or_else(|| self.untyped())
    }

    fn field(&mut self, value: &Expr, name: &str) -> Result<Slot, Error> {
        let value = self.expr(value, None)?;
        let Node::Struct(fields) = &self.nodes[self.root(value).0] else {
            return Err(self.untyped());
        };
        let field = fields.fields.iter().find(|field| field.name == name);
        let ty = field.map(|field| field.ty.clone()).ok_or_else(|| self.untyped())?;
        Ok(self.known(&ty))
    }

    fn literal(&mut self, ty: &Type, fields: &[(&'static str, Expr)]) -> Result<Slot, Error> {
        let Type::Struct(declared) = ty else { return Err(self.untyped()) };
        for (name, value) in fields {
            let value = self.expr(value, None)?;
            let field = declared.fields.iter().find(|field| field.name == *name);
            let ty = self.known(&field.ok_or_else(|| self.untyped())?.ty);
            self.unify(value, ty)?;
        }
        Ok(self.known(ty))
    }

    fn patterns(&mut self, patterns: &[Pattern], value: Slot) -> Result<(), Error> {
        for pattern in patterns {
            let joined = match pattern {
                Pattern::Value(literal) => self.expr(literal, None)?,
                Pattern::Range(low, high) => self.equal(&[low, high])?,
            };
            self.unify(joined, value)?;
        }
        Ok(())
    }

    fn word(&mut self, word: Word, arguments: &[Expr]) -> Result<Slot, Error> {
        let all: Vec<&Expr> = arguments.iter().collect();
        match word {
            Word::Eq | Word::Ne | Word::Lt | Word::Le | Word::Gt | Word::Ge => {
                self.equal(&all)?;
                Ok(self.scalar(Scalar::Bool))
            }
            Word::Precedes | Word::Exceeds => {
                self.equal(&all)?;
                Ok(self.scalar(Scalar::Bool))
            }
            Word::Shl | Word::Shr => {
                let value = self.equal(&all[..1])?;
                self.equal(&all[1..])?;
                Ok(value)
            }
            Word::Powi => {
                let value = self.equal(&all[..1])?;
                for exponent in &all[1..] {
                    self.expect(exponent, Scalar::I32)?;
                }
                Ok(value)
            }
            Word::ToBits => {
                let (float, bits) = (self.equal(&all)?, self.slot(Node::Anything));
                self.bits.push((float, bits));
                Ok(bits)
            }
            Word::F32FromBits => self.bits_to_float(&all, Scalar::U32, Scalar::F32),
            Word::F64FromBits => self.bits_to_float(&all, Scalar::U64, Scalar::F64),
            _ => self.equal(&all),
        }
    }

    fn bits_to_float(&mut self, bits: &[&Expr], from: Scalar, to: Scalar) -> Result<Slot, Error> {
        for bits in bits {
            self.expect(bits, from)?;
        }
        Ok(self.scalar(to))
    }
}
