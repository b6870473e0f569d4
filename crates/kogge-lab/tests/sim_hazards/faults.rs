//! Faults of a single thread: outside of an array, misaligned, unwritten, divided by zero.

use kogge_lab::{ArrayInit, FindingKind as F, ScalarType};

use crate::support::{Case, ints, kinds};

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

#[test]
fn an_atomic_on_what_nobody_wrote_reads_it() {
    let source = "__global__ void k(int *x) { __shared__ int s; atomicAdd(&s, 1); x[0] = 1; }";
    let report = Case::new(source, "k", 1, 1).value("x", vec![0i32]).run();
    assert_eq!(kinds(&report), [F::Uninitialised]);
    let exchanged = source.replace("atomicAdd(&s, 1)", "atomicExch(&s, 1)");
    assert!(Case::new(&exchanged, "k", 1, 1).value("x", vec![0i32]).run().is_clean());
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

#[test]
fn a_vector_must_lie_at_a_multiple_of_its_size() {
    let source = |access: &str| {
        format!(
            "__global__ void k(float *x, float *y) {{ __shared__ float s[8]; s[threadIdx.x] = 0; {access}; }}"
        )
    };
    let run = |access| {
        Case::new(&source(access), "k", 1, 1)
            .value("x", vec![1f32; 8])
            .value("y", vec![1f32; 8])
            .run()
    };
    for access in [
        "float4 v = *reinterpret_cast<float4 *>(x + 1); y[0] = v.x",
        "*(float2 *)(y + 1) = make_float2(1, 2)",
        "float2 v = *(float2 *)(x + 3); y[0] = v.y",
        "*(float4 *)(s + 2) = make_float4(1, 2, 3, 4)",
    ] {
        assert_eq!(kinds(&run(access)), [F::Misaligned], "{access}");
    }
    for access in [
        "float4 v = *(float4 *)(x + 4); y[0] = v.x",
        "float3 v = *(float3 *)(x + 1); y[0] = v.z",
        "*(float2 *)(s + 2) = make_float2(1, 2)",
    ] {
        assert!(run(access).is_clean(), "{access}");
    }
}

#[test]
fn a_constant_divided_by_zero_is_a_trap() {
    for value in ["5 / 0", "7 % 0", "3 / zero", "x[1] / zero"] {
        let source = format!("__global__ void k(int *x) {{ const int zero = 0; x[0] = {value}; }}");
        let report = Case::new(&source, "k", 1, 1).value("x", vec![1i32; 2]).run();
        assert_eq!(kinds(&report), [F::Trap], "{value}");
    }
}

#[test]
fn an_index_however_large_stays_with_its_array() {
    let source = "__global__ void k(int *x, int *y, long long i) { x[0] = x[i]; y[0] = 1; }";
    for i in [1i64 << 38, -(1 << 38), i64::MAX, i64::MIN, (1 << 38) + 1, 1 << 40] {
        let case = Case::new(source, "k", 1, 1)
            .value("x", vec![1i32; 4])
            .value("y", vec![7i32; 4])
            .value("i", i);
        let report = case.run();
        assert_eq!(kinds(&report), [F::OutOfBounds], "{i}");
        let location = report.findings[0].location.as_ref();
        assert_eq!(location.map(|l| l.array.as_str()), Some("x"), "{i}");
    }
    // A pointer may leave its array and come back.
    let source = "__global__ void k(int *x, long long i) { int *p = x + i; p -= i; *p = 2; }";
    assert!(
        Case::new(source, "k", 1, 1).value("x", vec![1i32]).value("i", 1i64 << 30).run().is_clean()
    );
}

#[test]
fn local_memory_is_aligned_for_every_thread() {
    let source = "__global__ void k(int *x) {
        long long a[1]; short b[3]; int i = threadIdx.x & 1;
        a[0] = i; b[i] = 2; b[2] = 3; x[threadIdx.x] = (int)a[i - i] + b[i] + b[2];
    }";
    let report = Case::new(source, "k", 1, 4).value("x", vec![0i32; 4]).run();
    assert!(report.is_clean(), "{:#?}", report.findings);
    assert_eq!(crate::support::ints(&report.arrays["x"]), [5, 6, 5, 6]);
}

#[test]
fn a_function_that_ends_without_a_value_has_none_to_use() {
    let prelude = "struct P { int a; int b; };
        __device__ int f(int x) { if (x == 1) return 7; }
        __device__ int g(int x) { while (x > 0) { if (x == 5) break; x--; } if (x) return x; else return; }
        __device__ P h(int x) { switch (x) { case 1: return P{1, 2}; default: break; } }
        template <class T> __device__ auto i(T x) { for (;;) { if (x > 3) return x; if (x == 2) break; x++; } }
        __device__ int j(int &x) { x++; }
        __device__ int all(int x) {
            switch (x) { case 1: case 2: return 1; default: { while (true) { if (x > 4) return 2; x++; } } }
        }
        __device__ int each(int x) { if (x > 1) { do { return 3; } while (0); } else if (x) return 4; else return 5; }";
    let run = |body: &str| {
        let source = format!("{prelude}\n__global__ void k(int *x) {{\n{body}\n}}");
        Case::new(&source, "k", 1, 1).value("x", vec![0i32, 1, 2, 6]).run()
    };
    for (body, name) in [
        ("x[0] = f(x[2]);", "f"),
        ("int y = f(x[1]) + f(x[0]);", "f"),
        ("x[0] = g(x[2]);", "g"),
        ("x[0] = h(x[2]).b;", "h"),
        ("x[0] = i(x[2]);", "i"),
        ("if (j(x[0])) x[1] = 3;", "j"),
    ] {
        let report = run(body);
        assert_eq!(kinds(&report), [F::Uninitialised], "{body}");
        let what = format!("uses the value of `{name}`, which ended without one");
        assert!(report.findings[0].message.contains(&what), "{:#?}", report.findings);
        assert_eq!(report.findings[0].line, 12, "{body}");
    }
    let clean = "x[0] = f(x[1]) + g(x[3]) + h(x[1]).a + i(x[3]) + all(x[2]) + all(x[3]) + each(x[0]) + each(x[2]);
        j(x[1]); (void)f(x[0]); for (int n = 0; n < 2; f(x[0])) n += (j(x[2]), 1);";
    let report = run(clean);
    assert!(report.is_clean(), "{:#?}", report.findings);
    assert_eq!(ints(&report.arrays["x"]), [30, 2, 4, 6]);
}
