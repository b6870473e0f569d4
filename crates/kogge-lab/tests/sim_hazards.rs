//! The detectors: each hazard found where it is, and nothing where there is none.

mod support;

use kogge_lab::{
    AccessKind, ArrayInit, FindingKind as F, Launch, Options, Order, Program, ScalarType, Schedule,
    Script, Step, explore, run,
};
use support::{Case, exclusive, inclusive, input, ints, kinds, line_of};

const KOGGE_STONE: &str = r"
__global__ void scan(int *x, int n) {
    extern __shared__ int s[];
    int t = threadIdx.x;
    s[t] = x[t];
    for (int stride = 1; stride < n; stride *= 2) {
        __syncthreads(); // first
        int v = s[t];
        if (t >= stride) v += s[t - stride]; // read
        __syncthreads(); // second
        s[t] = v; // write
    }
    x[t] = s[t];
}";

fn kogge_stone(source: &str, n: u32) -> Case {
    Case::new(source, "scan", 1, n)
        .value("x", input(n as usize))
        .value("n", n as i32)
        .launch(|l| l.shared_bytes = n * 4)
}

#[test]
fn kogge_stone_is_clean_and_counts_its_work() {
    for n in [1u32, 2, 32, 33, 64, 100, 256] {
        let case = kogge_stone(KOGGE_STONE, n);
        assert_eq!(ints(&case.clean("x")), inclusive(&input(n as usize)));
    }
    let report = kogge_stone(KOGGE_STONE, 64).run();
    assert_eq!(report.work(), 64 * 6 - 63);
    assert_eq!(report.steps(), 6);
    assert_eq!(report.counts.barriers, 12);
}

#[test]
fn a_dropped_barrier_is_a_race_with_both_accesses() {
    for (mark, lines) in
        [("// second", ("// read", "// write")), ("// first", ("// write", "// read"))]
    {
        let source: String = KOGGE_STONE
            .lines()
            .map(|l| if l.contains(mark) { "\n".to_owned() } else { format!("{l}\n") })
            .collect();
        let report = kogge_stone(&source, 64).run();
        let races: Vec<_> = report.of_kind(F::Race).collect();
        assert!(!races.is_empty(), "{mark}");
        let wanted = (line_of(&source, lines.0), line_of(&source, lines.1));
        let found = races.iter().any(|f| {
            let [a, b] = &f.accesses[..] else { panic!("{f:?}") };
            assert_ne!(a.thread, b.thread);
            (a.line, b.line) == wanted || (b.line, a.line) == wanted
        });
        assert!(found, "{mark}: {races:#?}");
    }
}

#[test]
fn racing_results_depend_on_the_schedule() {
    let source = "__global__ void k(int *x) { int t = threadIdx.x; int left = t > 0 ? x[t - 1] : 0; x[t] = x[t] + left; }";
    let case = Case::new(source, "k", 1, 64).value("x", input(64));
    let report = explore(&case.program(), &case.script, &case.options, 8, 5).unwrap();
    assert_eq!(report.schedules, 8);
    let finding = report.of_kind(F::ScheduleDependent).next().expect("results differ");
    assert!(report.of_kind(F::Race).next().is_some());
    // The schedule named shows it again, and always the same.
    let replay = |schedule: Schedule| {
        let options = Options { schedule, ..case.options.clone() };
        run(&case.program(), &case.script, &options).unwrap()
    };
    let again = replay(finding.schedule);
    assert_ne!(again.arrays["x"], report.arrays["x"]);
    assert_eq!(again, replay(finding.schedule));
}

