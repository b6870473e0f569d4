//! Statements.

use std::collections::HashSet;

use super::scope::{Scope, Symbol};
use super::ty::{Qualifiers, Ty};
use super::value::Val;
use super::{Loop, Lower, Result};
use crate::lang::ast::{Expr, ExprKind, Stmt, StmtKind};
use crate::machine::alu::{convert, is_float};
use crate::machine::ins::{Ins, Op, check};
use crate::value::ScalarType;

impl Lower<'_> {
    /// Statements in a scope of their own.
    pub(super) fn block(&mut self, body: &[Stmt]) -> Result<()> {
        self.scopes.push(Scope::default());
        let floor = self.floor;
        let mut result = Ok(());
        for s in body {
            result = self.statement(s);
            if result.is_err() {
                break;
            }
        }
        self.floor = floor;
        self.top = floor;
        self.scopes.pop();
        result
    }

    fn statement(&mut self, s: &Stmt) -> Result<()> {
        self.descend()?;
        self.pos = s.pos;
        self.statement_kind(s)?;
        self.depth -= 1;
        // Temporaries end with their statement, variables live on.
        self.top = self.floor;
        Ok(())
    }

    fn statement_kind(&mut self, s: &Stmt) -> Result<()> {
        match &s.kind {
            StmtKind::Empty => Ok(()),
            StmtKind::Block(body) => self.block(body),
            StmtKind::Expr(e) => self.expression_statement(e),
            StmtKind::Declare(variables) => variables.iter().try_for_each(|v| self.declare(v)),
            StmtKind::Alias(name, ty) => {
                let (ty, qualifiers) = self.resolve(ty)?;
                self.define(name.clone(), Symbol::Type(ty, qualifiers));
                Ok(())
            }
            StmtKind::Struct(decl, variables) => {
                let ty = self.local_struct(decl)?;
                self.define(decl.name.clone(), Symbol::Type(ty, Qualifiers::default()));
                variables.iter().try_for_each(|v| self.declare(v))
            }
            StmtKind::Enum(alias, members) => {
                if let Some((name, ty)) = alias {
                    let (ty, qualifiers) = self.resolve(ty)?;
                    self.define(name.clone(), Symbol::Type(ty, qualifiers));
                }
                let mut next = 0u64;
                for (name, value) in members {
                    if let Some(e) = value {
                        next = self.constant(e)?;
                    }
                    self.define(name.clone(), Symbol::Constant(next, ScalarType::I32));
                    next = next.wrapping_add(1);
                }
                Ok(())
            }
            StmtKind::StaticAssert(assert) => self.static_assert(assert),
            StmtKind::If { constant, condition, yes, no } => {
                self.if_(*constant, condition, yes, no.as_deref())
            }
            StmtKind::While(condition, body) => self.loop_(Some(condition), None, body),
            StmtKind::Do(body, condition) => self.do_(body, condition),
            StmtKind::For { init, condition, step, body } => {
                self.scopes.push(Scope::default());
                let floor = self.floor;
                self.statement(init)?;
                let result = self.loop_(condition.as_ref(), step.as_ref(), body);
                self.scopes.pop();
                self.floor = floor;
                result
            }
            StmtKind::Switch(value, body) => self.switch(value, body),
            StmtKind::Case(_) => Err(self.pos.error("`case` outside a switch, or nested in it")),
            StmtKind::Break => self.leave(true),
            StmtKind::Continue => self.leave(false),
            StmtKind::Return(value) => self.return_(value.as_ref()),
        }
    }

    fn expression_statement(&mut self, e: &Expr) -> Result<()> {
        // A volatile access in a statement of its own is still an access, and
        // so is a plain one; a bare name is none.
        if let ExprKind::Name(_) = e.kind {
            return Ok(());
        }
        self.discard(e)
    }

    /// An expression whose value isn't used.
    pub(super) fn discard(&mut self, e: &Expr) -> Result<()> {
        self.rvalue(e)?;
        // A result that isn't used need not be there.
        if let Some(Ins { op: Op::Check, x: check::RESULT, .. }) = self.code.last()
            && self.code.len() > self.barrier
        {
            self.code.pop();
            self.places.pop();
        }
        Ok(())
    }

    pub(super) fn define(&mut self, name: std::sync::Arc<str>, symbol: Symbol) {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, symbol);
        }
    }

    /// A condition's truth value in a register, or its constant value.
    fn condition(&mut self, e: &Expr) -> Result<Val> {
        let v = self.rvalue(e)?;
        self.pos = e.pos;
        self.truth(&v)
    }

    fn if_(
        &mut self,
        constant: bool,
        condition: &Expr,
        yes: &Stmt,
        no: Option<&Stmt>,
    ) -> Result<()> {
        let v = self.condition(condition)?;
        if let Some(c) = v.constant {
            return match (c != 0, no) {
                (true, _) => self.scoped(yes),
                (false, Some(no)) => self.scoped(no),
                (false, None) => Ok(()),
            };
        }
        if constant {
            return Err(condition.pos.error("the condition of `if constexpr` must be constant"));
        }
        let r = self.register(&v)?;
        let skip = self.jump(Op::JumpZero, r)?;
        self.top = self.floor;
        self.scoped(yes)?;
        let Some(no) = no else {
            self.land(&[skip]);
            return Ok(());
        };
        let end = self.jump(Op::Jump, 0)?;
        self.land(&[skip]);
        self.scoped(no)?;
        self.land(&[end]);
        Ok(())
    }

    fn scoped(&mut self, s: &Stmt) -> Result<()> {
        self.scopes.push(Scope::default());
        let floor = self.floor;
        let result = self.statement(s);
        self.floor = floor;
        self.top = floor;
        self.scopes.pop();
        result
    }

    fn loop_(&mut self, condition: Option<&Expr>, step: Option<&Expr>, body: &Stmt) -> Result<()> {
        let start = self.label();
        let mut exit = None;
        if let Some(e) = condition {
            let v = self.condition(e)?;
            match v.constant {
                Some(0) => return Ok(()),
                Some(_) => {}
                None => {
                    let r = self.register(&v)?;
                    exit = Some(self.jump(Op::JumpZero, r)?);
                }
            }
            self.top = self.floor;
        }
        self.loops.push(Loop::default());
        self.scoped(body)?;
        let l = self.loops.pop().unwrap_or_default();
        self.land(&l.continues);
        if let Some(e) = step {
            self.expression_statement(e)?;
            self.top = self.floor;
        }
        self.jump_to(start)?;
        self.land(&l.breaks);
        if let Some(exit) = exit {
            self.land(&[exit]);
        }
        Ok(())
    }

    fn do_(&mut self, body: &Stmt, condition: &Expr) -> Result<()> {
        let start = self.label();
        self.loops.push(Loop::default());
        self.scoped(body)?;
        let l = self.loops.pop().unwrap_or_default();
        self.land(&l.continues);
        let v = self.condition(condition)?;
        match v.constant {
            Some(0) => {}
            Some(_) => self.jump_to(start)?,
            None => {
                let r = self.register(&v)?;
                let j = self.jump(Op::JumpNonZero, r)?;
                self.code[j].k = start;
            }
        }
        self.land(&l.breaks);
        Ok(())
    }

    fn switch(&mut self, value: &Expr, body: &[Stmt]) -> Result<()> {
        let v = self.rvalue(value)?;
        let v = self.settle(v)?;
        let Some(ty) = v.ty.scalar().filter(|&s| !is_float(s)) else {
            let ty = self.describe(&v.ty);
            return Err(value.pos.error(format!("`switch` of a value of type `{ty}`")));
        };
        let ty = super::common(ty, ty);
        let mut labels = HashSet::new();
        let held = self.materialise(v)?;
        let floor = std::mem::replace(&mut self.floor, self.top);
        let mut cases = Vec::new();
        let mut default = None;
        for (i, s) in body.iter().enumerate() {
            match &s.kind {
                StmtKind::Case(Some(label)) => {
                    let pos = label.pos;
                    let (label, from) = self.constant_value(label)?;
                    let label = convert(from, ty, label);
                    if !labels.insert(label) {
                        return Err(pos.error("this switch has a `case` of this value already"));
                    }
                    let label = Val::constant(Ty::Scalar(ty), label);
                    let v = self.load(&held)?;
                    let equal = self.binary(crate::lang::ast::Binary::Eq, &v, &label)?;
                    let r = self.register(&equal)?;
                    cases.push((i, self.jump(Op::JumpNonZero, r)?));
                    self.top = self.floor;
                }
                StmtKind::Case(None) if default.is_some() => {
                    return Err(s.pos.error("this switch has a `default` already"));
                }
                StmtKind::Case(None) => default = Some(i),
                _ => {}
            }
        }
        let otherwise = self.jump(Op::Jump, 0)?;
        self.loops.push(Loop { is_switch: true, ..Loop::default() });
        self.scopes.push(Scope::default());
        for (i, s) in body.iter().enumerate() {
            if let StmtKind::Case(_) = s.kind {
                let jumps: Vec<usize> = cases.iter().filter(|c| c.0 == i).map(|c| c.1).collect();
                self.land(&jumps);
                if default == Some(i) {
                    self.land(&[otherwise]);
                }
            } else {
                self.statement(s)?;
            }
        }
        self.scopes.pop();
        let l = self.loops.pop().unwrap_or_default();
        self.land(&l.breaks);
        if default.is_none() {
            self.land(&[otherwise]);
        }
        // A `continue` within the switch is the surrounding loop's.
        if let Some(outer) = self.loops.last_mut() {
            outer.continues.extend(l.continues);
        }
        self.floor = floor;
        Ok(())
    }

    fn leave(&mut self, is_break: bool) -> Result<()> {
        let found = self.loops.iter().rposition(|l| is_break || !l.is_switch);
        let Some(found) = found else {
            return Err(self.pos.error("`break` or `continue` outside a loop"));
        };
        let j = self.jump(Op::Jump, 0)?;
        let l = &mut self.loops[found];
        if is_break {
            l.breaks.push(j);
        } else {
            l.continues.push(j);
        }
        Ok(())
    }

    fn return_(&mut self, value: Option<&Expr>) -> Result<()> {
        let pos = self.pos;
        let is_kernel = self.frame().function.as_ref().is_none_or(|f| f.kernel);
        if is_kernel {
            if let Some(e) = value {
                return Err(e.pos.error("a kernel returns nothing"));
            }
            self.emit(Ins::new(Op::Exit))?;
            return Ok(());
        }
        match value {
            Some(e) => self.return_value(e)?,
            None if self.frame().deduce && self.frame().result.is_none() => {
                self.frame().result = Some((0, Ty::Void));
            }
            None => {}
        }
        self.pos = pos;
        let j = self.jump(Op::Jump, 0)?;
        self.frame().returns.push(j);
        Ok(())
    }

    /// A function of `void` returns nothing, or what is nothing.
    pub(super) fn check_void(&self, v: &Val) -> Result<()> {
        if v.ty == Ty::Void {
            return Ok(());
        }
        Err(self.pos.error("a function whose result is `void` returns a value"))
    }

    fn return_value(&mut self, e: &Expr) -> Result<()> {
        let target = self.frame().result.clone();
        let v = match (&e.kind, &target) {
            (ExprKind::List(members), Some((_, ty))) => self.construct(&ty.clone(), members)?,
            _ => self.rvalue(e)?,
        };
        let (register, ty) = match target {
            Some(target) => target,
            None if self.frame().deduce => {
                self.check_copied(&v.ty)?;
                // The registers lie above the body's: they stay taken.
                let n = self.leaf_count(&v.ty);
                let register = self.temp(n)?;
                self.floor = self.floor.max(self.top);
                let target = (register, v.ty.clone());
                self.frame().result = Some(target.clone());
                target
            }
            None => return Ok(()),
        };
        if ty == Ty::Void {
            return self.check_void(&v);
        }
        let v = self.implicit(v, &ty)?;
        self.result_taint(&v.taint);
        self.copy_value(register, &v)?;
        if let Some(flag) = self.frame().returned {
            let one = self.constant_register(1)?;
            self.emit(Ins { d: flag, a: one, ..Ins::new(Op::Mov) })?;
        }
        Ok(())
    }
}
