//! Many lines side by side, one row of all of them at a time: a scan along an axis that is not
//! contiguous, for arrays too large to hold. Every line keeps the state of its own scan.

use super::recipe::Recipe;
use super::track::Track;
use super::{ColumnsScan, Spec};
use bytemuck::{cast_slice, cast_slice_mut};
use kogge::Kind;

/// See [`ColumnsScan`].
pub struct Columns<R: Recipe> {
    kind: Kind,
    init: Option<R::Accumulator>,
    operator: R::Operator,
    tracks: Vec<Track<R>>,
}

impl<R: Recipe> Columns<R> {
    /// The scan before the first row of `width` lines.
    pub fn new(spec: &Spec, width: usize) -> Self {
        let init = spec.init.as_deref().map(R::init);
        let tracks = (0..width).map(|_| Track::new(init)).collect();
        Self { kind: spec.kind, init, operator: R::Operator::default(), tracks }
    }
}

impl<R: Recipe> ColumnsScan for Columns<R> {
    fn scan_row(&mut self, index: u64, input: &[u8], output: &mut [u8]) {
        let input: &[R::Input] = cast_slice(input);
        let output: &mut [R::Output] = cast_slice_mut(output);
        for ((track, &input), output) in self.tracks.iter_mut().zip(input).zip(output) {
            let value = track.step(&self.operator, self.kind, R::pack(input, index));
            *output = R::unpack(value);
        }
    }

    fn restart(&mut self) {
        let init = self.init;
        self.tracks.fill_with(|| Track::new(init));
    }
}