#[test]
fn two_blocks_that_write_one_word_race() {
    let source = "__global__ void k(int *x) { if (threadIdx.x == 0) x[0] = blockIdx.x; }";
    let report = Case::new(source, "k", 2, 32).value("x", vec![0i32]).run();
    assert_eq!(kinds(&report), [F::Race]);
    let f = &report.findings[0];
    assert_ne!(f.accesses[0].block, f.accesses[1].block);
    assert_eq!(f.location.as_ref().unwrap().array, "x");
    // Two launches in a row are ordered.
    let source = "__global__ void k(int *x) { if (threadIdx.x == 0) x[0] += 1; }";
    let mut case = Case::new(source, "k", 1, 32).value("x", vec![0i32]);
    case.script = case.script.launch(Launch::new("k", 1, 32));
    assert_eq!(ints(&case.clean("x")), [2]);
}

#[test]
fn readers_of_two_blocks_are_remembered() {
    // The writer has synchronised with nobody: it races with the readers,
    // though one of them is itself.
    let source = "__global__ void k(int *x, int *y) { y[blockIdx.x * 32 + threadIdx.x] = x[0]; __syncthreads(); if (blockIdx.x == 2 && threadIdx.x == 0) x[0] = 1; }";
    let report =
        Case::new(source, "k", 3, 32).value("x", vec![0i32]).value("y", vec![0i32; 96]).run();
    assert_eq!(kinds(&report), [F::Race]);
}

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
fn atomics_do_not_race_with_each_other() {
    let source = "__global__ void k(int *x) { atomicAdd(&x[threadIdx.x % 4], 1); }";
    let case = Case::new(source, "k", 4, 64).value("x", vec![0i32; 4]);
    assert_eq!(ints(&case.clean("x")), [64; 4]);
    let source =
        "__global__ void k(int *x) { if (threadIdx.x) atomicAdd(&x[0], 1); else x[0] = 5; }";
    let report = Case::new(source, "k", 1, 64).value("x", vec![0i32]).run();
    let f = report.of_kind(F::Race).next().unwrap();
    assert!(f.accesses.iter().any(|a| a.kind == AccessKind::Atomic));
}

#[test]
fn narrow_neighbours_do_not_race() {
    let source = "__global__ void k(char *x) { x[threadIdx.x] = threadIdx.x; }";
    let report = Case::new(source, "k", 1, 64).value("x", vec![0i8; 64]).run();
    assert!(report.is_clean(), "{:?}", report.findings);
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
}

#[test]
fn a_barrier_that_half_a_warp_cannot_reach_is_a_deadlock() {
    let source = "__global__ void k(int *x) { if (threadIdx.x < 16) __syncthreads(); else __syncwarp(); x[threadIdx.x] = 1; }";
    let report = Case::new(source, "k", 1, 32).value("x", vec![0i32; 32]).run();
    assert_eq!(kinds(&report), [F::Deadlock]);
    assert!(report.findings[0].accesses.len() >= 2);
}

