//! Whether an operator keeps its promises: a search for a counterexample.

use kogge_core::device::DeviceType;
use kogge_core::device::ir::{Scalar, Type, Value};
use kogge_core::{Element, Operator, bytemuck};
use std::fmt;

/// Triples of random elements that [`check_operator`] tries.
const TRIPLES: usize = 20_000;

/// Rounding errors that associativity may cost, in units in the last place of the largest number
/// involved.
const ULPS: f64 = 64.0;

/// Which promise an operator breaks.
///
/// ```
/// use kogge::{Law, check_operator_on, from_fn};
///
/// let mean = from_fn(0.0, |left: f64, right: f64| (left + right) / 2.0);
/// assert_eq!(check_operator_on(&mean, &[0.0, 1.0]).unwrap_err().law, Law::Associativity);
/// let first = from_fn(0, |left: i32, _right: i32| left);
/// assert_eq!(check_operator_on(&first, &[0, 1]).unwrap_err().law, Law::LeftIdentity);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// `(a ∘ b) ∘ c = a ∘ (b ∘ c)`
    Associativity,
    /// `identity ∘ a = a`
    LeftIdentity,
    /// `a ∘ identity = a`
    RightIdentity,
}

/// Elements for which an operator breaks its promise.
///
/// ```
/// use kogge::{check_operator_on, from_fn};
///
/// let last = from_fn(0, |_left: i32, right: i32| right);
/// let found = check_operator_on(&last, &[0, 7]).unwrap_err();
/// assert_eq!((found.operands[0], found.left, found.right), (7, 0, 7));
/// assert_eq!(found.to_string(), "no identity: 7 ∘ identity is 0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counterexample<A> {
    /// The promise.
    pub law: Law,
    /// a, b and c; only a matters to an identity.
    pub operands: [A; 3],
    /// What the left side of the law gives.
    pub left: A,
    /// What its right side gives.
    pub right: A,
}

impl<A: fmt::Debug> fmt::Display for Counterexample<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operands: [a, b, c], left, right, .. } = self;
        match self.law {
            Law::Associativity => write!(
                f,
                "not associative: with a = {a:?}, b = {b:?}, c = {c:?}, \
                 (a ∘ b) ∘ c is {left:?}, but a ∘ (b ∘ c) is {right:?}"
            ),
            Law::LeftIdentity => write!(f, "no identity: identity ∘ {a:?} is {left:?}"),
            Law::RightIdentity => write!(f, "no identity: {a:?} ∘ identity is {left:?}"),
        }
    }
}

impl<A: fmt::Debug> std::error::Error for Counterexample<A> {}

/// Tests associativity and identity of an operator on small, special and random elements.
///
/// Integers must agree exactly. Floats may differ by 64 units in the last place of the largest
/// float among the operands and the values in between, because rounding isn't associative; those of
/// an operator that is [`EXACT`](Operator::EXACT) must agree to the bit, but for the payload of a
/// NaN. Only such an operator is tried with infinities, NaN and numbers of any size; others get
/// floats from -1000 to 1000.
///
/// Every combination of fields is tried. If not all are meaningful elements, or need not obey the
/// laws, choose the elements yourself with [`check_operator_on`]. The elements are the same at
/// every run: 20,000 triples, beside all triples of a few small ones.
///
/// # Errors
///
/// The first counterexample; small elements are tried first.
///
/// ```
/// use kogge::{check_operator, from_fn, ops::Sum};
///
/// check_operator::<i32, _>(&Sum)?;
/// check_operator::<f32, _>(&Sum)?;
///
/// let difference = from_fn(0, |left: i32, right: i32| left.wrapping_sub(right));
/// let counterexample = check_operator(&difference).unwrap_err();
/// assert_eq!(counterexample.law, kogge::Law::LeftIdentity);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub fn check_operator<A, O>(operator: &O) -> Result<(), Counterexample<A>>
where
    A: Element + DeviceType,
    O: Operator<A>,
{
    let ty = A::device_type();
    let mut random = Random(0);
    let mut element = |wide| {
        let mut bytes = Vec::with_capacity(size_of::<A>());
        fill(&mut bytes, &ty, wide, &mut random);
        bytemuck::pod_read_unaligned::<A>(&bytes)
    };
    let small: Vec<A> = (0..12).map(|_| element(Width::Small)).collect();
    check_operator_on(operator, &small)?;
    let wide = if O::EXACT { Width::Any } else { Width::Moderate };
    let checker = Checker { operator };
    (0..TRIPLES).try_for_each(|_| checker.triple([element(wide), element(wide), element(wide)]))
}

