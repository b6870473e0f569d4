//! Parameters as names of the callee: an argument itself where the callee
//! leaves it alone, a copy where it does not.

use std::sync::Arc;

use crate::lang::ast::{Function, Parameter, TypeExpr};
use crate::lower::argument::Argument;
use crate::lower::declare::is_constant;
use crate::lower::emit::FIXED;
use crate::lower::overload::Chosen;
use crate::lower::scope::{Scope, Symbol};
use crate::lower::ty::{Qualifiers, Ty};
use crate::lower::value::{Place, PlaceKind, Val};
use crate::lower::{Lower, Names, Result};

impl Lower<'_> {
    /// All parameters of a call, from its arguments or their defaults.
    pub(super) fn bind_parameters(
        &mut self,
        f: &Function,
        chosen: &Chosen,
        types: Vec<(Ty, Qualifiers)>,
        arguments: &[Argument],
        names: &Names,
        is_method: bool,
    ) -> Result<Vec<Symbol>> {
        // Without references into the caller, nothing changes its variables
        // while the callee runs.
        let by_reference = |p: &Parameter| matches!(p.ty, TypeExpr::Reference(_));
        let isolated = !is_method && !f.parameters.iter().any(by_reference);
        let mut bound = Vec::new();
        let defaults = chosen.function.parameters.iter().map(|p| &p.default);
        let parameters = f.parameters.iter().zip(defaults).zip(types);
        for (i, ((parameter, default), ty)) in parameters.enumerate() {
            let argument = match (arguments.get(i), default) {
                (Some(a), _) => a.clone(),
                (None, Some(default)) => {
                    // Its names are those that the function sees, not its caller.
                    let caller = std::mem::replace(&mut self.scopes, vec![chosen.scope.clone()]);
                    let value = self.rvalue(default);
                    self.scopes = caller;
                    Argument::operand(value?, None)
                }
                (None, None) => return Err(self.pos.error("an argument is missing")),
            };
            bound.push(self.bind_parameter(parameter, ty, argument, names, isolated)?);
        }
        Ok(bound)
    }

    /// A parameter as a name of the callee: the argument itself where the
    /// callee leaves it alone, a copy where it does not.
    fn bind_parameter(
        &mut self,
        parameter: &Parameter,
        (ty, Qualifiers { volatile, .. }): (Ty, Qualifiers),
        argument: Argument,
        names: &Names,
        isolated: bool,
    ) -> Result<Symbol> {
        let Argument { value, place, written } = argument;
        let place = place.map(|place| self.base_place(place, &ty));
        let constant = is_constant(parameter.constant, &parameter.ty);
        if let (TypeExpr::Reference(_), Some(place)) = (&parameter.ty, &place)
            && place.ty == ty
        {
            // A template's `T` takes a `const` one as such.
            let named = matches!(&parameter.ty, TypeExpr::Reference(to)
                if matches!(**to, TypeExpr::Named(_)));
            if place.constant && !(parameter.takes_values || constant || named) {
                return Err(self.reference(parameter, &ty, "a `const` one"));
            }
            let place = Place { constant: place.constant || constant, ..place.clone() };
            return Ok(Symbol::Variable(place, None));
        }
        if let Ty::Group(_) = ty {
            return Ok(Symbol::Variable(Self::group_place(value.ty), None));
        }
        if let (TypeExpr::Reference(_), true) = (&parameter.ty, written)
            && !(parameter.takes_values || constant || matches!(ty, Ty::Struct(_)))
        {
            let from = place.as_ref().map_or(&value.ty, |p| &p.ty);
            let found = format!("a value of type `{}`", self.describe(from));
            return Err(self.reference(parameter, &ty, &found));
        }
        let name = parameter.name.clone().unwrap_or_else(|| Arc::from(""));
        let value = match (&place, value.register, value.constant) {
            (Some(place), None, None) => self.read(place)?,
            _ => value,
        };
        let value = self.implicit(value, &ty)?;
        let unchanged = constant || !names.assigned.contains(&name);
        let kept = unchanged && !names.addressed.contains(&name);
        let variable = self.taints.new_variable();
        self.taints.assign(variable, &value.taint);
        if kept && !volatile && !self.lives_in_memory(&ty) {
            let base = match value.constant {
                Some(c) => self.constant_register(c)?,
                None => self.lasting_register(&value, isolated)?,
            };
            let kind = PlaceKind::Register { base, flag: None };
            let place = Place { ty, volatile, constant, variable: Some(variable), kind };
            return Ok(Symbol::Variable(place, value.constant));
        }
        let in_memory = names.addressed.contains(&name);
        let place = self.new_variable(&name, ty, volatile, in_memory)?;
        self.store(&place, &value)?;
        Ok(Symbol::Variable(Place { constant, ..place }, None))
    }

    fn reference(&self, parameter: &Parameter, ty: &Ty, found: &str) -> crate::Diagnostic {
        let name = parameter.name.as_deref().unwrap_or("the parameter");
        let ty = self.describe(ty);
        self.pos.error(format!(
            "`{name}` refers to a variable of type `{ty}`, here it is given {found}"
        ))
    }

    /// Registers that hold a value as long as the callee runs: its own if nothing can change them.
    fn lasting_register(&mut self, value: &Val, isolated: bool) -> Result<u16> {
        let base = self.register(value)?;
        let temporary = u32::from(base) >= self.floor;
        let fixed = base >= FIXED;
        let n = self.leaf_count(&value.ty);
        if temporary || fixed || isolated || n == 0 {
            return Ok(base);
        }
        let d = self.temp(n)?;
        self.copy_value(d, value)?;
        Ok(d)
    }

    /// The fields of a method's object are names of their own.
    pub(in crate::lower) fn bind_fields(&self, this: &Place, scope: &mut Scope) {
        let Ty::Struct(id) = this.ty else { return };
        for (name, symbol) in self.structs[id].scope.iter() {
            scope.insert(name.clone(), symbol.clone());
        }
        let info = &self.structs[id];
        for f in info.fields.iter().chain(&info.promoted) {
            let place = Self::part(this, f.ty.clone(), f.leaf, f.offset, f.volatile);
            scope.insert(f.name.clone(), Symbol::Variable(place, None));
        }
    }
}
