//! Every built-in operator is a monoid on the values that hurt.

use super::*;
use crate::{Element, Operator};
use std::fmt::Debug;

/// Checks identity and associativity on all triples, comparing bytes.
fn monoid<A: Element + Debug, O: Operator<A>>(operator: &O, values: &[A]) {
    let bytes = |value: A| bytemuck::bytes_of(&value).to_vec();
    let identity = operator.identity();
    for &x in values {
        assert_eq!(bytes(operator.combine(identity, x)), bytes(x), "identity ∘ {x:?}");
        assert_eq!(bytes(operator.combine(x, identity)), bytes(x), "{x:?} ∘ identity");
        for &y in values {
            for &z in values {
                let left = operator.combine(operator.combine(x, y), z);
                let right = operator.combine(x, operator.combine(y, z));
                assert_eq!(bytes(left), bytes(right), "({x:?} ∘ {y:?}) ∘ {z:?}");
            }
        }
    }
}

const NUMBERS: [f32; 8] =
    [0.0, -0.0, 1.5, -2.25, f32::INFINITY, f32::NEG_INFINITY, f32::MIN_POSITIVE / 2.0, f32::MAX];
const INTEGERS: [i8; 7] = [0, 1, -1, 7, -100, i8::MIN, i8::MAX];

fn with_nans() -> Vec<f32> {
    let mut values = NUMBERS.to_vec();
    values.extend([f32::from_bits(0x7fc0_0001), f32::from_bits(0xffc0_0002)]);
    values
}

#[test]
fn any_operator_starts_anew_at_marked_elements() {
    let maps = [(1, 0), (2, -1), (-3, 7), (i32::MIN, 5)].map(|(a, b)| Affine { a, b });
    let both = maps.into_iter().flat_map(|map| [marked(map, false), marked(map, true)]);
    let pairs: Vec<_> = both.collect();
    monoid(&Segmented(Compose), &pairs);
    // Any byte sets the flag.
    let [first, second] = [maps[1], maps[2]];
    for byte in 0..8 {
        let mut flag = Affine { a: 0, b: 0 };
        bytemuck::bytes_of_mut(&mut flag)[byte] = 1;
        let joined = Segmented(Compose).combine(marked(first, false), [second, flag]);
        assert_eq!(joined, [second, flag]);
    }
    let joined = Segmented(Compose).combine(marked(first, true), marked(second, false));
    assert_eq!(joined, marked(Compose.combine(first, second), true));
}

#[test]
fn integer_operators_wrap_and_associate() {
    monoid(&Sum, &INTEGERS);
    monoid(&Product, &INTEGERS);
    monoid(&Min, &INTEGERS);
    monoid(&Max, &INTEGERS);
    monoid(&BitAnd, &INTEGERS);
    monoid(&BitOr, &INTEGERS);
    monoid(&BitXor, &INTEGERS);
    assert_eq!(Operator::<u8>::combine(&Sum, 200, 100), 44);
    assert_eq!(Operator::<u8>::combine(&Product, 16, 17), 16);
}

#[test]
fn truth_values() {
    monoid(&All, &[0u8, 1]);
    monoid(&Any, &[0u8, 1]);
    assert_eq!(Operator::<u8>::combine(&All, 4, 2), 1);
    assert_eq!(Operator::<u8>::combine(&Any, 4, 0), 1);
}

#[test]
fn minimum_and_maximum_propagate_the_first_nan_and_order_zeros() {
    monoid(&Min, &with_nans());
    monoid(&Max, &with_nans());
    let min = |x: f32, y: f32| Min.combine(x, y).to_bits();
    let max = |x: f32, y: f32| Max.combine(x, y).to_bits();
    assert_eq!(min(0.0, -0.0), (-0.0f32).to_bits());
    assert_eq!(max(-0.0, 0.0), 0.0f32.to_bits());
    let nan = f32::from_bits(0x7fc0_0001);
    assert_eq!(min(1.0, nan), nan.to_bits());
    assert_eq!(max(nan, f32::from_bits(0xffc0_0002)), nan.to_bits());
}

#[test]
fn float_sum_has_an_exact_identity() {
    for x in NUMBERS {
        let identity = Operator::<f32>::identity(&Sum);
        assert_eq!((identity + x).to_bits(), x.to_bits());
        assert_eq!((x + identity).to_bits(), x.to_bits());
    }
}

