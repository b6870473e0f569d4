//! What the tests of the simulator share.
#![allow(dead_code)]

use kogge_lab::{
    FindingKind, Launch, Options, Program, Report, Schedule, Script, Value, Values, run,
};

/// A script of one launch with one-dimensional grid and block.
pub struct Case {
    pub source: String,
    pub script: Script,
    pub options: Options,
}

impl Case {
    pub fn new(source: &str, kernel: &str, grid: u32, block: u32) -> Self {
        Self {
            source: source.to_owned(),
            script: Script::new().launch(Launch::new(kernel, grid, block)),
            options: Options::default(),
        }
    }

    pub fn value(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.script = self.script.value(name, value);
        self
    }

    /// Applies a change to the (last) launch.
    pub fn launch(mut self, change: impl FnOnce(&mut Launch)) -> Self {
        if let Some(kogge_lab::Step::Launch(launch)) = self.script.steps.last_mut() {
            change(launch);
        }
        self
    }

    pub fn options(mut self, change: impl FnOnce(&mut Options)) -> Self {
        change(&mut self.options);
        self
    }

    pub fn program(&self) -> Program {
        Program::parse(&self.source, "test.cu", &[]).unwrap_or_else(|e| panic!("{e}"))
    }

    pub fn run(&self) -> Report {
        run(&self.program(), &self.script, &self.options).unwrap_or_else(|e| panic!("{e}"))
    }

    pub fn run_or_error(&self) -> Result<Report, String> {
        run(&self.program(), &self.script, &self.options).map_err(|e| e.to_string())
    }

    /// Runs under forward, reverse and a few random schedules; all must be
    /// clean and give the same array.
    pub fn clean(&self, array: &str) -> Values {
        let mut results = Vec::new();
        for schedule in schedules() {
            let options = Options { schedule, ..self.options.clone() };
            let report = run(&self.program(), &self.script, &options).unwrap();
            assert!(
                report.is_clean(),
                "{schedule}: {:#?}",
                report.findings.iter().map(|f| (f.kind, &f.message)).collect::<Vec<_>>()
            );
            results.push(report.arrays[array].clone());
        }
        for r in &results {
            assert_eq!(*r, results[0]);
        }
        results.swap_remove(0)
    }
}

pub fn schedules() -> Vec<Schedule> {
    let mut all = vec![Schedule::FORWARD, Schedule::REVERSE];
    all.extend((1..4).map(Schedule::random));
    all
}

pub fn kinds(report: &Report) -> Vec<FindingKind> {
    let mut kinds: Vec<_> = report.findings.iter().map(|f| f.kind).collect();
    kinds.sort();
    kinds.dedup();
    kinds
}

/// The line (from 1) that holds a mark.
pub fn line_of(source: &str, mark: &str) -> u32 {
    let found = source.lines().position(|l| l.contains(mark));
    found.unwrap_or_else(|| panic!("no line has {mark}")) as u32 + 1
}

pub fn ints(v: &Values) -> Vec<i32> {
    match v {
        Values::I32(v) => v.clone(),
        other => panic!("not int: {other:?}"),
    }
}

/// Runs a body that writes `out[0..]` in one thread; returns `n` results.
pub fn evaluate(prelude: &str, body: &str, n: usize) -> Vec<i32> {
    let source = format!("{prelude}\n__global__ void k(int *out) {{\n{body}\n}}\n");
    let report = Case::new(&source, "k", 1, 1).value("out", vec![0i32; n]).run();
    assert!(report.is_clean(), "{:#?}", report.findings);
    ints(&report.arrays["out"])
}

/// Distinct values that do not repeat: 3, 1, 4, 1, 5, … would hide a mixed-up order.
pub fn input(n: usize) -> Vec<i32> {
    (0..n as i32).map(|i| (i * 37 + 11) % 101 - 50).collect()
}

pub fn inclusive(x: &[i32]) -> Vec<i32> {
    x.iter()
        .scan(0i32, |sum, &v| {
            *sum = sum.wrapping_add(v);
            Some(*sum)
        })
        .collect()
}

pub fn exclusive(x: &[i32]) -> Vec<i32> {
    let mut sum = 0i32;
    x.iter()
        .map(|&v| {
            let before = sum;
            sum = sum.wrapping_add(v);
            before
        })
        .collect()
}
