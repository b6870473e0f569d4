//! Values on their way past the caches in whole vectors, put together in registers.
//!
//! Values come in the order of memory, but rarely begin where a vector of memory does. Each vector
//! of them is turned by as much as they lie behind: what comes first then completes the vector that
//! is begun, the rest begins the next one. So rows leave at once, and no stage holds them, from
//! which they would have to be loaded again.
//!
//! Of a short segment it isn't foreseen how many vectors it completes. Those go to the [`Outlet`]'s
//! stage, which they leave many at a time.

use super::outlet::Outlet;
use crate::arch::{Turn, Words};
use crate::array::for_each;
use std::mem::MaybeUninit;

/// Values that leave so. Their places are bytes from the outlet's byte 0.
#[derive(Clone, Copy)]
pub(super) struct Turned<H: Words> {
    /// The vector of memory that is begun; its first lanes are values.
    open: H::Vector,
    turn: H::Turn,
    /// Where those begin that have not left, before rows: nothing before is written.
    own: *mut u8,
}

impl<H: Words> Turned<H> {
    /// Bytes of a vector.
    const BYTES: usize = size_of::<H::Vector>();

    /// For values from the `first` byte on, for which the outlet has been [opened](Outlet::open).
    ///
    /// # Safety
    ///
    /// As for [`Outlet::open`]; values must lie at multiples of 4 bytes, and the CPU features of
    /// `H` be present.
    #[inline(always)]
    pub(super) unsafe fn new(out: &Outlet, first: usize) -> Self {
        let begun = out.lies(first) % Self::BYTES;
        let left = begun.min(first - out.next());
        let mut open = MaybeUninit::<H::Vector>::zeroed();
        // SAFETY: by contract; vectors are plain.
        unsafe {
            let to = open.as_mut_ptr().cast::<u8>().add(begun - left);
            to.copy_from_nonoverlapping(out.at(first - left), left);
            Self { open: open.assume_init(), turn: H::Turn::new(begun), own: out.target(first) }
        }
    }

    /// For rows that follow one another, the first of which belongs at `to`.
    ///
    /// # Safety
    ///
    /// `to` must be at a multiple of 4 bytes, and the CPU features of `H` be present.
    #[inline(always)]
    pub(super) unsafe fn rows(to: *mut u8) -> Self {
        // SAFETY: features by contract; vectors are plain.
        unsafe {
            let open = MaybeUninit::zeroed().assume_init();
            Self { open, turn: H::Turn::new(to.addr() % Self::BYTES), own: to }
        }
    }

    /// Stores what hasn't left, up to the `end` of the rows.
    ///
    /// # Safety
    ///
    /// As for [`row`](Self::row).
    #[inline(always)]
    pub(super) unsafe fn finish(self, end: *mut u8) {
        let begun = end.addr() % Self::BYTES;
        let left = begun.min(end.addr() - self.own.addr());
        // SAFETY: by contract; the first lanes are values.
        unsafe {
            let open = (&raw const self.open).cast::<u8>().add(begun - left);
            end.sub(left).copy_from_nonoverlapping(open, left);
        }
    }

    /// Puts what hasn't left in the outlet's stage, up to the `end`.
    ///
    /// # Safety
    ///
    /// As for [`Outlet::send`]; all values before must have come.
    #[inline(always)]
    pub(super) unsafe fn close(self, out: &mut Outlet, end: usize) {
        // SAFETY: by contract; the stage begins with a line.
        unsafe {
            let to = out.at(end).wrapping_sub(out.lies(end) % Self::BYTES);
            to.cast::<H::Vector>().write_unaligned(self.open);
            out.close::<H>(end);
        }
    }

    /// Before rows, the first of which begins with this byte.
    ///
    /// # Safety
    ///
    /// As for [`Outlet::send`].
    #[inline(always)]
    pub(super) unsafe fn begin_rows(&mut self, out: &mut Outlet, byte: usize) {
        // SAFETY: by contract.
        unsafe { out.send_all::<H>(byte) };
        self.own = out.target(out.next());
    }

    /// After rows, the last of which ended before this byte.
    #[inline(always)]
    pub(super) fn end_rows(&self, out: &mut Outlet, byte: usize) {
        let left = out.lies(byte) % Self::BYTES;
        out.go_on(byte, left.min(out.target(byte).addr() - self.own.addr()));
    }

