//! Many lines side by side, some rows of all of them at a time: a scan along an axis that is not
//! contiguous, for arrays too large to hold. Every line keeps the state of its own scan.
//!
//! An exactly associative operator needs one accumulator a line, since any order gives the bits of
//! the fixed one: the engine scans the rows of a piece, from the totals of the piece before. Any
//! other needs a [`Stepper`] a line, which keeps the fixed order, element by element.

use crate::line::{pack, scan_of, unpack};
use crate::recipe::Recipe;
use crate::share::{self, TASK};
use crate::{ColumnsScan, Error, Spec};
use bytemuck::{Zeroable, cast_slice, cast_slice_mut};
use kogge::{Accumulate, Kind, Layout, Operator, Order, Scan, Stepper};

/// See [`ColumnsScan`].
pub struct Columns<R: Recipe> {
    operator: R::Operator,
    scan: Scan<R::Element, R::Operator, R::Accumulator>,
    init: Option<R::Accumulator>,
    kind: Kind,
    reversed: bool,
    width: usize,
    state: State<R::Accumulator>,
    /// Rows as the library scans them.
    elements: Vec<R::Element>,
}

/// What precedes the next row of every line.
enum State<A> {
    /// The totals so far, where any order gives the same bits; `None` before the first row.
    Totals(Option<Vec<A>>),
    /// The states of the fixed order.
    Steppers(Vec<Stepper<A>>),
}

/// Lines whose states, of about 90 accumulators each, lie in a core's cache together.
const GROUP: usize = 128;

/// Whether one accumulator a line will do.
pub const fn exact<R: Recipe>() -> bool {
    <R::Operator as Operator<R::Accumulator>>::EXACT
}

impl<R: Recipe> Columns<R> {
    /// The scan before the first row of `width` lines.
    pub fn new(recipe: &R, spec: &Spec, width: usize) -> Self {
        assert!(width > 0, "no lines");
        let init = spec.init.as_deref().map(R::init);
        Self {
            operator: recipe.operator(),
            scan: scan_of(recipe, spec),
            init,
            kind: spec.kind,
            reversed: spec.reversed(),
            width,
            state: Self::start(init, width),
            elements: Vec::new(),
        }
    }

    /// Bytes of the state of a line.
    pub fn state_size() -> usize {
        if exact::<R>() {
            2 * size_of::<R::Accumulator>()
        } else {
            size_of::<Stepper<R::Accumulator>>()
        }
    }

    fn start(init: Option<R::Accumulator>, width: usize) -> State<R::Accumulator> {
        if exact::<R>() {
            return State::Totals(None);
        }
        let stepper = Stepper::new(Order::of::<R::Element>(), init);
        State::Steppers(vec![stepper; width])
    }

    /// Scans rows of elements in place.
    fn scan(&mut self, rows: &mut [R::Element]) -> Result<(), Error> {
        assert!(rows.len().is_multiple_of(self.width), "a part of a row");
        match &mut self.state {
            State::Totals(before) => {
                let layout = Layout::row_major(&[rows.len() / self.width, self.width]);
                let mut after = vec![R::Accumulator::zeroed(); self.width];
                let mut lines = self.scan.lines(0).totals(&mut after);
                if let Some(before) = before {
                    lines = lines.inits(before);
                }
                lines.scan_in_place(rows, &layout)?;
                *before = Some(after);
            }
            State::Steppers(steppers) => {
                step_all::<R>(self.operator, steppers, self.kind, self.reversed, rows);
            }
        }
        Ok(())
    }
}

/// Takes rows in element by element, neighbouring lines on different cores.
fn step_all<R: Recipe>(
    operator: R::Operator,
    steppers: &mut [Stepper<R::Accumulator>],
    kind: Kind,
    reversed: bool,
    rows: &mut [R::Element],
) {
    let width = steppers.len();
    let count = rows.len() / width;
    let least = (TASK / count.max(1)).max(1);
    let share = width.div_ceil(rayon::current_num_threads()).max(least);
    // Each task has the same places of all rows.
    let mut tasks: Vec<_> =
        steppers.chunks_mut(share).map(|lines| (lines, Vec::with_capacity(count))).collect();
    for row in rows.chunks_mut(width) {
        for (task, part) in tasks.iter_mut().zip(row.chunks_mut(share)) {
            task.1.push(part);
        }
    }
    share::each(tasks.into_iter(), &|(steppers, mut rows): (&mut [Stepper<_>], Vec<&mut [_]>)| {
        if reversed {
            rows.reverse();
        }
        for (i, group) in steppers.chunks_mut(GROUP).enumerate() {
            for row in &mut rows {
                for (stepper, element) in group.iter_mut().zip(&mut row[i * GROUP..]) {
                    let value = stepper.step(&operator, kind, element.widen());
                    *element = R::Element::narrow(value);
                }
            }
        }
    });
}

impl<R: Recipe> ColumnsScan for Columns<R> {
    fn scan_rows(&mut self, first: u64, input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        if R::PLAIN {
            output.copy_from_slice(input);
            return self.scan(cast_slice_mut(output));
        }
        let mut elements = std::mem::take(&mut self.elements);
        let width = self.width;
        pack::<R>(cast_slice(input), &mut elements, &|i| first + (i / width) as u64);
        self.scan(&mut elements)?;
        unpack::<R>(&elements, cast_slice_mut(output));
        self.elements = elements;
        Ok(())
    }

    fn restart(&mut self) {
        match &mut self.state {
            State::Totals(before) => *before = None,
            State::Steppers(steppers) => {
                steppers.iter_mut().for_each(|stepper| stepper.restart(self.init));
            }
        }
    }
}
