//! Hexadecimal floating-point literals: all their digits count, and are rounded once.

/// The value of a literal in small letters, without its suffix: digits with or without a point, and
/// an exponent of two, which C++ demands. `single` rounds it to an `f32`, else to an `f64`; to
/// nearest, ties to even. `None` if it is no such literal.
pub(super) fn hex_float(text: &str, single: bool) -> Option<f64> {
    let (digits, exponent) = text.strip_prefix("0x")?.split_once('p')?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let sign = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if sign.is_empty() || !sign.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // Beyond this far everything is 0 or infinite, however many digits a source can have.
    let far = 1i64 << 40;
    let magnitude = sign.parse::<i64>().map_or(far, |value| value.min(far));
    let mut exponent = if exponent.starts_with('-') { -magnitude } else { magnitude };
    let mut mantissa = 0u128;
    for (place, digit) in whole.chars().chain(fraction.chars()).enumerate() {
        let digit = u128::from(digit.to_digit(16)?);
        let behind_point = place >= whole.len();
        if mantissa >> 120 == 0 {
            mantissa = mantissa << 4 | digit;
            exponent -= if behind_point { 4 } else { 0 };
        } else {
            // Only whether it is 0 still counts.
            mantissa |= u128::from(digit != 0);
            exponent += if behind_point { 0 } else { 4 };
        }
    }
    Some(rounded(mantissa, exponent, single))
}

/// `mantissa` times two to the `exponent`.
fn rounded(mantissa: u128, exponent: i64, single: bool) -> f64 {
    // Bits of a significand, the exponents of the least unit and of what is too large.
    let (bits, least, most) = if single { (24, -149, 128) } else { (53, -1074, 1024) };
    let length = i64::from(128 - mantissa.leading_zeros());
    if mantissa == 0 || length + exponent < least {
        return 0.0;
    }
    if length + exponent > most {
        return f64::INFINITY;
    }
    let unit = (length + exponent - bits).max(least);
    let shift = unit - exponent;
    let units = if shift <= 0 {
        mantissa << -shift
    } else {
        let (kept, rest) = (mantissa.checked_shr(shift as u32).unwrap_or(0), shift as u32);
        let half = 1u128 << (rest - 1);
        let lost = if rest < 128 { mantissa & ((1 << rest) - 1) } else { mantissa };
        kept + u128::from(lost > half || (lost == half && kept % 2 == 1))
    };
    // In two steps, each exact: two to the least unit's exponent is no number that is normal.
    let value = units as f64 * power(unit / 2) * power(unit - unit / 2);
    if single { f64::from(value as f32) } else { value }
}

fn power(exponent: i64) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_rounded_once() {
        let double = |text: &str| hex_float(text, false).unwrap();
        let single = |text: &str| hex_float(text, true).unwrap();
        assert_eq!((double("0x1.8p3"), double("0x.8p-2"), double("0xap0")), (12.0, 0.125, 10.0));
        assert_eq!((double("0x1.p+4"), double("0x0p9999"), double("0x10p-4")), (16.0, 0.0, 1.0));
        assert_eq!(double("0x1.fffffffffffffp1023"), f64::MAX);
        assert_eq!(single("0x1.fffffep127"), f64::from(f32::MAX));
        assert_eq!(double("0x1.fffffffffffff8p1023"), f64::INFINITY);
        assert_eq!(single("0x1.ffffffp127"), f64::INFINITY);
        assert_eq!(double("0x1p99999999999999999999"), f64::INFINITY);
        assert_eq!(double("0x1p-99999999999999999999"), 0.0);
        // Halfway: to even, unless a digit follows, however far behind.
        let above = 1.0 + f64::from(f32::EPSILON);
        assert_eq!(single("0x1.000001p0"), 1.0);
        assert_eq!(single("0x1.000001000000000000000000000000000000000001p0"), above);
        assert_eq!(single("0x1.000003p0"), 1.0 + 2.0 * f64::from(f32::EPSILON));
        assert_eq!(double("0x1000000000000080000000000000000000000000000p-168"), 1.0);
        // Subnormal numbers have fewer digits.
        let (tiny, tiniest) = (f64::from(f32::from_bits(1)), f64::from_bits(1));
        assert_eq!((single("0x1p-149"), single("0x1p-150")), (tiny, 0.0));
        assert_eq!((single("0x1.8p-150"), single("0x3p-150")), (tiny, 2.0 * tiny));
        assert_eq!((double("0x1p-1074"), double("0x1p-1075")), (tiniest, 0.0));
        assert_eq!((double("0x1.8p-1075"), double("0x3p-1075")), (tiniest, 2.0 * tiniest));
    }

    #[test]
    fn numbers_are_what_their_bits_say() {
        let mut state = 1u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            let value = f64::from_bits(state & !(1 << 63));
            if !value.is_finite() {
                continue;
            }
            let (bits, field) = (value.to_bits() & ((1 << 52) - 1), value.to_bits() >> 52);
            let text = format!("0x{}.{bits:013x}p{}", field.min(1), field.max(1) as i64 - 1023);
            assert_eq!(hex_float(&text, false).map(f64::to_bits), Some(value.to_bits()), "{text}");
            let narrow = f64::from(value as f32);
            assert_eq!(hex_float(&text, true).map(f64::to_bits), Some(narrow.to_bits()), "{text}");
        }
    }

    #[test]
    fn what_is_none_is_told() {
        for text in
            ["0x1.8", "0xp1", "0x.p1", "0x1p", "0x1p+", "0x1pf", "0x1g.p1", "1.8p1", "0x1.8p1.0"]
        {
            assert_eq!(hex_float(text, false), None, "{text}");
        }
    }
}
