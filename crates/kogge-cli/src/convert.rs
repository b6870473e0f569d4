//! Elements of one type as elements of another, never silently wrong.
//!
//! Integers become floats rounded to nearest, floats become narrower floats rounded to nearest.
//! Everything else must be exact: an element that the new type cannot hold is reported with its
//! place. To `bool`, non-zero is true.

use crate::error::Error;
use bytemuck::{Pod, cast_slice, cast_slice_mut};
use half::{bf16, f16};
use kogge::Accumulate;
use kogge_erased::{Dtype, Spec, with_type};

/// The value as another type, and whether that type can hold it.
trait Cast<D> {
    fn cast(self) -> (D, bool);
}

macro_rules! cast_from_integer {
    ($($source:ty),+) => {$(
        cast_from_integer!(@ $source: i8, i16, i32, i64, u8, u16, u32, u64);
        cast_from_integer!(float $source: f32, f64);
    )+};
    (@ $source:ty: $($target:ty),+) => {$(
        impl Cast<$target> for $source {
            #[inline(always)]
            #[allow(unused_comparisons, clippy::unnecessary_cast)]
            fn cast(self) -> ($target, bool) {
                let target = self as $target;
                (target, target as $source == self && (target < 0) == (self < 0))
            }
        }
    )+};
    (float $source:ty: $($target:ty),+) => {$(
        impl Cast<$target> for $source {
            #[inline(always)]
            fn cast(self) -> ($target, bool) {
                (self as $target, true)
            }
        }
    )+};
}

macro_rules! cast_from_float {
    ($($source:ty),+) => {$(
        cast_from_float!(@ $source: i8, i16, i32, i64, u8, u16, u32, u64);
        cast_from_float!(float $source: f32, f64);
    )+};
    (@ $source:ty: $($target:ty),+) => {$(
        impl Cast<$target> for $source {
            #[inline(always)]
            fn cast(self) -> ($target, bool) {
                // `as` saturates; where the float cannot hold MAX, a MAX is always a saturated one.
                let holds_max = (<$target>::MAX as $source) as i128 == <$target>::MAX as i128;
                let target = self as $target;
                (target, target as $source == self && (holds_max || target != <$target>::MAX))
            }
        }
    )+};
    (float $source:ty: $($target:ty),+) => {$(
        impl Cast<$target> for $source {
            #[inline(always)]
            #[allow(clippy::unnecessary_cast)]
            fn cast(self) -> ($target, bool) {
                let target = self as $target;
                (target, target.is_finite() || !self.is_finite())
            }
        }
    )+};
}

cast_from_integer!(i8, i16, i32, i64, u8, u16, u32, u64);
cast_from_float!(f32, f64);

macro_rules! cast_half {
    ($($half:ident),+) => {$(
        cast_half!(to $half: i8, i16, i32, u8, u16, u32, f32, f64);
        cast_half!(odd $half: i64, u64);
        cast_half!(from $half: i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);
        cast_half!(half $half: f16, bf16);
    )+};
    (to $half:ident: $($source:ty),+) => {$(
        impl Cast<$half> for $source {
            #[inline(always)]
            fn cast(self) -> ($half, bool) {
                let exact = f64::from(self);
                // `from_f64` goes through `f32` on some CPUs, and so rounds twice.
                let target = <$half as Accumulate<f64>>::narrow(exact);
                (target, target.is_finite() || !exact.is_finite())
            }
        }
    )+};
    (odd $half:ident: $($source:ty),+) => {$(
        impl Cast<$half> for $source {
            #[inline(always)]
            fn cast(self) -> ($half, bool) {
                // Eleven bits fewer are as many as `f64` has. What is dropped sets the last that is
                // kept, so that rounding once more is as good as rounding once.
                const DROPPED: $source = (1 << 11) - 1;
                let odd = (self & !DROPPED) | (<$source>::from(self & DROPPED != 0) << 11);
                let nearest = self as f64;
                let exact = nearest as $source == self;
                (if exact { nearest } else { odd as f64 }).cast()
            }
        }
    )+};
    (from $half:ident: $($target:ty),+) => {$(
        impl Cast<$target> for $half {
            #[inline(always)]
            fn cast(self) -> ($target, bool) {
                self.to_f32().cast()
            }
        }
    )+};
    (half $half:ident: $($target:ty),+) => {$(
        impl Cast<$target> for $half {
            #[inline(always)]
            fn cast(self) -> ($target, bool) {
                self.to_f32().cast()
            }
        }
    )+};
}

