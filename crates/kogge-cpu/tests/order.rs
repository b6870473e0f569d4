//! The engine against the scalar reference, bit for bit: every SIMD level, every boundary length,
//! in place and not, forward and reverse, one thread and many.

use kogge_core::ops::{Affine, Compose, LastValid, MatMul, Matrix2, Max, Min, Sum};
use kogge_core::{
    Accumulate, Direction, Element, Kind, Operator, Order, bf16, bytemuck, f16, from_fn, reference,
};
use kogge_cpu::{Level, Plan, Request, scan_in_place, scan_into};
use std::fmt::Debug;

/// A small deterministic generator, so that failures repeat.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        // SplitMix64 (Steele, Lea, Flood 2014).
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A float of very mixed magnitude, so that every change of order shows.
    fn float(&mut self) -> f64 {
        let mantissa = (self.next() >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
        mantissa * 2f64.powi((self.next() % 24) as i32 - 12)
    }
}

/// Lengths around the boundaries of every level, for an order.
fn lengths(order: Order) -> Vec<usize> {
    let mut lengths: Vec<usize> = (0..=order.row() + order.chunk() + 1).collect();
    for level in [order.row(), order.segment(), order.tile()] {
        for multiple in [1, 2, 3, 4, 5, 7, 8, 9] {
            for offset in [-1i64, 0, 1] {
                lengths.push((level as i64 * multiple + offset) as usize);
            }
        }
    }
    lengths.extend([
        order.tile() * 31 + 5,
        order.block() - 1,
        order.block(),
        order.block() + order.row() + 3,
    ]);
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

fn bytes<T: Element>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

fn first_difference<T: Element + Debug>(name: &str, got: &[T], want: &[T]) {
    if bytes(got) != bytes(want) {
        let at = (0..want.len()).find(|&i| bytes(&got[i..=i]) != bytes(&want[i..=i])).unwrap();
        panic!("{name}: at {at} of {}: {:?} instead of {:?}", want.len(), got[at], want[at]);
    }
}

/// One configuration against the reference.
fn check<T, U, A, O>(name: &str, input: &[T], request: &Request<'_, O, A>)
where
    T: Accumulate<A> + Debug,
    U: Accumulate<A> + Debug,
    A: Element + Debug,
    O: Operator<A>,
{
    let mut elements: Vec<A> = input.iter().map(|&x| x.widen()).collect();
    if request.direction == Direction::Reverse {
        elements.reverse();
    }
    let order = Order::of::<T>();
    let reference = reference::scan(&elements, request.operator, order, request.kind, request.init);
    let narrow = |values: &[A]| -> Vec<A> {
        let mut values = values.to_vec();
        if request.direction == Direction::Reverse {
            values.reverse();
        }
        values
    };
    let want: Vec<U> = narrow(&reference.values).into_iter().map(U::narrow).collect();
    let name = format!("{name}, {} elements, {request:?}", input.len(), request = Shown(request));
    let mut output = vec![U::zeroed(); input.len()];
    let total = scan_into(request, input, &mut output).unwrap();
    first_difference(&name, &output, &want);
    let wanted_total = (!input.is_empty() || request.init.is_some()).then_some(reference.total);
    first_difference(&format!("total of {name}"), total.as_slice(), wanted_total.as_slice());

    let want: Vec<T> = narrow(&reference.values).into_iter().map(T::narrow).collect();
    let mut data = input.to_vec();
    scan_in_place(request, &mut data);
    first_difference(&format!("in place {name}"), &data, &want);
}

/// What of a request is worth printing.
struct Shown<'a, 'b, O, A>(&'a Request<'b, O, A>);

impl<O, A> Debug for Shown<'_, '_, O, A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let r = self.0;
        write!(
            f,
            "{:?} {:?} init {} {} {:?}",
            r.kind,
            r.direction,
            r.init.is_some(),
            r.level.name(),
            r.plan
        )
    }
}

const ONE: Plan = Plan { threads: 1, tiles_per_piece: 1, stream: false };
const STREAM: Plan = Plan { threads: 1, tiles_per_piece: 1, stream: true };
const MANY: Plan = Plan { threads: 5, tiles_per_piece: 1, stream: false };
const MANY_STREAM: Plan = Plan { threads: 3, tiles_per_piece: 3, stream: true };

/// All lengths on one thread, and the long ones by many.
fn sweep<T, A, O>(name: &str, operator: &O, init: A, mut make: impl FnMut(usize) -> T)
where
    T: Accumulate<A> + Debug,
    A: Element + Debug,
    O: Operator<A>,
{
    let order = Order::of::<T>();
    let longest = *lengths(order).last().unwrap();
    let input: Vec<T> = (0..longest).map(&mut make).collect();
    for level in Level::available() {
        for (n, length) in lengths(order).into_iter().enumerate() {
            // Every length has one variant; all variants come up at all levels of the order.
            let kind = [Kind::Inclusive, Kind::Exclusive][n % 2];
            let direction = [Direction::Forward, Direction::Forward, Direction::Reverse][n % 3];
            let init = [None, Some(init)][n / 2 % 2];
            let plans: &[Plan] =
                if length > order.tile() { &[ONE, STREAM, MANY, MANY_STREAM] } else { &[ONE] };
            for &plan in plans {
                let request = Request { kind, direction, init, level, plan: Some(plan), operator };
                check::<T, T, A, O>(name, &input[..length], &request);
            }
        }
    }
}

#[test]
fn floats_by_sum() {
    let mut random = Random(1);
    sweep("f32", &Sum, 0.1, |_| random.float() as f32);
    sweep("f64", &Sum, 0.1, |_| random.float());
}

