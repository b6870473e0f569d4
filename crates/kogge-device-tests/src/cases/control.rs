//! Control flow, structs, arrays, names, scopes and the order of evaluation.

use crate::Case;
use kogge_core::{Element, device, operator};

/// Fields of every integer width, an array, and a struct within.
#[derive(Clone, Copy, Debug, Default, PartialEq, Element)]
#[repr(C)]
struct Packed {
    float: i8,
    kernel: u8,
    var: i16,
    inner: Inner,
    wide: i64,
    table: [u16; 4],
}

/// Names that are keywords in C++ and WGSL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Element)]
#[repr(C)]
struct Inner {
    template: u16,
    private: u16,
}

const PRIMES: [u32; 5] = [2, 3, 5, 7, 11];
const TURNS: usize = 5;
const ORIGIN: Inner = Inner { template: 7, private: 9 };

#[device]
fn mixed(x: u32, mut y: u32) -> u32 {
    y ^= x << 13;
    y ^= y >> 17;
    y * 0x9e37_79b1
}

#[device]
fn swapped(pair: Inner) -> Inner {
    Inner { private: pair.template, template: pair.private }
}

mod nested {
    use kogge_core::device;

    /// Of the same name as another one.
    #[device]
    pub(super) fn mixed(x: u32) -> u32 {
        super::mixed(x, 1) + 1
    }
}

#[operator(identity = Packed::default())]
fn Structs(left: Packed, right: Packed) -> Packed {
    let mut result = right;
    result.float = left.float - right.float;
    result.kernel += left.kernel;
    result.inner = swapped(left.inner);
    result.inner.private |= right.inner.private;
    for i in 0..4 {
        result.table[i] = left.table[i] * right.table[3];
        result.table[i] ^= i as u16;
    }
    let template = Inner { template: left.inner.private, private: ORIGIN.private };
    Packed {
        wide: left.wide * right.wide,
        var: (template.template + ORIGIN.template) as i16,
        float: result.float,
        kernel: result.kernel,
        inner: result.inner,
        table: result.table,
    }
}

/// Loops over constant ranges of several kinds, an empty one too, and indices past the end.
#[operator(identity = 0)]
#[allow(clippy::reversed_empty_ranges)]
fn Loops(left: u32, right: u32) -> u32 {
    let mut sum = left;
    for i in 0..TURNS {
        sum = sum * 31 + PRIMES[i];
    }
    for i in -3..=3i32 {
        sum += (i * i) as u32 ^ right;
    }
    for i in 250..=255u8 {
        sum ^= i as u32;
    }
    #[allow(clippy::reversed_empty_ranges)] // never entered, on any engine
    for _ in 3..3 {
        sum = 0;
    }
    let mut grid = [[right; 3]; 2];
    for i in 0..2u8 {
        for j in 0..3 {
            grid[i as usize][j] = sum + j as u32;
            sum += grid[(i + 1) as usize][0];
        }
    }
    sum + PRIMES[(left % 9) as usize] + [left, right, 5][(right % 4) as usize] + grid[1][2]
}

/// A population count: bits are read by a loop.
#[operator(identity = 0)]
fn Count(left: u64, right: u64) -> u64 {
    let mut ones = 0;
    for i in 0..64 {
        ones += (left ^ right) >> i & 1;
    }
    ones
}

#[operator(identity = 0)]
fn Matches(left: i32, right: i32) -> i32 {
    let kind = match left % 8 {
        0 => 10,
        1 | -1 => {
            let twice = right * 2;
            twice + 1
        }
        -7..=-5 => left,
        2..=3 | 5 => match right & 1 == 0 {
            true => -1,
            false => right,
        },
        _ => {
            if right > 0 {
                left / right
            } else if right == i32::MIN {
                0
            } else {
                -right
            }
        }
    };
    match kind {
        i32::MIN..=-1 => kind ^ 0x55,
        7 => 0,
        _ => kind,
    }
}

/// Operands are evaluated from left to right, whatever blocks among them assign.
#[operator(identity = 0)]
fn Order(left: i32, right: i32) -> i32 {
    let mut x = left;
    let first =
        x + {
            x = right;
            x * 3
        } + x;
    let decided = left > 0 && {
        x += 5;
        x > 10
    };
    let either = left < 0 || {
        x ^= 3;
        decided
    };
    x += {
        x = 100;
        if either { 1 } else { 2 }
    };
    let mut pair = [x, first];
    pair[{
        x = x % 2;
        x as u32 % 2
    } as usize] = {
        x += 1;
        x
    };
    let array = [
        x,
        {
            x = 7;
            x
        },
        x,
    ];
    pair[0] - pair[1] * array[0] + array[1] - array[2] + x
}

/// Inner variables hide outer ones, in Rust's scopes.
#[operator(identity = 0)]
fn Scopes(left: u32, right: u32) -> u32 {
    let x = left;
    let x = x + right;
    let y = {
        let x = x * 2;
        let half = x / 2;
        half ^ x
    };
    let mut left = y;
    if x > y {
        let y = right;
        left = y + x;
    } else if right % 2 == 0 {
        left -= y;
    }
    left + x + mixed(left, nested::mixed(right))
}

/// Precedence and types of literals.
#[operator(identity = 0)]
fn Precedence(left: i64, right: i64) -> i64 {
    let bits = left | right ^ left & right << 2 - 1;
    let sum = -left * 2 + right % 7 - 3 >> 1;
    let flag = !(left < right) as i64 + ((left & 1 == 0) | (right > 5) & (left != 3)) as i64;
    let bytes =
        b'a' as i64 + -128i8 as i64 + 0xff_u8 as i64 + i64::MIN + -9_223_372_036_854_775_808;
    bits ^ sum ^ flag ^ bytes
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("structs", Structs),
        Case::new("loops", Loops),
        Case::new("count", Count),
        Case::new("matches", Matches),
        Case::new("order", Order),
        Case::new("scopes", Scopes),
        Case::new("precedence", Precedence),
    ]
}
