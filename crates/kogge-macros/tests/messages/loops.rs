//! Loops that don't have a constant number of turns.

use kogge_core::operator;

#[operator(identity = 0)]
fn While(left: u32, right: u32) -> u32 {
    let mut x = left;
    while x < right {
        x += 1;
    }
    x
}

#[operator(identity = 0)]
fn Loop(left: u32, right: u32) -> u32 {
    let mut x = left;
    loop {
        x += right;
        break;
    }
    x
}

#[operator(identity = 0)]
fn VariableBound(left: u32, right: u32) -> u32 {
    let mut x = left;
    for i in 0..right {
        x += i;
    }
    x
}

#[operator(identity = 0)]
fn Iterator(left: u32, right: u32) -> u32 {
    let mut x = left;
    for i in (0..4).rev() {
        x += i * right;
    }
    x
}

#[operator(identity = 0)]
fn Labelled(left: u32, right: u32) -> u32 {
    let mut x = left;
    'outer: for i in 0..4 {
        x += i * right;
    }
    x
}

fn main() {}
