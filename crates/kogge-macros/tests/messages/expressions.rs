//! Expressions that GPUs have no words for.

use kogge_core::operator;

#[operator(identity = 0)]
fn Returns(left: u32, right: u32) -> u32 {
    if left == 0 {
        return right;
    }
    left
}

#[operator(identity = 0)]
fn Closure(left: u32, right: u32) -> u32 {
    let double = |x: u32| x * 2;
    double(left) + right
}

#[operator(identity = 0)]
fn Reference(left: u32, right: u32) -> u32 {
    let x = &left;
    *x + right
}

#[operator(identity = 0)]
fn Tuple(left: u32, right: u32) -> u32 {
    let (high, low) = (left, right);
    high + low
}

#[operator(identity = 0)]
fn Macro(left: u32, right: u32) -> u32 {
    assert!(left > right);
    left + vec![right][0]
}

#[operator(identity = 0)]
fn Text(left: u32, right: u32) -> u32 {
    let a = 'a' as u32;
    let b = "b";
    left + right + a
}

#[operator(identity = 0)]
fn IfLet(left: u32, right: u32) -> u32 {
    if let 0 = left { right } else { left }
}

#[operator(identity = 0)]
fn Unsafe(left: u32, right: u32) -> u32 {
    unsafe { left + right }
}

#[operator(identity = 0)]
fn NoEffect(left: u32, right: u32) -> u32 {
    left + right;
    right
}

fn main() {}
