//! Numbers as text: read exactly, written as the shortest text that reads back as the same number.

use half::{bf16, f16};
use kogge::Accumulate;
use kogge_erased::{Dtype, with_type};
use std::cmp::Ordering;
use std::io::Write;
use std::str::FromStr;

/// A number that has a text.
pub trait Text: bytemuck::Pod {
    /// The number that a cell holds; `None` if it holds another thing or a number out of range.
    fn read(cell: &str) -> Option<Self>;
    /// Adds the shortest text that reads back as this number.
    fn write(self, out: &mut Vec<u8>);
}

macro_rules! integer_text {
    ($($type:ty),+) => {$(
        impl Text for $type {
            fn read(cell: &str) -> Option<Self> {
                cell.parse().ok()
            }
            fn write(self, out: &mut Vec<u8>) {
                write!(out, "{self}").expect("a vector takes every write");
            }
        }
    )+};
}

integer_text!(i8, i16, i32, i64, u8, u16, u32, u64);

/// A finite number too large for the type is refused, not taken for infinity.
fn read_float<F: FromStr + Copy>(cell: &str, is_infinite: impl Fn(F) -> bool) -> Option<F> {
    let number: F = cell.parse().ok()?;
    let says_infinity = cell.bytes().any(|byte| byte.eq_ignore_ascii_case(&b'n'));
    (!is_infinite(number) || says_infinity).then_some(number)
}

macro_rules! float_text {
    ($($type:ty),+) => {$(
        impl Text for $type {
            fn read(cell: &str) -> Option<Self> {
                read_float(cell, <$type>::is_infinite)
            }
            fn write(self, out: &mut Vec<u8>) {
                out.extend_from_slice(ryu::Buffer::new().format(self).as_bytes());
            }
        }
    )+};
}

float_text!(f32, f64);

macro_rules! half_text {
    ($($type:ty),+) => {$(
        impl Text for $type {
            fn read(cell: &str) -> Option<Self> {
                let wide = f64::read(cell)?;
                let narrow = <$type as Accumulate<f64>>::narrow;
                let (below, above) = (narrow(wide.next_down()), narrow(wide.next_up()));
                // In the middle between two halves the digits that `f64` has no room for decide.
                let half = match below == above || wide.is_nan() {
                    true => narrow(wide),
                    false => match compare_digits(cell, wide) {
                        Ordering::Less => narrow(wide.next_down()),
                        Ordering::Equal => narrow(wide),
                        Ordering::Greater => narrow(wide.next_up()),
                    },
                };
                (half.is_finite() || !wide.is_finite()).then_some(half)
            }
            fn write(self, out: &mut Vec<u8>) {
                // Five significant digits tell all values of 11 bits of mantissa apart.
                let wide = self.to_f64();
                let shortest = (0..5).find_map(|digits| {
                    let text = format!("{wide:.digits$e}");
                    (Self::read(&text)? == self).then(|| text.parse().ok())?
                });
                shortest.unwrap_or(wide).write(out);
            }
        }
    )+};
}

half_text!(f16, bf16);

/// How the number that a cell has digits of lies to the float nearest to it.
fn compare_digits(cell: &str, nearest: f64) -> Ordering {
    // No float that two halves meet at has more digits.
    let (cell, float) = (Digits::of(cell), Digits::of(&format!("{nearest:.200e}")));
    let magnitude = (cell.point, cell.digits).cmp(&(float.point, float.digits));
    if nearest < 0.0 { magnitude.reverse() } else { magnitude }
}

/// The digits of a number other than zero, without zeros at either end, and how many of them stand
/// before the point: numbers are ordered as these are.
struct Digits {
    point: i64,
    digits: Vec<u8>,
}

impl Digits {
    fn of(number: &str) -> Self {
        let number = number.trim_start_matches(['+', '-']);
        let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let first = all.iter().position(|&digit| digit != b'0').unwrap_or(0);
        let last = all.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last + 1);
        // Beyond all bounds the number is none that a half is near to.
        let exponent: i64 = exponent.parse().unwrap_or(0);
        let point = exponent.saturating_add(whole.len() as i64 - first as i64);
        Self { point, digits: all[first..last].to_vec() }
    }
}

/// The truth value that a cell holds.
pub fn read_bool(cell: &str) -> Option<bool> {
    let is = |word: &str| cell.eq_ignore_ascii_case(word);
    if is("true") || cell == "1" {
        Some(true)
    } else if is("false") || cell == "0" {
        Some(false)
    } else {
        None
    }
}

