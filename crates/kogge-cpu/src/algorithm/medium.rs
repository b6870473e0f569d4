//! Segments of up to a tile that follow one another, in one call.

use super::asking::Wanted;
use super::format::Whole;
use super::outlet::Outlet;
use super::rows::medium::{self, Segments};
use super::tile::{Shape, by_shape, shape};
use crate::arch::{Words, Work};
use kogge_core::{Element, Kind, Operator, Order};
use std::marker::PhantomData;

/// Elements of the longest such segment, if there are rows of vectors for such elements.
pub(crate) const fn longest<T, A: Element, O: Operator<A>>() -> Option<usize> {
    match shape::<Whole, T, A, O>() {
        Shape::Narrow(_) | Shape::Wide(_) => Some(Order::of::<T>().tile()),
        Shape::Exact | Shape::Array => None,
    }
}

/// Segments to be scanned at some SIMD level. Made where they are known to be this thread's; `T` is
/// the element as it lies in memory.
pub(crate) struct Medium<'a, T, A, O> {
    pub(crate) operator: &'a O,
    pub(crate) kind: Kind,
    pub(crate) init: Option<A>,
    /// The element at place 0.
    pub(crate) from: *const A,
    /// Where segments start, and where the last ends.
    pub(crate) bounds: &'a [usize],
    /// Where places end that are readable, and not written meanwhile.
    pub(crate) readable: usize,
    /// What values leave through, to place 0 and on; place 0 of the input may be there too.
    pub(crate) out: &'a mut Outlet,
    /// Whether values go to where they belong at once, past the outlet: they overwrite no elements, and don't go past
    /// the caches.
    pub(crate) at_once: bool,
    pub(crate) wanted: Wanted,
    pub(crate) element: PhantomData<T>,
}

impl<T: Element, A: Element, O: Operator<A>> Work for Medium<'_, T, A, O> {
    type Output = ();
    const COMPACT: bool = O::COMPACT;

    #[inline(always)]
    unsafe fn run<W32: Words<Word = u32>, W64: Words<Word = u64>>(self) {
        // SAFETY: passed on; the size of `A` is what the arm says.
        unsafe {
            by_shape! { shape::<Whole, T, A, O>();
                Shape::Narrow(1) => self.all::<W32, 1>(),
                Shape::Narrow(2) => self.all::<W32, 2>(),
                Shape::Narrow(_) => self.all::<W32, 4>(),
                Shape::Wide(1) => self.all::<W64, 1>(),
                Shape::Wide(_) => self.all::<W64, 2>(),
            }
        }
    }
}

impl<T: Element, A: Element, O: Operator<A>> Medium<'_, T, A, O> {
    /// # Safety
    ///
    /// The segments as whoever made the value vouches; `A` must be `W` words of `H`, and a row of it
    /// 512 bytes; the CPU features of `H` must be present.
    #[inline(always)]
    unsafe fn all<H: Words, const W: usize>(self) {
        let Self { operator, kind, init, from, bounds, readable, out, at_once, wanted, .. } = self;
        let bytes = |place: usize| place * size_of::<A>();
        let (first, last) = (bytes(bounds[0]), bytes(bounds[bounds.len() - 1]));
        let segments = Segments { from, bounds, readable, init, at_once, wanted };
        // SAFETY: by contract.
        unsafe {
            if at_once {
                return medium::scan::<H, A, O, W>(operator, kind, segments, out);
            }
            out.open(first);
            medium::scan::<H, A, O, W>(operator, kind, segments, out);
            out.close::<H>(last);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
