//! What precedes a tile: the upper levels of the fixed order, from tiles up.

use crate::{Element, Ladder, Operator, Order};

/// The totals of tiles as they come, turned into what precedes the next tile: Kogge–Stone over the
/// tiles of a block, a left fold over the blocks.
///
/// ```
/// use kogge_core::{Prefix, ops::Sum};
///
/// let mut prefix = Prefix::new(Some(100));
/// prefix.push(&Sum, 1);
/// prefix.push(&Sum, 2);
/// assert_eq!((prefix.before(&Sum), prefix.tiles()), (Some(103), 2));
/// ```
#[derive(Clone, Debug)]
pub struct Prefix<A> {
    /// The fold of the initial value and the blocks before.
    blocks: Option<A>,
    ladder: Ladder<A>,
    tiles: usize,
}

impl<A: Element> Prefix<A> {
    /// Before the first tile.
    ///
    /// ```
    /// use kogge_core::{Prefix, ops::Sum};
    ///
    /// assert_eq!(Prefix::<i32>::new(None).before(&Sum), None);
    /// assert_eq!(Prefix::new(Some(100)).before(&Sum), Some(100));
    /// ```
    pub fn new(init: Option<A>) -> Self {
        Self { blocks: init, ladder: Ladder::new(), tiles: 0 }
    }

    /// Starts anew.
    ///
    /// ```
    /// use kogge_core::{Prefix, ops::Sum};
    ///
    /// let mut prefix = Prefix::new(None);
    /// prefix.push(&Sum, 1);
    /// prefix.restart(Some(100));
    /// assert_eq!((prefix.before(&Sum), prefix.tiles()), (Some(100), 0));
    /// ```
    pub fn restart(&mut self, init: Option<A>) {
        self.blocks = init;
        self.ladder.clear();
        self.tiles = 0;
    }

    /// Tiles taken in.
    ///
    /// ```
    /// use kogge_core::{Prefix, ops::Sum};
    ///
    /// let mut prefix = Prefix::new(Some(100));
    /// assert_eq!(prefix.tiles(), 0);
    /// prefix.push(&Sum, 1);
    /// assert_eq!(prefix.tiles(), 1);
    /// ```
    pub fn tiles(&self) -> usize {
        self.tiles
    }

    /// What precedes the next tile; `None` if there is nothing.
    ///
    /// ```
    /// use kogge_core::{Prefix, ops::Max};
    ///
    /// let mut prefix = Prefix::new(None);
    /// assert_eq!(prefix.before(&Max), None);
    /// [3, 9, 4].iter().for_each(|&tile| prefix.push(&Max, tile));
    /// assert_eq!(prefix.before(&Max), Some(9));
    /// ```
    pub fn before<O: Operator<A>>(&self, operator: &O) -> Option<A> {
        let Some(tiles) = self.ladder.last() else { return self.blocks };
        Some(self.blocks.map_or(tiles, |blocks| operator.combine(blocks, tiles)))
    }

    /// Takes in the next tile's total. Only the last tile of a sequence may be short of elements.
    ///
    /// If the operator panics, only [`restart`](Self::restart) makes the prefix fit for use again.
    ///
    /// ```
    /// use kogge_core::{Prefix, ops::Sum};
    ///
    /// let mut prefix = Prefix::new(None);
    /// (0..100).for_each(|tile| prefix.push(&Sum, tile));
    /// assert_eq!(prefix.before(&Sum), Some(4950));
    /// ```
    pub fn push<O: Operator<A>>(&mut self, operator: &O, total: A) {
        self.tiles += 1;
        self.ladder.push(operator, total);
        if self.tiles.is_multiple_of(Order::TILES_PER_BLOCK) {
            self.blocks = self.before(operator);
            self.ladder.clear();
        }
    }

    /// Takes in the next tiles under an [exact](Operator::EXACT) operator, given how many they are
    /// and the fold of all up to their end: where any order has the same bits, levels need not be
    /// told apart.
    ///
    /// ```
    /// use kogge_core::{Prefix, ops::Sum};
    ///
    /// let mut prefix = Prefix::new(None);
    /// prefix.push(&Sum, 5);
    /// prefix.replace(2, 12);
    /// assert_eq!((prefix.before(&Sum), prefix.tiles()), (Some(12), 3));
    /// ```
    pub fn replace(&mut self, tiles: usize, through: A) {
        self.tiles += tiles;
        self.blocks = Some(through);
        self.ladder.clear();
    }
}
