//! Whether what a lesson gave is the scan that its header declares.
//!
//! The reference is the scan from left to right, and all must be equal to it that has one value in
//! whatever order it is combined: integers, extremes, and sums of floats that are exact. Other sums
//! and products of floats may differ from it by what an order can make of rounding, as
//! [`Expectation::compare`] has it.

use crate::expect::{Expectation, Mismatch};
use crate::{Number, ScalarType, Values};

use super::{Kind, Operator};

/// What a comparison with the reference found.
#[derive(Clone, Debug, PartialEq)]
pub enum Check {
    /// The scan.
    Right,
    /// Another result: the first element that differs, and how many do.
    Wrong(Box<Mismatch>),
    /// A result that differs from the reference, on an input on which orders of combination may
    /// differ by any amount, for this reason.
    Undetermined(&'static str),
}

impl Operator {
    /// Compares what a lesson gave for `input` with the scan of this kind.
    pub fn check(&self, input: &Values, result: &Values, kind: Kind) -> Check {
        let exclusive = kind == Kind::Exclusive;
        let expected = self.scan(input, exclusive);
        let tolerances = self.tolerances(input, exclusive);
        let mut first = None;
        let mut count = 0;
        for (i, expected) in expected.iter().enumerate() {
            let found = result.get(i).unwrap_or(Number::Bool(false));
            let tolerance = tolerances.get(i);
            let near = |&(value, off): &(f64, f64)| (found.to_f64() - value).abs() <= off;
            if !same(found, expected) && !tolerance.is_some_and(near) {
                count += 1;
                let tolerance = tolerance.map_or(0.0, |&(_, off)| off);
                first.get_or_insert(Mismatch { index: i, found, expected, tolerance, count: 0 });
            }
        }
        match (first, self.undetermined(input)) {
            (None, _) => Check::Right,
            (Some(_), Some(reason)) => Check::Undetermined(reason),
            (Some(first), None) => Check::Wrong(Box::new(Mismatch { count, ..first })),
        }
    }

    fn is_float(&self) -> bool {
        matches!(self.element, ScalarType::F32 | ScalarType::F64)
    }

    /// The values in double precision and how far off they may be, where the order of combination
    /// is seen in the result.
    fn tolerances(&self, input: &Values, exclusive: bool) -> Vec<(f64, f64)> {
        let rounds = match self.name {
            "sum" => !self.sums_are_exact(input),
            "product" => true,
            _ => false,
        };
        if !(self.is_float() && rounds) {
            return Vec::new();
        }
        let expectation = Expectation::of_floats(self.name == "product", !exclusive);
        expectation.floats(input, self.element).collect()
    }

    /// Whether no sum of some of the elements is rounded: all are multiples of one unit, and
    /// together have no more units than a significand can count.
    fn sums_are_exact(&self, input: &Values) -> bool {
        let digits = if self.element == ScalarType::F32 { 24 } else { 53 };
        let unit = input.iter().map(|x| lowest_bit(x.to_f64())).fold(f64::INFINITY, f64::min);
        let size: f64 = input.iter().map(|x| x.to_f64().abs()).sum();
        size == 0.0 || size / unit <= 2_f64.powi(digits)
    }

    /// Why the result depends on the order of combination by more than rounding, if it may.
    fn undetermined(&self, input: &Values) -> Option<&'static str> {
        let (least, most) = match self.element {
            ScalarType::F32 => (f32::MIN_POSITIVE.into(), f32::MAX.into()),
            ScalarType::F64 => (f64::MIN_POSITIVE, f64::MAX),
            _ => return None,
        };
        let is_nan = |x: Number| x.to_f64().is_nan();
        // What is combined with NaN is NaN in any order.
        let sizes = || input.iter().filter(|&x| !is_nan(x)).map(|x| x.to_f64().abs());
        match self.name {
            "min" | "max" if input.iter().any(is_nan) => Some("NaN is neither less nor greater"),
            "sum" if sizes().sum::<f64>() > most => Some(OUT_OF_RANGE),
            "product" => {
                let high: f64 = sizes().filter(|&x| x > 1.0).product();
                let low: f64 = sizes().filter(|&x| x > 0.0 && x < 1.0).product();
                (high > most || low < least).then_some(OUT_OF_RANGE)
            }
            _ => None,
        }
    }
}

