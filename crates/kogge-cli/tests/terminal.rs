//! What a person sees: a bar on a terminal for work that lasts, taken away at the end.
#![cfg(unix)]

mod common;

use bytemuck::cast_slice;
use common::{Place, dispose, npy};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The two ends of a new terminal: ours and a command's.
fn terminal() -> (File, File) {
    let own = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&own).unwrap();
    unlockpt(&own).unwrap();
    let name = ptsname(&own, Vec::new()).unwrap();
    let name = std::ffi::OsStr::from_bytes(name.as_bytes());
    (File::from(own), File::options().read(true).write(true).open(name).unwrap())
}

/// A command whose errors go to a terminal, and what appears there.
struct Watched {
    child: Child,
    terminal: Receiver<Vec<u8>>,
    seen: String,
}

impl Watched {
    /// `kogge scan` from a pipe.
    fn scan(place: &Place, arguments: &str) -> Self {
        let (own, theirs) = terminal();
        let mut command = Command::new(env!("CARGO_BIN_EXE_kogge"));
        command.current_dir(place.directory.path()).arg("scan").args(arguments.split_whitespace());
        command.env("TERM", "xterm").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(theirs);
        Self::of(command, own)
    }

    /// A command at whose terminal this is the other end.
    fn of(mut command: Command, mut own: File) -> Self {
        dispose(&mut command, libc::SIG_DFL);
        let child = command.spawn().unwrap();
        drop(command);
        let (send, terminal) = channel();
        thread::spawn(move || {
            let mut piece = [0; 4096];
            // The other end's closing is an error here.
            while let Ok(read) = own.read(&mut piece) {
                if read == 0 || send.send(piece[..read].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self { child, terminal, seen: String::new() }
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.child.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// Feeds pieces until the terminal shows this.
    fn feed_until(&mut self, piece: &[u8], shows: &str) {
        let patience = Instant::now();
        while !self.seen.contains(shows) {
            assert!(patience.elapsed() < Duration::from_secs(20), "{shows}: {:?}", self.seen);
            self.feed(piece);
            thread::sleep(Duration::from_millis(50));
            self.see();
        }
    }

    fn see(&mut self) {
        while let Ok(bytes) = self.terminal.try_recv() {
            self.seen += &String::from_utf8_lossy(&bytes);
        }
    }

    /// Waits for the end; the exit code, and what the terminal shows in the end.
    fn end(self) -> (Option<i32>, String) {
        let (code, seen) = self.end_with_all();
        (code, shown(&seen))
    }

    /// The same with all that the terminal has shown.
    fn end_with_all(mut self) -> (Option<i32>, String) {
        drop(self.child.stdin.take());
        let code = self.child.wait().unwrap().code();
        while let Ok(bytes) = self.terminal.recv_timeout(Duration::from_secs(20)) {
            self.seen += &String::from_utf8_lossy(&bytes);
        }
        (code, self.seen)
    }
}

/// What is left on the line of the cursor and the lines before: the bar is taken away by moves to
/// the line's start and erasures.
fn shown(text: &str) -> String {
    let (mut done, mut line) = (String::new(), String::new());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("\u{1b}[2K") {
            (line, rest) = (String::new(), after);
            continue;
        }
        match next {
            '\r' if !rest.starts_with("\r\n") => {}
            '\n' => {
                done += &std::mem::take(&mut line);
                done.push('\n');
            }
            '\r' => {}
            other => line.push(other),
        }
        rest = &rest[next.len_utf8()..];
    }
    done + &line
}

/// One Ctrl-D ends what is typed, fewer bytes than tell its format or more.
#[test]
fn what_is_typed_ends_once() {
    for (typed, sums) in
        [("x\n1\n2\n\u{4}", vec![1, 3]), ("x\n10\n20\n30\n\u{4}", vec![10, 30, 60])]
    {
        let (mut own, theirs) = terminal();
        let mut command = Command::new(env!("CARGO_BIN_EXE_kogge"));
        command.args(["scan", "-", "--input-format", "csv"]);
        command.stdin(theirs).stdout(Stdio::piped()).stderr(Stdio::piped());
        dispose(&mut command, libc::SIG_DFL);
        let mut child = command.spawn().unwrap();
        own.write_all(typed.as_bytes()).unwrap();
        let patience = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if patience.elapsed() > Duration::from_secs(20) {
                child.kill().unwrap();
                panic!("{typed:?} doesn't end");
            }
            thread::sleep(Duration::from_millis(20));
        }
        let output = child.wait_with_output().unwrap();
        common::succeeded(&output);
        let text = String::from_utf8(output.stdout).unwrap();
        let last = text.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse());
        assert_eq!(last.collect::<Result<Vec<i64>, _>>().unwrap(), sums, "{text}");
    }
}

const RAW: &str = "- --input-format raw --dtype f32 -o y.npy";

#[test]
fn a_pipe_without_end_counts_bytes() {
    let place = Place::new();
    let mut watched = Watched::scan(&place, RAW);
    // Pieces of 8 MiB are what moves the bar.
    watched.feed_until(&[0; 8 << 20], "MiB/s");
    let (code, left) = watched.end();
    assert_eq!((code, left.as_str()), (Some(0), ""));
    assert_eq!(place.names(), ["y.npy"]);
}

#[test]
fn a_bar_shows_how_much_is_left() {
    let place = Place::new();
    let mut watched = Watched::scan(&place, "- -o y.npy");
    let header = npy("<f4", false, &[1 << 30], &[]);
    watched.feed(&header);
    watched.feed_until(&[0; 8 << 20], "of 4.00 GiB");
    assert!(watched.seen.contains("left"), "{:?}", watched.seen);
    // And a pipe that ends too early is one error on an empty line.
    let (code, left) = watched.end();
    assert_eq!(code, Some(4));
    assert!(left.starts_with("error: standard input is truncated"), "{left:?}");
    assert_eq!(place.names().len(), 0);
}

#[test]
fn an_interruption_leaves_no_bar() {
    let place = Place::new();
    let mut watched = Watched::scan(&place, RAW);
    watched.feed_until(&[0; 8 << 20], "MiB/s");
    let pid = watched.child.id().to_string();
    // Whoever waits for a child closes its standard input, which would end the scan first.
    let stdin = watched.child.stdin.take();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let code = watched.child.wait().unwrap().code();
    let (_, left) = watched.end();
    assert_eq!((code, left.as_str()), (Some(130), "interrupted\n"));
    drop(stdin);
    assert_eq!(place.names().len(), 0);
}

/// The terminal is given back, however the watching ends.
#[test]
fn a_run_is_watched_until_somebody_ends_it() {
    for end in ["q", "\u{3}", "TERM"] {
        let (own, theirs) = terminal();
        let mut typed = own.try_clone().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_kogge"));
        command.args(["lab", "watch", "sequential"]).env("TERM", "xterm");
        command.stdin(theirs.try_clone().unwrap()).stdout(theirs.try_clone().unwrap());
        let mut watched = Watched::of(
            {
                command.stderr(theirs);
                command
            },
            own,
        );
        let patience = Instant::now();
        while !watched.seen.contains("\u{1b}[?25l") {
            assert!(patience.elapsed() < Duration::from_secs(20), "{:?}", watched.seen);
            thread::sleep(Duration::from_millis(50));
            watched.see();
        }
        if end == "TERM" {
            let pid = watched.child.id().to_string();
            assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        } else {
            typed.write_all(end.as_bytes()).unwrap();
        }
        let (code, seen) = watched.end_with_all();
        assert_eq!(code, Some(if end == "q" { 0 } else { 130 }), "{end:?} {seen:?}");
        assert!(seen.contains("\u{1b}[?1049l"), "{end:?} {seen:?}");
    }
}

#[test]
fn short_work_shows_nothing() {
    let place = Place::new();
    // A busy machine can make any work last: then it may show a bar, and is done once more.
    for _ in 0..20 {
        let started = Instant::now();
        let mut watched = Watched::scan(&place, "- -o y.npy");
        watched.feed(&npy("<f4", false, &[3], cast_slice(&[1f32, 2.0, 3.0])));
        let (code, seen) = watched.end_with_all();
        assert_eq!(code, Some(0));
        if started.elapsed() < Duration::from_millis(500) {
            return assert_eq!(seen, "");
        }
    }
    panic!("no scan of three numbers took less than half a second");
}

#[test]
fn a_terminal_gets_text_only() {
    let place = Place::new();
    place.write("x.npy", npy("<f4", false, &[3], cast_slice(&[1f32, 2.0, 3.0])));
    let own = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&own).unwrap();
    unlockpt(&own).unwrap();
    let name = ptsname(&own, Vec::new()).unwrap().into_string().unwrap();
    place.fails(&format!("x.npy -o {name} --format npy"), 2, &["a terminal shows text only"]);
}
