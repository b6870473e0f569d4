//! What isn't there is an error that says so, never a panic: driver, device, compiler.

use kogge_cuda::{Arch, Device, Error, compile, compiler_version};
use std::process::Command;

/// Runs one test of this program again, as a process of its own with a variable set; gives what it
/// said.
fn again(test: &str, name: &str, value: &str) -> String {
    let program = std::env::current_exe().expect("this program");
    let child = Command::new(program)
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, "1")
        .env(name, value)
        .output()
        .expect("this program again");
    assert!(child.status.success(), "{child:?}");
    String::from_utf8_lossy(&child.stdout).into_owned()
}

const CHILD: &str = "KOGGE_TEST_CHILD";

fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

#[test]
fn a_device_opens_or_says_what_is_missing() {
    match Device::open(0) {
        Ok(device) => assert!(device.capability().compute >= (8, 0)),
        Err(error @ Error::NoDriver) => {
            let said = error.to_string();
            assert!(said.contains("libcuda") && said.contains("CPU engine"), "{said}");
        }
        Err(
            Error::NoDevice { .. }
            | Error::DriverTooOld(..)
            | Error::DeviceTooOld(..)
            | Error::Driver(_),
        ) => {}
        Err(error) => panic!("{error:?}"),
    }
}

#[test]
fn a_device_that_is_hidden_is_no_device() {
    if !is_child() {
        let said = again("a_device_that_is_hidden_is_no_device", "CUDA_VISIBLE_DEVICES", "");
        assert!(said.contains("said so"), "{said}");
        return;
    }
    let error = Device::open(0).expect_err("no device to be seen");
    assert!(matches!(error, Error::NoDriver | Error::NoDevice { .. }), "{error:?}");
    println!("said so");
}

#[test]
fn a_compiler_that_is_missing_is_an_error() {
    if !is_child() {
        let test = "a_compiler_that_is_missing_is_an_error";
        let empty = tempfile::tempdir().expect("a folder");
        let missing = [empty.path().join("none.so"), empty.path().to_owned()];
        for path in missing {
            let said = again(test, "KOGGE_NVRTC", path.to_str().expect("a name of letters"));
            assert!(said.contains("said so"), "{said}");
        }
        return;
    }
    assert!(matches!(compiler_version(), Err(Error::NoCompiler)));
    let error = compile("", Arch(90)).expect_err("no compiler");
    assert!(matches!(error, Error::NoCompiler) && error.to_string().contains("KOGGE_NVRTC"));
    println!("said so");
}

/// A library without NVRTC's functions is no NVRTC.
#[test]
#[cfg(target_os = "linux")]
fn another_library_is_no_compiler() {
    if !is_child() {
        let said = again("another_library_is_no_compiler", "KOGGE_NVRTC", "libc.so.6");
        assert!(said.contains("said so"), "{said}");
        return;
    }
    assert!(matches!(compiler_version(), Err(Error::NoCompiler)));
    println!("said so");
}
