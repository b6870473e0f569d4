//! One sequence that comes in pieces, by the engine on all cores.

use super::recipe::Recipe;
use super::{LineScan, Spec};
use crate::error::Result;
use bytemuck::{bytes_of, cast_slice, cast_slice_mut};
use kogge::{Accumulate, Layout, Scan, Stream};

/// See [`LineScan`].
pub struct Line<R: Recipe> {
    scan: Scan<R::Element, R::Operator, R::Accumulator>,
    stream: Stream<R::Element, R::Operator, R::Accumulator>,
}

impl<R: Recipe> Line<R> {
    /// The scan before the first element.
    pub fn new(spec: &Spec) -> Self {
        let (kind, direction) = (spec.kind, spec.direction);
        let mut scan = Scan::<R::Element, R::Operator>::new(R::Operator::default())
            .accumulate::<R::Accumulator>()
            .kind(kind)
            .direction(direction);
        if let Some(init) = &spec.init {
            scan = scan.init(R::init(init));
        }
        Self { stream: scan.into_stream(), scan }
    }
}

impl<R: Recipe> LineScan for Line<R> {
    fn scan_in_place(&mut self, _: u64, data: &mut [u8]) -> Result<()> {
        self.stream.push_in_place(cast_slice_mut(data));
        Ok(())
    }

    fn scan_into(&mut self, first: u64, input: &[u8], output: &mut [u8]) -> Result<()> {
        output.copy_from_slice(input);
        self.scan_in_place(first, output)
    }

    fn scan_slabs(&self, shape: [usize; 3], input: &[u8], output: &mut [u8]) -> Result<()> {
        let layout = Layout::row_major(&shape);
        let output: &mut [R::Element] = cast_slice_mut(output);
        Ok(self.scan.axis_into(cast_slice(input), &layout, output, &layout, 1)?)
    }

    fn fill(&self, _: &mut [u8]) -> bool {
        false
    }

    fn restart(&mut self) {
        self.stream = self.scan.into_stream();
    }

    fn total(&self) -> Vec<u8> {
        bytes_of(&R::Element::narrow(self.stream.total())).to_vec()
    }
}
