//! A file that remembers what the system said of it: the Parquet library passes such errors on in
//! words alone, like those of a damaged file.

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

/// A file, and the first error of the system's in reading it.
pub struct Watched {
    file: File,
    failure: Failure,
}

/// The first error of the system's in reading a file, if there was one.
#[derive(Clone, Default)]
pub struct Failure(Arc<Mutex<Option<io::Error>>>);

impl Failure {
    /// The error, which is told once.
    pub fn take(&self) -> Option<io::Error> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Remembers an error, unless a file that lies about its lengths has caused it.
    fn see<T>(&self, done: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &done
            && !matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Interrupted)
            && let Some(code) = error.raw_os_error()
        {
            let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert_with(|| io::Error::from_raw_os_error(code));
        }
        done
    }
}

impl Watched {
    /// Of which nothing has been read.
    pub fn new(file: File) -> Self {
        Self { file, failure: Failure::default() }
    }

    /// Where its error will be.
    pub fn failure(&self) -> Failure {
        self.failure.clone()
    }

    /// The same file, with an error of its own.
    ///
    /// # Errors
    ///
    /// If there are too many open files.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self::new(self.file.try_clone()?))
    }

    fn at(&self, start: u64) -> io::Result<Self> {
        let done = self.file.try_clone().and_then(|mut file| {
            file.seek(SeekFrom::Start(start))?;
            Ok(Self { file, failure: self.failure() })
        });
        self.failure.see(done)
    }
}

impl Read for Watched {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.failure.see(self.file.read(room))
    }
}

impl Length for Watched {
    fn len(&self) -> u64 {
        Length::len(&self.file)
    }
}

impl ChunkReader for Watched {
    type T = BufReader<Self>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(self.at(start)?))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        // No more room than the file can fill: the length may be a damaged one.
        let there = Length::len(self).saturating_sub(start);
        let mut bytes = Vec::with_capacity(length.min(there.try_into().unwrap_or(usize::MAX)));
        let read = self.at(start)?.take(length as u64).read_to_end(&mut bytes)?;
        if read < length {
            let text = format!("{read} of {length} bytes are there");
            return Err(ParquetError::EOF(text));
        }
        Ok(bytes.into())
    }
}
