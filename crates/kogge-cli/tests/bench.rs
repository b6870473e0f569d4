//! `kogge bench`, as one meets it on the command line. Nothing here is about speed.

use std::path::Path;
use std::process::{Command, Output};

fn bench(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kogge")).arg("bench").args(args).output().expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const QUICK: [&str; 6] = ["--seconds", "0", "--rounds", "1", "--threads", "1"];

#[test]
fn a_record_gives_the_table_again_and_the_plots() {
    let dir = tempfile::tempdir().expect("a folder");
    let record = dir.path().join("record.json");
    let name = record.to_string_lossy().into_owned();
    let args = ["--dtype", "i16,f64", "--size", "1000,4KiB", "--no-python", "--record", &name];
    let output = bench(&[&args[..], &QUICK].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(text(&output.stderr).contains("debug build"), cfg!(debug_assertions));
    let table = text(&output.stdout);
    for word in ["i16", "f64", "1000 B", "4 KiB", "of copy", "sequential Rust loop"] {
        assert!(table.contains(word), "{word}: {table}");
    }
    let json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&record).expect("a record")).expect("JSON");
    let cells = json["runs"][0]["cells"].as_array().expect("cells");
    let lens: Vec<_> = cells.iter().map(|cell| (&cell["dtype"], &cell["len"])).collect();
    let expected = [("i16", 500), ("i16", 2048), ("f64", 125), ("f64", 512)];
    assert_eq!(lens.len(), expected.len());
    for ((dtype, len), (name, count)) in lens.into_iter().zip(expected) {
        assert_eq!((dtype, len), (&name.into(), &count.into()));
    }
    let again = bench(&["table", &name]);
    assert_eq!(text(&again.stdout), table);
    let plots = text(&bench(&["plot", &name]).stdout);
    assert_eq!(plots.lines().count(), 4, "{plots}");
    for line in plots.lines() {
        let start: &[u8] = if line.ends_with("png") { b"\x89PNG" } else { b"<svg" };
        assert!(std::fs::read(Path::new(line)).expect("a plot").starts_with(start), "{line}");
    }
}

/// A Python that is not there, or has no numpy, is named; the rest is measured.
#[test]
fn absent_libraries_are_named() {
    let args = ["--size", "64", "--dtype", "i32", "--python", "/no/such/python"];
    let output = bench(&[&args[..], &QUICK].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text(&output.stdout).contains("absent: numpy, PyTorch, … of /no/such/python"));
}

/// So is a name that was asked for and that nothing has; capitals don't matter.
#[test]
fn names_that_no_contender_has_are_named() {
    let only = "--only SEQUENTIAL,typo".split(' ');
    let args: Vec<_> = "--size 64 --dtype i32 --no-python".split(' ').chain(only).collect();
    let output = bench(&[&args[..], &QUICK].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let table = text(&output.stdout);
    assert!(table.contains("sequential Rust loop"), "{table}");
    assert!(table.contains("absent: typo (--only asks for it"), "{table}");
    assert!(!table.contains("absent: SEQUENTIAL"), "{table}");
}

#[test]
fn what_cannot_be_measured_is_one_error() {
    for (args, code, word) in [
        (vec!["--dtype", "i24"], 2, "i24"),
        (vec!["--size", "7kB"], 2, "kB"),
        (vec!["--seconds", "nan"], 2, "expected 0 to 86400"),
        (vec!["--seconds", "1e30"], 2, "expected 0 to 86400"),
        (vec!["--threads", "0"], 2, "0 is not in 1..=65535"),
        (vec!["--size", "3", "--dtype", "i64", "--no-python"], 5, "3 bytes hold no i64"),
        (vec!["plot", "/no/such/record"], 3, "cannot read '/no/such/record'"),
        (vec!["table", "/no/such/record"], 3, "cannot read '/no/such/record'"),
        (vec!["--cuda", "--device", "99"], 5, "CUDA"),
    ] {
        let output = bench(&args);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {output:?}");
        assert!(text(&output.stderr).contains(word), "{args:?}: {output:?}");
    }
}

/// Nobody waits for a measurement whose record has no place.
#[test]
fn a_record_that_cannot_be_added_to_is_refused_before_anything_is_measured() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    let (none, other, absent) = (path("none.json"), path("other.json"), path("no/such.json"));
    let args = |record: &str| {
        let all = ["--size", "64", "--dtype", "i32", "--no-python", "--record", record];
        [&all[..], &QUICK].concat().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let run = |record: &str| {
        let args = args(record);
        bench(&args.iter().map(String::as_str).collect::<Vec<_>>())
    };
    assert_eq!(run(&other).status.code(), Some(0));
    let cpus =
        std::fs::read_to_string(&other).expect("a record").replace("\"cpus\": ", "\"cpus\": 9");
    std::fs::write(&other, cpus).expect("a file is written");
    std::fs::write(&none, "{\"x\": 1}").expect("a file is written");
    for (record, code, word) in [
        (none.as_str(), 4, "is no record of measurements"),
        (&other, 5, "is of another suite or machine"),
        (&absent, 6, "cannot write"),
        (&path(""), 3, "cannot read"),
        ("-", 2, "--record needs a file"),
    ] {
        let before = std::fs::read(record).ok();
        let output = run(record);
        assert_eq!(output.status.code(), Some(code), "{record}: {output:?}");
        let said = text(&output.stderr);
        assert!(said.contains(word) && !said.contains("measured i32"), "{record}: {said}");
        assert!(output.stdout.is_empty(), "{record}: {output:?}");
        assert_eq!(std::fs::read(record).ok(), before, "{record}");
    }
    assert_eq!(bench(&["table", &none]).status.code(), Some(4));
    assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 2);
}
