//! `kogge lab compare`.

use kogge_lab::catalogue::{Lesson, Operator, lessons};
use kogge_lab::{Diagnostic, Number, Report, ScalarType, Values, run as simulate};
use serde_json::json;

use super::table::table;
use super::{Outcome, Verdict, print};

/// Arguments of `kogge lab compare`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The length
    #[arg(short, long, default_value_t = 1024)]
    n: u64,
    /// Print one JSON list
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Outcome {
    if args.n == 0 || args.n > 1 << 16 {
        return Err(Diagnostic::general("-n: lessons are compared at 1 to 65536 elements"));
    }
    let mut rows = Vec::new();
    for lesson in lessons().iter().filter(|lesson| lesson.header.sizes.contains(&args.n)) {
        rows.push((lesson, measure(lesson, args.n)?));
    }
    if args.json {
        let list: Vec<_> =
            rows.iter().map(|(lesson, report)| describe(lesson, report, args.n)).collect();
        print(&format!("{:#}\n", json!(list)))?;
    } else {
        let heading = [
            "lesson",
            "work",
            "by formula",
            "steps",
            "by formula",
            "launches",
            "barriers",
            "bank conflicts",
            "transactions",
            "at best",
            "divergent",
        ];
        let rows: Vec<_> =
            rows.iter().map(|(lesson, report)| row(lesson, report, args.n)).collect();
        print(&format!(
            "N = {}; ! marks a run with a hazard\n\n{}",
            args.n,
            table(&heading, &rows, 1)
        ))?;
    }
    Ok(Verdict::Clean)
}

/// Runs a lesson on ints, in lock step.
fn measure(lesson: &Lesson, n: u64) -> Result<Report, Diagnostic> {
    let sum = Operator::named("sum", ScalarType::I32)
        .ok_or_else(|| Diagnostic::general("ints have sums"))?;
    let input = Values::from_numbers(ScalarType::I32, n as usize, |i| Number::UInt(i as u64 % 7));
    let setup = lesson.setup(input, &sum, &[])?;
    simulate(&setup.program, &setup.script, &setup.options)
}

fn row(lesson: &Lesson, report: &Report, n: u64) -> Vec<String> {
    let counts = &report.counts;
    let (work, steps) = lesson.claims(n, &[]);
    let claim = |values: &[i64]| values.first().map_or("–".to_owned(), i64::to_string);
    let mark = if report.is_clean() { "" } else { " !" };
    let mut cells = vec![format!("{}{mark}", lesson.name)];
    cells.extend([counts.work.to_string(), claim(&work), counts.steps.to_string(), claim(&steps)]);
    let others = [
        report.launches.len() as u64,
        counts.barriers + counts.grid_barriers,
        counts.bank_conflicts,
        counts.global_transactions,
        counts.ideal_transactions,
        counts.divergent_branches,
    ];
    cells.extend(others.map(|number| number.to_string()));
    cells
}

fn describe(lesson: &Lesson, report: &Report, n: u64) -> serde_json::Value {
    let (work, steps) = lesson.claims(n, &[]);
    json!({
        "lesson": lesson.name,
        "n": n,
        "claimed_work": work.first(),
        "claimed_steps": steps.first(),
        "launches": report.launches.len(),
        "counts": report.counts,
        "clean": report.is_clean(),
    })
}
