//! Standard output and standard error, where there may be nobody to read them.

use crate::closed::stdout_is_closed;
use crate::error::{Error, Fault, Result};
use std::fmt::Display;
use std::io::{self, Write};

const CLOSED: &str = "it is closed";

/// Checks that what is printed goes somewhere.
///
/// # Errors
///
/// If standard output was closed before the start.
pub fn check_stdout() -> Result<()> {
    if stdout_is_closed() {
        return Err(Error::new(Fault::Write, format!("cannot write standard output: {CLOSED}")));
    }
    Ok(())
}

/// Writes all of this to standard output.
///
/// # Errors
///
/// If it is closed, or cannot be written.
pub fn print(bytes: &[u8]) -> io::Result<()> {
    if stdout_is_closed() {
        return Err(io::Error::other(CLOSED));
    }
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// Says something on standard error. Where nobody reads it, the exit code has to do; `eprintln!`
/// would panic.
pub fn say(what: impl Display) {
    let _ = writeln!(io::stderr(), "{what}");
}
