//! Signals: nothing is left behind, and the code says which.

use crate::common::{Place, dispose};
use crate::place;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A scan of its standard input that has begun to write y.npy. What it does about signals is
/// `start`.
fn writing(place: &Place, start: libc::sighandler_t) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kogge"));
    command.current_dir(place.directory.path());
    command.args(["scan", "-", "--input-format", "raw", "--dtype", "f32", "-o", "y.npy"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    dispose(&mut command, start);
    let mut child = command.spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(&[0; 1 << 16]).unwrap();
    let patience = Instant::now();
    while !place.names().iter().any(|name| name.ends_with(".partial")) {
        assert!(patience.elapsed() < Duration::from_secs(20), "there is no partial output");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

fn send(signal: &str, child: &Child) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
}

#[test]
fn signals_leave_nothing_behind() {
    let interrupted = (130, "interrupted\n");
    for (signal, (code, says)) in [
        ("-INT", interrupted),
        ("-TERM", interrupted),
        ("-HUP", interrupted),
        ("-QUIT", (131, "quit\n")),
    ] {
        let place = place();
        let mut child = writing(&place, libc::SIG_DFL);
        let stdin = child.stdin.take().unwrap();
        send(signal, &child);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{signal}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), says);
        assert_eq!(place.names(), ["x.csv", "x.npy"], "{signal}");
        drop(stdin);
    }
}

/// As `nohup` has it.
#[test]
fn ignored_signals_stay_ignored() {
    let place = place();
    let child = writing(&place, libc::SIG_IGN);
    for signal in ["-HUP", "-INT", "-QUIT", "-TERM"] {
        send(signal, &child);
    }
    // Time for a handler, if there were one, to end the process.
    std::thread::sleep(Duration::from_millis(50));
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &[][..]));
    assert_eq!(place.names(), ["x.csv", "x.npy", "y.npy"]);
}

/// As when a terminal is closed.
#[test]
fn a_signal_ends_a_scan_whose_errors_nobody_reads() {
    let place = place();
    let mut child = writing(&place, libc::SIG_DFL);
    drop(child.stderr.take());
    send("-HUP", &child);
    let patience = Instant::now();
    while child.try_wait().unwrap().is_none() && patience.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let ended = child.try_wait().unwrap();
    drop(child.stdin.take());
    child.wait().unwrap();
    assert_eq!(ended.and_then(|status| status.code()), Some(130));
    assert_eq!(place.names(), ["x.csv", "x.npy"]);
}
