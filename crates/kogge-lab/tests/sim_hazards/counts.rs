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