/// Reads a cell as an element of this type into `element`, which is as long as one.
#[must_use]
pub fn read_element(dtype: Dtype, cell: &str, element: &mut [u8]) -> bool {
    if dtype == Dtype::Bool {
        return read_bool(cell).map(|truth| element[0] = truth.into()).is_some();
    }
    with_type!(dtype, T => match T::read(cell) {
        Some(value) => {
            element.copy_from_slice(bytemuck::bytes_of(&value));
            true
        }
        None => false,
    })
}

/// Adds the text of one element, given as its bytes.
pub fn write_element(dtype: Dtype, element: &[u8], out: &mut Vec<u8>) {
    match dtype {
        Dtype::Bool => out.extend_from_slice(if element[0] != 0 { b"true" } else { b"false" }),
        _ => with_type!(dtype, T => bytemuck::pod_read_unaligned::<T>(element).write(out)),
    }
}

/// One element as JSON: a number, a truth value, or a string for what JSON has no number for.
pub fn json_element(dtype: Dtype, element: &[u8]) -> serde_json::Value {
    let mut text = Vec::new();
    write_element(dtype, element, &mut text);
    let text = String::from_utf8(text).expect("numbers are ASCII");
    serde_json::from_str(&text).unwrap_or(serde_json::Value::String(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round<T: Text + PartialEq + std::fmt::Debug>(value: T, text: &str) {
        let mut out = Vec::new();
        value.write(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), text);
        assert_eq!(T::read(text), Some(value));
    }

    #[test]
    fn shortest_and_back() {
        round(0.1f64, "0.1");
        round(0.1f32, "0.1");
        round(0.1 + 0.2, "0.30000000000000004");
        round(1e300, "1e300");
        round(-0.0f64, "-0.0");
        round(i64::MIN, "-9223372036854775808");
        round(f16::from_f32(0.1), "0.1");
        round(bf16::from_f32(3.15), "3.16");
        round(f64::NEG_INFINITY, "-inf");
        for bits in 0..=u16::MAX {
            let half = f16::from_bits(bits);
            let mut out = Vec::new();
            half.write(&mut out);
            let back = f16::read(std::str::from_utf8(&out).unwrap()).unwrap();
            assert!(back.to_bits() == bits || half.is_nan() && back.is_nan(), "{bits:#x}");
        }
    }

    #[test]
    fn halves_are_rounded_once() {
        let bits = |cell| f16::read(cell).map(f16::to_bits);
        for (cell, want) in [
            ("1.00048828125", 0x3c00),
            ("1.000488281250000000000000000001", 0x3c01),
            ("1.000488281249999999999999999999", 0x3c00),
            ("+001000.48828125000000000000000000001E-003", 0x3c01),
            ("-1.000488281250000000000000000001", 0xbc01),
            ("0.00146484375", 0x1600),
            ("1.00146484375", 0x3c02),
            ("1.00146484374999999999999999999", 0x3c01),
            ("2.98023223876953125e-8", 0),
            ("2.980232238769531250000000000001e-8", 1),
            ("65519.99999999999999999999", 0x7bff),
        ] {
            assert_eq!(bits(cell), Some(want), "{cell}");
        }
        assert_eq!(f16::read("65520"), None);
        assert_eq!(f16::read("-1e400"), None);
        assert_eq!(f16::read("-inf"), Some(f16::NEG_INFINITY));
        let bits = |cell| bf16::read(cell).map(bf16::to_bits);
        assert_eq!(bits("1.00390625"), Some(0x3f80));
        assert_eq!(bits("1.0039062500000000000000001"), Some(0x3f81));
        // Between zero and the least, where a float has the most digits.
        let middle = format!("{:.200e}", 2f64.powi(-134));
        assert_eq!(bits(&middle), Some(0));
        assert_eq!(bits(&middle.replace("0e", "1e")), Some(1));
    }

    #[test]
    fn refuses_what_does_not_fit() {
        assert_eq!(f64::read("1e999"), None);
        assert_eq!(f64::read("inf"), Some(f64::INFINITY));
        assert_eq!(f32::read("1e39"), None);
        assert_eq!(u8::read("256"), None);
        assert_eq!(i64::read("1.0"), None);
        assert_eq!(read_bool("True"), Some(true));
        assert_eq!(read_bool("yes"), None);
    }
}
