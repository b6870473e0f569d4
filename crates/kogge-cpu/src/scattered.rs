//! Short lines wherever they lie, sixteen at a time: a register lane for each.
//!
//! A short line with a stride has too few chunks to fill registers alone, and may have too few
//! neighbours at its side to go as a strip. But any sixteen lines of one length can go down their
//! axis together; what it costs is a load and a store per element instead of vectors.

use crate::algorithm::abreast::{Abreast, Sink, Source};
use crate::algorithm::group::LANES;
use crate::algorithm::strip::Ahead;
use crate::descent::Descent;
use crate::engine::Request;
use crate::parts::Parts;
use kogge_core::{Accumulate, Element, Operator, Order};

/// Sixteen lines, or fewer.
pub(crate) struct Scattered<T, U> {
    /// Where each begins.
    pub(crate) from: [*const T; LANES],
    /// Where its values begin.
    pub(crate) to: [*mut U; LANES],
    /// Its number.
    pub(crate) numbers: [usize; LANES],
    /// How many there are.
    pub(crate) count: usize,
    /// From one element of a line to the next, in the input and in the output.
    pub(crate) strides: [isize; 2],
    /// Elements of each line: a tile of the order at most.
    pub(crate) len: usize,
}

impl<T: Element, U: Element> Scattered<T, U> {
    /// Scans the lines. `descent` is room, of whatever contents.
    ///
    /// # Safety
    ///
    /// The lines must exist, and be this call's alone, and so their totals.
    pub(crate) unsafe fn scan<A, O>(
        &self,
        request: &Request<'_, O, A>,
        parts: &Parts<'_, A>,
        descent: &mut Descent<A>,
    ) where
        T: Accumulate<A>,
        U: Accumulate<A>,
        A: Element<Accumulator = A>,
        O: Operator<A>,
    {
        descent.begin::<O>(1, self.len.div_ceil(Order::of::<T>().chunk()), |_| self.init(parts));
        let row = const { Order::of::<T>().row() };
        for start in (0..self.len).step_by(row) {
            let len = row.min(self.len - start);
            let brought = descent.brought.of::<T>(row * LANES);
            let stage = descent.stage.of::<U>(Sink::<U>::values(row, LANES));
            let lanes = Abreast { first: brought.cast_const(), stride: LANES as isize };
            let from = Source { lines: lanes, whole: 0, last: lanes, last_line: 0 };
            let pitch = LANES as isize;
            let to = Sink { stage, pitch, stream: false, lines: LANES, room: row, target: None };
            // SAFETY: there is room for a row; the places by contract.
            unsafe {
                self.bring(start, len, brought);
                descent.scan(request, from, to, len, Ahead::by(0, None));
                descent.take_in(request.operator);
                self.put(start, len, stage);
            }
        }
        if !parts.totals_wanted() {
            return;
        }
        let totals = descent.totals(request.operator, 0);
        for (n, &number) in self.numbers.iter().enumerate().take(self.count) {
            // SAFETY: passed on.
            unsafe { parts.put_total(request.operator, number, totals.map(|totals| totals[n])) };
        }
    }

    /// Brings some places of all lines together; lines that are missing are the first one again, as
    /// an operator sees no values but such as there are.
    ///
    /// # Safety
    ///
    /// The places must exist, and be room for sixteen lines at `to`.
    unsafe fn bring(&self, start: usize, len: usize, to: *mut T) {
        for i in 0..len {
            for n in 0..self.count {
                let from = self.from[n].wrapping_offset((start + i) as isize * self.strides[0]);
                // SAFETY: by contract.
                unsafe { to.add(i * LANES + n).write(from.read()) };
            }
            for n in self.count..LANES {
                // SAFETY: by contract; there is a first line.
                unsafe { to.add(i * LANES + n).write(to.add(i * LANES).read()) };
            }
        }
    }

    /// Puts the values of some places where they belong.
    ///
    /// # Safety
    ///
    /// As for [`bring`](Self::bring), with values at `from`.
    unsafe fn put(&self, start: usize, len: usize, from: *const U) {
        for i in 0..len {
            for n in 0..self.count {
                let to = self.to[n].wrapping_offset((start + i) as isize * self.strides[1]);
                // SAFETY: by contract.
                unsafe { to.write(from.add(i * LANES + n).read()) };
            }
        }
    }

    /// The initial values; those of missing lines don't matter.
    fn init<A: Copy>(&self, parts: &Parts<'_, A>) -> Option<[A; LANES]> {
        let mut inits = [parts.init(self.numbers[0])?; LANES];
        for (init, &number) in inits.iter_mut().zip(&self.numbers).take(self.count).skip(1) {
            *init = parts.init(number).unwrap_or(*init);
        }
        Some(inits)
    }
}
