//! Whether results are those expected: of a lesson, the scan that its header declares; of anything
//! else, what `--expect` says.

use kogge_lab::catalogue::{Check, Kind, Lesson, Operator};
use kogge_lab::{Diagnostic, Expectation, Mismatch, Report, ScalarType, Script, Value};
use serde_json::json;

use super::list::kind;
use super::subject::Subject;

/// What is known beforehand about a result.
#[derive(Clone, Debug)]
pub enum Claim {
    /// `y` is this scan of `x`.
    Scan(Operator, Kind),
    /// Nothing, for this reason.
    Unknown(String),
}

impl Claim {
    /// What a lesson claims of its own launch, if `given` and `defines` leave it that.
    pub fn of_lesson(
        lesson: &Lesson,
        operator: &Operator,
        script: &Script,
        given: &[(String, Value)],
        defines: &[(String, String)],
    ) -> Self {
        // An ELEMENT that is a scalar type is the operator's by now.
        let is_elements = |name: &str, value: &str| {
            name == "ELEMENT" && ScalarType::from_name(value) == Some(operator.element)
        };
        let other = defines
            .iter()
            .filter(|(name, value)| !is_elements(name, value))
            .filter_map(|(name, _)| name.split('(').next().map(str::trim))
            .find(|name| ["ELEMENT", "IDENTITY", "COMBINE"].contains(name));
        if let Some(name) = other {
            return Self::Unknown(format!("{name} is defined on the command line"));
        }
        match given.iter().find(|(name, value)| !is_output(script, name, value)) {
            Some((name, _)) => Self::Unknown(format!("{name} is given on the command line")),
            None => Self::Scan(operator.clone(), lesson.header.kind),
        }
    }

    /// What is known of a launch by the command line or of a file that is no lesson.
    pub fn of_launch(lesson: bool) -> Self {
        Self::Unknown(if lesson { "the launch is by hand" } else { "the file is no lesson" }.into())
    }
}

/// Whether a value is another start of a lesson's output, which says nothing about its end.
fn is_output(script: &Script, name: &str, value: &Value) -> bool {
    let shape = |value: &Value| match value {
        Value::Array(array) => Some((array.ty(), array.len())),
        Value::Number(_) => None,
    };
    let y = script.values.iter().find(|(known, _)| known == "y").and_then(|(_, y)| shape(y));
    name == "y" && y.is_some() && shape(value) == y
}

/// What was found about results, each as a sentence.
#[derive(Clone, Debug, Default)]
pub struct Results {
    pub right: Vec<String>,
    pub wrong: Vec<String>,
    /// Why the result is not judged, if it isn't.
    pub unchecked: Option<String>,
}

impl Results {
    /// Compares what a run gave with the claim and with `--expect`.
    pub fn of(subject: &Subject, report: &Report, expected: &[String]) -> Result<Self, Diagnostic> {
        let mut results = Self::default();
        match &subject.claim {
            Claim::Scan(operator, kind) => results.check_lesson(subject, report, operator, *kind),
            Claim::Unknown(_) if !expected.is_empty() => {}
            Claim::Unknown(reason) => {
                results.unchecked = Some(format!("{reason}; --expect says what it should be"));
            }
        }
        for text in expected {
            results.check_expectation(subject, report, text)?;
        }
        Ok(results)
    }

    fn check_lesson(&mut self, subject: &Subject, report: &Report, operator: &Operator, of: Kind) {
        let (Some(x), Some(y)) = (subject.initial("x"), report.arrays.get("y")) else { return };
        let name = if operator.name == "affine" { "affine scan" } else { operator.name };
        let scan = format!("{} {name} of x", kind(of));
        match operator.check(&x, y, of) {
            Check::Right => self.right.push(format!("y is the {scan}")),
            Check::Wrong(first) => self.wrong.push(sentence(&first, "y", y.len(), &scan)),
            Check::Undetermined(reason) => {
                self.unchecked =
                    Some(format!("{reason}, and y is not the {scan} from left to right"));
            }
        }
    }

    fn check_expectation(
        &mut self,
        subject: &Subject,
        report: &Report,
        text: &str,
    ) -> Result<(), Diagnostic> {
        let expectation = Expectation::parse(text)?;
        let (x, y) = (expectation.input(), expectation.output());
        let unknown =
            |name: &str| Diagnostic::general(format!("--expect: there is no array `{name}`"));
        let input = subject.initial(x).ok_or_else(|| unknown(x))?;
        let result = report.arrays.get(y).ok_or_else(|| unknown(y))?;
        let scan = text.split(':').next().unwrap_or_default().replace('-', " ");
        let scan = format!("{scan} of {x}");
        match expectation.compare(&input, result) {
            Ok(()) => self.right.push(format!("{y} is the {scan}")),
            Err(first) => self.wrong.push(sentence(&first, y, result.len(), &scan)),
        }
        Ok(())
    }

    pub fn json(&self) -> serde_json::Value {
        json!({ "right": self.right, "wrong": self.wrong, "unchecked": self.unchecked })
    }
}

fn sentence(first: &Mismatch, array: &str, len: usize, scan: &str) -> String {
    let Mismatch { index, found, expected, count, .. } = first;
    format!(
        "{array}[{index}] is {found}, not {expected}: {count} of {len} elements differ from the {scan}"
    )
}
