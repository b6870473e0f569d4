//! A report in words.

use std::fmt::Write;
use std::io::IsTerminal;

use kogge_lab::{Finding, Report, Values};

use super::check::{Results, repeated};

/// How many elements of an array are printed.
const SHOWN: usize = 2048;
/// The width of a line of elements.
const WIDTH: usize = 96;

/// The contents of the arrays, the counts, the findings with the lines they concern, and the
/// results.
pub fn describe(report: &Report, source: &str, results: &Results) -> String {
    let mut out = String::new();
    for (name, values) in &report.arrays {
        array(&mut out, name, values);
    }
    let counts = &report.counts;
    let _ = writeln!(
        out,
        "\nwork {}, steps {}, barriers {}, bank conflicts {}, global transactions {} (at best {}), divergent branches {}",
        counts.work,
        counts.steps,
        counts.barriers + counts.grid_barriers,
        counts.bank_conflicts,
        counts.global_transactions,
        counts.ideal_transactions,
        counts.divergent_branches,
    );
    let colour = std::io::stdout().is_terminal();
    for found in &report.findings {
        let alone = (report.schedules > 1).then(|| repeated(found.schedule));
        finding(&mut out, found, alone, source, colour);
    }
    for wrong in results.wrong() {
        let _ = writeln!(out, "{}: {}", red("wrong-result", colour), wrong.sentence);
    }
    if report.findings_left_out > 0 {
        let _ = writeln!(out, "and {} findings more", report.findings_left_out);
    }
    if report.is_clean() && results.is_clean() {
        let schedules = if report.schedules > 1 {
            format!(" in {} schedules", report.schedules)
        } else {
            String::new()
        };
        let _ = writeln!(out, "no hazards found{schedules}");
    }
    for sentence in results.right() {
        let _ = writeln!(out, "{sentence}");
    }
    if let Some(reason) = &results.unchecked {
        let _ = writeln!(out, "the result is not checked: {reason}");
    }
    out
}

fn array(out: &mut String, name: &str, values: &Values) {
    let _ = write!(out, "{name} =");
    let mut width = name.chars().count() + 2;
    for number in values.iter().take(SHOWN) {
        let number = number.to_string();
        if width + 1 + number.len() > WIDTH {
            out.push_str("\n   ");
            width = 3;
        }
        width += 1 + number.len();
        let _ = write!(out, " {number}");
    }
    if values.len() > SHOWN {
        let _ = write!(out, " … ({} elements; --json prints all)", values.len());
    }
    out.push('\n');
}

/// A finding; `alone` are the options that show it under one schedule.
fn finding(out: &mut String, finding: &Finding, alone: Option<String>, source: &str, colour: bool) {
    let mut times =
        if finding.count > 1 { format!(" ({} times)", finding.count) } else { String::new() };
    if let Some(alone) = alone {
        let _ = write!(times, "; to repeat it: {alone}");
    }
    let kind = red(finding.kind.name(), colour);
    if finding.line == 0 {
        let _ = writeln!(out, "{kind}: {}{times}", finding.message);
        return;
    }
    let _ = writeln!(out, "{kind} at line {}: {}{times}", finding.line, finding.message);
    let mut lines: Vec<u32> =
        finding.accesses.iter().map(|access| access.line).chain([finding.line]).collect();
    lines.sort_unstable();
    lines.dedup();
    for line in lines {
        if let Some(text) = source.lines().nth((line as usize).wrapping_sub(1)) {
            let _ = writeln!(out, "{line:>6} | {text}");
        }
    }
}

fn red(text: &str, colour: bool) -> String {
    if colour { format!("\u{1b}[1;31m{text}\u{1b}[0m") } else { text.to_owned() }
}
