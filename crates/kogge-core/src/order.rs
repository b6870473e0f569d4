//! The order of combination: one tree, a function of the length and the element size alone.
//!
//! Floating-point addition isn't associative, so the bits of a parallel scan depend on its tree.
//! kogge fixes the tree; threads, blocks, SIMD width, GPU model and engine don't enter into it.
//!
//! With E = max(1, 16 / size of an element) elements to a chunk:
//!
//! | level | is | how its parts combine |
//! |---|---|---|
//! | chunk | E consecutive elements | left fold |
//! | row | 32 chunks | Kogge–Stone over the chunk totals (stride 1, 2, 4, 8, 16) |
//! | segment | 8 rows | left fold of row totals |
//! | tile | 8 segments | left fold of segment totals |
//! | block | 32 tiles | Kogge–Stone over the tile totals |
//! | whole | all blocks | left fold of block totals |
//!
//! The value at `i` starts from its tile's prefix (the fold of the blocks before, then the
//! Kogge–Stone value of the tile before in the block), takes in the totals of the segments before
//! in the tile, then the totals of the rows before in the segment one by one, then the Kogge–Stone
//! value of the chunk before in the row, then the chunk's elements left to right up to `i`.
//!
//! An operand that doesn't exist is skipped, never replaced by the identity, which may not be exact
//! (`0.0 + -0.0` is `0.0`). An initial value is combined first, on the left. The exclusive value at
//! `i` is the same expression without the element `i` itself. A reverse scan is the same over the
//! reversed sequence.
//!
//! # What it costs
//!
//! Operators that are [exact](crate::Operator::EXACT) have the same bits in any order, and are
//! combined in whichever is fastest. Float sums pay: on two cores of an AMD Zen 3 the same engine
//! with a free order had 1.07 to 1.5 times the speed for `f32`, for `f64` 1.3 to 2.2 times in cache
//! and 0.8 to 1.3 times out of it (`bench/records/amd-epyc-zen3-2`).
//!
//! # A worked example
//!
//! Ten elements of 4 bytes make the chunks `0123`, `4567` and `89`. The inclusive value at 9 is
//! `((c₀ ∘ c₁) ∘ x₈) ∘ x₉` with `c₀ = ((x₀ ∘ x₁) ∘ x₂) ∘ x₃` and `c₁ = ((x₄ ∘ x₅) ∘ x₆) ∘ x₇`:
//!
//! ```
//! use kogge_core::{Kind, Order, ops::Sum, reference};
//!
//! let x = [1e8f32, 1.0, 1.0, 1.0, 4.0, 4.0, 4.0, 4.0, 1.0, 1.0];
//! let c0 = ((x[0] + x[1]) + x[2]) + x[3];
//! let c1 = ((x[4] + x[5]) + x[6]) + x[7];
//! let scan = reference::scan(&x, &Sum, Order::of::<f32>(), Kind::Inclusive, None);
//! assert_eq!(scan.values[9], ((c0 + c1) + x[8]) + x[9]);
//!
//! let left_to_right = x.iter().copied().reduce(|sum, x| sum + x).unwrap();
//! assert_ne!(scan.values[9], left_to_right);
//! ```

/// The sizes of the levels, in elements, for one size of element.
///
/// ```
/// use kogge_core::Order;
///
/// let order = Order::of::<f32>();
/// assert_eq!([order.chunk(), order.row(), order.segment()], [4, 128, 1024]);
/// assert_eq!([order.tile(), order.block()], [8192, 262_144]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Order {
    chunk: usize,
}

