//! Expressions: precedence climbing.

use super::Parser;
use super::number::{character, number};
use crate::diagnostic::Diagnostic;
use crate::lang::ast::{Binary, CastKind, Expr, ExprKind, TypeExpr, Unary};
use crate::lang::token::{Kind, Pos};

/// A binary operator's level; higher binds tighter.
fn binary(text: &str) -> Option<(Binary, u8)> {
    Some(match text {
        "||" => (Binary::LogicalOr, 1),
        "&&" => (Binary::LogicalAnd, 2),
        "|" => (Binary::Or, 3),
        "^" => (Binary::Xor, 4),
        "&" => (Binary::And, 5),
        "==" => (Binary::Eq, 6),
        "!=" => (Binary::Ne, 6),
        "<" => (Binary::Lt, 7),
        ">" => (Binary::Gt, 7),
        "<=" => (Binary::Le, 7),
        ">=" => (Binary::Ge, 7),
        "<<" => (Binary::Shl, 8),
        ">>" => (Binary::Shr, 8),
        "+" => (Binary::Add, 9),
        "-" => (Binary::Sub, 9),
        "*" => (Binary::Mul, 10),
        "/" => (Binary::Div, 10),
        "%" => (Binary::Rem, 10),
        _ => return None,
    })
}

/// The operator of an assignment; the inner none is plain `=`.
fn assignment(text: &str) -> Option<Option<Binary>> {
    if text == "=" {
        return Some(None);
    }
    let operator = text.strip_suffix('=')?;
    let (operator, level) = binary(operator)?;
    (level >= 3 && !matches!(level, 6 | 7)).then_some(Some(operator))
}

impl Parser {
    /// An expression with commas.
    pub(super) fn expression(&mut self) -> Result<Expr, Diagnostic> {
        let mut left = self.assignment()?;
        let mut links = 0;
        while self.is(",") {
            self.descend()?;
            links += 1;
            let pos = self.next().pos;
            let right = self.assignment()?;
            left = at(pos, ExprKind::Comma(Box::new(left), Box::new(right)));
        }
        self.depth -= links;
        Ok(left)
    }

    /// An expression without commas.
    pub(super) fn assignment(&mut self) -> Result<Expr, Diagnostic> {
        self.descend()?;
        let target = self.conditional()?;
        let token = self.peek();
        let result = match assignment(&token.text).filter(|_| token.kind == Kind::Punct) {
            Some(operator) => {
                let pos = self.next().pos;
                let value = self.initialiser()?;
                at(pos, ExprKind::Assign(operator, Box::new(target), Box::new(value)))
            }
            None => target,
        };
        self.depth -= 1;
        Ok(result)
    }

    /// An assignment expression or a braced list.
    pub(super) fn initialiser(&mut self) -> Result<Expr, Diagnostic> {
        if self.is("{") {
            let pos = self.pos();
            Ok(at(pos, ExprKind::List(self.braced()?)))
        } else {
            self.assignment()
        }
    }

    /// The members of a braced list.
    pub(super) fn braced(&mut self) -> Result<Vec<Expr>, Diagnostic> {
        self.descend()?;
        self.expect("{")?;
        let outer = std::mem::replace(&mut self.in_arguments, false);
        let mut members = Vec::new();
        while !self.is("}") {
            if self.is(".") && self.ahead(1).is_name() && self.ahead(2).is("=") {
                return self.refuse("designated initialisers");
            }
            members.push(self.initialiser()?);
            if !self.eat(",") {
                break;
            }
        }
        self.in_arguments = outer;
        self.expect("}")?;
        self.depth -= 1;
        Ok(members)
    }

    pub(super) fn conditional(&mut self) -> Result<Expr, Diagnostic> {
        let condition = self.binary(0)?;
        if !self.is("?") {
            return Ok(condition);
        }
        self.descend()?;
        let pos = self.next().pos;
        let outer = std::mem::replace(&mut self.in_arguments, false);
        let yes = self.expression()?;
        self.in_arguments = outer;
        self.expect(":")?;
        let no = self.assignment()?;
        self.depth -= 1;
        Ok(at(pos, ExprKind::Conditional(Box::new(condition), Box::new(yes), Box::new(no))))
    }

