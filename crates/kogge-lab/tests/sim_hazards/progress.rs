//! Progress: threads that wait for what never comes, in a deadlock, in a livelock or without end.

use kogge_lab::{FindingKind as F, Options, Order, run};

use crate::support::{Case, inclusive, input, ints, kinds, line_of, schedules};

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
    for schedule in schedules() {
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