#[test]
fn bounds_alignment_and_unwritten_memory() {
    let source = "__global__ void k(int *x, float *y) {\n x[threadIdx.x + 1] = 0; // past\n }";
    let case = |source: &str| {
        Case::new(source, "k", 1, 32).value("x", vec![1i32; 32]).value("y", vec![1f32; 32])
    };
    let report = case(source).run();
    assert_eq!(kinds(&report), [F::OutOfBounds]);
    let f = &report.findings[0];
    assert_eq!((f.line, f.location.as_ref().unwrap().index), (2, 32));
    assert_eq!(f.accesses[0].thread, [31, 0, 0]);

    let source = "__global__ void k(int *x, float *y) { __shared__ int s[8]; s[(int)threadIdx.x - 1] = x[0]; }";
    let f = case(source).run().findings.remove(0);
    assert_eq!((f.kind, f.location.unwrap().index), (F::OutOfBounds, -1));

    let source = "__global__ void k(int *x, float *y) { int a[4]; a[0] = 1; y[0] = *(float *)((char *)x + 2); x[1] = a[threadIdx.x & 3 ? 0 : 2]; }";
    let report =
        Case::new(source, "k", 1, 1).value("x", vec![1i32; 32]).value("y", vec![1f32; 32]).run();
    assert_eq!(kinds(&report), [F::Misaligned, F::Uninitialised]);

    let source = "__global__ void k(int *x, float *y) { __shared__ int s[64]; s[threadIdx.x] = 1; __syncthreads(); x[threadIdx.x] = s[threadIdx.x + 32]; }";
    let f = case(source).run().findings.remove(0);
    assert_eq!((f.kind, f.location.unwrap().array.as_str()), (F::Uninitialised, "s"));

    let source = "__global__ void k(int *x, float *y) { int v; if (threadIdx.x > 3) v = 1; x[threadIdx.x] = v; }";
    assert_eq!(kinds(&case(source).run()), [F::Uninitialised]);
    let source = "__global__ void k(int *x, float *y) { int v; if (threadIdx.x > 3) v = 1; if (threadIdx.x > 3) x[threadIdx.x] = v; }";
    assert!(case(source).run().is_clean());

    let source = "__global__ void k(int *x) { x[0] += 1; }";
    let report =
        Case::new(source, "k", 1, 1).value("x", ArrayInit::Uninitialised(ScalarType::I32, 1)).run();
    assert_eq!(kinds(&report), [F::Uninitialised]);
    let source = "__global__ void k(int *x) { int *p = 0; p[0] = 1; x[0] = 1; }";
    assert_eq!(kinds(&Case::new(source, "k", 1, 1).value("x", vec![0i32]).run()), [F::OutOfBounds]);
}

const DOMINO: &str = r"
__device__ int started;
__global__ void domino(int *x, volatile int *ready, int *sums) {
    __shared__ int id;
    if (threadIdx.x == 0) id = BLOCK_ID;
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = x[id];
        if (id > 0) {
            while (ready[id - 1] == 0) { } // spin
            __threadfence();
            sum += sums[id - 1];
        }
        sums[id] = sum;
        __threadfence();
        ready[id] = 1;
    }
}";

fn domino(id: &str, blocks: u32) -> Case {
    Case::new(&DOMINO.replace("BLOCK_ID", id), "domino", blocks, 32)
        .value("x", input(blocks as usize))
        .value("ready", vec![0i32; blocks as usize])
        .value("sums", vec![0i32; blocks as usize])
}

#[test]
fn static_ids_deadlock_when_blocks_start_backwards() {
    let case = domino("blockIdx.x", 8).options(|o| {
        o.resident_blocks = 2;
        o.block_order = Order::Reverse;
    });
    for schedule in support::schedules() {
        let options = Options { schedule, ..case.options.clone() };
        let report = run(&case.program(), &case.script, &options).unwrap();
        assert_eq!(kinds(&report), [F::Deadlock], "{schedule}");
        let f = &report.findings[0];
        assert_eq!(f.line, line_of(DOMINO, "// spin"));
        assert!(f.message.contains("ready["), "{}", f.message);
        assert!(f.message.contains("6 blocks"), "{}", f.message);
    }
    // With every block resident, or blocks started in order, all is well.
    assert_eq!(ints(&domino("blockIdx.x", 8).clean("sums")), inclusive(&input(8)));
}

#[test]
fn dynamic_ids_never_deadlock() {
    for order in [Order::Forward, Order::Reverse, Order::Random] {
        for resident in [1, 2, 3, 8] {
            let case = domino("atomicAdd(&started, 1)", 8).options(|o| {
                o.resident_blocks = resident;
                o.block_order = order;
            });
            assert_eq!(ints(&case.clean("sums")), inclusive(&input(8)));
        }
    }
}

