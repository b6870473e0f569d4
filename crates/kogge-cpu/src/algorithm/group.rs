//! A group: sixteen lines side by side, a register lane for each.
//!
//! Lanes never meet, so each line has the order of a line alone. What is known of a group between
//! two chunks of a row is what precedes the row, and the Kogge–Stone levels of the chunks so far.

use super::free;
use crate::arch::Vectors;
use crate::array::map;
use kogge_core::{Accumulate, Element, Operator, Order};
use std::mem::MaybeUninit;

/// Lines of a group.
pub(crate) const LANES: usize = 16;

/// Kogge–Stone steps of a row.
pub(super) const LEVELS: usize = Order::CHUNKS_PER_ROW.ilog2() as usize;

/// An accumulator of each line of a group.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Lanes<A>(pub(crate) [A; LANES]);

impl<A: Element> Lanes<A> {
    pub(crate) fn zeroed() -> Self {
        Self([A::zeroed(); LANES])
    }

    /// Lanes as they lie in memory.
    ///
    /// # Safety
    ///
    /// Sixteen elements must be readable.
    #[inline(always)]
    pub(super) unsafe fn read<T: Accumulate<A>>(from: *const T) -> Self {
        // SAFETY: by contract; a `T` that is the same as `A` is an `A`.
        unsafe {
            if const { T::SAME.holds() } {
                Self(from.cast::<[A; LANES]>().read_unaligned())
            } else {
                Self(map(from.cast::<[T; LANES]>().read_unaligned(), T::widen))
            }
        }
    }

    /// # Safety
    ///
    /// Sixteen values must be writable.
    #[inline(always)]
    pub(super) unsafe fn write<U: Accumulate<A>>(self, to: *mut U) {
        // SAFETY: as in `read`.
        unsafe {
            if const { U::SAME.holds() } {
                to.cast::<[A; LANES]>().write_unaligned(self.0);
            } else {
                to.cast::<[U; LANES]>().write_unaligned(map(self.0, U::narrow));
            }
        }
    }

    /// `left ∘ right`, lane by lane: a vector at a time, where they fill some, lest the compiler
    /// mix the lanes of different vectors.
    ///
    /// # Safety
    ///
    /// The CPU features of `P` must be present.
    #[inline(always)]
    pub(super) unsafe fn combine<P: Vectors, O: Operator<A>>(
        operator: &O,
        left: &Self,
        right: &Self,
    ) -> Self {
        if const { O::COMPACT } {
            let mut combined = *right;
            operator.combine_each(&left.0, &mut combined.0);
            return combined;
        }
        let mut combined = *left;
        if const { fills::<P, A>() } {
            for v in 0..LANES * size_of::<A>() / P::BYTES {
                // SAFETY: vector `v` of each; features by contract.
                unsafe {
                    let left = (&raw const *left).cast::<P::Vector>().add(v).read();
                    let right = (&raw const *right).cast::<P::Vector>().add(v).read();
                    let value = free::combine::<P, A, O>(operator, left, right);
                    (&raw mut combined).cast::<P::Vector>().add(v).write(value);
                }
            }
        } else {
            for n in 0..LANES {
                combined.0[n] = operator.combine(left.0[n], right.0[n]);
            }
        }
        combined
    }
}

/// Whether the lanes of a group are whole vectors, and so are their elements.
pub(super) const fn fills<P: Vectors, A>() -> bool {
    let (vector, size) = (P::BYTES, size_of::<A>());
    vector > 0 && size > 0 && vector.is_multiple_of(size) && (LANES * size).is_multiple_of(vector)
}

/// What is known of a group between two chunks.
pub(crate) struct Group<A> {
    /// What precedes the row, if anything does; given.
    pub(crate) before: Lanes<A>,
    /// The Kogge–Stone value of the last chunk; in the end the fold of the row, the result.
    pub(crate) chunks: Lanes<A>,
    /// Before step k, the values of the last 2ᵏ chunks: that of chunk `c` at `2ᵏ - 1 + c % 2ᵏ`.
    pub(super) levels: [MaybeUninit<Lanes<A>>; (1 << LEVELS) - 1],
}

impl<A: Element> Group<A> {
    /// Makes of some groups so many, and writes no more of them than it must: short lines come to
    /// an end before they have many levels.
    pub(crate) fn resize(groups: &mut Vec<Self>, count: usize) {
        groups.truncate(count);
        if groups.capacity() < count {
            *groups = Vec::with_capacity(count);
        }
        let more = count - groups.len();
        for group in &mut groups.spare_capacity_mut()[..more] {
            let group = group.as_mut_ptr();
            // SAFETY: fields of a group in the vector's room; levels need no value.
            unsafe {
                (&raw mut (*group).before).write(Lanes::zeroed());
                (&raw mut (*group).chunks).write(Lanes::zeroed());
            }
        }
        // SAFETY: they have been made.
        unsafe { groups.set_len(count) };
    }