const OUT_OF_RANGE: &str = "some orders of combination leave the range of the floats";

/// Equal as numbers: zeros of either sign are, and so are values that are none.
fn same(a: Number, b: Number) -> bool {
    a == b || a.to_f64().is_nan() && b.to_f64().is_nan()
}

/// The value of the lowest bit that is set, infinite for zero.
fn lowest_bit(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return f64::INFINITY;
    }
    let bits = x.abs().to_bits();
    let below = f64::from_bits(bits & (bits - 1));
    // Without its lowest bit a power of two loses a bit of its exponent instead.
    if bits.trailing_zeros() < 52 { x.abs() - below } else { x.abs() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operator(name: &str, element: ScalarType) -> Operator {
        Operator::named(name, element).unwrap()
    }

    /// The check of a result that is right but for `change` at element 5.
    fn changed(name: &str, input: &Values, change: f64) -> Check {
        let operator = operator(name, input.ty());
        let right = operator.scan(input, false);
        let result = Values::from_numbers(input.ty(), right.len(), |i| {
            let number = right.get(i).unwrap();
            if i == 5 { Number::Double(number.to_f64() + change) } else { number }
        });
        operator.check(input, &result, Kind::Inclusive)
    }

    #[test]
    fn exact_sums_must_be_equal() {
        for element in [ScalarType::F32, ScalarType::F64, ScalarType::I32, ScalarType::U8] {
            let iota = Values::from_numbers(element, 1000, |i| Number::Int(i as i64));
            assert_eq!(changed("sum", &iota, 0.0), Check::Right, "{element:?}");
            let Check::Wrong(first) = changed("sum", &iota, 1.0) else { panic!("{element:?}") };
            assert_eq!((first.index, first.count, first.tolerance), (5, 1, 0.0), "{element:?}");
        }
    }

    #[test]
    fn other_sums_and_products_of_floats_may_be_rounded() {
        let tenths: Values = (1..1000).map(|i| i as f32 / 10.0).collect::<Vec<_>>().into();
        assert_eq!(changed("sum", &tenths, 1e-7), Check::Right);
        assert!(matches!(changed("sum", &tenths, 0.1), Check::Wrong(_)));
        let near_one: Values =
            (0..64).map(|i| 1.0 + f64::from(i) / 100.0).collect::<Vec<_>>().into();
        assert_eq!(changed("product", &near_one, 1e-16), Check::Right);
        assert!(matches!(changed("product", &near_one, 1e-6), Check::Wrong(_)));
    }

    #[test]
    fn what_depends_on_the_order_is_not_judged() {
        let factorials: Values = (0..64).map(|i| i as f32).collect::<Vec<_>>().into();
        assert_eq!(changed("product", &factorials, f64::NAN), Check::Undetermined(OUT_OF_RANGE));
        assert_eq!(changed("product", &factorials, 0.0), Check::Right);
        let large: Values = vec![3e38_f32; 8].into();
        assert_eq!(changed("sum", &large, f64::NAN), Check::Undetermined(OUT_OF_RANGE));
        let none: Values = vec![1.0, f64::NAN, 2.0, 3.0, 4.0, 5.0].into();
        assert!(matches!(changed("min", &none, 1.0), Check::Undetermined(_)));
        assert_eq!(changed("sum", &none, 1.0), Check::Right, "NaN stays");
        let sums = operator("sum", ScalarType::F64);
        let lost = sums.check(&none, &vec![1.0; 6].into(), Kind::Inclusive);
        assert!(matches!(lost, Check::Wrong(first) if (first.index, first.count) == (1, 5)));
        let wraps: Values = vec![200_u8; 8].into();
        assert!(matches!(changed("product", &wraps, 1.0), Check::Wrong(_)));
    }

    #[test]
    fn the_lowest_bit() {
        for (x, bit) in [(1.0, 1.0), (-6.0, 2.0), (0.75, 0.25), (1024.0, 1024.0), (-1025.0, 1.0)] {
            assert_eq!(lowest_bit(x), bit, "{x}");
        }
        assert_eq!((lowest_bit(0.0), lowest_bit(f64::NAN)), (f64::INFINITY, f64::INFINITY));
        assert_eq!(lowest_bit(f64::from_bits(1)), f64::from_bits(1));
    }
}