cast_half!(f16, bf16);

fn cast_all<S: Pod + Cast<D>, D: Pod>(source: &[u8], target: &mut [u8]) -> Result<(), usize> {
    let source: &[S] = cast_slice(source);
    let target: &mut [D] = cast_slice_mut(target);
    let mut fits = true;
    for (target, source) in target.iter_mut().zip(source) {
        let (value, fit) = source.cast();
        *target = value;
        fits &= fit;
    }
    if fits { Ok(()) } else { Err(source.iter().position(|s| !s.cast().1).unwrap_or(0)) }
}

fn truths<S: Pod + Default + PartialEq>(source: &[u8], target: &mut [u8]) {
    for (target, source) in target.iter_mut().zip(cast_slice::<u8, S>(source)) {
        *target = u8::from(*source != S::default());
    }
}

/// Converts elements; both sides are native and hold the same number of them.
///
/// # Errors
///
/// The place of the first element that `to` cannot hold.
pub fn convert(from: Dtype, source: &[u8], to: Dtype, target: &mut [u8]) -> Result<(), usize> {
    if to == Dtype::Bool {
        with_type!(from, S => truths::<S>(source, target));
        return Ok(());
    }
    if from == to {
        target.copy_from_slice(source);
        return Ok(());
    }
    with_type!(from, S => with_type!(to, D => cast_all::<S, D>(source, target)))
}

/// The error that an element, named as messages have it, cannot be one of the type to be scanned.
pub fn misfit(name: &str, from: Dtype, spec: &Spec) -> Error {
    let element = spec.types().element;
    // Floats refuse nothing but what is too large for them.
    let what = match element.is_float() {
        true => format!("{name} is beyond the range of {element}"),
        false => format!("{name} is not a number of the type {element}"),
    };
    let any = spec.op().types(from, Some(Dtype::F64), None).is_ok();
    let hint = if any { "--dtype f64 takes any number" } else { "--dtype chooses another type" };
    Error::mismatch(what).hint(hint)
}

/// Makes a file's elements native: of this machine's byte order, and truth values 0 or 1, as which
/// they are added up; in files any other byte is true, too.
pub fn make_native(dtype: Dtype, swapped: bool, bytes: &mut [u8]) {
    if swapped {
        swap_bytes(dtype.size(), bytes);
    }
    if dtype == Dtype::Bool {
        bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
    }
}

