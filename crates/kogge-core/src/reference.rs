//! The scalar meaning of a scan: slow, short, and the judge of every engine.
//!
//! It follows [`Order`] level by level, allocating as it likes. Engines must give the
//! same bits. Work is O(n log 32), memory O(n).

use crate::{Element, Kind, Operator, Order};

/// What [`scan`] gives: one value per element, and the total.
///
/// ```
/// use kogge_core::{Kind, Order, ops::Sum, reference};
///
/// let order = Order::of::<i32>();
/// let scanned = reference::scan(&[2, 3, 4], &Sum, order, Kind::Exclusive, None);
/// assert_eq!(scanned, reference::Scanned { values: vec![0, 2, 5], total: 9 });
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Scanned<A> {
    /// The scanned values, in the order of the elements.
    pub values: Vec<A>,
    /// The fold of `init` and all block totals: what would precede a next block. The identity when
    /// there is neither an element nor an `init`.
    pub total: A,
}

/// Scans accumulators in the fixed order.
///
/// ```
/// use kogge_core::{Kind, Order, ops::Max, reference};
///
/// let (x, order) = ([3, 9, 4], Order::of::<i32>());
/// let scanned = reference::scan(&x, &Max, order, Kind::Inclusive, Some(5));
/// assert_eq!(scanned.values, [5, 9, 9]);
/// ```
pub fn scan<A: Element, O: Operator<A>>(
    elements: &[A],
    operator: &O,
    order: Order,
    kind: Kind,
    init: Option<A>,
) -> Scanned<A> {
    let tree = Tree { operator, order };
    let mut values = Vec::with_capacity(elements.len());
    let mut blocks = init;
    for block in elements.chunks(order.block()) {
        let tiles = tree.kogge_stone(block.chunks(order.tile()).map(|tile| tree.tile(tile)));
        for (t, tile) in block.chunks(order.tile()).enumerate() {
            let mut segments = tree.join(blocks, t.checked_sub(1).map(|t| tiles[t]));
            for segment in tile.chunks(order.segment()) {
                let mut rows = segments;
                for row in segment.chunks(order.row()) {
                    let chunks =
                        tree.kogge_stone(row.chunks(order.chunk()).map(|chunk| tree.fold(chunk)));
                    for (c, chunk) in row.chunks(order.chunk()).enumerate() {
                        let mut before = tree.join(rows, c.checked_sub(1).map(|c| chunks[c]));
                        for &element in chunk {
                            let through = tree.join(before, Some(element));
                            let value = match kind {
                                Kind::Inclusive => through,
                                Kind::Exclusive => before,
                            };
                            values.push(value.unwrap_or_else(|| operator.identity()));
                            before = through;
                        }
                    }
                    rows = tree.join(rows, chunks.last().copied());
                }
                segments = tree.join(segments, tree.segment(segment));
            }
        }
        blocks = tree.join(blocks, tiles.last().copied());
    }
    let total = blocks.unwrap_or_else(|| operator.identity());
    Scanned { values, total }
}

/// The totals of the levels of one order under one operator.
struct Tree<'a, O> {
    operator: &'a O,
    order: Order,
}

impl<O> Tree<'_, O> {
    /// The two combined; one alone where the other doesn't exist.
    fn join<A: Element>(&self, left: Option<A>, right: Option<A>) -> Option<A>
    where
        O: Operator<A>,
    {
        match (left, right) {
            (Some(left), Some(right)) => Some(self.operator.combine(left, right)),
            (one, None) | (None, one) => one,
        }
    }

    fn fold<A: Element>(&self, elements: &[A]) -> A
    where
        O: Operator<A>,
    {
        let (first, rest) = elements.split_first().expect("`chunks` gives no empty slice");
        rest.iter().fold(*first, |left, &right| self.operator.combine(left, right))
    }

    fn row<A: Element>(&self, row: &[A]) -> Option<A>
    where
        O: Operator<A>,
    {
        let chunks = row.chunks(self.order.chunk()).map(|chunk| self.fold(chunk));
        self.kogge_stone(chunks).last().copied()
    }

    fn segment<A: Element>(&self, segment: &[A]) -> Option<A>
    where
        O: Operator<A>,
    {
        let rows = segment.chunks(self.order.row()).map(|row| self.row(row));
        rows.fold(None, |left, right| self.join(left, right))
    }

    fn tile<A: Element>(&self, tile: &[A]) -> A
    where
        O: Operator<A>,
    {
        let segments = tile.chunks(self.order.segment()).map(|segment| self.segment(segment));
        segments
            .fold(None, |left, right| self.join(left, right))
            .expect("`chunks` gives no empty slice")
    }

    /// Kogge & Stone, "A parallel algorithm for the efficient solution of a general class of
    /// recurrence equations", IEEE Trans. Comput. C-22 (1973): strides 1, 2, 4, …
    fn kogge_stone<A: Element>(&self, values: impl Iterator<Item = A>) -> Vec<A>
    where
        O: Operator<A>,
    {
        let mut values: Vec<A> = values.collect();
        let mut stride = 1;
        while stride < values.len() {
            for i in (stride..values.len()).rev() {
                values[i] = self.operator.combine(values[i - stride], values[i]);
            }
            stride *= 2;
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::from_fn;

    /// Every index of `0..n` once, in order: the reference combines neighbours only.
    #[test]
    fn combines_adjacent_spans_only() {
        let spans = from_fn([u32::MAX; 2], |left: [u32; 2], right: [u32; 2]| {
            assert_eq!(left[1], right[0], "{left:?} ∘ {right:?}");
            [left[0], right[1]]
        });
        // 64-byte elements make the smallest order: row 32, segment 256, tile 2,048, block 65,536.
        let order = Order::of_size(64);
        for n in [0, 1, 31, 32, 33, 255, 257, 2_049, 65_536, 65_537, 140_000] {
            let elements: Vec<[u32; 2]> = (0..n).map(|i| [i, i + 1]).collect();
            let inclusive = scan(&elements, &spans, order, Kind::Inclusive, None);
            let exclusive = scan(&elements, &spans, order, Kind::Exclusive, None);
            for i in 0..n {
                assert_eq!(inclusive.values[i as usize], [0, i + 1]);
                if i > 0 {
                    assert_eq!(exclusive.values[i as usize], [0, i]);
                }
            }
            if n > 0 {
                assert_eq!(inclusive.total, [0, n]);
                assert_eq!(exclusive.values[0], [u32::MAX; 2]);
            }
        }
    }

    /// The brackets of one row of sixteen-byte elements, written out by hand.
    #[test]
    fn brackets_of_a_short_row() {
        // An operator that isn't associative shows its brackets: x ∘ y = 3x + y.
        let show = from_fn(0i64, |x: i64, y: i64| x.wrapping_mul(3).wrapping_add(y));
        let f = |x: i64, y: i64| 3 * x + y;
        let x = [1, 10, 100, 1_000, 10_000];
        let order = Order::of_size(16);
        let values = scan(&x, &show, order, Kind::Inclusive, None).values;
        let pair = |i: usize| f(x[i], x[i + 1]);
        assert_eq!(values[3], f(f(x[0], pair(1)), x[3]));
        assert_eq!(values[4], f(f(pair(0), pair(2)), x[4]));
        let with_init = scan(&x, &show, order, Kind::Exclusive, Some(7)).values;
        assert_eq!(with_init[0], 7);
        assert_eq!(with_init[3], f(7, f(x[0], pair(1))));
    }
}
