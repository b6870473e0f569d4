//! Where the lanes of lines side by side come from, and where their values go.
//!
//! Groups of sixteen lines are read where they lie. The last sixteen lines of a strip are its last
//! group, some of which may be the group's before too. Strips of fewer lines, and lines that lie
//! apart, are brought together first, sixteen abreast.
//!
//! Values are put where they belong if those of a group are whole lines of the cache there. Else
//! they go through a stage of some chunks, which leaves row of memory by row of memory: in a stage
//! lines need no alignment, and a group may have lanes too many.

use super::group::LANES;
use crate::arch::Words;
use crate::arch::stream::{Cache, LINE, stream_run};
use crate::array::for_each;
use std::ops::Range;
use std::ptr::{null, null_mut};

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

    /// The lanes from a place on.
    #[inline(always)]
    pub(super) fn on(&self, place: usize) -> Self {
        Self { first: self.at(place), ..*self }
    }

    /// The same lanes, of another type of the same size.
    #[inline(always)]
    pub(super) fn cast<A>(self) -> Abreast<A> {
        Abreast { first: self.first.cast(), stride: self.stride }
    }

    /// Asks for the lanes at some places, so many elements `ahead` of these, to be brought into a
    /// cache.
    #[inline(always)]
    pub(super) fn ask(&self, ahead: isize, len: usize, cache: Cache) {
        for place in 0..len {
            let lanes = self.at(place).wrapping_offset(ahead).cast::<u8>();
            for_each!((0..LANES * size_of::<T>()).step_by(LINE), |line| {
                cache.ask::<LINE>(lanes.wrapping_add(line));
            });
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
    /// The group after them, if there is one, and the line that it begins with.
    pub(crate) last: Abreast<T>,
    pub(crate) last_line: usize,
}

impl<T: Copy> Source<T> {
    /// The line that a group begins with.
    #[inline(always)]
    pub(super) fn line(&self, group: usize) -> usize {
        if group == self.whole { self.last_line } else { group * LANES }
    }

    /// Whether groups are read where their elements lie, and not where they were brought together.
    #[inline(always)]
    pub(super) fn lie(&self) -> bool {
        self.whole > 0
    }

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
    /// Where those of the first place are put: a stage, which has for each place a value of each
    /// line, and room for a place and a group more; or where they belong.
    pub(crate) stage: *mut U,
    /// From a place to the next.
    pub(crate) pitch: isize,
    /// Whether they go past the caches at once, in whole lines.
    pub(crate) stream: bool,
    /// Lines.
    pub(crate) lines: usize,
    /// Places that there is room for: whole chunks, or all.
    pub(crate) room: usize,
    /// Where they go from a stage, while others come to a second one behind the first; they stay if
    /// there is no such place.
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
    /// Where nothing is stored.
    pub(crate) const NOTHING: Self =
        Self { stage: null_mut(), pitch: 0, stream: false, lines: 0, room: 0, target: None };

    /// Values that a stage has room for.
    pub(crate) fn values(room: usize, lines: usize) -> usize {
        (room + 1) * lines + LANES
    }

    /// The values of a group at a place of a stage.
    #[inline(always)]
    pub(super) fn at(&self, stage: usize, group: usize, place: usize) -> *mut U {
        let stage = self.stage.wrapping_add(stage * Self::values(self.room, self.lines));
        stage.wrapping_offset(place as isize * self.pitch).wrapping_add(group * LANES)
    }

    /// Sends what a stage has, the values of some places.
    #[inline(always)]
    pub(super) fn send(&self, stage: usize, places: Range<usize>) -> Sending {
        let Some(Target { first, stride, stream }) = self.target else { return Sending::NOTHING };
        // On end, they go in one run.
        let dense = stride == self.lines as isize;
        let (runs, values) =
            if dense { (1, places.len() * self.lines) } else { (places.len(), self.lines) };
        let run = values * size_of::<U>();
        Sending {
            from: self.at(stage, 0, 0).cast(),
            to: first.wrapping_offset(places.start as isize * stride).cast(),
            left: run,
            runs: runs - 1,
            run,
            skip: (stride * size_of::<U>() as isize).wrapping_sub_unsigned(run),
            stream,
        }
    }
}

/// Bytes on their way from a stage, in runs.
///
/// They leave little by little, so that stores past the caches drain while others are made. (In
/// bursts nothing is read meanwhile.)
pub(super) struct Sending {
    from: *const u8,
    to: *mut u8,
    /// Bytes of this run.
    left: usize,
    /// Runs after it, the bytes of each, and from the end of one to the start of the next.
    runs: usize,
    run: usize,
    skip: isize,
    stream: bool,
}

impl Sending {
    pub(super) const NOTHING: Self =
        Self { from: null(), to: null_mut(), left: 0, runs: 0, run: 0, skip: 0, stream: false };

    /// Sends about so many bytes, a line at least, if they go past the caches.
    ///
    /// # Safety
    ///
    /// The bytes must be in the stage, and their places be this call's alone; the CPU features of
    /// `H` must be present.
    #[inline(always)]
    pub(super) unsafe fn some<H: Words>(&mut self, bytes: usize) {
        if self.stream && self.left > 0 {
            let bytes = bytes.max(LINE);
            // Lines are completed.
            let bytes = (bytes - self.to.wrapping_add(bytes).addr() % LINE).min(self.left);
            // SAFETY: by contract.
            unsafe { stream_run::<H>(self.from, self.to, bytes) };
            self.sent(bytes);
        }
    }

    /// Sends all that is left.
    ///
    /// # Safety
    ///
    /// As for [`some`](Self::some).
    #[inline(always)]
    pub(super) unsafe fn all<H: Words>(&mut self) {
        while self.left > 0 {
            // SAFETY: by contract.
            unsafe {
                if self.stream {
                    stream_run::<H>(self.from, self.to, self.left);
                } else {
                    self.from.copy_to_nonoverlapping(self.to, self.left);
                }
            }
            self.sent(self.left);
        }
    }

    #[inline(always)]
    fn sent(&mut self, bytes: usize) {
        self.from = self.from.wrapping_add(bytes);
        self.to = self.to.wrapping_add(bytes);
        self.left -= bytes;
        if self.left == 0 && self.runs > 0 {
            self.runs -= 1;
            self.left = self.run;
            self.to = self.to.wrapping_offset(self.skip);
        }
    }
}