#[test]
fn spinning_on_a_resident_block_is_a_livelock() {
    let source = "__global__ void k(volatile int *x) {\n while (x[0] == 0) { } // spin\n }";
    let report = Case::new(source, "k", 2, 32).value("x", vec![0i32]).run();
    assert_eq!(kinds(&report), [F::Livelock]);
    assert_eq!(report.findings[0].line, 2);
    // Within one warp: a lane waits for one that runs later.
    let source = "__global__ void k(volatile int *x) { if (threadIdx.x == 1) while (x[0] == 0) { } else if (threadIdx.x == 0) x[0] = 1; }";
    let case = Case::new(source, "k", 1, 32).value("x", vec![0i32]);
    assert_eq!(ints(&case.clean("x")), [1]);
    let source = "__global__ void k(int *x) { while (true) { } }";
    assert_eq!(kinds(&Case::new(source, "k", 1, 1).value("x", vec![0i32]).run()), [F::Livelock]);
}

#[test]
fn endless_work_meets_the_budget() {
    let source = "__global__ void k(int *x) { for (unsigned i = 0; ; i++) x[0] = i; }";
    let case = Case::new(source, "k", 1, 1)
        .value("x", vec![0i32])
        .options(|o| o.budget.instructions = 100_000);
    assert_eq!(kinds(&case.run()), [F::Budget]);
}

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
fn bank_conflicts_and_transactions_are_counted() {
    let source = |stride: u32| {
        format!(
            "__global__ void k(int *x) {{ __shared__ int s[1024]; s[threadIdx.x * {stride}] = 1; x[threadIdx.x * {stride}] = 1; }}"
        )
    };
    let counts =
        |stride| Case::new(&source(stride), "k", 1, 32).value("x", vec![0i32; 1024]).run().counts;
    assert_eq!((counts(1).bank_conflicts, counts(1).global_transactions), (0, 4));
    assert_eq!((counts(2).bank_conflicts, counts(2).global_transactions), (1, 8));
    assert_eq!((counts(32).bank_conflicts, counts(32).global_transactions), (31, 32));
    assert_eq!((counts(31).bank_conflicts, counts(32).ideal_transactions), (0, 4));
    let broadcast = "__global__ void k(int *x) { __shared__ int s[4]; if (threadIdx.x == 0) s[0] = 1; __syncthreads(); x[threadIdx.x] = s[0]; }";
    assert_eq!(
        Case::new(broadcast, "k", 1, 32).value("x", vec![0i32; 32]).run().counts.bank_conflicts,
        0
    );
}

