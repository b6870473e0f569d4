//! Records: what was measured, where, when and of what, as JSON.
//!
//! A record holds the runs of one suite on one machine, and a run its cells: one type, mode and
//! length each, measured together. A new measurement of a cell takes the place of the old one.

use crate::contender::{Mode, Role};
use crate::machine::Machine;
use crate::measure::Series;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

/// All runs of a suite on a machine.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Record {
    /// What was compared: `cpu`, `affine`, `peers`, `cuda`.
    pub suite: String,
    /// Where.
    pub machine: Machine,
    /// The runs, oldest first.
    pub runs: Vec<Session>,
}

/// Cells measured by one process.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Session {
    /// When, in UTC.
    pub date: String,
    /// The commit of kogge; `-dirty` if its sources differed from it.
    pub commit: String,
    /// The compilers, and the versions of the libraries compared.
    pub versions: Vec<String>,
    /// Threads of the pool.
    pub threads: usize,
    /// Whether buffers asked for huge pages.
    pub huge_pages: bool,
    /// What was measured.
    pub cells: Vec<Cell>,
}

/// One comparison.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Cell {
    /// The type of element.
    pub dtype: String,
    /// Bytes of an element.
    pub element_bytes: usize,
    /// Out of place or in place.
    pub mode: Mode,
    /// Elements.
    pub len: usize,
    /// What is scanned, by its name, if not one sequence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    /// Bytes read beside the elements: keys or offsets.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub beside_bytes: usize,
    /// Nanoseconds that a [word](crate::distance) took to another CPU and back, before and after,
    /// if it came back soon; of a GPU, and of cells of commits before 9eb31df, there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word_ns: Option<[f64; 2]>,
    /// The contenders.
    pub series: Vec<Series>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Cell {
    /// Bytes read and written in a nanosecond: 10⁹ bytes a second.
    pub fn gigabytes_per_second(&self, series: &Series) -> f64 {
        (2 * self.len * self.element_bytes + self.beside_bytes) as f64 / series.median_ns
    }

    /// kogge as a user calls it.
    pub fn kogge(&self) -> Option<&Series> {
        self.series.iter().find(|series| series.role == Role::Kogge)
    }

    /// The fastest of a role.
    pub fn fastest(&self, role: Role) -> Option<&Series> {
        let of_role = self.series.iter().filter(|series| series.role == role);
        of_role.min_by(|a, b| a.median_ns.total_cmp(&b.median_ns))
    }

    fn replaces(&self, other: &Self) -> bool {
        let key = |cell: &Self| (cell.dtype.clone(), cell.mode, cell.len, cell.shape.clone());
        key(self) == key(other)
    }
}

impl Session {
    /// A session that begins now, on the sources as they are.
    pub fn begin(threads: usize, huge_pages: bool) -> Self {
        Self {
            date: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%MZ").to_string(),
            commit: commit(),
            versions: vec![env!("KOGGE_BENCH_COMPILER").to_owned()],
            threads,
            huge_pages,
            cells: Vec::new(),
        }
    }
}

/// The commit of the sources, marked where they differ from it; unknown where there are none.
fn commit() -> String {
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        let output = git.current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).output();
        output.ok().and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default()
    };
    let head = git(&["rev-parse", "--short=12", "HEAD"]);
    if head.is_empty() {
        return "unknown".to_owned();
    }
    let engine =
        ["../crates/kogge", "../crates/kogge-core", "../crates/kogge-cpu", "../crates/kogge-cuda"];
    let changes = git(&[&["status", "--porcelain", "--"], &engine[..]].concat());
    let dirty = if changes.trim().is_empty() { "" } else { "-dirty" };
    format!("{}{dirty}", head.trim())
}

impl Record {
    /// Reads a record.
    ///
    /// # Errors
    ///
    /// A file that can't be read or isn't a record.
    pub fn read(path: &Path) -> io::Result<Self> {
        let named = |error: String| io::Error::other(format!("{}: {error}", path.display()));
        let text = fs::read_to_string(path).map_err(|error| named(error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| named(error.to_string()))
    }

    /// Writes it, as a whole or not at all.
    ///
    /// # Errors
    ///
    /// What the file system says.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let part = path.with_extension("json.tmp");
        fs::write(&part, self.text()?)?;
        fs::rename(part, path)
    }

