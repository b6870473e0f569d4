//! Patterns that aren't literals.

use kogge_core::operator;

#[operator(identity = 0)]
fn Binding(left: u32, right: u32) -> u32 {
    match left {
        0 => right,
        other => other,
    }
}

#[operator(identity = 0)]
fn Guard(left: u32, right: u32) -> u32 {
    match left {
        0 if right > 1 => right,
        _ => left,
    }
}

#[operator(identity = 0)]
fn HalfOpen(left: u32, right: u32) -> u32 {
    match left {
        0..5 => right,
        7.. => 1,
        _ => left,
    }
}

#[operator(identity = 0)]
fn Deep(left: u32, right: u32) -> u32 {
    match Some(left) {
        Some(0) => right,
        _ => left,
    }
}

fn main() {}
