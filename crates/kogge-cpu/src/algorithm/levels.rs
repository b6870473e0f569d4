//! What precedes the rows of a line as they come: the levels of the order from rows up.

use kogge_core::{Element, Operator, Order, Prefix};

/// Totals of rows, turned into what precedes the next row.
pub(crate) struct Levels<A> {
    /// Rows taken in.
    rows: usize,
    /// What precedes the next row.
    before: Option<A>,
    /// What precedes its segment.
    before_segment: Option<A>,
    /// The fold of the segment's rows.
    segment: Option<A>,
    /// The fold of the tile's segments.
    tile: Option<A>,
    /// What precedes the tile, where it isn't the first.
    prefix: Option<Box<Prefix<A>>>,
    init: Option<A>,
}

impl<A: Element> Levels<A> {
    /// Before the first row.
    pub(crate) fn new(init: Option<A>) -> Self {
        let (before, before_segment) = (init, init);
        Self { rows: 0, before, before_segment, segment: None, tile: None, prefix: None, init }
    }

    /// Rows taken in.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// What precedes the next row; `None` if there is nothing.
    pub(crate) fn before(&self) -> Option<A> {
        self.before
    }

    /// Takes in the next row's total. Only the last row of a sequence may be short of elements.
    pub(crate) fn push<O: Operator<A>>(&mut self, operator: &O, row: A) {
        self.rows += 1;
        self.segment = join(operator, self.segment, row);
        self.before = join(operator, self.before, row);
        if self.rows.is_multiple_of(Order::ROWS_PER_SEGMENT) {
            self.end_segment(operator);
        }
        if self.rows.is_multiple_of(Order::ROWS_PER_SEGMENT * Order::SEGMENTS_PER_TILE) {
            self.end_tile(operator);
        }
    }

    /// The fold of the initial value and all rows.
    pub(crate) fn total<O: Operator<A>>(&mut self, operator: &O) -> Option<A> {
        self.end_segment(operator);
        match &self.prefix {
            None => self.tile.map_or(self.init, |tile| join(operator, self.init, tile)),
            Some(_) => {
                self.end_tile(operator);
                self.before
            }
        }
    }

    fn end_segment<O: Operator<A>>(&mut self, operator: &O) {
        if let Some(segment) = self.segment.take() {
            self.tile = join(operator, self.tile, segment);
            self.before_segment = join(operator, self.before_segment, segment);
            self.before = self.before_segment;
        }
    }

    fn end_tile<O: Operator<A>>(&mut self, operator: &O) {
        if let Some(tile) = self.tile.take() {
            let init = self.init;
            let prefix = self.prefix.get_or_insert_with(|| Box::new(Prefix::new(init)));
            prefix.push(operator, tile);
            self.before = prefix.before(operator);
            self.before_segment = self.before;
        }
    }
}

/// `left ∘ right`, or `right` alone.
fn join<A: Element, O: Operator<A>>(operator: &O, left: Option<A>, right: A) -> Option<A> {
    Some(match left {
        Some(left) => operator.combine(left, right),
        None => right,
    })
}
