//! A vector scanned where it lies, and what precedes its lanes.

use super::combine;
use crate::arch::Ordered;
use kogge_core::{Element, Operator};

/// A vector whose lanes have been scanned, each by itself where they are [apart](Ordered::APART).
///
/// What precedes each lane then is another thing: from one vector to the next it grows by the
/// totals of two lanes, each lane's own and the one that follows it, which is the first of the next
/// vector for the second. That takes one move between lanes a vector, where scanning across them
/// takes two, and the last element's another.
pub(super) struct Lanes<P: Ordered> {
    pub(super) scanned: P::Vector,
    /// The total of each lane throughout it; that of all throughout the vector, where they were
    /// scanned together.
    totals: P::Vector,
}

impl<P: Ordered> Lanes<P> {
    /// `nothing` is the identity throughout.
    ///
    /// # Safety
    ///
    /// `S` must be the size of `A`, and the CPU features of `P` present, as for all that follow.
    #[inline(always)]
    pub(super) unsafe fn scan<A: Element, O: Operator<A>, const S: usize>(
        operator: &O,
        nothing: P::Vector,
        mut vector: P::Vector,
    ) -> Self {
        // SAFETY: by contract.
        unsafe {
            if S <= 1 {
                vector = combine::<P, A, O>(operator, P::up::<1>(nothing, vector), vector);
            }
            if S <= 2 {
                vector = combine::<P, A, O>(operator, P::up::<2>(nothing, vector), vector);
            }
            if S <= 4 {
                vector = combine::<P, A, O>(operator, P::up::<4>(nothing, vector), vector);
            }
            vector = combine::<P, A, O>(operator, P::up::<8>(nothing, vector), vector);
            if P::APART {
                return Self { scanned: vector, totals: P::lasts::<S>(vector) };
            }
            if P::BYTES > 16 {
                vector = combine::<P, A, O>(operator, P::across::<S>(nothing, vector), vector);
            }
            if P::BYTES > 32 {
                vector = combine::<P, A, O>(operator, P::halfway::<S>(nothing, vector), vector);
            }
            Self { scanned: vector, totals: P::last::<S>(vector) }
        }
    }

    /// What precedes each lane, given what precedes the first throughout a vector.
    ///
    /// # Safety
    ///
    /// As for [`scan`](Self::scan).
    #[inline(always)]
    pub(super) unsafe fn enter<A: Element, O: Operator<A>>(
        &self,
        operator: &O,
        nothing: P::Vector,
        through: P::Vector,
    ) -> P::Vector {
        if !P::APART {
            return through;
        }
        // SAFETY: passed on.
        unsafe { combine::<P, A, O>(operator, through, P::between(nothing, self.totals)) }
    }

    /// What precedes each lane of the next vector, given what precedes each of this one.
    ///
    /// # Safety
    ///
    /// As for [`scan`](Self::scan).
    #[inline(always)]
    pub(super) unsafe fn go_on<A: Element, O: Operator<A>>(
        &self,
        operator: &O,
        before: P::Vector,
        next: &Self,
    ) -> P::Vector {
        // SAFETY: passed on.
        unsafe {
            let mut more = self.totals;
            if P::APART {
                more = combine::<P, A, O>(operator, more, P::between(more, next.totals));
            }
            combine::<P, A, O>(operator, before, more)
        }
    }

    /// The fold with this vector throughout one, given what precedes each lane.
    ///
    /// # Safety
    ///
    /// As for [`scan`](Self::scan).
    #[inline(always)]
    pub(super) unsafe fn leave<A: Element, O: Operator<A>, const S: usize>(
        &self,
        operator: &O,
        before: P::Vector,
    ) -> P::Vector {
        // SAFETY: passed on.
        unsafe {
            let through = combine::<P, A, O>(operator, before, self.totals);
            if P::APART { P::last::<S>(through) } else { through }
        }
    }
}
