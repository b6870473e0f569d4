//! What the macros write in a crate that forbids much: the derive's `unsafe` too, which it proves.
#![forbid(unsafe_code, unused_variables, unused_mut, missing_docs)]
#![deny(non_snake_case)]

use kogge_core::{Element, Operator, bytemuck, device, operator};

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(align(8), C)]
struct Point {
    x: f32,
    y: f32,
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[element(T = [u16, f32, Point])]
#[repr(C)]
struct Pair<T> {
    both: [T; 2],
    one: T,
}

/// A name that its function alone allows.
#[device]
#[allow(non_snake_case)]
fn twice(X: u32) -> u32 {
    X * 2
}

#[operator(identity = 0)]
#[allow(non_snake_case)]
fn Twice(left: u32, Right: u32) -> u32 {
    let r#type = left;
    let mut Sum = type_of(r#type);
    for r#mod in 0..2u32 {
        Sum += twice(Right) + r#mod;
    }
    Sum
}

#[device]
fn type_of(r#type: u32) -> u32 {
    r#type
}

#[test]
fn names_are_those_of_the_function() {
    assert_eq!(Twice.combine(1, 10), 42);
    kogge_core::device::cuda::source(&Twice, "twice").expect("text");
}

#[test]
fn elements_are_bytes() {
    let pair = Pair { both: [1u16, 2], one: 3 };
    assert_eq!(bytemuck::bytes_of(&pair), [1u16, 2, 3].map(u16::to_ne_bytes).as_flattened());
    let point = Point { x: 1.0, y: -0.0 };
    assert_eq!(bytemuck::pod_read_unaligned::<Point>(bytemuck::bytes_of(&point)), point);
}
