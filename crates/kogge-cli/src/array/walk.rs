//! In which pieces an array is read, scanned and written.
//!
//! In memory every array is `outer × n × inner` elements, with lines of length `n` along the axis
//! and `inner` elements from one element of a line to the next. Four ways lead through it:
//!
//! * **lines**, where the axis is the contiguous one: one line after the other, each in pieces;
//! * **slabs**, where `n × inner` elements fit in a piece: whole slabs, in file order;
//! * **columns**, where they don't, but the states of `inner` lines fit in memory: row after row;
//! * **bands**, where neither fits: neighbouring lines, whole if they are short, else row after
//!   row.
//!
//! All of them take constant memory. Only slabs, and lines and columns in forward order, follow the
//! file from start to end; the others need an input and an output that can be positioned.

use std::iter;

/// Elements `outer × n × inner`, lines along the middle axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Slabs.
    pub outer: u64,
    /// Elements of a line.
    pub n: u64,
    /// Lines of a slab; the distance of a line's elements.
    pub inner: u64,
}

/// The way through an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// One contiguous line after the other.
    Lines,
    /// Some whole slabs at a time.
    Slabs,
    /// Bands of this many lines, row after row.
    Columns(u64),
    /// Bands of this many whole lines.
    Bands(u64),
}

/// `rows` runs of `width` elements, `stride` elements apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The first element.
    pub start: u64,
    /// Contiguous elements.
    pub width: u64,
    /// How many runs of them.
    pub rows: u64,
    /// From one run to the next.
    pub stride: u64,
    /// The place of the first element along its line.
    pub index: u64,
    /// Whether new lines start here, at the end that the scan starts at.
    pub fresh: bool,
}

impl Window {
    /// Some elements in a row.
    pub fn run(start: u64, width: u64) -> Self {
        Self { start, width, rows: 1, stride: width, index: start, fresh: start == 0 }
    }

    /// Elements in it.
    pub fn len(&self) -> u64 {
        self.rows * self.width
    }
}

/// What limits the pieces, in elements.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Elements of a piece.
    pub piece: u64,
    /// Elements of the largest slab that is scanned whole.
    pub slab: u64,
    /// Lines of a band whose states are kept.
    pub band: u64,
    /// Lines of a band of whole lines, at least: neighbours in the file that are worth a seek.
    pub run: u64,
}

impl Layout {
    /// Elements in all.
    pub fn len(&self) -> u64 {
        self.outer * self.n * self.inner
    }

    /// The way to go.
    pub fn way(&self, limits: Limits) -> Way {
        if self.inner == 1 && (self.outer == 1 || self.n > limits.piece) {
            Way::Lines
        } else if self.n.saturating_mul(self.inner) <= limits.slab {
            Way::Slabs
        } else if self.inner > limits.band && limits.slab / self.n >= limits.run {
            Way::Bands(limits.slab / self.n)
        } else {
            Way::Columns(self.inner.min(limits.band).max(1))
        }
    }

    /// Whether the windows follow each other in the file without a gap.
    pub fn is_sequential(&self, way: Way, reversed: bool) -> bool {
        match way {
            Way::Slabs => true,
            Way::Lines => !reversed,
            Way::Columns(band) => !reversed && band == self.inner,
            Way::Bands(_) => false,
        }
    }

