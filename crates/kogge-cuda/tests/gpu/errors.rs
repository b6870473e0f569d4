//! Errors are errors, whatever happened before.

use crate::devices::{CAPTURE, device};
use kogge_core::ops::Sum;
use kogge_core::{Direction, Kind};
use kogge_cuda::{Device, Error, Init};

/// A wild address ends a process's context: every later call says so, and nothing panics.
#[test]
fn a_lost_context_is_an_error() {
    const CHILD: &str = "KOGGE_TEST_LOSES_CONTEXT";
    if std::env::var_os(CHILD).is_none() {
        let program = std::env::current_exe().expect("this program");
        let child = std::process::Command::new(program)
            .args(["--exact", "errors::a_lost_context_is_an_error", "--nocapture"])
            .env(CHILD, "1")
            .output()
            .expect("this program again");
        let said = String::from_utf8_lossy(&child.stdout);
        assert!(child.status.success() && said.contains("the context was lost"), "{child:?}");
        return;
    }
    let device = device();
    let mut workspace = device.workspace().expect("a workspace");
    let prepare =
        |n| device.prepare::<f32, f32, f32, _>(&Sum, Kind::Inclusive, Direction::Forward, n);
    let scan = prepare(1000).expect("a kernel");
    // SAFETY: none; the addresses are wild on purpose, in a process of their own.
    let launched = unsafe { scan.run(&mut workspace, 1 << 40, 1 << 41, Init::None, None) };
    launched.expect("a launch that fails later");
    let lost = |result: Result<(), Error>| {
        assert!(matches!(result, Err(Error::ContextLost(_))), "{result:?}")
    };
    lost(workspace.stream().synchronize().map_err(Error::from));
    lost(scan.run_host(&mut workspace, &[1.0; 1000], &mut [0.0; 1000], None).map(drop));
    lost(workspace.reserve(1 << 30));
    lost(prepare(1 << 20).map(drop));
    drop((scan, workspace));
    println!("the context was lost");
}

#[test]
fn errors_are_errors() {
    let _shared = CAPTURE.read();
    assert!(matches!(Device::open(999), Err(Error::NoDevice { ordinal: 999, .. })));
    let mut workspace = device().workspace().expect("a workspace");
    assert!(matches!(workspace.reserve(1 << 46), Err(Error::OutOfMemory(_))));
    workspace.reserve(1 << 10).expect("a workspace is of use after a failure");
    let endless =
        device().prepare::<u8, u8, u8, _>(&Endless, Kind::Inclusive, Direction::Forward, 100);
    assert!(matches!(endless, Err(Error::Operator(_))));
}

#[kogge_core::operator(identity = 0)]
fn Endless(left: u8, right: u8) -> u8 {
    there(left, right)
}
#[kogge_core::device]
fn there(left: u8, right: u8) -> u8 {
    back(left, right)
}
#[kogge_core::device]
fn back(left: u8, right: u8) -> u8 {
    there(left, right)
}
