//! `kogge lab list`.

use kogge_lab::catalogue::{Kind, Lesson, Mutant, lessons};
use serde_json::json;

use super::table::table;
use super::{Outcome, Verdict, print, trial};

/// Arguments of `kogge lab list`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print one JSON list
    #[arg(long)]
    json: bool,
    /// List the mutants of each lesson too, and what shows each
    #[arg(long)]
    mutants: bool,
}

pub fn run(args: &Args) -> Outcome {
    if args.json {
        let list: Vec<_> = lessons().iter().map(describe).collect();
        print(&format!("{:#}\n", json!(list)))?;
        return Ok(Verdict::Clean);
    }
    let rows: Vec<_> = lessons().iter().map(row).collect();
    print(&table(&["lesson", "scan", "N up to", "what it is"], &rows, 4))?;
    if args.mutants {
        for lesson in lessons() {
            let row = |mutant: &Mutant| {
                vec![
                    format!("  {}", mutant.name),
                    mutant.says.clone(),
                    trial::describe(&mutant.trial),
                ]
            };
            let rows: Vec<_> = lesson.mutants.iter().map(row).collect();
            print(&format!("\n{}", table(&[&lesson.name, "", "shows as"], &rows, 3)))?;
        }
    }
    Ok(Verdict::Clean)
}

fn row(lesson: &Lesson) -> Vec<String> {
    let header = &lesson.header;
    let mark = if header.hazard.is_some() { " (hazard)" } else { "" };
    vec![
        lesson.name.clone(),
        kind(header.kind).to_owned(),
        header.sizes.end().to_string(),
        format!("{}{mark}", header.title),
    ]
}

fn describe(lesson: &Lesson) -> serde_json::Value {
    let header = &lesson.header;
    json!({
        "name": lesson.name,
        "title": header.title,
        "text": header.prose,
        "source": header.source,
        "scan": kind(header.kind),
        "sizes": [header.sizes.start(), header.sizes.end()],
        "work": header.work.text(),
        "steps": header.steps.text(),
        "hazard": header.hazard.is_some(),
        "mutants": lesson.mutants.iter().map(describe_mutant).collect::<Vec<_>>(),
    })
}

fn describe_mutant(mutant: &Mutant) -> serde_json::Value {
    json!({
        "name": mutant.name,
        "says": mutant.says,
        "finds": mutant.trial.finds.name(),
        "arguments": trial::arguments(&mutant.trial),
    })
}

/// The name of a kind.
pub fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Inclusive => "inclusive",
        Kind::Exclusive => "exclusive",
    }
}
