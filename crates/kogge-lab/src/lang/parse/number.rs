//! Values of literals.

use crate::diagnostic::Diagnostic;
use crate::lang::ast::ExprKind;
use crate::lang::token::Token;
use crate::value::ScalarType;

/// The value of a number and its type, by C's rules for suffixes and sizes.
pub(super) fn number(token: &Token) -> Result<ExprKind, Diagnostic> {
    let text = token.text.replace('\'', "");
    let lower = text.to_ascii_lowercase();
    let hexadecimal = lower.starts_with("0x");
    let floating = !hexadecimal && lower.contains(['.', 'e']);
    let wrong = || token.pos.error(format!("`{}` is no number", token.text));
    if hexadecimal && lower.contains(['.', 'p']) {
        return Err(token.pos.error("hexadecimal floating-point literals: outside the language"));
    }
    if floating {
        let single = lower.ends_with('f');
        let digits = lower.trim_end_matches(['f', 'l']);
        let ty = if single { ScalarType::F32 } else { ScalarType::F64 };
        let value = if single {
            f64::from(digits.parse::<f32>().map_err(|_| wrong())?)
        } else {
            digits.parse().map_err(|_| wrong())?
        };
        return Ok(ExprKind::Float(value, ty));
    }
    let digits = lower.trim_end_matches(['u', 'l', 'z']);
    let suffix = &lower[digits.len()..];
    let (base, digits) = if let Some(rest) = digits.strip_prefix("0x") {
        (16, rest)
    } else if let Some(rest) = digits.strip_prefix("0b") {
        (2, rest)
    } else if digits.len() > 1 && digits.starts_with('0') {
        (8, &digits[1..])
    } else {
        (10, digits)
    };
    let value = u64::from_str_radix(digits, base).map_err(|_| wrong())?;
    let long = suffix.contains('l') || suffix.contains('z');
    let unsigned = suffix.contains('u');
    let ty = match value {
        v if !long && !unsigned && v <= i32::MAX as u64 => ScalarType::I32,
        v if !long && (unsigned || base != 10) && v <= u64::from(u32::MAX) => ScalarType::U32,
        v if !unsigned && v <= i64::MAX as u64 => ScalarType::I64,
        _ => ScalarType::U64,
    };
    Ok(ExprKind::Integer(value, ty))
}

/// The value of a character literal.
pub(super) fn character(token: &Token) -> Result<ExprKind, Diagnostic> {
    let inner: Vec<char> = token.text.trim_matches('\'').chars().collect();
    let value = match inner[..] {
        ['\\', 'n'] => Some('\n'),
        ['\\', 't'] => Some('\t'),
        ['\\', '0'] => Some('\0'),
        ['\\', c] => Some(c),
        [c] => Some(c),
        _ => None,
    };
    match value {
        Some(c) if c.is_ascii() => Ok(ExprKind::Integer(u64::from(u32::from(c)), ScalarType::I8)),
        _ => Err(token.pos.error(format!("{} is no character", token.text))),
    }
}
