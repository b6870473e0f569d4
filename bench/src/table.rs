//! Records as tables of ratios.

use crate::contender::{Mode, Role};
use crate::record::{Cell, Record};
use std::fmt::{self, Write};

/// The table of a record: for each type and mode, a line a length. With `all`, every contender.
pub fn table(record: &Record, all: bool) -> String {
    let mut out = String::new();
    let mut last = None;
    for cell in record.cells() {
        let group = (cell.dtype.as_str(), cell.mode);
        if last != Some(group) {
            head(&mut out, cell).expect("strings take all");
            last = Some(group);
        }
        line(&mut out, cell).expect("strings take all");
        if all {
            each(&mut out, cell).expect("strings take all");
        }
    }
    out
}

fn head(out: &mut String, cell: &Cell) -> fmt::Result {
    let mode = match cell.mode {
        Mode::Into => "into another buffer",
        Mode::InPlace => "in place",
    };
    writeln!(out, "\n{}, {mode}", cell.dtype)?;
    writeln!(
        out,
        "{:>6} {:>11} {:>7} {:>6} {:>8} {:>7}  {:32} {:>6}  {:34} {:>6}",
        "n",
        "kogge",
        "± %",
        "GB/s",
        "scratch",
        "of copy",
        "(best copy)",
        "× peer",
        "(fastest peer)",
        "× loop",
    )
}

fn line(out: &mut String, cell: &Cell) -> fmt::Result {
    let Some(kogge) = cell.kogge() else { return Ok(()) };
    let times = |other: Option<f64>| {
        other.map_or("-".to_owned(), |ns| format!("{:.2}", ns / kogge.median_ns))
    };
    let (copy, peer) = (cell.fastest(Role::Copy), cell.fastest(Role::Peer));
    let sequential = cell.series.iter().find(|series| series.name.starts_with("sequential"));
    let share = copy.map_or("-".to_owned(), |copy| {
        format!("{:.1} %", 100.0 * copy.median_ns / kogge.median_ns)
    });
    let scratch = kogge.scratch_bytes.map_or("-".to_owned(), |bytes| {
        format!("{:.2} %", 100.0 * bytes as f64 / (cell.len * cell.element_bytes) as f64)
    });
    writeln!(
        out,
        "{:>6} {:>11} {:>7.1} {:>6.1} {:>8} {:>7}  {:32} {:>6}  {:34} {:>6}",
        length(cell.len),
        time(kogge.median_ns),
        50.0 * (kogge.p75_ns - kogge.p25_ns) / kogge.median_ns,
        cell.gigabytes_per_second(kogge),
        scratch,
        share,
        copy.map_or("", |series| series.name.as_str()),
        times(peer.map(|series| series.median_ns)),
        peer.map_or("", |series| series.name.as_str()),
        times(sequential.map(|series| series.median_ns)),
    )
}

fn each(out: &mut String, cell: &Cell) -> fmt::Result {
    let Some(kogge) = cell.kogge() else { return Ok(()) };
    for series in &cell.series {
        writeln!(
            out,
            "       {:36} {:>11} (least {:>11}) {:>6.1} GB/s  {:>6.2} × kogge's time, {} runs of {}",
            series.name,
            time(series.median_ns),
            time(series.min_ns),
            cell.gigabytes_per_second(series),
            series.median_ns / kogge.median_ns,
            series.runs,
            series.calls_per_run,
        )?;
    }
    Ok(())
}

/// A power of two as such.
pub fn length(len: usize) -> String {
    if len.is_power_of_two() && len >= 1024 {
        format!("2^{}", len.ilog2())
    } else {
        len.to_string()
    }
}

fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.1} ns"),
        ns if ns < 1e6 => format!("{:.2} µs", ns / 1e3),
        ns => format!("{:.2} ms", ns / 1e6),
    }
}
