//! Where the elements of an N-dimensional array lie in a slice.

use crate::Error;

/// A shape with strides: element `(i₀, i₁, …)` lies at `offset + Σ iₖ·strideₖ`, in elements.
///
/// ```
/// use kogge::Layout;
///
/// let rows = Layout::row_major(&[3, 4]);
/// assert_eq!(rows.strides, [4, 1]);
/// let columns = Layout::column_major(&[3, 4]);
/// assert_eq!(columns.strides, [1, 3]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a layout only says where elements lie"]
pub struct Layout {
    /// Elements along each axis.
    pub shape: Vec<usize>,
    /// Elements from one index to the next along each axis; may be negative.
    pub strides: Vec<isize>,
    /// The element `(0, 0, …)`.
    pub offset: usize,
}

impl Layout {
    /// The last axis is contiguous ("C order").
    ///
    /// ```
    /// use kogge::Layout;
    ///
    /// let rows = Layout::row_major(&[2, 3, 4]);
    /// assert_eq!((rows.strides, rows.offset), (vec![12, 4, 1], 0));
    /// ```
    pub fn row_major(shape: &[usize]) -> Self {
        let mut strides = vec![1isize; shape.len()];
        for k in (1..shape.len()).rev() {
            strides[k - 1] = strides[k].saturating_mul(extent(shape[k]));
        }
        Self { shape: shape.to_vec(), strides, offset: 0 }
    }

    /// The first axis is contiguous ("Fortran order").
    ///
    /// ```
    /// use kogge::Layout;
    ///
    /// let columns = Layout::column_major(&[2, 3, 4]);
    /// assert_eq!((columns.strides, columns.offset), (vec![1, 2, 6], 0));
    /// ```
    pub fn column_major(shape: &[usize]) -> Self {
        let mut strides = vec![1isize; shape.len()];
        for k in 1..shape.len() {
            strides[k] = strides[k - 1].saturating_mul(extent(shape[k - 1]));
        }
        Self { shape: shape.to_vec(), strides, offset: 0 }
    }

    /// How many elements there are.
    ///
    /// # Errors
    ///
    /// [`Error::ShapeOverflow`] if that isn't a `usize`.
    ///
    /// ```
    /// use kogge::{Error, Layout};
    ///
    /// assert_eq!(Layout::row_major(&[2, 3, 4]).len(), Ok(24));
    /// let huge = vec![usize::MAX, 2];
    /// let overflow = Layout::row_major(&huge).len();
    /// assert_eq!(overflow, Err(Error::ShapeOverflow { shape: huge }));
    /// ```
    pub fn len(&self) -> Result<usize, Error> {
        if self.shape.contains(&0) {
            return Ok(0);
        }
        let product = self.shape.iter().try_fold(1usize, |product, &n| product.checked_mul(n));
        product.ok_or_else(|| self.overflow())
    }

    /// Whether there are no elements.
    ///
    /// ```
    /// use kogge::Layout;
    ///
    /// assert!(Layout::row_major(&[2, 0, 4]).is_empty());
    /// assert!(!Layout::row_major(&[2, 3]).is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Checks that every element lies within a slice of `len`.
    pub(crate) fn check(&self, len: usize) -> Result<(), Error> {
        let (shape, strides) = (self.shape.len(), self.strides.len());
        if shape != strides {
            return Err(Error::RankMismatch { shape, strides });
        }
        if self.len()? == 0 {
            return Ok(());
        }
        let (mut low, mut high) = (self.offset as i128, self.offset as i128);
        for (&n, &stride) in self.shape.iter().zip(&self.strides) {
            let reach = (n as i128 - 1) * stride as i128;
            *(if reach < 0 { &mut low } else { &mut high }) += reach;
        }
        if low < 0 || high >= len as i128 {
            let reach = if low < 0 { low } else { high };
            return Err(Error::OutOfBounds { reach: reach.to_string(), len });
        }
        Ok(())
    }

    /// Checks that no two indices share an element. Sorted by stride, each axis must step over all
    /// that the axes below it span; layouts that interleave in other ways are refused as well.
    pub(crate) fn check_distinct(&self) -> Result<(), Error> {
        if self.is_empty() {
            return Ok(());
        }
        let mut axes: Vec<(u128, u128)> = self
            .shape
            .iter()
            .zip(&self.strides)
            .filter(|&(&n, _)| n > 1)
            .map(|(&n, &stride)| (stride.unsigned_abs() as u128, n as u128))
            .collect();
        axes.sort_unstable();
        let mut span = 0;
        for (stride, n) in axes {
            if stride <= span {
                return Err(Error::OverlappingOutput { strides: self.strides.clone() });
            }
            span += stride * (n - 1);
        }
        Ok(())
    }

    fn overflow(&self) -> Error {
        Error::ShapeOverflow { shape: self.shape.clone() }
    }
}

/// A dimension as a factor of a stride; what overflows is found when the layout is used.
fn extent(n: usize) -> isize {
    isize::try_from(n.max(1)).unwrap_or(isize::MAX)
}
