//! Operators behind a pointer: the engine is compiled once for a type, whatever the operator.
//!
//! In [compact](kogge::Compact) code the engine combines no elements one by one but has the
//! operator do it, in loops over a row or a segment, and these alone are compiled for each
//! operator.

use bytemuck::cast;
use kogge::{Element, Kind, Operator};
use std::marker::PhantomData;

/// What is asked of an operator, through a pointer.
trait Loops<A>: Send + Sync {
    fn identity(&self) -> A;
    fn combine(&self, left: A, right: A) -> A;
    fn fold_chunks(&self, elements: &[A], chunk: usize, folds: &mut [A]);
    fn scan_chunks(
        &self,
        kind: Kind,
        data: &mut [A],
        chunk: usize,
        before: Option<A>,
        folds: &[A],
    ) -> A;
    fn combine_each(&self, left: &[A], right: &mut [A]);
}

impl<A: Element, O: Operator<A> + Send> Loops<A> for O {
    fn identity(&self) -> A {
        Operator::identity(self)
    }
    fn combine(&self, left: A, right: A) -> A {
        Operator::combine(self, left, right)
    }
    fn fold_chunks(&self, elements: &[A], chunk: usize, folds: &mut [A]) {
        Operator::fold_chunks(self, elements, chunk, folds);
    }
    fn scan_chunks(
        &self,
        kind: Kind,
        data: &mut [A],
        chunk: usize,
        before: Option<A>,
        folds: &[A],
    ) -> A {
        Operator::scan_chunks(self, kind, data, chunk, before, folds)
    }
    fn combine_each(&self, left: &[A], right: &mut [A]) {
        Operator::combine_each(self, left, right);
    }
}

/// Any operator on `A`; only exact ones if `EXACT`.
#[derive(Clone, Copy)]
pub struct Pointer<A: 'static, const EXACT: bool>(&'static dyn Loops<A>);

impl<A: Element, const EXACT: bool> Pointer<A, EXACT> {
    /// To this operator.
    pub fn to<O: Operator<A> + Send + 'static>(operator: O) -> Self {
        const { assert!(O::EXACT || !EXACT, "the operator rounds") };
        const { assert!(O::NONBLOCKING) };
        const { assert!(size_of::<O>() == 0, "leaked, so it should take no memory") };
        Self(Box::leak(Box::new(operator)))
    }
}

impl<A: Element, const EXACT: bool> Operator<A> for Pointer<A, EXACT> {
    const EXACT: bool = EXACT;
    const NONBLOCKING: bool = true;
    const COMPACT: bool = true;

    fn identity(&self) -> A {
        self.0.identity()
    }
    fn combine(&self, left: A, right: A) -> A {
        self.0.combine(left, right)
    }
    fn fold_chunks(&self, elements: &[A], chunk: usize, folds: &mut [A]) {
        self.0.fold_chunks(elements, chunk, folds);
    }
    fn scan_chunks(
        &self,
        kind: Kind,
        data: &mut [A],
        chunk: usize,
        before: Option<A>,
        folds: &[A],
    ) -> A {
        self.0.scan_chunks(kind, data, chunk, before, folds)
    }
    fn combine_each(&self, left: &[A], right: &mut [A]) {
        self.0.combine_each(left, right);
    }
}

/// An operator on `T`, for elements of another type that hold the bits of one.
pub struct Bits<T, O> {
    operator: O,
    meaning: PhantomData<fn(T)>,
}

impl<T, O> Bits<T, O> {
    /// Of this operator.
    pub fn of(operator: O) -> Self {
        Self { operator, meaning: PhantomData }
    }
}

impl<A: Element, T: Element, O: Operator<T>> Operator<A> for Bits<T, O> {
    const EXACT: bool = O::EXACT;
    const NONBLOCKING: bool = O::NONBLOCKING;

    #[inline(always)]
    fn identity(&self) -> A {
        cast(self.operator.identity())
    }
    #[inline(always)]
    fn combine(&self, left: A, right: A) -> A {
        cast(self.operator.combine(cast(left), cast(right)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kogge::ops::{Max, Product};
    use kogge::{Direction, Scan};
    use std::fmt::Debug;

    /// Lengths around those of chunks, rows, segments and tiles, forwards and backwards.
    fn same<A, const EXACT: bool, O>(operator: O, element: impl Fn(u64) -> A)
    where
        A: Element<Accumulator = A> + PartialEq + Debug,
        O: Operator<A> + Copy + Send + 'static,
    {
        let pointer = Pointer::<A, EXACT>::to(operator);
        for len in [0, 1, 3, 4, 5, 127, 128, 129, 1_024, 1_500, 8_192, 50_000] {
            let data: Vec<A> = (0..len).map(&element).collect();
            for kind in [Kind::Inclusive, Kind::Exclusive] {
                for direction in [Direction::Forward, Direction::Reverse] {
                    let own = Scan::new(operator).kind(kind).direction(direction);
                    let pointed = Scan::new(pointer).kind(kind).direction(direction);
                    assert_eq!(
                        own.scan(&data),
                        pointed.scan(&data),
                        "{len} {kind:?} {direction:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn has_the_bits_of_the_operator() {
        let float =
            |i: u64| 1.0 + ((i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32 - 8e6) / 1e12;
        same::<f32, false, _>(Product, float);
        same::<f64, false, _>(Product, |i| f64::from(float(i)));
        same::<i32, true, _>(Max, |i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as i32);
    }

    #[test]
    fn bits_mean_another_type() {
        let max = Pointer::<u32, true>::to(Bits::<i32, _>::of(Max));
        assert_eq!(Scan::new(max).scan(&[-5i32 as u32, 3, -1i32 as u32]), [-5i32 as u32, 3, 3]);
        assert_eq!(Operator::identity(&max), i32::MIN as u32);
    }
}
