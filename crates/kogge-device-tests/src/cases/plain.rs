//! Operators beside the same text as plain Rust functions, which say what the text means.

// Precedence and the types of literals are what is tested.
#![allow(clippy::precedence, clippy::unnecessary_cast)]

use crate::Case;
use kogge_core::{Element, device, operator};

/// An operator, and a plain function of the same text.
macro_rules! twins {
    ($($(#[$attribute:meta])* $name:ident $plain:ident |$left:ident, $right:ident| -> $type:ident $body:tt)+) => {
        $(
            $(#[$attribute])*
            #[operator(identity = 0)]
            fn $name($left: $type, $right: $type) -> $type $body

            #[cfg(test)]
            fn $plain($left: $type, $right: $type) -> $type $body
        )+
    };
}

/// Names that differ in letters that no device's language has, or in underscores.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
#[allow(non_snake_case)]
struct Alike {
    x: u32,
    x_: u32,
    _x: u32,
    é: u32,
    xé: u32,
    x_1: u32,
    é1: u32,
}

/// Of the same name and path as those within [`alike`].
#[device]
fn step(x: u32) -> u32 {
    x ^ 1
}

/// Functions and structs whose paths are the same to the letter, in blocks of one function.
fn alike() -> Case {
    #[derive(Clone, Copy, Debug, PartialEq, Element)]
    #[repr(C)]
    struct Held {
        x: u32,
    }
    #[device]
    fn step(x: u32) -> u32 {
        let held = Held { x: super::plain::step(x) };
        held.x << 3 ^ 5
    }
    {
        #[derive(Clone, Copy, Debug, PartialEq, Element)]
        #[repr(C)]
        struct Held {
            other: f32,
            x: u32,
        }
        #[device]
        fn twice(x: u32) -> u32 {
            let held = Held { other: 1.0, x: step(x) };
            step(held.x)
        }
        {
            #[device]
            fn step(x: u32) -> u32 {
                twice(x) >> 1
            }
            #[operator(identity = 0)]
            fn Steps(left: u32, right: u32) -> u32 {
                step(left) ^ right
            }
            Case::new("plain_alike", Steps)
        }
    }
}

macro_rules! own_variables {
    ($name:ident $plain:ident $left:ident $step:ident) => {
        twins! {
            /// `x` is the macro's and the caller's, and so is `i`.
            $name $plain |$left, right| -> i32 {
                let x = right & 15;
                let mut $step = ($left & 0xff) * 100 + x;
                for i in 0..3 {
                    let x = x ^ i;
                    $step = $step * 3 + ($left & 7) + x;
                    $step ^= i;
                }
                $step ^ $left ^ x
            }
        }
    };
}
own_variables!(OwnVariables own_variables x i);

twins! {
    /// A method of a type has operands of that type.
    Associated associated |left, right| -> i64 {
        let wrapped = u8::wrapping_add(200, 100) as i64 + i16::wrapping_mul(300, 300) as i64;
        let root = f32::sqrt(2.0) as f64 * 1e9;
        let least = i8::wrapping_neg(-128) as i64 + u8::min(250, u8::wrapping_add(255, 255)) as i64;
        let shifted = u8::wrapping_shl(255, 4) as i64 ^ i64::wrapping_sub(left, right);
        let highest = f64::max(f64::max(0.1, 0.2), f32::max(0.3, 0.25) as f64) * 1e9;
        wrapped ^ root as i64 ^ least ^ shifted ^ highest as i64
    }

    /// A place is evaluated once, after the value, its indices from left to right.
    Places places |left, right| -> i32 {
        let mut a = [0, 0, 0, 0];
        let mut i = left & 1;
        a[{
            i += 1;
            i as u32 as usize
        }] += 7;
        let mut grid = [[left & 7, 1], [2, right & 7]];
        grid[(i - 1) as u32 as usize][{
            i -= 1;
            (i & 1) as u32 as usize
        }] += {
            i = if right & 1 == 0 { 1 } else { 2 };
            i * 3
        };
        grid[(i & 1) as u32 as usize][{
            i += 1;
            0
        }] = 100 + i;
        a[{
            i ^= 3;
            (i & 3) as u32 as usize
        }] -= i * 1000;
        a[(a[0] & 3) as u32 as usize] += a[1] ^ 5;
        a[(a[3] & 3) as u32 as usize] = a[2] + 11;
        let sum = a[0] + a[1] * 10 + a[2] * 100 + a[3] * 1000 + i;
        sum + (grid[0][0] + grid[0][1] * 2 + grid[1][0] * 4 + grid[1][1] * 8) * 7
    }

    /// `as` gives its type to a literal, in a block too, but not to one in a branch.
    BranchCasts branch_casts |left, right| -> i64 {
        let byte = (if left < right { 300 } else { -1 }) as u8 as i64;
        let short = (match right & 3 {
            0 => 70000,
            1 => 0x7fff_ffff,
            _ => 1,
        }) as i16 as i64;
        let single = ((if left > 0 { 16777217.4999999 } else { 0.1 }) as f32 as f64 * 1e9) as i64;
        let wide = { 5_000_000_000 } as i64;
        byte ^ short << 8 ^ single ^ wide
    }

    /// Names of fields.
    Fields fields |left, right| -> u32 {
        let mut all =
            Alike { x: left, x_: left ^ 1, _x: right, é: 7, xé: left & right, x_1: 9, é1: right ^ 5 };
        all.x_ ^= all._x >> 1;
        all.é ^= all.xé << 2;
        all.x = (all.x & 0xffff) * 3 ^ all.x_1 ^ all.é1 >> 3;
        all.x ^ (all.x_ & 0xffff) * 5 ^ (all.é & 0xffff) * 7 ^ (all.xé & 0xffff) * 11
    }
}

/// The structs themselves as elements.
#[operator(identity = Alike { x: 0, x_: 0, _x: 0, é: 0, xé: 0, x_1: 0, é1: 0 })]
fn Pairs(left: Alike, right: Alike) -> Alike {
    Alike {
        x: left.x,
        x_: right._x,
        _x: left.x_,
        é: right.xé,
        xé: left.é,
        x_1: left.é1 ^ right.x_1,
        é1: right.é1,
    }
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        alike(),
        Case::new("plain_own_variables", OwnVariables),
        Case::new("plain_associated", Associated),
        Case::new("plain_places", Places),
        Case::new("plain_branch_casts", BranchCasts),
        Case::new("plain_fields", Fields),
        Case::new("plain_pairs", Pairs),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operands::operands;
    use kogge_core::Operator;
    use kogge_core::bytemuck::pod_collect_to_vec;
    use kogge_core::device::DeviceType;

    fn compare<T: Element + DeviceType + PartialEq + std::fmt::Debug>(
        operator: impl Operator<T>,
        plain: fn(T, T) -> T,
        name: &str,
    ) {
        let operands = operands(&T::device_type(), 20_000, name);
        let read = |bytes: &[u8]| pod_collect_to_vec::<u8, T>(bytes);
        for (left, right) in read(&operands.left).into_iter().zip(read(&operands.right)) {
            assert_eq!(operator.combine(left, right), plain(left, right), "{left:?}, {right:?}");
        }
    }

    /// Each function is written, and once: `twice` and the `step`s that call it share theirs.
    #[test]
    fn namesakes_are_told_apart() {
        let text = alike().cuda().expect("text");
        let count = |name| text.matches(&format!("KOGGE_FN u32 {name}_")).count();
        assert_eq!((count("step"), count("twice")), (3, 1), "{text}");
    }

    #[test]
    fn operators_do_what_the_same_text_does() {
        compare(OwnVariables, own_variables, "own_variables");
        compare(Associated, associated, "associated");
        compare(Places, places, "places");
        compare(BranchCasts, branch_casts, "branch_casts");
        compare(Fields, fields, "fields");
    }
}
