//! Statements.

use std::sync::Arc;

use super::Parser;
use super::record::Enumeration;
use super::specifiers::Specifiers;
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{
    Expr, ExprKind, Init, Path, StaticAssert, Stmt, StmtKind, Storage, TypeExpr, Variable,
};
use crate::lang::token::{Kind, Pos};

impl Parser {
    /// Statements up to a closing brace or the end.
    pub(super) fn statements(&mut self) -> Result<Vec<Stmt>, Diagnostic> {
        let mut out = Vec::new();
        while !self.is("}") && self.peek().kind != Kind::End {
            out.push(self.statement()?);
        }
        Ok(out)
    }

    fn statement(&mut self) -> Result<Stmt, Diagnostic> {
        self.descend()?;
        let pos = self.pos();
        let kind = self.statement_kind(pos)?;
        self.depth -= 1;
        Ok(Stmt { kind, pos })
    }

    fn statement_kind(&mut self, pos: Pos) -> Result<StmtKind, Diagnostic> {
        while self.is("[") && self.ahead(1).is("[") {
            self.balanced()?;
        }
        let word = self.peek().text.clone();
        if matches!(self.peek().kind, Kind::Name | Kind::Punct) {
            match &*word {
                ";" => {
                    self.at += 1;
                    return Ok(StmtKind::Empty);
                }
                "{" => {
                    self.at += 1;
                    let body = self.statements()?;
                    self.expect("}")?;
                    return Ok(StmtKind::Block(body));
                }
                "if" => return self.if_(),
                "while" => {
                    self.at += 1;
                    let condition = self.condition()?;
                    return Ok(StmtKind::While(condition, Box::new(self.statement()?)));
                }
                "do" => return self.do_(),
                "for" => return self.for_(),
                "switch" => return self.switch(),
                "case" => {
                    self.at += 1;
                    let value = self.conditional()?;
                    self.expect(":")?;
                    return Ok(StmtKind::Case(Some(value)));
                }
                "default" if self.ahead(1).is(":") => {
                    self.at += 2;
                    return Ok(StmtKind::Case(None));
                }
                "break" => return self.word(StmtKind::Break),
                "continue" => return self.word(StmtKind::Continue),
                "return" => {
                    self.at += 1;
                    let value = if self.is(";") { None } else { Some(self.initialiser()?) };
                    self.expect(";")?;
                    return Ok(StmtKind::Return(value));
                }
                "goto" | "asm" | "__asm__" | "try" => return self.refuse(&format!("`{word}`")),
                "static_assert" => {
                    let assert = self.static_assert()?;
                    return Ok(assert.map_or(StmtKind::Empty, StmtKind::StaticAssert));
                }
                "using" | "typedef" => return self.alias_statement(),
                _ if self.at_record() => {
                    return self.record_statement();
                }
                "enum" if self.defines_record() => {
                    let Enumeration { alias, members } = self.enumeration()?;
                    self.expect(";")?;
                    return Ok(StmtKind::Enum(alias, members));
                }
                _ => {}
            }
        }
        if self.peek().is_name() && self.ahead(1).is(":") && !self.ahead(1).is("::") {
            return self.refuse("labels");
        }
        if self.at_type()
            && let Some(variables) = self.try_declaration(pos)?
        {
            return Ok(StmtKind::Declare(variables));
        }
        let value = self.expression()?;
        if let (ExprKind::Name(path), true) = (&value.kind, self.peek().is_name()) {
            return Err(self.unknown_type(path.pos, &Arc::from(path.last())));
        }
        self.expect(";")?;
        Ok(StmtKind::Expr(value))
    }

    fn word(&mut self, kind: StmtKind) -> Result<StmtKind, Diagnostic> {
        self.at += 1;
        self.expect(";")?;
        Ok(kind)
    }

    fn condition(&mut self) -> Result<crate::lang::ast::Expr, Diagnostic> {
        self.expect("(")?;
        if self.at_type() && self.ahead(1).is_name() {
            return self.refuse("declarations in conditions");
        }
        let condition = self.expression()?;
        self.expect(")")?;
        Ok(condition)
    }

    fn if_(&mut self) -> Result<StmtKind, Diagnostic> {
        self.at += 1;
        let constant = self.eat("constexpr");
        let condition = self.condition()?;
        let yes = Box::new(self.statement()?);
        let no = if self.eat("else") { Some(Box::new(self.statement()?)) } else { None };
        Ok(StmtKind::If { constant, condition, yes, no })
    }

    fn do_(&mut self) -> Result<StmtKind, Diagnostic> {
        self.at += 1;
        let body = Box::new(self.statement()?);
        self.expect("while")?;
        let condition = self.condition()?;
        self.expect(";")?;
        Ok(StmtKind::Do(body, condition))
    }

    fn for_(&mut self) -> Result<StmtKind, Diagnostic> {
        self.at += 1;
        self.expect("(")?;
        let head = (0..64).map(|n| self.ahead(n)).find(|t| t.is(":") || t.is("?") || t.is(";"));
        if head.is_some_and(|t| t.is(":")) {
            return self.refuse("range-based `for`");
        }
        let init = Box::new(self.statement()?);
        let condition = if self.is(";") { None } else { Some(self.expression()?) };
        self.expect(";")?;
        let step = if self.is(")") { None } else { Some(self.expression()?) };
        self.expect(")")?;
        let body = Box::new(self.statement()?);
        Ok(StmtKind::For { init, condition, step, body })
    }

