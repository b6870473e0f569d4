//! Bitwise xor.

use crate::Operator;

/// Bitwise xor of integers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BitXor;

macro_rules! implement {
    ($($type:ty),+) => {$(
        impl Operator<$type> for BitXor {
            const EXACT: bool = true;
            #[inline(always)]
            fn identity(&self) -> $type {
                0
            }
            #[inline(always)]
            fn combine(&self, left: $type, right: $type) -> $type {
                left ^ right
            }
        }
    )+};
}

implement!(i8, i16, i32, i64, u8, u16, u32, u64);
