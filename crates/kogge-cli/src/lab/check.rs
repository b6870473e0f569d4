//! Whether results are those expected: of a lesson, the scan that its header declares; of anything
//! else, what `--expect` says.

use kogge_lab::catalogue::{Check, Kind, Lesson, Operator};
use kogge_lab::{
    Diagnostic, Expectation, FindingKind, Mismatch, Order, Report, ScalarType, Schedule, Script,
    Value,
};
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

/// What was found about results, under all schedules that ran.
#[derive(Clone, Debug, Default)]
pub struct Results {
    claims: Vec<Judged>,
    schedules: u32,
    /// Why the result is not judged, if it isn't.
    pub unchecked: Option<String>,
}

/// One claim about a result.
#[derive(Clone, Debug)]
struct Judged {
    /// The claim, as a sentence.
    claim: String,
    /// Under how many schedules it holds, and under how many it doesn't.
    holds: u32,
    fails: u32,
    /// How it fails, and under which schedule first.
    first: Option<(String, Schedule)>,
}

/// A result that is not the one expected.
pub struct Wrong {
    pub sentence: String,
    /// The schedule that gave it.
    pub schedule: Schedule,
}

impl Results {
    /// Compares what a run under one schedule gave with the claim and with `--expect`.
    pub fn add(
        &mut self,
        subject: &Subject,
        report: &Report,
        expected: &[String],
    ) -> Result<(), Diagnostic> {
        self.schedules += 1;
        let stops = |kind| {
            use FindingKind as F;
            matches!(kind, F::Deadlock | F::Livelock | F::Budget | F::Limit)
        };
        if report.findings.iter().any(|finding| stops(finding.kind)) {
            self.unchecked = Some("the run did not come to its end".to_owned());
            return Ok(());
        }
        match &subject.claim {
            Claim::Scan(operator, kind) => self.check_lesson(subject, report, operator, *kind),
            Claim::Unknown(_) if !expected.is_empty() => {}
            Claim::Unknown(reason) => {
                self.unchecked = Some(format!("{reason}; --expect says what it should be"));
            }
        }
        for text in expected {
            self.check_expectation(subject, report, text)?;
        }
        Ok(())
    }

    /// What is as claimed under every schedule.
    pub fn right(&self) -> impl Iterator<Item = &str> {
        self.claims.iter().filter(|c| c.holds == self.schedules).map(|c| c.claim.as_str())
    }

    /// What is not, under one schedule at least: the first of them, and how to repeat it.
    pub fn wrong(&self) -> impl Iterator<Item = Wrong> {
        self.claims.iter().filter_map(|claim| {
            let (sentence, schedule) = claim.first.clone()?;
            let sentence = if self.schedules > 1 {
                format!(
                    "{sentence} under the {schedule} schedule ({} of {} schedules go wrong); to \
                     repeat it: {}",
                    claim.fails,
                    self.schedules,
                    repeated(schedule)
                )
            } else {
                sentence
            };
            Some(Wrong { sentence, schedule })
        })
    }

    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.claims.iter().all(|claim| claim.fails == 0)
    }

    fn judge(&mut self, claim: String, schedule: Schedule, outcome: Result<(), String>) {
        let at = self.claims.iter().position(|known| known.claim == claim).unwrap_or_else(|| {
            self.claims.push(Judged { claim, holds: 0, fails: 0, first: None });
            self.claims.len() - 1
        });
        let judged = &mut self.claims[at];
        match outcome {
            Ok(()) => judged.holds += 1,
            Err(sentence) => {
                judged.fails += 1;
                judged.first.get_or_insert((sentence, schedule));
            }
        }
    }

    fn check_lesson(&mut self, subject: &Subject, report: &Report, operator: &Operator, of: Kind) {
        let (Some(x), Some(y)) = (subject.initial("x"), report.arrays.get("y")) else { return };
        let name = if operator.name == "affine" { "affine scan" } else { operator.name };
        let scan = format!("{} {name} of x", kind(of));
        match operator.check(&x, y, of) {
            Check::Right => self.judge(format!("y is the {scan}"), report.schedule, Ok(())),
            Check::Wrong(first) => {
                let sentence = sentence(&first, "y", y.len(), &scan);
                self.judge(format!("y is the {scan}"), report.schedule, Err(sentence));
            }
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
        if result.len() < input.len() {
            let (least, has) = (input.len(), result.len());
            let short = format!("--expect: `{x}` has {least} elements and `{y}` {has}");
            return Err(Diagnostic::general(short).with_help(format!("give `{y}` as many")));
        }
        let scan = text.split(':').next().unwrap_or_default().replace('-', " ");
        let scan = format!("{scan} of {x}");
        let outcome = expectation.compare(&input, result);
        let outcome = outcome.map_err(|first| sentence(&first, y, result.len(), &scan));
        self.judge(format!("{y} is the {scan}"), report.schedule, outcome);
        Ok(())
    }

    pub fn json(&self) -> serde_json::Value {
        let right: Vec<_> = self.right().collect();
        let wrong: Vec<_> = self.wrong().map(|wrong| wrong.sentence).collect();
        json!({ "right": right, "wrong": wrong, "unchecked": self.unchecked })
    }
}

/// The options that run a schedule alone.
pub fn repeated(schedule: Schedule) -> String {
    match schedule.order {
        Order::Random => format!("--order random --seed {}", schedule.seed),
        order => format!("--order {}", order.name()),
    }
}

fn sentence(first: &Mismatch, array: &str, len: usize, scan: &str) -> String {
    let Mismatch { index, found, expected, count, .. } = first;
    format!(
        "{array}[{index}] is {found}, not {expected}: {count} of {len} elements differ from the {scan}"
    )
}
