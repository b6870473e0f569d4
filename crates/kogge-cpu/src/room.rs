//! Room for elements, which a thread keeps from one call to the next: to allocate it takes as long as
//! to scan a small table.

use bytemuck::{Pod, Zeroable};
use std::cell::Cell;
use std::mem::take;

/// Bytes that a thread keeps at most.
const KEPT: usize = 1 << 20;

thread_local! {
    /// The widest room that was given back, unless it is in use.
    static SPARE: Cell<Vec<Line>> = const { Cell::new(vec![]) };
}

/// A line of the cache.
#[derive(Clone, Copy, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Room for elements.
pub(crate) struct Room(Vec<Line>);

impl Room {
    pub(crate) fn new() -> Self {
        Self(vec![])
    }

    /// Room for so many elements, of any value.
    pub(crate) fn of<T: Pod>(&mut self, count: usize) -> *mut T {
        self.bytes(count * size_of::<T>(), align_of::<T>()).cast()
    }

    /// So many bytes, of any value, at a multiple of `align`.
    #[inline(always)]
    pub(crate) fn bytes(&mut self, count: usize, align: usize) -> *mut u8 {
        // What is put there may be aligned to more than a line.
        let beyond = align.saturating_sub(align_of::<Line>());
        let lines = (count + beyond).div_ceil(size_of::<Line>());
        if self.0.len() < lines {
            self.widen(lines);
        }
        let room = self.0.as_mut_ptr();
        room.wrapping_byte_add(room.addr().wrapping_neg() % align).cast()
    }

    /// Gives it up, and keeps it for nobody.
    pub(crate) fn discard(&mut self) {
        self.0 = vec![];
    }

    /// Makes it at least so many lines.
    #[cold]
    fn widen(&mut self, lines: usize) {
        if self.0.is_empty() {
            self.0 = SPARE.try_with(Cell::take).unwrap_or_default();
        }
        if self.0.len() < lines {
            self.0 = vec![Line::zeroed(); lines];
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let room = take(&mut self.0);
        if room.is_empty() || size_of_val(&room[..]) > KEPT {
            return;
        }
        // Where a thread comes to its end nobody is left to keep it for.
        let _ = SPARE.try_with(|spare| {
            let other = spare.take();
            spare.set(if other.len() < room.len() { room } else { other });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    #[repr(C, align(256))]
    struct Aligned([u8; 256]);

    // SAFETY: bytes, as many as it is aligned to.
    unsafe impl Zeroable for Aligned {}
    // SAFETY: as above.
    unsafe impl Pod for Aligned {}

    #[test]
    fn there_is_room_for_elements_of_any_alignment() {
        let mut rooms: Vec<Room> = (0..8).map(|_| Room::new()).collect();
        for room in &mut rooms {
            let elements = room.of::<Aligned>(3);
            assert!(elements.addr().is_multiple_of(256));
            let end = elements.wrapping_add(3).addr();
            assert!(end <= room.0.as_ptr_range().end.addr(), "no room for three");
            assert!(room.of::<u8>(1).addr().is_multiple_of(64));
        }
    }

    #[test]
    fn a_thread_keeps_the_widest_room_of_up_to_a_mebibyte() {
        let kept = |lines: &[usize]| {
            let lines = lines.to_vec();
            let kept = std::thread::spawn(move || {
                let mut rooms: Vec<Room> = lines.iter().map(|_| Room::new()).collect();
                for (room, &lines) in rooms.iter_mut().zip(&lines) {
                    room.of::<[u8; 64]>(lines);
                    room.0.fill(Line([1; 64]));
                }
                drop(rooms);
                let mut next = Room::new();
                next.of::<u8>(1);
                (next.0.len(), next.0.iter().all(|line| line.0 == [1; 64]))
            });
            kept.join().expect("no panic")
        };
        assert_eq!(kept(&[3, 7, 2]), (7, true));
        assert_eq!(kept(&[KEPT / 64, 7]), (KEPT / 64, true));
        assert_eq!(kept(&[KEPT / 64 + 1, 7]), (7, true));
        assert_eq!(kept(&[KEPT / 64 + 1]), (1, false));
    }
}
