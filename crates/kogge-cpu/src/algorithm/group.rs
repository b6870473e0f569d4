//! A group: sixteen lines side by side, a register lane for each.
//!
//! Lanes never meet, so each line has the order of a line alone. What is known of a group between
//! two chunks of a row is what precedes the row, and the Kogge–Stone levels of the chunks so far;
//! or, under an operator that is as good in any order, what precedes the next chunk.

use super::free;
use crate::arch::Vectors;
use crate::array::{for_each, map};
use crate::room::Room;
use kogge_core::{Accumulate, Element, Operator, Order};
use std::marker::PhantomData;

/// Lines of a group.
pub(crate) const LANES: usize = 16;

/// Kogge–Stone steps of a row.
pub(super) const LEVELS: usize = Order::CHUNKS_PER_ROW.ilog2() as usize;

/// Where level `k` of a group has what chunk `c` is combined with, and leaves its own.
#[inline(always)]
pub(super) const fn slot(k: usize, c: usize) -> usize {
    (1 << k) - 1 + c % (1 << k)
}

/// An accumulator of each line of a group.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Lanes<A>(pub(crate) [A; LANES]);

impl<A> Lanes<A> {
    /// Whether there are bytes behind the last one, which nobody writes.
    const PADDED: bool = size_of::<Self>() > LANES * size_of::<A>();
}

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
            for_each!(0..LANES * size_of::<A>() / P::BYTES, |v| {
                // SAFETY: vector `v` of each; features by contract.
                unsafe {
                    let left = (&raw const *left).cast::<P::Vector>().add(v).read();
                    let right = (&raw const *right).cast::<P::Vector>().add(v).read();
                    let value = free::combine::<P, A, O>(operator, left, right);
                    (&raw mut combined).cast::<P::Vector>().add(v).write(value);
                }
            });
        } else {
            for_each!(0..LANES, |n| {
                combined.0[n] = operator.combine(left.0[n], right.0[n]);
            });
        }
        combined
    }
}

/// Whether the lanes of a group are whole vectors, and so are their elements.
pub(super) const fn fills<P: Vectors, A>() -> bool {
    let (vector, size) = (P::BYTES, size_of::<A>());
    vector > 0 && size > 0 && vector.is_multiple_of(size) && (LANES * size).is_multiple_of(vector)
}

/// What is known of the groups of a strip between two chunks.
///
/// In any order that is what precedes the next chunk, and it lies side by side, as the lines do.
pub(crate) struct Groups<A> {
    /// In one piece, as short lines feel each that is allocated: the [befores](Group::before) of
    /// all groups, their [chunks](Group::chunks), [two more of each](Known::totals), and group by
    /// group their [slots](Group::slots).
    lanes: Room,
    /// Groups.
    count: usize,
    /// Slots of each.
    slots: usize,
    accumulator: PhantomData<A>,
}

impl<A: Element> Groups<A> {
    pub(crate) fn new() -> Self {
        Self { lanes: Room::new(), count: 0, slots: 0, accumulator: PhantomData }
    }

