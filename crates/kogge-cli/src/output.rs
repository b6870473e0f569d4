//! Where the results go: whole, or not at all.
//!
//! A file is written beside its target under a temporary name and renamed when it is complete, so
//! nobody ever sees half of it. If anything fails, a panic and a signal included, the temporary
//! file is removed and the target is as it was.

use crate::error::{Error, Fault, Result, quoted};
use crate::input::temporary;
use crate::streams::check_stdout;
use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;
use tempfile::TempPath;

/// The temporary file to remove when a signal ends the process.
static PARTIAL: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Removes the temporary file before the process ends.
pub fn remove_partial() {
    let partial = PARTIAL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(path) = partial.as_deref() {
        let _ = fs::remove_file(path);
    }
    // Never unlocked again: no rename can follow the removal.
    std::mem::forget(partial);
}

/// The same when memory has run out, without waiting long for a thread that may wait in turn.
pub fn remove_partial_if_free() {
    for _ in 0..100 {
        let path = match PARTIAL.try_lock() {
            Ok(path) => path,
            Err(TryLockError::Poisoned(path)) => path.into_inner(),
            Err(TryLockError::WouldBlock) => {
                thread::sleep(Duration::from_millis(1));
                continue;
            }
        };
        if let Some(path) = path.as_deref() {
            let _ = fs::remove_file(path);
        }
        return std::mem::forget(path);
    }
}

/// An output being written.
pub struct Output {
    /// The path, quoted, or "standard output".
    pub name: String,
    place: Place,
}

enum Place {
    Stdout,
    /// A device, a pipe or what a descriptor was opened for, which no rename may replace.
    Device(File),
    Beside {
        file: File,
        temporary: TempPath,
        target: PathBuf,
    },
}

/// What every format writes to.
pub type Writer = BufWriter<Box<dyn Write + Send>>;

impl Output {
    /// An output to this path, or to standard output.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or is the `input`.
    pub fn create(path: Option<&Path>, input: Option<&Path>) -> Result<Self> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            check_stdout().map_err(|error| error.hint("name a file with -o"))?;
            return Ok(Self { name: "standard output".to_owned(), place: Place::Stdout });
        };
        let name = quoted(path);
        let fail = |error: io::Error| Error::write(&name, &error);
        if input.is_some_and(|input| is_same_file(input, path)) {
            return Err(Error::usage(format!("{name} is both input and output"))
                .hint("name another output with -o, and rename it afterwards"));
        }
        match descriptor(path) {
            Some(1) => return Ok(Self { name, place: Place::Stdout }),
            Some(number) => {
                let file = opened(number).map_err(fail)?;
                return Ok(Self { name, place: Place::Device(file) });
            }
            None => {}
        }
        let target = behind_links(path).map_err(fail)?;
        let place = match fs::metadata(&target) {
            // Whatever it is called, as by /dev/stdout.
            Ok(existing) if is_stdout(&existing) => Place::Stdout,
            Ok(existing) if existing.is_dir() => {
                return Err(Error::new(Fault::Write, format!("{name} is a directory")));
            }
            Ok(existing) if !existing.is_file() => {
                Place::Device(File::options().write(true).open(&target).map_err(fail)?)
            }
            Ok(existing) if existing.permissions().readonly() => {
                return Err(Error::new(Fault::Write, format!("{name} is read-only")));
            }
            existing => {
                let permissions = existing.ok().map(|existing| existing.permissions());
                beside(target, permissions).map_err(|error| match error.kind() {
                    io::ErrorKind::PermissionDenied => fail(error).hint(
                        "a file appears beside others when it is complete, so its directory has \
                         to be writable; or write it by > in place of -o",
                    ),
                    _ => fail(error),
                })?
            }
        };
        Ok(Self { name, place })
    }

    /// Whether a person looks at it.
    pub fn is_terminal(&self) -> bool {
        match &self.place {
            Place::Stdout => io::stdout().is_terminal(),
            Place::Device(file) => file.is_terminal(),
            Place::Beside { .. } => false,
        }
    }

    /// Whether it is standard output.
    pub fn is_stdout(&self) -> bool {
        matches!(self.place, Place::Stdout)
    }

    /// The file, if it can be written at any place.
    pub fn seekable(&self) -> Result<Option<File>> {
        match &self.place {
            Place::Beside { file, .. } => {
                file.try_clone().map(Some).map_err(|error| Error::write(&self.name, &error))
            }
            _ => Ok(None),
        }
    }

    /// A writer from the start to the end.
    pub fn writer(&self) -> Result<Writer> {
        let fail = |error| Error::write(&self.name, &error);
        let writer: Box<dyn Write + Send> = match &self.place {
            Place::Stdout => Box::new(unbuffered_stdout()),
            Place::Device(file) | Place::Beside { file, .. } => {
                Box::new(file.try_clone().map_err(fail)?)
            }
        };
        Ok(BufWriter::with_capacity(1 << 18, writer))
    }

    /// What messages call a [spool](Self::spool).
    pub fn spool_name(&self) -> String {
        crate::input::copy_name(&self.name)
    }

    /// An unnamed temporary file, for formats that must go back; [`copy_from`](Self::copy_from)
    /// takes it.
    pub fn spool(&self) -> Result<File> {
        temporary(&self.spool_name())
    }

    /// Copies out what was written to a spool.
    pub fn copy_from(&self, mut spool: File) -> Result<()> {
        let fail = |error| Error::write(&self.name, &error);
        spool.seek(SeekFrom::Start(0)).map_err(fail)?;
        let mut writer = self.writer()?;
        io::copy(&mut spool, &mut writer).and_then(|_| writer.flush()).map_err(fail)
    }

    /// Bytes in the file; `None` if it isn't one.
    pub fn len(&self) -> Option<u64> {
        match &self.place {
            Place::Beside { file, .. } => file.metadata().ok().map(|metadata| metadata.len()),
            _ => None,
        }
    }

    /// Writes all of this, and puts the file in its place.
    ///
    /// # Errors
    ///
    /// As [`writer`](Self::writer) and [`commit`](Self::commit), and if it cannot be written.
    pub fn put(self, bytes: &[u8]) -> Result<()> {
        let mut writer = self.writer()?;
        let written = writer.write_all(bytes).and_then(|()| writer.flush());
        written.map_err(|error| Error::write(&self.name, &error))?;
        drop(writer);
        self.commit()
    }

    /// Puts the complete file in its place.
    pub fn commit(self) -> Result<()> {
        let Place::Beside { file, temporary, target } = self.place else { return Ok(()) };
        drop(file);
        let mut partial = PARTIAL.lock().unwrap_or_else(PoisonError::into_inner);
        *partial = None;
        temporary.persist(&target).map_err(|error| Error::write(&self.name, &error.error))
    }
}

