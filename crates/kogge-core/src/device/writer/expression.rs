//! Expressions: operands in Rust's order of evaluation, branches as statements before their value.

use super::effects::{assigns, cheap, is_place};
use super::statement::Body;
use super::{Dialect, field_name, sized};
use crate::device::Error;
use crate::device::ir::{Arm, Block, Expr, Pattern, Scalar, Type, Word};

impl<D: Dialect> Body<'_, '_, '_, D> {
    pub(super) fn value(&mut self, expr: &Expr) -> Result<String, Error> {
        self.expr(expr)?.ok_or_else(|| self.untyped())
    }

    /// The value of `expr`, kept in a variable if evaluating `later` could change it.
    pub(super) fn value_before(&mut self, expr: &Expr, later: &[&Expr]) -> Result<String, Error> {
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
    pub(super) fn expr(&mut self, expr: &Expr) -> Result<Option<String>, Error> {
        Ok(Some(match expr {
            Expr::Variable(name) => self.named(name)?,
            Expr::Integer(value, _) => {
                let scalar = self.scalar(expr)?;
                self.program.literal(scalar, *value as u64)?
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
                let field = self.field(value, name)?;
                format!("{}.{field}", self.value(value)?)
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

    pub(super) fn place(&mut self, place: &Expr) -> Result<String, Error> {
        self.place_before(place, &[])
    }

    /// A place, its indices kept in variables if evaluating `later` could change them.
    fn place_before(&mut self, place: &Expr, later: &[&Expr]) -> Result<String, Error> {
        match place {
            Expr::Field(value, name) => {
                let field = self.field(value, name)?;
                Ok(format!("{}.{field}", self.place_before(value, later)?))
            }
            Expr::Index(array, index) => {
                let Type::Array(_, len) = *self.types.of(array)? else {
                    return Err(self.untyped());
                };
                let mut after = vec![&**index];
                after.extend(later);
                let base = self.place_before(array, &after)?;
                let index = self.value_before(index, later)?;
                Ok(self.program.dialect.element(&base, &index, len))
            }
            _ => self.value(place),
        }
    }

    /// The name of a field of this value.
    fn field(&self, value: &Expr, name: &str) -> Result<String, Error> {
        let declared = self.structure(value)?;
        let place = declared.fields.iter().position(|field| field.name == name);
        Ok(field_name(declared, place.ok_or_else(|| self.untyped())?))
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
