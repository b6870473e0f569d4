//! Types that aren't in the language, refused by the macro or by a trait.

use kogge_core::{Element, operator};

#[operator(identity = 0)]
fn Wide(left: u64, right: u64) -> u64 {
    (left as u128 * right as u128 >> 64) as u64
}

#[operator(identity = 0)]
fn Pointer(left: &u64, right: &u64) -> u64 {
    left + right
}

#[operator(identity = 0)]
fn Signed(left: isize, right: isize) -> isize {
    left + right
}

#[derive(Clone, Copy, PartialEq, Element)]
#[repr(C)]
struct Pair {
    x: f32,
    y: f32,
}

#[operator(identity = Pair { x: 0.0, y: 0.0 })]
fn WholeStructs(left: Pair, right: Pair) -> Pair {
    if left == right { left } else { right }
}

#[operator(identity = 0.0)]
fn Remainder(left: f32, right: f32) -> f32 {
    left % right
}

#[operator(identity = 0)]
fn IndexArithmetic(left: u32, right: u32) -> u32 {
    let table = [left, right, 3, 4];
    let mut sum = 0;
    for i in 0..3 {
        sum += table[i + 1];
    }
    sum + table[left as i32 as usize]
}

#[operator(identity = 0)]
fn Negative(left: u32, right: u32) -> u32 {
    left + -right
}

fn main() {}
