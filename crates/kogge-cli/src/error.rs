//! What can go wrong, as one sentence, one hint, and one exit code.
//!
//! The code tells a script what kind of thing to mend; the message tells a person. `EXIT_CODES`
//! is the table that the help and the man page show.

use crate::memory;
use kogge_erased::Dtype;
use std::fmt;
use std::io;
use std::path::Path;

/// The exit codes, as the help shows them.
pub const EXIT_CODES: &str = "\
Exit codes:
  0    done (also when a reader such as `head` closed the pipe)
  2    wrong usage of the command line
  3    the input cannot be opened or read
  4    the input is malformed: truncated, a bad header, text among numbers
  5    the request does not fit the data: no such column, no such type
  6    the output cannot be written
  7    the disk is full
  8    there is not enough memory, or no thread can be started
  70   a defect in kogge
  130  interrupted (Ctrl-C, SIGTERM, SIGHUP)
  131  quit (Ctrl-\\, SIGQUIT)";

/// What kind of thing went wrong; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The command line contradicts itself.
    Usage,
    /// The input cannot be opened or read.
    Read,
    /// The input is not what its format says.
    Malformed,
    /// The request does not fit the data.
    Mismatch,
    /// The output cannot be written.
    Write,
    /// There is no space left for the output.
    DiskFull,
    /// There is no memory left, or no thread to be had.
    Memory,
    /// Whoever read our output has had enough.
    BrokenPipe,
    /// A promise of the program to itself is broken.
    Defect,
}

/// One error: what happened, and what to do about it.
#[derive(Debug)]
pub struct Error {
    /// The kind.
    pub fault: Fault,
    message: String,
    hint: Option<String>,
}

/// The result of everything that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of this kind.
    pub fn new(fault: Fault, message: impl Into<String>) -> Self {
        Self { fault, message: message.into(), hint: None }
    }

    /// The command line contradicts itself.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Fault::Usage, message)
    }

    /// The input is not what its format says.
    pub fn malformed(message: impl Into<String>) -> Self {
        Self::new(Fault::Malformed, message)
    }

    /// The request does not fit the data.
    pub fn mismatch(message: impl Into<String>) -> Self {
        Self::new(Fault::Mismatch, message)
    }

    /// The input cannot be opened or read; an early end counts as malformed.
    pub fn read(name: &str, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                Self::malformed(format!("{name} ends before its data do: it is truncated"))
            }
            // A position before the start comes from a length that the file lies about.
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                Self::malformed(format!("{name}: {error}"))
            }
            _ => Self::new(Fault::Read, format!("cannot read {name}: {}", reason(error))),
        }
    }

    /// The output cannot be written.
    pub fn write(name: &str, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::new(Fault::BrokenPipe, "the reader has gone"),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::new(Fault::DiskFull, format!("cannot write {name}: {}", reason(error))).hint(
                    "free some space, or write elsewhere: -o names the output, TMPDIR the \
                         place of temporary copies",
                )
            }
            _ => Self::new(Fault::Write, format!("cannot write {name}: {}", reason(error))),
        }
    }

    /// No thread can be started.
    pub fn no_thread(error: &dyn fmt::Display) -> Self {
        Self::new(Fault::Memory, format!("cannot start a thread: {}", reason(error)))
            .hint(memory::HINT)
    }

    /// The same error with advice.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same error about a raw input whose `--dtype` also says what it holds: who follows the
    /// advice to give another one has to say that by itself.
    pub fn of_raw(mut self, held: Dtype) -> Self {
        self.hint = self.hint.map(|hint| {
            if hint.contains("--input-dtype") {
                hint
            } else if hint.contains("leave --dtype out") {
                let held = format!("give --input-dtype {held} in place of --dtype");
                hint.replace("leave --dtype out", &held)
            } else {
                hint.replace("--dtype", &format!("--input-dtype {held} --dtype"))
            }
        });
        self
    }

    /// What the process should end with.
    pub fn exit_code(&self) -> u8 {
        match self.fault {
            Fault::BrokenPipe => 0,
            Fault::Usage => 2,
            Fault::Read => 3,
            Fault::Malformed => 4,
            Fault::Mismatch => 5,
            Fault::Write => 6,
            Fault::DiskFull => 7,
            Fault::Memory => 8,
            Fault::Defect => 70,
        }
    }
}

