//! A lesson broken on purpose, to show that the simulated GPU sees it.
//!
//! All mutants of a lesson stand in one file, each as a small edit:
//!
//! ```text
//! mutant: no-second-barrier
//! finds:  race with N = 64
//! says:   A thread overwrites a prefix that its neighbour has still to read.
//! -        __syncthreads();  // the last step's prefixes are read
//! ```
//!
//! Lines of the lesson that stay begin with a blank, those that go with `-`, those that come with
//! `+`. Those that stay or go must stand in the lesson exactly once, one after the other.

use super::expression::NotationError;
use super::trial::Trial;

/// A mutant of a lesson.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// Its name, unique within the lesson.
    pub name: String,
    /// The run that shows the fault, and what must be found.
    pub trial: Trial,
    /// What goes wrong, in a sentence.
    pub says: String,
    /// The lines of the lesson that are replaced.
    old: String,
    /// What replaces them.
    new: String,
    line: u32,
}

impl Mutant {
    /// Reads a file of mutants.
    ///
    /// # Errors
    ///
    /// A mutant that lacks one of its parts, or a trial that can't be read.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, NotationError> {
        let lines: Vec<(u32, &str)> = (1..).zip(text.lines()).collect();
        lines.chunk_by(|_, (_, next)| !next.starts_with("mutant:")).map(Self::parse).collect()
    }

    fn parse(lines: &[(u32, &str)]) -> Result<Self, NotationError> {
        let first = lines.first().map_or(1, |&(line, _)| line);
        let key = |key: &str| {
            let find = |&(line, text): &(u32, &str)| {
                Some((line, text.strip_prefix(key)?.strip_prefix(':')?.trim().to_owned()))
            };
            let missing = || NotationError::new(first, format!("a mutant lacks `{key}:`"));
            lines.iter().find_map(find).ok_or_else(missing)
        };
        let (line, finds) = key("finds")?;
        let edit = |other: char| {
            let keep = |&(_, text): &(u32, &str)| {
                text.strip_prefix(|c| c == ' ' || c == other).map(|text| format!("{text}\n"))
            };
            lines.iter().filter_map(keep).collect::<String>()
        };
        let (old, new) = (edit('-'), edit('+'));
        if old.is_empty() {
            return Err(NotationError::new(first, "a mutant lacks the lines that it changes"));
        }
        Ok(Self {
            name: key("mutant")?.1,
            trial: Trial::parse(&finds, line)?,
            says: key("says")?.1,
            old,
            new,
            line: first,
        })
    }

    /// The lesson with this fault.
    ///
    /// # Errors
    ///
    /// The lines to change are not in `source`, or are there more than once.
    pub fn apply(&self, source: &str) -> Result<String, NotationError> {
        let whole_lines = format!("\n{}", self.old);
        let padded = format!("\n{source}");
        match padded.matches(&whole_lines).count() {
            1 => Ok(padded.replacen(&whole_lines, &format!("\n{}", self.new), 1)[1..].to_owned()),
            count => Err(NotationError::new(
                self.line,
                format!("the lines of `{}` stand in the lesson {count} times", self.name),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "mutant: a\nfinds: race with N = 2\nsays: So.\n b;\n-c;\n+d;\nmutant: b\nfinds: race with N = 2\nsays: So.\n-e;\n";

    #[test]
    fn an_edit_replaces_whole_lines_that_stand_once() {
        let mutants = Mutant::parse_all(TEXT).unwrap();
        assert_eq!(mutants.len(), 2);
        assert_eq!(mutants[0].apply("a;\nb;\nc;\n").unwrap(), "a;\nb;\nd;\n");
        assert_eq!(mutants[1].apply("e;\nf;\n").unwrap(), "f;\n");
        assert!(mutants[1].apply("ee;\n").is_err());
        assert!(mutants[1].apply("e;\nf;\ne;\n").is_err());
    }

    #[test]
    fn incomplete_mutants_are_refused() {
        for missing in ["finds: race with N = 2\n", "says: So.\n", "-e;\n"] {
            let last = TEXT.rfind("mutant:").unwrap();
            assert!(Mutant::parse_all(&TEXT[last..].replace(missing, "")).is_err(), "{missing}");
        }
    }
}
