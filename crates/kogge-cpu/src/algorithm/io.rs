//! How elements become accumulators and values become elements: straight from memory where types
//! and direction allow, through a segment-sized stage in L1 elsewhere.

use super::format::{Format, Whole};
use kogge_core::{Accumulate, Direction, Element};
use std::marker::PhantomData;

/// Where a scan reads and writes, in units of the scanned sequence: place 0 is the first element
/// to be taken in, whatever the direction.
///
/// # Safety
///
/// The pointers given out must be valid as each method says.
pub(crate) unsafe trait Io<A: Element>: Sync {
    /// The element as it lies in memory.
    type Element: Element;

    /// How it lies there, or in the stage.
    type Format: Format;

    /// Whether a stage is used at all.
    const STAGED: bool;

    /// Whether values at `target` should be stored past the caches.
    const STREAM: bool = false;

    /// Accumulators of the places `start..start + len`: in memory, or put into `stage`.
    ///
    /// # Safety
    ///
    /// The places must exist, and `stage` hold `len` accumulators.
    unsafe fn load(&self, start: usize, len: usize, stage: *mut A) -> *const A;

    /// Where to put the values of these places before [`store`](Self::store).
    ///
    /// # Safety
    ///
    /// As for [`load`](Self::load).
    unsafe fn target(&self, start: usize, stage: *mut A) -> *mut A;

    /// Brings the values that were put at `target` to memory.
    ///
    /// # Safety
    ///
    /// As for [`load`](Self::load), with `len` values at `target`.
    unsafe fn store(&self, start: usize, len: usize, stage: *const A);
}

/// Elements are their own accumulators, in memory order; values are stored as usual, or past the
/// caches.
pub(crate) struct Direct<A, const STREAM: bool> {
    /// The first element.
    pub from: *const A,
    /// The first value; `from`, or not overlapping it.
    pub to: *mut A,
}

// SAFETY: threads write disjoint places only; the caller of the scan vouches for the memory.
unsafe impl<A: Element, const STREAM: bool> Sync for Direct<A, STREAM> {}

// SAFETY: places are elements at `from` and `to`, or the stage.
unsafe impl<A: Element, const STREAM: bool> Io<A> for Direct<A, STREAM> {
    type Element = A;
    type Format = Whole;

    const STAGED: bool = false;

    const STREAM: bool = STREAM;

    #[inline(always)]
    unsafe fn load(&self, start: usize, _len: usize, _stage: *mut A) -> *const A {
        // SAFETY: the place exists.
        unsafe { self.from.add(start) }
    }

    #[inline(always)]
    unsafe fn target(&self, start: usize, _stage: *mut A) -> *mut A {
        // SAFETY: the place exists.
        unsafe { self.to.add(start) }
    }

    #[inline(always)]
    unsafe fn store(&self, _start: usize, _len: usize, _stage: *const A) {}
}

/// Halves and their values, in memory order; they are widened and narrowed in registers.
pub(crate) struct Halves<F, T, const STREAM: bool> {
    /// The first element.
    pub from: *const T,
    /// The first value; `from`, or not overlapping it.
    pub to: *mut T,
    /// How they lie there.
    pub format: PhantomData<F>,
}

// SAFETY: threads write disjoint places only; the caller of the scan vouches for the memory.
unsafe impl<F: Format, T: Element, const STREAM: bool> Sync for Halves<F, T, STREAM> {}

// SAFETY: places are elements at `from` and `to`.
unsafe impl<F, T, A, const STREAM: bool> Io<A> for Halves<F, T, STREAM>
where
    F: Format,
    T: Accumulate<A>,
    A: Element,
{
    type Element = T;
    type Format = F;

    const STAGED: bool = false;

    const STREAM: bool = STREAM;

    #[inline(always)]
    unsafe fn load(&self, start: usize, _len: usize, _stage: *mut A) -> *const A {
        // SAFETY: the place exists.
        unsafe { self.from.add(start).cast() }
    }

    #[inline(always)]
    unsafe fn target(&self, start: usize, _stage: *mut A) -> *mut A {
        // SAFETY: the place exists.
        unsafe { self.to.add(start).cast() }
    }

    #[inline(always)]
    unsafe fn store(&self, _start: usize, _len: usize, _stage: *const A) {}
}

