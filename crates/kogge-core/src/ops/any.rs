//! Logical disjunction of truth values.

use crate::Operator;

/// 1 if any of the values is non-zero, else 0.
///
/// Any non-zero integer is true. Values that were combined are 0 or 1; a first element passes
/// through as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Any;

macro_rules! implement {
    ($($type:ty),+) => {$(
        impl Operator<$type> for Any {
            const EXACT: bool = true;
            #[inline(always)]
            fn identity(&self) -> $type {
                0
            }
            #[inline(always)]
            fn combine(&self, left: $type, right: $type) -> $type {
                (left != 0 || right != 0) as $type
            }
        }
    )+};
}

implement!(i8, i16, i32, i64, u8, u16, u32, u64);
