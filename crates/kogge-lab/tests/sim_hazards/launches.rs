//! Launches: limits of the device, scripts of several steps, and scripts that are wrong.

use kogge_lab::{FindingKind as F, Launch, Options, Program, Script, Step, run};

use crate::support::{Case, ints, kinds};

#[test]
fn limits_of_the_device() {
    let source = "__global__ void __launch_bounds__(128) k(int *x) { extern __shared__ int s[]; s[threadIdx.x] = 1; x[threadIdx.x] = 1; }";
    let case = || Case::new(source, "k", 1, 32).value("x", vec![0i32; 2048]);
    for (grid, block, shared) in
        [(1, 2048, 0), (1, 32, 50_000), (1, 256, 1024), (0, 32, 128), (1, 0, 0)]
    {
        let report = case()
            .launch(|l| {
                l.grid[0] = grid;
                l.block[0] = block;
                l.shared_bytes = shared;
            })
            .run();
        assert!(kinds(&report).contains(&F::Limit), "{grid} {block} {shared}");
        assert_eq!(ints(&report.arrays["x"]), vec![0; 2048]);
    }
    assert!(case().launch(|l| l.shared_bytes = 128).run().is_clean());
}

const GRID_SYNC: &str = r"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int *x, int *y) {
    cg::grid_group grid = cg::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = i;
    grid.sync();
    y[i] = x[gridDim.x * blockDim.x - 1 - i];
}";

#[test]
fn grid_barriers_need_a_cooperative_launch_that_fits() {
    let case = |cooperative| {
        Case::new(GRID_SYNC, "k", 4, 32)
            .value("x", vec![0i32; 128])
            .value("y", vec![0i32; 128])
            .launch(|l| l.cooperative = cooperative)
    };
    assert_eq!(ints(&case(true).clean("y")), (0..128).rev().collect::<Vec<_>>());
    assert_eq!(kinds(&case(false).run()), [F::Limit]);
    assert_eq!(kinds(&case(true).options(|o| o.resident_blocks = 3).run()), [F::Limit]);
}

#[test]
fn steps_of_the_host_come_in_order() {
    let source = "__global__ void a(int *x) { x[threadIdx.x] += 1; } __global__ void b(int *x, int *y) { y[threadIdx.x] = x[threadIdx.x] * 2; }";
    let program = Program::parse(source, "s.cu", &[]).unwrap();
    let mut script =
        Script::new().value("x", vec![1i32; 4]).value("y", vec![0i32; 4]).value("z", vec![0i32; 4]);
    script.steps = vec![
        Step::Launch(Launch::new("a", 1, 4)),
        Step::Launch(Launch::new("b", 1, 4)),
        Step::Copy { from: "y".into(), to: "z".into() },
        Step::Fill { name: "x".into(), value: 7i32.into() },
        Step::Launch(Launch::new("a", 1, 2)),
    ];
    let report = run(&program, &script, &Options::default()).unwrap();
    assert!(report.is_clean());
    assert_eq!(ints(&report.arrays["z"]), [4; 4]);
    assert_eq!(ints(&report.arrays["x"]), [8, 8, 7, 7]);
    assert_eq!(report.launches.len(), 3);
}

#[test]
fn bad_scripts_are_refused() {
    let program =
        Program::parse("__global__ void k(float *x, int n) { x[0] = n; }", "b.cu", &[]).unwrap();
    let attempt = |script: Script| run(&program, &script, &Options::default()).unwrap_err().message;
    let launch = || Script::new().launch(Launch::new("k", 1, 1));
    assert!(attempt(launch().value("x", vec![0f32])).contains("`n`"));
    assert!(attempt(launch().value("x", vec![0i32]).value("n", 1)).contains("array of int"));
    assert!(
        attempt(launch().value("x", vec![0f32]).value("n", 1).value("typo", 1)).contains("typo")
    );
    assert!(attempt(Script::new().launch(Launch::new("q", 1, 1))).contains("`q`"));
    assert!(attempt(launch().value("x", 3).value("n", 1)).contains("`x`"));
}
