//! The fixed order, one element at a time: the state of a scan between any two elements.
//!
//! Data that arrive in pieces are scanned with the bits of the whole, wherever the cuts fall.

use crate::{Element, Kind, Ladder, Operator, Order, Prefix};

/// The state of a scan after some number of elements.
///
/// An element costs amortised O(1) combinations; the state takes about 90 accumulators.
///
/// ```
/// use kogge_core::{Kind, Order, Stepper, ops::Sum, reference};
///
/// let x: Vec<f32> = (0..1000).map(|i| 1.0 / (i + 1) as f32).collect();
/// let mut stepper = Stepper::new(Order::of::<f32>(), None);
/// let stepped: Vec<f32> = x.iter().map(|&x| stepper.step(&Sum, Kind::Inclusive, x)).collect();
/// let whole = reference::scan(&x, &Sum, Order::of::<f32>(), Kind::Inclusive, None);
/// assert_eq!(stepped, whole.values);
/// assert_eq!(stepper.total(&Sum), Some(whole.total));
/// ```
#[derive(Clone, Debug)]
pub struct Stepper<A> {
    order: Order,
    /// Elements taken since the last tile boundary.
    place: usize,
    /// The levels from tiles up.
    prefix: Prefix<A>,
    segments: Option<A>,
    rows: Option<A>,
    chunks: Ladder<A>,
    chunk: Option<A>,
    /// What precedes the current segment, row and chunk: the prefixes of the value formula.
    before_segment: Option<A>,
    before_row: Option<A>,
    through: Option<A>,
}

impl<A: Element> Stepper<A> {
    /// The state before the first element.
    ///
    /// ```
    /// use kogge_core::{Kind, Order, Stepper, ops::Sum};
    ///
    /// let mut stepper = Stepper::new(Order::of::<i32>(), Some(100));
    /// assert_eq!(stepper.step(&Sum, Kind::Inclusive, 1), 101);
    /// ```
    pub fn new(order: Order, init: Option<A>) -> Self {
        Self {
            order,
            place: 0,
            prefix: Prefix::new(init),
            segments: None,
            rows: None,
            chunks: Ladder::new(),
            chunk: None,
            before_segment: init,
            before_row: init,
            through: init,
        }
    }

    /// Starts anew, without the cost of a new state: what is left in it is never read.
    ///
    /// ```
    /// use kogge_core::{Kind, Order, Stepper, ops::Sum};
    ///
    /// let mut stepper = Stepper::new(Order::of::<i32>(), None);
    /// stepper.step(&Sum, Kind::Inclusive, 1);
    /// stepper.restart(Some(100));
    /// assert_eq!(stepper.step(&Sum, Kind::Inclusive, 1), 101);
    /// ```
    pub fn restart(&mut self, init: Option<A>) {
        self.place = 0;
        self.prefix.restart(init);
        (self.segments, self.rows, self.chunk) = (None, None, None);
        self.chunks.clear();
        self.start_segment(init);
    }

    /// The order of combination.
    ///
    /// ```
    /// use kogge_core::{Order, Stepper};
    ///
    /// let order = Order::of::<f32>();
    /// assert_eq!(Stepper::<f32>::new(order, None).order(), order);
    /// ```
    pub fn order(&self) -> Order {
        self.order
    }

    /// Elements missing to the next tile boundary; 0 at one.
    ///
    /// ```
    /// use kogge_core::{Kind, Order, Stepper, ops::Sum};
    ///
    /// let mut stepper = Stepper::new(Order::of::<i32>(), None);
    /// assert_eq!(stepper.to_boundary(), 0);
    /// stepper.step(&Sum, Kind::Inclusive, 1);
    /// assert_eq!(stepper.to_boundary(), 8191);
    /// ```
    pub fn to_boundary(&self) -> usize {
        (self.order.tile() - self.place) % self.order.tile()
    }

    /// Takes in the next element and gives its value.
    ///
    /// If the operator panics, only [`restart`](Self::restart) makes the state fit for use again.
    ///
    /// ```
    /// use kogge_core::{Kind, Order, Stepper, ops::Sum};
    ///
    /// let mut stepper = Stepper::new(Order::of::<i32>(), None);
    /// let offsets = [3, 1, 4].map(|x| stepper.step(&Sum, Kind::Exclusive, x));
    /// assert_eq!(offsets, [0, 3, 4]);
    /// ```
    #[inline]
    pub fn step<O: Operator<A>>(&mut self, operator: &O, kind: Kind, element: A) -> A {
        let before = self.through;
        let through = join(operator, before, element);
        self.through = Some(through);
        self.chunk = Some(join(operator, self.chunk, element));
        self.place += 1;
        if self.place.is_multiple_of(self.order.chunk()) {
            self.end_chunk(operator);
        }
        match kind {
            Kind::Inclusive => through,
            Kind::Exclusive => before.unwrap_or_else(|| operator.identity()),
        }
    }

