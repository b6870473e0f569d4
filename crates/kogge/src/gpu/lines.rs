//! Scans along an axis of an array in a buffer.

use super::{Buffer, Device, DeviceError, PerPart, Shape};
use crate::{Accumulate, Element, Error, Layout, Scan};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_cuda::{Axis, LineShape};
use std::sync::Arc;

impl<T, O, A> Scan<T, O, A>
where
    T: DeviceElement + Accumulate<A>,
    O: DeviceOperator<A> + 'static,
    A: Element + DeviceType,
{
    /// The scan of every line along an axis of an array in a buffer: see [`BufferLineScan`].
    pub fn buffer_lines(&self, axis: usize) -> BufferLineScan<'_, T, O, A> {
        BufferLineScan { scan: self, axis, per: PerPart::default() }
    }
}

/// A scan of every line along an axis of an array on a device, with an initial value and a total
/// for each.
///
/// Besides the scanned axis there may be eight others, where such as lie in memory like one count
/// as one: of a contiguous array any number.
///
/// As [`Scan::lines`] does for slices, and with the same bits: lines are numbered by their indices
/// on the other axes, the last axis fastest; nothing is transposed in memory.
///
/// ```
/// use kogge::{Buffer, Device, DeviceError, Layout, Scan, ops::Sum};
///
/// fn running_sums(device: &Device) -> Result<Vec<i32>, DeviceError> {
///     let table = device.buffer(&[1, 2, 3, //
///                                 4, 5, 6])?;
///     let mut sums = device.zeros(6)?;
///     let rows = Layout::row_major(&[2, 3]);
///     Scan::new(Sum).buffer_lines(0).scan_into(device, &table, &rows, &mut sums, &rows)?;
///     sums.read()
/// }
///
/// match Device::cuda(0) {
///     Ok(device) => assert_eq!(running_sums(&device)?, [1, 2, 3, 5, 7, 9]),
///     Err(error) => println!("{error}"),
/// }
/// # Ok::<_, DeviceError>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is scanned until it is applied to data"]
pub struct BufferLineScan<'a, T: Element, O, A> {
    scan: &'a Scan<T, O, A>,
    axis: usize,
    per: PerPart<'a, A>,
}

impl<'a, T, O, A> BufferLineScan<'a, T, O, A>
where
    T: DeviceElement + Accumulate<A>,
    O: DeviceOperator<A> + 'static,
    A: Element + DeviceType,
{
    /// One initial value per line, instead of the scan's own.
    pub fn inits(self, inits: &'a Buffer<A>) -> Self {
        Self { per: PerPart { inits: Some(inits), ..self.per }, ..self }
    }

    /// A place for the total of each line: the fold of its initial value and its elements; the
    /// identity where there is neither.
    pub fn totals(self, totals: &'a mut Buffer<A>) -> Self {
        Self { per: PerPart { totals: Some(totals), ..self.per }, ..self }
    }

    /// Scans every line of an array into another of the same shape; returns before it is done.
    ///
    /// # Errors
    ///
    /// [`DeviceError::Invalid`] if the shapes differ, there is no such axis, a layout reaches
    /// outside its buffer, two indices of the output share a place, or there isn't one initial
    /// value or total per line; else as [`Scan::scan_buffer`].
    pub fn scan_into<U: DeviceElement + Accumulate<A>>(
        self,
        device: &Device,
        input: &Buffer<T>,
        input_layout: &Layout,
        output: &mut Buffer<U>,
        output_layout: &Layout,
    ) -> Result<(), DeviceError> {
        input_layout.check(input.len())?;
        output_layout.check(output.len())?;
        output_layout.check_distinct()?;
        let shape = shape(input_layout, output_layout, self.axis)?;
        let from = first(input, input_layout);
        let to = first(output, output_layout);
        let streams = [input.stream(), output.stream()];
        // SAFETY: both layouts were checked against their buffers, the output's against overlap;
        // the output is borrowed exclusively, so it isn't the input.
        unsafe { self.run::<U>(device, shape, from, to, &streams) }
    }

    /// Scans every line of an array in place; returns before it is done.
    ///
    /// # Errors
    ///
    /// As for [`scan_into`](Self::scan_into).
    pub fn scan_in_place(
        self,
        device: &Device,
        data: &mut Buffer<T>,
        layout: &Layout,
    ) -> Result<(), DeviceError> {
        layout.check(data.len())?;
        layout.check_distinct()?;
        let shape = shape(layout, layout, self.axis)?;
        let at = first(data, layout);
        // SAFETY: the layout was checked against the buffer and against overlap; the buffer is
        // borrowed exclusively.
        unsafe { self.run::<T>(device, shape, at, at, &[data.stream()]) }
    }

    /// # Safety
    ///
    /// The elements of the shape must be readable at `from` and writable at `to`, memory of buffers
    /// of these streams; the two are equal, with equal strides, or don't overlap.
    unsafe fn run<U: DeviceElement + Accumulate<A>>(
        self,
        device: &Device,
        shape: LineShape,
        from: u64,
        to: u64,
        streams: &[&Arc<kogge_cuda::cudarc::driver::CudaStream>],
    ) -> Result<(), DeviceError> {
        let Self { scan, per, .. } = self;
        per.check(shape.lines()?, "line(s)")?;
        let prepared =
            device.prepared::<U, _, _, _, _>(scan, Shape::Lines(shape.clone()), |device| {
                let (kind, direction) = (scan.kind, scan.direction);
                device.prepare_lines::<T, U, A, O>(&scan.operator, kind, direction, &shape)
            })?;
        let streams: Vec<_> = streams.iter().copied().chain(per.streams()).collect();
        let (inits, totals) = (per.inits(scan.init), per.totals());
        device.workspace().between(&streams, |workspace| {
            // SAFETY: the caller's promise; there is one initial value and total per line; buffers
            // live until they are freed, which waits for the device.
            unsafe { prepared.run(workspace, from, to, inits, totals) }
        })
    }
}

/// The address of index 0 on every axis.
fn first<T: Element>(buffer: &Buffer<T>, layout: &Layout) -> u64 {
    address(buffer.address(), layout.offset, size_of::<T>())
}

/// Of no elements the offset may be any number.
fn address(base: u64, offset: usize, bytes: usize) -> u64 {
    base.wrapping_add((offset as u64).wrapping_mul(bytes as u64))
}

/// The lines along an axis.
fn shape(input: &Layout, output: &Layout, axis: usize) -> Result<LineShape, Error> {
    if input.shape != output.shape {
        let (input, output) = (input.shape.clone(), output.shape.clone());
        return Err(Error::ShapeMismatch { input, output });
    }
    let dimensions = input.shape.len();
    if axis >= dimensions {
        return Err(Error::AxisOutOfRange { axis, dimensions });
    }
    let axis_of = |k: usize| Axis {
        len: input.shape[k] as u64,
        input_stride: input.strides[k] as i64,
        output_stride: output.strides[k] as i64,
    };
    let mut outer: Vec<Axis> = (0..dimensions).map(axis_of).collect();
    let line = outer.remove(axis);
    Ok(LineShape { line, outer })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_of_no_elements_may_lie_anywhere() {
        let nowhere = Layout { shape: vec![0, 3], strides: vec![3, 1], offset: usize::MAX };
        assert!(nowhere.check(0).is_ok());
        assert_eq!(address(1 << 20, nowhere.offset, 8), (1 << 20) - 8);
        assert_eq!(address(1 << 20, 5, 8), (1 << 20) + 40);
    }
}