impl Order {
    /// Bytes in a chunk of elements of up to 16 bytes.
    ///
    /// ```
    /// use kogge_core::Order;
    ///
    /// assert_eq!(Order::of::<u16>().chunk() * size_of::<u16>(), Order::CHUNK_BYTES);
    /// ```
    pub const CHUNK_BYTES: usize = 16;
    /// Chunks in a row.
    ///
    /// ```
    /// use kogge_core::Order;
    ///
    /// let order = Order::of::<f32>();
    /// assert_eq!(order.row(), order.chunk() * Order::CHUNKS_PER_ROW);
    /// ```
    pub const CHUNKS_PER_ROW: usize = 32;
    /// Rows in a segment.
    ///
    /// ```
    /// use kogge_core::Order;
    ///
    /// let order = Order::of::<f32>();
    /// assert_eq!(order.segment(), order.row() * Order::ROWS_PER_SEGMENT);
    /// ```
    pub const ROWS_PER_SEGMENT: usize = 8;
    /// Segments in a tile.
    ///
    /// ```
    /// use kogge_core::Order;
    ///
    /// let order = Order::of::<f32>();
    /// assert_eq!(order.tile(), order.segment() * Order::SEGMENTS_PER_TILE);
    /// ```
    pub const SEGMENTS_PER_TILE: usize = 8;
    /// Tiles in a block.
    ///
    /// ```
    /// use kogge_core::Order;
    ///
    /// let order = Order::of::<f32>();
    /// assert_eq!(order.block(), order.tile() * Order::TILES_PER_BLOCK);
    /// ```
    pub const TILES_PER_BLOCK: usize = 32;

    /// The order for elements of type `T`: the type read, whatever it is accumulated in.
    ///
    /// ```
    /// use kogge_core::Order;
    ///
    /// assert_eq!(Order::of::<f32>(), Order::of::<[u8; 4]>());
    /// assert_ne!(Order::of::<f32>(), Order::of::<f64>());
    /// ```
    pub const fn of<T>() -> Self {
        Self::of_size(size_of::<T>())
    }

    /// The order for elements of `bytes` bytes.
    ///
    /// ```
    /// use kogge_core::Order;
    ///
    /// assert_eq!(Order::of_size(4), Order::of::<f32>());
    /// assert_eq!(Order::of_size(24).chunk(), 1);
    /// ```
    pub const fn of_size(bytes: usize) -> Self {
        let chunk =
            if bytes == 0 || bytes > Self::CHUNK_BYTES { 1 } else { Self::CHUNK_BYTES / bytes };
        Self { chunk }
    }

    /// Elements in a chunk: max(1, 16 / size of an element).
    ///
    /// ```
    /// use kogge_core::Order;
    ///
    /// assert_eq!([1, 2, 8, 16, 48].map(|bytes| Order::of_size(bytes).chunk()), [16, 8, 2, 1, 1]);
    /// ```
    pub const fn chunk(self) -> usize {
        self.chunk
    }

    /// Elements in a row: 128 for 4-byte elements.
    ///
    /// ```
    /// use kogge_core::Order;
    ///
    /// assert_eq!([1, 4, 48].map(|bytes| Order::of_size(bytes).row()), [512, 128, 32]);
    /// ```
    pub const fn row(self) -> usize {
        self.chunk * Self::CHUNKS_PER_ROW
    }

    /// Elements in a segment: 1,024 for 4-byte elements.
    ///
    /// ```
    /// use kogge_core::Order;
    ///
    /// assert_eq!([1, 4, 48].map(|bytes| Order::of_size(bytes).segment()), [4096, 1024, 256]);
    /// ```
    pub const fn segment(self) -> usize {
        self.row() * Self::ROWS_PER_SEGMENT
    }

    /// Elements in a tile: 8,192 for 4-byte elements.
    ///
    /// ```
    /// use kogge_core::Order;
    ///
    /// // 32 KiB, of elements of up to 16 bytes.
    /// let bytes = |element| Order::of_size(element).tile() * element;
    /// assert_eq!([1, 2, 4, 8, 16].map(bytes), [32 << 10; 5]);
    /// ```
    pub const fn tile(self) -> usize {
        self.segment() * Self::SEGMENTS_PER_TILE
    }

    /// Elements in a block: 262,144 for 4-byte elements.
    ///
    /// ```
    /// use kogge_core::Order;
    ///
    /// // 1 MiB, of elements of up to 16 bytes.
    /// let bytes = |element| Order::of_size(element).block() * element;
    /// assert_eq!([1, 2, 4, 8, 16].map(bytes), [1 << 20; 5]);
    /// ```
    pub const fn block(self) -> usize {
        self.tile() * Self::TILES_PER_BLOCK
    }
}
