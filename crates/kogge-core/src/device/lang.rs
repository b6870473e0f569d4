//! The words of the operator language: what each arithmetic, comparison and function means.
//!
//! `#[operator]` and `#[device]` rewrite `a + b`, `a < b`, `x.sqrt()`, … into calls of these
//! functions, so the text below *is* the meaning, on every engine; `lang.cuh` and `wgsl/words.rs`
//! say the same in CUDA C++ and WGSL. They are total: no input panics, traps or is undefined.
//!
//! * Integers wrap around, in debug builds too.
//! * `x / 0` is `x`, `x % 0` is 0, `MIN / -1` is `MIN` (the rules of WGSL, section 8.7).
//! * Shift amounts are taken modulo the width, as Rust's `wrapping_shl` takes them.
//! * An index past the end of an array means its last element.
//! * Float arithmetic is IEEE 754, round to nearest even, one rounding per operation.
//! * `min` and `max` of floats are IEEE 754-2019 minimumNumber and maximumNumber: a number wins
//!   over NaN, and `-0.0 < 0.0`. That is Rust's `f32::min`, with its unspecified zero specified.
//! * `powi` multiplies in the fixed order of binary exponentiation; see [`powi`].
//! * `exp`, `ln`, `exp2`, `log2` are those of the `libm` crate here, so that every CPU gives the
//!   same bits; a GPU's own differ by the errors listed in [`device`](super).

use super::DeviceType;
use crate::OrderedNumber;

/// Values that `==` compares: the primitives of the language.
#[diagnostic::on_unimplemented(
    message = "an operator can't compare values of type `{Self}`",
    note = "compare numbers or `bool`: the fields one by one"
)]
pub trait Comparable: DeviceType + PartialEq {}

/// Values that `<` compares: the numbers, and `usize`.
#[diagnostic::on_unimplemented(
    message = "an operator can't order values of type `{Self}`",
    note = "compare numbers: the fields one by one"
)]
pub trait Ordered: Comparable + PartialOrd {}

/// Integers and floats.
#[diagnostic::on_unimplemented(
    message = "an operator can't calculate with `{Self}`",
    note = "calculate with numbers: the fields one by one; for an index, calculate in `u32` and cast at the `[]`"
)]
pub trait Arithmetic: Ordered {
    /// See [`add`].
    fn add(self, right: Self) -> Self;
    /// See [`sub`].
    fn sub(self, right: Self) -> Self;
    /// See [`mul`].
    fn mul(self, right: Self) -> Self;
    /// See [`div`].
    fn div(self, right: Self) -> Self;
    /// See [`min`].
    fn min(self, right: Self) -> Self;
    /// See [`max`].
    fn max(self, right: Self) -> Self;
}

/// Signed integers and floats.
#[diagnostic::on_unimplemented(
    message = "an operator can't negate `{Self}`",
    note = "negate signed integers or floats; for an unsigned integer write `x.wrapping_neg()`"
)]
pub trait Signed: Arithmetic {
    /// See [`neg`].
    fn neg(self) -> Self;
    /// See [`abs`].
    fn abs(self) -> Self;
}

/// Integers and `bool`.
#[diagnostic::on_unimplemented(
    message = "an operator can't take `{Self}` bit by bit",
    note = "`&`, `|`, `^` and `!` take integers or `bool`; for a float's bits write `x.to_bits()`"
)]
pub trait Bitwise: Comparable {
    /// See [`bit_and`].
    fn and(self, right: Self) -> Self;
    /// See [`bit_or`].
    fn or(self, right: Self) -> Self;
    /// See [`bit_xor`].
    fn xor(self, right: Self) -> Self;
    /// See [`not`].
    fn not(self) -> Self;
}

/// The eight integer types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an integer of the operator language",
    note = "`%`, shifts, `wrapping_*` and `saturating_*` take i8, i16, i32, i64, u8, u16, u32 or u64"
)]
pub trait Integer: OrderedNumber + Bitwise {
    /// Zero.
    const ZERO: Self;
    /// See [`rem`].
    fn rem(self, right: Self) -> Self;
    /// See [`wrapping_neg`].
    fn wrapping_neg(self) -> Self;
    /// See [`saturating_add`].
    fn saturating_add(self, right: Self) -> Self;
    /// See [`saturating_sub`].
    fn saturating_sub(self, right: Self) -> Self;
    /// See [`shl`].
    fn shl(self, amount: u32) -> Self;
    /// See [`shr`].
    fn shr(self, amount: u32) -> Self;
}

/// Integers as the amount of a shift.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the amount of a shift",
    note = "shift by an integer"
)]
pub trait ShiftAmount: Ordered {
    /// The low 32 bits, of which a shift uses at most six.
    fn amount(self) -> u32;
}