/// Turns the byte order of elements around.
pub fn swap_bytes(size: usize, bytes: &mut [u8]) {
    match size {
        2 => cast_slice_mut::<u8, u16>(bytes).iter_mut().for_each(|x| *x = x.swap_bytes()),
        4 => cast_slice_mut::<u8, u32>(bytes).iter_mut().for_each(|x| *x = x.swap_bytes()),
        8 => cast_slice_mut::<u8, u64>(bytes).iter_mut().for_each(|x| *x = x.swap_bytes()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cast<S: Pod, D: Pod + Default>(
        from: Dtype,
        to: Dtype,
        source: &[S],
    ) -> Result<Vec<D>, usize> {
        let mut target = vec![D::default(); source.len()];
        convert(from, cast_slice(source), to, cast_slice_mut(&mut target))?;
        Ok(target)
    }

    #[test]
    fn exact_or_refused() {
        use Dtype::*;
        assert_eq!(cast::<i32, i64>(I32, I64, &[-1, i32::MAX]), Ok(vec![-1, i64::from(i32::MAX)]));
        assert_eq!(cast::<i64, u64>(I64, U64, &[1, -1]), Err(1));
        assert_eq!(cast::<u64, i64>(U64, I64, &[1, u64::MAX]), Err(1));
        assert_eq!(cast::<i64, i8>(I64, I8, &[127, -128, 128]), Err(2));
        assert_eq!(cast::<f64, i32>(F64, I32, &[2_147_483_647.0, -3.0]), Ok(vec![i32::MAX, -3]));
        assert_eq!(cast::<f64, i32>(F64, I32, &[2_147_483_648.0]), Err(0));
        assert_eq!(cast::<f64, i64>(F64, I64, &[9_223_372_036_854_775_808.0]), Err(0));
        assert_eq!(cast::<f32, i32>(F32, I32, &[2_147_483_648.0]), Err(0));
        assert_eq!(cast::<f64, i64>(F64, I64, &[0.5]), Err(0));
        assert_eq!(cast::<f64, i64>(F64, I64, &[f64::NAN]), Err(0));
        assert_eq!(cast::<f64, u8>(F64, U8, &[-1.0]), Err(0));
        assert_eq!(cast::<f64, f32>(F64, F32, &[0.1, f64::INFINITY]), Ok(vec![0.1, f32::INFINITY]));
        assert_eq!(cast::<f64, f32>(F64, F32, &[1e300]), Err(0));
        assert_eq!(cast::<f64, u8>(F64, Bool, &[0.0, -0.0, 0.5, f64::NAN]), Ok(vec![0, 0, 1, 1]));
        assert_eq!(cast::<i32, f16>(I32, F16, &[3, 100_000]), Err(1));
        assert_eq!(cast::<f64, f16>(F64, F16, &[65_519.999_999]), Ok(vec![f16::MAX]));
        assert_eq!(cast::<f64, f16>(F64, F16, &[1.0, -65_520.0]), Err(1));
        assert_eq!(cast::<f16, f64>(F16, F64, &[f16::from_f32(1.5)]), Ok(vec![1.5]));
        assert_eq!(cast::<u8, i64>(Bool, I64, &[0, 1]), Ok(vec![0, 1]));
    }

    #[test]
    fn halves_are_rounded_once() {
        use Dtype::{BF16, F16, F64, I64, U64};
        let f16s = |bits: [u16; 4]| Ok(bits.map(f16::from_bits).to_vec());
        let bf16s = |bits: [u16; 4]| Ok(bits.map(bf16::from_bits).to_vec());
        // Just above the middle of two, and just below it.
        let (near, beside) = (1.0 + 2f64.powi(-11), 2f64.powi(-40));
        let floats = [near + beside, near - beside, near, -near - beside];
        assert_eq!(cast(F64, F16, &floats), f16s([0x3c01, 0x3c00, 0x3c00, 0xbc01]));
        let (near, beside) = (1.0 + 2f64.powi(-8), 2f64.powi(-40));
        let floats = [near + beside, near - beside, near, -near - beside];
        assert_eq!(cast(F64, BF16, &floats), bf16s([0x3f81, 0x3f80, 0x3f80, 0xbf81]));
        let near = (1i64 << 62) + (1 << 54);
        let integers = [near + 1, near - 1, near, -near - 1];
        assert_eq!(cast(I64, BF16, &integers), bf16s([0x5e81, 0x5e80, 0x5e80, 0xde81]));
        let near = (1u64 << 63) + (1 << 55);
        let integers = [near + 1, near - 1, near, u64::MAX];
        assert_eq!(cast(U64, BF16, &integers), bf16s([0x5f01, 0x5f00, 0x5f00, 0x5f80]));
        // All that `f64` has, too.
        let integers = [(1i64 << 24) + (1 << 16) + 1, (1 << 24) + (1 << 16), 257, i64::MAX];
        assert_eq!(cast(I64, BF16, &integers), bf16s([0x4b81, 0x4b80, 0x4380, 0x5f00]));
        assert_eq!(cast::<i64, f16>(I64, F16, &[65_519, 65_520]), Err(1));
    }

    #[test]
    fn turns_bytes() {
        let mut x = [0x0102_0304u32, 5];
        swap_bytes(4, cast_slice_mut(&mut x));
        assert_eq!(x, [0x0403_0201, 0x0500_0000]);
    }
}
