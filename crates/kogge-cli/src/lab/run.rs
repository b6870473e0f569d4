//! `kogge lab run`.

use kogge_lab::{Diagnostic, Expectation, Report};
use serde_json::{Value, json};

use super::report::describe;
use super::subject::{Subject, SubjectArgs};
use super::{Outcome, Verdict, print};

/// Arguments of `kogge lab run`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: SubjectArgs,
    /// Compare array Y with the scan of X: inclusive-sum:X:Y, exclusive-max:X:Y, …
    #[arg(long, value_name = "KIND-OP:X:Y")]
    expect: Vec<String>,
    /// Print one JSON object: arrays, findings, work, steps and all counts
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Outcome {
    let subject = args.subject.prepare()?;
    let expectations: Vec<_> =
        args.expect.iter().map(|text| Expectation::parse(text)).collect::<Result<_, _>>()?;
    let report = subject.run()?;
    let mut unmet = Vec::new();
    for expectation in &expectations {
        unmet.extend(check(expectation, &subject, &report)?);
    }
    if args.json {
        print(&format!("{}\n", json(&report, &unmet)?))?;
    } else {
        print(&describe(&report, &subject.source, &unmet))?;
    }
    Ok(Verdict::of(report.is_clean() && unmet.is_empty()))
}

/// What an expectation finds wrong, as a sentence.
fn check(
    expectation: &Expectation,
    subject: &Subject,
    report: &Report,
) -> Result<Option<String>, Diagnostic> {
    let (x, y) = (expectation.input(), expectation.output());
    let unknown = |name: &str| Diagnostic::general(format!("--expect: there is no array `{name}`"));
    let input = subject.initial(x).ok_or_else(|| unknown(x))?;
    let result = report.arrays.get(y).ok_or_else(|| unknown(y))?;
    let sentence = |m: Box<kogge_lab::Mismatch>| {
        format!(
            "{y}[{}] is {}, not {}: {} of {} elements differ",
            m.index,
            m.found,
            m.expected,
            m.count,
            result.len()
        )
    };
    Ok(expectation.compare(&input, result).err().map(sentence))
}

/// The report as one JSON object; an expectation that was not met is a finding too.
fn json(report: &Report, unmet: &[String]) -> Result<Value, Diagnostic> {
    let mut value = serde_json::to_value(report).map_err(|error| {
        Diagnostic::general(format!("the report can't be written as JSON: {error}"))
    })?;
    if let Some(Value::Array(findings)) = value.get_mut("findings") {
        findings.extend(
            unmet
                .iter()
                .map(|message| json!({ "kind": "wrong-result", "line": 0, "message": message })),
        );
    }
    Ok(value)
}