/// Tests associativity and identity of an operator on all triples of these elements.
///
/// Floats are compared as by [`check_operator`]. Takes the cube of the number of elements.
///
/// # Errors
///
/// The first counterexample.
///
/// ```
/// use kogge::{check_operator_on, from_fn};
///
/// // 0 is the identity of the maximum only where nothing is below 0.
/// let highest = from_fn(0, |left: i32, right: i32| left.max(right));
/// assert!(check_operator_on(&highest, &[0, 1, 5]).is_ok());
/// assert!(check_operator_on(&highest, &[0, 1, -5]).is_err());
/// ```
pub fn check_operator_on<A, O>(operator: &O, elements: &[A]) -> Result<(), Counterexample<A>>
where
    A: Element + DeviceType,
    O: Operator<A>,
{
    let checker = Checker { operator };
    for &a in elements {
        for &b in elements {
            elements.iter().try_for_each(|&c| checker.triple([a, b, c]))?;
        }
    }
    Ok(())
}

struct Checker<'a, O> {
    operator: &'a O,
}

impl<O> Checker<'_, O> {
    fn triple<A>(&self, operands: [A; 3]) -> Result<(), Counterexample<A>>
    where
        A: Element + DeviceType,
        O: Operator<A>,
    {
        let [a, b, c] = operands;
        let identity = self.operator.identity();
        let combine = |left, right| self.operator.combine(left, right);
        let (first, last) = (combine(a, b), combine(b, c));
        let laws = [
            (Law::LeftIdentity, combine(identity, a), a, vec![a]),
            (Law::RightIdentity, combine(a, identity), a, vec![a]),
            (Law::Associativity, combine(first, c), combine(a, last), vec![a, b, c, first, last]),
        ];
        for (law, left, right, mut involved) in laws {
            involved.extend([left, right]);
            let tolerance = if O::EXACT { None } else { Some(Largest::of(&involved)) };
            if !agree(&A::device_type(), &left.device_value(), &right.device_value(), tolerance) {
                return Err(Counterexample { law, operands, left, right });
            }
        }
        Ok(())
    }
}

/// The largest finite magnitudes among the floats of some elements, of each width.
#[derive(Clone, Copy, Default)]
struct Largest {
    single: f64,
    double: f64,
}

impl Largest {
    fn of<A: DeviceType>(elements: &[A]) -> Self {
        let mut largest = Self::default();
        let ty = A::device_type();
        elements.iter().for_each(|element| largest.take(&ty, &element.device_value()));
        largest
    }

    fn take(&mut self, ty: &Type, value: &Value) {
        match (ty, value) {
            (Type::Scalar(Scalar::F32), Value::Scalar(bits)) => {
                let magnitude = f64::from(f32::from_bits(*bits as u32).abs());
                self.single =
                    if magnitude.is_finite() { self.single.max(magnitude) } else { self.single };
            }
            (Type::Scalar(Scalar::F64), Value::Scalar(bits)) => {
                let magnitude = f64::from_bits(*bits).abs();
                self.double =
                    if magnitude.is_finite() { self.double.max(magnitude) } else { self.double };
            }
            (Type::Array(element, _), Value::Parts(parts)) => {
                parts.iter().for_each(|part| self.take(element, part));
            }
            (Type::Struct(fields), Value::Parts(parts)) => {
                fields
                    .fields
                    .iter()
                    .zip(parts)
                    .for_each(|(field, part)| self.take(&field.ty, part));
            }
            _ => {}
        }
    }
}

/// Whether two values are the same; floats within the rounding of the largest, if one is given.
fn agree(ty: &Type, left: &Value, right: &Value, largest: Option<Largest>) -> bool {
    match (ty, left, right) {
        (Type::Array(element, _), Value::Parts(left), Value::Parts(right)) => {
            left.iter().zip(right).all(|(left, right)| agree(element, left, right, largest))
        }
        (Type::Struct(fields), Value::Parts(left), Value::Parts(right)) => {
            let values = fields.fields.iter().zip(left.iter().zip(right));
            let mut values = values.map(|(field, (left, right))| (&field.ty, left, right));
            values.all(|(ty, left, right)| agree(ty, left, right, largest))
        }
        (Type::Scalar(scalar), Value::Scalar(left), Value::Scalar(right)) => {
            left == right || floats_agree(*scalar, *left, *right, largest)
        }
        _ => false,
    }
}

fn floats_agree(scalar: Scalar, left: u64, right: u64, largest: Option<Largest>) -> bool {
    let single = |bits: u64| f64::from(f32::from_bits(bits as u32));
    let (left, right, bound) = match scalar {
        Scalar::F32 => (
            single(left),
            single(right),
            largest.map(|largest| largest.single * f64::from(f32::EPSILON) * ULPS),
        ),
        Scalar::F64 => (
            f64::from_bits(left),
            f64::from_bits(right),
            largest.map(|largest| largest.double * f64::EPSILON * ULPS),
        ),
        _ => return false,
    };
    let both_nan = left.is_nan() && right.is_nan();
    both_nan || bound.is_some_and(|bound| left == right || (left - right).abs() <= bound)
}