    fn switch(&mut self) -> Result<StmtKind, Diagnostic> {
        self.at += 1;
        let value = self.condition()?;
        self.expect("{")?;
        let body = self.statements()?;
        self.expect("}")?;
        Ok(StmtKind::Switch(value, body))
    }

    /// None if the condition is outside the language: then it says nothing.
    pub(super) fn static_assert(&mut self) -> Result<Option<StaticAssert>, Diagnostic> {
        let pos = self.pos();
        self.expect("static_assert")?;
        let start = (self.at, self.depth);
        let assert = self.assertion(pos).ok();
        if assert.is_none() {
            (self.at, self.depth) = start;
            self.in_arguments = false;
            self.balanced()?;
        }
        self.expect(";")?;
        Ok(assert)
    }

    fn assertion(&mut self, pos: Pos) -> Result<StaticAssert, Diagnostic> {
        self.expect("(")?;
        let condition = self.conditional()?;
        let text = self.eat(",").then(|| self.peek().text.clone());
        while self.peek().kind == Kind::String {
            self.at += 1;
        }
        self.expect(")")?;
        Ok(StaticAssert { condition, message: text, pos })
    }

    fn alias_statement(&mut self) -> Result<StmtKind, Diagnostic> {
        if self.ahead(1).is("namespace") {
            while !self.is(";") && self.peek().kind != Kind::End {
                self.at += 1;
            }
            self.expect(";")?;
            return Ok(StmtKind::Empty);
        }
        let (name, ty) = self.alias()?;
        Ok(StmtKind::Alias(name, ty))
    }

    /// A struct, with the variables that are declared together with it.
    fn record_statement(&mut self) -> Result<StmtKind, Diagnostic> {
        let record = self.plain_record()?;
        let named = TypeExpr::Named(Path::of(record.name.clone(), record.pos));
        let specifiers = Specifiers::of(named);
        let mut variables = Vec::new();
        while !self.is(";") {
            variables.push(self.variable(&specifiers)?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(";")?;
        Ok(StmtKind::Struct(record, variables))
    }

    /// A declaration, or none (and nothing read) if this is an expression
    /// that starts with a type, like `T(x).f();`.
    fn try_declaration(&mut self, pos: Pos) -> Result<Option<Vec<Variable>>, Diagnostic> {
        let start = self.at;
        let specifiers = self.specifiers()?;
        let declares = self.peek().is_name()
            || self.is("*")
            || self.is("&")
            || self.is("&&")
            || self.at_bracketed_declarator();
        if !declares && !matches!(self.peek().kind, Kind::End) && !self.is(";") {
            self.at = start;
            return Ok(None);
        }
        if self.eat(";") {
            return Ok(Some(Vec::new()));
        }
        if specifiers.storage == Storage::Static && !specifiers.constant {
            return Err(pos.error("`static` variables in functions: outside the language"));
        }
        let mut variables = Vec::new();
        loop {
            variables.push(self.variable(&specifiers)?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(";")?;
        Ok(Some(variables))
    }

    /// Whether `(*…)` behind a type declares something, and isn't the argument of `T(*x).f()`.
    fn at_bracketed_declarator(&self) -> bool {
        if !self.is("(") {
            return false;
        }
        let behind = self.behind_parentheses();
        let assigns = behind.ends_with('=') && !matches!(behind, "=" | "==");
        let uses = assigns || matches!(behind, "." | "->" | "++" | "--");
        // `T(x) = value;` declares `x`.
        behind == "=" || self.ahead(1).is("*") && !uses
    }

    /// What stands behind the parentheses that are next.
    fn behind_parentheses(&self) -> &str {
        let mut depth = 0;
        let closing = (0..64).find(|&n| {
            depth += i32::from(self.ahead(n).is("(")) - i32::from(self.ahead(n).is(")"));
            depth == 0
        });
        closing.map_or("", |n| &*self.ahead(n + 1).text)
    }

    /// `{value}` or `(value)`; of a reference to a struct also a list of its members.
    fn one_value(&mut self, name: &str, is_auto: bool) -> Result<Expr, Diagnostic> {
        let pos = self.pos();
        let is_list = self.is("{");
        let mut values = if is_list { self.braced()? } else { self.arguments()? };
        match values.len() {
            1 => Ok(values.remove(0)),
            _ if is_list && !is_auto => Ok(super::expr::at(pos, ExprKind::List(values))),
            _ => Err(pos.error(format!("`{name}` takes one value"))),
        }
    }

    /// One declarator with its initialiser.
    pub(super) fn variable(&mut self, specifiers: &Specifiers) -> Result<Variable, Diagnostic> {
        let (ty, name, pos) = self.declarator(&specifiers.ty, specifiers.qualified)?;
        let one_value = ty.contains_auto() || matches!(ty, TypeExpr::Reference(_));
        let init = if self.eat("=") {
            Some(Init::Value(self.initialiser()?))
        } else if one_value && (self.is("{") || self.is("(")) {
            Some(Init::Value(self.one_value(&name, ty.contains_auto())?))
        } else if self.is("{") {
            let pos = self.pos();
            let members = self.braced()?;
            Some(Init::Value(super::expr::at(pos, crate::lang::ast::ExprKind::List(members))))
        } else if self.is("(") {
            Some(Init::Call(self.arguments()?))
        } else {
            None
        };
        let storage = match specifiers.storage {
            Storage::Static => Storage::Auto,
            other => other,
        };
        Ok(Variable {
            name,
            ty,
            init,
            storage,
            constant: specifiers.constant,
            align: specifiers.align.clone(),
            pos,
        })
    }
}
