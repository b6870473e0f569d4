//! Every pair of element and wider accumulator: widening is exact, narrowing wraps or rounds.

use kogge_core::{Accumulate, Element, bf16, f16};
use std::fmt::Debug;

/// There and back gives the same, for values that are all of a small type or spread over a large.
fn round_trip<T: Accumulate<A> + Debug + PartialEq, A: Element>(values: impl Iterator<Item = T>) {
    for x in values {
        assert_eq!(T::narrow(x.widen()), x);
    }
}

/// All bit patterns of 16 bits, and as many of 32 spread over their range.
fn patterns() -> impl Iterator<Item = u32> {
    (0..=0xffff).chain((0..=0xffffu32).map(|i| i.wrapping_mul(0x9e37_79b1)))
}

macro_rules! round_trips {
    ($($narrow:ty => $($wide:ty),+;)+) => {$($(
        round_trip::<$narrow, $wide>(patterns().map(|bits| bits as $narrow));
    )+)+};
}

#[test]
fn integers_there_and_back() {
    round_trips! {
        i8 => i8, i16, i32, i64, f32, f64;
        i16 => i16, i32, i64, f32, f64;
        i32 => i32, i64, f64;
        u8 => u8, u16, u32, u64, i16, i32, i64, f32, f64;
        u16 => u16, u32, u64, i32, i64, f32, f64;
        u32 => u32, u64, i64, f64;
    }
}

#[test]
fn floats_there_and_back() {
    let finite = |x: &f32| x.is_finite();
    round_trip::<f32, f64>(patterns().map(f32::from_bits).filter(finite));
    let halves = || patterns().map(|bits| f16::from_bits(bits as u16)).filter(|x| x.is_finite());
    round_trip::<f16, f32>(halves());
    round_trip::<f16, f64>(halves());
    let halves = || patterns().map(|bits| bf16::from_bits(bits as u16)).filter(|x| x.is_finite());
    round_trip::<bf16, f32>(halves());
    round_trip::<bf16, f64>(halves());
}

#[test]
fn integers_wrap_and_floats_round_to_nearest_even() {
    assert_eq!(<u8 as Accumulate<u64>>::narrow(0x1_02ff), 0xff);
    assert_eq!(<i8 as Accumulate<i32>>::narrow(200), -56);
    assert_eq!(<i32 as Accumulate<i64>>::narrow(1 << 31), i32::MIN);
    assert_eq!(<u8 as Accumulate<f64>>::narrow(255.9), 255);
    assert_eq!(<u8 as Accumulate<f64>>::narrow(-7.0), 0);
    assert_eq!(<i16 as Accumulate<f32>>::narrow(f32::NAN), 0);
    let tie = 1.0 + 2f64.powi(-24);
    assert_eq!(<f32 as Accumulate<f64>>::narrow(tie), 1.0);
    assert_eq!(<f32 as Accumulate<f64>>::narrow(tie + 2f64.powi(-23)), 1.0 + 2f32.powi(-22));
    assert_eq!(<f16 as Accumulate<f32>>::narrow(1.0 + 2f32.powi(-11)), f16::ONE);
    assert_eq!(<f16 as Accumulate<f32>>::narrow(65_520.0), f16::INFINITY);
    assert_eq!(<bf16 as Accumulate<f32>>::narrow(1.0 + 2f32.powi(-8)), bf16::ONE);
    assert_eq!(<f16 as Accumulate<f64>>::narrow(-1e300), f16::NEG_INFINITY);
    assert!(<bf16 as Accumulate<f64>>::narrow(f64::NAN).is_nan());
}

/// Every value of a half float, the middle between it and the next, and what lies just beside the
/// middle: rounding twice, or after dropping low bits, gets the latter wrong.
macro_rules! rounds_once {
    ($($name:ident: $half:ty;)+) => {$(
        #[test]
        fn $name() {
            let infinite = <$half>::INFINITY.to_bits();
            for bits in 0..infinite - 1 {
                let (low, high) = (<$half>::from_bits(bits), <$half>::from_bits(bits + 1));
                let middle = (low.to_f64() + high.to_f64()) / 2.0;
                let even = if bits.is_multiple_of(2) { low } else { high };
                let narrow = <$half as Accumulate<f64>>::narrow;
                for (x, want) in [
                    (low.to_f64(), low),
                    (middle.next_down(), low),
                    (middle, even),
                    (middle.next_up(), high),
                ] {
                    assert_eq!(narrow(x), want, "{x:e}");
                    assert_eq!(narrow(-x), -want, "{:e}", -x);
                }
            }
        }
    )+};
}

rounds_once! {
    f64_to_f16_rounds_once: f16;
    f64_to_bf16_rounds_once: bf16;
}
