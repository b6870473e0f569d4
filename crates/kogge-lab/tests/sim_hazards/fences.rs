//! Fences: what orders a value that one block passes to another, and what doesn't.

use kogge_lab::FindingKind as F;

use crate::support::{Case, ints, kinds};

/// Passing a value from block 0 to block 1 through a flag.
fn flag(write_fence: &str, read_fence: &str, set: &str, get: &str) -> Case {
    let source = format!(
        "__device__ int flag; __global__ void k(int *data, int *out) {{
            if (threadIdx.x != 0) return;
            if (blockIdx.x == 0) {{ data[0] = 42; {write_fence} {set}; }}
            else {{ while ({get} == 0) {{ }} {read_fence} out[0] = data[0]; }}
        }}"
    );
    Case::new(&source, "k", 2, 32).value("data", vec![0i32]).value("out", vec![0i32])
}

const SETS: [&str; 3] =
    ["atomicExch(&flag, 1)", "*(volatile int *)&flag = 1", "atomicAdd(&flag, 1)"];

const GETS: [&str; 3] = ["atomicAdd(&flag, 0)", "*(volatile int *)&flag", "atomicCAS(&flag, 0, 0)"];

#[test]
fn fences_and_flags_order() {
    for set in SETS {
        for get in GETS {
            let out = flag("__threadfence();", "__threadfence();", set, get).clean("out");
            assert_eq!(ints(&out), [42]);
        }
    }
}

#[test]
fn a_dropped_fence_is_a_race() {
    for set in SETS {
        for get in GETS {
            let report = flag("", "__threadfence();", set, get).run();
            assert_eq!(kinds(&report), [F::Race], "{set} {get}");
            // A fence for the block alone does not reach another.
            let report = flag("__threadfence_block();", "__threadfence();", set, get).run();
            assert_eq!(kinds(&report), [F::Race], "{set} {get}");
        }
    }
}

#[test]
fn the_readers_fence_is_asked_for_on_demand() {
    let case = flag("__threadfence();", "", SETS[1], GETS[1]);
    assert!(case.run().is_clean());
    let case = case.options(|o| o.acquire_needs_fence = true);
    assert_eq!(kinds(&case.run()), [F::Race]);
    let case = flag("__threadfence();", "__threadfence();", SETS[1], GETS[1])
        .options(|o| o.acquire_needs_fence = true);
    assert!(case.run().is_clean());
}

#[test]
fn a_plain_flag_is_a_race() {
    let report = flag("__threadfence();", "", "flag = 1", GETS[0]).run();
    assert!(kinds(&report).contains(&F::Race));
}

#[test]
fn what_a_barrier_gathered_a_fence_releases() {
    // All threads write, one thread fences and raises the flag.
    let source = |barrier: &str| {
        format!(
        "__device__ volatile int flag; __global__ void k(int *data, int *out) {{
            int t = threadIdx.x;
            if (blockIdx.x == 0) {{ data[t] = t; {barrier} if (t == 0) {{ __threadfence(); flag = 1; }} }}
            else {{ if (t == 0) {{ while (flag == 0); __threadfence(); }} __syncthreads(); out[t] = data[63 - t]; }}
        }}"
    )
    };
    let case = |barrier| {
        Case::new(&source(barrier), "k", 2, 64)
            .value("data", vec![0i32; 64])
            .value("out", vec![0i32; 64])
    };
    let expected: Vec<i32> = (0..64).rev().collect();
    assert_eq!(ints(&case("__syncthreads();").clean("out")), expected);
    assert_eq!(kinds(&case("").run()), [F::Race]);
    // Every thread's own fence before the barrier will do as well.
    let source = "__device__ volatile int flag; __global__ void k(int *data, int *out) { int t = threadIdx.x;
        if (blockIdx.x == 0) { data[t] = t; __threadfence(); __syncthreads(); if (t == 0) flag = 1; }
        else { if (t == 0) while (flag == 0); __syncthreads(); out[t] = data[63 - t]; } }";
    let case =
        Case::new(source, "k", 2, 64).value("data", vec![0i32; 64]).value("out", vec![0i32; 64]);
    assert_eq!(ints(&case.clean("out")), expected);
}

#[test]
fn atomics_of_one_block_do_not_reach_another() {
    let set = |set| flag("__threadfence();", "__threadfence();", set, "atomicAdd(&flag, 0)");
    let get = |get| flag("__threadfence();", "__threadfence();", "atomicExch(&flag, 1)", get);
    for case in [
        set("atomicExch_block(&flag, 1)"),
        get("atomicAdd_block(&flag, 0)"),
        flag("__threadfence();", "", "atomicExch_block(&flag, 1)", "atomicAdd_block(&flag, 0)"),
    ] {
        assert_eq!(kinds(&case.run()), [F::Race]);
    }
    assert_eq!(ints(&set("atomicExch_system(&flag, 1)").clean("out")), [42]);
    // Several blocks count in one place; each in its own.
    let count = |index: &str| {
        let source = format!("__global__ void k(int *x) {{ atomicAdd_block(&x[{index}], 1); }}");
        Case::new(&source, "k", 2, 32).value("x", vec![0i32; 2])
    };
    assert_eq!(kinds(&count("0").run()), [F::Race]);
    assert_eq!(ints(&count("blockIdx.x").clean("x")), [32, 32]);
    // Within a block they release as others do.
    let source = "__global__ void k(int *out) { __shared__ int flag, data; if (threadIdx.x == 0) flag = 0; __syncthreads();
        if (threadIdx.x == 0) { data = 7; __threadfence_block(); atomicExch_block(&flag, 1); }
        if (threadIdx.x == 32) { while (atomicAdd_block(&flag, 0) == 0); out[0] = data; } }";
    assert_eq!(ints(&Case::new(source, "k", 1, 64).value("out", vec![0i32]).clean("out")), [7]);
}
