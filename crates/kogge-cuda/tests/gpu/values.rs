//! Values that tell brackets and rounding apart, and those that hurt.

use crate::common::Random;
use crate::devices::{CAPTURE, device};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_core::ops::*;
use kogge_core::{Direction, Element, Kind, bytemuck};

pub fn float(random: &mut Random) -> f32 {
    match random.below(16) {
        0 => -0.0,
        1 => 0.0,
        _ => (random.below(2001) as f32 - 1000.0) / 1024.0 * (1u64 << random.below(40)) as f32,
    }
}
pub fn near_one(random: &mut Random) -> f32 {
    (random.below(2001) as f32 - 1000.0) / 800.0
}
pub fn with_nans(random: &mut Random) -> f32 {
    if random.below(9) == 0 {
        f32::from_bits(0x7fc0_0000 | random.below(99) as u32)
    } else {
        float(random)
    }
}

/// All pairs of values that hurt, each pair a segment of its own: zeros of either sign, infinities,
/// subnormal numbers, NaNs with payloads.
#[test]
fn extremes_of_special_values() {
    let _shared = CAPTURE.read();
    let singles: Vec<f32> = [
        0,
        0x8000_0000,
        1,
        0x8000_0001,
        0x3f80_0000,
        0xbf80_0000,
        0x7f7f_ffff,
        0xff7f_ffff,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0001,
        0xffc0_0002,
        0x7fff_ffff,
        0x7fa0_0003,
    ]
    .map(f32::from_bits)
    .to_vec();
    pairs(&Max, &singles);
    pairs(&Min, &singles);
    pairs(&LastValid, &singles);
    pairs(&Lower, &singles);
    pairs(&Higher, &singles);
    let doubles: Vec<f64> = [
        0,
        1 << 63,
        1,
        1 << 63 | 1,
        0x3ff0 << 48,
        0xbff0 << 48,
        0x7fef << 48,
        0x7ff0 << 48,
        0xfff0 << 48,
        0x7ff8 << 48 | 1,
        0xfff8 << 48 | 2,
        0x7ff4 << 48 | 3,
    ]
    .map(f64::from_bits)
    .to_vec();
    pairs(&Max, &doubles);
    pairs(&Min, &doubles);
    pairs(&LastValid, &doubles);
}

#[kogge_core::operator(identity = f32::INFINITY)]
fn Lower(left: f32, right: f32) -> f32 {
    left.min(right)
}
#[kogge_core::operator(identity = f32::NEG_INFINITY)]
fn Higher(left: f32, right: f32) -> f32 {
    left.max(right)
}

fn pairs<T, O>(operator: &O, values: &[T])
where
    T: Padded + DeviceElement,
    Flagged<T>: DeviceElement + DeviceType + Element<Accumulator = Flagged<T>>,
    O: DeviceOperator<T> + Copy,
    Segmented<O>: DeviceOperator<Flagged<T>>,
{
    let input: Vec<Flagged<T>> = values
        .iter()
        .flat_map(|&x| values.iter().map(move |&y| [Flagged::new(x, true), Flagged::new(y, false)]))
        .flatten()
        .collect();
    let scan = device()
        .prepare::<Flagged<T>, Flagged<T>, Flagged<T>, _>(
            &Segmented(*operator),
            Kind::Inclusive,
            Direction::Forward,
            input.len() as u64,
        )
        .expect("a kernel");
    let mut workspace = device().workspace().expect("a workspace");
    let mut output = vec![Flagged::new(T::zeroed(), false); input.len()];
    scan.run_host(&mut workspace, &input, &mut output, None).expect("a scan");
    for (pair, got) in input.chunks_exact(2).zip(output.chunks_exact(2)) {
        let (x, y) = (pair[0].value, pair[1].value);
        let expected = operator.combine(x, y);
        assert_eq!(
            bytemuck::bytes_of(&got[1].value),
            bytemuck::bytes_of(&expected),
            "{} of {:x?} and {:x?}",
            std::any::type_name::<O>(),
            bytemuck::bytes_of(&x),
            bytemuck::bytes_of(&y),
        );
    }
}
