//! Scans along an axis of an N-dimensional array.

use crate::{Accumulate, Element, Error, Layout, Operator, Scan};
use kogge_cpu::{Axis, PerPart, scan_lines};

impl<T, O, A> Scan<T, O, A>
where
    T: Accumulate<A>,
    O: Operator<A>,
    A: Element<Accumulator = A>,
{
    /// The scan of every line along an axis of an array: see [`LineScan`].
    ///
    /// ```
    /// use kogge::{Layout, Scan, ops::Max};
    ///
    /// let mut table = [3, 1, 2, //
    ///                  1, 5, 0];
    /// let mut highest = [0; 2];
    /// let scan = Scan::new(Max);
    /// scan.lines(1).totals(&mut highest).scan_in_place(&mut table, &Layout::row_major(&[2, 3]))?;
    /// assert_eq!(highest, [3, 5]);
    /// # Ok::<_, kogge::Error>(())
    /// ```
    pub fn lines(&self, axis: usize) -> LineScan<'_, T, O, A> {
        LineScan { scan: self, axis, per: PerPart::default() }
    }

    /// Scans every line along an axis of an array, any strides, into another of the same shape.
    /// Each line has the bits of a scan of its own. O(n) work, nothing is transposed in memory.
    ///
    /// # Errors
    ///
    /// If the shapes differ, there is no such axis, a layout reaches outside its slice, or two
    /// indices of the output share a place, or axes of it interleave: by strides, smallest first,
    /// each must step over all that the axes before it span. Nothing is written then.
    ///
    /// ```
    /// use kogge::{Layout, Scan, ops::Sum};
    ///
    /// let table = [1, 2, 3, //
    ///              4, 5, 6];
    /// let rows = Layout::row_major(&[2, 3]);
    /// let mut sums = [0; 6];
    /// Scan::new(Sum).axis_into(&table, &rows, &mut sums, &rows, 0)?;
    /// assert_eq!(sums, [1, 2, 3, 5, 7, 9]);
    /// Scan::new(Sum).axis_into(&table, &rows, &mut sums, &rows, 1)?;
    /// assert_eq!(sums, [1, 3, 6, 4, 9, 15]);
    /// # Ok::<_, kogge::Error>(())
    /// ```
    pub fn axis_into<U: Accumulate<A>>(
        &self,
        input: &[T],
        input_layout: &Layout,
        output: &mut [U],
        output_layout: &Layout,
        axis: usize,
    ) -> Result<(), Error> {
        self.lines(axis).scan_into(input, input_layout, output, output_layout)
    }

    /// Scans every line along an axis of an array in place.
    ///
    /// # Errors
    ///
    /// As for [`axis_into`](Self::axis_into).
    ///
    /// ```
    /// use kogge::{Layout, Scan, ops::Max};
    ///
    /// let mut table = [3, 1, 2, //
    ///                  1, 5, 0];
    /// Scan::new(Max).axis_in_place(&mut table, &Layout::row_major(&[2, 3]), 1)?;
    /// assert_eq!(table, [3, 3, 3, 1, 5, 5]);
    /// # Ok::<_, kogge::Error>(())
    /// ```
    pub fn axis_in_place(&self, data: &mut [T], layout: &Layout, axis: usize) -> Result<(), Error> {
        self.lines(axis).scan_in_place(data, layout)
    }
}

/// A scan of every line along an axis, with an initial value and a total for each.
///
/// Lines are numbered by their indices on the other axes, the last axis fastest, whatever their
/// order in memory.
///
/// ```
/// use kogge::{Layout, Scan, ops::Sum};
///
/// let table = [1, 2, 3, //
///              4, 5, 6];
/// let rows = Layout::row_major(&[2, 3]);
/// let (mut sums, mut totals) = ([0; 6], [0; 2]);
/// let scan = Scan::new(Sum);
/// scan.lines(1).inits(&[10, 20]).totals(&mut totals).scan_into(&table, &rows, &mut sums, &rows)?;
/// assert_eq!(sums, [11, 13, 16, 24, 29, 35]);
/// assert_eq!(totals, [16, 35]);
/// # Ok::<_, kogge::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is scanned until it is applied to data"]
pub struct LineScan<'a, T: Element, O, A> {
    pub(crate) scan: &'a Scan<T, O, A>,
    pub(crate) axis: usize,
    pub(crate) per: PerPart<'a, A>,
}

