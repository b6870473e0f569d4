//! Scans of segments that lie one after another in a buffer.

use super::{Buffer, Device, DeviceError, PerPart, Shape};
use crate::{Accumulate, Element, Error, Scan, bf16, f16};
use kogge_core::device::{DeviceElement, DeviceOperator, DeviceType};
use kogge_cuda::cudarc::driver::CudaStream;
use kogge_cuda::{KeyType, SegmentSource};
use std::sync::Arc;

/// Where segments start, as told by a buffer on the device.
#[derive(Clone, Copy, Debug)]
pub struct BufferSegments<'a> {
    source: SegmentSource,
    address: u64,
    stream: &'a Arc<CudaStream>,
    /// Elements, if the buffer's length tells.
    elements: Option<usize>,
}

/// An offset on a device: `u32`, `u64`, or the signed integers that others keep them in, `i32` and
/// `i64`.
pub trait BufferOffset: Element + sealed::Sealed {}
impl BufferOffset for u32 {}
impl BufferOffset for u64 {}
// None is negative, so they are the same numbers.
impl BufferOffset for i32 {}
impl BufferOffset for i64 {}

/// A key on a device: any number. Floats are compared as numbers: zeros of both signs are equal, a
/// NaN is not equal to itself.
pub trait BufferKey: Element + sealed::Sealed {
    #[doc(hidden)]
    const TYPE: KeyType;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! key {
    ($($variant:ident: $($type:ty),+;)+) => {$($(
        impl sealed::Sealed for $type {}
        impl BufferKey for $type {
            const TYPE: KeyType = KeyType::$variant;
        }
    )+)+};
}
key! {
    Bits8: i8, u8;
    Bits16: i16, u16;
    Bits32: i32, u32;
    Bits64: i64, u64;
    F16: f16;
    Bf16: bf16;
    F32: f32;
    F64: f64;
}

impl<'a> BufferSegments<'a> {
    /// Segment `j` is `offsets[j]..offsets[j + 1]` ("CSR"), and may be empty. The first offset must
    /// be 0, none below the one before, the last the number of elements. That isn't checked: a scan
    /// by other offsets writes what it likes into its own output and totals.
    pub fn by_offsets<I: BufferOffset>(offsets: &'a Buffer<I>) -> Self {
        let segments = offsets.len().saturating_sub(1) as u64;
        let source = SegmentSource::Offsets { segments, bits: 8 * size_of::<I>() as u32 };
        Self { source, address: offsets.address(), stream: offsets.stream(), elements: None }
    }

    /// A segment starts at the first element and wherever a flag isn't 0.
    pub fn by_heads(flags: &'a Buffer<u8>) -> Self {
        Self::of(SegmentSource::Heads, flags)
    }

    /// Segments are runs of equal keys.
    pub fn by_key<K: BufferKey>(keys: &'a Buffer<K>) -> Self {
        Self::of(SegmentSource::Keys(K::TYPE), keys)
    }

    fn of<T: Element>(source: SegmentSource, buffer: &'a Buffer<T>) -> Self {
        let (address, stream) = (buffer.address(), buffer.stream());
        Self { source, address, stream, elements: Some(buffer.len()) }
    }
}

impl<T, O, A> Scan<T, O, A>
where
    T: DeviceElement + Accumulate<A>,
    O: DeviceOperator<A> + 'static,
    A: Element + DeviceType,
{
    /// The scan of every segment of a buffer by itself: see [`BufferSegmentScan`].
    pub fn buffer_segments<'a>(
        &'a self,
        segments: BufferSegments<'a>,
    ) -> BufferSegmentScan<'a, T, O, A> {
        BufferSegmentScan { scan: self, segments, per: PerPart::default() }
    }
}

/// A scan on a device that starts anew with each segment, with an initial value and a total for
/// each.
///
/// As [`Scan::segments`] does for slices, and with the same bits.
///
/// Operators that are [`EXACT`](crate::Operator::EXACT) (those of integers, extremes) go in the
/// tiles of the whole sequence, so that their time hardly depends on where segments start, as long
/// as neither [`inits`](Self::inits) nor [`totals`](Self::totals) are asked for.
///
/// ```
/// use kogge::{BufferSegments, Device, DeviceError, Scan, ops::Sum};
///
/// fn running_sums(device: &Device) -> Result<Vec<i32>, DeviceError> {
///     let (shops, sales) = (device.buffer(&[7u32, 7, 9, 9, 9])?, device.buffer(&[5, 1, 2, 2, 4])?);
///     let mut sums = device.zeros(5)?;
///     let by_shop = BufferSegments::by_key(&shops);
///     Scan::new(Sum).buffer_segments(by_shop).scan_into(device, &sales, &mut sums)?;
///     sums.read()
/// }
///
/// match Device::cuda(0) {
///     Ok(device) => assert_eq!(running_sums(&device)?, [5, 6, 2, 4, 8]),
///     Err(error) => println!("{error}"),
/// }
/// # Ok::<_, DeviceError>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is scanned until it is applied to data"]
pub struct BufferSegmentScan<'a, T: Element, O, A> {
    scan: &'a Scan<T, O, A>,
    segments: BufferSegments<'a>,
    per: PerPart<'a, A>,
}