    /// What its file holds.
    ///
    /// # Errors
    ///
    /// None: a record is always JSON.
    pub fn text(&self) -> io::Result<String> {
        Ok(format!("{:#}\n", serde_json::to_value(self)?))
    }

    /// Adds a session; cells of earlier ones that it measured again go.
    pub fn add(&mut self, session: Session) {
        for run in &mut self.runs {
            run.cells.retain(|old| !session.cells.iter().any(|new| new.replaces(old)));
        }
        self.runs.retain(|run| !run.cells.is_empty());
        self.runs.push(session);
    }

    /// The record in a file, if there is a file.
    ///
    /// # Errors
    ///
    /// A file that can't be read, or holds another suite or another machine's record.
    pub fn there(path: &Path, suite: &str, machine: &Machine) -> io::Result<Option<Self>> {
        if !path.exists() {
            return Ok(None);
        }
        let record = Self::read(path)?;
        if (record.suite.as_str(), &record.machine) != (suite, machine) {
            let what = format!("{} is of another suite or machine", path.display());
            return Err(io::Error::other(what));
        }
        Ok(Some(record))
    }

    /// The record in a file with its own runs added, or itself where there is none.
    ///
    /// # Errors
    ///
    /// As [`there`](Self::there).
    pub fn joined(self, path: &Path) -> io::Result<Self> {
        let Some(mut record) = Self::there(path, &self.suite, &self.machine)? else {
            return Ok(self);
        };
        self.runs.into_iter().for_each(|session| record.add(session));
        Ok(record)
    }

    /// Adds its runs to the record in a file, or writes the file.
    ///
    /// # Errors
    ///
    /// As [`there`](Self::there), and a file that can't be written.
    pub fn add_to(self, path: &Path) -> io::Result<()> {
        self.joined(path)?.write(path)
    }

    /// All cells: by type and mode, single sequences by length before other shapes in their order.
    pub fn cells(&self) -> Vec<&Cell> {
        let mut cells: Vec<_> = self.runs.iter().flat_map(|run| &run.cells).collect();
        cells.sort_by_key(|cell| {
            let (shaped, dtype) = (cell.shape.is_some(), cell.dtype.clone());
            (shaped, dtype, cell.mode.name(), if shaped { 0 } else { cell.len })
        });
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(date: &str, lens: &[usize]) -> Session {
        let cell = |&len: &usize| Cell {
            dtype: "f32".to_owned(),
            element_bytes: 4,
            mode: Mode::InPlace,
            len,
            shape: None,
            beside_bytes: 0,
            word_ns: Some([98.5, 310.0]),
            series: Vec::new(),
        };
        Session {
            date: date.to_owned(),
            commit: String::new(),
            versions: Vec::new(),
            threads: 2,
            huge_pages: false,
            cells: lens.iter().map(cell).collect(),
        }
    }

    #[test]
    fn a_cell_measured_again_replaces_the_old_one() {
        let mut record =
            Record { suite: "cpu".to_owned(), machine: Machine::this(), runs: Vec::new() };
        record.add(session("first", &[1, 2]));
        record.add(session("second", &[2, 3]));
        let lens: Vec<_> = record.cells().iter().map(|cell| cell.len).collect();
        assert_eq!(lens, [1, 2, 3]);
        assert_eq!(record.runs[0].cells.len(), 1);
        record.add(session("third", &[1, 2, 3]));
        assert_eq!(record.runs.len(), 1);
    }

    #[test]
    fn a_record_survives_its_file() {
        let record = Record {
            suite: "cpu".to_owned(),
            machine: Machine::this(),
            runs: vec![session("now", &[7])],
        };
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record);
        assert!(text.contains(r#""mode":"in-place""#));
    }
}
