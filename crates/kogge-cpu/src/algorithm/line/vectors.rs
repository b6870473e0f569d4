//! The lanes of lines side by side that are one line of the cache, in vectors.

use crate::algorithm::free::combine;
use crate::arch::Vectors;
use crate::arch::stream::LINE;
use crate::array::{array, for_each};
use kogge_core::{Element, Operator};

/// The vectors of a line of the cache.
pub(super) type Line<P, const N: usize> = [<P as Vectors>::Vector; N];

/// Vectors of a line of the cache; 0 at a level without.
pub(super) const fn vectors<P: Vectors>() -> usize {
    match LINE.checked_div(P::BYTES) {
        Some(vectors) => vectors,
        None => 0,
    }
}

/// # Safety
///
/// A line of elements must be readable; the CPU features of `P` be present.
#[inline(always)]
pub(super) unsafe fn load<P: Vectors, const N: usize>(from: *const u8) -> Line<P, N> {
    // SAFETY: by contract.
    array(|v| unsafe { P::load(from.wrapping_add(v * P::BYTES)) })
}

/// # Safety
///
/// A line must be writable; the CPU features of `P` be present.
#[inline(always)]
pub(super) unsafe fn store<P: Vectors, const N: usize>(line: Line<P, N>, to: *mut u8) {
    for_each!(0..N, |v| {
        // SAFETY: by contract.
        unsafe { P::store(line[v], to.wrapping_add(v * P::BYTES)) }
    });
}

/// # Safety
///
/// A line of the cache must be writable; the CPU features of `P` be present.
#[inline(always)]
pub(super) unsafe fn stream<P: Vectors, const N: usize>(line: Line<P, N>, to: *mut u8) {
    for_each!(0..N, |v| {
        // SAFETY: by contract.
        unsafe { P::stream(line[v], to.wrapping_add(v * P::BYTES)) }
    });
}

/// `left ∘ right`, lane by lane.
///
/// # Safety
///
/// The CPU features of `P` must be present.
#[inline(always)]
pub(super) unsafe fn join<P: Vectors, A: Element, O: Operator<A>, const N: usize>(
    operator: &O,
    left: &Line<P, N>,
    right: &Line<P, N>,
) -> Line<P, N> {
    // SAFETY: by contract.
    array(|v| unsafe { combine::<P, A, O>(operator, left[v], right[v]) })
}