    /// Every element in exactly one window, in the order of the scan.
    pub fn windows(
        self,
        way: Way,
        limits: Limits,
        reversed: bool,
    ) -> Box<dyn Iterator<Item = Window> + Send> {
        if self.len() == 0 {
            return Box::new(iter::empty());
        }
        match way {
            Way::Lines => Box::new((0..self.outer).flat_map(move |line| {
                spans(self.n, limits.piece, reversed).map(move |span| Window {
                    start: line * self.n + span.start,
                    width: span.len,
                    rows: 1,
                    stride: span.len,
                    index: span.start,
                    fresh: span.first,
                })
            })),
            Way::Slabs => {
                let slab = self.n * self.inner;
                let some = (limits.piece / slab).max(1);
                Box::new(spans(self.outer, some, false).map(move |span| Window {
                    start: span.start * slab,
                    width: span.len * slab,
                    rows: 1,
                    stride: span.len * slab,
                    index: 0,
                    fresh: true,
                }))
            }
            Way::Bands(band) => Box::new((0..self.outer).flat_map(move |slab| {
                spans(self.inner, band, false).map(move |columns| Window {
                    start: slab * self.n * self.inner + columns.start,
                    width: columns.len,
                    rows: self.n,
                    stride: self.inner,
                    index: 0,
                    fresh: true,
                })
            })),
            Way::Columns(band) => Box::new((0..self.outer).flat_map(move |slab| {
                spans(self.inner, band, false).flat_map(move |columns| {
                    let rows = (limits.piece / columns.len).max(1);
                    spans(self.n, rows, reversed).map(move |rows| Window {
                        start: (slab * self.n + rows.start) * self.inner + columns.start,
                        width: columns.len,
                        rows: rows.len,
                        stride: self.inner,
                        index: rows.start,
                        fresh: rows.first,
                    })
                })
            })),
        }
    }
}

/// Some places of an axis in a row.
pub(super) struct Span {
    pub(super) start: u64,
    pub(super) len: u64,
    /// Whether they are gone through first.
    pub(super) first: bool,
}

/// `0..n` cut into spans of `most`, from either end; the last one may be shorter.
pub(super) fn spans(n: u64, most: u64, reversed: bool) -> impl Iterator<Item = Span> + Send {
    (0..n.div_ceil(most)).map(move |i| {
        let done = i * most;
        let len = most.min(n - done);
        let start = if reversed { n - done - len } else { done };
        Span { start, len, first: i == 0 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_once_and_lines_in_order() {
        let limits = [
            (1, 1, 1, 1),
            (5, 12, 2, 9),
            (5, 12, 2, 1),
            (7, 0, 3, 1),
            (64, 64, 64, 64),
            (3, 10, 4, 2),
        ];
        for (outer, n, inner) in [(1, 13, 1), (4, 9, 1), (3, 5, 4), (1, 7, 6), (2, 1, 5), (2, 0, 3)]
        {
            for (piece, slab, band, run) in limits {
                for reversed in [false, true] {
                    let layout = Layout { outer, n, inner };
                    check(layout, Limits { piece, slab, band, run }, reversed);
                }
            }
        }
    }

    fn check(layout: Layout, limits: Limits, reversed: bool) {
        let way = layout.way(limits);
        let mut seen = vec![false; layout.len() as usize];
        // The next index of every line; of slabs and bands lines are scanned whole.
        let mut next = vec![None; (layout.outer * layout.inner) as usize];
        let mut end = 0;
        for window in layout.windows(way, limits, reversed) {
            if layout.is_sequential(way, reversed) {
                assert_eq!(
                    (window.start, window.rows == 1 || window.width == window.stride),
                    (end, true)
                );
                end += window.len();
            }
            let whole = matches!(way, Way::Slabs | Way::Bands(_));
            let rows: Vec<u64> = if reversed && !whole {
                (0..window.rows).rev().collect()
            } else {
                (0..window.rows).collect()
            };
            for row in rows {
                for column in 0..window.width {
                    let column = if reversed { window.width - 1 - column } else { column };
                    let flat = window.start + row * window.stride + column;
                    assert!(!std::mem::replace(&mut seen[flat as usize], true));
                    if whole {
                        continue;
                    }
                    let along = flat / layout.inner % layout.n;
                    let line =
                        flat / (layout.n * layout.inner) * layout.inner + flat % layout.inner;
                    let first = if reversed { layout.n - 1 } else { 0 };
                    let expected = next[line as usize].unwrap_or(first);
                    assert_eq!(along, expected);
                    next[line as usize] =
                        Some(if reversed { along.wrapping_sub(1) } else { along + 1 });
                }
            }
        }
        assert!(seen.into_iter().all(|seen| seen), "{layout:?} {limits:?}");
    }
}
