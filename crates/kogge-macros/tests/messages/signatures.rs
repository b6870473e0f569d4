//! Functions that can't be operators.

use kogge_core::{device, operator};

#[operator]
fn NoIdentity(left: u32, right: u32) -> u32 {
    left + right
}

#[operator(identity = 0, idempotent)]
fn Idempotent(left: u32, right: u32) -> u32 {
    left + right
}

#[operator(identity = 0)]
fn Three(a: u32, b: u32, c: u32) -> u32 {
    a + b + c
}

#[operator(identity = 0)]
fn Mixed(left: u32, right: u64) -> u64 {
    left as u64 + right
}

#[operator(identity = 0)]
fn Nothing(left: u32, right: u32) {}

#[operator(identity = 0)]
struct NoFunction;

#[device]
fn generic<T>(x: T) -> T {
    x
}

#[device]
fn recursive(x: u32) -> u32 {
    recursive(x - 1)
}

fn plain(x: u32) -> u32 {
    x
}

#[operator(identity = 0)]
fn CallsPlain(left: u32, right: u32) -> u32 {
    plain(left) + right
}

fn main() {}