#[test]
fn compositions_associate_without_commuting() {
    let maps = [(1, 0), (2, 3), (-1, 7), (0, 5)].map(|(a, b)| Affine::<i32> { a, b });
    monoid(&Compose, &maps);
    let (double, increment) = (Affine { a: 2, b: 0 }, Affine { a: 1, b: 1 });
    assert_eq!(Compose.combine(double, increment), Affine { a: 2, b: 1 });
    assert_eq!(Compose.combine(increment, double), Affine { a: 2, b: 2 });

    let matrices = [[1, 0, 0, 1], [1, 1, 1, 0], [2, -3, 5, 7], [0, 1, 0, 0]]
        .map(|[m00, m01, m10, m11]| Matrix2::<i32> { m00, m01, m10, m11 });
    monoid(&MatMul, &matrices);
    assert_ne!(MatMul.combine(matrices[1], matrices[2]), MatMul.combine(matrices[2], matrices[1]));
}

#[test]
fn fibonacci_by_matrices() {
    let step = Matrix2::<u64> { m00: 1, m01: 1, m10: 1, m11: 0 };
    let power = (1..90).fold(step, |product, _| MatMul.combine(product, step));
    assert_eq!(power.m01, 2_880_067_194_370_816_120);
}

#[test]
fn last_valid_fills_forward() {
    let values = [f32::NAN, 1.0, -0.0, 7.5];
    monoid(&LastValid, &values);
    monoid(&LastValid, &[(0i16, false), (3, true), (4, true)].map(|(v, f)| Flagged::new(v, f)));
    assert_eq!(LastValid.combine(1.0, f32::NAN), 1.0);
}

#[test]
fn arg_extremes_keep_the_first_place() {
    let mut values: Vec<_> =
        with_nans().into_iter().zip(0..).map(|(v, i)| Indexed::new(v, i)).collect();
    values.extend(with_nans().into_iter().zip(10..).map(|(v, i)| Indexed::new(v, i)));
    monoid_up_to_identity(&ArgMin, &values);
    monoid_up_to_identity(&ArgMax, &values);
    let (early, late) = (Indexed::new(5i64, 1), Indexed::new(5, 2));
    assert_eq!(ArgMin.combine(late, early), early);
    assert_eq!(ArgMax.combine(early, late), early);
    assert_eq!(ArgMax.combine(Indexed::new(-1, 0), late), late);
}

/// All values here have indices below `u64::MAX`, so the identity loses every tie.
fn monoid_up_to_identity(operator: &impl Operator<Indexed<f32>>, values: &[Indexed<f32>]) {
    monoid(operator, values);
}

#[test]
fn segments_start_at_flags() {
    let pairs = [(1i32, false), (2, true), (-3, false), (4, true)].map(|(v, f)| Flagged::new(v, f));
    monoid(&Segmented(Sum), &pairs);
    let total = pairs.into_iter().reduce(|l, r| Segmented(Sum).combine(l, r)).unwrap();
    assert_eq!(total, Flagged::new(4, true));
    let within = Segmented(Sum).combine(pairs[1], pairs[2]);
    assert_eq!(within, Flagged::new(-1, true));
}

#[test]
fn log_add_exp_keeps_its_range() {
    let add = |x: f64, y: f64| LogAddExp.combine(x, y);
    assert_eq!(add(1000.0, 1000.0), 1000.0 + libm::log1p(1.0));
    assert_eq!(add(f64::NEG_INFINITY, -3.0), -3.0);
    assert_eq!(add(f64::INFINITY, f64::NEG_INFINITY), f64::INFINITY);
    assert_eq!(add(f64::INFINITY, f64::INFINITY), f64::INFINITY);
    assert_eq!(add(f64::NEG_INFINITY, f64::NEG_INFINITY), f64::NEG_INFINITY);
    for (x, y) in [(f64::NAN, 1.0), (1.0, f64::NAN), (f64::INFINITY, f64::NAN)] {
        assert!(add(x, y).is_nan() && add(y, x).is_nan());
    }
    assert!(add(f64::NAN, f64::NEG_INFINITY).is_nan());
}
