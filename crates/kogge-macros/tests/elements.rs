//! The derive in a crate that forbids `unsafe`: it writes some, and proves it.
#![forbid(unsafe_code)]

use kogge_core::{Element, bytemuck};

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

#[test]
fn elements_are_bytes() {
    let pair = Pair { both: [1u16, 2], one: 3 };
    assert_eq!(bytemuck::bytes_of(&pair), [1u16, 2, 3].map(u16::to_ne_bytes).as_flattened());
    let point = Point { x: 1.0, y: -0.0 };
    assert_eq!(bytemuck::pod_read_unaligned::<Point>(bytemuck::bytes_of(&point)), point);
}
