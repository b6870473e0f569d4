//! Python's libraries, in a child process that does one thing at a time when it is told to.

use super::Place;
use super::turns::Entry;
use crate::Shape;
use crate::contender::Role;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The child's program.
const PROGRAM: &str = include_str!("peers.py");

/// The child.
pub(super) struct Python {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

/// What it says first.
pub(super) struct Hello {
    /// Versions of what it found.
    pub versions: Vec<String>,
    /// What it did not find, and why.
    pub absent: Vec<(String, String)>,
}

/// A contender of the child, for the cell that is open.
pub(super) struct Peer {
    index: u64,
    name: String,
    threads: usize,
    on_gpu: bool,
}

impl Python {
    /// Starts the interpreter and lets it look for its libraries.
    ///
    /// # Errors
    ///
    /// No interpreter, or none that speaks.
    pub(super) fn start(interpreter: &Path, place: Place) -> io::Result<(Self, Hello)> {
        let threads = rayon::current_num_threads();
        let mut child = Command::new(interpreter)
            .args(["-c", PROGRAM])
            .env("POLARS_MAX_THREADS", threads.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("no pipes"));
        };
        let mut python = Self { child, to, from: BufReader::new(from) };
        let device = match place {
            Place::Cpu => None,
            Place::Cuda(ordinal) => Some(ordinal),
        };
        let hello = python.ask(&json!({ "do": "hello", "device": device, "threads": threads }))?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let list = |key: &str| hello[key].as_array().cloned().unwrap_or_default();
        let absent = list("absent").iter().map(|pair| (text(&pair[0]), text(&pair[1]))).collect();
        let versions = list("versions").iter().map(text).collect();
        Ok((python, Hello { versions, absent }))
    }

    /// Sends a question and waits for the answer.
    fn ask(&mut self, question: &Value) -> io::Result<Value> {
        writeln!(self.to, "{question}")?;
        self.to.flush()?;
        let mut line = String::new();
        if self.from.read_line(&mut line)? == 0 {
            return Err(io::Error::other("Python ended; its own words are above"));
        }
        let answer: Value = serde_json::from_str(&line)?;
        match answer["error"].as_str() {
            Some(error) => Err(io::Error::other(format!("Python: {error}"))),
            None => Ok(answer),
        }
    }

    /// Opens a cell on an input and an output in files, and gives the contenders that take its
    /// type.
    pub(super) fn open(
        &mut self,
        dtype: &str,
        shape: Shape,
        input: &Path,
        output: &Path,
        place: Place,
    ) -> io::Result<Vec<Peer>> {
        let (dimensions, axis, run) = match shape {
            Shape::Flat(len) => (vec![len], Some(0), None),
            Shape::Table { rows, columns, axis } => (vec![rows, columns], Some(axis), None),
            Shape::Runs { len, run } => (vec![len], None, Some(run)),
            Shape::Zipf { len, .. } => (vec![len], None, None),
        };
        let question = json!({
            "do": "open", "dtype": dtype, "shape": dimensions, "axis": axis, "run": run,
            "input": input, "output": output,
        });
        let answer = self.ask(&question)?;
        let peers = answer["peers"].as_array().cloned().unwrap_or_default();
        let peer = |(index, peer): (usize, &Value)| Peer {
            index: index as u64,
            name: peer["name"].as_str().unwrap_or("?").to_owned(),
            threads: peer["threads"].as_u64().unwrap_or(1) as usize,
            on_gpu: place != Place::Cpu,
        };
        Ok(peers.iter().enumerate().map(peer).collect())
    }

    /// Closes the cell: its buffers are given back.
    pub(super) fn close(&mut self) -> io::Result<()> {
        self.ask(&json!({ "do": "close" })).map(drop)
    }

    /// Runs a contender once and puts its result into the output's file.
    fn result(&mut self, index: u64) -> io::Result<()> {
        self.ask(&json!({ "do": "result", "peer": index })).map(drop)
    }

    fn time(&mut self, index: u64, calls: u32) -> io::Result<f64> {
        let answer = self.ask(&json!({ "do": "time", "peer": index, "calls": calls }))?;
        let time = answer["ns"].as_f64().filter(|ns| *ns > 0.0);
        time.ok_or_else(|| io::Error::other("Python gave no time"))
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        // It ends with its standard input; nothing is left to tell if it can't be waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A contender of the child as one among others.
pub(super) struct Turn<'a> {
    pub python: &'a RefCell<&'a mut Python>,
    pub peer: Peer,
    /// Whether the next run is to leave its result in the output, and takes no time.
    pub checks: bool,
}

impl Entry for Turn<'_> {
    fn name(&self) -> &str {
        &self.peer.name
    }
    fn role(&self) -> Role {
        Role::Peer
    }
    fn threads(&self) -> usize {
        self.peer.threads
    }
    fn repeats(&self) -> bool {
        !self.peer.on_gpu
    }
    fn run(&mut self, calls: u32) -> io::Result<f64> {
        let mut python = self.python.borrow_mut();
        if std::mem::take(&mut self.checks) {
            python.result(self.peer.index)?;
            return Ok(0.0);
        }
        python.time(self.peer.index, calls)
    }
}
