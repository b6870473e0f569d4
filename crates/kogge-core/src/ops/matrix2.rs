//! 2×2 matrices under multiplication: second-order recurrences, Fibonacci numbers, transfer matrices.

use crate::{Element, Number, Operator};

/// A 2×2 matrix, row by row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Matrix2<T> {
    /// Row 0, column 0.
    pub m00: T,
    /// Row 0, column 1.
    pub m01: T,
    /// Row 1, column 0.
    pub m10: T,
    /// Row 1, column 1.
    pub m11: T,
}

/// The matrix product, left times right. Not commutative; integers wrap.
///
/// Each entry is `row[0]·column[0] + row[1]·column[1]`, rounded after every operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatMul;

impl<T: Number> Operator<Matrix2<T>> for MatMul
where
    Matrix2<T>: Element,
{
    const EXACT: bool = T::EXACT;
    #[inline(always)]
    fn identity(&self) -> Matrix2<T> {
        let (one, zero) = (T::ONE, T::SUM_IDENTITY);
        Matrix2 { m00: one, m01: zero, m10: zero, m11: one }
    }
    #[inline(always)]
    fn combine(&self, left: Matrix2<T>, right: Matrix2<T>) -> Matrix2<T> {
        Matrix2 {
            m00: left.m00.mul(right.m00).add(left.m01.mul(right.m10)),
            m01: left.m00.mul(right.m01).add(left.m01.mul(right.m11)),
            m10: left.m10.mul(right.m00).add(left.m11.mul(right.m10)),
            m11: left.m10.mul(right.m01).add(left.m11.mul(right.m11)),
        }
    }
}
