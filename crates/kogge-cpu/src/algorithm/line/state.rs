//! What is known of a line of the cache of a group between chunks: where it lies, and what is in
//! registers of it.

use super::vectors::{Line, join, load, store};
use super::{HELD, MOST};
use crate::algorithm::group::{Group, LEVELS, Lanes, slot};
use crate::arch::Vectors;
use crate::array::for_each;
use kogge_core::{Element, Operator};

/// Levels whose values stay in registers in a visit of so many chunks.
const fn log2(chunks: usize) -> usize {
    if chunks > 1 { chunks.ilog2() as usize } else { 0 }
}

/// What is known of such a line.
pub(super) struct State<P: Vectors, const N: usize> {
    /// What precedes the row.
    pub(super) row: *const u8,
    /// Where the last value goes in the end, and where those of the levels lie.
    pub(super) last_goes: *mut u8,
    slots: *mut u8,
    /// The Kogge–Stone value of the chunk before; of a scan in any order what precedes the next one.
    pub(super) last: Line<P, N>,
    /// The values of the lowest levels, where more than a chunk is visited.
    held: [Line<P, N>; HELD],
}

impl<P: Vectors, const N: usize> State<P, N> {
    /// Of the line that begins `first` bytes into a group; `running`, if what precedes its row runs
    /// on from chunk to chunk.
    ///
    /// # Safety
    ///
    /// The group must have such a line; the CPU features of `P` must be present.
    #[inline(always)]
    pub(super) unsafe fn of<A: Element>(
        group: &mut Group<'_, A>,
        first: usize,
        running: bool,
    ) -> Self {
        let slots = group.slots.as_mut_ptr();
        let [row, chunks] = [&mut *group.before, &mut *group.chunks]
            .map(|lanes| (&raw mut *lanes).wrapping_byte_add(first).cast::<u8>());
        let last_goes = if running { row } else { chunks };
        // SAFETY: by contract; lanes that are there.
        let last = unsafe { load::<P, N>(last_goes) };
        let slots = slots.wrapping_byte_add(first).cast();
        Self { row, last_goes, slots, last, held: [last; HELD] }
    }

    /// The value of a level in a slot.
    #[inline(always)]
    fn slot<A>(&self, slot: usize) -> *mut u8 {
        self.slots.wrapping_add(slot * size_of::<Lanes<A>>())
    }

    /// Brings the lowest levels into registers, before the chunk of this number.
    ///
    /// # Safety
    ///
    /// As for [`of`](Self::of); the number must be a multiple of `C`.
    #[inline(always)]
    pub(super) unsafe fn hold<A: Element, const C: usize>(&mut self, number: usize) {
        if number > 0 {
            for_each!(0..C - 1, |slot| {
                let level = self.slots.wrapping_add(slot * size_of::<Lanes<A>>());
                // SAFETY: by contract.
                self.held[slot] = unsafe { load::<P, N>(level) };
            });
        }
    }

    /// Leaves them in memory, if chunks follow: `left` from the last on.
    ///
    /// # Safety
    ///
    /// As for [`of`](Self::of).
    #[inline(always)]
    pub(super) unsafe fn leave<A: Element, const C: usize>(&self, left: usize) {
        if left > 1 {
            for_each!(0..C - 1, |slot| {
                // SAFETY: by contract.
                unsafe { store::<P, N>(self.held[slot], self.slot::<A>(slot)) };
            });
        }
    }

    /// Takes in the total of a chunk, as [`Group::push`] does, of a visit of `C` chunks the one at
    /// place `c`, and `number` in the row, of which `left` chunks are left from it on.
    ///
    /// # Safety
    ///
    /// As for [`of`](Self::of); in a visit of more than one the lowest levels must be held.
    #[inline(always)]
    pub(super) unsafe fn take_in<A: Element, O: Operator<A>, const C: usize>(
        &mut self,
        operator: &O,
        (c, number): (usize, usize),
        left: usize,
        mut value: Line<P, N>,
    ) {
        let held = const { log2(C) };
        // SAFETY: by contract.
        unsafe {
            for_each!(0..held, |k| {
                let place = &mut self.held[(1 << k) - 1 + c % (1 << k)];
                let left = std::mem::replace(place, value);
                if c >= 1 << k || number >= 1 << k {
                    value = join::<P, A, O, N>(operator, &left, &value);
                }
            });
            for_each!(held..LEVELS, |k| {
                let place = self.slot::<A>(slot(k, number - c) + c);
                let joins = number >= 1 << k;
                let before = if joins { load::<P, N>(place) } else { value };
                if left > 1 << k {
                    store::<P, N>(value, place);
                }
                if joins {
                    value = join::<P, A, O, N>(operator, &before, &value);
                }
            });
        }
        self.last = value;
    }

    /// The same under an exact operator: any tree has the same bits.
    ///
    /// # Safety
    ///
    /// As for [`of`](Self::of).
    #[inline(always)]
    pub(super) unsafe fn take_in_exact<A: Element, O: Operator<A>>(
        &mut self,
        operator: &O,
        number: usize,
        value: Line<P, N>,
    ) {
        // SAFETY: by contract.
        let joined = || unsafe { join::<P, A, O, N>(operator, &self.last, &value) };
        self.last = if number > 0 { joined() } else { value };
    }

    /// Takes in the totals of `C` chunks, from that of a number on, where nothing but the fold of
    /// the row is wanted, as [`Group::fold`] does.
    ///
    /// # Safety
    ///
    /// As for [`of`](Self::of); the number must be a multiple of `C`.
    #[inline(always)]
    pub(super) unsafe fn fold<A: Element, O: Operator<A>, const C: usize>(
        &mut self,
        operator: &O,
        number: usize,
        mut totals: [Line<P, N>; MOST],
    ) {
        let mut k = const { log2(C) };
        // SAFETY: by contract.
        unsafe {
            for_each!(0..k, |step| {
                for_each!(0..C >> (step + 1), |pair| {
                    let (left, right) = (pair << (step + 1), (2 * pair + 1) << step);
                    totals[left] = join::<P, A, O, N>(operator, &totals[left], &totals[right]);
                });
            });
            let mut value = totals[0];
            while (number >> k) & 1 == 1 {
                let left = load::<P, N>(self.slot::<A>(slot(k, 0)));
                value = join::<P, A, O, N>(operator, &left, &value);
                k += 1;
            }
            if k < LEVELS {
                store::<P, N>(value, self.slot::<A>(slot(k, 0)));
            }
            self.last = value;
        }
    }
}
