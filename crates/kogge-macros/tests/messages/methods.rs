//! Methods that aren't in the language.

use kogge_core::{OrderedNumber, operator};

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

#[operator(identity = 0.0)]
fn OtherType(left: f32, right: f32) -> f32 {
    f64::max(left, right)
}

#[operator(identity = 0)]
fn OfStd(left: u32, right: u32) -> u32 {
    std::cmp::max(left, right)
}

#[operator(identity = 0)]
fn OfTrait(left: u32, right: u32) -> u32 {
    Ord::min(left, right)
}

#[operator(identity = T::ONE)]
fn OfParameter<T: OrderedNumber>(left: T, right: T) -> T {
    T::from(left).max(T::swapped(right))
}

#[operator(identity = 0.0)]
fn Accuracy(left: f32, right: f32) -> f32 {
    left.ln_1p() + right.round()
}

fn main() {}
