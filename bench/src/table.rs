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

/// The table of a record as `kogge bench` prints it: for each type, a line a length with kogge's
/// share of a copy's speed and, for each peer, how many times kogge is as fast.
pub fn versus(record: &Record) -> String {
    let mut out = String::new();
    let cells = record.cells();
    let group = |cell: &Cell| (cell.dtype.clone(), cell.mode, cell.shape.is_some());
    for group in cells.chunk_by(|a, b| group(a) == group(b)) {
        let mut peers: Vec<&str> = Vec::new();
        for series in group.iter().flat_map(|cell| &cell.series) {
            if series.role == Role::Peer && !peers.contains(&series.name.as_str()) {
                peers.push(&series.name);
            }
        }
        group_of_peers(&mut out, group, &peers).expect("strings take all");
    }
    out
}

fn group_of_peers(out: &mut String, group: &[&Cell], peers: &[&str]) -> fmt::Result {
    let widths: Vec<usize> = peers.iter().map(|name| name.chars().count().max(7)).collect();
    writeln!(out, "\n{}; the last columns say how many times kogge is as fast", group[0].dtype)?;
    let shaped = group[0].shape.is_some();
    let (what, first) = if shaped { ("shape", 30) } else { ("bytes in", 10) };
    write!(out, "{what:>first$} {:>11} {:>8} {:>8}", "kogge", "GB/s", "of copy")?;
    if shaped {
        write!(out, " {:>8}", "of flat")?;
    }
    for (name, width) in peers.iter().zip(&widths) {
        write!(out, "  {name:>width$}")?;
    }
    writeln!(out)?;
    for cell in group {
        let Some(kogge) = cell.kogge() else { continue };
        let share = cell.fastest(Role::Copy).map_or("-".to_owned(), |copy| {
            format!("{:.1} %", 100.0 * copy.median_ns / kogge.median_ns)
        });
        let what = cell.shape.clone().unwrap_or_else(|| bytes(cell.len * cell.element_bytes));
        let (time, speed) = (time(kogge.median_ns), cell.gigabytes_per_second(kogge));
        write!(out, "{what:>first$} {time:>11} {speed:>8.1} {share:>8}")?;
        if shaped {
            // The flat scan of as many bytes.
            let flat = cell.fastest(Role::Probe).map_or("-".to_owned(), |flat| {
                format!("{:.1} %", 100.0 * flat.median_ns / kogge.median_ns)
            });
            write!(out, " {flat:>8}")?;
        }
        for (name, width) in peers.iter().zip(&widths) {
            let ratio = cell
                .series
                .iter()
                .find(|series| series.name == *name)
                .map_or("-".to_owned(), |peer| format!("{:.2}", peer.median_ns / kogge.median_ns));
            write!(out, "  {ratio:>width$}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Bytes in the largest unit that divides them.
fn bytes(bytes: usize) -> String {
    match bytes {
        _ if bytes > 0 && bytes.is_multiple_of(1 << 30) => format!("{} GiB", bytes >> 30),
        _ if bytes > 0 && bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes > 0 && bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} B"),
    }
}

fn head(out: &mut String, cell: &Cell) -> fmt::Result {
    let mode = match cell.mode {
        Mode::Into => "into another buffer",
        Mode::InPlace => "in place",
    };
    writeln!(out, "\n{}, {mode}", cell.dtype)?;
    writeln!(
        out,
        "{:>6} {:>11} {:>7} {:>6} {:>8} {:>7}  {:32} {:>6}  {:34} {:>6}  {:>9}",
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
        "word, ns",
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
        "{:>6} {:>11} {:>7.1} {:>6.1} {:>8} {:>7}  {:32} {:>6}  {:34} {:>6}  {:>9}",
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
        cell.word_ns.map_or("-".to_owned(), |[before, after]| format!("{before:.0}, {after:.0}")),
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
