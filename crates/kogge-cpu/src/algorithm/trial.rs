//! Sums by some way of going through tiles, beside the reference: for the tests of such ways.

use super::io::Direct;
use super::tile::Scan;
use crate::Level;
use kogge_core::ops::Sum;
use kogge_core::{Element, Kind, Operator, Order, Prefix, reference};
use std::marker::PhantomData;

pub(super) type Sums<'a, A> = Scan<'a, Direct<A, false>, A, Sum>;

/// Values, and the total.
pub(super) type Scanned<A> = (Vec<A>, Option<A>);

/// Elements of so many tiles, of which the last one is short, and what the reference makes of them.
pub(super) fn elements<A: Element>(
    tiles: usize,
    element: impl Fn(usize) -> A,
) -> (Vec<A>, Scanned<A>)
where
    Sum: Operator<A>,
{
    let order = Order::of::<A>();
    let elements: Vec<_> = (0..(tiles - 1) * order.tile() + 77).map(element).collect();
    let want = reference::scan(&elements, &Sum, order, Kind::Inclusive, None);
    (elements, (want.values, Some(want.total)))
}

/// What `scan` makes of elements, in place or not; it may read and write as the scan that it is
/// given says.
pub(super) fn scanned<A: Element>(
    elements: &[A],
    in_place: bool,
    scan: impl FnOnce(&Sums<'_, A>, &mut Prefix<A>),
) -> Scanned<A>
where
    Sum: Operator<A>,
{
    scanned_by(&Sum, elements, in_place, scan)
}

/// The same under another operator.
pub(super) fn scanned_by<A: Element, O: Operator<A>>(
    operator: &O,
    elements: &[A],
    in_place: bool,
    scan: impl FnOnce(&Scan<'_, Direct<A, false>, A, O>, &mut Prefix<A>),
) -> Scanned<A> {
    let mut values = elements.to_vec();
    let to = values.as_mut_ptr();
    let from = if in_place { to.cast_const() } else { elements.as_ptr() };
    let (level, kind, len) = (Level::detect(), Kind::Inclusive, elements.len());
    let io = Direct::<A, false> { from, to };
    let tile = Order::of::<A>().tile();
    let of_elements = Scan { level, operator, kind, io, len, tile, accumulator: PhantomData };
    let mut prefix = Prefix::new(None);
    scan(&of_elements, &mut prefix);
    (values, prefix.before(operator))
}