impl<'a, T, O, A> BufferSegmentScan<'a, T, O, A>
where
    T: DeviceElement + Accumulate<A>,
    O: DeviceOperator<A> + 'static,
    A: Element + DeviceType,
{
    /// One initial value per segment, instead of the scan's own. By flags or keys, the segments are
    /// counted before the scan, for which it waits.
    pub fn inits(self, inits: &'a Buffer<A>) -> Self {
        Self { per: PerPart { inits: Some(inits), ..self.per }, ..self }
    }

    /// A place for the total of each segment: the fold of its initial value and its elements; the
    /// identity where there is neither. By flags or keys, the segments are counted before the scan,
    /// for which it waits.
    pub fn totals(self, totals: &'a mut Buffer<A>) -> Self {
        Self { per: PerPart { totals: Some(totals), ..self.per }, ..self }
    }

    /// Scans a buffer into another of the same length and of any type that holds the accumulator;
    /// returns before it is done.
    ///
    /// # Errors
    ///
    /// [`DeviceError::Invalid`] if the lengths of input, output and segments differ, or there isn't
    /// one initial value or total per segment; else as [`Scan::scan_buffer`].
    pub fn scan_into<U: DeviceElement + Accumulate<A>>(
        self,
        device: &Device,
        input: &Buffer<T>,
        output: &mut Buffer<U>,
    ) -> Result<(), DeviceError> {
        Error::unless_equal(input.len(), output.len())?;
        let streams = [input.stream(), output.stream()];
        // SAFETY: the buffers have the same length; the output is borrowed exclusively, so it isn't
        // the input.
        unsafe { self.run::<U>(device, input.len(), input.address(), output.address(), &streams) }
    }

    /// Scans a buffer in place; returns before it is done.
    ///
    /// # Errors
    ///
    /// As for [`scan_into`](Self::scan_into).
    pub fn scan_in_place(self, device: &Device, data: &mut Buffer<T>) -> Result<(), DeviceError> {
        let at = data.address();
        // SAFETY: the buffer is borrowed exclusively.
        unsafe { self.run::<T>(device, data.len(), at, at, &[data.stream()]) }
    }

    /// # Safety
    ///
    /// `len` elements must be readable at `from` and writable at `to`, memory of buffers of these
    /// streams; the two are equal or don't overlap.
    unsafe fn run<U: DeviceElement + Accumulate<A>>(
        self,
        device: &Device,
        len: usize,
        from: u64,
        to: u64,
        streams: &[&Arc<CudaStream>],
    ) -> Result<(), DeviceError> {
        let Self { scan, segments, per } = self;
        if let Some(elements) = segments.elements.filter(|&elements| elements != len) {
            return Err(Error::SegmentsMismatch { segments: elements, input: len }.into());
        }
        let source = segments.source;
        let numbered = per.inits.is_some() || per.totals.is_some();
        let shape = Shape::Segments(len, source, numbered);
        let prepared = device.prepared::<U, _, _, _, _>(scan, shape, |device| {
            let (kind, direction, len) = (scan.kind, scan.direction, len as u64);
            let operator = &scan.operator;
            device.prepare_segments::<T, U, A, O>(operator, kind, direction, len, source, numbered)
        })?;
        let others = per.streams().chain([segments.stream]);
        let streams: Vec<_> = streams.iter().copied().chain(others).collect();
        let (inits, totals) = (per.inits(scan.init), per.totals());
        device.workspace().between(&streams, |workspace| {
            if numbered {
                // SAFETY: as many flags or keys as elements, or the offsets, are at the address.
                let count = unsafe { prepared.count(workspace, segments.address) }?;
                per.check(count, "segment(s)")?;
            }
            // SAFETY: the caller's promise; there is one initial value and total per segment;
            // buffers live until they are freed, which waits for the device.
            unsafe { prepared.run(workspace, from, to, segments.address, inits, totals) }
        })
    }
}
