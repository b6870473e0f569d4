//! Counts: what costs time without being wrong.

use crate::support::Case;

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
fn the_fewest_transactions_are_never_more_than_those_made() {
    let source = |index: &str| {
        format!("__global__ void k(int *x) {{ int v = x[{index}]; if (v > 5) x[0] = v; }}")
    };
    let counts =
        |index| Case::new(&source(index), "k", 1, 32).value("x", vec![0i32; 64]).run().counts;
    for (index, touched, ideal) in [
        ("threadIdx.x & 1", 1, 1),
        ("31 - threadIdx.x", 4, 4),
        ("threadIdx.x * 5 & 15", 2, 2),
        ("threadIdx.x + 1", 5, 4),
        ("threadIdx.x & 1 ? 0 : 63", 2, 1),
    ] {
        let counts = counts(index);
        assert_eq!(
            (counts.global_transactions, counts.ideal_transactions),
            (touched, ideal),
            "{index}"
        );
    }
}

#[test]
fn an_operand_that_is_not_chosen_is_no_work() {
    for choice in ["v = lane >= d ? v + y : v;", "if (lane >= d) v += y;"] {
        let source = format!(
            "__global__ void k(int *x) {{ int v = x[threadIdx.x], lane = threadIdx.x;
             for (int d = 1; d < 32; d *= 2) {{ int y = __shfl_up_sync(0xffffffffu, v, d); {choice} }}
             x[lane] = v; }}"
        );
        let report = Case::new(&source, "k", 1, 32).value("x", vec![1i32; 32]).run();
        assert_eq!((report.work(), report.steps()), (32 * 5 - 31, 5), "{choice}");
    }
    let source = "__global__ void k(int *x, int *y) { int a = x[0], b = x[1]; y[0] = (threadIdx.x > 3) && (a + b > 1); }";
    let case = Case::new(source, "k", 1, 5).value("x", vec![1i32; 2]).value("y", vec![1i32]);
    assert_eq!(case.run().work(), 1);
}

#[test]
fn atomics_are_requests_to_memory_too() {
    let counts = |body: &str| {
        let source = format!(
            "__global__ void k(int *x) {{ __shared__ int s[1024]; s[threadIdx.x * 32] = 0; {body} }}"
        );
        Case::new(&source, "k", 1, 32).value("x", vec![0i32; 256]).run().counts
    };
    let plain = counts("");
    for (index, touched) in [("threadIdx.x", 4), ("0", 1), ("threadIdx.x * 8", 32)] {
        let c = counts(&format!("atomicAdd(x + {index}, 1);"));
        assert_eq!((c.global_requests, c.global_transactions, c.atomics), (1, touched, 32));
    }
    let c = counts("atomicAdd(s + threadIdx.x * 32, 1);");
    assert_eq!(c.shared_requests - plain.shared_requests, 1);
    assert_eq!(c.bank_conflicts - plain.bank_conflicts, 31);
}
