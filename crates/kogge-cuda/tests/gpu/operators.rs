//! Every operator and element.

use crate::check::{WAYS, check};
use crate::common::{Random, boundary_lengths};
use crate::devices::{CAPTURE, as_if_older, by_segments, by_tiles, device};
use crate::values::{float, near_one, with_nans};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::ops::*;
use kogge_core::{Accumulate, Element, Order, bf16, f16};

/// All kinds and directions at boundary lengths, on this device and as if it were older.
fn sweep<T, U, A, O>(operator: O, init: A, make: impl Fn(&mut Random) -> T)
where
    T: DeviceElement + Accumulate<A>,
    U: DeviceElement + Accumulate<A>,
    A: Element + DeviceType,
    O: DeviceOperator<A>,
{
    let name = std::any::type_name::<(T, U, A, O)>();
    let _shared = CAPTURE.read();
    let mut random = Random(name.bytes().map(u64::from).sum());
    let order = Order::of::<T>();
    let rounds = (16 << 20) / size_of::<T>();
    let data: Vec<T> = (0..rounds + order.block()).map(|_| make(&mut random)).collect();
    for device in [device(), by_segments(device()), by_tiles(device()), as_if_older(device())] {
        let mut workspace = device.workspace().expect("a workspace");
        for way in WAYS {
            let mut lengths = boundary_lengths(order, order.tile() * 3 + 1);
            lengths.extend([
                rounds,
                rounds - order.tile() + 1,
                rounds + random.below(order.block()),
            ]);
            for n in lengths {
                let scan = device
                    .prepare::<T, U, A, O>(&operator, way.0, way.1, n as u64)
                    .expect("a kernel");
                let from = random.below(data.len() - n);
                check(
                    &scan,
                    &operator,
                    way,
                    &mut workspace,
                    &mut random,
                    &data[from..from + n],
                    init,
                );
            }
        }
    }
}

/// A struct of a user's.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Moments {
    count: u32,
    low: i32,
    high: i32,
    sum: f32,
}
#[kogge_core::operator(identity = Moments { count: 0, low: i32::MAX, high: i32::MIN, sum: -0.0 })]
fn Together(left: Moments, right: Moments) -> Moments {
    let weight = if left.count > right.count { 0.5 } else { 1.0 };
    Moments {
        count: left.count + right.count,
        low: left.low.min(right.low),
        high: left.high.max(right.high),
        sum: left.sum * weight + right.sum,
    }
}
#[kogge_core::operator(identity = [0.0; 3])]
fn Turned(left: [f32; 3], right: [f32; 3]) -> [f32; 3] {
    let mut sum = right;
    for i in 0..3 {
        sum[i] = left[i] * 0.5 + right[i];
    }
    sum
}

macro_rules! sweeps {
    ($($name:ident: $t:ty => $u:ty, $a:ty, $operator:expr, $init:expr, $make:expr;)+) => {$(
        #[test]
        fn $name() {
            sweep::<$t, $u, $a, _>($operator, $init, $make);
        }
    )+};
}

