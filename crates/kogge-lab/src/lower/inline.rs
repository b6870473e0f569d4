//! Inlining: a device function is compiled in place of its call, under a frame
//! and scopes of its own.

use std::collections::HashSet;
use std::num::NonZeroU32;
use std::sync::Arc;

use super::argument::Argument;
use super::flow::may_end;
use super::overload::Chosen;
use super::scope::Scope;
use super::taint::Taint;
use super::ty::{Qualifiers, Ty};
use super::value::{Place, Val};
use super::{Frame, Lower, MAX_CALLS, Result, scan_names};
use crate::lang::ast::{ExprKind, Function, Stmt, StmtKind, TypeExpr};
use crate::machine::ins::{Ins, Op, check};

mod parameter;
mod work;

/// The types of a function, resolved.
struct Signature {
    /// None where it is still to be found (`auto`).
    result: Option<Ty>,
    /// Each with its top-level qualifiers.
    parameters: Vec<(Ty, Qualifiers)>,
}

impl Lower<'_> {
    /// Compiles a function in place of its call.
    pub(super) fn inline(
        &mut self,
        mut chosen: Chosen,
        arguments: Vec<Argument>,
        this: Option<Place>,
    ) -> Result<Val> {
        self.descend()?;
        let call_pos = self.pos;
        self.loosen(&mut chosen, &arguments);
        let special = self.specialised(&chosen)?;
        // A specialisation knows nothing of its template's parameters, but for default arguments.
        let (f, mut scope) = match special {
            Some(special) => (special, Scope::default()),
            None => (chosen.function.clone(), chosen.scope.clone()),
        };
        self.pos = call_pos;
        self.check_callee(&f)?;
        let body = self.body(&f)?;
        let names = scan_names(&body);
        let signature = self.signature(&f, &scope)?;
        let bound = self.bind_parameters(
            &f,
            &chosen,
            signature.parameters,
            &arguments,
            &names,
            this.is_some(),
        )?;
        self.pos = call_pos;
        let is_operator = self.is_operator(&f, bound.len());
        let operands = if is_operator { self.begin_work(&bound)? } else { None };
        let operator_call = self.operator_call;
        if operands.is_some() {
            self.operator_call = Some(call_pos);
        }
        for (parameter, symbol) in f.parameters.iter().zip(&bound) {
            if let Some(name) = &parameter.name {
                scope.insert(name.clone(), symbol.clone());
            }
        }
        let mut outer_scope = Scope::default();
        if let Some(this) = &this {
            self.bind_fields(this, &mut outer_scope);
        }

        let may_end_empty = names.bare_return || may_end(&body);
        let mut frame = self.callee_frame(&f, signature.result, this, names.addressed)?;
        if may_end_empty && !matches!(frame.result, Some((_, Ty::Void))) {
            let zero = self.constant_register(0)?;
            let flag = self.temp(1)?;
            self.emit(Ins { d: flag, a: zero, ..Ins::new(Op::Mov) })?;
            frame.returned = Some(flag);
        }
        let (outcome, frame) = self.inline_body(frame, vec![outer_scope, scope], &f, &body);
        self.pos = call_pos;
        self.operator_call = operator_call;
        self.depth -= 1;
        let flag = frame.returned;
        let value = self.returned(outcome?, frame);
        let value = match operands {
            Some(operands) => self.end_work(value, operands)?,
            None => value,
        };
        if let (Some(flag), false) = (flag, value.ty == Ty::Void) {
            self.names.push(f.name.to_string());
            let name = (self.names.len() - 1) as u32;
            self.emit(Ins { a: flag, x: check::RESULT, k: name, ..Ins::new(Op::Check) })?;
        }
        Ok(value)
    }

    /// Refuses what can't be called from device code.
    fn check_callee(&self, f: &Function) -> Result<()> {
        if self.frames.len() > MAX_CALLS {
            return Err(self.pos.error(format!(
                "calls nested more than {MAX_CALLS} deep; recursion is outside the language"
            )));
        }
        if f.kernel {
            return self.refuse("calling a kernel from device code");
        }
        if !f.device && !f.constant {
            return Err(self.pos.error(format!("`{}` is a function of the host", f.name)));
        }
        Ok(())
    }

    /// The types of a function's result and parameters, in the scope of its template.
    fn signature(&mut self, f: &Function, scope: &Scope) -> Result<Signature> {
        let scopes = std::mem::take(&mut self.scopes);
        self.scopes.push(scope.clone());
        let result = match f.result {
            TypeExpr::Auto => Ok(None),
            _ => self.resolve(&f.result).map(|(ty, _)| Some(ty)),
        };
        let parameters: Result<Vec<_>> = f.parameters.iter().map(|p| self.resolve(&p.ty)).collect();
        self.scopes = scopes;
        let (result, parameters) = (result?, parameters?);
        let by_value = |ty: &TypeExpr| !matches!(ty, TypeExpr::Reference(_));
        if let Some(ty) = result.as_ref().filter(|_| by_value(&f.result)) {
            self.check_copied(ty)?;
        }
        for (parameter, (ty, _)) in f.parameters.iter().zip(&parameters) {
            if by_value(&parameter.ty) {
                self.check_copied(ty)?;
            }
        }
        Ok(Signature { result, parameters })
    }

    /// The frame of a callee, with registers for its result.
    fn callee_frame(
        &mut self,
        f: &Arc<Function>,
        result: Option<Ty>,
        this: Option<Place>,
        addressed: HashSet<Arc<str>>,
    ) -> Result<Frame> {
        let caller = self.frames.last().and_then(|f| f.caller).or(NonZeroU32::new(self.pos.line));
        let n = result.as_ref().map_or(0, |ty| self.leaf_count(ty));
        let register = self.temp(n)?;
        Ok(Frame {
            function: Some(f.clone()),
            deduce: result.is_none(),
            result: result.map(|ty| (register, ty)),
            this,
            addressed,
            caller,
            ..Frame::outermost()
        })
    }

    /// Compiles a callee's body under its frame and scopes, of which the caller's know nothing
    /// afterwards. A value, if the body is a single `return`, and the frame as the body left it.
    fn inline_body(
        &mut self,
        frame: Frame,
        scopes: Vec<Scope>,
        f: &Arc<Function>,
        body: &[Stmt],
    ) -> (Result<Option<Val>>, Frame) {
        let scopes = std::mem::replace(&mut self.scopes, scopes);
        let loops = std::mem::take(&mut self.loops);
        let floor = std::mem::replace(&mut self.floor, self.top);
        self.frames.push(frame);
        let outcome = self.compile_body(f, body);
        let frame = self.frames.pop().unwrap_or_else(Frame::outermost);
        self.scopes = scopes;
        self.loops = loops;
        self.floor = floor;
        (outcome, frame)
    }

    /// The result: the value of a single `return`, or the registers that all of them fill. The
    /// others jump here.
    fn returned(&mut self, direct: Option<Val>, frame: Frame) -> Val {
        let Frame { result, result_taint, mut returns, .. } = frame;
        // A jump to the next instruction is none.
        if !returns.is_empty()
            && returns.last() == Some(&(self.code.len() - 1))
            && self.barrier < self.code.len()
        {
            returns.pop();
            self.code.pop();
            self.places.pop();
        }
        if !returns.is_empty() {
            self.land(&returns);
        }
        match (direct, result) {
            (Some(v), _) => v,
            (None, Some((_, Ty::Void)) | None) => Val::nothing(Ty::Void),
            (None, Some((register, ty))) => Val::register(ty, register, result_taint),
        }
    }

    /// The body; a value, if it is a single `return`.
    fn compile_body(&mut self, f: &Arc<Function>, body: &[Stmt]) -> Result<Option<Val>> {
        self.construct_members(f)?;
        if let [Stmt { kind: StmtKind::Return(Some(e)), .. }] = body {
            let is_list = matches!(e.kind, ExprKind::List(_));
            let is_reference = matches!(f.result, TypeExpr::Reference(_));
            if !is_list && !is_reference {
                let v = self.rvalue(e)?;
                let target = self.frame().result.clone();
                return match target {
                    Some((_, Ty::Void)) => {
                        self.check_void(&v)?;
                        Ok(None)
                    }
                    Some((register, ty)) => {
                        let v = self.implicit(v, &ty)?;
                        if v.constant.is_some() {
                            return Ok(Some(v));
                        }
                        let taint = v.taint.clone();
                        self.copy_value(register, &v)?;
                        self.top = self.floor;
                        Ok(Some(Val::register(ty, register, taint)))
                    }
                    None => {
                        self.check_copied(&v.ty)?;
                        Ok(Some(v))
                    }
                };
            }
        }
        self.block(body)?;
        Ok(None)
    }

    pub(super) fn result_taint(&mut self, taint: &Taint) {
        let frame = self.frame();
        frame.result_taint = std::mem::take(&mut frame.result_taint).join(taint);
    }
}
