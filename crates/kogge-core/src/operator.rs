//! Operators: an identity and an associative `combine`, travelling as one value.
//!
//! Associativity is the whole contract: `combine(combine(a, b), c)` must equal
//! `combine(a, combine(b, c))`, exactly or up to rounding. Commutativity is never assumed: the left
//! operand always comes before the right one in the sequence.

use crate::{Element, Kind, loops};
use std::fmt;

/// An associative operator on accumulators of type `A`.
///
/// ```
/// use kogge_core::{Element, Operator};
///
/// /// The greatest common divisor; associative, with identity 0.
/// struct Gcd;
///
/// impl Operator<u32> for Gcd {
///     const EXACT: bool = true;
///     fn identity(&self) -> u32 {
///         0
///     }
///     fn combine(&self, mut left: u32, mut right: u32) -> u32 {
///         while right != 0 {
///             (left, right) = (right, left % right);
///         }
///         left
///     }
/// }
/// assert_eq!(Gcd.combine(12, 18), 6);
/// ```
pub trait Operator<A: Element>: Sync {
    /// Whether `combine` is associative to the last bit, so that any order gives the same result.
    /// Engines may then leave the fixed [`Order`](crate::Order). `false` is always right.
    const EXACT: bool = false;

    /// Whether the operator, besides being [`EXACT`](Self::EXACT), commutes to the last bit and its
    /// identity changes no bit, as for sums of integers. Engines may then combine operands in any
    /// order and begin with the identity. `false` is always right.
    const COMMUTATIVE: bool = false;

    /// Whether `combine` and `identity` wait for no other thread: take no lock and run nothing on a
    /// thread pool. Engines may then have threads wait for one that is combining. `false` is right
    /// for all others, but for a `combine` that needs every thread of the pool at once: in place
    /// one of them may wait for it even so.
    const NONBLOCKING: bool = false;

    /// Whether little code is worth more than speed; see [`Compact`].
    const COMPACT: bool = false;

    /// The value that changes nothing: `combine(identity, x)` and `combine(x, identity)` are `x`.
    fn identity(&self) -> A;

    /// `left` and `right` as one; `left` precedes `right` in the sequence.
    ///
    /// Engines may also combine values that aren't neighbours and drop the result, so this should
    /// not panic for any two values that occur: integers should wrap rather than overflow.
    fn combine(&self, left: A, right: A) -> A;

    /// See [`loops::fold_chunks`].
    #[doc(hidden)]
    #[inline]
    fn fold_chunks(&self, elements: &[A], chunk: usize, folds: &mut [A]) {
        loops::fold_chunks(|left, right| self.combine(left, right), elements, chunk, folds);
    }

    /// See [`loops::scan_chunks`].
    #[doc(hidden)]
    #[inline]
    fn scan_chunks(
        &self,
        kind: Kind,
        data: &mut [A],
        chunk: usize,
        before: Option<A>,
        folds: &[A],
    ) -> A {
        let (identity, combine) = (|| self.identity(), |left, right| self.combine(left, right));
        loops::scan_chunks((identity, combine), kind, data, chunk, before, folds)
    }

    /// See [`loops::combine_each`].
    #[doc(hidden)]
    #[inline]
    fn combine_each(&self, left: &[A], right: &mut [A]) {
        loops::combine_each(|left, right| self.combine(left, right), left, right);
    }
}

impl<A: Element, O: Operator<A>> Operator<A> for &O {
    const EXACT: bool = O::EXACT;
    const COMMUTATIVE: bool = O::COMMUTATIVE;
    const NONBLOCKING: bool = O::NONBLOCKING;
    const COMPACT: bool = O::COMPACT;
    #[inline(always)]
    fn identity(&self) -> A {
        (**self).identity()
    }
    #[inline(always)]
    fn combine(&self, left: A, right: A) -> A {
        (**self).combine(left, right)
    }
    #[inline]
    fn fold_chunks(&self, elements: &[A], chunk: usize, folds: &mut [A]) {
        (**self).fold_chunks(elements, chunk, folds);
    }
    #[inline]
    fn scan_chunks(
        &self,
        kind: Kind,
        data: &mut [A],
        chunk: usize,
        before: Option<A>,
        folds: &[A],
    ) -> A {
        (**self).scan_chunks(kind, data, chunk, before, folds)
    }
    #[inline]
    fn combine_each(&self, left: &[A], right: &mut [A]) {
        (**self).combine_each(left, right);
    }
}

/// An operator whose scans take little code: one copy of plain loops instead of one with vectors
/// for each SIMD level and kind of memory. For programs that compile dozens of operators, of which
/// few are worth the megabyte. The bits are the same, and so are the threads.
///
/// ```
/// use kogge_core::{Compact, Operator, ops::Max};
///
/// const _: () = assert!(<Compact<Max> as Operator<f32>>::COMPACT);
/// assert_eq!(Compact(Max).combine(3, 7), 7);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Compact<O>(pub O);

impl<A: Element, O: Operator<A>> Operator<A> for Compact<O> {
    const EXACT: bool = O::EXACT;
    const NONBLOCKING: bool = O::NONBLOCKING;
    const COMPACT: bool = true;
    #[inline(always)]
    fn identity(&self) -> A {
        self.0.identity()
    }
    #[inline(always)]
    fn combine(&self, left: A, right: A) -> A {
        self.0.combine(left, right)
    }
}

/// An operator made of an identity and a closure; see [`from_fn`].
///
/// ```
/// use kogge_core::{FnOperator, Operator, from_fn};
///
/// struct Limits<F> {
///     upper: FnOperator<f64, F>,
/// }
/// let limits = Limits { upper: from_fn(f64::INFINITY, f64::min) };
/// assert_eq!(limits.upper.combine(3.0, 7.0), 3.0);
/// assert_eq!(limits.upper.identity(), f64::INFINITY);
/// ```
#[derive(Clone, Copy)]
#[must_use = "an operator does nothing by itself"]
pub struct FnOperator<A, F> {
    identity: A,
    combine: F,
}

/// Without the closure, which has no name.
impl<A: fmt::Debug, F> fmt::Debug for FnOperator<A, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnOperator").field("identity", &self.identity).finish_non_exhaustive()
    }
}

/// The operator with this `identity` whose `combine` is a closure.
///
/// ```
/// use kogge_core::{Operator, from_fn};
///
/// let longest = from_fn(0u32, |left: u32, right: u32| left.max(right));
/// assert_eq!(longest.combine(3, 7), 7);
/// assert_eq!(format!("{longest:?}"), "FnOperator { identity: 0, .. }");
/// ```
pub fn from_fn<A, F>(identity: A, combine: F) -> FnOperator<A, F>
where
    A: Element,
    F: Fn(A, A) -> A + Sync,
{
    FnOperator { identity, combine }
}

impl<A, F> Operator<A> for FnOperator<A, F>
where
    A: Element,
    F: Fn(A, A) -> A + Sync,
{
    #[inline(always)]
    fn identity(&self) -> A {
        self.identity
    }
    #[inline(always)]
    fn combine(&self, left: A, right: A) -> A {
        (self.combine)(left, right)
    }
}
