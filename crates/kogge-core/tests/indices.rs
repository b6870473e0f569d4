//! `usize` has 32 bits on a device: a larger index is an error where text is asked for.

use kogge_core::device::{DeviceOperator, Error, cuda, wgsl};
use kogge_core::operator;

const LAST: usize = u32::MAX as usize;
const BIG: usize = 1 << 32;
const TABLE: [usize; 2] = [3, BIG + 5];

#[operator(identity = 0)]
fn Fits(left: u32, right: u32) -> u32 {
    if (left as usize) < LAST { right } else { left }
}

#[operator(identity = 0)]
fn Constant(left: u32, right: u32) -> u32 {
    if (left as usize) < BIG { right } else { left }
}

#[operator(identity = 0)]
fn Literal(left: u32, right: u32) -> u32 {
    if (left as usize) < 4_294_967_297 { right } else { left }
}

#[operator(identity = 0)]
fn Cast(left: u32, right: u32) -> u32 {
    if left as usize == 4_294_967_298 as usize { right } else { left }
}

#[operator(identity = 0)]
fn Table(left: u32, right: u32) -> u32 {
    if (left as usize) < TABLE[1] { right } else { left }
}

#[operator(identity = 0)]
fn Loop(left: u32, right: u32) -> u32 {
    let mut sum = left;
    for i in BIG..4_294_967_298 {
        sum += right + i as u32;
    }
    sum
}

fn written(operator: &impl DeviceOperator<u32>) -> [Option<Error>; 2] {
    let wgsl = wgsl::source(operator, wgsl::Options::default());
    [cuda::source(operator, "test").err(), wgsl.err()]
}

#[test]
fn indices_past_32_bits_are_refused() {
    assert_eq!(written(&Fits), [None, None]);
    let refused = |value| [(); 2].map(|()| Some(Error::Index { value }));
    assert_eq!(written(&Constant), refused(1 << 32));
    assert_eq!(written(&Literal), refused((1 << 32) + 1));
    assert_eq!(written(&Cast), refused((1 << 32) + 2));
    assert_eq!(written(&Table), refused((1 << 32) + 5));
    assert_eq!(written(&Loop), refused(1 << 32));
    let message = Error::Index { value: 1 << 32 }.to_string();
    assert!(message.contains("4294967296") && message.contains("`u64`"), "{message}");
}