/// Everything else: elements are converted to accumulators and back, in either direction.
pub(crate) struct Converted<T, U, A> {
    /// The first element in memory.
    pub from: *const T,
    /// The first value in memory; `from`, or not overlapping it.
    pub to: *mut U,
    /// Elements in all.
    pub len: usize,
    /// From which end the sequence is taken in.
    pub direction: Direction,
    /// The accumulator.
    pub accumulator: PhantomData<fn() -> A>,
}

// SAFETY: threads write disjoint places only; the caller of the scan vouches for the memory.
unsafe impl<T: Element, U: Element, A: Element> Sync for Converted<T, U, A> {}

// SAFETY: places are elements at `from` and `to`, or the stage.
unsafe impl<T: Accumulate<A>, U: Accumulate<A>, A: Element> Io<A> for Converted<T, U, A> {
    type Element = T;
    type Format = Whole;

    const STAGED: bool = true;

    #[inline(always)]
    unsafe fn load(&self, start: usize, len: usize, stage: *mut A) -> *const A {
        // SAFETY: the places exist, and the stage holds `len` accumulators.
        unsafe {
            match self.direction {
                Direction::Forward => {
                    let from = self.from.add(start);
                    for i in 0..len {
                        stage.add(i).write((*from.add(i)).widen());
                    }
                }
                Direction::Reverse => {
                    let last = self.from.add(self.len - 1 - start);
                    for i in 0..len {
                        stage.add(i).write((*last.sub(i)).widen());
                    }
                }
            }
        }
        stage
    }

    #[inline(always)]
    unsafe fn target(&self, _start: usize, stage: *mut A) -> *mut A {
        stage
    }

    #[inline(always)]
    unsafe fn store(&self, start: usize, len: usize, stage: *const A) {
        // SAFETY: the places exist, and the stage holds `len` values.
        unsafe {
            match self.direction {
                Direction::Forward => {
                    let to = self.to.add(start);
                    for i in 0..len {
                        to.add(i).write(U::narrow(*stage.add(i)));
                    }
                }
                Direction::Reverse => {
                    let last = self.to.add(self.len - 1 - start);
                    for i in 0..len {
                        last.sub(i).write(U::narrow(*stage.add(i)));
                    }
                }
            }
        }
    }
}

/// One line along a stride.
pub(crate) struct Strided<T, U, A> {
    /// The first element.
    pub from: *const T,
    /// The first value.
    pub to: *mut U,
    /// From one place to the next, in elements and in values.
    pub strides: [isize; 2],
    /// The accumulator.
    pub accumulator: PhantomData<fn() -> A>,
}

// SAFETY: threads write disjoint places only; the caller of the scan vouches for the memory.
unsafe impl<T: Element, U: Element, A: Element> Sync for Strided<T, U, A> {}

// SAFETY: places are elements along the strides, or the stage.
unsafe impl<T: Accumulate<A>, U: Accumulate<A>, A: Element> Io<A> for Strided<T, U, A> {
    type Element = T;
    type Format = Whole;

    const STAGED: bool = true;

    #[inline(always)]
    unsafe fn load(&self, start: usize, len: usize, stage: *mut A) -> *const A {
        for i in 0..len {
            // SAFETY: the places exist, and the stage holds `len` accumulators.
            unsafe {
                let place = self.from.offset((start + i) as isize * self.strides[0]);
                stage.add(i).write((*place).widen());
            }
        }
        stage
    }

    #[inline(always)]
    unsafe fn target(&self, _start: usize, stage: *mut A) -> *mut A {
        stage
    }

    #[inline(always)]
    unsafe fn store(&self, start: usize, len: usize, stage: *const A) {
        for i in 0..len {
            // SAFETY: the places exist, and the stage holds `len` values.
            unsafe {
                let place = self.to.offset((start + i) as isize * self.strides[1]);
                place.write(U::narrow(*stage.add(i)));
            }
        }
    }
}
