//! Where the lanes of lines side by side come from, and where their values go.
//!
//! Groups of sixteen lines are read where they lie. The last group of a strip may have fewer lines,
//! and lines may lie apart: those are brought together first, sixteen abreast.
//!
//! Values go through a stage of some chunks, which leaves row of memory by row of memory. A group's
//! values are a line of the cache at each place, and such lines, stored past the caches one here, one
//! in the next row of memory, reach a quarter of the speed of whole runs. In a stage lines need no
//! alignment either, and a group may have lanes too many.

use super::strip::LANES;
use crate::arch::Words;
use crate::arch::stream::{LINE, prefetch, stream_run};
use std::ops::Range;

/// Where the lanes of a group lie: those at the first place, and from a place to the next.
#[derive(Clone, Copy)]
pub(crate) struct Abreast<T> {
    pub(crate) first: *const T,
    pub(crate) stride: isize,
}

impl<T> Abreast<T> {
    /// The lanes at a place.
    #[inline(always)]
    pub(crate) fn at(&self, place: usize) -> *const T {
        self.first.wrapping_offset(place as isize * self.stride)
    }

    /// Asks for the lanes at some places to be brought nearer.
    #[inline(always)]
    pub(super) fn ask(&self, start: usize, len: usize) {
        for place in start..start + len {
            for offset in (0..LANES * size_of::<T>()).step_by(LINE) {
                prefetch(self.at(place).cast::<u8>().wrapping_add(offset));
            }
        }
    }
}

/// Where lanes are read.
#[derive(Clone, Copy)]
pub(crate) struct Source<T> {
    /// The first group; others of sixteen lines lie beside it.
    pub(crate) lines: Abreast<T>,
    /// Groups of sixteen lines.
    pub(crate) whole: usize,
    /// The group after them, if there is one.
    pub(crate) last: Abreast<T>,
}

impl<T: Copy> Source<T> {
    /// Where the lanes of a group lie.
    #[inline(always)]
    pub(super) fn lanes(&self, group: usize) -> Abreast<T> {
        if group == self.whole {
            return self.last;
        }
        Abreast { first: self.lines.first.wrapping_add(group * LANES), ..self.lines }
    }
}

/// Where values go.
#[derive(Clone, Copy)]
pub(crate) struct Sink<U> {
    /// The stage: a value of each line for each place, with room for a place and a group more.
    pub(crate) stage: *mut U,
    /// Lines.
    pub(crate) lines: usize,
    /// Places that the stage has room for: whole chunks, or all.
    pub(crate) room: usize,
    /// Where they go from there; they stay if there is no such place.
    pub(crate) target: Option<Target<U>>,
}

/// Where the values of a stage go.
#[derive(Clone, Copy)]
pub(crate) struct Target<U> {
    /// The first value of the first line.
    pub(crate) first: *mut U,
    /// From a place to the next.
    pub(crate) stride: isize,
    /// Whether they go past the caches.
    pub(crate) stream: bool,
}

impl<U> Sink<U> {
    /// The values of a group at a place of the stage.
    #[inline(always)]
    pub(super) fn at(&self, group: usize, place: usize) -> *mut U {
        self.stage.wrapping_add(place * self.lines + group * LANES)
    }

    /// Sends the values of some places, all that is in the stage.
    ///
    /// # Safety
    ///
    /// They must be in the stage, and their places be this call's alone; the CPU features of `H` must
    /// be present.
    #[inline(always)]
    pub(super) unsafe fn send<H: Words>(&self, places: Range<usize>) {
        let Some(Target { first, stride, stream }) = self.target else { return };
        let dense = stride == self.lines as isize;
        // On end, they go in one run.
        let (runs, values) =
            if dense { (1, places.len() * self.lines) } else { (places.len(), self.lines) };
        let bytes = values * size_of::<U>();
        for run in 0..runs {
            let from = self.stage.wrapping_add(run * values).cast::<u8>();
            let to = first.wrapping_offset((places.start + run) as isize * stride).cast::<u8>();
            // SAFETY: by contract.
            unsafe {
                if stream {
                    stream_run::<H>(from, to, bytes);
                } else {
                    from.copy_to_nonoverlapping(to, bytes);
                }
            }
        }
    }
}
