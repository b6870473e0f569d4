//! What precedes the rows of a line as they come: the levels of the order from rows up.

use super::tile::join;
use kogge_core::{Element, Operator, Order, Prefix};

/// Rows of a tile.
pub(crate) const ROWS_PER_TILE: usize = Order::ROWS_PER_SEGMENT * Order::SEGMENTS_PER_TILE;

/// Totals of rows, turned into what precedes the next row. Where any order has the same bits, that
/// is all they are: segments and tiles have no ends.
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
    pub(crate) fn new() -> Self {
        let (before, before_segment, init) = (None, None, None);
        Self { rows: 0, before, before_segment, segment: None, tile: None, prefix: None, init }
    }

    /// Goes back to before the first row: writes no more than it must, as lines of few places come
    /// by the million.
    pub(crate) fn restart(&mut self, init: Option<A>) {
        self.rows = 0;
        (self.before, self.before_segment, self.init) = (init, init, init);
        (self.segment, self.tile, self.prefix) = (None, None, None);
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
        if const { O::EXACT } {
            return self.go_on(1, join(operator, self.before, row));
        }
        self.rows += 1;
        self.segment = Some(join(operator, self.segment, row));
        self.before = Some(join(operator, self.before, row));
        self.end_levels(operator);
    }

    /// What rows of the same segment go on from.
    pub(crate) fn running(&self) -> Running<A> {
        Running { before: self.before, segment: self.segment }
    }

    /// Takes in the next `rows` rows, all of the same segment, given what the ones after them would
    /// go on from.
    pub(crate) fn advance<O: Operator<A>>(&mut self, operator: &O, rows: usize, to: Running<A>) {
        if let (true, Some(before)) = (const { O::EXACT }, to.before) {
            return self.go_on(rows, before);
        }
        self.rows += rows;
        (self.before, self.segment) = (to.before, to.segment);
        self.end_levels(operator);
    }

    /// Takes in the next `rows` rows, given their total: a row, a segment or a tile, which begins
    /// where one does.
    pub(crate) fn push_span<O: Operator<A>>(&mut self, operator: &O, rows: usize, total: A) {
        if const { O::EXACT } {
            return self.go_on(rows, join(operator, self.before, total));
        }
        if rows == 1 {
            return self.push(operator, total);
        }
        self.rows += rows;
        if rows == ROWS_PER_TILE {
            self.tile = Some(total);
        } else {
            self.segment = Some(total);
            self.end_segment(operator);
        }
        if self.rows.is_multiple_of(ROWS_PER_TILE) {
            self.end_tile(operator);
        }
    }

    /// Takes in the next `rows` rows under an operator that is as good in any order, given what
    /// precedes those after them.
    pub(crate) fn go_on(&mut self, rows: usize, before: A) {
        self.rows += rows;
        self.before = Some(before);
    }

    /// The fold of the initial value and all rows.
    pub(crate) fn total<O: Operator<A>>(&mut self, operator: &O) -> Option<A> {
        if const { O::EXACT } {
            return self.before;
        }
        self.end_segment(operator);
        match &self.prefix {
            None => self.tile.map_or(self.init, |tile| Some(join(operator, self.init, tile))),
            Some(_) => {
                self.end_tile(operator);
                self.before
            }
        }
    }

    /// Ends what ends with the row that was taken in.
    fn end_levels<O: Operator<A>>(&mut self, operator: &O) {
        if self.rows.is_multiple_of(Order::ROWS_PER_SEGMENT) {
            self.end_segment(operator);
        }
        if self.rows.is_multiple_of(ROWS_PER_TILE) {
            self.end_tile(operator);
        }
    }

    fn end_segment<O: Operator<A>>(&mut self, operator: &O) {
        if let Some(segment) = self.segment.take() {
            self.tile = Some(join(operator, self.tile, segment));
            self.before_segment = Some(join(operator, self.before_segment, segment));
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

/// What the rows of a segment go on from.
#[derive(Clone, Copy)]
pub(crate) struct Running<A> {
    /// What precedes the next row, if anything does.
    pub(crate) before: Option<A>,
    /// The fold of the segment's rows before it.
    pub(crate) segment: Option<A>,
}

/// The fold of the rows of a segment or a tile, from its first.
#[derive(Clone, Copy)]
pub(crate) struct Span<A> {
    rows: usize,
    /// The fold of the segment's rows.
    segment: Option<A>,
    /// The fold of the segments before it.
    segments: Option<A>,
}

impl<A: Element> Span<A> {
    pub(crate) fn new() -> Self {
        Self { rows: 0, segment: None, segments: None }
    }

    /// Takes in the next row's total.
    pub(crate) fn push<O: Operator<A>>(&mut self, operator: &O, row: A) {
        self.advance(operator, 1, Some(join(operator, self.segment, row)));
    }

    /// The fold of the segment's rows.
    pub(crate) fn segment(&self) -> Option<A> {
        self.segment
    }

    /// Takes in the next `rows` rows, all of the same segment, given the fold of its rows.
    pub(crate) fn advance<O: Operator<A>>(
        &mut self,
        operator: &O,
        rows: usize,
        segment: Option<A>,
    ) {
        self.rows += rows;
        self.segment = segment;
        if self.rows.is_multiple_of(Order::ROWS_PER_SEGMENT) {
            self.segments = self.total(operator);
            self.segment = None;
        }
    }

    /// The fold of the rows taken in.
    pub(crate) fn total<O: Operator<A>>(&self, operator: &O) -> Option<A> {
        match self.segment {
            Some(segment) => Some(join(operator, self.segments, segment)),
            None => self.segments,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use kogge_core::ops::Sum;

    /// What precedes each of so many rows, and their total.
    fn all(levels: &mut Levels<f32>, rows: usize) -> Vec<Option<f32>> {
        let mut all = vec![levels.before()];
        for row in 0..rows {
            levels.push(&Sum, 0.1 + (row * row % 7) as f32);
            all.push(levels.before());
        }
        all.push(levels.total(&Sum));
        all
    }

    #[test]
    fn levels_that_go_back_are_as_new_ones() {
        const LENGTHS: [usize; 9] = [0, 1, 7, 8, 9, 63, 64, 65, 200];
        for (before, rows) in LENGTHS.iter().flat_map(|&n| LENGTHS.map(|rows| (n, rows))) {
            for init in [None, Some(0.3)] {
                let (mut levels, mut others) = (Levels::new(), Levels::new());
                others.restart(init);
                (0..before).for_each(|_| levels.push(&Sum, 1e7));
                levels.restart(init);
                assert_eq!(levels.rows(), 0);
                assert_eq!(all(&mut levels, rows), all(&mut others, rows), "{before}");
            }
        }
    }
}
