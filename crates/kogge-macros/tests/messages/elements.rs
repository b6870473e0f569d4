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

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Counted {
    count: usize,
    sum: f64,
}

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Halves {
    both: [kogge_core::f16; 2],
    one: bool,
}

type Length = usize;

#[derive(Clone, Copy, Element)]
#[repr(C)]
struct Renamed {
    count: Length,
}

#[derive(Clone, Copy, Element)]
#[element(T = [u64, usize, Length])]
#[repr(C)]
struct Listed<T> {
    x: T,
    y: u64,
}

#[derive(Clone, Copy, Element)]
#[element(T = [u64, Length])]
#[repr(C)]
struct ListedByAnotherName<T> {
    x: T,
    y: u64,
}

#[derive(Clone, Copy, Element)]
#[repr(align(4))]
struct Aligned {
    x: f32,
}

fn main() {}
