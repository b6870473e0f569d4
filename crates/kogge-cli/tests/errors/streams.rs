//! Standard output and standard error that are closed, or that nobody reads.

use crate::common::{self, Place};
use crate::place;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

/// The command with a standard input that stays open.
fn waiting(place: &Place, arguments: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kogge"));
    command.env("KOGGE_BUFFER", "65536");
    command.current_dir(place.directory.path()).arg("scan").args(arguments.split_whitespace());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_standard_output_that_is_closed() {
    let place = place();
    let closed = |arguments: &str| {
        let line = format!("exec \"$0\" scan {arguments} >&-");
        let mut shell = Command::new("sh");
        shell.current_dir(place.directory.path());
        shell.args(["-c", &line, env!("CARGO_BIN_EXE_kogge")]).output().unwrap()
    };
    for arguments in ["x.csv --column precipitation", "x.npy --format npy", "x.npy -o -"] {
        let output = closed(arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(6), "{arguments}: {said}");
        assert!(said.contains("standard output: it is closed"), "{said}");
    }
    common::succeeded(&closed("x.npy -o y.npy"));
    assert!(place.names().contains(&"y.npy".to_owned()));
    // Nothing is done that could not be told.
    let output = closed("x.npy -o z.npy --json");
    assert_eq!(output.status.code(), Some(6));
    assert!(!place.names().contains(&"z.npy".to_owned()));
}

#[cfg(target_os = "linux")]
#[test]
fn whatever_prints_says_that_standard_output_is_closed() {
    for (arguments, code) in [
        ("man", 6),
        ("completions bash", 6),
        ("--help", 6),
        ("--version", 6),
        ("bench", 6),
        ("lab list", 1),
        ("lab show sequential", 1),
        ("lab trace sequential", 1),
        ("lab compare", 1),
    ] {
        let line = format!("exec \"$0\" {arguments} >&-");
        let output = Command::new("sh").args(["-c", &line, env!("CARGO_BIN_EXE_kogge")]).output();
        let output = output.unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments}: {said}");
        assert!(said.contains("it is closed"), "{arguments}: {said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn codes_are_the_same_where_nobody_reads_the_errors() {
    let place = place();
    for (arguments, code) in [
        ("scan none.csv", 3),
        ("scan x.csv --op summ", 2),
        ("lab run none.cu", 1),
        ("bench --size 64 --dtype i32 --no-python --seconds 0 --rounds 1 --threads 1", 0),
        ("--help >/dev/full", 7),
    ] {
        for nobody in ["2>/dev/full", "2>&1 | true"] {
            let line = format!("{{ sleep 0.2; \"$0\" {arguments}; echo $? >code; }} {nobody}");
            let mut shell = Command::new("sh");
            shell.current_dir(place.directory.path());
            shell.args(["-c", &line, env!("CARGO_BIN_EXE_kogge")]).output().unwrap();
            assert_eq!(place.text("code"), format!("{code}\n"), "{arguments} {nobody}");
        }
    }
}

/// It is said on standard error that turns began while a child ran, here one that the shell left.
#[cfg(target_os = "linux")]
#[test]
fn disturbed_turns_are_told_if_anybody_reads_it() {
    let place = place();
    let bench = "bench --size 64 --dtype i32 --no-python --seconds 0 --rounds 1 --threads 1";
    let told = |errors: &str| {
        let line = format!(
            "(while :; do :; done) >/dev/null 2>&1 & echo $! >child; exec \"$0\" {bench} >/dev/null {errors}"
        );
        let mut shell = Command::new("sh");
        shell.current_dir(place.directory.path()).args(["-c", &line, env!("CARGO_BIN_EXE_kogge")]);
        let output = shell.stdout(Stdio::null()).output().unwrap();
        Command::new("kill").arg(place.text("child").trim()).status().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{said}");
        said
    };
    assert!(told("").contains("turns began while other threads ran"));
    assert_eq!(told("2>/dev/full"), "");
}

/// It isn't empty.
#[cfg(target_os = "linux")]
#[test]
fn a_closed_standard_input() {
    let place = place();
    let mut shell = Command::new("sh");
    shell.current_dir(place.directory.path());
    let run =
        shell.args(["-c", "\"$0\" scan - <&-", env!("CARGO_BIN_EXE_kogge")]).output().unwrap();
    let said = String::from_utf8(run.stderr).unwrap();
    assert_eq!(run.status.code(), Some(3), "{said}");
    assert!(said.contains("cannot read standard input: it is closed"), "{said}");
}

/// Under whatever name: a summary would stand among the data.
#[cfg(target_os = "linux")]
#[test]
fn standard_output_by_its_name() {
    let place = place();
    place.fails("x.npy -o /dev/stdout --format csv --json", 2, &["-o FILE"]);
    assert_eq!(place.stdout("x.npy -o /dev/stdout --format csv"), place.stdout("x.npy"));
    let file = fs::File::create(place.path("y.csv")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_kogge"));
    command.current_dir(place.directory.path());
    command.args(["scan", "x.npy", "-o", "/dev/stdout", "--format", "csv"]);
    assert!(command.stdout(file).status().unwrap().success());
    assert_eq!(place.text("y.csv"), place.stdout("x.npy"));
    let nowhere = fs::File::options().write(true).open("/dev/null").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_kogge"));
    command.current_dir(place.directory.path());
    command.args(["scan", "x.npy", "-o", "/dev/null", "--format", "csv", "--json"]);
    assert!(command.stdout(nowhere).status().unwrap().success());
}

/// What is written there comes behind what was, as what a shell writes does.
#[cfg(target_os = "linux")]
#[test]
fn descriptors_by_their_names() {
    let place = place();
    for (name, number) in [("/dev/fd/3", 3), ("/proc/self/fd/3", 3), ("/dev/stderr", 2)] {
        let line = format!(
            "exec {number}>all; echo before >&{number}; \"$0\" scan x.npy -o {name} --format csv; \
             echo after >&{number}"
        );
        let mut shell = Command::new("sh");
        shell.current_dir(place.directory.path());
        shell.args(["-c", &line, env!("CARGO_BIN_EXE_kogge")]).status().unwrap();
        let all = format!("before\n{}after\n", place.stdout("x.npy"));
        assert_eq!(place.text("all"), all, "{name}");
    }
    place.fails("x.npy -o /dev/fd/977 --format csv", 6, &["cannot write '/dev/fd/977'"]);
}

/// From its end a table is read twice: the values of the first reading must not stand beside the
/// rows of another.
#[test]
fn a_table_that_changes_meanwhile() {
    let place = place();
    for more in [true, false] {
        let text = "x\n".to_owned() + &"1\n".repeat(2_000_000);
        let path = place.write("long.csv", &text);
        let mut child = waiting(&place, "long.csv --reverse");
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut String::new()).unwrap();
        // It waits for its reader now, a few pieces into the second reading.
        let mut file = fs::File::options().append(true).open(path).unwrap();
        match more {
            true => file.write_all(b"1\n").unwrap(),
            false => file.set_len(text.len() as u64 - 2).unwrap(),
        }
        stdout.read_to_end(&mut Vec::new()).unwrap();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(3), "{more}: {said}");
        assert!(said.starts_with("error: 'long.csv' has changed while it was read"), "{said}");
    }
}

#[test]
fn a_reader_that_goes_away() {
    let place = place();
    place.write("long.csv", "x\n".to_owned() + &"1\n".repeat(500_000));
    let mut child = waiting(&place, "long.csv");
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    drop(stdout);
    assert_eq!(line, "x,x_sum\n");
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
}
