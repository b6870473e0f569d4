//! Segments that follow one another, in one call.

use super::asking::Wanted;
use super::format::Whole;
use super::outlet::Outlet;
use super::rows::successive::{self, Segments};
use super::shape::{Shape, by_shape, shape};
use crate::arch::{Words, Work};
use kogge_core::{Element, Kind, Operator, Prefix};
use std::marker::PhantomData;

/// Whether there are rows of vectors for such elements.
pub(crate) const fn by_rows<T, A: Element, O: Operator<A>>() -> bool {
    matches!(shape::<Whole, T, A, O>(), Shape::Narrow(_) | Shape::Wide(_))
}

/// Segments to be scanned at some SIMD level. Made where they are known to be this thread's; `T` is
/// the element as it lies in memory.
pub(crate) struct Successive<'a, T, A, O> {
    pub(crate) operator: &'a O,
    pub(crate) kind: Kind,
    pub(crate) init: Option<A>,
    /// The element at place 0.
    pub(crate) from: *const A,
    /// Where segments start, and where the last ends.
    pub(crate) bounds: &'a [usize],
    /// Where places end that are readable, and not written meanwhile.
    pub(crate) readable: usize,
    /// For segments of more than a tile.
    pub(crate) prefix: &'a mut Prefix<A>,
    /// What values leave through, to place 0 and on; place 0 of the input may be there too.
    pub(crate) out: &'a mut Outlet,
    /// Whether values go to where they belong at once, past the outlet: they overwrite no elements,
    /// and don't go past the caches.
    pub(crate) at_once: bool,
    pub(crate) wanted: Wanted,
    pub(crate) element: PhantomData<T>,
}

impl<T: Element, A: Element, O: Operator<A>> Work for Successive<'_, T, A, O> {
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

impl<T: Element, A: Element, O: Operator<A>> Successive<'_, T, A, O> {
    /// # Safety
    ///
    /// The segments as whoever made the value vouches; `A` must be `W` words of `H`, and a row of
    /// it 512 bytes; the CPU features of `H` must be present.
    #[inline(always)]
    unsafe fn all<H: Words, const W: usize>(self) {
        let Self { operator, kind, init, from, bounds, readable, out, at_once, wanted, .. } = self;
        let segments = Segments { from, bounds, readable, init, at_once, wanted };
        // SAFETY: by contract.
        unsafe {
            if !at_once {
                out.open(bounds[0] * size_of::<A>());
            }
            successive::scan::<H, A, O, W>(operator, kind, segments, self.prefix, out);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
