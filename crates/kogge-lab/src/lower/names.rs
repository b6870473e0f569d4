//! Which names a body assigns, and of which it takes the address.

use std::collections::HashSet;
use std::sync::Arc;

use crate::lang::ast::{Expr, ExprKind, Init, Stmt, StmtKind, Unary};

#[derive(Debug, Default)]
pub(super) struct Names {
    pub assigned: HashSet<Arc<str>>,
    pub addressed: HashSet<Arc<str>>,
    /// Whether there is a `return` without a value.
    pub bare_return: bool,
}

pub(super) fn scan_names(body: &[Stmt]) -> Names {
    let mut names = Names::default();
    for s in body {
        names.statement(s);
    }
    names
}

impl Names {
    fn statement(&mut self, s: &Stmt) {
        match &s.kind {
            StmtKind::Block(body) => body.iter().for_each(|s| self.statement(s)),
            StmtKind::Expr(e) => self.expression(e),
            StmtKind::Declare(variables) | StmtKind::Struct(_, variables) => {
                for v in variables {
                    match &v.init {
                        Some(Init::Value(e)) => {
                            // A reference may assign what it is bound to.
                            if let crate::lang::ast::TypeExpr::Reference(_) = v.ty {
                                self.assigned(e);
                            }
                            self.expression(e);
                        }
                        Some(Init::Call(arguments)) => self.all(arguments),
                        None => {}
                    }
                }
            }
            StmtKind::If { condition, yes, no, .. } => {
                self.expression(condition);
                self.statement(yes);
                if let Some(no) = no {
                    self.statement(no);
                }
            }
            StmtKind::While(e, body) | StmtKind::Do(body, e) => {
                self.expression(e);
                self.statement(body);
            }
            StmtKind::For { init, condition, step, body } => {
                self.statement(init);
                condition.iter().chain(step).for_each(|e| self.expression(e));
                self.statement(body);
            }
            StmtKind::Switch(e, body) => {
                self.expression(e);
                body.iter().for_each(|s| self.statement(s));
            }
            StmtKind::Return(Some(e)) => self.expression(e),
            StmtKind::Return(None) => self.bare_return = true,
            StmtKind::Empty
            | StmtKind::Alias(..)
            | StmtKind::Enum(..)
            | StmtKind::StaticAssert(_)
            | StmtKind::Case(_)
            | StmtKind::Break
            | StmtKind::Continue => {}
        }
    }

    fn all(&mut self, list: &[Expr]) {
        list.iter().for_each(|e| self.expression(e));
    }

    fn expression(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Unary(Unary::Address, a) => {
                if let Some(name) = root(a) {
                    self.addressed.insert(name);
                }
                self.expression(a);
            }
            ExprKind::Unary(_, a) | ExprKind::Cast(.., a) => {
                if let ExprKind::Cast(_, ty, inner) = &e.kind
                    && let crate::lang::ast::TypeExpr::Reference(_) = **ty
                    && let Some(name) = root(inner)
                {
                    self.addressed.insert(name);
                }
                self.expression(a);
            }
            ExprKind::Step { target, .. } => {
                self.assigned(target);
                self.expression(target);
            }
            ExprKind::Assign(_, target, value) => {
                self.assigned(target);
                self.expression(target);
                self.expression(value);
            }
            ExprKind::Binary(_, a, b) | ExprKind::Comma(a, b) | ExprKind::Index(a, b) => {
                self.expression(a);
                self.expression(b);
            }
            ExprKind::Conditional(a, b, c) => {
                self.expression(a);
                self.expression(b);
                self.expression(c);
            }
            ExprKind::Call(callee, arguments) => {
                // A callee may take any argument, and a method its object, by reference.
                if let ExprKind::Member { object, .. } = &callee.kind {
                    self.assigned(object);
                }
                self.assigned(callee);
                arguments.iter().for_each(|a| self.assigned(a));
                self.expression(callee);
                self.all(arguments);
            }
            ExprKind::Member { object, .. } => self.expression(object),
            ExprKind::Construct(_, arguments) | ExprKind::List(arguments) => self.all(arguments),
            ExprKind::Integer(..)
            | ExprKind::Float(..)
            | ExprKind::Bool(_)
            | ExprKind::Null
            | ExprKind::This
            | ExprKind::Text
            | ExprKind::Name(_)
            | ExprKind::SizeofType(_)
            | ExprKind::SizeofExpr(_) => {}
        }
    }

    fn assigned(&mut self, e: &Expr) {
        if let Some(name) = root(e) {
            self.assigned.insert(name);
        }
    }
}

/// The variable that an lvalue is part of.
fn root(e: &Expr) -> Option<Arc<str>> {
    match &e.kind {
        ExprKind::Name(path) => path.simple().cloned(),
        ExprKind::Member { object, arrow: false, .. } => root(object),
        ExprKind::Cast(.., inner) => root(inner),
        ExprKind::Comma(_, b) => root(b),
        _ => None,
    }
}