    /// The fold of `init` and every element so far, as it would precede a next block; `None` if
    /// there was neither.
    ///
    /// ```
    /// use kogge_core::{Kind, Order, Stepper, ops::Sum};
    ///
    /// let mut stepper = Stepper::new(Order::of::<i32>(), None);
    /// assert_eq!(stepper.total(&Sum), None);
    /// [3, 1, 4].map(|x| stepper.step(&Sum, Kind::Exclusive, x));
    /// assert_eq!(stepper.total(&Sum), Some(8));
    /// ```
    pub fn total<O: Operator<A>>(&self, operator: &O) -> Option<A> {
        if self.place == 0 {
            return self.prefix.before(operator);
        }
        let mut ended = self.clone();
        ended.close_tile(operator);
        ended.prefix.before(operator)
    }

    /// Moves on by whole tiles, whose totals `take` puts into the prefix.
    ///
    /// # Panics
    ///
    /// If the state is not at a tile boundary.
    ///
    /// ```
    /// use kogge_core::{Kind, Order, Stepper, ops::Sum};
    ///
    /// let mut stepper = Stepper::new(Order::of::<i32>(), None);
    /// // Three tiles with the totals 10, 20 and 30.
    /// stepper.skip_tiles(&Sum, |prefix| [10, 20, 30].iter().for_each(|&t| prefix.push(&Sum, t)));
    /// assert_eq!(stepper.step(&Sum, Kind::Inclusive, 1), 61);
    /// ```
    pub fn skip_tiles<O: Operator<A>>(&mut self, operator: &O, take: impl FnOnce(&mut Prefix<A>)) {
        assert_eq!(self.place, 0, "tiles can be skipped at a tile boundary only");
        take(&mut self.prefix);
        self.start_segment(self.prefix.before(operator));
    }

    fn end_chunk<O: Operator<A>>(&mut self, operator: &O) {
        let chunk = self.chunk.take().expect("a chunk has an element");
        let chunks = self.chunks.push(operator, chunk);
        self.through = Some(join(operator, self.before_row, chunks));
        if self.place.is_multiple_of(self.order.row()) {
            self.end_row(operator, chunks);
        }
    }

    fn end_row<O: Operator<A>>(&mut self, operator: &O, row: A) {
        self.chunks.clear();
        self.rows = Some(join(operator, self.rows, row));
        self.before_row = Some(join(operator, self.before_row, row));
        self.through = self.before_row;
        if self.place.is_multiple_of(self.order.segment()) {
            self.end_segment(operator);
        }
    }

    fn end_segment<O: Operator<A>>(&mut self, operator: &O) {
        let segment = self.rows.take().expect("a segment has a row");
        self.segments = Some(join(operator, self.segments, segment));
        self.start_segment(Some(join(operator, self.before_segment, segment)));
        if self.place == self.order.tile() {
            self.close_tile(operator);
        }
    }

    fn start_segment(&mut self, before: Option<A>) {
        self.before_segment = before;
        self.before_row = before;
        self.through = before;
    }

    /// Ends every level up to the tile, full or not, and takes the tile's total in.
    fn close_tile<O: Operator<A>>(&mut self, operator: &O) {
        if let Some(chunk) = self.chunk.take() {
            self.chunks.push(operator, chunk);
        }
        if let Some(row) = self.chunks.last() {
            self.rows = Some(join(operator, self.rows, row));
            self.chunks.clear();
        }
        if let Some(segment) = self.rows.take() {
            self.segments = Some(join(operator, self.segments, segment));
        }
        if let Some(tile) = self.segments.take() {
            self.prefix.push(operator, tile);
        }
        self.place = 0;
        self.start_segment(self.prefix.before(operator));
    }
}

