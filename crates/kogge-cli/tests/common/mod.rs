//! What the end-to-end tests share: a directory to work in, the command, and `.npy` files made and
//! read by code that is not the command's.
#![allow(dead_code, reason = "every test uses a part of it")]

use assert_cmd::Command;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

/// What a process does about signals that end it is `start`, whatever the tests' own process was
/// started with.
#[cfg(unix)]
pub fn dispose(command: &mut std::process::Command, start: libc::sighandler_t) {
    use std::os::unix::process::CommandExt;
    let disposed = move || {
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM] {
            // SAFETY: no handler is set, only what the system itself does.
            unsafe { libc::signal(signal, start) };
        }
        Ok(())
    };
    // SAFETY: signal() may be called between fork and exec.
    unsafe { command.pre_exec(disposed) };
}

/// A directory of one test, and the command run in it.
pub struct Place {
    pub directory: TempDir,
}

impl Place {
    pub fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, contents).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    /// `kogge scan` with arguments split at spaces.
    pub fn scan(&self, arguments: &str) -> Command {
        let mut command = kogge();
        command.current_dir(self.directory.path()).arg("scan").args(arguments.split_whitespace());
        command
    }

    /// What a successful scan prints.
    pub fn stdout(&self, arguments: &str) -> String {
        let output = self.scan(arguments).output().unwrap();
        succeeded(&output);
        String::from_utf8(output.stdout).unwrap()
    }

    /// The last column of the text that a successful scan prints, without its name.
    pub fn last_column(&self, arguments: &str) -> Vec<String> {
        last_cells(&self.stdout(arguments))
    }

    /// The same by buffers of so many bytes, or of the usual length where it is empty.
    pub fn last_column_by(&self, buffer: &str, arguments: &str) -> Vec<String> {
        let output = self.scan(arguments).env("KOGGE_BUFFER", buffer).output().unwrap();
        succeeded(&output);
        last_cells(&String::from_utf8(output.stdout).unwrap())
    }

    /// Every file in the directory, by name.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.directory.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Checks that a scan fails with this code, says all of this once, and leaves no file behind.
    pub fn fails(&self, arguments: &str, code: i32, says: &[&str]) {
        let before = self.names();
        let output = self.scan(arguments).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments}: {stderr}");
        for says in says {
            assert!(stderr.contains(says), "{arguments}: {stderr}");
        }
        let errors = stderr.lines().filter(|line| line.starts_with("error:")).count();
        assert_eq!(errors, 1, "{arguments}: {stderr}");
        assert_eq!(self.names(), before, "{arguments} left files behind");
    }
}

pub fn kogge() -> Command {
    Command::new(env!("CARGO_BIN_EXE_kogge"))
}

fn last_cells(table: &str) -> Vec<String> {
    table.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().to_owned()).collect()
}

pub fn succeeded(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The root of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file of the shared data; `None`, said aloud, where it is absent. `KOGGE_SHARED` names the
/// directory, which is beside the workspace otherwise.
pub fn shared(name: &str) -> Option<PathBuf> {
    let directory =
        std::env::var_os("KOGGE_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    let path = directory.join("data").join(name);
    if path.exists() {
        return Some(path);
    }
    // Not by a macro, whose output the test harness swallows.
    let _ = writeln!(std::io::stderr(), "SKIPPED: there is no {}", path.display());
    None
}

/// A `.npy` file of version 1.
pub fn npy(descr: &str, fortran: bool, shape: &[usize], data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let shape: String = shape.iter().map(|axis| format!("{axis},")).collect();
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({shape}), }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(data);
    file
}

/// The header text and the elements of a `.npy` file of version 1.
pub fn split_npy(file: &[u8]) -> (String, Vec<u8>) {
    assert_eq!(&file[..8], b"\x93NUMPY\x01\x00");
    let end = 10 + u16::from_le_bytes([file[8], file[9]]) as usize;
    assert_eq!(end % 64, 0);
    (String::from_utf8(file[10..end].to_vec()).unwrap(), file[end..].to_vec())
}

/// The elements of a `.npy` file with this header.
pub fn elements<T: bytemuck::Pod>(file: &[u8], descr: &str) -> Vec<T> {
    let (header, data) = split_npy(file);
    assert!(header.contains(&format!("'{descr}'")), "{header}");
    bytemuck::pod_collect_to_vec(&data)
}

/// Numbers without a pattern, the same every time.
pub fn noise(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.25
        })
        .collect()
}
