//! 2×2 matrices under multiplication: second-order recurrences, Fibonacci numbers, transfer
//! matrices.

use crate::{Element, Number, operator};

/// A 2×2 matrix, row by row.
///
/// ```
/// use kogge_core::Operator;
/// use kogge_core::ops::{MatMul, Matrix2};
///
/// let quarter_turn = Matrix2 { m00: 0, m01: -1, m10: 1, m11: 0 };
/// let half_turn = Matrix2 { m00: -1, m01: 0, m10: 0, m11: -1 };
/// assert_eq!(MatMul.combine(quarter_turn, quarter_turn), half_turn);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Element)]
#[element(T = [i32, i64, u32, u64, f32, f64])]
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
/// Each entry is `row[0]·column[0] + row[1]·column[1]`, rounded after every operation. The identity
/// is one beside finite entries: ∞ times zero is no number. Engines never combine with it; give no
/// initial value rather than that one.
///
/// ```
/// use kogge_core::ops::{MatMul, Matrix2};
/// use kogge_core::{Kind, Order, reference};
///
/// let step = Matrix2 { m00: 1, m01: 1, m10: 1, m11: 0 };
/// let order = Order::of::<Matrix2<u64>>();
/// let scan = reference::scan(&[step; 6], &MatMul, order, Kind::Inclusive, None);
/// let fibonacci: Vec<u64> = scan.values.iter().map(|power| power.m01).collect();
/// assert_eq!(fibonacci, [1, 1, 2, 3, 5, 8]);
/// ```
#[operator(
    identity = Matrix2 { m00: T::ONE, m01: T::SUM_IDENTITY, m10: T::SUM_IDENTITY, m11: T::ONE },
    exact = T::EXACT,
)]
pub fn MatMul<T: Number>(left: Matrix2<T>, right: Matrix2<T>) -> Matrix2<T>
where
    Matrix2<T>: Element,
{
    Matrix2::<T> {
        m00: left.m00 * right.m00 + left.m01 * right.m10,
        m01: left.m00 * right.m01 + left.m01 * right.m11,
        m10: left.m10 * right.m00 + left.m11 * right.m10,
        m11: left.m10 * right.m01 + left.m11 * right.m11,
    }
}
