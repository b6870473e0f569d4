//! NVRTC in processes of its own, one for each core: within a process it takes one text at a time,
//! whatever the threads.

use kogge_cuda::{Arch, Compiled, Error};
use std::env;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{self, Child, ChildStdout, Command, Stdio};
use std::sync::Mutex;

/// Set in the processes that compile for others.
const SERVES: &str = "KOGGE_NVRTC_SERVES";

/// What an answer's first line begins with. Before the first answer the harness says what it runs.
const ANSWER: &str = "answer ";

/// As [`kogge_cuda::compile`], in another process.
pub fn compile(text: &str, arch: Arch) -> Result<Compiled, Error> {
    static IDLE: Mutex<Vec<Process>> = Mutex::new(Vec::new());
    let idle = IDLE.lock().expect("no panic beside").pop();
    let mut process = idle.unwrap_or_else(Process::start);
    let (compiled, log, cubin) = process.answer(text, arch).expect("an answer");
    IDLE.lock().expect("no panic beside").push(process);
    match compiled {
        true => Ok(Compiled { cubin, log }),
        false => Err(Error::Compile { arch: arch.to_string(), log }),
    }
}

/// Ends with this one, whose end closes its input.
struct Process {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Process {
    fn start() -> Self {
        let program = env::current_exe().expect("this program");
        let mut child = Command::new(program)
            .args(["--exact", "compiler::serve", "--nocapture"])
            .env(SERVES, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program again");
        let answers = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, answers }
    }

    /// Whether the text compiles, the messages, and the cubin.
    fn answer(&mut self, text: &str, Arch(arch): Arch) -> io::Result<(bool, String, Vec<u8>)> {
        let input = self.child.stdin.as_mut().expect("piped");
        write!(input, "{arch} {}\n{text}", text.len())?;
        input.flush()?;
        let mut line = String::new();
        let sizes = loop {
            line.clear();
            if self.answers.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if let Some(sizes) = line.strip_prefix(ANSWER) {
                break numbers(sizes);
            }
        };
        let [compiled, log_bytes, cubin_bytes] = sizes[..] else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let (mut log, mut cubin) = (vec![0; log_bytes], vec![0; cubin_bytes]);
        self.answers.read_exact(&mut log)?;
        self.answers.read_exact(&mut cubin)?;
        Ok((compiled != 0, String::from_utf8_lossy(&log).into_owned(), cubin))
    }
}

fn numbers(line: &str) -> Vec<usize> {
    line.split_whitespace().filter_map(|number| number.parse().ok()).collect()
}

/// Nothing, but in a process that compiles for others: then it answers until its input ends.
#[test]
fn serve() {
    if env::var_os(SERVES).is_none() {
        return;
    }
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut line = String::new();
    while input.read_line(&mut line).expect("a request") > 0 {
        let &[arch, bytes] = &numbers(&line)[..] else { panic!("{line} is no request") };
        line.clear();
        let mut text = vec![0; bytes];
        input.read_exact(&mut text).expect("a text");
        let text = String::from_utf8(text).expect("a text");
        let (compiled, log, cubin) = match kogge_cuda::compile(&text, Arch(arch as u32)) {
            Ok(Compiled { cubin, log }) => (1, log, cubin),
            Err(Error::Compile { log, .. }) => (0, log, vec![]),
            Err(error) => (0, error.to_string(), vec![]),
        };
        // On a line of its own.
        writeln!(output, "\n{ANSWER}{compiled} {} {}", log.len(), cubin.len()).expect("taken");
        output.write_all(log.as_bytes()).expect("taken");
        output.write_all(&cubin).expect("taken");
        output.flush().expect("taken");
    }
    // What the harness would say, nobody would read.
    process::exit(0);
}