sweeps! {
    sum_i8: i8 => i8, i8, Sum, 9, |r| r.next() as i8;
    sum_u16: u16 => u16, u16, Sum, 9, |r| r.next() as u16;
    sum_i32: i32 => i32, i32, Sum, 9, |r| r.next() as i32;
    sum_u64: u64 => u64, u64, Sum, 9, |r| r.next();
    sum_f16: f16 => f16, f32, Sum, 0.3, |r| f16::from_f32(float(r).clamp(-6e4, 6e4));
    sum_bf16: bf16 => bf16, f32, Sum, 0.3, |r| bf16::from_f32(float(r));
    sum_f32: f32 => f32, f32, Sum, 0.3, float;
    sum_f64: f64 => f64, f64, Sum, 0.3, |r| float(r) as f64 / 3.0;
    sum_f32_in_f64: f32 => f32, f64, Sum, 0.3, float;
    sum_u8_to_u32: u8 => u32, u32, Sum, 7, |r| r.next() as u8;
    sum_i16_in_f32: i16 => i16, f32, Sum, 7.0, |r| (r.below(90) as i16) - 30;
    product_i32: i32 => i32, i32, Product, 3, |r| r.next() as i32 | 1;
    sum_f16_in_f64: f16 => f16, f64, Sum, 0.3, |r| f16::from_f32(float(r).clamp(-6e4, 6e4));
    sum_bf16_in_f64: bf16 => bf16, f64, Sum, 0.3, |r| bf16::from_f32(float(r));
    max_f32_in_f64: f32 => f32, f64, Max, -1e9, with_nans;
    min_i8: i8 => i8, i8, Min, 100, |r| r.next() as i8;
    min_f32: f32 => f32, f32, Min, 1e9, with_nans;
    max_f32: f32 => f32, f32, Max, -1e9, with_nans;
    max_f64: f64 => f64, f64, Max, -1e9, |r| float(r) as f64;
    min_u8: u8 => u8, u8, Min, 200, |r| r.next() as u8;
    max_f16: f16 => f16, f32, Max, -1e9, |r| f16::from_f32(float(r).clamp(-6e4, 6e4));
    bit_xor_u8: u8 => u8, u8, BitXor, 9, |r| r.next() as u8;
    bit_and_u32: u32 => u32, u32, BitAnd, !0, |r| !(1 << r.below(4000).min(31));
    bit_or_i64: i64 => i64, i64, BitOr, 0, |r| 1 << r.below(64);
    all_u8: u8 => u8, u8, All, 1, |r| (r.below(5000) > 0) as u8;
    any_i16: i16 => i16, i16, Any, 0, |r| (r.below(5000) == 0) as i16;
    last_valid_f32: f32 => f32, f32, LastValid, 2.0, with_nans;
    last_valid_flagged: Flagged<i16> => Flagged<i16>, Flagged<i16>, LastValid, Flagged::new(5, true),
        |r| Flagged::new(r.next() as i16, r.below(9) == 0);
    compose_f32: Affine<f32> => Affine<f32>, Affine<f32>, Compose, Affine { a: 0.5, b: 2.0 },
        |r| Affine { a: near_one(r), b: float(r) };
    compose_i64: Affine<i64> => Affine<i64>, Affine<i64>, Compose, Affine { a: 3, b: 2 },
        |r| Affine { a: r.next() as i64, b: r.next() as i64 };
    matmul_f32: Matrix2<f32> => Matrix2<f32>, Matrix2<f32>, MatMul,
        Matrix2 { m00: 1.5, m01: -0.25, m10: 0.125, m11: 0.5 },
        |r| Matrix2 { m00: near_one(r), m01: near_one(r), m10: near_one(r), m11: near_one(r) };
    matmul_u64: Matrix2<u64> => Matrix2<u64>, Matrix2<u64>, MatMul,
        Matrix2 { m00: 1, m01: 2, m10: 3, m11: 4 },
        |r| Matrix2 { m00: r.next(), m01: r.next(), m10: r.next(), m11: r.next() };
    arg_min_f32: Indexed<f32> => Indexed<f32>, Indexed<f32>, ArgMin, Indexed::new(3.0, 1 << 40),
        |r| Indexed::new(with_nans(r), r.next() >> 40);
    arg_max_i64: Indexed<i64> => Indexed<i64>, Indexed<i64>, ArgMax, Indexed::new(3, 1 << 40),
        |r| Indexed::new(r.next() as i64 >> 50, r.next() >> 40);
    arg_min_f64: Indexed<f64> => Indexed<f64>, Indexed<f64>, ArgMin, Indexed::new(3.0, 1 << 40),
        |r| Indexed::new(with_nans(r) as f64, r.next() >> 40);
    own_struct: Moments => Moments, Moments, Together, Moments { count: 1, low: 5, high: -5, sum: 2.0 },
        |r| Moments { count: 1, low: r.next() as i32, high: r.next() as i32, sum: near_one(r) };
    own_array: [f32; 3] => [f32; 3], [f32; 3], Turned, [1.0, 2.0, 3.0],
        |r| [near_one(r), near_one(r), near_one(r)];
    segmented_sum_i8: Flagged<i8> => Flagged<i8>, Flagged<i8>, Segmented(Sum), Flagged::new(3, false),
        |r| Flagged::new(r.next() as i8, r.below(50) == 0);
    segmented_sum_f64: Flagged<f64> => Flagged<f64>, Flagged<f64>, Segmented(Sum), Flagged::new(0.3, false),
        |r| Flagged::new(float(r) as f64, r.below(50) == 0);
}
