//! Folds of rows in every lane, as the rows that follow take them in.
//!
//! Held as accumulators, they would be written word by word and read as a whole; and a load that
//! spans two stores waits until both have left the store queue. (Maps `x ↦ a·x + b` of two `f32` by
//! AVX-512: 80 cycles of a Zen 5 a row, and 64 in lanes.)

use super::super::folds::Folds;
use super::super::lanes::{Columns, Vectors, get, splat, vectors};
use crate::arch::Words;
use crate::array::map;
use kogge_core::{Element, Operator};
use std::marker::PhantomData;

/// [`Folds`] of accumulators of `W` words, each in all lanes.
pub(super) struct Spread<H: Words, A, const W: usize> {
    folds: Folds<Vectors<H, W>>,
    accumulator: PhantomData<A>,
}

impl<H: Words, A: Element, const W: usize> Spread<H, A, W> {
    /// # Safety
    ///
    /// `A` must be `W` words of `H` in size, and the CPU features of `H` present as long as this is
    /// in use.
    #[inline(always)]
    pub(super) unsafe fn new(before: Option<A>) -> Self {
        // SAFETY: passed on.
        let folds = Folds::new(before).map(|fold| unsafe { splat::<H, A, W>(fold) });
        Self { folds, accumulator: PhantomData }
    }

    /// Rows taken in.
    #[inline(always)]
    pub(super) fn rows(&self) -> usize {
        self.folds.rows()
    }

    /// What precedes the next row.
    #[inline(always)]
    pub(super) fn before(&self) -> Option<Vectors<H, W>> {
        self.folds.before()
    }

    /// Takes in the next row, given its chunks' Kogge–Stone values, the last of which is its total.
    #[inline(always)]
    pub(super) fn push<O: Operator<A>>(&mut self, operator: &O, chunks: &Columns<H, W>) {
        let end = vectors::<H, W>(chunks, H::GROUPS - 1);
        // SAFETY: by the contract of `new`; the first lane is moved to from the last.
        unsafe {
            let total = get::<H, A, W>(&map(end, |v| H::slide::<1>(v, v)), 0);
            let combine = |left, right| {
                let (left, right) = (get::<H, A, W>(&left, 0), get::<H, A, W>(&right, 0));
                splat::<H, A, W>(operator.combine(left, right))
            };
            self.folds.push_by(combine, splat::<H, A, W>(total));
        }
    }

    /// The folds as accumulators.
    #[inline(always)]
    pub(super) fn folds(&self) -> Folds<A> {
        // SAFETY: by the contract of `new`.
        self.folds.map(|fold| unsafe { get::<H, A, W>(&fold, 0) })
    }
}
