//! Barriers and collectives: whom they order, and threads that are missing there.

use kogge_lab::{FindingKind as F, run};

use crate::support::{Case, input, ints, kinds, line_of, schedules};

#[test]
fn warp_barriers_order_their_lanes_only() {
    let source = |sync: &str| {
        format!(
            "__global__ void k(int *x) {{ __shared__ int s[64]; int t = threadIdx.x; s[t] = x[t]; {sync} x[t] = s[t ^ 1]; }}"
        )
    };
    let case = |sync| Case::new(&source(sync), "k", 1, 64).value("x", input(64));
    let swapped: Vec<i32> = (0..64).map(|i: usize| input(64)[i ^ 1]).collect();
    assert_eq!(ints(&case("__syncwarp();").clean("x")), swapped);
    assert_eq!(kinds(&case("").run()), [F::Race]);
    let far = source("__syncwarp();").replace("t ^ 1", "t ^ 32");
    let report = Case::new(&far, "k", 1, 64).value("x", input(64)).run();
    assert!(kinds(&report).contains(&F::Race));
    // A shuffle is no fence.
    let report = case("__shfl_sync(0xffffffff, t, 0);").run();
    assert_eq!(kinds(&report), [F::Race]);
}

#[test]
fn divergent_barriers() {
    let source = "__global__ void k(int *x) {\n if (threadIdx.x < 16) {\n __syncthreads(); // one\n }\n else {\n __syncthreads(); // two\n }\n x[threadIdx.x] = 1; }";
    let report = Case::new(source, "k", 1, 32).value("x", vec![0i32; 32]).run();
    let f = report.of_kind(F::DivergentBarrier).next().unwrap();
    let lines: Vec<u32> = f.accesses.iter().map(|a| a.line).collect();
    assert_eq!(lines, [line_of(source, "// one"), line_of(source, "// two")]);

    let source = "__global__ void k(int *x, int n) {\n if (threadIdx.x >= n) return; // early\n __syncthreads(); // barrier\n x[threadIdx.x] = 1; }";
    let case = Case::new(source, "k", 1, 64).value("x", vec![0i32; 64]);
    let report = case.value("n", 40).run();
    let f = report.of_kind(F::DivergentBarrier).next().unwrap();
    assert_eq!(f.line, line_of(source, "// barrier"));
    assert_eq!(f.accesses[1].line, line_of(source, "// early"));
    assert!(
        f.message.contains("24 of 64 had left") && f.message.contains("sm_70"),
        "{}",
        f.message
    );
}

#[test]
fn a_barrier_that_half_a_warp_cannot_reach_is_a_deadlock() {
    let source = "__global__ void k(int *x) { if (threadIdx.x < 16) __syncthreads(); else __syncwarp(); x[threadIdx.x] = 1; }";
    let report = Case::new(source, "k", 1, 32).value("x", vec![0i32; 32]).run();
    assert_eq!(kinds(&report), [F::Deadlock]);
    assert!(report.findings[0].accesses.len() >= 2);
}

#[test]
fn a_grid_barrier_that_some_threads_have_passed_by() {
    let source = "#include <cooperative_groups.h>
        __global__ void k(int *x) {
            if (threadIdx.x == 3) return;
            cooperative_groups::this_grid().sync(); // here
            x[blockIdx.x] = 1;
        }";
    let case =
        Case::new(source, "k", 2, 4).value("x", vec![0i32; 2]).launch(|l| l.cooperative = true);
    let report = case.run();
    let found = report.of_kind(F::DivergentBarrier).next().expect("threads are missing");
    assert_eq!(found.line, line_of(source, "// here"));
    assert!(found.message.contains('2'), "{}", found.message);
}

#[test]
fn lanes_that_take_no_part_are_told() {
    let body = |call: &str| {
        format!("__global__ void k(int *x) {{ int t = threadIdx.x; if (t < 4) x[t] = {call}; }}")
    };
    let run = |call| Case::new(&body(call), "k", 1, 32).value("x", vec![0i32; 4]).run();
    assert!(run("__shfl_sync(0xf, t, 3)").is_clean());
    // Lane 5 does not take part.
    assert_eq!(kinds(&run("__shfl_sync(0xf, t, 5)")), [F::InactiveLane]);
    // Lane 3 is not in the mask that it gives.
    assert!(kinds(&run("__shfl_sync(0x7, t, 0)")).contains(&F::InactiveLane));
}

#[test]
fn lanes_meet_from_different_places() {
    // PTX asks for the same instruction with the same mask, not for the same place.
    let source = "__global__ void k(int *x) { __shared__ int s[32]; int t = threadIdx.x; s[t] = t;
        if (t < 16) { __syncwarp(); x[t] = s[31 - t]; } else { __syncwarp(); x[t] = s[31 - t]; } }";
    let case = Case::new(source, "k", 1, 32).value("x", vec![0i32; 32]);
    assert_eq!(ints(&case.clean("x")), (0..32).rev().collect::<Vec<_>>());
    let source = "__device__ int last(int v) { return __shfl_sync(0xffffffffu, v, 31); }
        __global__ void k(int *x) { int t = threadIdx.x, v; if (t % 3) v = last(t) + 1; else v = last(2 * t);
            x[t] = v + (t & 1 ? __popc(__ballot_sync(0xffffffffu, t < 5)) : __popc(__ballot_sync(0xffffffffu, t < 8))); }";
    let case = Case::new(source, "k", 1, 32).value("x", vec![0i32; 32]);
    let votes = (0..32).filter(|t| if t % 2 == 1 { *t < 5 } else { *t < 8 }).count() as i32;
    let expected: Vec<_> = (0..32).map(|t| 31 + i32::from(t % 3 != 0) + votes).collect();
    assert_eq!(ints(&case.clean("x")), expected);
    // Another intrinsic is no partner.
    let source = "__global__ void k(int *x) { int t = threadIdx.x; x[t] = t < 16 ? __shfl_up_sync(0xffffffffu, t, 1) : __shfl_down_sync(0xffffffffu, t, 1); }";
    let case = Case::new(source, "k", 1, 32).value("x", vec![0i32; 32]);
    assert_eq!(kinds(&case.run()), [F::Deadlock]);
}