/// Links from one path to another at most.
#[cfg(unix)]
const MOST_LINKS: usize = 40;

/// The number of the descriptor of this process that a path means, as /dev/stderr and /dev/fd/3 do.
#[cfg(unix)]
fn descriptor(path: &Path) -> Option<std::os::fd::RawFd> {
    let own = ["/proc/self/fd", "/dev/fd"].map(|directory| fs::canonicalize(directory).ok());
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let directory = fs::canonicalize(path.parent()?).ok()?;
        if own.contains(&Some(directory)) {
            return path.file_name()?.to_str()?.parse().ok();
        }
        let next = fs::read_link(&path).ok()?;
        path = path.parent()?.join(next);
    }
    None
}

#[cfg(not(unix))]
fn descriptor(_: &Path) -> Option<i32> {
    None
}

/// What a descriptor was opened for: what is written comes behind what was.
#[cfg(unix)]
fn opened(number: std::os::fd::RawFd) -> io::Result<File> {
    use std::os::fd::{FromRawFd, OwnedFd};
    // SAFETY: takes a number, whether it is a descriptor or not, and gives one of our own or -1.
    let own = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 0) };
    if own < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new, so nobody else closes it.
    Ok(File::from(unsafe { OwnedFd::from_raw_fd(own) }))
}

#[cfg(not(unix))]
fn opened(_: i32) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The file that a path means, which need not exist: a link to nothing means what it names.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    loop {
        match fs::metadata(&target) {
            // What is no file, such as a pipe behind /dev/stdout, may have no path of its own.
            Ok(_) => return Ok(fs::canonicalize(&target).unwrap_or(target)),
            // Links in a circle end here, too.
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Err(_) => {}
        }
        let Ok(next) = fs::read_link(&target) else { return Ok(target) };
        target = target.parent().unwrap_or(Path::new("")).join(next);
    }
}

/// A temporary file in the directory of the target, with the target's permissions.
fn beside(target: PathBuf, permissions: Option<fs::Permissions>) -> io::Result<Place> {
    let directory = match target.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".kogge-").suffix(".partial");
    let mut options = File::options();
    options.read(true).write(true).create_new(true);
    // Between its creation and its registration nothing asks for memory.
    let create = |path: &Path| {
        let path_to_remove = path.to_owned();
        let mut partial = PARTIAL.lock().unwrap_or_else(PoisonError::into_inner);
        let file = options.open(path)?;
        *partial = Some(path_to_remove);
        Ok(file)
    };
    let (file, temporary) = builder.make_in(directory, create)?.into_parts();
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    Ok(Place::Beside { file, temporary, target })
}

/// Rust's own standard output is buffered by line, which costs twice here.
#[cfg(unix)]
fn unbuffered_stdout() -> impl Write + Send {
    use std::os::fd::AsFd;
    io::stdout().as_fd().try_clone_to_owned().map_or_else(
        |_| Box::new(io::stdout()) as Box<dyn Write + Send>,
        |fd| Box::new(File::from(fd)),
    )
}

#[cfg(not(unix))]
fn unbuffered_stdout() -> impl Write + Send {
    io::stdout()
}

/// Whether a file is what standard output goes to. The device that takes everything is no place
/// where things could meet.
#[cfg(unix)]
fn is_stdout(file: &fs::Metadata) -> bool {
    use std::os::fd::AsFd;
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let stdout = io::stdout().as_fd().try_clone_to_owned().map(File::from);
    let same = stdout
        .and_then(|stdout| stdout.metadata())
        .is_ok_and(|stdout| (stdout.dev(), stdout.ino()) == (file.dev(), file.ino()));
    same && (io::stdout().is_terminal() || !file.file_type().is_char_device())
}

#[cfg(not(unix))]
fn is_stdout(_: &fs::Metadata) -> bool {
    false
}

#[cfg(unix)]
fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(one), Ok(other)) => {
            one.is_file() && (one.dev(), one.ino()) == (other.dev(), other.ino())
        }
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_same_file(one: &Path, other: &Path) -> bool {
    match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_or_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("out");
        let names = || fs::read_dir(directory.path()).unwrap().count();
        let output = Output::create(Some(&target), None).unwrap();
        output.writer().unwrap().write_all(b"half").unwrap();
        assert_eq!(names(), 1);
        drop(output);
        assert_eq!(names(), 0);

        let output = Output::create(Some(&target), None).unwrap();
        output.writer().unwrap().write_all(b"whole").unwrap();
        assert!(!target.exists());
        output.commit().unwrap();
        assert_eq!((fs::read(&target).unwrap().as_slice(), names()), (b"whole".as_slice(), 1));
        assert!(Output::create(Some(&target), Some(&target)).is_err());
    }
}