    /// What precedes chunk `c`, if anything does.
    ///
    /// # Safety
    ///
    /// The CPU features of `P` must be present.
    #[inline(always)]
    pub(super) unsafe fn before<P: Vectors, O: Operator<A>>(
        &self,
        operator: &O,
        c: usize,
        preceded: bool,
    ) -> Lanes<A> {
        match (c, preceded) {
            (0, _) => self.before,
            // SAFETY: by contract.
            (_, true) => unsafe { Lanes::combine::<P, O>(operator, &self.before, &self.chunks) },
            (_, false) => self.chunks,
        }
    }

    /// Takes in the total of chunk `c`, whose Kogge–Stone value is then in `chunks`.
    ///
    /// # Safety
    ///
    /// The chunks of the row before it must have been taken in; the CPU features of `P` must be
    /// present.
    #[inline(always)]
    pub(super) unsafe fn push<P: Vectors, O: Operator<A>>(
        &mut self,
        operator: &O,
        c: usize,
        total: Lanes<A>,
    ) {
        let mut value = total;
        // SAFETY: by contract.
        unsafe {
            if const { O::EXACT } {
                // Any tree has the same bits.
                if c > 0 {
                    value = Lanes::combine::<P, O>(operator, &self.chunks, &value);
                }
            } else {
                for k in 0..LEVELS {
                    let distance = 1 << k;
                    let place = &mut self.levels[distance - 1 + c % distance];
                    let left = std::mem::replace(place, MaybeUninit::new(value));
                    if c >= distance {
                        // Left by that chunk.
                        value = Lanes::combine::<P, O>(operator, left.assume_init_ref(), &value);
                    }
                }
            }
        }
        self.chunks = value;
    }

    /// Takes in the total of chunk `c` of a full row of which nothing but the fold is wanted, the
    /// last Kogge–Stone value: neighbours are combined, and one that has none yet waits at its
    /// level's first place. A quarter of the operations.
    ///
    /// # Safety
    ///
    /// As for [`push`](Self::push).
    #[inline(always)]
    pub(super) unsafe fn fold<P: Vectors, O: Operator<A>>(
        &mut self,
        operator: &O,
        c: usize,
        total: Lanes<A>,
    ) {
        let (mut value, mut k) = (total, 0);
        while (c >> k) & 1 == 1 {
            // SAFETY: by contract, and left by the neighbour.
            value = unsafe {
                let left = self.levels[(1 << k) - 1].assume_init_ref();
                Lanes::combine::<P, O>(operator, left, &value)
            };
            k += 1;
        }
        if k < LEVELS {
            self.levels[(1 << k) - 1] = MaybeUninit::new(value);
        }
        self.chunks = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::ordered::{self, bytes::V};
    use kogge_core::from_fn;

    /// By vectors of either width, and without.
    fn lane_by_lane<A: Element>(
        combine: impl Fn(A, A) -> A + Copy + Send + Sync,
        make: impl Fn(u64) -> A,
    ) {
        let operator = from_fn(A::zeroed(), combine);
        let bits = |i: usize| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        let [left, right] =
            [0, LANES].map(|from| Lanes(std::array::from_fn(|n| make(bits(from + n)))));
        let want: [A; LANES] = std::array::from_fn(|n| combine(left.0[n], right.0[n]));
        // SAFETY: arrays need no CPU feature.
        let combined = unsafe {
            [
                Lanes::combine::<ordered::None, _>(&operator, &left, &right),
                Lanes::combine::<V<16>, _>(&operator, &left, &right),
                Lanes::combine::<V<32>, _>(&operator, &left, &right),
            ]
        };
        for (way, combined) in combined.iter().enumerate() {
            let bytes = bytemuck::bytes_of::<[A; LANES]>;
            assert!(bytes(&combined.0) == bytes(&want), "way {way}, {} bytes", size_of::<A>());
        }
    }

    #[test]
    fn lanes_never_meet() {
        lane_by_lane(|x: u8, y| x.wrapping_mul(3).wrapping_add(y), |bits| bits as u8);
        lane_by_lane(|x: u32, y| x.wrapping_mul(3).wrapping_add(y), |bits| bits as u32);
        lane_by_lane(|x: u64, y| x.wrapping_mul(3).wrapping_add(y), |bits| bits);
        lane_by_lane(|x: [u32; 4], y| [x[1], y[0], x[3], y[2]], |bits| [bits as u32; 4]);
    }
}