#[test]
fn lanes_that_have_exited_may_be_named() {
    let source = "__global__ void k(int *x) { int t = threadIdx.x; if (t >= 16) return; x[t] = t; __syncwarp();
        int v = x[15 - t]; __syncwarp(); x[t] = v + READ; }";
    let case = |read: &str, block| {
        Case::new(&source.replace("READ", read), "k", 1, block).value("x", vec![0i32; 32])
    };
    let expected: Vec<i32> = (0..16).rev().chain([0; 16]).collect();
    assert_eq!(ints(&case("0", 32).clean("x")), expected);
    let up = "__shfl_up_sync(0xffffffffu, 0, 1)";
    assert_eq!(ints(&case(up, 32).clean("x")), expected);
    // Lane 15 reads from lane 16; and a block without such a lane names it.
    let down = "__shfl_down_sync(0xffffffffu, 0, 1)";
    assert_eq!(kinds(&case(down, 32).run()), [F::InactiveLane]);
    assert_eq!(kinds(&case("0", 20).run()), [F::InactiveLane]);
}

#[test]
fn lanes_meet_by_the_same_mask_and_once() {
    // Lane 0 names lane 1 too, which names itself alone: whoever waits, nobody goes on twice.
    let source = "__global__ void k(int *x) { int t = threadIdx.x, n = 0;
        __syncwarp(t == 0 ? 3 : 1 << t); n += 1; x[t] += n; __syncthreads(); }";
    let case = Case::new(source, "k", 1, 2).value("x", vec![0i32; 2]);
    for schedule in schedules() {
        let report = run(&case.program(), &case.script, &case.options.under(schedule)).unwrap();
        assert_eq!((kinds(&report), ints(&report.arrays["x"])), (vec![F::Deadlock], vec![0, 1]));
    }
    // Lanes that are in no mask of their own are told, not let go twice.
    let source = "__device__ int combine(int a, int b) { return a + b; }
        __global__ void k(int *x) { int t = threadIdx.x; __syncwarp(t); x[t] = combine(x[t], x[t]); }";
    let case = Case::new(source, "k", 1, 32).value("x", vec![1i32; 32]).options(|o| o.trace = true);
    assert!(!case.run().is_clean());
}

/// The broadcast of the programming guide, and of every atomic that one lane does for its warp.
#[test]
fn a_shuffle_reads_what_the_lane_that_it_names_has_written() {
    let run = |take: &str| {
        let source = format!(
            "namespace cg = cooperative_groups;
            __global__ void k(int *x) {{
                auto tile = cg::tiled_partition<32>(cg::this_thread_block());
                int t = threadIdx.x; int v; if (t == 3) v = 7; // written
                {take} // taken
                x[t] = v;
            }}"
        );
        Case::new(&source, "k", 1, 32).value("x", vec![0i32; 32]).run()
    };
    for take in [
        "v = __shfl_sync(~0u, v, 3);",
        "v = tile.shfl(v, 3);",
        "if (t < 16) v = __shfl_sync(~0u, v, 3); else v = __shfl_sync(~0u, t * 2, 3);",
    ] {
        let report = run(take);
        assert!(report.is_clean(), "{take} {:?}", report.findings);
        assert_eq!(ints(&report.arrays["x"]), [7; 32], "{take}");
    }
    let report = run("v = __shfl_sync(~0u, v, 2);");
    assert_eq!(kinds(&report), [F::Uninitialised]);
    let f = &report.findings[0];
    assert!(f.message.contains("takes `v` from lane 2, which never wrote it"), "{}", f.message);
    assert_eq!((f.line, f.count), (5, 32));
    let report = run("v = __shfl_up_sync(~0u, v, 1) + __shfl_sync(~0u, v, 3);");
    // Lane 0 takes its own, lane 4 that of lane 3.
    assert_eq!((kinds(&report), report.findings[0].count), (vec![F::Uninitialised], 31));
    assert!(report.findings[0].message.contains("reads `v`, which it"), "{report:?}");
    // A tile of the guide's: what its own lane never wrote it has not taken from another.
    let report = run("if (t < 4) v = __shfl_down_sync(0xf, v, t < 3 ? 3 - t : 0);");
    assert!(report.findings.iter().all(|f| f.message.contains("reads `v`")), "{report:?}");
}

#[test]
fn the_width_of_a_shuffle_is_a_power_of_two() {
    let run = |width: &str| {
        let source = format!(
            "__global__ void k(int *x, int n) {{ x[threadIdx.x] = __shfl_up_sync(~0u, (int)threadIdx.x, 1, {width}); }}"
        );
        Case::new(&source, "k", 1, 32).value("x", vec![0i32; 32]).value("n", 3).run()
    };
    for width in ["1", "2", "32", "n + 1"] {
        assert!(run(width).is_clean(), "{width}");
    }
    for width in ["n", "12", "0", "33", "64", "-1"] {
        let report = run(width);
        assert_eq!(kinds(&report), [F::InactiveLane], "{width}");
        assert!(report.findings[0].message.contains("no power of two"), "{width}");
    }
}
