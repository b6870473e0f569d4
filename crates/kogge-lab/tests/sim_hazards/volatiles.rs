//! Volatile accesses: flags where somebody waits for them, and races where nobody does.

use kogge_lab::{FindingKind as F, Report, Schedule};

use crate::support::{Case, kinds, schedules};

fn run(source: &str, grid: u32, block: u32, schedule: Schedule) -> Report {
    Case::new(source, "k", grid, block)
        .value("x", vec![0i32; 64])
        .value("y", vec![0i32; 64])
        .options(|o| o.schedule = schedule)
        .run()
}

/// Told under every schedule, whichever of the two accesses comes first there.
fn told(source: &str, grid: u32, block: u32) {
    for schedule in schedules() {
        let report = run(source, grid, block, schedule);
        assert_eq!(kinds(&report), [F::Race], "{schedule} {source}");
        let f = &report.findings[0];
        assert!(
            f.message.ends_with("nothing orders the two: `volatile` does not"),
            "{}",
            f.message
        );
    }
}

fn clean(source: &str, grid: u32, block: u32) {
    for schedule in schedules() {
        let report = run(source, grid, block, schedule);
        assert!(report.is_clean(), "{schedule} {source} {:?}", report.findings);
    }
}

#[test]
fn volatile_is_no_barrier() {
    let source = |sync: &str| {
        format!(
            "__global__ void k(volatile int *x, int *y) {{
                __shared__ volatile int s[64]; int t = threadIdx.x;
                s[t] = 0; __syncthreads(); s[t] = t + 1; {sync}
                y[t] = s[63 - t];
            }}"
        )
    };
    told(&source(""), 1, 64);
    told(&source("__syncwarp();"), 1, 64);
    told(&source("__threadfence_block();"), 1, 64);
    clean(&source("__syncthreads();"), 1, 64);
    let exchange = "__global__ void k(volatile int *x, int *y) {
        int i = blockIdx.x * 32 + threadIdx.x; x[i] = i + 1; y[i] = x[63 - i]; }";
    told(exchange, 2, 32);
}

#[test]
fn volatile_is_no_atomic() {
    told("__global__ void k(volatile int *x, int *y) { x[0] = x[0] + 1; }", 1, 2);
    told("__global__ void k(volatile int *x, int *y) { x[0] += 1; }", 4, 64);
    told("__global__ void k(volatile int *x, int *y) { x[0] = threadIdx.x; }", 1, 33);
    // Who writes what is there already shows it to nobody.
    clean(
        "__global__ void k(volatile int *x, int *y) { if (y[threadIdx.x] == 0) x[0] = 1; }",
        1,
        64,
    );
}

/// The tail of many a reduction, from when warps ran in lockstep.
#[test]
fn lanes_of_a_warp_are_threads() {
    let source = |sync: &str| {
        format!(
            "__global__ void k(volatile int *x, int *y) {{
                __shared__ volatile int s[64]; int t = threadIdx.x; s[t] = t; __syncthreads();
                if (t < 32) for (int d = 32; d > 0; d /= 2) {{
                    int sum = s[t] + s[t + d]; {sync} if (t < d) s[t] = sum; {sync}
                }}
                if (t == 0) y[0] = s[0];
            }}"
        )
    };
    told(&source(""), 1, 64);
    clean(&source("__syncwarp();"), 1, 64);
}

/// However a loop waits for a value, and also where it is there the first time.
#[test]
fn what_a_loop_waits_for_is_a_flag() {
    for wait in [
        "while (x[0] == 0);",
        "while (!x[0]) { y[2] = 0; }",
        "do { y[2] = 0; } while (x[0] != 7);",
        "for (;;) { int seen = x[0]; if (seen) break; }",
        "bool done = false; while (!done) { if (x[0] == 7) done = true; }",
        "int seen; while (true) { seen = x[0]; if (seen != 0) { y[1] = seen; break; } }",
        "while (__any_sync(1, x[0] == 0));",
        "int n = 0; while (n < 1000000 && x[0] == 0) n++;",
        "for (int i = 0; i < 3; i++) while (look(x) == 0);",
    ] {
        let source = format!(
            "__device__ int look(volatile int *p) {{ return *p & 7; }}
            __global__ void k(volatile int *x, int *y) {{
                if (blockIdx.x == 0) {{ y[0] = 5; __threadfence(); x[0] = 7; }}
                else {{ {wait} y[3] = y[0]; }}
            }}"
        );
        clean(&source, 2, 1);
    }
    // One that goes on to another value for want of this one.
    let window = "__global__ void k(volatile int *x, int *y) {
        int b = blockIdx.x; x[b] = b + 1;
        if (b == 3) { int at = 2; while (at >= 0 && x[at] == 0) at--; y[0] = 1; }
    }";
    clean(window, 4, 1);
    // This one's end depends on no value.
    let source = "__global__ void k(volatile int *x, int *y) {
        int b = blockIdx.x; x[b] = b + 1;
        if (b == 3) for (int at = 2; at >= 0; at--) y[0] += x[at]; }";
    told(source, 4, 1);
}

#[test]
fn a_race_is_counted_and_has_both_places() {
    let source = "__global__ void k(volatile int *x, int *y) {
        int t = threadIdx.x;
        x[t] = t + 1; // writes
        y[t] = x[t ^ 1]; // reads
    }";
    let report = run(source, 1, 64, Schedule::FORWARD);
    let f = &report.findings[0];
    assert_eq!((report.findings.len(), f.line, f.count), (1, 4, 64));
    assert_eq!(f.accesses.iter().map(|a| a.line).collect::<Vec<_>>(), [3, 4]);
    assert_eq!(f.location.as_ref().unwrap().array, "x");
}
