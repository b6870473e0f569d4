//! Data races: two accesses to one word, one of them a write, and nothing that orders them.

use kogge_lab::{
    AccessKind, FindingKind as F, Launch, Options, Order, Report, Schedule, explore, explore_each,
    run,
};

use crate::support::{Case, inclusive, input, ints, kinds, line_of};

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
        run(&case.program(), &case.script, &case.options.under(schedule)).unwrap()
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

#[test]
fn narrow_neighbours_do_not_race() {
    let source = "__global__ void k(char *x) { x[threadIdx.x] = threadIdx.x; }";
    let report = Case::new(source, "k", 1, 64).value("x", vec![0i8; 64]).run();
    assert!(report.is_clean(), "{:?}", report.findings);
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

#[test]
fn bytes_of_a_word_that_was_a_flag_have_flags_of_their_own() {
    let source = "__global__ void k(int *out) { __shared__ unsigned w[1]; int t = threadIdx.x;
        if (t == 0) w[0] = 0; __syncthreads(); if (t < 2) atomicAdd(&w[0], 1u); __syncthreads();
        unsigned char *bytes = (unsigned char *)w;
        if (t == 32) *(volatile unsigned char *)bytes = 1; if (t == 64) bytes[BYTE] = 2; }";
    let run = |byte: &str| {
        Case::new(&source.replace("BYTE", byte), "k", 1, 96).value("out", vec![0i32]).run()
    };
    assert!(run("1").is_clean());
    assert_eq!(kinds(&run("0")), [F::Race]);
}

#[test]
fn blocks_run_in_the_order_of_the_schedule_however_they_started() {
    let source =
        "__device__ int next; __global__ void k(int *x) { x[blockIdx.x] = atomicAdd(&next, 1); }";
    let case = Case::new(source, "k", 4, 1).value("x", vec![0i32; 4]);
    for started in [Order::Forward, Order::Reverse, Order::Random] {
        for (schedule, expected) in
            [(Schedule::FORWARD, [0, 1, 2, 3]), (Schedule::REVERSE, [3, 2, 1, 0])]
        {
            let options = Options { schedule, block_order: started, ..case.options.clone() };
            let report = run(&case.program(), &case.script, &options).unwrap();
            assert_eq!(ints(&report.arrays["x"]), expected, "{schedule} {started:?}");
        }
    }
}

#[test]
fn every_schedule_is_seen() {
    let source = "__global__ void k(int *x) { x[threadIdx.x] += 1; }";
    let case = Case::new(source, "k", 1, 32).value("x", input(32));
    let mut seen = Vec::new();
    let each = |report: &Report| seen.push(report.schedule);
    explore_each(&case.program(), &case.script, &case.options, 4, 5, each).unwrap();
    assert_eq!(seen[..2], [Schedule::FORWARD, Schedule::REVERSE]);
    assert!(seen.len() == 4 && seen[2] != seen[3] && seen[2].order == Order::Random, "{seen:?}");
}
