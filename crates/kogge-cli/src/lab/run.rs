//! `kogge lab run`.

use kogge_lab::{Diagnostic, Expectation, Report};
use serde_json::{Value, json};

use super::check::Results;
use super::report::describe;
use super::subject::SubjectArgs;
use super::{Outcome, Verdict, print};

/// Arguments of `kogge lab run`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: SubjectArgs,
    /// Compare array Y with the scan of X: inclusive-sum:X:Y, exclusive-max:X:Y, … [default: y of a
    /// lesson at its own launch with the scan that its header declares]
    #[arg(long, value_name = "KIND-OP:X:Y")]
    expect: Vec<String>,
    /// Print one JSON object: arrays, findings, results, work, steps and all counts
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Outcome {
    let subject = args.subject.prepare()?;
    // Before the run, which may take a while.
    args.expect.iter().try_for_each(|text| Expectation::parse(text).map(drop))?;
    let mut results = Results::default();
    let mut judged = Ok(());
    let report = subject.run_each(|report| {
        if judged.is_ok() {
            judged = results.add(&subject, report, &args.expect);
        }
    })?;
    judged?;
    let clean = report.is_clean() && results.is_clean();
    if args.json {
        print(&format!("{}\n", json(&report, &results)?))?;
    } else {
        print(&describe(&report, &subject.source, &results))?;
        if let Some(elsewhere) = subject.elsewhere.filter(|_| clean) {
            print(&format!("{elsewhere}\n"))?;
        }
    }
    Ok(Verdict::of(clean))
}

/// The report as one JSON object; a result that is not the one expected is a finding too.
fn json(report: &Report, results: &Results) -> Result<Value, Diagnostic> {
    let mut value = serde_json::to_value(report).map_err(|error| {
        Diagnostic::general(format!("the report can't be written as JSON: {error}"))
    })?;
    if let Some(Value::Array(findings)) = value.get_mut("findings") {
        findings.extend(results.wrong().map(|wrong| {
            json!({
                "kind": "wrong-result",
                "line": 0,
                "message": wrong.sentence,
                "schedule": wrong.schedule,
            })
        }));
    }
    value["results"] = results.json();
    Ok(value)
}