/// `f32` and `f64`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a float of the operator language",
    note = "`floor`, `sqrt`, `exp`, `ln`, `exp2`, `log2`, `powi`, `mul_add` and `to_bits` take f32 or f64"
)]
pub trait Float: OrderedNumber + Signed {
    /// The unsigned integer of the same width.
    type Bits: Integer;
    /// Not a number, quiet and positive.
    const NAN: Self;
    /// See [`floor`].
    fn floor(self) -> Self;
    /// See [`sqrt`].
    fn sqrt(self) -> Self;
    /// See [`exp`].
    fn exp(self) -> Self;
    /// See [`ln`].
    fn ln(self) -> Self;
    /// See [`exp2`].
    fn exp2(self) -> Self;
    /// See [`log2`].
    fn log2(self) -> Self;
    /// See [`mul_add`].
    fn mul_add(self, factor: Self, summand: Self) -> Self;
    /// See [`to_bits`].
    fn to_bits(self) -> Self::Bits;
}

/// What an array may be indexed with on every device: a loop's variable or an unsigned integer of
/// up to 32 bits.
#[diagnostic::on_unimplemented(
    message = "an operator can't cast `{Self}` to `usize`",
    note = "`usize` is for indices: cast a u8, u16 or u32, as in `table[(x as u32) as usize]`"
)]
pub trait Index: Comparable {
    /// The same number.
    fn index(self) -> usize;
}

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident<$bound:ident>($($argument:ident),+) -> $result:ty = $method:ident;)+) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name<T: $bound>($($argument: T),+) -> $result {
            words!(@call $method $($argument),+)
        }
    )+};
    (@call $method:ident $first:ident $(, $rest:ident)*) => { T::$method($first $(, $rest)*) };
}

words! {
    /// `left + right`; integers wrap.
    add<Arithmetic>(left, right) -> T = add;
    /// `left - right`; integers wrap.
    sub<Arithmetic>(left, right) -> T = sub;
    /// `left * right`; integers wrap.
    mul<Arithmetic>(left, right) -> T = mul;
    /// `left / right`; integers round toward zero, `x / 0` is `x`, and `MIN / -1` wraps to `MIN`.
    div<Arithmetic>(left, right) -> T = div;
    /// `left % right` of integers, with the sign of `left`; `x % 0` and `MIN % -1` are 0.
    rem<Integer>(left, right) -> T = rem;
    /// `-x`; `MIN` stays `MIN`.
    neg<Signed>(x) -> T = neg;
    /// `left & right`.
    bit_and<Bitwise>(left, right) -> T = and;
    /// `left | right`.
    bit_or<Bitwise>(left, right) -> T = or;
    /// `left ^ right`.
    bit_xor<Bitwise>(left, right) -> T = xor;
    /// `!x`.
    not<Bitwise>(x) -> T = not;
    /// `left.wrapping_add(right)`: `+` of integers.
    wrapping_add<Integer>(left, right) -> T = add;
    /// `left.wrapping_sub(right)`: `-` of integers.
    wrapping_sub<Integer>(left, right) -> T = sub;
    /// `left.wrapping_mul(right)`: `*` of integers.
    wrapping_mul<Integer>(left, right) -> T = mul;
    /// `x.wrapping_neg()`: `0 - x`, of unsigned integers too.
    wrapping_neg<Integer>(x) -> T = wrapping_neg;
    /// The sum, or the bound of the type that it passes.
    saturating_add<Integer>(left, right) -> T = saturating_add;
    /// The difference, or the bound of the type that it passes.
    saturating_sub<Integer>(left, right) -> T = saturating_sub;
    /// The smaller; for floats, a number wins over NaN, and `-0.0 < 0.0`.
    min<Arithmetic>(left, right) -> T = min;
    /// The larger; for floats, a number wins over NaN, and `-0.0 < 0.0`.
    max<Arithmetic>(left, right) -> T = max;
    /// The smaller in the order of the built-in operators: NaN wins, the left one first.
    minimum<OrderedNumber>(left, right) -> T = minimum;
    /// The larger in the order of the built-in operators: NaN wins, the left one first.
    maximum<OrderedNumber>(left, right) -> T = maximum;
    /// Whether `minimum` prefers `left`: it is smaller, or a NaN beside a number.
    precedes<OrderedNumber>(left, right) -> bool = precedes;
    /// Whether `maximum` prefers `left`: it is larger, or a NaN beside a number.
    exceeds<OrderedNumber>(left, right) -> bool = exceeds;
    /// The absolute value; `MIN` stays `MIN`, NaN loses its sign.
    abs<Signed>(x) -> T = abs;
    /// The next integer below or at `x`.
    floor<Float>(x) -> T = floor;
    /// The square root, rounded to nearest.
    sqrt<Float>(x) -> T = sqrt;
    /// eˣ.
    exp<Float>(x) -> T = exp;
    /// The natural logarithm.
    ln<Float>(x) -> T = ln;
    /// 2ˣ.
    exp2<Float>(x) -> T = exp2;
    /// The logarithm to base 2.
    log2<Float>(x) -> T = log2;
    /// `x · factor + summand`, rounded once.
    mul_add<Float>(x, factor, summand) -> T = mul_add;
    /// The bits as an unsigned integer.
    to_bits<Float>(x) -> T::Bits = to_bits;
}

macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident<$bound:ident> $operator:tt;)+) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name<T: $bound>(left: T, right: T) -> bool {
            left $operator right
        }
    )+};
}

comparisons! {
    /// `left == right`.
    eq<Comparable> ==;
    /// `left != right`.
    ne<Comparable> !=;
    /// `left < right`.
    lt<Ordered> <;
    /// `left <= right`.
    le<Ordered> <=;
    /// `left > right`.
    gt<Ordered> >;
    /// `left >= right`.
    ge<Ordered> >=;
}

/// `x << amount`, the amount modulo the width of `x`.
#[inline(always)]
pub fn shl<T: Integer, S: ShiftAmount>(x: T, amount: S) -> T {
    x.shl(amount.amount())
}

/// `x >> amount`, the amount modulo the width of `x`; signed integers keep their sign.
#[inline(always)]
pub fn shr<T: Integer, S: ShiftAmount>(x: T, amount: S) -> T {
    x.shr(amount.amount())
}

/// `x`, or the bound that it passes; NaN stays. Unlike Rust's, it takes bounds of any order: `low`
/// is looked at first.
#[inline(always)]
pub fn clamp<T: Arithmetic>(x: T, low: T, high: T) -> T {
    if x < low {
        low
    } else if x > high {
        high
    } else {
        x
    }
}

/// xⁿ by binary exponentiation: squares are multiplied in from the lowest bit of |n| up, each
/// product rounded, and a negative `n` takes the reciprocal last.
#[inline(always)]
pub fn powi<T: Float>(x: T, n: i32) -> T {
    let mut square = x;
    let mut bits = n.unsigned_abs();
    let mut power = T::ONE;
    while bits != 0 {
        if bits & 1 != 0 {
            power = Arithmetic::mul(power, square);
        }
        square = Arithmetic::mul(square, square);
        bits >>= 1;
    }
    if n < 0 { T::ONE.div(power) } else { power }
}

/// `x as usize`, for an index.
#[inline(always)]
pub fn index<T: Index>(x: T) -> usize {
    x.index()
}

/// `array[index]`; the last element where `index` is past the end.
#[inline(always)]
pub fn at<T, const N: usize>(array: &[T; N], index: usize) -> &T {
    const { assert!(N > 0, "an operator can't index an array without elements") };
    &array[if index < N { index } else { N - 1 }]
}

/// `array[index]` as a place to assign to; the last element where `index` is past the end.
#[inline(always)]
pub fn at_mut<T, const N: usize>(array: &mut [T; N], index: usize) -> &mut T {
    const { assert!(N > 0, "an operator can't index an array without elements") };
    &mut array[if index < N { index } else { N - 1 }]
}

macro_rules! integers {
    ($($type:ident $sign:ident;)+) => {$(
        impl Comparable for $type {}
        impl Ordered for $type {}
        impl Arithmetic for $type {
            #[inline(always)]
            fn add(self, right: Self) -> Self {
                self.wrapping_add(right)
            }
            #[inline(always)]
            fn sub(self, right: Self) -> Self {
                self.wrapping_sub(right)
            }
            #[inline(always)]
            fn mul(self, right: Self) -> Self {
                self.wrapping_mul(right)
            }
            #[inline(always)]
            fn div(self, right: Self) -> Self {
                if right == 0 { self } else { self.wrapping_div(right) }
            }
            #[inline(always)]
            fn min(self, right: Self) -> Self {
                Ord::min(self, right)
            }
            #[inline(always)]
            fn max(self, right: Self) -> Self {
                Ord::max(self, right)
            }
        }
        impl Bitwise for $type {
            #[inline(always)]
            fn and(self, right: Self) -> Self {
                self & right
            }
            #[inline(always)]
            fn or(self, right: Self) -> Self {
                self | right
            }
            #[inline(always)]
            fn xor(self, right: Self) -> Self {
                self ^ right
            }
            #[inline(always)]
            fn not(self) -> Self {
                !self
            }
        }
        impl Integer for $type {
            const ZERO: Self = 0;
            #[inline(always)]
            fn rem(self, right: Self) -> Self {
                if right == 0 { 0 } else { self.wrapping_rem(right) }
            }
            #[inline(always)]
            fn wrapping_neg(self) -> Self {
                <$type>::wrapping_neg(self)
            }
            #[inline(always)]
            fn saturating_add(self, right: Self) -> Self {
                <$type>::saturating_add(self, right)
            }
            #[inline(always)]
            fn saturating_sub(self, right: Self) -> Self {
                <$type>::saturating_sub(self, right)
            }
            #[inline(always)]
            fn shl(self, amount: u32) -> Self {
                self.wrapping_shl(amount)
            }
            #[inline(always)]
            fn shr(self, amount: u32) -> Self {
                self.wrapping_shr(amount)
            }
        }
        impl ShiftAmount for $type {
            #[inline(always)]
            fn amount(self) -> u32 {
                self as u32
            }
        }
        integers!(@$sign $type);
    )+};
    (@signed $type:ident) => {
        impl Signed for $type {
            #[inline(always)]
            fn neg(self) -> Self {
                self.wrapping_neg()
            }
            #[inline(always)]
            fn abs(self) -> Self {
                self.wrapping_abs()
            }
        }
    };
    (@unsigned $type:ident) => {};
}

