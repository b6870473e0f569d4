//! Structs that can't be elements.

use kogge_core::Element;

#[derive(Clone, Copy, Element)]
struct NoLayout {
    x: f32,
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Gap {
    x: u8,
    y: u32,
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Unnamed(f32, f32);

#[derive(Clone, Copy, Element)]
enum Choice {
    A,
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Letter {
    letter: char,
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Generic<T> {
    x: T,
}

#[derive(Element)]
#[repr(C)]
struct NotCopy {
    x: f32,
}

fn main() {}