    fn binary(&mut self, lowest: u8) -> Result<Expr, Diagnostic> {
        let mut left = self.unary()?;
        let mut links = 0;
        loop {
            let token = self.peek();
            if token.is("<<<") {
                return self.refuse("launching kernels from kernels");
            }
            let closes = self.in_arguments && (token.is(">") || token.is(">>"));
            let found = binary(&token.text).filter(|_| token.kind == Kind::Punct && !closes);
            let Some((operator, level)) = found.filter(|&(_, level)| level > lowest) else {
                break;
            };
            self.descend()?;
            links += 1;
            let pos = self.next().pos;
            let right = self.binary(level)?;
            left = at(pos, ExprKind::Binary(operator, Box::new(left), Box::new(right)));
        }
        self.depth -= links;
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr, Diagnostic> {
        self.descend()?;
        let result = self.unary_inner();
        self.depth -= 1;
        result
    }

    fn unary_inner(&mut self) -> Result<Expr, Diagnostic> {
        let token = self.peek().clone();
        let pos = token.pos;
        let operator = match &*token.text {
            _ if token.kind != Kind::Punct => None,
            "+" => Some(Unary::Plus),
            "-" => Some(Unary::Minus),
            "!" => Some(Unary::Not),
            "~" => Some(Unary::Complement),
            "&" => Some(Unary::Address),
            "*" => Some(Unary::Dereference),
            _ => None,
        };
        if let Some(operator) = operator {
            self.at += 1;
            let operand = self.unary()?;
            return Ok(at(pos, ExprKind::Unary(operator, Box::new(operand))));
        }
        if token.is("++") || token.is("--") {
            self.at += 1;
            let target = Box::new(self.unary()?);
            let up = token.is("++");
            return Ok(at(pos, ExprKind::Step { target, up, prefix: true }));
        }
        if token.is("sizeof") {
            return self.size(pos);
        }
        if token.is("(") && self.parenthesised_type() {
            return self.cast(pos);
        }
        self.postfix()
    }

    fn parenthesised_type(&mut self) -> bool {
        self.at += 1;
        let found = self.at_type();
        self.at -= 1;
        found
    }

    fn size(&mut self, pos: Pos) -> Result<Expr, Diagnostic> {
        self.at += 1;
        if self.is("(") && self.parenthesised_type() {
            self.at += 1;
            let ty = self.type_id()?;
            self.expect(")")?;
            return Ok(at(pos, ExprKind::SizeofType(Box::new(ty))));
        }
        let operand = self.unary()?;
        Ok(at(pos, ExprKind::SizeofExpr(Box::new(operand))))
    }

    fn cast(&mut self, pos: Pos) -> Result<Expr, Diagnostic> {
        let start = self.at;
        self.at += 1;
        let outer = std::mem::replace(&mut self.in_arguments, false);
        let ty = self.type_id();
        self.in_arguments = outer;
        // `(T(x))` and `(T::f(x))` are expressions in parentheses.
        let ty = match ty {
            Ok(ty) if self.is(")") => ty,
            _ => {
                self.at = start;
                return self.postfix();
            }
        };
        self.at += 1;
        if self.is("{") {
            let members = self.braced()?;
            return Ok(at(pos, ExprKind::Construct(Box::new(ty), members)));
        }
        let operand = self.unary()?;
        Ok(at(pos, ExprKind::Cast(CastKind::C, Box::new(ty), Box::new(operand))))
    }

    fn postfix(&mut self) -> Result<Expr, Diagnostic> {
        let mut value = self.primary()?;
        let mut links = 0;
        loop {
            let token = self.peek().clone();
            if token.kind != Kind::Punct {
                break;
            }
            self.descend()?;
            links += 1;
            let pos = token.pos;
            value = match &*token.text {
                "[" => {
                    self.at += 1;
                    let outer = std::mem::replace(&mut self.in_arguments, false);
                    let index = self.expression()?;
                    self.in_arguments = outer;
                    self.expect("]")?;
                    at(pos, ExprKind::Index(Box::new(value), Box::new(index)))
                }
                "(" => {
                    let arguments = self.arguments()?;
                    let pos = value.pos;
                    at(pos, ExprKind::Call(Box::new(value), arguments))
                }
                "." | "->" => {
                    self.at += 1;
                    let pos = self.pos();
                    let part = self.part()?;
                    at(
                        pos,
                        ExprKind::Member { object: Box::new(value), part, arrow: token.is("->") },
                    )
                }
                "++" | "--" => {
                    self.at += 1;
                    at(
                        pos,
                        ExprKind::Step {
                            target: Box::new(value),
                            up: token.is("++"),
                            prefix: false,
                        },
                    )
                }
                _ => {
                    links -= 1;
                    self.depth -= 1;
                    break;
                }
            };
        }
        self.depth -= links;
        Ok(value)
    }

    pub(super) fn arguments(&mut self) -> Result<Vec<Expr>, Diagnostic> {
        self.expect("(")?;
        let outer = std::mem::replace(&mut self.in_arguments, false);
        let mut arguments = Vec::new();
        while !self.is(")") {
            arguments.push(self.initialiser()?);
            if !self.eat(",") {
                break;
            }
        }
        self.in_arguments = outer;
        self.expect(")")?;
        Ok(arguments)
    }

    fn primary(&mut self) -> Result<Expr, Diagnostic> {
        let token = self.peek().clone();
        let pos = token.pos;
        let kind = match (token.kind, &*token.text) {
            (Kind::Number, _) => {
                self.at += 1;
                number(&token)?
            }
            (Kind::Char, _) => {
                self.at += 1;
                character(&token)?
            }
            (Kind::String, _) => {
                while self.peek().kind == Kind::String {
                    self.at += 1;
                }
                ExprKind::Text
            }
            (Kind::Punct, "(") => {
                self.at += 1;
                let outer = std::mem::replace(&mut self.in_arguments, false);
                let inner = self.expression()?;
                self.in_arguments = outer;
                self.expect(")")?;
                return Ok(inner);
            }
            (Kind::Punct, "[") => return self.refuse("lambdas"),
            (Kind::Name | Kind::Punct, _) => return self.primary_name(pos),
            (Kind::End, _) => {
                return Err(
                    pos.error(format!("expected an expression, found {}", token.describe()))
                );
            }
        };
        Ok(at(pos, kind))
    }

    fn primary_name(&mut self, pos: Pos) -> Result<Expr, Diagnostic> {
        let text = self.peek().text.clone();
        let keyword = match &*text {
            "true" => Some(ExprKind::Bool(true)),
            "false" => Some(ExprKind::Bool(false)),
            "nullptr" => Some(ExprKind::Null),
            "this" => Some(ExprKind::This),
            _ => None,
        };
        if let Some(kind) = keyword {
            self.at += 1;
            return Ok(at(pos, kind));
        }
        match &*text {
            "static_cast" | "reinterpret_cast" | "const_cast" => {
                self.at += 1;
                self.expect("<")?;
                let ty = self.type_id()?;
                self.expect(">")?;
                self.expect("(")?;
                let outer = std::mem::replace(&mut self.in_arguments, false);
                let operand = self.expression()?;
                self.in_arguments = outer;
                self.expect(")")?;
                let kind = match &*text {
                    "static_cast" => CastKind::Static,
                    "reinterpret_cast" => CastKind::Reinterpret,
                    _ => CastKind::Const,
                };
                return Ok(at(pos, ExprKind::Cast(kind, Box::new(ty), Box::new(operand))));
            }
            "new" | "delete" | "throw" | "try" | "asm" | "__asm__" | "goto" | "co_await"
            | "dynamic_cast" | "typeid" => return self.refuse(&format!("`{text}`")),
            _ => {}
        }
        if self.at_type() {
            return self.construct(pos);
        }
        if !self.peek().is_name() && !self.is("::") {
            let found = self.peek();
            return Err(found
                .pos
                .error(format!("expected an expression, found {}", found.describe())));
        }
        Ok(at(pos, ExprKind::Name(self.path()?)))
    }

    /// `T(x)`, `T{x}`, or a static member `T::name`.
    fn construct(&mut self, pos: Pos) -> Result<Expr, Diagnostic> {
        let specifiers = self.specifiers()?;
        let qualified = matches!(&specifiers.ty, TypeExpr::Named(path) if path.parts.len() > 1);
        if self.is("(") && !qualified {
            let arguments = self.arguments()?;
            return Ok(at(pos, ExprKind::Construct(Box::new(specifiers.ty), arguments)));
        }
        if self.is("{") {
            let members = self.braced()?;
            return Ok(at(pos, ExprKind::Construct(Box::new(specifiers.ty), members)));
        }
        match specifiers.ty {
            TypeExpr::Named(path) => Ok(at(pos, ExprKind::Name(path))),
            _ => {
                let found = self.peek();
                if found.is(",") || found.is(">") {
                    return Err(pos
                        .error("a type where a value is needed")
                        .with_help("a template that is not known is read as a comparison"));
                }
                Err(found.pos.error(format!(
                    "expected an expression, found {} behind a type",
                    found.describe()
                )))
            }
        }
    }
}

pub(super) fn at(pos: Pos, kind: ExprKind) -> Expr {
    Expr { kind, pos }
}