fn join<A: Element, O: Operator<A>>(operator: &O, left: Option<A>, right: A) -> A {
    left.map_or(right, |left| operator.combine(left, right))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{from_fn, reference};

    /// x ∘ y = 3x + y isn't associative, so equal values mean equal trees.
    #[test]
    fn is_the_reference_at_every_length() {
        let show = from_fn(0u64, |x: u64, y: u64| x.wrapping_mul(3).wrapping_add(y));
        let order = Order::of_size(8);
        let n = order.block() + order.tile() + order.segment() + 2 * order.row() + 5;
        let elements: Vec<u64> =
            (0..n as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        for (kind, init) in
            [(Kind::Inclusive, None), (Kind::Exclusive, None), (Kind::Inclusive, Some(9))]
        {
            let whole = reference::scan(&elements, &show, order, kind, init);
            let mut stepper = Stepper::new(order, init);
            for (i, &x) in elements.iter().enumerate() {
                assert_eq!(stepper.step(&show, kind, x), whole.values[i], "{kind:?} at {i}");
            }
            assert_eq!(stepper.total(&show), Some(whole.total));
        }
    }

    /// Whatever has been taken in before.
    #[test]
    fn a_restarted_one_is_a_new_one() {
        let show = from_fn(0u64, |x: u64, y: u64| x.wrapping_mul(3).wrapping_add(y));
        let order = Order::of_size(8);
        let elements: Vec<u64> = (1..=order.tile() as u64 + 7).collect();
        let mut stepper = Stepper::new(order, Some(5));
        let lengths = [1, order.chunk(), order.row() + 1, order.segment() + 3, order.tile()];
        for (n, init) in lengths.into_iter().zip([None, Some(9)].into_iter().cycle()) {
            elements[..n].iter().for_each(|&x| {
                stepper.step(&show, Kind::Inclusive, x);
            });
            stepper.restart(init);
            assert_eq!((stepper.total(&show), stepper.to_boundary()), (init, 0));
            let whole = reference::scan(&elements, &show, order, Kind::Exclusive, init);
            for (i, &x) in elements.iter().enumerate() {
                let value = stepper.step(&show, Kind::Exclusive, x);
                assert_eq!(value, whole.values[i], "at {i} after {n}");
            }
            assert_eq!(stepper.total(&show), Some(whole.total));
            stepper.restart(None);
        }
    }

    #[test]
    fn totals_at_every_length_of_a_segment() {
        let show = from_fn(0u64, |x: u64, y: u64| x.wrapping_mul(3).wrapping_add(y));
        let order = Order::of_size(16);
        let mut stepper = Stepper::new(order, None);
        assert_eq!(stepper.total(&show), None);
        let elements: Vec<u64> = (1..=2 * order.segment() as u64).collect();
        for (i, &x) in elements.iter().enumerate() {
            stepper.step(&show, Kind::Inclusive, x);
            let whole = reference::scan(&elements[..=i], &show, order, Kind::Inclusive, None);
            assert_eq!(stepper.total(&show), Some(whole.total), "after {i}");
        }
    }

    /// From every tile boundary of a block and beyond, on to every other.
    #[test]
    fn skips_whole_tiles() {
        let show = from_fn(0u64, |x: u64, y: u64| x.wrapping_mul(3).wrapping_add(y));
        let order = Order::of_size(64);
        let elements: Vec<u64> =
            (0..order.block() as u64 + 4 * order.tile() as u64 + 100).collect();
        let whole = reference::scan(&elements, &show, order, Kind::Inclusive, None);
        let tiles: Vec<u64> = elements
            .chunks(order.tile())
            .map(|tile| reference::scan(tile, &show, order, Kind::Inclusive, None).total)
            .collect();
        for (from, to) in [(0, 1), (0, 32), (1, 2), (3, 31), (5, 32), (7, 34), (32, 34)] {
            let mut stepper = Stepper::new(order, None);
            for &x in &elements[..from * order.tile()] {
                stepper.step(&show, Kind::Inclusive, x);
            }
            assert_eq!(stepper.to_boundary(), 0);
            stepper.skip_tiles(&show, |prefix| {
                tiles[from..to].iter().for_each(|&tile| prefix.push(&show, tile));
            });
            for (i, &x) in elements.iter().enumerate().skip(to * order.tile()) {
                assert_eq!(stepper.step(&show, Kind::Inclusive, x), whole.values[i], "at {i}");
            }
            assert_eq!(stepper.to_boundary(), order.tile() - 100);
            assert_eq!(stepper.total(&show), Some(whole.total));
        }
    }
}
