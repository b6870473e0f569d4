//! Where the data come from: a file, or a stream that can be read once.
//!
//! A pipe that must be read twice, or from its end, is copied to an unnamed temporary file first;
//! the system frees it when the process ends, however it ends.

use crate::closed::stdin_is_closed;
use crate::error::{Error, Fault, Result, quoted, reason};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// An opened input.
pub struct Input {
    /// The path, quoted, or "standard input".
    pub name: String,
    /// The path, if it is one.
    pub path: Option<PathBuf>,
    /// The first bytes, read ahead of `source` if that is a stream.
    head: Vec<u8>,
    source: Source,
}

enum Source {
    File(File),
    Stream(Box<dyn Read + Send>),
}

impl Source {
    fn stream(stream: impl Read + Send + 'static) -> Self {
        Self::Stream(Box::new(Fused { stream, ended: false }))
    }
}

/// A stream whose end is its end: a terminal would be read on after Ctrl-D.
struct Fused<R> {
    stream: R,
    ended: bool,
}

impl<R: Read> Read for Fused<R> {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        if self.ended || piece.is_empty() {
            return Ok(0);
        }
        let read = self.stream.read(piece)?;
        self.ended = read == 0;
        Ok(read)
    }
}

/// Bytes that tell every format from every other.
const HEAD: u64 = 8;

impl Input {
    /// Opens a path; `-` is standard input.
    ///
    /// # Errors
    ///
    /// If it cannot be opened, or its first bytes cannot be read.
    pub fn open(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            if stdin_is_closed() {
                let what = "cannot read standard input: it is closed";
                return Err(Error::new(Fault::Read, what).hint("name a file, or pipe one in"));
            }
            let source = match stdin_file() {
                Some(file) => Source::File(file),
                None => Source::stream(io::stdin()),
            };
            return Self::new("standard input".to_owned(), None, source);
        }
        let name = quoted(path);
        let open = |error| {
            Error::new(Fault::Read, format!("cannot open {name}: {}", plain_reason(&error)))
        };
        let file = File::open(path).map_err(open)?;
        let kind = file.metadata().map_err(open)?.file_type();
        if kind.is_dir() {
            return Err(Error::new(Fault::Read, format!("{name} is a directory")));
        }
        let source = if kind.is_file() { Source::File(file) } else { Source::stream(file) };
        Self::new(name, Some(path.to_owned()), source)
    }

    fn new(name: String, path: Option<PathBuf>, mut source: Source) -> Result<Self> {
        let mut head = Vec::new();
        let read = match &mut source {
            Source::File(file) => {
                file.take(HEAD).read_to_end(&mut head).and_then(|_| file.seek(SeekFrom::Start(0)))
            }
            Source::Stream(stream) => stream.take(HEAD).read_to_end(&mut head).map(|n| n as u64),
        };
        read.map_err(|error| Error::read(&name, &error))?;
        Ok(Self { name, path, head, source })
    }

    /// The first eight bytes, or all if there are fewer.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Bytes of the whole input, if it is a file.
    pub fn len(&self) -> Option<u64> {
        match &self.source {
            Source::File(file) => file.metadata().ok().map(|metadata| metadata.len()),
            Source::Stream(_) => None,
        }
    }

    /// The file behind it, at its start; a stream is copied to a temporary one.
    ///
    /// # Errors
    ///
    /// If the stream cannot be read, or its copy not be written.
    pub fn into_file(self) -> Result<File> {
        let stream = match self.source {
            Source::File(file) => return Ok(file),
            Source::Stream(stream) => stream,
        };
        let stream = self.head.as_slice().chain(stream);
        spool(stream, &self.name).map(|(file, _)| file)
    }

    /// The bytes from the start, once.
    pub fn into_reader(self) -> Box<dyn Read + Send> {
        match self.source {
            Source::File(file) => Box::new(file),
            Source::Stream(stream) => Box::new(io::Cursor::new(self.head).chain(stream)),
        }
    }
}

/// Copies a stream to an unnamed temporary file; gives it, at its start, with its length.
///
/// # Errors
///
/// If the stream cannot be read, or its copy not be written.
pub fn spool(mut stream: impl Read, name: &str) -> Result<(File, u64)> {
    let spool = copy_name(name);
    let mut copy = temporary(&spool)?;
    let mut piece = vec![0; 1 << 20];
    let mut len = 0;
    loop {
        let read = match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Error::read(name, &error)),
        };
        copy.write_all(&piece[..read]).map_err(|error| Error::write(&spool, &error))?;
        len += read as u64;
    }
    copy.seek(SeekFrom::Start(0)).map_err(|error| Error::read(&spool, &error))?;
    Ok((copy, len))
}

/// An unnamed temporary file, which messages call `name`.
///
/// # Errors
///
/// If there is no place for it.
pub fn temporary(name: &str) -> Result<File> {
    tempfile::tempfile().map_err(|error| match Error::write(name, &error) {
        // That has its own advice.
        full if full.fault == Fault::DiskFull => full,
        error => error.hint("TMPDIR names the place of temporary copies; choose another"),
    })
}

/// What messages call a temporary copy.
pub fn copy_name(name: &str) -> String {
    format!("the temporary copy of {name} in {}", quoted(&std::env::temp_dir()))
}

fn plain_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => reason(error),
    }
}

/// Standard input, where it is a file at its start (`kogge scan - < x.npy`).
#[cfg(unix)]
fn stdin_file() -> Option<File> {
    use std::os::fd::AsFd;
    let mut file = File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
    let fresh = file.metadata().ok()?.is_file() && file.stream_position().ok()? == 0;
    fresh.then_some(file)
}

#[cfg(not(unix))]
fn stdin_file() -> Option<File> {
    None
}