/// From which values random elements are made.
#[derive(Clone, Copy, PartialEq)]
enum Width {
    /// From -3 to 3.
    Small,
    /// Integers of any size; floats from -1000 to 1000.
    Moderate,
    /// Anything, infinities and NaN too.
    Any,
}

/// SplitMix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number generators", 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// The bytes of a random element of this type.
fn fill(bytes: &mut Vec<u8>, ty: &Type, width: Width, random: &mut Random) {
    match ty {
        Type::Scalar(scalar) => {
            let bits = match scalar {
                Scalar::F32 | Scalar::F64 => float(*scalar, width, random),
                _ if width == Width::Small => random.below(7).wrapping_sub(3),
                // Now and then small, else of any magnitude.
                _ => random.next() >> random.below(64),
            };
            bytes.extend_from_slice(&bits.to_le_bytes()[..ty.bytes()]);
        }
        Type::Array(element, len) => (0..*len).for_each(|_| fill(bytes, element, width, random)),
        Type::Struct(fields) => {
            fields.fields.iter().for_each(|field| fill(bytes, &field.ty, width, random));
        }
    }
}

/// The bits of a random float.
fn float(scalar: Scalar, width: Width, random: &mut Random) -> u64 {
    let fraction = (random.next() >> 40) as f64 / f64::from(1 << 23) - 1.0;
    let value = match (width, random.below(8)) {
        (Width::Small, _) => random.below(13) as f64 * 0.5 - 3.0,
        (Width::Any, 0) => return random.next() >> (64 - scalar.bits()),
        (Width::Any, 1) => {
            [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -0.0][random.below(4) as usize]
        }
        (_, 2) => random.below(7) as f64 - 3.0,
        _ => fraction * 1000.0,
    };
    match scalar {
        Scalar::F32 => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::from_fn;
    use kogge_core::ops::*;

    #[test]
    fn built_in_operators_pass() {
        check_operator::<i8, _>(&Sum).unwrap();
        check_operator::<f32, _>(&Sum).unwrap();
        check_operator::<f64, _>(&Product).unwrap();
        check_operator::<f32, _>(&Min).unwrap();
        check_operator::<f64, _>(&Max).unwrap();
        check_operator::<u64, _>(&BitXor).unwrap();
        check_operator::<Affine<f32>, _>(&Compose).unwrap();
        check_operator::<Affine<i64>, _>(&Compose).unwrap();
        check_operator::<Matrix2<f64>, _>(&MatMul).unwrap();
        check_operator::<Flagged<i16>, _>(&LastValid).unwrap_err();
        check_operator::<f32, _>(&LastValid).unwrap();
        check_operator::<f64, _>(&LogAddExp).unwrap();
    }

    #[test]
    fn counterexamples_are_real() {
        let halves = from_fn(0i32, |left: i32, right: i32| left.wrapping_add(right) / 2);
        let found = check_operator(&halves).unwrap_err();
        assert_eq!(found.law, Law::LeftIdentity);
        assert_ne!(found.left, found.right);

        let average = from_fn([0.0f32, 0.0], |l: [f32; 2], r: [f32; 2]| {
            [
                l[0] + r[0],
                if r == [0.0; 2] {
                    l[1]
                } else if l == [0.0; 2] {
                    r[1]
                } else {
                    (l[1] + r[1]) / 2.0
                },
            ]
        });
        let found = check_operator(&average).unwrap_err();
        assert_eq!(found.law, Law::Associativity);
        let [a, b, c] = found.operands;
        let combine = |l, r| average.combine(l, r);
        assert_eq!(found.left, combine(combine(a, b), c));
        assert_eq!(found.right, combine(a, combine(b, c)));
        assert!(found.to_string().contains("not associative"));
    }

    #[test]
    fn the_bound_is_relative_to_the_largest_number_involved() {
        let drift = |error: f32| {
            from_fn(
                0.0f32,
                move |l: f32, r: f32| {
                    if l == 0.0 || r == 0.0 { l + r } else { (l + r) * (1.0 + error) }
                },
            )
        };
        check_operator(&drift(f32::EPSILON)).unwrap();
        assert_eq!(check_operator(&drift(1e-3)).unwrap_err().law, Law::Associativity);
    }

    /// What says that it is exact is held to the bit.
    #[test]
    fn exact_operators_may_not_round() {
        struct Claimed;
        impl Operator<f64> for Claimed {
            const EXACT: bool = true;
            fn identity(&self) -> f64 {
                -0.0
            }
            fn combine(&self, left: f64, right: f64) -> f64 {
                left + right
            }
        }
        assert_eq!(check_operator(&Claimed).unwrap_err().law, Law::Associativity);
    }
}
