//! One sequence that comes in pieces, by the engine on all cores.
//!
//! What a piece holds of the run that was begun before it, and of the one that goes on behind it,
//! goes through a [`Stream`], which knows the state between them; the whole runs in the middle are
//! segments.

use crate::columns::exact;
use crate::recipe::Recipe;
use crate::share::{self, TASK};
use crate::{Error, LineScan, Op, Spec};
use bytemuck::{Zeroable, bytes_of, cast_slice, cast_slice_mut};
use kogge::{Accumulate, Layout, Scan, Stream, by_offsets};

/// See [`LineScan`].
pub struct Line<R: Recipe> {
    scan: Scan<R::Element, R::Operator, R::Accumulator>,
    stream: Stream<R::Element, R::Operator, R::Accumulator>,
    reversed: bool,
    /// Whether the last value also stands where elements are missing.
    fills: bool,
    /// Whether a run that has no element yet has something to fill missing ones with.
    filled: bool,
    /// Whether this one has.
    started: bool,
    /// A piece as the library scans it, where that isn't as it lies in the buffers.
    elements: Vec<R::Element>,
}

/// Elements of a block that lies in a core's cache, packed and unpacked.
const BLOCK: usize = 1 << 12;

/// Of the places where runs start, those in a block of a piece, from its start; the end of the
/// piece belongs to its last block.
fn within(starts: &[usize], start: usize, end: usize, len: usize) -> Vec<usize> {
    let first = starts.partition_point(|&at| at < start);
    let last = if end == len { starts.len() } else { starts.partition_point(|&at| at < end) };
    starts[first..last].iter().map(|at| at - start).collect()
}

/// The library's scan for a recipe.
pub fn scan_of<R: Recipe>(
    recipe: &R,
    spec: &Spec,
) -> Scan<R::Element, R::Operator, R::Accumulator> {
    let scan = Scan::in_accumulator(recipe.operator()).kind(spec.kind).direction(spec.direction);
    match &spec.init {
        Some(init) => scan.init(R::init(init)),
        None => scan,
    }
}

/// Packs inputs, whose indices follow from their places.
pub fn pack<R: Recipe>(
    input: &[R::Input],
    elements: &mut Vec<R::Element>,
    index: &(dyn Fn(usize) -> u64 + Sync),
) {
    elements.resize(input.len(), R::Element::zeroed());
    let parts = elements.chunks_mut(TASK).zip(input.chunks(TASK)).zip((0..).step_by(TASK));
    share::each(parts, &|((elements, input), first)| {
        for ((element, &input), i) in elements.iter_mut().zip(input).zip(first..) {
            *element = R::pack(input, index(i));
        }
    });
}

/// Unpacks scanned elements.
pub fn unpack<R: Recipe>(elements: &[R::Element], output: &mut [R::Output]) {
    share::each(output.chunks_mut(TASK).zip(elements.chunks(TASK)), &|(output, elements)| {
        for (output, &element) in output.iter_mut().zip(elements) {
            *output = R::unpack(element);
        }
    });
}

impl<R: Recipe> Line<R> {
    /// The scan before the first element.
    pub fn new(recipe: &R, spec: &Spec) -> Self {
        let scan = scan_of(recipe, spec);
        let fills = spec.op == Op::LastValid;
        let (reversed, filled) = (spec.reversed(), spec.init.is_some());
        let stream = scan.into_stream();
        Self { scan, stream, reversed, fills, filled, started: filled, elements: Vec::new() }
    }

    fn push(&mut self, data: &mut [R::Element]) {
        self.started |= !data.is_empty();
        self.stream.push_in_place(data);
    }

    fn runs(&mut self, starts: &[usize], data: &mut [R::Element]) -> Result<(), Error> {
        let (Some(&first), Some(&last)) = (starts.first(), starts.last()) else {
            self.push(data);
            return Ok(());
        };
        let (left, rest) = data.split_at_mut(first);
        let (whole, right) = rest.split_at_mut(last - first);
        let [begun, going_on] = if self.reversed { [right, left] } else { [left, right] };
        self.push(begun);
        let offsets: Vec<usize> = starts.iter().map(|start| start - first).collect();
        self.scan.segments(by_offsets(&offsets)).scan_in_place(whole)?;
        self.restart();
        self.push(going_on);
        Ok(())
    }

    /// Scans packed elements and unpacks them.
    fn packed(
        &mut self,
        input: &[R::Input],
        output: &mut [R::Output],
        index: &(dyn Fn(usize) -> u64 + Sync),
        scan: impl FnOnce(&mut Self, &mut [R::Element]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut elements = std::mem::take(&mut self.elements);
        pack::<R>(input, &mut elements, index);
        scan(self, &mut elements)?;
        unpack::<R>(&elements, output);
        self.elements = elements;
        Ok(())
    }
}

impl<R: Recipe> LineScan for Line<R> {
    fn scan_in_place(&mut self, starts: &[usize], data: &mut [u8]) -> Result<(), Error> {
        assert!(R::PLAIN, "only plain recipes have an output of the input's type");
        self.runs(starts, cast_slice_mut(data))
    }

    fn scan_into(
        &mut self,
        first: u64,
        starts: &[usize],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), Error> {
        let (input, output) = (cast_slice(input), cast_slice_mut(output));
        let len = input.len();
        let size = if share::alone(exact::<R>()) { BLOCK } else { len.max(1) };
        let mut blocks: Vec<usize> = (0..len.max(1)).step_by(size).collect();
        if self.reversed {
            blocks.reverse();
        }
        for start in blocks {
            let end = len.min(start + size);
            let index = |i| first + (start + i) as u64;
            let starts = within(starts, start, end, len);
            let (input, output) = (&input[start..end], &mut output[start..end]);
            self.packed(input, output, &index, |this, elements| this.runs(&starts, elements))?;
        }
        Ok(())
    }

    fn scan_slabs(
        &mut self,
        shape: [usize; 3],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), Error> {
        let layout = Layout::row_major(&shape);
        if R::PLAIN {
            let output: &mut [R::Element] = cast_slice_mut(output);
            return self.scan.axis_into(cast_slice(input), &layout, output, &layout, 1);
        }
        let [_, n, inner] = shape;
        let (input, output) = (cast_slice(input), cast_slice_mut(output));
        let along = |i| (i / inner % n) as u64;
        self.packed(input, output, &along, |this, elements| {
            this.scan.axis_in_place(elements, &layout, 1)
        })
    }

    fn fill(&self, output: &mut [u8]) -> bool {
        if self.fills && self.started {
            output.copy_from_slice(&self.total());
        }
        self.fills && self.started
    }

    fn restart(&mut self) {
        self.stream = self.scan.into_stream();
        self.started = self.filled;
    }

    fn total(&self) -> Vec<u8> {
        bytes_of(&R::unpack(R::Element::narrow(self.stream.total()))).to_vec()
    }
}