impl<'a, T, O, A> LineScan<'a, T, O, A>
where
    T: Accumulate<A>,
    O: Operator<A>,
    A: Element<Accumulator = A>,
{
    /// One initial value per line, instead of the scan's own.
    ///
    /// ```
    /// use kogge::{Layout, Scan, ops::Sum};
    ///
    /// let mut table = [1, 2, 3, //
    ///                  4, 5, 6];
    /// let rows = Layout::row_major(&[2, 3]);
    /// Scan::new(Sum).lines(0).inits(&[10, 20, 30]).scan_in_place(&mut table, &rows)?;
    /// assert_eq!(table, [11, 22, 33, 15, 27, 39]);
    /// # Ok::<_, kogge::Error>(())
    /// ```
    pub fn inits(self, inits: &'a [A]) -> Self {
        Self { per: PerPart { inits: Some(inits), ..self.per }, ..self }
    }

    /// A place for the total of each line: the fold of its initial value and its elements; the
    /// identity where there is neither.
    ///
    /// ```
    /// use kogge::{Layout, Scan, ops::Sum};
    ///
    /// let mut table = [1, 2, 3, //
    ///                  4, 5, 6];
    /// let (rows, mut totals) = (Layout::row_major(&[2, 3]), [0; 3]);
    /// Scan::new(Sum).lines(0).totals(&mut totals).scan_in_place(&mut table, &rows)?;
    /// assert_eq!(totals, [5, 7, 9]);
    /// # Ok::<_, kogge::Error>(())
    /// ```
    pub fn totals(self, totals: &'a mut [A]) -> Self {
        Self { per: PerPart { totals: Some(totals), ..self.per }, ..self }
    }

    /// Scans every line of an array into another of the same shape.
    ///
    /// # Errors
    ///
    /// As for [`Scan::axis_into`], and if there isn't one initial value or total per line.
    ///
    /// ```
    /// use kogge::{Layout, Scan, ops::Sum};
    ///
    /// let table = [1, 2, 3, //
    ///              4, 5, 6];
    /// let (rows, columns) = (Layout::row_major(&[2, 3]), Layout::column_major(&[2, 3]));
    /// let mut sums = [0; 6];
    /// Scan::new(Sum).lines(1).inits(&[10, 20]).scan_into(&table, &rows, &mut sums, &columns)?;
    /// assert_eq!(sums, [11, 24, 13, 29, 16, 35]);
    /// # Ok::<_, kogge::Error>(())
    /// ```
    pub fn scan_into<U: Accumulate<A>>(
        self,
        input: &[T],
        input_layout: &Layout,
        output: &mut [U],
        output_layout: &Layout,
    ) -> Result<(), Error> {
        input_layout.check(input.len())?;
        output_layout.check(output.len())?;
        output_layout.check_distinct()?;
        let (line, outer) = axes(input_layout, output_layout, self.axis)?;
        // Not pointers to the rest of the slice: negative strides lead back to its beginning.
        let from = input.as_ptr().wrapping_add(input_layout.offset);
        let to = output.as_mut_ptr().wrapping_add(output_layout.offset);
        // SAFETY: both layouts were checked against their slices, the output's against overlap;
        // the slices are borrowed for the call, the output exclusively.
        unsafe { scan_lines(&self.scan.request(), self.per, from, to, line, &outer, false) }
    }

    /// Scans every line of an array in place.
    ///
    /// # Errors
    ///
    /// As for [`scan_into`](Self::scan_into).
    ///
    /// ```
    /// use kogge::{Error, Layout, Scan, ops::Sum};
    ///
    /// let mut table = [1, 2, 3, //
    ///                  4, 5, 6];
    /// let (scan, rows) = (Scan::new(Sum), Layout::row_major(&[2, 3]));
    /// scan.lines(1).scan_in_place(&mut table, &rows)?;
    /// assert_eq!(table, [1, 3, 6, 4, 9, 15]);
    /// let wrong = scan.lines(2).scan_in_place(&mut table, &rows);
    /// assert_eq!(wrong, Err(Error::AxisOutOfRange { axis: 2, dimensions: 2 }));
    /// # Ok::<_, Error>(())
    /// ```
    pub fn scan_in_place(self, data: &mut [T], layout: &Layout) -> Result<(), Error> {
        layout.check(data.len())?;
        layout.check_distinct()?;
        let (line, outer) = axes(layout, layout, self.axis)?;
        let to = data.as_mut_ptr().wrapping_add(layout.offset);
        let from = to.cast_const();
        // SAFETY: the layout was checked against the slice and against overlap; the slice is
        // borrowed exclusively for the call.
        unsafe { scan_lines(&self.scan.request(), self.per, from, to, line, &outer, true) }
    }
}

/// The axis to scan along and the others.
fn axes(input: &Layout, output: &Layout, axis: usize) -> Result<(Axis, Vec<Axis>), Error> {
    if input.shape != output.shape {
        let (input, output) = (input.shape.clone(), output.shape.clone());
        return Err(Error::ShapeMismatch { input, output });
    }
    let dimensions = input.shape.len();
    if axis >= dimensions {
        return Err(Error::AxisOutOfRange { axis, dimensions });
    }
    let strides = |k| [input.strides[k], output.strides[k]];
    let axis_of = |k: usize| Axis { len: input.shape[k], strides: strides(k) };
    let mut axes: Vec<Axis> = (0..dimensions).map(axis_of).collect();
    let line = axes.remove(axis);
    Ok((line, axes))
}
