//! Which columns are meant.

use crate::args::ScanArgs;
use crate::error::{Error, Result, nearest};
use crate::format::Format;
use crate::job::check_name_count;

/// The places of the columns to scan and of the key.
pub struct Selection {
    /// The columns to scan, in the order they were asked for.
    pub columns: Vec<usize>,
    /// The columns of the key.
    pub keys: Vec<usize>,
}

impl Selection {
    /// The columns that the command line names.
    ///
    /// # Errors
    ///
    /// If there is no such column, or more than one.
    pub fn named(names: &[&str], args: &ScanArgs) -> Result<Self> {
        let find_all = |wanted: &[String]| -> Result<Vec<usize>> {
            wanted.iter().map(|name| find(names, name)).collect()
        };
        let this = Self { columns: find_all(&args.column)?, keys: find_all(&args.by)? };
        let arity = args.op.arity();
        if !this.columns.len().is_multiple_of(arity) || (this.columns.is_empty() && arity > 1) {
            let what = format!("the operator {} takes {arity} columns", args.op.name());
            return Err(Error::usage(what).hint("give --column twice: first a, then b"));
        }
        check_name_count(args, this.columns.len().max(1) / arity)?;
        Ok(this)
    }

    /// The columns whose contents must be looked at: those without a type from elsewhere, or all if
    /// the scanned one is to be found, or written with its type.
    pub fn wanted(&self, count: usize, args: &ScanArgs, output: Format) -> Vec<bool> {
        let typed = !output.is_text() && !output.is_array();
        if self.columns.is_empty() || typed {
            return vec![true; count];
        }
        (0..count).map(|at| args.dtype.is_none() && self.columns.contains(&at)).collect()
    }

    /// The same with the only column of numbers, if none was named; or, if there are no numbers,
    /// with the only one of truth values. `content` says what a column holds.
    ///
    /// # Errors
    ///
    /// If there are several, or none; `why_not` says of a column what it has in place of a number,
    /// if that is worth telling, as it is of one that stands alone.
    pub fn or_only(
        mut self,
        names: &[&str],
        args: &ScanArgs,
        content: impl Fn(usize) -> Content,
        why_not: impl Fn(usize, bool) -> Option<Error>,
    ) -> Result<Self> {
        if !self.columns.is_empty() {
            return Ok(self);
        }
        let others: Vec<usize> = (0..names.len()).filter(|at| !self.keys.contains(at)).collect();
        let with = |wanted: Content| -> Vec<usize> {
            others.iter().copied().filter(|&at| content(at) == wanted).collect()
        };
        let (mut found, mut what) = (with(Content::Numbers), "numbers");
        if found.is_empty() {
            (found, what) = (with(Content::Truths), "truth values");
        }
        match found[..] {
            [only] if args.op.arity() == 1 => {
                self.columns.push(only);
                Ok(self)
            }
            [] => {
                let alone = others.len() == 1;
                if alone && content(others[0]) == Content::Nothing && args.op.arity() == 1 {
                    self.columns = others;
                    return Ok(self);
                }
                let mut reasons = others.into_iter().filter_map(|at| why_not(at, alone));
                match (reasons.next(), reasons.next()) {
                    (Some(reason), None) => Err(reason),
                    _ => Err(Error::mismatch("there is no column of numbers").hint(list(names))),
                }
            }
            _ => {
                let found: Vec<&str> = found.into_iter().map(|at| names[at]).collect();
                Err(Error::usage("which column? Name it with --column")
                    .hint(format!("columns of {what}: {}", found.join(", "))))
            }
        }
    }
}

/// What a column holds, as far as it matters for which is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Numbers to be added up.
    Numbers,
    /// Truth values.
    Truths,
    /// Not a single value.
    Nothing,
    /// Text, dates.
    Other,
}

fn find(names: &[&str], wanted: &str) -> Result<usize> {
    let mut found = (0..names.len()).filter(|&at| names[at] == wanted);
    match (found.next(), found.next()) {
        (Some(at), None) => Ok(at),
        (Some(_), Some(_)) => Err(Error::mismatch(format!("there are several columns '{wanted}'"))
            .hint("rename them, so that one can be meant")),
        (None, _) => {
            let error = Error::mismatch(format!("there is no column '{wanted}'"));
            Err(match nearest(wanted, names.iter().copied()) {
                Some(near) => error.hint(format!("did you mean '{near}'? {}", list(names))),
                None => error.hint(list(names)),
            })
        }
    }
}

fn list(names: &[&str]) -> String {
    format!("the columns are {}", names.join(", "))
}
