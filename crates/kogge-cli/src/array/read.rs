//! Windows of an array, read from a file or a pipe.

use super::c_order::COrder;
use super::walk::Window;
use crate::buffer::Buffer;
use crate::convert::make_native;
use crate::error::{Error, Result};
use crate::format::npy::Header;
use crate::format::raw;
use kogge_erased::Dtype;
use std::cmp::Ordering;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};

/// The elements of an array in a file.
pub struct ArrayReader {
    /// The file, in messages.
    pub name: String,
    /// What the file holds.
    pub header: Header,
    /// Whether the length is unknown until the pipe ends: one of raw elements, whose header has the
    /// longest there can be.
    pub endless: bool,
    /// Where the elements start.
    pub offset: u64,
    /// The bytes.
    pub source: ArraySource,
    /// How to read all elements as one line, where that isn't the order of the file.
    c_order: Option<Box<Gather>>,
}

/// The elements of a file in C order.
struct Gather {
    order: COrder,
    /// Room for elements as they lie in the file.
    packed: Vec<u8>,
}

/// Where the bytes of an array come from.
pub enum ArraySource {
    /// A file, to be read at any place.
    File(File),
    /// A pipe, standing at the first element.
    Stream(Box<dyn Read + Send>),
}

impl ArrayReader {
    /// The elements that begin at `offset`.
    pub fn new(name: String, header: Header, offset: u64, source: ArraySource) -> Self {
        Self { name, header, endless: false, offset, source, c_order: None }
    }

    /// The elements of a pipe, which ends when it does.
    pub fn endless(name: String, dtype: Dtype, pipe: Box<dyn Read + Send>) -> Self {
        let header = Header::new(dtype, vec![i64::MAX as u64 / 8], false);
        Self { endless: true, ..Self::new(name, header, 0, ArraySource::Stream(pipe)) }
    }

    /// A second reader of the same file; none of a pipe.
    ///
    /// # Errors
    ///
    /// If the system has no second handle.
    pub fn again(&self) -> Result<Option<Self>> {
        let ArraySource::File(file) = &self.source else { return Ok(None) };
        let file = file.try_clone().map_err(|error| Error::read(&self.name, &error))?;
        let (name, header) = (self.name.clone(), self.header.clone());
        Ok(Some(Self::new(name, header, self.offset, ArraySource::File(file))))
    }

    /// Reads all elements as one line in C order, whatever the order of the file, some `bytes` at a
    /// time; gives the windows to ask for if the file has another order.
    ///
    /// # Errors
    ///
    /// If a pipe, which has to be copied for that, cannot be.
    pub fn in_c_order(
        mut self,
        reversed: bool,
        bytes: usize,
    ) -> Result<(Self, Option<Box<dyn Iterator<Item = Window> + Send>>)> {
        let long = self.header.shape.iter().filter(|&&axis| axis > 1).count();
        if !self.header.fortran_order || long < 2 {
            return Ok((self, None));
        }
        self = self.into_positioned()?;
        let order = COrder::new(&self.header, bytes);
        let windows = order.windows(reversed);
        self.c_order = Some(Box::new(Gather { order, packed: Vec::new() }));
        Ok((self, Some(windows)))
    }

    /// What messages call the element at a place, as windows count them: by its index along each
    /// axis.
    pub fn element_name(&self) -> impl Fn(u64) -> String + use<> {
        let (name, shape) = (self.name.clone(), self.header.shape.clone());
        let in_file_order = self.c_order.is_none();
        let first_is_fastest = self.header.fortran_order && in_file_order;
        move |mut place| {
            if shape.len() < 2 {
                return format!("element {place} of {name}");
            }
            let mut index = vec![0; shape.len()];
            let mut axes: Vec<usize> = (0..shape.len()).collect();
            if !first_is_fastest {
                axes.reverse();
            }
            for axis in axes {
                index[axis] = place % shape[axis];
                place /= shape[axis];
            }
            format!("element {index:?} of {name}")
        }
    }