integers! {
    i8 signed; i16 signed; i32 signed; i64 signed;
    u8 unsigned; u16 unsigned; u32 unsigned; u64 unsigned;
}

macro_rules! index {
    ($($type:ident),+) => {$(
        impl Index for $type {
            #[inline(always)]
            fn index(self) -> usize {
                self as usize
            }
        }
    )+};
}

index!(u8, u16, u32, usize);

impl Comparable for usize {}
impl Ordered for usize {}
impl ShiftAmount for usize {
    #[inline(always)]
    fn amount(self) -> u32 {
        self as u32
    }
}

impl Comparable for bool {}
impl Bitwise for bool {
    #[inline(always)]
    fn and(self, right: Self) -> Self {
        self & right
    }
    #[inline(always)]
    fn or(self, right: Self) -> Self {
        self | right
    }
    #[inline(always)]
    fn xor(self, right: Self) -> Self {
        self ^ right
    }
    #[inline(always)]
    fn not(self) -> Self {
        !self
    }
}

macro_rules! floats {
    ($($type:ident $bits:ident $exp:ident $ln:ident $exp2:ident $log2:ident;)+) => {$(
        impl Comparable for $type {}
        impl Ordered for $type {}
        impl Arithmetic for $type {
            #[inline(always)]
            fn add(self, right: Self) -> Self {
                self + right
            }
            #[inline(always)]
            fn sub(self, right: Self) -> Self {
                self - right
            }
            #[inline(always)]
            fn mul(self, right: Self) -> Self {
                self * right
            }
            #[inline(always)]
            fn div(self, right: Self) -> Self {
                self / right
            }
            #[inline(always)]
            fn min(self, right: Self) -> Self {
                // Equal values may be zeros of either sign: `|` keeps the minus.
                let equal = <$type>::from_bits(self.to_bits() | right.to_bits());
                let ordered = if self < right || right.is_nan() { self } else { right };
                if self == right { equal } else { ordered }
            }
            #[inline(always)]
            fn max(self, right: Self) -> Self {
                // Equal values may be zeros of either sign: `&` drops the minus.
                let equal = <$type>::from_bits(self.to_bits() & right.to_bits());
                let ordered = if self > right || right.is_nan() { self } else { right };
                if self == right { equal } else { ordered }
            }
        }
        impl Signed for $type {
            #[inline(always)]
            fn neg(self) -> Self {
                -self
            }
            #[inline(always)]
            fn abs(self) -> Self {
                <$type>::abs(self)
            }
        }
        impl Float for $type {
            type Bits = $bits;
            const NAN: Self = <$type>::NAN;
            #[inline(always)]
            fn floor(self) -> Self {
                <$type>::floor(self)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                <$type>::sqrt(self)
            }
            #[inline(always)]
            fn exp(self) -> Self {
                libm::$exp(self)
            }
            #[inline(always)]
            fn ln(self) -> Self {
                libm::$ln(self)
            }
            #[inline(always)]
            fn exp2(self) -> Self {
                libm::$exp2(self)
            }
            #[inline(always)]
            fn log2(self) -> Self {
                libm::$log2(self)
            }
            #[inline(always)]
            fn mul_add(self, factor: Self, summand: Self) -> Self {
                <$type>::mul_add(self, factor, summand)
            }
            #[inline(always)]
            fn to_bits(self) -> $bits {
                <$type>::to_bits(self)
            }
        }
    )+};
}

floats! {
    f32 u32 expf logf exp2f log2f;
    f64 u64 exp log exp2 log2;
}