/// The system's reason without Rust's "(os error 2)".
pub fn reason(error: &dyn fmt::Display) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_lowercase(),
        None => text,
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", shown(&self.message))?;
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {}", shown(hint)),
            None => Ok(()),
        }
    }
}

/// Most characters of a message, which may hold a cell or a name of any length.
const MOST_SHOWN: usize = 2_000;

/// A text as a terminal may have it: on one line, without what would steer it, and not too long.
fn shown(text: &str) -> String {
    let show = |text: &str| -> String {
        let shown = |c: char| -> String {
            let steers = c.is_control() && c != '\t';
            if steers { c.escape_default().collect() } else { c.into() }
        };
        text.chars().map(shown).collect()
    };
    let part = MOST_SHOWN / 2;
    let end = text.char_indices().nth(part).map(|(at, _)| at);
    let start = text.char_indices().nth_back(part).map(|(at, c)| at + c.len_utf8());
    match (end, start) {
        (Some(end), Some(start)) if end < start => {
            format!("{} ... {}", show(&text[..end]), show(&text[start..]))
        }
        _ => show(text),
    }
}

impl From<kogge_erased::Mismatch> for Error {
    fn from(mismatch: kogge_erased::Mismatch) -> Self {
        Self::mismatch(mismatch.to_string()).hint(mismatch.hint)
    }
}

impl From<kogge::Error> for Error {
    fn from(error: kogge::Error) -> Self {
        Self::mismatch(error.to_string())
    }
}

/// For the laboratory, which has one exit code for all of them.
impl From<Error> for kogge_lab::Diagnostic {
    fn from(error: Error) -> Self {
        let diagnostic = Self::general(error.message);
        match error.hint {
            Some(hint) => diagnostic.with_help(hint),
            None => diagnostic,
        }
    }
}

/// A path as messages show it.
pub fn quoted(path: &Path) -> String {
    format!("'{}'", path.display())
}

/// Of some names, the one nearest to what was typed, if it is near enough to be meant.
pub fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let likeness = |name: &str| {
        let name = name.to_lowercase();
        // One finds what is cut short, the other letters that have changed places.
        let likenesses = [
            strsim::jaro_winkler(&typed, &name),
            strsim::normalized_damerau_levenshtein(&typed, &name) + SLIP,
        ];
        likenesses.into_iter().fold(0.0, f64::max)
    };
    names
        .into_iter()
        .map(|name| (likeness(name), name))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, name)| name)
}

/// Makes one slip in three letters count as near.
const SLIP: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_slip_of_the_hand_and_no_more() {
        let names = ["date", "precipitation", "temp_max"];
        assert_eq!(nearest("precipitaton", names), Some("precipitation"));
        assert_eq!(nearest("TEMP_MAX", names), Some("temp_max"));
        assert_eq!(nearest("zzz", names), None);
        assert_eq!(nearest("cvs", ["npy", "tsv", "csv"]), Some("csv"));
        assert_eq!(nearest("y", ["x", "z"]), None);
    }

    #[test]
    fn what_files_hold_neither_steers_the_terminal_nor_fills_it() {
        let error = Error::usage("a\u{1b}[2J\nb\u{9b}é").hint("x\ty\r");
        assert_eq!(error.to_string(), "error: a\\u{1b}[2J\\nb\\u{9b}é\n  hint: x\ty\\r");
        for len in [MOST_SHOWN - 1, MOST_SHOWN, MOST_SHOWN + 1, 1 << 20] {
            let text = format!("{}é", "é".repeat(len - 1));
            let (error, short) = (shown(&text), len <= MOST_SHOWN);
            assert_eq!(error == text, short, "{len}");
            let cut = error.chars().count();
            assert_eq!(cut, if short { len } else { MOST_SHOWN + 5 }, "{len}");
        }
    }

    #[test]
    fn every_code_is_documented() {
        use Fault::*;
        for fault in [Usage, Read, Malformed, Mismatch, Write, DiskFull, Memory, BrokenPipe, Defect]
        {
            let code = Error::new(fault, "").exit_code();
            assert!(EXIT_CODES.contains(&format!("\n  {code} ")), "{fault:?}");
        }
    }
}
