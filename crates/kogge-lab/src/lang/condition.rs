//! The integer expressions of `#if`.

use super::token::{Kind, Pos, Token};
use crate::diagnostic::Diagnostic;

/// Deepest nesting of parentheses and unary operators.
const DEPTH: u32 = 64;

/// The value of a condition whose macros are expanded and whose `defined` are
/// replaced. Names that are left count as 0.
pub(super) fn evaluate(tokens: &[Token], at: Pos) -> Result<i64, Diagnostic> {
    let mut reader = Reader { tokens, at: 0, pos: at, depth: 0 };
    let value = reader.ternary()?;
    match reader.tokens.get(reader.at) {
        None => Ok(value),
        Some(t) => Err(t.pos.error(format!("{} ends no condition", t.describe()))),
    }
}

struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
    pos: Pos,
    depth: u32,
}

impl Reader<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", |t| &t.text)
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.peek() == text;
        self.at += usize::from(found);
        found
    }

    fn ternary(&mut self) -> Result<i64, Diagnostic> {
        let condition = self.binary(0)?;
        if !self.eat("?") {
            return Ok(condition);
        }
        let yes = self.ternary()?;
        if !self.eat(":") {
            return Err(self.pos.error("this `?` has no `:`"));
        }
        let no = self.ternary()?;
        Ok(if condition != 0 { yes } else { no })
    }

    fn binary(&mut self, lowest: u8) -> Result<i64, Diagnostic> {
        let mut left = self.unary()?;
        loop {
            let operator = self.peek().to_owned();
            let level = match &*operator {
                "||" => 1,
                "&&" => 2,
                "|" => 3,
                "^" => 4,
                "&" => 5,
                "==" | "!=" => 6,
                "<" | ">" | "<=" | ">=" => 7,
                "<<" | ">>" => 8,
                "+" | "-" => 9,
                "*" | "/" | "%" => 10,
                _ => return Ok(left),
            };
            if level <= lowest {
                return Ok(left);
            }
            self.at += 1;
            let right = self.binary(level)?;
            left = apply(&operator, left, right)
                .ok_or_else(|| self.pos.error("this condition divides by zero"))?;
        }
    }

    fn unary(&mut self) -> Result<i64, Diagnostic> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.pos.error("this condition is nested too deeply"));
        }
        let value = self.unary_inner();
        self.depth -= 1;
        value
    }

    fn unary_inner(&mut self) -> Result<i64, Diagnostic> {
        let Some(token) = self.tokens.get(self.at) else {
            return Err(self.pos.error("this condition ends too early"));
        };
        self.at += 1;
        match (&*token.text, token.kind) {
            ("!", _) => Ok(i64::from(self.unary()? == 0)),
            ("-", _) => Ok(self.unary()?.wrapping_neg()),
            ("+", _) => self.unary(),
            ("~", _) => Ok(!self.unary()?),
            ("(", _) => {
                let value = self.ternary()?;
                if self.eat(")") {
                    Ok(value)
                } else {
                    Err(token.pos.error("this parenthesis is not closed"))
                }
            }
            ("true", _) => Ok(1),
            (_, Kind::Name) => Ok(0),
            (text, Kind::Number) => {
                integer(text).ok_or_else(|| token.pos.error(format!("`{text}` is no integer")))
            }
            _ => {
                Err(token.pos.error(format!("{} has no meaning in a condition", token.describe())))
            }
        }
    }
}

fn integer(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']).replace('\'', "");
    let value = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16),
        None if digits.len() > 1 && digits.starts_with('0') => u64::from_str_radix(&digits, 8),
        None => digits.parse(),
    };
    value.ok().map(|x| x as i64)
}

fn apply(operator: &str, a: i64, b: i64) -> Option<i64> {
    Some(match operator {
        "||" => i64::from(a != 0 || b != 0),
        "&&" => i64::from(a != 0 && b != 0),
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "==" => i64::from(a == b),
        "!=" => i64::from(a != b),
        "<" => i64::from(a < b),
        ">" => i64::from(a > b),
        "<=" => i64::from(a <= b),
        ">=" => i64::from(a >= b),
        "<<" => a.wrapping_shl(b as u32),
        ">>" => a.wrapping_shr(b as u32),
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        // Short-circuited operands are evaluated too, so a division by zero
        // behind `&&` is refused where a compiler would skip it.
        "/" if b != 0 => a.wrapping_div(b),
        "%" if b != 0 => a.wrapping_rem(b),
        _ => return None,
    })
}
