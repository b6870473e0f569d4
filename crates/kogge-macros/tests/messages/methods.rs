//! Methods that aren't in the language.

use kogge_core::operator;

#[operator(identity = 0.0)]
fn Nan(left: f32, right: f32) -> f32 {
    if left.is_nan() { right } else { left }
}

#[operator(identity = 0.0)]
fn Sine(left: f32, right: f32) -> f32 {
    left.sin() + right.powf(2.0)
}

#[operator(identity = 0)]
fn Checked(left: u32, right: u32) -> u32 {
    left.checked_add(right).unwrap()
}

#[operator(identity = 0)]
fn From(left: u64, right: u64) -> u64 {
    u64::from(left as u32) + right
}

#[operator(identity = 0)]
fn Arity(left: u32, right: u32) -> u32 {
    left.clamp(right)
}

#[operator(identity = 0)]
fn Unknown(left: u32, right: u32) -> u32 {
    left.blend(right)
}

fn main() {}
