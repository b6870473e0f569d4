//! Scans on a GPU: a device, its buffers, and what [`Scan`] does with them.
//!
//! A [`Device`] has one stream, so what is asked of it happens in the order of the asking. Scans
//! are started and not waited for; reading a buffer waits.

mod flat;
mod lines;
mod segments;

pub use lines::BufferLineScan;
pub use segments::{BufferKey, BufferOffset, BufferSegmentScan, BufferSegments};

use crate::{Direction, Element, Error, Kind, Scan};
use kogge_cuda::cudarc::driver::CudaStream;
use kogge_cuda::{Inits, LineShape, SegmentSource, Workspace};
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use kogge_cuda::{Buffer, Error as DeviceError};

/// What a prepared scan is kept under.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    /// Elements, what they are written as, accumulator and operator.
    types: TypeId,
    kind: Kind,
    direction: Direction,
    shape: Shape,
}

/// What is scanned.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Shape {
    Flat(usize),
    Lines(LineShape),
    Segments(usize, SegmentSource, bool),
}

/// Prepared scans that are kept; a program of more lengths than this prepares anew.
const MOST_PREPARED: usize = 1024;

/// A GPU. Cheap to clone; clones share its stream.
///
/// ```
/// use kogge::{Device, DeviceError, Scan, ops::Sum};
///
/// fn running_sums(data: &[f32]) -> Result<Vec<f32>, DeviceError> {
///     let device = Device::cuda(0)?;
///     let input = device.buffer(data)?;
///     let output = Scan::new(Sum).scan_buffer(&device, &input)?;
///     output.read()
/// }
///
/// match running_sums(&[1.0, 2.0, 3.0]) {
///     Ok(sums) => assert_eq!(sums, [1.0, 3.0, 6.0]),
///     // Without a GPU this says what is missing: "no CUDA driver was found (libcuda); …".
///     Err(error) => println!("{error}"),
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Device {
    inner: kogge_cuda::Device,
    workspace: Arc<Mutex<Workspace>>,
    prepared: Arc<Mutex<HashMap<Key, Arc<dyn Any + Send + Sync>>>>,
}

impl Device {
    /// NVIDIA GPU number `ordinal`, counted from 0.
    ///
    /// # Errors
    ///
    /// [`DeviceError::NoDriver`], [`DeviceError::DriverTooOld`], [`DeviceError::NoDevice`],
    /// [`DeviceError::DeviceTooOld`], or what the driver says.
    pub fn cuda(ordinal: usize) -> Result<Self, DeviceError> {
        let inner = kogge_cuda::Device::open(ordinal)?;
        let workspace = Arc::new(Mutex::new(inner.workspace()?));
        Ok(Self { inner, workspace, prepared: Arc::default() })
    }

    /// A copy of a slice in device memory.
    ///
    /// # Errors
    ///
    /// [`DeviceError::OutOfMemory`], or what the driver says.
    pub fn buffer<T: Element>(&self, data: &[T]) -> Result<Buffer<T>, DeviceError> {
        let stream = self.workspace().stream().clone();
        Buffer::from_slice(&stream, data)
    }

    /// So many zeros in device memory.
    ///
    /// # Errors
    ///
    /// [`DeviceError::OutOfMemory`], or what the driver says.
    pub fn zeros<T: Element>(&self, len: usize) -> Result<Buffer<T>, DeviceError> {
        let stream = self.workspace().stream().clone();
        Buffer::zeroed(&stream, len)
    }

    /// The device as the engine knows it, for streams, graphs and raw addresses.
    pub fn engine(&self) -> &kogge_cuda::Device {
        &self.inner
    }

    fn workspace(&self) -> MutexGuard<'_, Workspace> {
        self.workspace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What `prepare` makes for a scan of a shape, made once.
    fn prepared<U, T, O, A, P>(
        &self,
        scan: &Scan<T, O, A>,
        shape: Shape,
        prepare: impl FnOnce(&kogge_cuda::Device) -> Result<P, DeviceError>,
    ) -> Result<Arc<P>, DeviceError>
    where
        U: 'static,
        T: Element,
        O: 'static,
        A: 'static,
        P: Any + Send + Sync,
    {
        let types = TypeId::of::<(T, U, A, O)>();
        let key = Key { types, kind: scan.kind, direction: scan.direction, shape };
        let prepared = || self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        // An operator that holds a value isn't known by its type.
        let stateless = size_of::<O>() == 0;
        let found = if stateless { prepared().get(&key).cloned() } else { None };
        if let Some(found) = found.and_then(|found| found.downcast::<P>().ok()) {
            return Ok(found);
        }
        let made = Arc::new(prepare(&self.inner)?);
        if stateless {
            let mut prepared = prepared();
            if prepared.len() >= MOST_PREPARED {
                prepared.clear();
            }
            prepared.insert(key, made.clone());
        }
        Ok(made)
    }
}

/// Initial values and places for totals, one of each per line or segment.
#[derive(Debug)]
struct PerPart<'a, A> {
    inits: Option<&'a Buffer<A>>,
    totals: Option<&'a mut Buffer<A>>,
}

impl<A> Default for PerPart<'_, A> {
    fn default() -> Self {
        Self { inits: None, totals: None }
    }
}

impl<A: Element> PerPart<'_, A> {
    /// Checks that there is one of each for so many parts, called `word`.
    fn check(&self, parts: u64, word: &str) -> Result<(), DeviceError> {
        let inits = self.inits.map(Buffer::len);
        let totals = self.totals.as_ref().map(|totals| totals.len());
        for (what, given) in [("initial values", inits), ("totals", totals)] {
            if let Some(given) = given.filter(|&given| given as u64 != parts) {
                return Err(Error::PerPart { what, given, parts: format!("{parts} {word}") }.into());
            }
        }
        Ok(())
    }

    /// The initial values as the engine takes them; `init` is the scan's own.
    fn inits(&self, init: Option<A>) -> Inits<A> {
        match (self.inits, init) {
            (Some(inits), _) => Inits::Each(inits.address()),
            (None, Some(init)) => Inits::Value(init),
            (None, None) => Inits::None,
        }
    }

    /// The streams on which they are in order.
    fn streams(&self) -> impl Iterator<Item = &Arc<CudaStream>> {
        let totals = self.totals.as_ref().map(|totals| totals.stream());
        self.inits.map(Buffer::stream).into_iter().chain(totals)
    }

    /// Where the totals go.
    fn totals(&self) -> Option<u64> {
        self.totals.as_ref().map(|totals| totals.address())
    }
}