    /// Sends a row that belongs at `to`, where the last one ended.
    ///
    /// # Safety
    ///
    /// The places must be this call's alone, and the CPU features of `H` present.
    #[inline(always)]
    pub(super) unsafe fn row(&mut self, row: &H::Row, to: *mut u8) {
        let mut to = to.wrapping_sub(to.addr() % Self::BYTES);
        let mut first = true;
        // SAFETY: by contract.
        unsafe {
            for g in 0..H::GROUPS {
                for &vector in group::<H>(row, g).as_ref() {
                    let turned = self.turn.turned(vector);
                    let vector = self.turn.joined(self.open, turned);
                    if first {
                        self.put(vector, to);
                    } else {
                        H::stream(vector, to);
                    }
                    first = false;
                    self.open = turned;
                    to = to.wrapping_add(Self::BYTES);
                }
            }
        }
    }

    /// Sends so many bytes of a row, behind which other values come.
    ///
    /// # Safety
    ///
    /// As for [`row`](Self::row).
    #[inline(always)]
    pub(super) unsafe fn beginning(&mut self, row: &H::Row, to: *mut u8, bytes: usize) {
        let begun = to.addr() % Self::BYTES;
        let mut to = to.wrapping_sub(begun);
        let end = to.wrapping_add((begun + bytes) / Self::BYTES * Self::BYTES);
        // SAFETY: by contract.
        unsafe {
            'sent: for g in 0..H::GROUPS {
                for &vector in group::<H>(row, g).as_ref() {
                    let turned = self.turn.turned(vector);
                    let vector = self.turn.joined(self.open, turned);
                    if to == end {
                        self.open = vector;
                        break 'sent;
                    }
                    self.put(vector, to);
                    self.open = turned;
                    to = to.wrapping_add(Self::BYTES);
                }
            }
            self.turn = H::Turn::new((begun + bytes) % Self::BYTES);
        }
    }

    /// Puts the first bytes of a row's first group in the stage, where byte `first` belongs.
    ///
    /// # Safety
    ///
    /// As for [`Outlet::group`].
    #[inline(always)]
    pub(super) unsafe fn group(
        &mut self,
        row: &H::Row,
        out: &mut Outlet,
        first: usize,
        bytes: usize,
    ) {
        let begun = out.lies(first) % Self::BYTES;
        // SAFETY: by contract; the stage has room for a vector more.
        unsafe {
            let line = out.group::<H>(first).wrapping_sub(begun);
            let mut to = line.cast::<H::Vector>();
            for &vector in group::<H>(row, 0).as_ref() {
                let turned = self.turn.turned(vector);
                to.write_unaligned(self.turn.joined(self.open, turned));
                self.open = turned;
                to = to.wrapping_add(1);
            }
            to.write_unaligned(self.open);
            let end = begun + bytes;
            self.open =
                line.add(end / Self::BYTES * Self::BYTES).cast::<H::Vector>().read_unaligned();
            self.turn = H::Turn::new(end % Self::BYTES);
        }
    }

    /// Stores a vector, whose first bytes may be somebody else's.
    ///
    /// # Safety
    ///
    /// As for [`row`](Self::row).
    #[inline(always)]
    unsafe fn put(&self, vector: H::Vector, to: *mut u8) {
        // SAFETY: by contract.
        unsafe {
            if to < self.own {
                self.put_own(vector, to);
            } else {
                H::stream(vector, to);
            }
        }
    }

    /// Stores what is its own of a vector.
    ///
    /// # Safety
    ///
    /// As for [`row`](Self::row).
    #[cold]
    unsafe fn put_own(&self, vector: H::Vector, to: *mut u8) {
        let other = self.own.addr() - to.addr();
        // SAFETY: by contract.
        unsafe {
            let own = (&raw const vector).cast::<u8>().add(other);
            self.own.copy_from_nonoverlapping(own, Self::BYTES - other);
        }
    }
}

/// A group of a row, as its vectors lie in memory.
///
/// # Safety
///
/// The CPU features of `H` must be present.
#[inline(always)]
unsafe fn group<H: Words>(row: &H::Row, g: usize) -> H::Group {
    let mut group = MaybeUninit::<H::Group>::zeroed();
    // SAFETY: vectors are plain.
    unsafe {
        let vectors = group.assume_init_mut().as_mut();
        for_each!(0..vectors.len(), |c| {
            vectors[c] = row.as_ref()[c].as_ref()[g];
        });
        H::in_memory(group.assume_init())
    }
}
