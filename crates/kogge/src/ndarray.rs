//! Scans along the axes of `ndarray` views.

use crate::{Accumulate, Element, Error, LineScan, Operator, Scan};
use kogge_cpu::{Axis, scan_lines};
use ndarray::{ArrayView, ArrayViewMut, Dimension};

impl<T, O, A> Scan<T, O, A>
where
    T: Accumulate<A>,
    O: Operator<A>,
    A: Element<Accumulator = A>,
{
    /// Scans every line along an axis of a view, any strides, into another of the same shape.
    /// Needs the feature `ndarray`.
    ///
    /// # Errors
    ///
    /// [`Error::ShapeMismatch`], or [`Error::AxisOutOfRange`]. Nothing is written then.
    ///
    /// ```
    /// use kogge::{Scan, ops::Sum};
    /// use ndarray::{Array2, Axis, array};
    ///
    /// let table = array![[1, 2, 3], [4, 5, 6]];
    /// let mut sums = Array2::<i32>::zeros((3, 2));
    /// Scan::new(Sum).view_into(table.t(), sums.view_mut(), Axis(1))?;
    /// assert_eq!(sums, array![[1, 5], [2, 7], [3, 9]]);
    /// # Ok::<_, kogge::Error>(())
    /// ```
    pub fn view_into<U: Accumulate<A>, D: Dimension>(
        &self,
        input: ArrayView<'_, T, D>,
        output: ArrayViewMut<'_, U, D>,
        axis: ndarray::Axis,
    ) -> Result<(), Error> {
        self.lines(axis.index()).view_into(input, output)
    }

    /// Scans every line along an axis of a view in place. Needs the feature `ndarray`.
    ///
    /// # Errors
    ///
    /// [`Error::AxisOutOfRange`].
    ///
    /// ```
    /// use kogge::{Scan, ops::Sum};
    /// use ndarray::{Axis, array};
    ///
    /// let mut table = array![[1.0, 2.0], [3.0, 4.0]];
    /// Scan::new(Sum).reverse().view_in_place(table.view_mut(), Axis(0))?;
    /// assert_eq!(table, array![[4.0, 6.0], [3.0, 4.0]]);
    /// # Ok::<_, kogge::Error>(())
    /// ```
    pub fn view_in_place<D: Dimension>(
        &self,
        data: ArrayViewMut<'_, T, D>,
        axis: ndarray::Axis,
    ) -> Result<(), Error> {
        self.lines(axis.index()).view_in_place(data)
    }
}

impl<T, O, A> LineScan<'_, T, O, A>
where
    T: Accumulate<A>,
    O: Operator<A>,
    A: Element<Accumulator = A>,
{
    /// Scans every line of a view into another of the same shape. Needs the feature `ndarray`.
    ///
    /// # Errors
    ///
    /// As for [`Scan::view_into`], and if there isn't one initial value or total per line.
    ///
    /// ```
    /// use kogge::{Scan, ops::Sum};
    /// use ndarray::{Array2, array};
    ///
    /// let (mut sums, mut totals) = (Array2::<i32>::zeros((2, 3)), [0; 2]);
    /// let table = array![[1, 2, 3], [4, 5, 6]];
    /// Scan::new(Sum).lines(1).totals(&mut totals).view_into(table.view(), sums.view_mut())?;
    /// assert_eq!(sums, array![[1, 3, 6], [4, 9, 15]]);
    /// assert_eq!(totals, [6, 15]);
    /// # Ok::<_, kogge::Error>(())
    /// ```
    pub fn view_into<U: Accumulate<A>, D: Dimension>(
        self,
        input: ArrayView<'_, T, D>,
        mut output: ArrayViewMut<'_, U, D>,
    ) -> Result<(), Error> {
        if input.shape() != output.shape() {
            let (input, output) = (input.shape().to_vec(), output.shape().to_vec());
            return Err(Error::ShapeMismatch { input, output });
        }
        let strides = input.strides().iter().zip(output.strides());
        let strides = strides.map(|(&input, &output)| [input, output]);
        let (line, outer) = axes(input.shape(), strides, self.axis)?;
        let (from, to) = (input.as_ptr(), output.as_mut_ptr());
        // SAFETY: views reach valid elements only, distinct ones if mutable, and are borrowed.
        unsafe { scan_lines(&self.scan.request(), self.per, from, to, line, &outer, false) }
    }

    /// Scans every line of a view in place. Needs the feature `ndarray`.
    ///
    /// # Errors
    ///
    /// As for [`Scan::view_in_place`], and if there isn't one initial value or total per line.
    ///
    /// ```
    /// use kogge::{Scan, ops::Sum};
    /// use ndarray::array;
    ///
    /// let mut table = array![[1, 2], [3, 4]];
    /// Scan::new(Sum).lines(0).inits(&[10, 20]).view_in_place(table.view_mut())?;
    /// assert_eq!(table, array![[11, 22], [14, 26]]);
    /// # Ok::<_, kogge::Error>(())
    /// ```
    pub fn view_in_place<D: Dimension>(
        self,
        mut data: ArrayViewMut<'_, T, D>,
    ) -> Result<(), Error> {
        let strides = data.strides().iter().map(|&stride| [stride; 2]);
        let (line, outer) = axes(data.shape(), strides, self.axis)?;
        let to = data.as_mut_ptr();
        let from = to.cast_const();
        // SAFETY: a mutable view reaches valid, distinct elements, and is borrowed exclusively.
        unsafe { scan_lines(&self.scan.request(), self.per, from, to, line, &outer, true) }
    }
}

/// The axis to scan along and the others.
fn axes(
    shape: &[usize],
    strides: impl Iterator<Item = [isize; 2]>,
    axis: usize,
) -> Result<(Axis, Vec<Axis>), Error> {
    let mut axes: Vec<Axis> =
        shape.iter().zip(strides).map(|(&len, strides)| Axis { len, strides }).collect();
    if axis >= axes.len() {
        return Err(Error::AxisOutOfRange { axis, dimensions: axes.len() });
    }
    let line = axes.remove(axis);
    Ok((line, axes))
}
