//! Values of literals.

use crate::diagnostic::Diagnostic;
use crate::lang::ast::ExprKind;
use crate::lang::parse::hex_float::hex_float;
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
        // An `f` among the digits is one of them.
        let single = lower.contains('p') && lower.ends_with('f');
        let suffix = if single { 'f' } else { 'l' };
        let digits = lower.strip_suffix(suffix).unwrap_or(&lower);
        let ty = if single { ScalarType::F32 } else { ScalarType::F64 };
        let value = hex_float(digits, single).ok_or_else(wrong)?;
        return Ok(ExprKind::Float(value, ty));
    }
    if floating {
        let single = lower.ends_with('f');
        let digits = lower.strip_suffix(['f', 'l']).unwrap_or(&lower);
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
    // One `u`, one `l` or `ll` of one case, or one `z`.
    let once = ["", "u", "l", "ll", "ul", "ull", "lu", "llu", "z", "uz", "zu"].contains(&suffix);
    if !once || text.contains("lL") || text.contains("Ll") {
        return Err(wrong());
    }
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
    let text = token.text.strip_prefix('\'').and_then(|t| t.strip_suffix('\''));
    match text.and_then(character_value) {
        Some(c) => Ok(ExprKind::Integer(c as i8 as u64, ScalarType::I8)),
        None => Err(token.pos.error(format!("{} is no character", token.text))),
    }
}

/// The value of what stands between the quotes.
fn character_value(inner: &str) -> Option<u8> {
    let Some(escape) = inner.strip_prefix('\\') else {
        return inner.parse::<char>().ok().filter(char::is_ascii).map(|c| c as u8);
    };
    let octal = escape.len() <= 3 && escape.starts_with(|c: char| c.is_digit(8));
    Some(match escape {
        "n" => b'\n',
        "t" => b'\t',
        "r" => b'\r',
        "a" => 7,
        "b" => 8,
        "v" => 11,
        "f" => 12,
        "\\" | "'" | "\"" | "?" => escape.as_bytes()[0],
        _ if octal => u8::from_str_radix(escape, 8).ok()?,
        _ => u8::from_str_radix(escape.strip_prefix('x')?, 16).ok()?,
    })
}
