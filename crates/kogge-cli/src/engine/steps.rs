//! One sequence that comes in pieces, element by element on one core.
//!
//! The bits are the engine's, and an exact operator goes as fast as a file can be read. It takes a
//! hundredth of the engine's code, so most pairs of operator and type go this way; `dispatch` says
//! which don't.

use super::columns::Columns;
use super::recipe::Recipe;
use super::track::Track;
use super::{ColumnsScan, LineScan, Spec};
use crate::error::Result;
use bytemuck::{bytes_of, cast_slice, cast_slice_mut};
use kogge::Accumulate;

/// See [`LineScan`].
pub struct Steps<R: Recipe> {
    spec: Spec,
    init: Option<R::Accumulator>,
    operator: R::Operator,
    track: Track<R>,
    /// Whether there is anything to fill missing elements with.
    started: bool,
}

impl<R: Recipe> Steps<R> {
    /// The scan before the first element.
    pub fn new(spec: &Spec) -> Self {
        let init = spec.init.as_deref().map(R::init);
        Self {
            spec: spec.clone(),
            init,
            operator: R::Operator::default(),
            track: Track::new(init),
            started: init.is_some(),
        }
    }

    fn step(&mut self, element: R::Element) -> R::Element {
        self.track.step(&self.operator, self.spec.kind, element)
    }
}

impl<R: Recipe> LineScan for Steps<R> {
    fn scan_in_place(&mut self, _: u64, data: &mut [u8]) -> Result<()> {
        assert!(R::PLAIN, "only plain recipes have an output of the input's type");
        self.started |= !data.is_empty();
        let data: &mut [R::Element] = cast_slice_mut(data);
        let reversed = self.spec.reversed();
        let step = |element: &mut R::Element| *element = self.step(*element);
        if reversed {
            data.iter_mut().rev().for_each(step);
        } else {
            data.iter_mut().for_each(step);
        }
        Ok(())
    }

    fn scan_into(&mut self, first: u64, input: &[u8], output: &mut [u8]) -> Result<()> {
        self.started |= !input.is_empty();
        let input: &[R::Input] = cast_slice(input);
        let output: &mut [R::Output] = cast_slice_mut(output);
        let reversed = self.spec.reversed();
        let mut step = |i: usize| {
            output[i] = R::unpack(self.step(R::pack(input[i], first + i as u64)));
        };
        if reversed {
            (0..input.len()).rev().for_each(&mut step);
        } else {
            (0..input.len()).for_each(&mut step);
        }
        Ok(())
    }

    fn scan_slabs(&self, [_, n, inner]: [usize; 3], input: &[u8], output: &mut [u8]) -> Result<()> {
        let (from, to) = (inner * self.spec.input_size(), inner * self.spec.output_size());
        let mut columns = Columns::<R>::new(&self.spec, inner);
        for (input, output) in input.chunks_exact(n * from).zip(output.chunks_exact_mut(n * to)) {
            columns.restart();
            let mut row = |i: usize| {
                columns.scan_row(i as u64, &input[i * from..][..from], &mut output[i * to..][..to]);
            };
            if self.spec.reversed() {
                (0..n).rev().for_each(&mut row);
            } else {
                (0..n).for_each(&mut row);
            }
        }
        Ok(())
    }

    fn fill(&self, output: &mut [u8]) -> bool {
        if R::FILLS && self.started {
            output.copy_from_slice(&self.total());
        }
        R::FILLS && self.started
    }

    fn restart(&mut self) {
        self.track = Track::new(self.init);
        self.started = self.init.is_some();
    }

    fn total(&self) -> Vec<u8> {
        let total = R::Element::narrow(self.track.total(&self.operator));
        bytes_of(&R::unpack(total)).to_vec()
    }
}