#[test]
fn half_floats_are_combined_in_f32() {
    let mut random = Random(2);
    sweep("f16", &Sum, 0.1f32, |_| f16::from_f64(random.float()));
    sweep("bf16", &Sum, 0.1f32, |_| bf16::from_f64(random.float()));
}

#[test]
fn integers_wrap() {
    let mut random = Random(3);
    sweep("i8", &Sum, 7, |_| random.next() as i8);
    sweep("u16", &Sum, 7, |_| random.next() as u16);
    sweep("i32", &Sum, 7, |_| random.next() as i32);
    sweep("u64", &Sum, 7, |_| random.next());
}

#[test]
fn wider_accumulators() {
    let mut random = Random(4);
    sweep::<f32, f64, _>("f32 in f64", &Sum, 0.1, |_| random.float() as f32);
    sweep::<i32, i64, _>("i32 in i64", &Sum, 7, |_| random.next() as i32);
    sweep::<u8, u64, _>("u8 in u64", &Sum, 7, |_| random.next() as u8);
}

#[test]
fn extremes_with_nans_and_signed_zeros() {
    let mut random = Random(5);
    let mut special = move |_| match random.next() % 1000 {
        0 => f32::NAN,
        1..100 => -0.0,
        100..200 => 0.0,
        _ => random.float() as f32,
    };
    sweep("min", &Min, f32::INFINITY, &mut special);
    sweep("max", &Max, f32::NEG_INFINITY, &mut special);
    sweep("last valid", &LastValid, 1.0, |i| if i % 7 == 3 { i as f32 } else { f32::NAN });
}

#[test]
fn compositions_do_not_commute() {
    let mut random = Random(6);
    let mut affine =
        move |_| Affine { a: 1.0 + random.float() as f32 / 4096.0, b: random.float() as f32 };
    sweep("affine", &Compose, Affine { a: 0.5, b: 0.25 }, &mut affine);
    let mut random = Random(7);
    sweep("affine f64", &Compose, Affine { a: 0.5, b: 0.25 }, |_| Affine {
        a: random.float(),
        b: random.float(),
    });
    let mut random = Random(8);
    sweep("matrix", &MatMul, Matrix2 { m00: 1, m01: 2, m10: 3, m11: 4 }, |_| {
        let mut next = || random.next() as u32;
        Matrix2 { m00: next(), m01: next(), m10: next(), m11: next() }
    });
}

/// x ∘ y = 3x + y isn't associative: equal values mean equal brackets.
#[test]
fn brackets_of_every_element_size() {
    let mut random = Random(9);
    let f8 = from_fn(0u8, |x: u8, y: u8| x.wrapping_mul(3).wrapping_add(y));
    sweep("3x + y, u8", &f8, 5, |_| random.next() as u8);
    let f32 = from_fn(0u32, |x: u32, y: u32| x.wrapping_mul(3).wrapping_add(y));
    sweep("3x + y, u32", &f32, 5, |_| random.next() as u32);
    let f64 = from_fn(0u64, |x: u64, y: u64| x.wrapping_mul(3).wrapping_add(y));
    sweep("3x + y, u64", &f64, 5, |_| random.next());
    let wide = from_fn([0u64; 3], |x: [u64; 3], y: [u64; 3]| {
        std::array::from_fn(|i| x[i].wrapping_mul(3).wrapping_add(y[i]).rotate_left(i as u32))
    });
    sweep("3x + y, 24 bytes", &wide, [5; 3], |_| [random.next(), random.next(), random.next()]);
    let odd = from_fn([0u8; 3], |x: [u8; 3], y: [u8; 3]| {
        std::array::from_fn(|i| x[i].wrapping_mul(3).wrapping_add(y[(i + 1) % 3]))
    });
    sweep("3x + y, 3 bytes", &odd, [5; 3], |_| std::array::from_fn(|_| random.next() as u8));
}

/// The bicyclic monoid: what is left of a string of parentheses. Associative, not commutative.
#[test]
fn bicyclic_monoid() {
    let mut random = Random(10);
    let cancel = from_fn([0u32; 2], |[close, open]: [u32; 2], [closes, opens]: [u32; 2]| {
        let matched = open.min(closes);
        [close.wrapping_add(closes - matched), (open - matched).wrapping_add(opens)]
    });
    sweep("bicyclic", &cancel, [0, 3], |_| if random.next() % 2 == 0 { [1, 0] } else { [0, 1] });
}

#[test]
fn sums_beyond_32_bits() {
    let input = vec![u32::MAX; 100_000];
    let mut output = vec![0u64; input.len()];
    let total = scan_into(&Request::<_, u64>::new(&Sum), &input, &mut output).unwrap();
    assert_eq!(total, Some(u32::MAX as u64 * 100_000));
    assert!(output.iter().enumerate().all(|(i, &sum)| sum == u32::MAX as u64 * (i as u64 + 1)));
}

#[test]
fn lengths_must_match() {
    let error = scan_into(&Request::<_, i32>::new(&Sum), &[1, 2, 3], &mut [0; 2]).unwrap_err();
    assert_eq!(error, kogge_core::Error::LengthMismatch { input: 3, output: 2 });
}

/// A panicking operator unwinds to the caller, from any thread, and leaves nobody waiting.
#[test]
fn panics_reach_the_caller() {
    let operator = from_fn(0u32, |x: u32, y: u32| {
        assert_ne!(y, 77_777, "planted");
        x.max(y)
    });
    for plan in [ONE, MANY] {
        let mut data: Vec<u32> = (0..400_000).collect();
        let request =
            Request { plan: Some(plan), level: Level::portable(), ..Request::new(&operator) };
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            scan_in_place(&request, &mut data)
        }));
        assert!(caught.is_err());
    }
}