    /// Whether windows must come in file order.
    pub fn is_stream(&self) -> bool {
        matches!(self.source, ArraySource::Stream(_))
    }

    /// The same elements in a file that can be read at any place: a pipe is copied first.
    pub fn into_positioned(mut self) -> Result<Self> {
        let (file, bytes) = match self.source {
            ArraySource::Stream(stream) => crate::input::spool(stream, &self.name)?,
            ArraySource::File(_) => return Ok(self),
        };
        self.source = ArraySource::File(file);
        self.offset = 0;
        if std::mem::take(&mut self.endless) {
            self.header = raw::header(self.header.dtype, bytes, &self.name)?;
        }
        match bytes.cmp(&self.header.bytes()) {
            Ordering::Less => Err(self.truncated(bytes)),
            Ordering::Equal => Ok(self),
            Ordering::Greater => Err(self.surplus()),
        }
    }

    /// Reads a window, as native elements; gives how many, which are fewer only at the end of an
    /// endless pipe.
    pub fn read(&mut self, window: &Window, buffer: &mut Buffer) -> Result<u64> {
        let read = self.read_as_they_are(window, buffer)?;
        make_native(self.header.dtype, self.header.swapped, buffer.bytes_mut());
        Ok(read)
    }

    fn read_as_they_are(&mut self, window: &Window, buffer: &mut Buffer) -> Result<u64> {
        let size = self.header.dtype.size();
        let row = window.width as usize * size;
        buffer.resize(window.rows as usize * row);
        if let (Some(gather), ArraySource::File(file)) = (&mut self.c_order, &self.source) {
            let Gather { order, packed } = gather.as_mut();
            order
                .read(file, self.offset, window, buffer.bytes_mut(), packed)
                .map_err(|error| Error::read(&self.name, &error))?;
            return Ok(window.len());
        }
        let (runs, run) =
            if window.stride == window.width { (1, buffer.len()) } else { (window.rows, row) };
        let mut read = 0;
        for (i, bytes) in (0..runs).zip(buffer.bytes_mut().chunks_exact_mut(run.max(1))) {
            if let ArraySource::File(file) = &mut self.source {
                let place = self.offset + (window.start + i * window.stride) * size as u64;
                file.seek(SeekFrom::Start(place))
                    .map_err(|error| Error::read(&self.name, &error))?;
            }
            let got = self.fill(bytes)?;
            read += got;
            if got < bytes.len() {
                break;
            }
        }
        if read < buffer.len() && !self.endless {
            return Err(self.truncated(window.start * size as u64 + read as u64));
        }
        if read % size != 0 {
            return Err(Error::malformed(format!(
                "{} ends inside an element of {}: it is truncated, or of another type",
                self.name, self.header.dtype
            )));
        }
        buffer.resize(read);
        Ok((read / size) as u64)
    }

    /// Reads as much as there is.
    fn fill(&mut self, bytes: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        while filled < bytes.len() {
            let read = match &mut self.source {
                ArraySource::File(file) => file.read(&mut bytes[filled..]),
                ArraySource::Stream(stream) => stream.read(&mut bytes[filled..]),
            };
            match read {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::read(&self.name, &error)),
            }
        }
        Ok(filled)
    }

    /// The error that the file holds only this many bytes of elements.
    pub fn truncated(&self, found: u64) -> Error {
        Error::malformed(format!(
            "{} is truncated: its header promises {} bytes of elements, it holds {found}",
            self.name,
            self.header.bytes()
        ))
    }

    /// Checks that nothing follows the last element of a pipe.
    pub fn expect_end(&mut self) -> Result<()> {
        let surplus = self.is_stream() && self.fill(&mut [0])? > 0;
        if surplus { Err(self.surplus()) } else { Ok(()) }
    }

    /// The error that bytes follow the last element.
    pub fn surplus(&self) -> Error {
        Error::malformed(format!("{} goes on after the array that its header announces", self.name))
            .hint("several arrays in one file are not scanned; write each to a file of its own")
    }
}