    /// Makes them so many, of lines of so many chunks, of which nothing is known yet.
    pub(crate) fn resize<O: Operator<A>>(&mut self, count: usize, chunks: usize) {
        let slots = match const { O::EXACT } {
            true => 0,
            false => chunks.min(Order::CHUNKS_PER_ROW).next_power_of_two() - 1,
        };
        (self.count, self.slots) = (count, slots);
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Says what precedes the rows, group by group.
    pub(crate) fn set_befores(&mut self, befores: impl Iterator<Item = [A; LANES]>) {
        for (lanes, before) in self.known().befores.iter_mut().zip(befores) {
            *lanes = Lanes(before);
        }
    }

    /// What precedes the next chunks in any order, group by group.
    pub(crate) fn befores(&mut self) -> impl Iterator<Item = [A; LANES]> {
        self.known().befores.iter().map(|lanes| lanes.0)
    }

    /// The folds of the row, group by group.
    pub(crate) fn folds(&mut self) -> impl Iterator<Item = [A; LANES]> {
        self.known().chunks.iter().map(|lanes| lanes.0)
    }

    /// All that is known.
    #[inline(always)]
    pub(super) fn known(&mut self) -> Known<'_, A> {
        let count = self.count * (4 + self.slots);
        let room = self.lanes.bytes(count * size_of::<Lanes<A>>(), align_of::<Lanes<A>>());
        // SAFETY: there is so much room, which nobody else has; any bytes are accumulators, and those
        // have all been written, if only as zeros.
        let lanes = unsafe { std::slice::from_raw_parts_mut(room.cast::<Lanes<A>>(), count) };
        let (befores, others) = lanes.split_at_mut(self.count);
        let (chunks, others) = others.split_at_mut(self.count);
        let (totals, others) = others.split_at_mut(self.count);
        let (throughs, slots) = others.split_at_mut(self.count);
        Known { befores, chunks, totals, throughs, slots, each: self.slots }
    }
}

impl<A> Drop for Groups<A> {
    fn drop(&mut self) {
        // Others may want to read each byte.
        if const { Lanes::<A>::PADDED } {
            self.lanes.discard();
        }
    }
}

/// What is known of groups, in slices: group by group.
pub(super) struct Known<'a, A> {
    pub(super) befores: &'a mut [Lanes<A>],
    pub(super) chunks: &'a mut [Lanes<A>],
    /// Of the places of a chunk so far, where all groups go place by place: their fold, and that
    /// of what precedes the chunk and them.
    pub(super) totals: &'a mut [Lanes<A>],
    pub(super) throughs: &'a mut [Lanes<A>],
    slots: &'a mut [Lanes<A>],
    each: usize,
}

impl<A> Known<'_, A> {
    #[inline(always)]
    pub(super) fn group(&mut self, g: usize) -> Group<'_, A> {
        let slots = &mut self.slots[g * self.each..][..self.each];
        Group { before: &mut self.befores[g], chunks: &mut self.chunks[g], slots }
    }
}

/// One of them.
pub(super) struct Group<'a, A> {
    /// What precedes the row, if anything does; given. In any order, what precedes the next chunk.
    pub(super) before: &'a mut Lanes<A>,
    /// The Kogge–Stone value of the last chunk; in the end the fold of the row, the result.
    pub(super) chunks: &'a mut Lanes<A>,
    /// Before step k the values of the last 2ᵏ chunks, each in its [slot]; of those steps that a
    /// row has.
    pub(super) slots: &'a mut [Lanes<A>],
}

impl<A: Element> Group<'_, A> {
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
            _ if const { O::EXACT } => *self.before,
            (0, _) => *self.before,
            // SAFETY: by contract.
            (_, true) => unsafe { Lanes::combine::<P, O>(operator, self.before, self.chunks) },
            (_, false) => *self.chunks,
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
                    value = Lanes::combine::<P, O>(operator, self.chunks, &value);
                }
            } else {
                for k in 0..LEVELS {
                    let Some(slot) = self.slots.get_mut(slot(k, c)) else { break };
                    let left = std::mem::replace(slot, value);
                    if c >= 1 << k {
                        value = Lanes::combine::<P, O>(operator, &left, &value);
                    }
                }
            }
        }
        *self.chunks = value;
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
        if const { O::EXACT } {
            // SAFETY: passed on.
            return unsafe { self.push::<P, O>(operator, c, total) };
        }
        let (mut value, mut k) = (total, 0);
        while (c >> k) & 1 == 1 {
            // SAFETY: by contract.
            value = unsafe { Lanes::combine::<P, O>(operator, &self.slots[slot(k, 0)], &value) };
            k += 1;
        }
        if k < LEVELS {
            self.slots[slot(k, 0)] = value;
        }
        *self.chunks = value;
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
