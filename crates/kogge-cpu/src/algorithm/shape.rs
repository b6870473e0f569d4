//! Which kernels take an element, an accumulator and an operator, told by their types alone.

use super::exact;
use super::format::Format;
use kogge_core::{Element, Operator, Order};

/// Which kernels a scan uses; a constant of its types.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Elements of so many words of 4 bytes.
    Narrow(usize),
    /// Elements of so many words of 8 bytes.
    Wide(usize),
    /// Short elements in any order.
    Exact,
    /// Anything else.
    Array,
}

/// The kernels for elements `T` accumulated in `A` by `O`.
pub(super) const fn shape<F: Format, T, A: Element, O: Operator<A>>() -> Shape {
    let size = size_of::<A>();
    if O::COMPACT {
        return Shape::Array;
    }
    if F::PACKED > 0 {
        return Shape::Narrow(1);
    }
    if size <= 2 && O::EXACT {
        return Shape::Exact;
    }
    if size * Order::of::<T>().chunk() != Order::CHUNK_BYTES {
        return Shape::Array;
    }
    match (size, align_of::<A>()) {
        (8, 8) => Shape::Wide(1),
        (16, 8) => Shape::Wide(2),
        (4, _) => Shape::Narrow(1),
        (8, _) => Shape::Narrow(2),
        (16, _) => Shape::Narrow(4),
        _ => Shape::Array,
    }
}

/// A `match` of which each type compiles its own arm alone: the arms of one on a constant [`Shape`]
/// would all be compiled, and most of an engine thrown away again.
macro_rules! by_shape {
    ($shape:expr; $($pattern:pat => $arm:expr,)+) => {
        $(if const { matches!($shape, $pattern) } { $arm } else)+ { unreachable!() }
    };
}
pub(super) use by_shape;

impl Shape {
    /// Whether full rows go by vector.
    pub(super) const fn by_rows(self) -> bool {
        matches!(self, Self::Narrow(_) | Self::Wide(_))
    }

    /// How many of `len` elements the kernels take; the rest goes by array.
    pub(super) const fn whole(self, len: usize, order: Order) -> usize {
        match self {
            Self::Narrow(_) | Self::Wide(_) => len - len % order.row(),
            Self::Exact => len - len % exact::BLOCK,
            Self::Array => 0,
        }
    }
}
