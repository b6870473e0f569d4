//! What the tests of the lessons share.
#![allow(dead_code)]

use kogge_lab::catalogue::{Finds, Kind, Lesson, Mutant, Operator, Setup, Trial};
use kogge_lab::{Number, Options, Report, ScalarType, Schedule, Values, explore, run};

/// A sequence in which every element differs from its neighbours, small enough that sums of floats
/// up to 2,048 of them are exact, and maps that do not commute for the affine operator.
pub fn input(operator: &Operator, n: usize) -> Values {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ n as u64;
    Values::from_numbers(operator.element, n, |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bits = state >> 33;
        match (operator.name, operator.element) {
            ("affine", ScalarType::U32) => Number::UInt((bits % 0xffff) | 0x1_0000),
            ("affine", _) => Number::UInt(state | 1 << 32),
            _ => Number::Int(bits as i64 % 1000 - 500),
        }
    })
}

pub fn operator(name: &str, element: ScalarType) -> Operator {
    Operator::named(name, element).unwrap_or_else(|| panic!("{name} on {element:?}"))
}

pub fn setup(
    lesson: &Lesson,
    operator: &Operator,
    n: usize,
    defines: &[(String, String)],
) -> Setup {
    lesson
        .setup(input(operator, n), operator, defines)
        .unwrap_or_else(|error| panic!("{} at N = {n}: {error}", lesson.name))
}

pub fn run_at(
    lesson: &Lesson,
    operator: &Operator,
    n: usize,
    defines: &[(String, String)],
) -> Report {
    let setup = setup(lesson, operator, n, defines);
    run(&setup.program, &setup.script, &setup.options)
        .unwrap_or_else(|error| panic!("{} at N = {n}: {error}", lesson.name))
}

/// Fails unless the run was clean and `y` is the scan of the input.
pub fn assert_right(lesson: &Lesson, operator: &Operator, n: usize, report: &Report) {
    let at =
        || format!("{} under {} of {:?} at N = {n}", lesson.name, operator.name, operator.element);
    assert!(report.is_clean(), "{}: {:#?}", at(), report.findings);
    let expected = operator.scan(&input(operator, n), lesson.header.kind == Kind::Exclusive);
    if report.arrays["y"] != expected {
        let first = (0..n).find(|&i| report.arrays["y"].get(i) != expected.get(i));
        let i = first.expect("arrays that differ differ somewhere");
        panic!("{}: y[{i}] is {:?}, not {:?}", at(), report.arrays["y"].get(i), expected.get(i));
    }
}

/// A mutant as a lesson of its own.
pub fn mutated(lesson: &Lesson, mutant: &Mutant) -> Lesson {
    let text =
        mutant.apply(&lesson.text).unwrap_or_else(|error| panic!("{}: {error}", lesson.name));
    Lesson::parse(&lesson.name, &text, "")
        .unwrap_or_else(|error| panic!("{}, {}: {error}", lesson.name, mutant.name))
}

/// Whether a trial finds what it must, and what was found.
pub fn finds(lesson: &Lesson, trial: &Trial) -> (bool, String) {
    let operator = operator(&trial.operator, trial.element());
    let n = trial.n as usize;
    let setup = setup(lesson, &operator, n, &[]);
    let options = trial.apply(setup.options.clone());
    let failed = |error| panic!("{}: {error}", lesson.name);
    let (found, report) = match trial.finds {
        Finds::Hazard(kind) => {
            let report = explore(&setup.program, &setup.script, &options, Trial::SCHEDULES, 1)
                .unwrap_or_else(failed);
            let found = report.of_kind(kind).next().is_some();
            (found, report)
        }
        Finds::WrongResult => {
            let expected =
                operator.scan(&input(&operator, n), lesson.header.kind == Kind::Exclusive);
            let schedules = [Schedule::FORWARD, Schedule::random(1), Schedule::random(2)];
            let mut runs = schedules.map(|schedule| {
                let options = Options { schedule, ..options.clone() };
                let report = run(&setup.program, &setup.script, &options).unwrap_or_else(failed);
                (report.arrays["y"] != expected, report)
            });
            runs.sort_by_key(|&(wrong, _)| !wrong);
            let [first, ..] = runs;
            first
        }
    };
    let kinds: Vec<_> = report
        .findings
        .iter()
        .map(|f| format!("{} line {}: {}", f.kind, f.line, f.message))
        .collect();
    (found, kinds.join("\n    "))
}