#[test]
fn divergence_is_counted() {
    let source = |condition: &str| {
        format!(
            "__global__ void k(int *x) {{ if ({condition}) x[threadIdx.x] = x[threadIdx.x] * 2; }}"
        )
    };
    let count = |condition| {
        Case::new(&source(condition), "k", 1, 64)
            .value("x", vec![1i32; 64])
            .run()
            .counts
            .divergent_branches
    };
    assert_eq!(count("threadIdx.x < 32"), 0);
    assert_eq!(count("threadIdx.x % 2"), 2);
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
    let _ = exclusive(&[]);
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

const BY_REFERENCE: &str = r"
struct Map { int a, b; };
__device__ Map combine(const Map& first, const Map& second) { // operator
    Map both;
    both.a = first.a * second.a;
    both.b = second.a * first.b + second.b;
    return both;
}
__device__ void step(Map *s, int t, int d) {
    Map v = s[t];
    if (t >= d) v = combine(s[t - d], s[t]); // applies
    s[t] = v; // writes
}
__global__ void scan(Map *x, int n) {
    __shared__ Map s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    for (int d = 1; d < n; d *= 2) {
        __syncthreads();
        step(s, t, d); // calls
    }
    x[t] = s[t];
}";

#[test]
fn a_race_within_the_operator_is_told_where_it_is_applied() {
    let report =
        Case::new(BY_REFERENCE, "scan", 1, 64).value("x", vec![1i32; 128]).value("n", 64).run();
    assert_eq!(kinds(&report), [F::Race]);
    let line = |mark| line_of(BY_REFERENCE, mark);
    for f in &report.findings {
        let lines: Vec<u32> = f.accesses.iter().map(|a| a.line).collect();
        assert!(lines.contains(&line("// writes")), "{f:?}");
        assert!(lines.contains(&line("// applies")), "{f:?}");
        let called = format!("line {}, called from line {}", f.line, line("// calls"));
        assert!(f.message.contains(&called), "{called}: {}", f.message);
    }
}

/// A plain access of block 0 and a strong one of block 1 to one word, in either order: each half of
/// the detector by itself.
#[test]
fn plain_and_strong_accesses_race_in_either_order() {
    for (plain, strong) in [
        ("x[0] = 1;", "atomicAdd(x, 1);"),
        ("x[0] = 1;", "*(volatile int *)x = 1;"),
        ("x[0] = 1;", "y[1] = *(volatile int *)x;"),
        ("y[0] = x[0];", "atomicAdd(x, 1);"),
        ("y[0] = x[0];", "*(volatile int *)x = 1;"),
    ] {
        let source = format!(
            "__global__ void k(int *x, int *y) {{ if (blockIdx.x == 0) {{ {plain} }} else {{ {strong} }} }}"
        );
        for (schedule, earlier) in [(Schedule::FORWARD, 0), (Schedule::REVERSE, 1)] {
            let case = Case::new(&source, "k", 2, 1)
                .value("x", vec![0i32])
                .value("y", vec![0i32; 2])
                .options(|o| o.schedule = schedule);
            let report = case.run();
            assert_eq!(kinds(&report), [F::Race], "{plain} {strong} {schedule}");
            assert_eq!(report.findings[0].accesses[0].block[0], earlier, "{plain} {strong}");
        }
    }
    // Two reads, one of them strong, are no race.
    let source = "__global__ void k(int *x, int *y) { y[blockIdx.x] = blockIdx.x == 0 ? x[0] : *(volatile int *)x; }";
    let case = Case::new(source, "k", 2, 1).value("x", vec![0i32]).value("y", vec![0i32; 2]);
    assert_eq!(ints(&case.clean("y")), [0, 0]);
}

/// Of many readers only two lie beside the word; the writer has synchronised with those.
#[test]
fn a_third_reader_is_remembered() {
    let source = |waits_for: u32| {
        format!(
            "__device__ volatile int done[3];
             __global__ void k(int *x, int *y) {{
                 int b = blockIdx.x;
                 if (b < 3) {{ y[b] = x[0]; __threadfence(); done[b] = 1; }}
                 else {{ for (int i = 0; i < {waits_for}; i++) while (done[i] == 0); __threadfence(); x[0] = 1; }}
             }}"
        )
    };
    let run = |waits_for| {
        Case::new(&source(waits_for), "k", 4, 1)
            .value("x", vec![0i32])
            .value("y", vec![0i32; 3])
            .run()
    };
    assert!(run(3).is_clean(), "{:#?}", run(3).findings);
    let report = run(2);
    assert_eq!(kinds(&report), [F::Race]);
    assert_eq!(report.findings[0].accesses[0].block, [2, 0, 0]);
}

#[test]
fn an_atomic_on_what_nobody_wrote_reads_it() {
    let source = "__global__ void k(int *x) { __shared__ int s; atomicAdd(&s, 1); x[0] = 1; }";
    let report = Case::new(source, "k", 1, 1).value("x", vec![0i32]).run();
    assert_eq!(kinds(&report), [F::Uninitialised]);
    let exchanged = source.replace("atomicAdd(&s, 1)", "atomicExch(&s, 1)");
    assert!(Case::new(&exchanged, "k", 1, 1).value("x", vec![0i32]).run().is_clean());
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
fn a_division_by_zero_is_a_trap() {
    let source = |operator: &str| {
        format!("__global__ void k(int *x, int n) {{ x[1] = x[0] {operator} n; }}")
    };
    for operator in ["/", "%"] {
        let run = |n: i32| {
            Case::new(&source(operator), "k", 1, 1).value("x", vec![7i32, 0]).value("n", n).run()
        };
        assert_eq!(kinds(&run(0)), [F::Trap], "{operator}");
        assert!(run(2).is_clean());
    }
}
